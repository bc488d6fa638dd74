//! What an agent asks before it acts, and who answers it.

mod acts;
mod callback;
pub mod endpoint;
mod gateway;
mod released;
mod terminal;

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use tokio::{sync::oneshot, time::timeout};

use crate::acp::call_id;

pub use acts::ActGate;
pub use callback::{Callbacks, Given, Taken};
pub use gateway::{Gateway, GatewayJudge, Standing, Unreachable};
pub use terminal::{Person, Question};

/// Who decided, where nobody did in time.
const TIMED_OUT: &str = "timeout";

/// A `session/request_permission`.
#[derive(Debug)]
pub struct Permission {
    /// Ours, for whoever answers.
    pub id: String,
    /// What was asked, as the agent wrote it.
    pub raw: Box<RawValue>,
    pub options: Vec<Choice>,
    /// In which it is asked: the run's own.
    pub session: Option<String>,
    pub title: Option<String>,
    /// The agent's id of the call that it asks about.
    pub tool_call: Option<String>,
    /// The call as far as the agent told of it, before and now.
    pub told: Map<String, Value>,
    /// Said of no other question, of no other process either.
    pub once: String,
}

/// One of the answers that the agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    pub option_id: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub kind: String,
}

/// What is answered, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub wish: Wish,
    pub reason: String,
    pub by: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    Allow,
    Reject,
    /// One of the agent's own options.
    Option(String),
    /// One of its kinds.
    Kind(String),
}

pub enum Judge {
    Auto,
    Deny,
    Gateway(GatewayJudge),
    Callback(Callbacks),
    Person(Person),
}

impl Permission {
    /// An error where it offers nothing that could be chosen.
    pub fn read(id: String, raw: Box<RawValue>) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Asked {
            options: Vec<Value>,
            #[serde(default)]
            session_id: Option<String>,
            #[serde(default)]
            tool_call: Value,
        }
        let asked: Asked = serde_json::from_str(raw.get()).map_err(|error| error.to_string())?;
        // An option that cannot be read is one that cannot be chosen.
        let options = asked.options.into_iter();
        let options = options.filter_map(|option| serde_json::from_value(option).ok());
        let told = asked.tool_call.as_object().cloned().unwrap_or_default();
        let title = asked.tool_call.get("title").and_then(Value::as_str);
        Ok(Self {
            tool_call: asked.tool_call.get("toolCallId").and_then(call_id),
            options: options.collect(),
            session: asked.session_id,
            title: title.map(str::to_owned),
            told,
            once: format!("{id}:{:016x}", random()),
            id,
            raw,
        })
    }

    /// The option that is meant: by its kind, never by its place. A yes for once rather than for ever, so
    /// that the agent asks again and whoever remembers a decision is the one who made it.
    pub fn choose(&self, wish: &Wish) -> Option<&Choice> {
        let options = || self.options.iter().filter(|option| self.is_clear(option));
        let of_kind = |kind: &str| options().find(|option| option.kind == kind);
        let chosen = match wish {
            Wish::Allow => of_kind("allow_once").or_else(|| of_kind("allow_always")),
            Wish::Reject => of_kind("reject_once").or_else(|| of_kind("reject_always")),
            // A yes for longer than the agent offers is a yes for once.
            Wish::Kind(kind) if kind == "allow_always" => {
                of_kind(kind).or_else(|| of_kind("allow_once"))
            }
            Wish::Kind(kind) => of_kind(kind),
            Wish::Option(id) => options().find(|option| option.option_id == *id),
        };
        // What nobody saw is never remembered.
        match chosen {
            Some(option) if option.kind == "allow_always" && !self.tells_arguments() => {
                of_kind("allow_once")
            }
            chosen => chosen,
        }
    }

    /// Whether its id says what it is: that of a yes and of a no says neither.
    fn is_clear(&self, option: &Choice) -> bool {
        let allows = |option: &Choice| option.kind.starts_with("allow");
        let mut same = self
            .options
            .iter()
            .filter(|other| other.option_id == option.option_id);
        same.all(|other| allows(other) == allows(option))
    }

    /// Whether it is known what the call would do: its arguments, or the change that it makes.
    pub fn tells_arguments(&self) -> bool {
        let input = match self.told.get("rawInput") {
            None | Some(Value::Null) => false,
            Some(Value::Object(input)) => !input.is_empty(),
            Some(_) => true,
        };
        let content = self.told.get("content").and_then(Value::as_array);
        let mut content = content.into_iter().flatten();
        input || content.any(|block| block.get("type").is_some_and(|kind| kind == "diff"))
    }

    /// What the agent is told. A wish that none of its options fits is a no; where it knows no no, that is
    /// the end of its turn.
    pub fn answer(&self, wish: &Wish) -> (Value, &'static str) {
        let chosen = self.choose(wish).or_else(|| self.choose(&Wish::Reject));
        match chosen {
            Some(option) => {
                let outcome = if option.kind.starts_with("allow") {
                    "allowed"
                } else {
                    "rejected"
                };
                let selected = json!({"outcome": "selected", "optionId": option.option_id});
                (json!({ "outcome": selected }), outcome)
            }
            None => (cancelled(), "cancelled"),
        }
    }
}

fn random() -> u64 {
    let mut bytes = [0_u8; 8];
    // Without it the number of the question would do within one process.
    let _ = getrandom::fill(&mut bytes);
    u64::from_be_bytes(bytes)
}

/// For what is not decided because the turn is over.
pub fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

impl Judgement {
    pub fn new(wish: Wish, by: &'static str, reason: impl Into<String>) -> Self {
        Self {
            wish,
            reason: reason.into(),
            by,
        }
    }
}

/// A question that whoever decides may be told of now.
pub enum Asked {
    Judge(Arc<Judge>),
    /// An answer that somebody will bring.
    Waiting(oneshot::Receiver<Wish>),
}

impl Judge {
    /// To be called before anybody is told of the question: an answer may be quicker than we are.
    pub fn asked(self: &Arc<Self>, permission: &Permission) -> Asked {
        match &**self {
            Self::Callback(callbacks) => Asked::Waiting(callbacks.wait_for(&permission.id)),
            _ => Asked::Judge(Arc::clone(self)),
        }
    }

    /// The address that whoever is told of a question may answer at; `None` where nobody is told.
    pub fn announces(&self) -> Option<&str> {
        match self {
            Self::Callback(callbacks) => Some(callbacks.address()),
            _ => None,
        }
    }

    async fn ask(&self, permission: &Permission) -> Judgement {
        match self {
            Self::Auto => Judgement::new(Wish::Allow, "auto", "everything is allowed"),
            Self::Gateway(gateway) => gateway.ask(permission).await,
            Self::Person(person) => person.ask(permission).await,
            Self::Deny | Self::Callback(_) => {
                Judgement::new(Wish::Reject, "deny", "nothing is allowed")
            }
        }
    }
}

impl Asked {
    /// Nobody's answer within the time is a no.
    pub async fn decided(self, permission: &Permission, within: Duration) -> Judgement {
        let answered = timeout(within, self.answered(permission)).await;
        answered.unwrap_or_else(|_| {
            let reason = format!("nobody answered within {} s", within.as_secs());
            Judgement::new(Wish::Reject, TIMED_OUT, reason)
        })
    }

    async fn answered(self, permission: &Permission) -> Judgement {
        match self {
            Self::Judge(judge) => judge.ask(permission).await,
            Self::Waiting(answer) => match answer.await {
                Ok(wish) => Judgement::new(wish, "callback", "decided by the callback"),
                Err(_) => Judgement::new(Wish::Reject, "callback", "nobody waits for an answer"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn asking(options: &Value) -> Permission {
        let raw = json!({"sessionId": "s", "toolCall": {"toolCallId": "1", "title": "t", "rawInput": {"command": "ls"}},
            "options": options});
        Permission::read("p".to_owned(), to_raw_value(&raw).unwrap()).unwrap()
    }

    #[test]
    fn what_is_not_told_is_not_remembered() {
        let option = |id: &str, kind: &str| json!({"optionId": id, "kind": kind});
        let both = json!([
            option("always", "allow_always"),
            option("once", "allow_once")
        ]);
        let always = json!([
            option("always", "allow_always"),
            option("no", "reject_once")
        ]);
        for (call, told) in [
            (json!({"title": "Bash"}), false),
            (json!({"title": "Bash", "rawInput": {}}), false),
            (
                json!({"content": [{"type": "content", "content": {}}]}),
                false,
            ),
            (json!({"rawInput": {"command": "ls"}}), true),
            (json!({"content": [{"type": "diff", "path": "a"}]}), true),
        ] {
            let chosen = |options: &Value, wish: &Wish| {
                let raw = json!({"toolCall": call, "options": options});
                let permission = Permission::read("p".to_owned(), to_raw_value(&raw).unwrap());
                permission.unwrap().answer(wish).0["outcome"]["optionId"].clone()
            };
            let expected = if told { "always" } else { "once" };
            for wish in [
                Wish::Kind("allow_always".into()),
                Wish::Option("always".into()),
            ] {
                assert_eq!(chosen(&both, &wish), expected, "{call}");
            }
            // One who offers no yes for once gets none.
            let expected = if told { "always" } else { "no" };
            assert_eq!(chosen(&always, &Wish::Allow), expected, "{call}");
        }
    }

    #[test]
    fn options_are_chosen_by_their_kind() {
        let option = |id: &str, kind: &str| json!({"optionId": id, "name": id, "kind": kind});
        let usual = json!([
            option("b", "reject_once"),
            option("c", "allow_always"),
            option("a", "allow_once")
        ]);
        let lasting = json!([option("x", "allow_always"), option("y", "reject_always")]);
        let once = json!([option("a", "allow_once"), option("b", "reject_once")]);
        let lying = json!([option("a", "allow_once"), option("a", "reject_once")]);
        let odd = json!([option("z", "maybe"), {"optionId": 7}, "text"]);
        for (options, wish, chosen, outcome) in [
            (&lying, Wish::Reject, None, "cancelled"),
            (&lying, Wish::Allow, None, "cancelled"),
            (&lying, Wish::Option("a".into()), None, "cancelled"),
            (&usual, Wish::Allow, Some("a"), "allowed"),
            (&usual, Wish::Reject, Some("b"), "rejected"),
            (&usual, Wish::Option("c".into()), Some("c"), "allowed"),
            (
                &usual,
                Wish::Kind("allow_always".into()),
                Some("c"),
                "allowed",
            ),
            // What is not offered is a no.
            (
                &usual,
                Wish::Option("nothing".into()),
                Some("b"),
                "rejected",
            ),
            (
                &usual,
                Wish::Kind("reject_always".into()),
                Some("b"),
                "rejected",
            ),
            (
                &once,
                Wish::Kind("allow_always".into()),
                Some("a"),
                "allowed",
            ),
            (
                &lasting,
                Wish::Kind("allow_once".into()),
                Some("y"),
                "rejected",
            ),
            (&lasting, Wish::Allow, Some("x"), "allowed"),
            (&lasting, Wish::Reject, Some("y"), "rejected"),
            (&odd, Wish::Allow, None, "cancelled"),
            (&odd, Wish::Reject, None, "cancelled"),
        ] {
            let (answer, told) = asking(options).answer(&wish);
            assert_eq!(told, outcome, "{options} {wish:?}");
            assert_eq!(
                answer["outcome"]["optionId"].as_str(),
                chosen,
                "{options} {wish:?}"
            );
        }
    }
}
