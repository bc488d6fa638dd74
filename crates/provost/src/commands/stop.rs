//! `provost stop` and `provost resume`: the switch for everything, agents or one session.

use http::StatusCode;
use provost_core::control::Stop;
use serde_json::{Value, json};

use super::view::text;
use crate::{
    client::{Client, ClientError, Target},
    context::Context,
    exit::Exit,
    output,
};

/// More agents are counted, not named.
const NAMED: usize = 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost stop                                   hold back everything
  provost stop --agent claude --reason 'it loops'
  provost stop --agent 'claude*'                 every agent that matches
  provost stop --session 7f3a")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    scope: ScopeArgs,
    /// The reason: agents are told, and it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  provost resume\n  provost resume --agent claude")]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    scope: ScopeArgs,
}

#[derive(Debug, clap::Args)]
struct ScopeArgs {
    /// Only agents that match this name or glob, as in policies
    #[arg(long, value_name = "GLOB", conflicts_with = "session")]
    agent: Option<String>,
    /// Only the session with this id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl ScopeArgs {
    fn body(&self) -> Value {
        match (&self.agent, &self.session) {
            (Some(agent), _) => json!({"agent": agent}),
            (None, Some(session)) => json!({"session": session}),
            (None, None) => json!({}),
        }
    }
}

pub(super) async fn stop(context: &Context, args: StopArgs) -> anyhow::Result<Exit> {
    let mut body = args.scope.body();
    if let (Some(reason), Some(body)) = (&args.reason, body.as_object_mut()) {
        body.insert("reasoning".into(), reason.as_str().into());
    }
    let stopped = context
        .client()?
        .post(Target::new("/stop"), &body)
        .await?
        .having(&["stopped", "denied"])?;
    if context.json() {
        output::json(&stopped)?;
        return Ok(Exit::Ok);
    }
    let denied = stopped
        .get("denied")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let were = if denied == 1 { "was" } else { "were" };
    output::line(format_args!(
        "stopped {}; {} {were} denied",
        output::safe(text(&stopped, "stopped")),
        output::counted(denied, "pending approval")
    ))?;
    if let Some(agents) = stopped.get("agents").and_then(Value::as_array) {
        output::note(held(agents));
    }
    output::note(format_args!(
        "lift it with `{}`",
        lifting(text(&stopped, "stopped"))
    ));
    Ok(Exit::Ok)
}

/// Which agents the stop holds, so that a mistyped name shows.
fn held(agents: &[Value]) -> String {
    let names = agents.iter().filter_map(Value::as_str).take(NAMED);
    let names: Vec<_> = names.map(|name| output::safe(name).to_string()).collect();
    match agents.len().saturating_sub(names.len()) {
        _ if names.is_empty() => "no agent in this scope was seen so far: check the name. \
             The stop holds for any that comes"
            .to_owned(),
        0 => format!("it holds {}", names.join(", ")),
        more => format!("it holds {} and {more} more", names.join(", ")),
    }
}

/// The command that lifts a stop of this scope, to be copied into a shell.
pub(super) fn lifting(scope: &str) -> String {
    let (option, name) = match scope.split_once(':') {
        Some(("agent", agent)) => ("--agent", agent),
        Some(("session", session)) => ("--session", session),
        _ => return "provost resume".to_owned(),
    };
    // A name that begins with `-` would be read as an option.
    let between = if name.starts_with('-') { '=' } else { ' ' };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:@/+".contains(c);
    let name = if name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("'{}'", output::safe(name).replace('\'', r"'\''"))
    };
    format!("provost resume {option}{between}{name}")
}

/// `stops`: those that there are. One with another scope may hold what was named.
fn not_stopped(scope: &ScopeArgs, stops: &[Stop]) -> String {
    let what = match (&scope.agent, &scope.session) {
        (Some(agent), _) => format!("agent {agent}"),
        (None, Some(session)) => format!("session {session}"),
        (None, None) => {
            return "there is no stop of everything; `provost doctor` lists stops".to_owned();
        }
    };
    let agent = scope.agent.as_deref().unwrap_or_default();
    let holds = |stop: &&Stop| stop.scope.holds(agent, scope.session.as_deref());
    let holding = stops.iter().filter(holds);
    let commands: Vec<_> = holding
        .map(|stop| format!("`{}`", lifting(&stop.scope.to_string())))
        .collect();
    if commands.is_empty() {
        return format!("{what} is not stopped; `provost doctor` lists stops");
    }
    format!(
        "{what} has no stop of its own, but another one holds it; lift that with {}",
        commands.join(", ")
    )
}

/// What cannot be told is not told: the answer is no anyway.
async fn stops(client: &Client) -> Vec<Stop> {
    let stops = client.get(Target::new("/stop")).await;
    let stops = stops
        .ok()
        .and_then(|it| serde_json::from_value(it.body).ok());
    stops.unwrap_or_default()
}

pub(super) async fn resume(context: &Context, args: ResumeArgs) -> anyhow::Result<Exit> {
    let client = context.client()?;
    let resume = Target::new("/resume");
    let answer = client.post(resume, &args.scope.body()).await;
    let is_missing = |error: &ClientError| {
        let refusal = error.refusal();
        refusal.is_some_and(|refusal| refusal.status == StatusCode::NOT_FOUND)
    };
    let resumed = match answer {
        Err(error) if is_missing(&error) => {
            anyhow::bail!(not_stopped(&args.scope, &stops(&client).await))
        }
        answer => answer?.having(&["resumed"])?,
    };
    if context.json() {
        output::json(&resumed)?;
    } else {
        output::line(format_args!(
            "resumed {}",
            output::safe(text(&resumed, "resumed"))
        ))?;
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p17_what_is_not_stopped_is_told_by_its_name() {
        let scope = |agent: Option<&str>, session: Option<&str>| ScopeArgs {
            agent: agent.map(str::to_owned),
            session: session.map(str::to_owned),
        };
        for (scope, told) in [
            (scope(Some("x"), None), "agent x is not stopped; "),
            (scope(None, Some("s")), "session s is not stopped; "),
            (scope(None, None), "there is no stop of everything; "),
        ] {
            assert!(not_stopped(&scope, &[]).starts_with(told));
        }
        let stop = |scope: &str| Stop {
            scope: scope.parse().unwrap(),
            by: "human:a".to_owned(),
            reasoning: None,
            at: provost_core::time::Time::default(),
        };
        let stops = [stop("agent:cur*"), stop("agent:x"), stop("everything")];
        let cursor = not_stopped(&scope(Some("cursor"), None), &stops);
        assert_eq!(
            cursor,
            "agent cursor has no stop of its own, but another one holds it; lift that with \
             `provost resume --agent 'cur*'`, `provost resume`"
        );
        let session = not_stopped(&scope(None, Some("s")), &stops[..2]);
        assert!(session.starts_with("session s is not stopped; "));
    }

    #[test]
    fn p17_a_stop_tells_which_agents_it_holds() {
        let held = |names: &[&str]| held(&names.iter().map(|name| json!(name)).collect::<Vec<_>>());
        assert!(held(&[]).starts_with("no agent in this scope was seen so far"));
        assert_eq!(held(&["a", "b"]), "it holds a, b");
        assert_eq!(
            held(&["a"; 12]),
            "it holds a, a, a, a, a, a, a, a, a, a and 2 more"
        );
    }

    #[test]
    fn p17_a_stop_names_the_command_that_lifts_it() {
        for (scope, expected) in [
            ("everything", "provost resume"),
            ("agent:claude", "provost resume --agent claude"),
            ("agent:it's me", r"provost resume --agent 'it'\''s me'"),
            ("agent:run:pretend", "provost resume --agent run:pretend"),
            ("session:7f3a", "provost resume --session 7f3a"),
            ("agent:$(id)", "provost resume --agent '$(id)'"),
            ("agent:claude*", "provost resume --agent 'claude*'"),
            ("agent:-x", "provost resume --agent=-x"),
            ("session:- y", "provost resume --session='- y'"),
        ] {
            assert_eq!(lifting(scope), expected);
        }
    }
}
