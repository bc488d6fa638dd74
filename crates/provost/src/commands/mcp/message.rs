//! One line of MCP over stdio: a JSON-RPC message, read as little as can be. What is not read keeps
//! its meaning and its digits; all is written anew, so that no line can say one thing to us and another to
//! the server.

use provost_core::call::exact_numbers;
use provost_runner::json_error;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json, value::RawValue};

use super::line::Line;

/// What a server is asked without acting for the client. What is neither here nor decided is not passed on.
const HARMLESS: [&str; 11] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "logging/setLevel",
    "subscriptions/listen",
];
const NOTIFICATION: &str = "notifications/";
/// What a client sends beside the arguments when a server has asked its user something in the middle of a call
/// (2026-07-28). Policy and people see it as further arguments, because it takes effect like them.
const INPUT: [&str; 2] = ["inputResponses", "requestState"];
/// What may stand beside an act though nobody decides it: how progress and traces are told, and what the
/// protocol of 2026-07-28 wants with every request.
const META: [&str; 7] = [
    "progressToken",
    "traceparent",
    "tracestate",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/logLevel",
];

/// What a client sends.
#[derive(Debug)]
pub(super) enum Said {
    /// Something that is decided first.
    Call(Box<Call>),
    /// A request is not wanted any more.
    Cancel { id: Value, line: Line },
    /// Anything else.
    Other(Line),
    /// Nothing that can be passed on; the answer, where one is due.
    Bad(Value),
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Tool,
    Read,
    Prompt,
    Completion,
}

/// An act, and nothing beside it that is not decided.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: Value,
    pub(super) act: Act,
    /// What policy knows it by, after the server's name.
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// What it is about, for those who are told no.
    pub(super) shown: String,
    /// Which of the arguments are the client's answers to the server, and stand beside the others in the call.
    input: Vec<&'static str>,
    meta: Map<String, Value>,
}

/// The members of a message, in the order they are written.
#[derive(Debug, Deserialize, Serialize)]
struct Message {
    jsonrpc: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    params: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Box<RawValue>>,
}

/// Of all acts. What is not named here does not reach the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params {
    name: Option<String>,
    uri: Option<String>,
    arguments: Option<Map<String, Value>>,
    #[serde(rename = "ref")]
    reference: Option<Map<String, Value>>,
    argument: Option<Map<String, Value>>,
    context: Option<Map<String, Value>>,
    #[serde(rename = "inputResponses")]
    input_responses: Option<Value>,
    #[serde(rename = "requestState")]
    request_state: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

impl Said {
    pub(super) fn read(line: &str) -> Self {
        let message: Message = match object(line) {
            Ok(message) => message,
            Err(why) => return Self::Bad(failure(&Value::Null, -32700, &why)),
        };
        let Some(method) = message.method.as_deref() else {
            return Self::Other(message.line());
        };
        match (Act::of(method), &message.id) {
            (Some(act), Some(id)) => Call::read(id, act, &message).map_or_else(
                |why| Self::Bad(failure(id, -32602, &why)),
                |call| Self::Call(Box::new(call)),
            ),
            // A call that wants no answer could not be told no.
            (Some(_), None) => Self::Bad(failure(&Value::Null, -32600, "a call needs an id")),
            (None, _) if method == "notifications/cancelled" => Self::Cancel {
                id: cancelled(&message),
                line: message.line(),
            },
            (None, None) if method.starts_with(NOTIFICATION) => Self::Other(message.line()),
            (None, _) if HARMLESS.contains(&method) => Self::Other(message.line()),
            (None, id) => {
                let why = format!(
                    "the gate does not know `{method}`, so it cannot be decided and is not passed on"
                );
                Self::Bad(failure(id.as_ref().unwrap_or(&Value::Null), -32601, &why))
            }
        }
    }
}

/// A list of the right length would pass for an object.
fn object<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if !text.trim_start().starts_with('{') {
        return Err("not a JSON object".to_owned());
    }
    serde_json::from_str(text).map_err(|error| json_error::told(&error))
}

fn cancelled(message: &Message) -> Value {
    let params = message.params.as_ref();
    let params = params.and_then(|params| serde_json::from_str::<Value>(params.get()).ok());
    params
        .and_then(|params| params.get("requestId").cloned())
        .unwrap_or_default()
}

impl Message {
    fn line(&self) -> Line {
        Line::new(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl Act {
    const ALL: [Self; 4] = [Self::Tool, Self::Read, Self::Prompt, Self::Completion];

    fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.method() == method)
    }

    fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/call",
            Self::Read => "resources/read",
            Self::Prompt => "prompts/get",
            Self::Completion => "completion/complete",
        }
    }

    /// As at the gateway's own `/mcp`.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Tool => None,
            Self::Read => Some("resources.read"),
            Self::Prompt => Some("prompts.get"),
            Self::Completion => Some("completion.complete"),
        }
    }
}

impl Call {
    fn read(id: &Value, act: Act, message: &Message) -> Result<Self, String> {
        let params = message.params.as_ref().ok_or("a call needs params")?;
        let params = exact_numbers(params.get().as_bytes());
        let params: Params = object(&String::from_utf8_lossy(&params))?;
        let mut meta = params.meta.unwrap_or_default();
        meta.retain(|name, _| META.contains(&&**name));
        let name = params.name.ok_or("`name` is needed, as text");
        let mut input = Vec::new();
        let (tool, shown, arguments) = match act {
            Act::Tool => {
                let name = name?;
                // One decision would be good for both.
                if Act::ALL.iter().any(|act| act.name() == Some(&*name)) {
                    return Err(format!(
                        "a tool cannot be called `{name}` here: policy knows another act by this name"
                    ));
                }
                let mut arguments = params.arguments.unwrap_or_default();
                let given = INPUT
                    .into_iter()
                    .zip([params.input_responses, params.request_state]);
                for (name, value) in given {
                    let Some(value) = value else { continue };
                    if arguments.insert(name.to_owned(), value).is_some() {
                        return Err(format!("`{name}` stands among the arguments, too"));
                    }
                    input.push(name);
                }
                (name.clone(), name, arguments)
            }
            Act::Read => {
                let uri = params.uri.ok_or("`uri` is needed, as text")?;
                (String::new(), uri.clone(), members([("uri", Some(uri))]))
            }
            Act::Prompt => {
                let name = name?;
                let mut members = members([("name", Some(name.clone()))]);
                members.extend(self::members([("arguments", params.arguments)]));
                (String::new(), name, members)
            }
            Act::Completion => {
                let reference = params.reference.ok_or("`ref` is needed")?;
                let given = [
                    ("ref", Some(reference)),
                    ("argument", params.argument),
                    ("context", params.context),
                ];
                (String::new(), act.method().to_owned(), members(given))
            }
        };
        Ok(Self {
            id: id.clone(),
            act,
            tool: act.name().map_or(tool, str::to_owned),
            arguments,
            shown,
            input,
            meta,
        })
    }

    /// What is the tool's, without the client's answers to the server.
    pub(super) fn own_arguments(&self) -> Value {
        let mut own = self.arguments.clone();
        own.retain(|name, _| !self.input.contains(&&**name));
        Value::Object(own)
    }

    /// With which the client wants to hear of progress.
    pub(super) fn progress(&self) -> Option<&Value> {
        self.meta.get("progressToken")
    }

    /// The line for the server, with these arguments.
    pub(super) fn line(self, mut arguments: Map<String, Value>) -> Line {
        let mut params = match self.act {
            Act::Tool => {
                let input = self.input.into_iter();
                let input =
                    input.filter_map(|name| Some((name.to_owned(), arguments.remove(name)?)));
                let mut params: Map<_, _> = input.collect();
                params.insert("name".to_owned(), self.tool.into());
                params.insert("arguments".to_owned(), arguments.into());
                params
            }
            _ => arguments,
        };
        if !self.meta.is_empty() {
            params.insert("_meta".to_owned(), self.meta.into());
        }
        let method = self.act.method();
        let message =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        Line::new(&message.to_string())
    }

    /// The arguments are not what the tool takes.
    pub(super) fn misfit(&self, reason: &str) -> Value {
        failure(&self.id, -32602, reason)
    }

    /// A no, where the protocol has a place for it.
    pub(super) fn refusal(&self, reason: &str) -> Value {
        let result = match self.act {
            // In words that a model can act on.
            Act::Tool => {
                json!({ "content": [{ "type": "text", "text": reason }], "isError": true })
            }
            Act::Read | Act::Prompt => return failure(&self.id, -32000, reason),
            // Somebody types: nothing is offered.
            Act::Completion => {
                json!({ "completion": { "values": [], "total": 0, "hasMore": false } })
            }
        };
        json!({ "jsonrpc": "2.0", "id": self.id, "result": result })
    }
}

fn members<V: Into<Value>, const N: usize>(given: [(&str, Option<V>); N]) -> Map<String, Value> {
    let given = given.into_iter();
    given
        .filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
        .collect()
}

pub(super) fn progress(token: &Value, count: u64) -> Value {
    let params = json!({
        "progressToken": token,
        "progress": count,
        "message": "waiting for a decision",
    });
    json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
}

pub(super) fn failure(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_read_and_written_anew() {
        let line = r#"{"id":7,"method":"tools/call","jsonrpc":"2.0","params":{"name":"read",
            "_meta":{"progressToken":"p","user":"root"},"task":{"ttl":1},"arguments":{"a":1},"new":true}}"#;
        let Said::Call(call) = Said::read(line) else {
            panic!("{:?}", Said::read(line))
        };
        assert_eq!((&*call.tool, &call.id), ("read", &json!(7)));
        assert_eq!(call.progress(), Some(&json!("p")));
        assert_eq!(Value::Object(call.arguments.clone()), json!({"a": 1}));
        let other = Map::from_iter([("a".to_owned(), json!(2))]);
        let written: Value = serde_json::from_str(call.line(other).as_str()).unwrap();
        assert_eq!(
            written["params"],
            json!({"name": "read", "arguments": {"a": 2}, "_meta": {"progressToken": "p"}})
        );
    }

    #[test]
    fn p18_a_users_input_is_decided_and_passed_on() {
        let params = json!({"name": "book", "arguments": {"day": "mon"},
            "inputResponses": {"seat": {"action": "accept"}}, "requestState": "s1"});
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let Said::Call(call) = Said::read(&line.to_string()) else {
            panic!("{line}")
        };
        assert_eq!(
            Value::Object(call.arguments.clone()),
            json!({"day": "mon", "inputResponses": {"seat": {"action": "accept"}}, "requestState": "s1"})
        );
        let arguments = call.arguments.clone();
        let sent: Value = serde_json::from_str(call.line(arguments).as_str()).unwrap();
        assert_eq!(sent["params"], params);
        // An argument of the tool's own that is called so stays where it is.
        let own = json!({"name": "book", "arguments": {"requestState": "x"}});
        let mut line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": own});
        let Said::Call(call) = Said::read(&line.to_string()) else {
            panic!("{line}")
        };
        let arguments = call.arguments.clone();
        let sent: Value = serde_json::from_str(call.line(arguments).as_str()).unwrap();
        assert_eq!(sent["params"], own);
        line["params"]["requestState"] = json!("y");
        assert!(matches!(Said::read(&line.to_string()), Said::Bad(_)));
    }

    #[test]
    fn the_rest_is_passed_on_and_nothing_hides_in_it() {
        let line = r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"n":1e400,"m":12345678901234567890123}}"#;
        let Said::Other(passed) = Said::read(line) else {
            panic!()
        };
        assert!(
            passed
                .as_str()
                .contains(r#""params":{"n":1e400,"m":12345678901234567890123}"#)
        );
        let line =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        let Said::Cancel { id, .. } = Said::read(line) else {
            panic!()
        };
        assert_eq!(id, json!(7));
        for bad in [
            "",
            "{",
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}]"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"resources.read"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prompts.get"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"completion.complete"}}"#,
        ] {
            let said = Said::read(bad);
            assert!(matches!(said, Said::Bad(_)), "{bad}: {said:?}");
        }
    }

    #[test]
    fn acts_that_are_no_calls_of_tools_are_decided_too() {
        for (method, params, tool) in [
            (
                "resources/read",
                json!({"uri": "file:///a"}),
                "resources.read",
            ),
            (
                "prompts/get",
                json!({"name": "p", "arguments": {"a": "1"}}),
                "prompts.get",
            ),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
                "completion.complete",
            ),
        ] {
            let mut given = params.clone();
            given["task"] = json!({"ttl": 1});
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": given});
            let Said::Call(call) = Said::read(&line.to_string()) else {
                panic!("{method}")
            };
            assert_eq!(call.tool, tool);
            assert_eq!(Value::Object(call.arguments.clone()), params);
            let arguments = call.arguments.clone();
            let sent: Value = serde_json::from_str(call.line(arguments).as_str()).unwrap();
            assert_eq!(
                sent,
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            );
        }
    }

    #[test]
    fn what_the_gate_does_not_know_is_not_passed_on() {
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"1"}}"#,
            r#"{"jsonrpc":"2.0","method":"tasks/cancel"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"notifications/x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"x"}}"#,
        ] {
            let Said::Bad(answer) = Said::read(line) else {
                panic!("{line}")
            };
            assert_eq!(answer["error"]["code"], -32601, "{line}");
        }
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(matches!(Said::read(line), Said::Other(_)), "{line}");
        }
    }
}
