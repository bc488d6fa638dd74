//! A `session/update`, read once for everybody who acts on it: the meter, the watch, the questions, the answer.
//! Reading is lenient: what is not understood is left out. Reports carry the text itself.

use serde_json::{Map, Value, value::RawValue};

use super::raw::{Fields, fields, text};

/// Of a longer update nothing is remembered for questions.
const LARGEST: usize = 1024 * 1024;
/// What says what a call would do.
const TOLD: [&str; 8] = [
    "title",
    "kind",
    "name",
    "rawInput",
    "content",
    "locations",
    "_meta",
    "toolName",
];

#[derive(Clone, Debug, PartialEq)]
pub struct SessionUpdate {
    /// The session it is of, as the agent says.
    pub session: Option<String>,
    pub update: Update,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// A piece of what the agent says to whoever prompted it.
    Message(Chunk),
    Thought,
    Tool(ToolUpdate),
    Usage(Usage),
    /// The mode that the agent is in now.
    Mode(String),
    /// Nothing that a run acts on.
    Other,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    pub text: Option<String>,
    /// Of the message that it is a piece of.
    pub message: Option<String>,
    /// Of the step that ends with it.
    pub usage: Option<Usage>,
}

/// What the agent says of one of its tool calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolUpdate {
    pub id: String,
    /// `tool_call`, by which an agent announces a call; otherwise it tells more of one.
    pub announces: bool,
    pub kind: Option<String>,
    pub title: Option<String>,
    pub status: Option<Status>,
    /// The files whose changes it shows.
    pub diffs: Vec<String>,
    /// The terminals whose output it shows.
    pub terminals: Vec<String>,
    pub locations: Vec<String>,
    /// What completes a later question about the call, by its name.
    pub told: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pending,
    InProgress,
    Completed,
    Failed,
}

/// What the agent says it used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    pub tokens: Option<Tokens>,
    /// Of the session so far.
    pub cost: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// In its context.
    Context(u64),
    /// Of one step of the model, to be added to those before.
    Step(u64),
    /// In all.
    Total(u64),
}

impl SessionUpdate {
    /// The parameters of a `session/update`.
    pub fn read(params: &RawValue) -> Self {
        let named = fields(params).unwrap_or_default();
        let session = named.get("sessionId").and_then(|id| text(id));
        let update = named.get("update").and_then(|update| fields(update));
        Self {
            session: session.map(Into::into),
            update: update.map_or(Update::Other, |update| {
                Update::read(&update, params.get().len())
            }),
        }
    }
}

impl Update {
    fn read(update: &Fields<'_>, size: usize) -> Self {
        let kind = update.get("sessionUpdate").and_then(|kind| text(kind));
        match kind.as_deref().unwrap_or_default() {
            "agent_message_chunk" => Self::Message(Chunk::read(update)),
            "agent_thought_chunk" => Self::Thought,
            "tool_call" => Self::tool(update, true, size),
            "tool_call_update" => Self::tool(update, false, size),
            "usage_update" => Self::Usage(Usage::read(update)),
            "current_mode_update" => Self::mode(said(update, "currentModeId")),
            "config_option_update" => {
                let options = value(update, "configOptions");
                let mode = option(&options, "mode").and_then(|mode| mode.get("currentValue"));
                Self::mode(mode.and_then(Value::as_str).map(str::to_owned))
            }
            _ => Self::Other,
        }
    }

    fn tool(update: &Fields<'_>, announces: bool, size: usize) -> Self {
        // One without an id is still something that the agent did.
        let id = call_id(&value(update, "toolCallId")).unwrap_or_default();
        Self::Tool(ToolUpdate::read(update, id, announces, size))
    }

    fn mode(mode: Option<String>) -> Self {
        mode.map_or(Self::Other, Self::Mode)
    }
}

impl Chunk {
    fn read(update: &Fields<'_>) -> Self {
        let content = update.get("content").and_then(|content| fields(content));
        Self {
            text: content.and_then(|content| said(&content, "text")),
            message: said(update, "messageId"),
            usage: Usage::of_step(&value(update, "_meta")),
        }
    }
}

impl ToolUpdate {
    fn read(update: &Fields<'_>, id: String, announces: bool, size: usize) -> Self {
        let content = value(update, "content");
        let shown = |of: &str, name: &str| {
            let blocks = list(&content).iter();
            let blocks = blocks.filter(|block| block.get("type").is_some_and(|kind| kind == of));
            texts(blocks, name)
        };
        let told = TOLD.into_iter().filter(|_| size <= LARGEST);
        let told = told.filter(|name| update.contains_key(*name));
        Self {
            id,
            announces,
            kind: said(update, "kind"),
            title: said(update, "title"),
            status: said(update, "status").and_then(|status| Status::parse(&status)),
            diffs: shown("diff", "path"),
            terminals: shown("terminal", "terminalId"),
            locations: texts(list(&value(update, "locations")).iter(), "path"),
            told: told
                .map(|name| (name.to_owned(), value(update, name)))
                .collect(),
        }
    }
}

impl Status {
    fn parse(name: &str) -> Option<Self> {
        Some(match &*name.to_ascii_lowercase() {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => return None,
        })
    }
}

impl Usage {
    fn read(update: &Fields<'_>) -> Self {
        let cost = value(update, "cost");
        Self {
            tokens: count(&value(update, "used")).map(Tokens::Context),
            cost: cost.get("amount").and_then(Value::as_f64),
        }
    }

    /// Qwen Code tells it with an empty message after each step.
    fn of_step(meta: &Value) -> Option<Self> {
        let total = total(meta.get("usage")?)?;
        Some(Self {
            tokens: Some(Tokens::Step(total)),
            cost: None,
        })
    }

    /// What the answer to a prompt says: in `usage`, or as Gemini CLI does in `_meta`.
    pub fn of_answer(answer: &Value) -> Self {
        let quota = answer.pointer("/_meta/quota/token_count");
        let told = [answer.get("usage"), quota];
        let total = told.into_iter().flatten().filter_map(total).max();
        Self {
            tokens: total.map(Tokens::Total),
            cost: None,
        }
    }
}

/// Of a usage, in whichever spelling.
fn total(usage: &Value) -> Option<u64> {
    let part = |names: [&str; 2]| names.into_iter().find_map(|name| count(usage.get(name)?));
    let parts = || {
        let input = part(["inputTokens", "input_tokens"])?;
        Some(input + part(["outputTokens", "output_tokens"]).unwrap_or(0))
    };
    part(["totalTokens", "total_tokens"])
        .filter(|total| *total > 0)
        .or_else(parts)
}

fn count(number: &Value) -> Option<u64> {
    let number = number.as_f64().filter(|number| *number >= 0.0)?;
    Some(number as u64)
}

/// An agent's id of a tool call. The protocol's are texts; one that is something else is still an id.
pub fn call_id(id: &Value) -> Option<String> {
    match id {
        Value::Null => None,
        Value::String(id) => Some(id.clone()),
        other => Some(other.to_string()),
    }
}

/// Whether a tool of this kind changes something or reaches outside.
pub fn is_act(kind: &str) -> bool {
    ["execute", "edit", "delete", "move", "fetch"].contains(&kind)
}

/// The first of an agent's options that is of the category.
pub fn option<'a>(options: &'a Value, category: &str) -> Option<&'a Value> {
    let mut options = list(options).iter();
    options.find(|option| option.get("category").is_some_and(|own| own == category))
}

fn said(of: &Fields<'_>, name: &str) -> Option<String> {
    of.get(name).and_then(|raw| text(raw)).map(Into::into)
}

fn value(of: &Fields<'_>, name: &str) -> Value {
    let raw = of.get(name);
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn texts<'a>(of: impl Iterator<Item = &'a Value>, name: &str) -> Vec<String> {
    of.filter_map(|value| value.get(name)?.as_str())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(update: &str) -> Update {
        let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
        let read = SessionUpdate::read(&RawValue::from_string(params).unwrap());
        assert_eq!(read.session.as_deref(), Some("s"));
        read.update
    }

    fn tool(update: &str) -> ToolUpdate {
        match read(update) {
            Update::Tool(tool) => tool,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_kind_that_a_run_acts_on() {
        for (update, expected) in [
            (
                r#"{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"a\u0062"}}"#,
                Update::Message(Chunk {
                    text: Some("ab".into()),
                    message: Some("m".into()),
                    usage: None,
                }),
            ),
            (
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":5,"outputTokens":2,"totalTokens":0}}}"#,
                Update::Message(Chunk {
                    text: Some(String::new()),
                    message: None,
                    usage: Some(Usage {
                        tokens: Some(Tokens::Step(7)),
                        cost: None,
                    }),
                }),
            ),
            (
                r#"{"sessionUpdate":"agent_message_chunk","content":7}"#,
                Update::Message(Chunk::default()),
            ),
            (
                r#"{"sessionUpdate":"agent_thought_chunk"}"#,
                Update::Thought,
            ),
            (
                r#"{"sessionUpdate":"usage_update","used":900,"size":1000,"cost":{"amount":0.5}}"#,
                Update::Usage(Usage {
                    tokens: Some(Tokens::Context(900)),
                    cost: Some(0.5),
                }),
            ),
            (
                r#"{"sessionUpdate":"usage_update","used":"many","cost":null}"#,
                Update::Usage(Usage::default()),
            ),
            (
                r#"{"sessionUpdate":"current_mode_update","currentModeId":"plan"}"#,
                Update::Mode("plan".into()),
            ),
            (
                r#"{"sessionUpdate":"config_option_update","configOptions":[{"id":"x"},{"category":"mode","currentValue":"ask"}]}"#,
                Update::Mode("ask".into()),
            ),
            (
                r#"{"sessionUpdate":"config_option_update","configOptions":[]}"#,
                Update::Other,
            ),
            (
                r#"{"sessionUpdate":"tool_call"}"#,
                Update::Tool(ToolUpdate {
                    announces: true,
                    ..ToolUpdate::default()
                }),
            ),
            (r#"{"sessionUpdate":"plan"}"#, Update::Other),
            (r#"{"sessionUpdate":7}"#, Update::Other),
            ("[1]", Update::Other),
        ] {
            assert_eq!(read(update), expected, "{update}");
        }
    }

    #[test]
    fn a_call_is_read_as_far_as_it_can_be() {
        let read = tool(
            r#"{"sessionUpdate":"tool_call","toolCallId":"1","kind":"edit","title":"t","status":"completed",
                "rawInput":{"a":1},"other":2,"locations":[{"path":"/l"},7],
                "content":[{"type":"diff","path":"/d"},{"type":"terminal","terminalId":"t1"},{"type":"odd"},7]}"#,
        );
        assert_eq!((&*read.id, read.announces), ("1", true));
        assert_eq!(read.kind.as_deref(), Some("edit"));
        assert_eq!(read.status, Some(Status::Completed));
        assert_eq!(read.diffs, ["/d"]);
        assert_eq!(read.terminals, ["t1"]);
        assert_eq!(read.locations, ["/l"]);
        assert_eq!(read.told["rawInput"], json!({"a": 1}));
        assert!(!read.told.contains_key("other") && !read.told.contains_key("status"));
    }

    /// An act must not be overlooked because of how it is written.
    #[test]
    fn odd_spellings_are_read() {
        let twice = r#"{"sessionUpdate":"tool_call_update","toolCallId":"x","toolCallId":"1","status":"failed","status":"completed"}"#;
        let escaped = r#"{"sessionUpdate":"tool\u005fcall","toolCallId":"1","status":"completed"}"#;
        let deep = format!(
            r#"{{"sessionUpdate":"tool_call","toolCallId":"1","status":"completed","rawInput":{}1{}}}"#,
            "[".repeat(500),
            "]".repeat(500)
        );
        for update in [twice, escaped, &deep] {
            let read = tool(update);
            assert_eq!(read.id, "1", "{update:.100}");
            assert_eq!(read.status, Some(Status::Completed), "{update:.100}");
        }
        assert_eq!(
            tool(r#"{"sessionUpdate":"tool_call","toolCallId":7}"#).id,
            "7"
        );
    }

    #[test]
    fn answers_tell_what_was_used_in_their_own_ways() {
        for (answer, total) in [
            (
                json!({"usage": {"totalTokens": 9, "inputTokens": 7}}),
                Some(9),
            ),
            (
                json!({"_meta": {"quota": {"token_count": {"input_tokens": 7, "output_tokens": 1}}}}),
                Some(8),
            ),
            (json!({"usage": null}), None),
            (json!({"usage": {"totalTokens": -1}}), None),
            (json!({}), None),
        ] {
            let tokens = total.map(Tokens::Total);
            assert_eq!(Usage::of_answer(&answer).tokens, tokens, "{answer}");
        }
    }

    #[test]
    fn of_a_large_update_only_the_act_is_kept() {
        let update = json!({"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "execute",
            "rawInput": {"text": "x".repeat(LARGEST)}});
        let read = tool(&update.to_string());
        assert_eq!(read.kind.as_deref(), Some("execute"));
        assert!(read.told.is_empty());
    }
}
