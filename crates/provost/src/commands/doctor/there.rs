//! What the running gateway says of itself.

use std::{collections::BTreeMap, time::Duration};

use http::StatusCode;
use provost_core::{
    ports::{Clock as _, SystemClock},
    time::{Time, format_duration},
};
use serde_json::{Value, json};

use super::{findings::Findings, runs};
use crate::{
    client::{Client, ClientError, Target},
    commands::{
        stop::lifting,
        version::VERSION,
        view::{items, moment, some_text, text},
    },
    exit::Exit,
    output::counted,
};

const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the gateway, and tells whether it answered.
pub(super) async fn gateway(client: &Client, findings: &mut Findings) -> Exit {
    let client = client.clone().patient(PATIENCE);
    let health = match client.get(Target::new("/health")).await {
        Ok(answer) => answer.body,
        Err(error) => {
            // It runs, and its store does not: [`store`] tells.
            let Some(health) = failing(&error) else {
                let hint = error.help().unwrap_or_else(|| "look at its log".to_owned());
                findings.fail("gateway", error.to_string(), hint);
                return error.exit();
            };
            health
        }
    };
    let uptime = health
        .get("uptime_seconds")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let uptime = format_duration(Duration::from_secs(uptime));
    findings.ok("gateway", format!("{}, up for {uptime}", client.url()));
    version(text(&health, "version"), findings);
    store(&client, text(&health, "store"), findings).await;
    kept_record(health.get("record").unwrap_or(&Value::Null), findings);
    policy(health.get("policy").unwrap_or(&Value::Null), findings);
    queue(&health, findings);
    declared_agents(health.get("auth").unwrap_or(&Value::Null), findings);
    tools(&client, findings).await;
    mcp_servers(&client, findings).await;
    channels(&client, &health, findings).await;
    runs::counts(&client, findings).await;
    stops(&health, findings);
    Exit::Ok
}

/// What a gateway tells of itself although its store fails.
fn failing(error: &ClientError) -> Option<Value> {
    let body = &error.refusal()?.body;
    body.get("uptime_seconds")?;
    Some(body.clone())
}

/// The ways to people, and which of them fail.
async fn channels(client: &Client, health: &Value, findings: &mut Findings) {
    // Who cannot be reached is told to those who may know; others hear that somebody is.
    let people = client.get(Target::new("/v1/people")).await;
    let people = people.map(|answer| answer.body).unwrap_or_default();
    // Asking for people has the channels checked again.
    let again = client.get(Target::new("/health")).await;
    let again = again.map(|answer| answer.body).ok();
    let health = again.as_ref().unwrap_or(health);
    let channels = health.get("channels").and_then(Value::as_object);
    for (name, standing) in channels.into_iter().flatten() {
        let delivered = standing.get("delivered").and_then(Value::as_u64);
        let delivered = format!("{name}, {} delivered", delivered.unwrap_or_default());
        let checked = checked(standing, SystemClock.now());
        let mut problems = standing
            .get("problems")
            .map(items)
            .unwrap_or_default()
            .to_vec();
        // Several people may have the same one.
        problems.dedup();
        for problem in &problems {
            let what = text(problem, "problem");
            let concerned = concerned(&people, name, what);
            let detail = format!("{name}{concerned}: {what}{checked}");
            findings.fail("channel", detail, text(problem, "help"));
        }
        match some_text(standing, "failing_since") {
            None if !problems.is_empty() => {}
            None if standing.get("unchecked") == Some(&json!(true)) => findings.warn(
                "channel",
                format!("{name}: not checked yet"),
                "look again in a moment; a check takes up to a minute",
            ),
            None => findings.ok("channel", format!("{delivered}{checked}")),
            Some(since) => findings.warn(
                "channel",
                format!(
                    "{delivered}; nothing gets through since {}{checked}",
                    moment(since)
                ),
                "the gateway's log says why; what waits is sent once it works again",
            ),
        }
    }
}

/// How old what is told of a channel is.
fn checked(standing: &Value, now: Time) -> String {
    let at = some_text(standing, "checked_at").and_then(Time::parse);
    at.map_or_else(String::new, |at| {
        format!(", checked {} s ago", now.since(at).as_secs())
    })
}

/// Those whom a problem is about, where it is not the whole channel's.
fn concerned(people: &Value, channel: &str, problem: &str) -> String {
    let list = |value: &Value, name: &str| value.get(name).map(items).unwrap_or_default().to_vec();
    let has = |person: &&Value| {
        let own = list(person, "channels").into_iter();
        own.filter(|own| text(own, "channel") == channel)
            .any(|own| {
                let personal = json!(true);
                list(&own, "problems").iter().any(|own| {
                    text(own, "problem") == problem && own.get("personal") == Some(&personal)
                })
            })
    };
    let names: Vec<_> = items(people)
        .iter()
        .filter(has)
        .map(|person| text(person, "name"))
        .collect();
    if names.is_empty() {
        return String::new();
    }
    format!(" ({})", names.join(", "))
}

fn version(running: &str, findings: &mut Findings) {
    if running == VERSION {
        findings.ok("version", running);
    } else {
        let detail = format!("the gateway is {running}, this command is {VERSION}");
        findings.warn(
            "version",
            detail,
            "restart the gateway with the newer binary",
        );
    }
}

async fn store(client: &Client, kind: &str, findings: &mut Findings) {
    match client.get(Target::new("/ready")).await {
        Ok(_) => findings.ok("store", format!("{kind}, takes writes")),
        Err(error) => findings.fail(
            "store",
            format!("{kind}: {error}"),
            "look at the gateway's log; meanwhile every answer is no",
        ),
    }
}

/// Whether the heads of the record are kept outside the store.
fn kept_record(record: &Value, findings: &mut Findings) {
    if let Some(gap) = some_text(record, "gap") {
        let hint = "see `provost traces verify`; the gateway will not start again with this record";
        return findings.fail("kept heads", format!("the record was changed: {gap}"), hint);
    }
    if let Some(why) = some_text(record, "not_read") {
        let hint = "see that the database answers, and that nobody changed its tables";
        return findings.fail("kept heads", format!("not compared: {why}"), hint);
    }
    match some_text(record, "not_kept") {
        None => findings.ok("kept heads", "written once a second, outside the store"),
        Some(why) => findings.warn(
            "kept heads",
            format!("in memory alone: {why}"),
            "set `PROVOST_STATE` to a folder that the gateway may write, outside the data folder",
        ),
    }
}

fn policy(policy: &Value, findings: &mut Findings) {
    let rules = policy
        .get("rules")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let loaded = format!(
        "{rules} rules from {}, loaded {}",
        text(policy, "source"),
        moment(text(policy, "loaded_at"))
    );
    match some_text(policy, "error") {
        None => findings.ok("policy", loaded),
        // Nothing but a file that came later can be wrong with the defaults.
        Some(error) if text(policy, "source") == "embedded defaults" => findings.fail(
            "policy",
            format!(
                "{loaded}; {}",
                error.split(": restart").next().unwrap_or(error)
            ),
            "restart the gateway to use it, or remove the file",
        ),
        Some(error) => findings.fail(
            "policy",
            format!("{loaded}; the file as it is now is not in force: {error}"),
            "`provost check` shows every problem; until then the rules of before stay in force",
        ),
    }
}

fn queue(health: &Value, findings: &mut Findings) {
    let number = |name: &str| health.get(name).and_then(Value::as_u64);
    let waiting = number("waiting").unwrap_or_default();
    let Some(pending) = number("pending") else {
        let detail = format!("the store does not say how many are pending; {waiting} callers wait");
        return findings.fail("approvals", detail, "see `store` above");
    };
    let detail = format!("{pending} pending, {waiting} callers wait");
    if pending == 0 {
        findings.ok("approvals", detail);
    } else {
        findings.warn(
            "approvals",
            detail,
            "decide them with `provost approvals watch`",
        );
    }
}

/// Whether agents need keys, and why.
fn declared_agents(auth: &Value, findings: &mut Findings) {
    let is = |name: &str| auth.get(name) == Some(&Value::Bool(true));
    let why = text(auth, "declared_agents_because");
    if !is("declared_agents") {
        return findings.ok("agents", why);
    }
    let detail = format!("agents on this machine may come in without a key: {why}");
    if is("agent_keys") {
        let hint = "an agent can drop its key and declare another name: give every agent a key, and remove \
                    `auth.declared_agents`";
        return findings.warn("agents", detail, hint);
    }
    findings.ok("agents", format!("{detail}; the first agent key ends that"));
}

async fn tools(client: &Client, findings: &mut Findings) {
    let tools = match client.get(Target::new("/tools")).await {
        Ok(answer) => answer.body,
        Err(error) => return refused("tools", &error, findings),
    };
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in items(&tools) {
        *sources.entry(text(tool, "source")).or_default() += 1;
    }
    let sources: Vec<_> = sources
        .into_iter()
        .map(|(source, count)| format!("{count} {source}"))
        .collect();
    if sources.is_empty() {
        findings.ok(
            "tools",
            "none: agents can ask for decisions, and run what they are allowed themselves",
        );
    } else {
        findings.ok("tools", sources.join(", "));
    }
}

async fn mcp_servers(client: &Client, findings: &mut Findings) {
    let servers = match client.get(Target::new("/mcp-servers")).await {
        Ok(answer) => answer.body,
        Err(error) => return refused("mcp servers", &error, findings),
    };
    if items(&servers).is_empty() {
        findings.ok("mcp servers", "none");
    }
    for server in items(&servers) {
        mcp_server(server, findings);
    }
}

fn mcp_server(server: &Value, findings: &mut Findings) {
    let number = |name: &str| server.get(name).and_then(Value::as_u64).unwrap_or_default();
    let list = |name: &str| -> Vec<&str> {
        let list = server.get(name).map(items).unwrap_or_default();
        list.iter().filter_map(Value::as_str).collect()
    };
    let (name, status) = (text(server, "name"), text(server, "status"));
    let (held, warnings) = (list("held"), list("warnings"));
    let since = moment(text(server, "since"));
    let transport = text(server, "transport");
    let (tools, restarts) = (number("tools"), number("restarts"));
    let more = match (status, some_text(server, "last_error")) {
        ("up", _) => counted(tools, "tool"),
        (_, None) => counted(restarts, "restart"),
        (_, Some(error)) => format!("{}: {error}", counted(restarts, "restart")),
    };
    let detail = format!("{name} ({transport}): {status} since {since}, {more}");
    // One that is tried again and again is starting for most of the time.
    let is_looping = status == "starting" && some_text(server, "last_error").is_some();
    if status == "down" || is_looping {
        let hint = "look at its command or URL in `mcp_servers`, and at the gateway's log";
        return findings.fail("mcp servers", detail, hint);
    }
    if !held.is_empty() {
        let detail = format!("{detail}; changed, and held back: {}", held.join(", "));
        let hint = format!("look at them with `provost mcp trust {name}`");
        return findings.warn("mcp servers", detail, hint);
    }
    if !warnings.is_empty() {
        let detail = format!("{detail}; {}", warnings.join("; "));
        return findings.warn("mcp servers", detail, "tell those who make the server");
    }
    findings.ok("mcp servers", detail);
}

fn refused(name: &'static str, error: &ClientError, findings: &mut Findings) {
    let unknown = error
        .refusal()
        .is_some_and(|refusal| refusal.status == StatusCode::UNAUTHORIZED);
    let hint = error
        .help()
        .unwrap_or_else(|| "look at the gateway's log".to_owned());
    if unknown {
        findings.warn(name, format!("not shown: {error}"), hint);
    } else {
        findings.fail(name, error.to_string(), hint);
    }
}

fn stops(health: &Value, findings: &mut Findings) {
    let stopped: Vec<_> = health
        .get("stopped")
        .map(items)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if stopped.is_empty() {
        findings.ok("stops", "none");
    } else {
        let commands: Vec<_> = stopped
            .iter()
            .map(|scope| format!("`{}`", lifting(scope)))
            .collect();
        findings.warn(
            "stops",
            format!("stopped: {}", stopped.join(", ")),
            format!("lift with {}", commands.join(", ")),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{super::findings::State, *};

    fn found(look: impl FnOnce(&mut Findings)) -> (State, String, String) {
        let mut findings = Findings::default();
        look(&mut findings);
        let finding = findings.0.pop().unwrap();
        let hint = finding.hint.unwrap_or_default();
        (finding.state, finding.detail, hint)
    }

    #[test]
    fn p17_a_stop_is_found_with_the_command_that_lifts_it() {
        let health = json!({"stopped": ["agent:claude*", "everything"]});
        let (state, _, hint) = found(|findings| stops(&health, findings));
        assert_eq!(state, State::Warn);
        assert_eq!(
            hint,
            "lift with `provost resume --agent 'claude*'`, `provost resume`"
        );
    }

    #[test]
    fn p18_a_server_that_is_started_again_and_again_fails() {
        let server = |status: &str, error: Option<&str>| {
            json!({"name": "npx", "transport": "stdio", "status": status, "restarts": 2,
                "since": "2026-01-01T00:00:00Z", "last_error": error, "tools": 0})
        };
        for (status, error, state) in [
            ("starting", None, State::Ok),
            ("starting", Some("npm error code E404"), State::Fail),
            ("down", Some("npm error code E404"), State::Fail),
            ("up", Some("it was down before"), State::Ok),
        ] {
            let (found, detail, _) = found(|findings| mcp_server(&server(status, error), findings));
            assert_eq!(found, state, "{status} {detail}");
        }
    }

    #[test]
    fn p17_a_file_that_came_later_is_told_once_with_what_to_do() {
        let health = json!({"rules": 1, "source": "embedded defaults", "loaded_at": "2026-01-01T00:00:00Z",
            "error": "`/x/provost.yaml` was written after the start and is not in force: restart the gateway to use it"});
        let (state, detail, hint) = found(|findings| policy(&health, findings));
        assert_eq!(state, State::Fail);
        assert_eq!(detail.matches("not in force").count(), 1, "{detail}");
        assert!(hint.starts_with("restart the gateway"), "{hint}");
    }

    #[test]
    fn p12_what_is_told_of_a_channel_has_an_age() {
        let now = Time::parse("2026-01-01T00:00:09Z").unwrap();
        let standing = json!({"checked_at": "2026-01-01T00:00:02Z"});
        assert_eq!(checked(&standing, now), ", checked 7 s ago");
        assert_eq!(checked(&json!({}), now), "");
    }
}
