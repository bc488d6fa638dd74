//! The last message of an agent: what its run answers. Pure: what the agent wrote is told to it.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// More is no answer; its beginning is kept.
const LONGEST: usize = 256 * 1024;

#[derive(Debug, Default)]
pub struct Answer {
    text: String,
    message: Option<String>,
    /// The agent did something else since: what it says next is another message.
    over: bool,
}

#[derive(Deserialize)]
struct Params {
    update: Update,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    #[serde(default)]
    session_update: Value,
    #[serde(default)]
    message_id: Option<Value>,
    #[serde(default)]
    content: Value,
}

impl Answer {
    /// The parameters of a `session/update`.
    pub fn note(&mut self, params: &RawValue) {
        let text = params.get();
        // The other kinds are many, and say nothing about this.
        if !text.contains("agent_message_chunk") && !text.contains("\"tool_call\"") {
            return;
        }
        let Ok(Params { update }) = serde_json::from_str(text) else {
            return;
        };
        match update.session_update.as_str() {
            Some("agent_message_chunk") => self.hear(&update),
            Some("tool_call") => self.over = true,
            _ => {}
        }
    }

    pub fn into_text(self) -> String {
        self.text
    }

    fn hear(&mut self, update: &Update) {
        let Some(text) = update.content.get("text").and_then(Value::as_str) else {
            return;
        };
        let message = update.message_id.as_ref().and_then(Value::as_str);
        let other = message.is_some() && message != self.message.as_deref();
        if self.over || other {
            self.text.clear();
            self.over = false;
            self.message = message.map(str::to_owned);
        }
        let room = LONGEST.saturating_sub(self.text.len());
        let end = text.floor_char_boundary(room.min(text.len()));
        self.text.push_str(text.get(..end).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;

    fn answer(updates: &[Value]) -> String {
        let mut answer = Answer::default();
        for update in updates {
            let params = json!({"sessionId": "s", "update": update});
            answer.note(&to_raw_value(&params).unwrap());
        }
        answer.into_text()
    }

    fn says(text: &str, id: Option<&str>) -> Value {
        json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": {"type": "text", "text": text}})
    }

    #[test]
    fn the_last_message_is_the_answer() {
        let tool = json!({"sessionUpdate": "tool_call", "toolCallId": "1"});
        let more =
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"});
        let thought = json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}});
        assert_eq!(
            answer(&[
                says("I will ", None),
                says("look.", None),
                tool.clone(),
                more.clone(),
                says("All ", None),
                thought,
                says("done.", None)
            ]),
            "All done."
        );
        assert_eq!(
            answer(&[
                says("a", Some("1")),
                says("b", Some("2")),
                says("c", Some("2"))
            ]),
            "bc"
        );
        // A call that comes last leaves what was said before it.
        assert_eq!(answer(&[says("Done.", None), tool, more]), "Done.");
        assert_eq!(answer(&[]), "");
        let long = answer(&[says(&"é".repeat(LONGEST), None)]);
        assert_eq!(long.len(), LONGEST);
    }
}
