//! The last message of an agent: what its run answers. Pure: what the agent wrote is told to it.

use crate::acp::{Chunk, Update};

/// More is no answer; its beginning is kept.
const LONGEST: usize = 256 * 1024;

#[derive(Debug, Default)]
pub struct Answer {
    text: String,
    message: Option<String>,
    /// The agent did something else since: what it says next is another message.
    over: bool,
}

impl Answer {
    pub fn note(&mut self, update: &Update) {
        match update {
            Update::Message(chunk) => self.hear(chunk),
            Update::Tool(tool) if tool.announces => self.interrupt(),
            _ => {}
        }
    }

    /// The agent turns to something else.
    pub fn interrupt(&mut self) {
        self.over = true;
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    fn hear(&mut self, chunk: &Chunk) {
        // Some agents send one to tell something else.
        let Some(text) = chunk.text.as_ref().filter(|text| !text.is_empty()) else {
            return;
        };
        let message = chunk.message.as_deref();
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
    use serde_json::{Value, json, value::to_raw_value};

    use super::*;
    use crate::acp::SessionUpdate;

    fn answer(updates: &[Value]) -> String {
        let mut answer = Answer::default();
        for update in updates {
            let params = json!({"sessionId": "s", "update": update});
            let params = to_raw_value(&params).unwrap();
            answer.note(&SessionUpdate::read(&params).update);
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
                says("done.", None),
                tool.clone(),
                says("", None),
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
