//! `provost traces verify`: an export, the running gateway's record, or the data folder's.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context as _;
use provost_core::{
    ports::Store,
    trace::{export::Exporter, verify},
};
use provost_store::OpenError;
use serde_json::{Value, json};

use super::prove::Prover;
use crate::{
    client::{Client, ClientError, Target},
    commands::view::{items, some_text, text},
    context::Context,
    exit::{Exit, usage},
    gateway,
    heads::{Heads, unopened},
    output::{self, Color},
    table::Table,
};

/// Reading a long record takes its time.
const PATIENCE: Duration = Duration::from_mins(30);
/// Fewer characters of a hash could be anybody's.
const SHORTEST_HEAD: usize = 16;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// An export to verify; without it, the record itself
    file: Option<PathBuf>,
    /// A head noted earlier, or its first 16 characters: it must still be in the chain
    #[arg(long, value_name = "HASH")]
    head: Option<String>,
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let head = args.head.as_deref();
    if let Some(head) = head
        && (head.len() < SHORTEST_HEAD || !head.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return Err(usage(format!(
            "--head takes a hash in hex, of {SHORTEST_HEAD} to 64 characters"
        )));
    }
    let verified = match args.file {
        Some(file) => prove_file(&file, head)?,
        None => verify_record(context, head).await?,
    };
    let nothing = verified.get("chains").is_none_or(|it| items(it).is_empty());
    if nothing && gaps(&verified).is_empty() {
        // Who has emptied the record, or cut the export short, must not be told that all is well.
        anyhow::bail!("nothing to verify: there is no chain of records");
    }
    let intact = verified
        .get("intact")
        .and_then(Value::as_bool)
        .unwrap_or_default();
    if context.json() {
        output::json(&verified)?;
    } else {
        output::line(report(&verified))?;
    }
    Ok(Exit::yes_or_no(intact))
}

fn prove_file(file: &Path, head: Option<&str>) -> anyhow::Result<Value> {
    let cannot = || format!("cannot read `{}`", file.display());
    let mut reader =
        BufReader::new(File::open(file).map_err(|error| usage(format!("{}: {error}", cannot())))?);
    let mut prover = Prover::new(head);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).with_context(cannot)? > 0 {
        prover.take(&line)?;
        line.clear();
    }
    Ok(proved(prover))
}

fn proved(prover: Prover) -> Value {
    let (chains, found) = prover.finish();
    let intact = chains.iter().all(|chain| chain.broken.is_none()) && found != Some(false);
    let mut value = json!({"intact": intact, "chains": chains});
    if let (Some(found), Some(value)) = (found, value.as_object_mut()) {
        value.insert("head_found".into(), found.into());
    }
    value
}

async fn verify_record(context: &Context, head: Option<&str>) -> anyhow::Result<Value> {
    let client = match context.client() {
        Ok(client) => client.patient(PATIENCE),
        Err(error) => match error.downcast::<ClientError>() {
            Ok(ClientError::NotRunning) => {
                return verify_folder(context, head, ClientError::NotRunning).await;
            }
            Ok(error) => return Err(error.into()),
            Err(error) => return Err(error),
        },
    };
    match client.get(Target::new("/traces/verify")).await {
        Ok(answer) => match head {
            None => Ok(answer.body),
            Some(head) => join(answer.body, prove_export(&client, head).await?),
        },
        Err(error) if error.is_unreachable() && context.global.url.is_none() => {
            verify_folder(context, head, error).await
        }
        Err(error) => Err(error.into()),
    }
}

/// What the gateway says of its columns, and what its export proves of a head.
fn join(verified: Value, exported: Value) -> anyhow::Result<Value> {
    let truth =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_bool).unwrap_or_default();
    let intact = truth(&verified, "intact") && truth(&exported, "intact");
    let chains = verified
        .get("chains")
        .context("the gateway's answer has no chains")?;
    let head_found = truth(&exported, "head_found");
    let gaps = gaps(&verified);
    let since = verified.get("kept_since");
    Ok(
        json!({"intact": intact, "chains": chains, "gaps": gaps, "kept_since": since,
        "head_found": head_found}),
    )
}

async fn prove_export(client: &Client, head: &str) -> anyhow::Result<Value> {
    let mut lines = client.lines(Target::new("/traces/export")).await?;
    let mut prover = Prover::new(Some(head));
    while let Some(line) = lines.next().await? {
        prover.take(&line)?;
    }
    Ok(proved(prover))
}

/// The record of a gateway that does not run.
async fn verify_folder(
    context: &Context,
    head: Option<&str>,
    unreachable: ClientError,
) -> anyhow::Result<Value> {
    let config = context.config_of_record()?;
    let heads = Heads::of(&config)?;
    // For reading: opening it as a gateway does would correct a head that somebody changed.
    let store = match provost_store::open_for_reading(&gateway::store_config(&config)).await {
        Ok(store) => store,
        Err(error) => {
            let kept = heads.read()?;
            if let Some(gap) = kept.and_then(|kept| unopened(&kept, &error)) {
                return Ok(json!({"intact": false, "chains": [], "gaps": [gap]}));
            }
            let OpenError::Missing { place } = error else {
                anyhow::bail!("{error}; {}", error.help());
            };
            output::note(format_args!("there is no record at {place} either"));
            return Err(unreachable.into());
        }
    };
    output::note("no gateway answers: reading its record");
    let verified = verify_open(&store, &heads, head).await;
    store.close().await;
    verified
}

async fn verify_open(
    store: &Arc<dyn Store>,
    heads: &Heads,
    head: Option<&str>,
) -> anyhow::Result<Value> {
    // What was kept first: a gateway that runs all the same moves both on.
    let known = heads.known(&**store).await?;
    let chains = verify::verify(&**store, |_| {}).await?;
    let gaps = heads.gaps(&known, &**store).await?;
    let intact = chains.iter().all(|chain| chain.broken.is_none()) && gaps.is_empty();
    let gaps = known.heads().map(|_| gaps);
    let since = known.heads().and_then(|heads| heads.since);
    let verified = json!({"intact": intact, "chains": chains, "gaps": gaps, "kept_since": since});
    let Some(head) = head else {
        return Ok(verified);
    };
    let mut exporter = Exporter::new(store.clone()).await?;
    let mut prover = Prover::new(Some(head));
    while let Some(lines) = exporter.next_lines().await? {
        lines
            .lines()
            .try_for_each(|line| prover.take(line.as_bytes()))?;
    }
    join(verified, proved(prover))
}

fn gaps(verified: &Value) -> &[Value] {
    verified.get("gaps").map(items).unwrap_or_default()
}

/// How the record differs from what was kept of it elsewhere.
fn tell_gaps(verified: &Value, lines: &mut Vec<String>) {
    match verified.get("gaps") {
        None | Some(Value::Null) => {}
        Some(found) if items(found).is_empty() => {
            let since = some_text(verified, "kept_since").map(|since| format!(" since {since}"));
            let since = since.unwrap_or_default();
            let words = "it goes on from heads kept outside the store";
            lines.push(format!("{words}{since}"));
        }
        Some(found) => {
            for gap in items(found) {
                let chain = some_text(gap, "chain").map(|name| format!("{name}: "));
                let problem = format!("{}{}", chain.unwrap_or_default(), text(gap, "problem"));
                lines.push(output::paint(&output::safe(&problem), Color::Red));
            }
            lines.push(
                "put the newest copy of the data back; if this record is meant to be here, \
                 `provost traces accept-gap` notes that in it"
                    .to_owned(),
            );
        }
    }
}

/// Who put this record in the place of another.
fn tell_accepted(chain: &Value, lines: &mut Vec<String>) {
    for gap in chain.get("accepted").map(items).unwrap_or_default() {
        let detail = gap.get("detail").unwrap_or(&Value::Null);
        let seq = gap.get("seq").map(ToString::to_string).unwrap_or_default();
        let reason = some_text(detail, "reason").map(|reason| format!(": {reason}"));
        let said = format!(
            "{}: record {seq} accepts a gap, by {} at {}{}",
            text(chain, "chain"),
            text(detail, "by"),
            text(gap, "at"),
            reason.unwrap_or_default()
        );
        lines.push(output::paint(&output::safe(&said), Color::Yellow));
    }
}

/// Each chain, and where it breaks.
pub(in crate::commands) fn report(verified: &Value) -> String {
    let chains = verified.get("chains").map(items).unwrap_or_default();
    let mut table = Table::new(["chain", "records", "pruned", "head", "hash"]);
    let number =
        |chain: &Value, name: &str| chain.get(name).map(ToString::to_string).unwrap_or_default();
    for chain in chains {
        table.row([
            text(chain, "chain"),
            &number(chain, "records"),
            &number(chain, "pruned"),
            &number(chain, "head_seq"),
            text(chain, "head_hash"),
        ]);
    }
    let mut lines = vec![if table.is_empty() {
        "there are no records".to_owned()
    } else {
        table.to_string()
    }];
    let mut whole = gaps(verified).is_empty();
    for chain in chains {
        tell_accepted(chain, &mut lines);
        let Some(broken) = chain.get("broken").filter(|broken| !broken.is_null()) else {
            continue;
        };
        whole = false;
        let trace = some_text(broken, "trace_id")
            .map(|id| format!(" (trace {id})"))
            .unwrap_or_default();
        let place = format!(
            "{} breaks at record {}{trace}: {}",
            text(chain, "chain"),
            number(broken, "seq"),
            text(broken, "problem")
        );
        lines.push(output::paint(&output::safe(&place), Color::Red));
    }
    tell_gaps(verified, &mut lines);
    match verified.get("head_found").and_then(Value::as_bool) {
        Some(true) => lines.push("the head noted earlier is in the chain".to_owned()),
        Some(false) => {
            whole = false;
            let lost =
                "the head noted earlier is in no chain: records up to it were replaced, or pruned";
            lines.push(output::paint(lost, Color::Red));
        }
        None => {}
    }
    lines.push(if whole {
        output::paint("intact", Color::Green)
    } else {
        output::paint("NOT intact", Color::Red)
    });
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_break_is_told_with_its_place() {
        let verified = json!({"intact": false, "chains": [
            {"chain": "main", "records": 1, "pruned": 0, "head_seq": 1, "head_hash": "ab",
             "broken": {"seq": 2, "trace_id": "t2", "problem": "the record was changed"}},
        ]});
        let shown = report(&verified);
        assert!(
            shown.contains("main breaks at record 2 (trace t2): the record was changed"),
            "{shown}"
        );
        assert!(shown.ends_with("NOT intact"), "{shown}");
        let whole = report(&json!({"intact": true, "chains": [], "head_found": true}));
        assert!(whole.ends_with("is in the chain\nintact"), "{whole}");
    }
}
