//! `provost traces accept-gap`: this record is the right one, although another was here before.

use std::fs;

use provost_core::{
    ports::Store,
    trace::kept::{self, Gap, KeptHeads},
};
use serde_json::json;

use crate::{
    context::Context,
    exit::Exit,
    gateway,
    heads::{Heads, Known, Unreadable, told},
    output,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The reason, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) async fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let config = context.config_to_serve()?;
    let heads = Heads::of(&config)?;
    anyhow::ensure!(
        heads.file().is_some(),
        "there is no folder of kept heads: set `PROVOST_STATE` to the one that the gateway uses"
    );
    let store = gateway::open(&gateway::store_config(&config)).await?;
    let accepted = accept(context, args, &heads, &*store).await;
    store.close().await;
    tell(context, &heads, &accepted?)
}

async fn accept(
    context: &Context,
    args: &Args,
    heads: &Heads,
    store: &dyn Store,
) -> anyhow::Result<Vec<Gap>> {
    let known = heads.known(store).await;
    let gaps = match &known {
        Ok(known) => heads.gaps(known, store).await?,
        Err(unreadable) if unreadable.is::<Unreadable>() => vec![Gap {
            chain: None,
            problem: "the heads that were kept cannot be read".into(),
        }],
        Err(_) => Vec::new(),
    };
    let known = match known {
        Ok(known) => Some(known),
        Err(error) if gaps.is_empty() => return Err(error),
        Err(_) => None,
    };
    if gaps.is_empty() {
        return Ok(gaps);
    }
    let from = known.as_ref().and_then(Known::heads).cloned();
    let ends = (&from.unwrap_or_default(), &KeptHeads::of(store).await?);
    let note = kept::acceptance(&who(), args.reason.as_deref(), ends, context.now());
    store.record_note(note).await?;
    let mut kept = KeptHeads::of(store).await?;
    kept.since = Some(context.now());
    kept.is_copy = known.as_ref().is_some_and(|known| heads.is_copy(known));
    heads.write(&kept)?;
    if let Some(Known::Moved(_, before)) = known {
        // Its place is free for another store.
        let _ = fs::remove_file(before);
    }
    Ok(gaps)
}

fn tell(context: &Context, heads: &Heads, gaps: &[Gap]) -> anyhow::Result<Exit> {
    let place = &heads.place;
    if context.json() {
        output::json(&json!({"place": place, "accepted": gaps}))?;
    } else if gaps.is_empty() {
        output::line(format_args!(
            "nothing to accept: the record at `{place}` is the one that was here before"
        ))?;
    } else {
        output::line(format_args!(
            "accepted, and noted in the record at `{place}`:\n{}",
            told(gaps)
        ))?;
    }
    Ok(Exit::Ok)
}

/// The user of this process. The name may be made up; the number is the system's.
fn who() -> String {
    let number = rustix::process::getuid().as_raw();
    let name = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok());
    match name {
        Some(name) => format!("{name} (user {number})"),
        None => format!("user {number}"),
    }
}
