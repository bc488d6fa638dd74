//! Putting a hook among those that are there: ours is replaced where it stands, others are left alone.

use serde_json::Value;

use super::{
    json::Json,
    plan::{is_ours, started_by},
};

/// Something in the file is not of the kind the agent's settings have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` is not {expected}; correct it by hand and connect again")]
pub(super) struct Misfit {
    pub(super) place: String,
    pub(super) expected: &'static str,
}

/// Something an agent tells its hooks.
#[derive(Debug)]
pub(super) struct Event {
    name: &'static str,
    /// Groups of hooks for such an event choose by the name of the tool.
    has_tool: bool,
}

impl Event {
    pub(super) const fn of_tool(name: &'static str) -> Self {
        Self {
            name,
            has_tool: true,
        }
    }

    pub(super) const fn of_session(name: &'static str) -> Self {
        Self {
            name,
            has_tool: false,
        }
    }

    fn group(&self, hook: &Json) -> Json {
        let hooks = Json::Array(vec![hook.clone()]);
        if self.has_tool {
            Json::object([("matcher", Json::text("*")), ("hooks", hooks)])
        } else {
            Json::object([("hooks", hooks)])
        }
    }
}

impl Misfit {
    pub(super) fn new(place: impl Into<String>, expected: &'static str) -> Self {
        Self {
            place: place.into(),
            expected,
        }
    }
}

/// As Claude Code and Codex have them, for each event a list of groups, each with its hooks. Ours has a group
/// of its own: one that is shared may have been narrowed to some tools, and the others would go unasked.
pub(super) fn put_grouped(
    settings: &mut Json,
    events: &[Event],
    hook: &Json,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<(), Misfit> {
    for event in events {
        let groups = list(settings, event.name)?;
        let own = groups.iter().position(|group| is_own(group, &is_ours));
        let mut has_own = false;
        groups.retain(|group| !is_own(group, &is_ours) || !std::mem::replace(&mut has_own, true));
        for group in groups.iter_mut().filter(|group| holds(group, &is_ours)) {
            // That it holds one of ours says that it has a list of hooks.
            let hooks = group.member("hooks", Json::Array(Vec::new()));
            if let Some(hooks) = hooks.and_then(Json::items) {
                hooks.retain(|hook| !is_ours(&hook.value()));
            }
        }
        match own.and_then(|at| groups.get_mut(at)) {
            Some(own) => *own = event.group(hook),
            None => groups.push(event.group(hook)),
        }
    }
    Ok(())
}

/// As Cursor has them, for each event a list of hooks.
pub(super) fn put_flat(
    settings: &mut Json,
    events: &[&str],
    hook: &Json,
    is_ours: impl Fn(&Value) -> bool,
) -> Result<(), Misfit> {
    for event in events {
        let hooks = list(settings, event)?;
        let ours = hooks.iter().position(|hook| is_ours(&hook.value()));
        hooks.retain(|hook| !is_ours(&hook.value()));
        hooks.insert(ours.unwrap_or(hooks.len()), hook.clone());
    }
    Ok(())
}

/// Whether a hook is a command of this program, wherever that lies, that begins with these words.
pub(super) fn runs(hook: &Value, words: &str) -> bool {
    let line = hook.get("command").and_then(Value::as_str);
    let Some((program, rest)) = line.and_then(started_by) else {
        return false;
    };
    let rest = rest.strip_prefix(words);
    is_ours(&program) && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn list<'j>(settings: &'j mut Json, event: &str) -> Result<&'j mut Vec<Json>, Misfit> {
    let hooks = settings
        .member("hooks", Json::object([]))
        .ok_or_else(|| Misfit::new("the whole file", "an object"))?;
    hooks
        .member(event, Json::Array(Vec::new()))
        .ok_or_else(|| Misfit::new("hooks", "an object"))?
        .items()
        .ok_or_else(|| Misfit::new(format!("hooks.{event}"), "a list"))
}

fn holds(group: &Json, is_ours: impl Fn(&Value) -> bool) -> bool {
    let group = group.value();
    let hooks = group.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|hooks| hooks.iter().any(is_ours))
}

/// Whether a group holds hooks of ours and no others.
fn is_own(group: &Json, is_ours: impl Fn(&Value) -> bool) -> bool {
    let group = group.value();
    let hooks = group.get("hooks").and_then(Value::as_array);
    hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_ours))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const EVENTS: [Event; 2] = [
        Event::of_tool("PreToolUse"),
        Event::of_session("SessionStart"),
    ];

    fn grouped(before: &str, command: &str) -> Result<Value, Misfit> {
        let mut settings = Json::parse(before).unwrap();
        let hook = Json::object([("command", Json::text(command))]);
        put_grouped(&mut settings, &EVENTS, &hook, |hook| runs(hook, "hook"))?;
        Ok(settings.value())
    }

    #[test]
    fn an_empty_file_gets_every_event() {
        let settings = grouped("", "provost hook x").unwrap();
        let hook = json!({"command": "provost hook x"});
        assert_eq!(settings["hooks"].as_object().unwrap().len(), EVENTS.len());
        assert_eq!(
            settings["hooks"]["PreToolUse"],
            json!([{"matcher": "*", "hooks": [hook]}])
        );
        assert_eq!(
            settings["hooks"]["SessionStart"],
            json!([{"hooks": [{"command": "provost hook x"}]}])
        );
    }

    #[test]
    fn foreign_hooks_stay_and_come_first() {
        let foreign = json!({"matcher": "Bash", "hooks": [{"command": "lint"}]});
        let before = json!({"hooks": {"PreToolUse": [foreign], "Stop": [1]}});
        let after = grouped(&before.to_string(), "provost hook x").unwrap();
        assert_eq!(after["hooks"]["Stop"], json!([1]));
        let groups = after["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!((groups.len(), &groups[0]), (2, &foreign));
    }

    #[test]
    fn ours_is_replaced_where_it_stands() {
        let first = grouped("{}", "provost hook x").unwrap();
        assert_eq!(
            grouped(&first.to_string(), "provost hook x").unwrap(),
            first
        );
        let last = json!({"matcher": "*", "hooks": [{"command": "lint"}]});
        let mut before = grouped("{}", "provost hook old").unwrap();
        before["hooks"]["PreToolUse"]
            .as_array_mut()
            .unwrap()
            .push(last.clone());
        let after = grouped(&before.to_string(), "provost hook x").unwrap();
        let ours = json!({"matcher": "*", "hooks": [{"command": "provost hook x"}]});
        assert_eq!(after["hooks"]["PreToolUse"], json!([ours, last]));
    }

    #[test]
    fn ours_is_known_wherever_it_lies() {
        for (command, ours) in [
            ("provost hook x --url u || exit 2", true),
            ("/opt/provost hook x", true),
            ("'/opt/a b/provost' hook x", true),
            ("provost hook xy", false),
            ("provost", false),
            ("/opt/lint hook x", false),
            ("lint; provost hook x", false),
        ] {
            let hook = json!({"command": command});
            assert_eq!(runs(&hook, "hook x"), ours, "{command}");
        }
    }

    #[test]
    fn ours_is_asked_about_every_tool() {
        let ours = json!({"command": "provost hook x"});
        let lint = json!({"command": "lint"});
        let wide = json!({"matcher": "*", "hooks": [ours]});
        for (before, after) in [
            (json!([{"matcher": "Bash", "hooks": [ours]}]), json!([wide])),
            (json!([{"hooks": [ours]}]), json!([wide])),
            (
                json!([{"matcher": "Bash", "hooks": [lint, ours]}]),
                json!([{"matcher": "Bash", "hooks": [lint]}, wide]),
            ),
            (
                json!([{"matcher": "*", "hooks": [ours, lint]}]),
                json!([{"matcher": "*", "hooks": [lint]}, wide]),
            ),
            (
                json!([{"matcher": "Bash", "hooks": [ours, lint]}, {"matcher": "Edit", "hooks": [ours]}]),
                json!([{"matcher": "Bash", "hooks": [lint]}, wide]),
            ),
            (
                json!([wide, {"matcher": "Edit", "hooks": [ours]}]),
                json!([wide]),
            ),
        ] {
            let before = json!({"hooks": {"PreToolUse": before}});
            let settings = grouped(&before.to_string(), "provost hook x").unwrap();
            assert_eq!(settings["hooks"]["PreToolUse"], after, "{before}");
        }
        let narrowed = json!({"hooks": {"SessionStart": [{"matcher": "resume", "hooks": [ours]}]}});
        let settings = grouped(&narrowed.to_string(), "provost hook x").unwrap();
        assert_eq!(
            settings["hooks"]["SessionStart"],
            json!([{"hooks": [ours]}])
        );
    }

    #[test]
    fn a_file_of_another_shape_is_refused() {
        for (before, place) in [
            ("[]", "the whole file"),
            (r#"{"hooks": 1}"#, "hooks"),
            (r#"{"hooks": {"PreToolUse": {}}}"#, "hooks.PreToolUse"),
        ] {
            assert_eq!(grouped(before, "x").unwrap_err().place, place, "{before}");
        }
    }
}
