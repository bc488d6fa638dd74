//! Which tools are trusted: those that say of themselves what they said when they were first seen or
//! accepted. The others are held.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use provost_core::{
    call::{Digest, canonical_json},
    gate::{Gate, GateError},
    ports::{Pinned, ToolPin},
    time::Time,
};

use super::{Definition, Upstream};

/// More tools than this are not remembered of one server: it makes names up.
const MAX_PINS: usize = 5000;

/// The tools of a server, judged.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) trusted: BTreeMap<String, Arc<Definition>>,
    pub(super) held: BTreeMap<String, Held>,
    /// How many could not be remembered, and so are not served.
    pub(super) left_out: usize,
}

/// A tool that changed.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) now: Arc<Definition>,
    /// What was trusted.
    pub(super) pin: Arc<ToolPin>,
}

/// What became of accepting a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Accepted,
    /// It was trusted as it is.
    Already,
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("there is no such tool")]
    Unknown,
    #[error("the tool is not what was shown any more")]
    Stale { now: Digest },
    #[error(transparent)]
    Gate(#[from] GateError),
}

pub(super) fn judge(tools: &[Arc<Definition>], pins: Vec<ToolPin>) -> Judged {
    let pins: HashMap<String, ToolPin> = pins
        .into_iter()
        .map(|pin| (pin.tool.clone(), pin))
        .collect();
    let mut judged = Judged::default();
    for tool in tools {
        let Some(pin) = pins.get(&tool.tool) else {
            judged.left_out += 1;
            continue;
        };
        if pin.digest == tool.digest {
            judged.trusted.insert(tool.tool.clone(), tool.clone());
        } else {
            let held = Held {
                now: tool.clone(),
                pin: Arc::new(pin.clone()),
            };
            judged.held.insert(tool.tool.clone(), held);
        }
    }
    judged
}

/// The pins of a server, after what is new among its tools was remembered.
pub(super) async fn remembered(
    gate: &Gate,
    server: &str,
    tools: &[Arc<Definition>],
) -> Result<Vec<ToolPin>, GateError> {
    let pins = gate.tool_pins(server).await?;
    let known: HashSet<&str> = pins.iter().map(|pin| pin.tool.as_str()).collect();
    let room = MAX_PINS.saturating_sub(pins.len());
    let new = tools
        .iter()
        .filter(|tool| !known.contains(tool.tool.as_str()));
    let mut new: Vec<ToolPin> = new
        .take(room)
        .map(|tool| pin(server, tool, gate.now(), None))
        .collect();
    if new.is_empty() {
        return Ok(pins);
    }
    // Replicas that see the same server write in the same order.
    new.sort_by(|a, b| a.tool.cmp(&b.tool));
    tracing::info!(
        mcp.server = server,
        tools = new.len(),
        "tools seen for the first time are trusted"
    );
    gate.remember_tools(server, new).await?;
    gate.tool_pins(server).await
}

fn pin(server: &str, tool: &Definition, at: Time, by: Option<&str>) -> ToolPin {
    ToolPin {
        server: server.to_owned(),
        tool: tool.tool.clone(),
        digest: tool.digest,
        definition: canonical_json(&tool.pinned()),
        at,
        by: by.map(str::to_owned),
    }
}

impl Upstream {
    /// A person accepts a held tool: exactly the definition with that digest.
    pub async fn trust(
        &self,
        gate: &Gate,
        tool: &str,
        digest: Digest,
        by: &str,
    ) -> Result<Trust, TrustError> {
        let (now, pin_before) = match self.judged_tool(tool).ok_or(TrustError::Unknown)? {
            (now, None) if now.digest == digest => return Ok(Trust::Already),
            (now, None) => return Err(TrustError::Stale { now: now.digest }),
            (now, Some(pin)) => (now, pin),
        };
        if now.digest != digest {
            return Err(TrustError::Stale { now: now.digest });
        }
        let new = pin(self.name(), &now, gate.now(), Some(by));
        let pinned = gate.trust_tool(new, pin_before.digest, by).await?;
        self.judge_again(gate.tool_pins(self.name()).await?);
        match pinned {
            Pinned::Yes => Ok(Trust::Accepted),
            Pinned::No => match self.judged_tool(tool) {
                Some((now, None)) if now.digest == digest => Ok(Trust::Already),
                _ => Err(TrustError::Stale { now: now.digest }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> Arc<Definition> {
        let definition = json!({"name": name, "description": description});
        Arc::new(Definition {
            name: format!("s.{name}"),
            tool: name.to_owned(),
            digest: Digest::of(&definition),
            definition: Arc::new(definition),
            schema: None,
        })
    }

    #[test]
    fn only_what_is_as_it_was_is_trusted() {
        let pins = [tool("same", "a"), tool("other", "a"), tool("gone", "a")];
        let pins = pins.map(|tool| pin("s", &tool, Time::default(), None));
        let now = [tool("same", "a"), tool("other", "b"), tool("new", "a")];
        let judged = judge(&now, pins.to_vec());
        assert_eq!(judged.trusted.keys().collect::<Vec<_>>(), ["same"]);
        assert_eq!(judged.held.keys().collect::<Vec<_>>(), ["other"]);
        assert_eq!(judged.left_out, 1);
        let held = &judged.held["other"];
        assert_eq!(held.pin.definition, r#"{"description":"a","name":"other"}"#);
    }
}
