//! A yes is for one call: it releases no other, whatever the agent makes of it, and over a restart of the runner.

use serde_json::{Value, json};

use super::{Agent, Work, asking, decide, eventually, said};
use crate::{
    harness::Gateway,
    model::Act,
    run::agents::{Runner, note},
};

/// Says no to everything that still comes, until the run has ended; what ran by then is what was allowed.
fn no_more(gateway: &Gateway, runner: Runner) -> String {
    let running = runner.id();
    eventually("the end of the run", || {
        for asked in gateway.alice().pending() {
            decide(gateway, &asked, "deny");
        }
        ended(running).then_some(())
    });
    said(&runner.wait())
}

/// Also where nobody has taken note of its end yet.
fn ended(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_none_or(|rest| rest.trim_start().starts_with('Z') || rest.is_empty())
}

/// The question that shows this text, once it is asked.
fn asking_for(gateway: &Gateway, text: &str) -> Value {
    eventually("the question", || {
        let mut pending = gateway.alice().pending().into_iter();
        pending.find(|asked| asked.to_string().contains(text))
    })
}

/// Two calls at once: the yes to the one is no yes to the other.
pub(super) fn one_yes_same_turn(agent: Agent) {
    let (a, b) = (note("a"), note("b"));
    let work = Work::doing(agent, vec![vec![Act::run(&a), Act::run(&b)]]);
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    // Kilo asks about either first, and about the other once that is answered.
    let first = asking_for(&gateway, "echo ");
    let about_a = first.to_string().contains("echo a");
    let allowed = if about_a { "a" } else { "b" };
    decide(&gateway, &first, "approve");
    let said = no_more(&gateway, runner);
    // A no ends the turn of some agents, and what was allowed may not have begun by then.
    let others = work.notes().into_iter().filter(|note| note != allowed);
    assert_eq!(others.count(), 0, "{agent:?} {said}");
}

/// One call after the other, with the same title.
pub(super) fn one_yes_next_turn(agent: Agent) {
    let work = Work::doing(agent, one_after_the_other());
    released_once(agent, &work);
}

/// The other call has the id of the first.
pub(super) fn one_yes_same_id(agent: Agent) {
    let work = Work::doing(agent, one_after_the_other());
    work.model.repeats_ids();
    released_once(agent, &work);
}

fn one_after_the_other() -> Vec<Vec<Act>> {
    vec![vec![Act::run(&note("a"))], vec![Act::run(&note("b"))]]
}

#[track_caller]
fn released_once(agent: Agent, work: &Work) {
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    decide(&gateway, &gateway.one_pending(), "approve");
    let said = no_more(&gateway, runner);
    assert_eq!(work.notes(), ["a"], "{agent:?} {said}");
}

/// The same command in another folder is another call.
pub(super) fn one_yes_other_folder(agent: Agent) {
    let mut work = Work::doing(agent, Vec::new());
    let elsewhere = work.site.path("work/elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let command = note("a");
    let there = Act::Run {
        command: command.clone(),
        folder: Some(elsewhere.to_str().unwrap().to_owned()),
    };
    work.does(vec![vec![Act::run(&command)], vec![there]]);
    released_once(agent, &work);
    assert!(!elsewhere.join("notes").exists(), "{agent:?}");
}

/// The yes to one change of a file is no yes to another.
pub(super) fn one_yes_other_file(agent: Agent) {
    let mut work = Work::doing(agent, Vec::new());
    let write = |name: &str| Act::Write {
        path: work
            .site
            .path("work")
            .join(name)
            .to_str()
            .unwrap()
            .to_owned(),
        text: name.to_owned(),
    };
    let turns = vec![vec![write("a")], vec![write("b")]];
    work.does(turns);
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    decide(&gateway, &gateway.one_pending(), "approve");
    let said = no_more(&gateway, runner);
    assert!(work.exists("a"), "{agent:?} {said}");
    assert!(!work.exists("b"), "{agent:?} {said}");
}

/// The very same call again is asked again: a yes is for once.
pub(super) fn one_yes_the_same_again(agent: Agent) {
    let command = note("a");
    let turns = vec![vec![Act::run(&command)], vec![Act::run(&command)]];
    released_once(agent, &Work::doing(agent, turns));
}

/// The runner is killed while one call is asked about, which somebody then allows; the session goes on and tries
/// another one.
pub(super) fn one_yes_after_a_restart(agent: Agent) {
    let work = Work::of(agent, &note("a"));
    let gateway = work.gateway();
    let runner = work.start(&json!({ "gateway": asking(&gateway) }));
    let first = gateway.one_pending();
    let session = first["session_id"].as_str().unwrap().to_owned();
    work.until_session_is_kept(&session);
    runner.kill();
    decide(&gateway, &first, "approve");
    work.model.then_does(vec![vec![Act::run(&note("b"))]]);
    let more = json!({"gateway": asking(&gateway), "sessionId": session, "runId": "again"});
    let resumed = work.start(&more);
    let other = gateway.one_pending();
    assert_ne!(other["id"], first["id"], "{agent:?}");
    let said = no_more(&gateway, resumed);
    assert_eq!(work.notes(), [] as [&str; 0], "{agent:?} {said}");
}
