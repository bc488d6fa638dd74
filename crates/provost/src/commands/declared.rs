//! What the first key of an agent ends: agents that have none and declare themselves.

use serde_json::Value;

use super::{
    terminal::Terminal,
    view::{ago, items, text},
};
use crate::{
    client::{Client, Target},
    context::Context,
    output,
};

/// More are counted, not named.
const NAMED: usize = 20;

/// Says which agents will stop working once the first agent key is made, if this is the first; `name` is given
/// the key, and goes on with it. Whether somebody has to agree: agents that were seen will be refused.
pub(super) async fn tell_who_stops(
    context: &Context,
    client: &Client,
    name: &str,
) -> anyhow::Result<bool> {
    let said = client.get(Target::new("/agents/declared")).await?.body;
    if said.get("ends_with_first_key") != Some(&Value::Bool(true)) {
        return Ok(false);
    }
    let seen = said.get("seen").map(items).unwrap_or_default();
    let seen: Vec<_> = seen
        .iter()
        .filter(|agent| !text(agent, "agent_id").eq_ignore_ascii_case(name))
        .collect();
    output::note(
        "this is the first agent key: from now on agents need a key, and those that only declare a name are refused",
    );
    if seen.is_empty() {
        return Ok(false);
    }
    output::note("without a key, and seen in the last 30 days, so they will stop working:");
    for agent in seen.iter().take(NAMED) {
        let (name, last) = (text(agent, "agent_id"), text(agent, "last_at"));
        let last = ago(last, context.now());
        output::note(format_args!("  {}, {last} ago", output::safe(name)));
    }
    if let Some(more @ 1..) = seen.len().checked_sub(NAMED) {
        output::note(format_args!("  and {more} more"));
    }
    output::note(
        "give each a key with `provost keys create --role agent NAME`, or set `auth.declared_agents: loopback`",
    );
    Ok(true)
}

/// Whether to go on. Where nobody sits at a terminal, nobody is asked.
pub(super) async fn agrees(context: &Context) -> anyhow::Result<bool> {
    let terminal = if context.json() {
        None
    } else {
        Terminal::open()
    };
    let Some(mut terminal) = terminal else {
        return Ok(true);
    };
    loop {
        match terminal.ask("make the key? [y/n] ").await?.as_deref() {
            Some("y" | "Y" | "yes") => return Ok(true),
            Some("n" | "N" | "no") | None => return Ok(false),
            Some(_) => {}
        }
    }
}
