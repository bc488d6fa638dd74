//! What upstream tools said of themselves.

use deadpool_postgres::ClientWrapper;
use provost_core::{
    call::Digest,
    ports::{Pinned, ToolPin},
    time::Time,
    trace::TraceRow,
};

use super::{batch::Batch, fault::Fault};
use crate::codec;

pub(super) async fn of_server(sql: &ClientWrapper, server: &str) -> Result<Vec<ToolPin>, Fault> {
    let query = "SELECT tool, digest, definition, at, by FROM tool_pins \
         WHERE server = $1 ORDER BY tool COLLATE \"C\"";
    let rows = sql.query(query, &[&server]).await?;
    rows.iter()
        .map(|row| {
            Ok(ToolPin {
                server: server.to_owned(),
                tool: row.try_get(0)?,
                digest: codec::digest(row.try_get(1)?)?,
                definition: row.try_get(2)?,
                at: Time::from_millis(row.try_get(3)?),
                by: row.try_get(4)?,
            })
        })
        .collect()
}

pub(super) async fn add(
    batch: &mut Batch,
    pins: &[ToolPin],
    note: &TraceRow,
) -> Result<u64, Fault> {
    let add = "INSERT INTO tool_pins (server, tool, digest, definition, at, by) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let mut added = 0;
    for pin in pins {
        let digest = pin.digest.to_string();
        added += batch
            .execute(
                add,
                &[
                    &pin.server,
                    &pin.tool,
                    &digest,
                    &pin.definition,
                    &pin.at.millis(),
                    &pin.by,
                ],
            )
            .await?;
    }
    if added > 0 {
        batch.append(note);
    }
    Ok(added)
}

pub(super) async fn replace(
    batch: &mut Batch,
    pin: &ToolPin,
    instead_of: Digest,
    note: &TraceRow,
) -> Result<Pinned, Fault> {
    let replace = "UPDATE tool_pins SET digest = $4, definition = $5, at = $6, by = $7 \
         WHERE server = $1 AND tool = $2 AND digest = $3";
    let (old, new) = (instead_of.to_string(), pin.digest.to_string());
    let replaced = batch
        .execute(
            replace,
            &[
                &pin.server,
                &pin.tool,
                &old,
                &new,
                &pin.definition,
                &pin.at.millis(),
                &pin.by,
            ],
        )
        .await?;
    if replaced == 0 {
        return Ok(Pinned::No);
    }
    batch.append(note);
    Ok(Pinned::Yes)
}
