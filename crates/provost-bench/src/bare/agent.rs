//! A coding agent that answers one prompt with a flood of updates, and a copy of what it writes.

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};

/// Speaks ACP on its input and output until the input ends.
pub(super) fn flood(updates: u64) -> anyhow::Result<()> {
    let mut out = io::BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line?).unwrap_or_default();
        let result = match asked.get("method").and_then(Value::as_str) {
            Some("initialize") => json!({"protocolVersion": 1, "agentCapabilities": {}}),
            Some("session/new") => json!({"sessionId": "bench"}),
            Some("session/prompt") => {
                for number in 0..updates {
                    update(&mut out, number)?;
                }
                json!({"stopReason": "end_turn"})
            }
            _ => continue,
        };
        let answer = json!({"jsonrpc": "2.0", "id": asked.get("id"), "result": result});
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// As long as a few words of a model are on the wire.
fn update(out: &mut impl io::Write, number: u64) -> io::Result<()> {
    writeln!(
        out,
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"bench","update":{{"sessionUpdate":"agent_message_chunk","messageId":"m-{}","content":{{"type":"text","text":"word number {number} of what the model says "}}}}}}}}"#,
        number / 200
    )
}

/// What comes in goes out.
pub(super) fn copy() -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    io::copy(&mut io::stdin().lock(), &mut out)?;
    Ok(())
}
