//! Every agent through all that may happen to a run. This takes long: `./test.sh --full` runs it.
//!
//! What ran is seen by the notes that the commands leave, and what the agent was told by what its model hears: no
//! cell takes the agent's word for either.

mod answers;
mod killed;
mod limits;
mod one_yes;
mod others;

use serde_json::{Value, json};

use super::{super::asking, Agent, Work, hostile, said};
use crate::harness::{Gateway, eventually};

fn decide(gateway: &Gateway, pending: &Value, verdict: &str) {
    let path = format!("/approvals/{}/{verdict}", pending["id"].as_str().unwrap());
    gateway.alice().post(&path, &json!({})).ok();
}

macro_rules! cells {
    ($($name:ident: $agent:ident),* $(,)?) => {$(
        mod $name {
            use super::{Agent, answers, killed, limits, one_yes};

            cells!(@each $agent, answers: allowed, gateway_yes, gateway_no, gateway_timeout, follow_up, live_follow_up);
            cells!(@each $agent, killed: agent_killed, runner_killed, killed_and_resumed);
            cells!(@each $agent, one_yes: one_yes_same_turn, one_yes_next_turn, one_yes_same_id);
            cells!(@each $agent, one_yes: one_yes_other_folder, one_yes_other_file, one_yes_the_same_again, one_yes_after_a_restart);
            cells!(@each $agent, limits: wall, idle, turns, tool_calls, output_bytes, files_changed);
        }
    )*};
    (@each $agent:ident, $file:ident: $($cell:ident),*) => {$(
        #[test]
        fn $cell() {
            $file::$cell(Agent::$agent);
        }
    )*};
}

cells! {
    claude: Claude, codex: Codex, gemini: Gemini, opencode: OpenCode, qwen: Qwen, goose: Goose, kimi: Kimi,
    kilo: Kilo,
}
