//! What upstream tools said of themselves.

use provost_core::{
    call::Digest,
    ports::{Pinned, ToolPin},
    time::Time,
    trace::TraceRow,
};
use rusqlite::{Connection, params};

use super::{batch::Batch, fault::Fault};
use crate::codec;

pub(super) fn of_server(sql: &Connection, server: &str) -> Result<Vec<ToolPin>, Fault> {
    let query = "SELECT tool, digest, definition, at, by FROM tool_pins \
         WHERE server = ?1 ORDER BY tool";
    sql.prepare_cached(query)?
        .query_and_then([server], |row| {
            Ok(ToolPin {
                server: server.to_owned(),
                tool: row.get(0)?,
                digest: codec::digest(&row.get::<_, String>(1)?)?,
                definition: row.get(2)?,
                at: Time::from_millis(row.get(3)?),
                by: row.get(4)?,
            })
        })?
        .collect()
}

pub(super) fn add(batch: &mut Batch<'_>, pins: &[ToolPin], note: &TraceRow) -> Result<u64, Fault> {
    let add = "INSERT INTO tool_pins (server, tool, digest, definition, at, by) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    let mut added = 0;
    for pin in pins {
        added += batch.execute(
            add,
            params![
                pin.server,
                pin.tool,
                pin.digest.to_string(),
                pin.definition,
                pin.at.millis(),
                pin.by
            ],
        )? as u64;
    }
    if added > 0 {
        batch.append(note)?;
    }
    Ok(added)
}

pub(super) fn replace(
    batch: &mut Batch<'_>,
    pin: &ToolPin,
    instead_of: Digest,
    note: &TraceRow,
) -> Result<Pinned, Fault> {
    let replace = "UPDATE tool_pins SET digest = ?4, definition = ?5, at = ?6, by = ?7 \
         WHERE server = ?1 AND tool = ?2 AND digest = ?3";
    let replaced = batch.execute(
        replace,
        params![
            pin.server,
            pin.tool,
            instead_of.to_string(),
            pin.digest.to_string(),
            pin.definition,
            pin.at.millis(),
            pin.by
        ],
    )?;
    if replaced == 0 {
        return Ok(Pinned::No);
    }
    batch.append(note)?;
    Ok(Pinned::Yes)
}
