//! `provost stop` and `provost resume`: the switch for everything, one agent or one session.

use http::StatusCode;
use serde_json::{Value, json};

use super::view::text;
use crate::{
    client::{ClientError, Target},
    context::Context,
    exit::Exit,
    output,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost stop                                   hold back everything
  provost stop --agent claude --reason 'it loops'
  provost stop --session 7f3a")]
pub(crate) struct StopArgs {
    #[command(flatten)]
    scope: ScopeArgs,
    /// Why, for the record and for the agents
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
    /// Only this agent
    #[arg(long, value_name = "NAME", conflicts_with = "session")]
    agent: Option<String>,
    /// Only this session
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
    output::line(format_args!(
        "stopped {}; {denied} pending approvals were denied",
        output::safe(text(&stopped, "stopped"))
    ))?;
    output::note(format_args!("lift it with `{}`", lifting(&args.scope)));
    Ok(Exit::Ok)
}

/// The command that lifts a stop, to be copied into a shell.
fn lifting(scope: &ScopeArgs) -> String {
    let (option, name) = match (&scope.agent, &scope.session) {
        (Some(agent), _) => ("--agent", agent),
        (None, Some(session)) => ("--session", session),
        (None, None) => return "provost resume".to_owned(),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:@/+".contains(c);
    let name = if name.chars().all(plain) {
        name.clone()
    } else {
        format!("'{}'", output::safe(name).replace('\'', r"'\''"))
    };
    format!("provost resume {option} {name}")
}

fn not_stopped(scope: &ScopeArgs) -> String {
    let what = match (&scope.agent, &scope.session) {
        (Some(agent), _) => format!("agent {agent} is not stopped"),
        (None, Some(session)) => format!("session {session} is not stopped"),
        (None, None) => "there is no stop of everything".to_owned(),
    };
    format!("{what}; `provost doctor` lists stops")
}

pub(super) async fn resume(context: &Context, args: ResumeArgs) -> anyhow::Result<Exit> {
    let answer = context
        .client()?
        .post(Target::new("/resume"), &args.scope.body())
        .await;
    let is_missing = |error: &ClientError| {
        let refusal = error.refusal();
        refusal.is_some_and(|refusal| refusal.status == StatusCode::NOT_FOUND)
    };
    let resumed = match answer {
        Err(error) if is_missing(&error) => anyhow::bail!(not_stopped(&args.scope)),
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
            assert!(not_stopped(&scope).starts_with(told));
        }
    }

    #[test]
    fn p17_a_stop_names_the_command_that_lifts_it() {
        for (agent, session, expected) in [
            (None, None, "provost resume"),
            (Some("claude"), None, "provost resume --agent claude"),
            (
                Some("it's me"),
                None,
                r"provost resume --agent 'it'\''s me'",
            ),
            (None, Some("7f3a"), "provost resume --session 7f3a"),
            (Some("$(id)"), None, "provost resume --agent '$(id)'"),
        ] {
            let scope = ScopeArgs {
                agent: agent.map(str::to_owned),
                session: session.map(str::to_owned),
            };
            assert_eq!(lifting(&scope), expected);
        }
    }
}
