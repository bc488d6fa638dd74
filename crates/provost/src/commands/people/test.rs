//! `provost people test`: a real question on each channel, and what comes back.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context as _;
use provost_core::time::parse_duration;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Client, Target},
    commands::view::{items, some_text, text},
    context::Context,
    exit::{Exit, usage},
    output::{self, Color},
};

const BETWEEN_LOOKS: Duration = Duration::from_millis(300);
/// For sending alone.
const TO_SEND: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_hours(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The person's name in the configuration
    name: String,
    /// How long to wait for the answers
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    timeout: String,
    /// Only send: do not wait for the answers
    #[arg(long)]
    no_wait: bool,
}

pub(super) async fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let patience = parse_duration(&args.timeout)
        .filter(|time| (Duration::from_secs(1)..=LONGEST).contains(time))
        .ok_or_else(|| usage("--timeout takes a time from 1s to 1h"))?;
    let client = context.client()?;
    let target = Target::new("/v1/people").step(&args.name).step("test");
    let body = json!({"expires_in_sec": patience.as_secs()});
    let made = client.post(target, &body).await?.body;
    let tests = made
        .get("tests")
        .context("the gateway's answer has no tests")?;
    let ids: Vec<_> = items(tests)
        .iter()
        .map(|test| text(test, "id").to_owned())
        .collect();
    let deadline = Instant::now()
        + if args.no_wait {
            TO_SEND.min(patience)
        } else {
            patience
        };
    let tell = !context.json();
    let seen = watch(&client, &ids, args.no_wait, deadline, tell).await?;
    let wanted = if args.no_wait {
        &["sent", "answered"][..]
    } else {
        &["answered"]
    };
    let ok = seen.iter().all(|test| {
        let elsewhere = some_text(test, "via") != some_text(test, "channel");
        let state = text(test, "state");
        wanted.contains(&state) && !(state == "answered" && elsewhere)
    });
    if context.json() {
        output::json(&json!({"person": args.name, "ok": ok, "tests": seen}))?;
    } else if !ok {
        output::note("not every channel works; `provost doctor` looks for the reason");
    }
    Ok(Exit::yes_or_no(ok))
}

/// Looks until nothing more is to come, and tells what changes.
async fn watch(
    client: &Client,
    ids: &[String],
    no_wait: bool,
    deadline: Instant,
    tell: bool,
) -> anyhow::Result<Vec<Value>> {
    let mut told: BTreeMap<&str, String> = BTreeMap::new();
    loop {
        let mut seen = Vec::new();
        for id in ids {
            seen.push(
                client
                    .get(Target::new("/v1/people-tests").step(id))
                    .await?
                    .body,
            );
        }
        for (id, test) in ids.iter().zip(&seen) {
            let line = line(test);
            if tell && text(test, "state") != "sending" && told.get(&**id) != Some(&line) {
                output::line(&line)?;
                told.insert(id, line);
            }
        }
        let goes_on = |test: &Value| match text(test, "state") {
            "sending" => true,
            "sent" => !no_wait,
            _ => false,
        };
        if !seen.iter().any(goes_on) || Instant::now() >= deadline {
            for test in seen.iter().filter(|test| goes_on(test) && tell) {
                let channel = output::safe(text(test, "channel"));
                let waits = format!("{channel}: no answer in time");
                output::line(output::paint(&waits, Color::Red))?;
            }
            return Ok(seen);
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// How a test stands.
fn line(test: &Value) -> String {
    let channel = output::safe(text(test, "channel"));
    match text(test, "state") {
        "sent" => format!("{channel}: sent, waiting for the answer"),
        "failed" => {
            let why = output::safe(text(test, "why"));
            output::paint(&format!("{channel}: not sent: {why}"), Color::Red)
        }
        "answered" => {
            let by = output::safe(text(test, "by"));
            let code = some_text(test, "code").map(|code| format!(" with {code}"));
            let code = code.unwrap_or_default();
            // By a key, there is no channel at all.
            let via = some_text(test, "via").unwrap_or("the console, the terminal or HTTP");
            if via == text(test, "channel") {
                let line = format!("{channel}: answered by {by}{code}");
                return output::paint(&line, Color::Green);
            }
            let via = output::safe(via);
            let line = format!(
                "{channel}: answered by {by}{code}, but on {via}: this does not show that {channel} works"
            );
            output::paint(&line, Color::Red)
        }
        "expired" => output::paint(&format!("{channel}: nobody answered in time"), Color::Red),
        _ => format!("{channel}: being sent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p12_an_answer_from_elsewhere_says_so() {
        let on = |via: Value| {
            line(&json!({
                "channel": "telegram", "state": "answered", "by": "alice", "code": "1", "via": via,
            }))
        };
        let own = on("telegram".into());
        assert!(own.contains("telegram: answered by alice with 1"), "{own}");
        assert!(!own.contains("but on"), "{own}");
        for (via, said) in [
            (Value::Null, "but on the console, the terminal or HTTP"),
            (
                "email".into(),
                "but on email: this does not show that telegram works",
            ),
        ] {
            let line = on(via);
            assert!(line.contains(said), "{line}");
        }
    }
}
