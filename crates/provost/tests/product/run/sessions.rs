//! Real agents in a session that stays: a prompt follows in the same process, and by name in another.

use std::{
    fs,
    process::{Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{agents::Work, kinds::Agent};
use crate::{
    harness::{Site, eventually},
    receiver::Receiver,
};

/// Prompts that wait in a folder before the run begins: the session takes them one after another.
fn waiting(work: &Work, prompts: &[&str]) -> Value {
    let folder = work.site.path("prompts");
    fs::create_dir(&folder).unwrap();
    for (index, prompt) in prompts.iter().enumerate() {
        let number = index + 2;
        let body = json!({"promptId": format!("prompt-{number}"), "prompt": prompt});
        fs::write(folder.join(format!("{number:06}.json")), body.to_string()).unwrap();
    }
    json!({"promptsDir": folder, "idleSeconds": 2})
}

/// The second prompt reaches the agent in the session of the first, which is told apart by its reports.
#[track_caller]
fn a_prompt_follows(agent: Agent) {
    let receiver = Receiver::start(0);
    let work = Work::of(agent, "touch done");
    let keep = waiting(&work, &["and now the second thing"]);
    let output = work.run(&json!({
        "callbackUrl": format!("http://{}/callback", receiver.addr), "token": "a-token", "keep": keep,
    }));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{agent:?}: {said}");
    assert!(work.exists("done"), "{agent:?}: {said}");
    let told = receiver.told(1);
    let reports = told
        .iter()
        .map(|one| serde_json::from_str::<Value>(&one.body).unwrap());
    let reports: Vec<_> = reports.filter(|one| one["kind"] != "heartbeat").collect();
    let mut sessions = Vec::new();
    for prompt in ["prompt", "prompt-2"] {
        let own: Vec<_> = reports
            .iter()
            .filter(|one| one["promptId"] == prompt)
            .collect();
        let numbers: Vec<_> = own
            .iter()
            .map(|one| one["sequence"].as_u64().unwrap())
            .collect();
        let expected: Vec<_> = (1..=own.len() as u64).collect();
        assert_eq!(numbers, expected, "{agent:?}: {prompt}");
        let last = own.last().unwrap();
        assert_eq!(last["kind"], "prompt_complete", "{agent:?}: {last}");
        sessions.push(last["sessionId"].clone());
    }
    assert_eq!(sessions[0], sessions[1]);
    let journal = work.journal_lines("run");
    let begun = journal
        .iter()
        .filter(|line| line["event"]["started"].is_object());
    assert_eq!(begun.count(), 1, "one process");
    the_same_again(&work, &reports);
}

/// A replay sends the reports of both prompts as they were first sent.
#[track_caller]
fn the_same_again(work: &Work, reports: &[Value]) {
    let receiver = Receiver::start(0);
    let url = format!("http://{}/callback", receiver.addr);
    let journal = work.journal("run");
    let words = ["run", "replay", journal.to_str().unwrap(), "--to", &url];
    let mut command = work.site.command(&words);
    let output = command.env("PROVOST_CALLBACK_TOKEN", "a-token").output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let told = receiver.told(reports.len());
    let again = told
        .iter()
        .map(|one| serde_json::from_str::<Value>(&one.body).unwrap());
    assert_eq!(again.collect::<Vec<_>>(), reports);
}

#[test]
fn claude_takes_a_prompt_that_follows() {
    a_prompt_follows(Agent::Claude);
}

#[test]
fn opencode_takes_a_prompt_that_follows() {
    a_prompt_follows(Agent::OpenCode);
}

/// `provost run` with an agent that says what it heard.
struct Alone {
    site: Site,
    can_load: bool,
}

impl Alone {
    fn new(can_load: bool) -> Self {
        let site = Site::empty();
        fs::create_dir(site.path("repo")).unwrap();
        Self { site, can_load }
    }

    fn agent() -> String {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/product/fleet_agent.py");
        format!("python3 {script}")
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let usual = ["--permissions", "deny", "--unknown-agent", "allow"];
        let words = [&["run"], words, &usual].concat();
        let mut command = self.site.command(&words);
        command.env("HOME", self.site.path("home"));
        command.env_remove("XDG_STATE_HOME");
        if self.can_load {
            command.env("CAN_LOAD", "yes");
        }
        command
    }

    fn provost(&self, words: &[&str]) -> Output {
        let mut command = self.site.command(words);
        command.env("HOME", self.site.path("home"));
        command.env_remove("XDG_STATE_HOME");
        command.output().unwrap()
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_session_with_a_name_goes_on() {
    let alone = Alone::new(true);
    let repo = alone.site.path("repo");
    let agent = Alone::agent();
    let first = [
        "first",
        "--session",
        "docs",
        "--agent",
        &agent,
        "--repo",
        repo.to_str().unwrap(),
    ];
    let output = alone.run(&first);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    assert_eq!(out, "heard: first\n");
    // The session knows its agent and its folder.
    let output = alone.run(&["second", "--session", "docs", "--json"]);
    let (out, err) = texts(&output);
    assert!(output.status.success(), "{err}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["message"], "heard: second");
    let journal = fs::read_to_string(told["journal"].as_str().unwrap()).unwrap();
    assert!(
        journal.contains("session/load") && !journal.contains("session/new"),
        "{journal}"
    );
    let (out, _) = texts(&alone.provost(&["run", "sessions", "--json"]));
    let sessions: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(sessions[0]["sessionId"], told["sessionId"]);
    assert_eq!(sessions[0]["prompts"].as_array().unwrap().len(), 2);
    assert_eq!(sessions[0]["prompts"][1]["state"], "done");
    let (out, _) = texts(&alone.provost(&["run", "sessions"]));
    assert!(
        out.contains("docs") && out.lines().all(|line| line.chars().count() <= 80),
        "{out}"
    );
    // Another agent or another folder is another session.
    for other in [["--agent", "python3 other.py"], ["--repo", "."]] {
        let words = [&["third", "--session", "docs"][..], &other].concat();
        let output = alone.run(&words);
        let (_, err) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains("choose another name"), "{err}");
    }
    let removed = alone.provost(&["run", "sessions", "remove", "docs"]);
    assert!(removed.status.success());
    let gone = alone.provost(&["run", "sessions", "show", "docs"]);
    assert_eq!(gone.status.code(), Some(1));
    let (_, err) = texts(&alone.provost(&["run", "sessions"]));
    assert!(err.contains("there are no sessions"), "{err}");
}

/// The terminal is closed, or the machine takes it away: the next run goes on all the same.
#[test]
fn a_session_that_was_broken_off_goes_on() {
    for (signal, state) in [(Signal::HUP, "failed"), (Signal::KILL, "lost")] {
        let alone = Alone::new(true);
        let agent = Alone::agent();
        let place = ["--session", "docs", "--agent", &agent, "--repo", "repo"];
        let mut command = alone.command(&[&["hang"], &place[..]].concat());
        let streams = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = streams.stdin(Stdio::null()).spawn().unwrap();
        let runs = alone.site.path("home/.local/state/provost/runs");
        eventually("its words", || {
            let run = fs::read_dir(&runs).ok()?.flatten().next()?;
            let journal = fs::read_to_string(run.path().join("journal.jsonl")).ok()?;
            journal.contains("heard: hang").then_some(())
        });
        let pid = i32::try_from(running.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        assert!(!running.wait().unwrap().success());
        let shown = alone.provost(&["run", "sessions", "show", "docs"]);
        assert!(texts(&shown).0.contains("hang"), "{signal:?}");
        let output = alone.run(&["second", "--session", "docs", "--json"]);
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{signal:?}: {err}");
        let told: Value = serde_json::from_str(&out).unwrap();
        let journal = fs::read_to_string(told["journal"].as_str().unwrap()).unwrap();
        assert!(!journal.contains("session/new"), "{signal:?}: {journal}");
        let (out, _) = texts(&alone.provost(&["run", "sessions", "--json"]));
        let sessions: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(sessions[0]["prompts"][0]["state"], state, "{signal:?}");
    }
}

#[test]
fn a_name_whose_agent_did_not_start_is_free() {
    let alone = Alone::new(true);
    let place = ["first", "--session", "docs", "--repo", "repo", "--agent"];
    let output = alone.run(&[&place[..], &["no-such-agent"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", texts(&output).1);
    let output = alone.run(&[&place[..], &[&Alone::agent()]].concat());
    assert!(output.status.success(), "{}", texts(&output).1);
}

#[test]
fn an_agent_that_cannot_go_on_says_what_to_do() {
    let alone = Alone::new(false);
    let agent = Alone::agent();
    let words = [
        "first",
        "--session",
        "docs",
        "--agent",
        &agent,
        "--repo",
        "repo",
    ];
    assert!(alone.run(&words).status.success());
    let output = alone.run(&["second", "--session", "docs"]);
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("session_not_resumable"), "{err}");
    assert!(err.contains("provost run sessions remove docs"), "{err}");
    // And it helps.
    assert!(
        alone
            .provost(&["run", "sessions", "remove", "docs"])
            .status
            .success()
    );
    assert!(alone.run(&words).status.success());
}
