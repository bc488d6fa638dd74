//! What each agent tells of its use, and when: the table of agents says what these agents do.

use provost_runner::{agents, metering::Told};
use serde_json::{Value, json};

use super::{Agent, Work, matrix::said};

/// The scripted model says two tokens a step, so that the first that is told is too much.
#[track_caller]
fn a_limit_ends_the_run_if_the_agent_tells_in_time(agent: Agent, name: &str) {
    let profile = agents::named(name).unwrap();
    let work = Work::of(agent, "true");
    let output = work.run(&json!({
        "permissions": "auto", "agent": name, "limits": {"wallSeconds": 120, "tokens": 1, "cost": 0.000_001},
    }));
    let said = said(&output);
    let journal = work.journal_lines("run");
    let ended = journal.iter().find_map(|line| line.pointer("/event/ended"));
    let reason = ended.and_then(|ended| ended["reason"].as_str());
    let exceeded = reason == Some("limit_exceeded");
    let usage = || used(&journal);
    match profile.metering.tokens {
        Told::DuringRun => assert!(exceeded, "{agent:?} was not ended: {said}\n{:#?}", usage()),
        Told::AtEnd => {
            assert!(output.status.success(), "{said}");
            assert!(
                said.contains("the limit `tokens` cannot end this run"),
                "{said}"
            );
            assert!(
                said.contains("the limit `tokens` of 1 is exceeded"),
                "{agent:?}: {said}\n{:#?}",
                usage()
            );
        }
        Told::Never | Told::Perhaps => panic!("{agent:?} has not been measured"),
    }
    let told = journal
        .iter()
        .any(|line| line.to_string().contains("\"cost\":{"));
    match profile.metering.cost {
        Told::Never => {
            assert!(said.contains("the limit `cost` has no effect"), "{said}");
            assert!(!told, "{agent:?} tells its cost");
        }
        Told::AtEnd => assert!(
            said.contains("the limit `cost` cannot end this run"),
            "{said}"
        ),
        Told::DuringRun | Told::Perhaps => panic!("{agent:?} has not been measured"),
    }
}

/// For whoever has to mend the table.
fn used(journal: &[Value]) -> Vec<String> {
    let lines = journal.iter().map(Value::to_string);
    let about = |line: &String| {
        let words = ["usage", "token_count", "stopReason", "session/prompt"];
        words.iter().any(|word| line.contains(word))
    };
    lines
        .filter(about)
        .map(|line| line.chars().take(400).collect())
        .collect()
}

macro_rules! each_agent {
    ($($name:ident: $agent:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            a_limit_ends_the_run_if_the_agent_tells_in_time(Agent::$agent, stringify!($name));
        }
    )*};
}

each_agent! {
    claude: Claude, codex: Codex, gemini: Gemini, opencode: OpenCode, qwen: Qwen, goose: Goose, kimi: Kimi,
    kilo: Kilo,
}
