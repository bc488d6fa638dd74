//! Limits on what the agent tells of itself: what cannot be enforced is said.

use provost_runner::setup::{self, Surroundings};
use serde_json::{Value, json};

use crate::{
    script::{Reply, says, turn, unanswered, update_of},
    trial::{Done, Trial},
};

fn warnings(done: &Done) -> Vec<String> {
    let told = done.terminal()["warnings"].as_array();
    let told = told.into_iter().flatten();
    let told: Vec<_> = told.map(|text| text.as_str().unwrap().to_owned()).collect();
    assert_eq!(told, done.ended.done.warnings);
    told
}

fn journalled(done: &Done) -> Vec<&Value> {
    let events = done.journal.iter();
    events
        .filter_map(|line| line.pointer("/event/warning"))
        .collect()
}

#[tokio::test]
async fn an_agent_that_tells_nothing_is_not_limited_and_that_is_said() {
    let trial = Trial::new().await.limit("tokens", 5).limit("turns", 9);
    let done = trial.prompt(turn(&[says("1")])).run().await;
    done.complete("end_turn");
    let had_no_effect = "the limit `tokens` had no effect: this agent did not tell its tokens";
    assert_eq!(warnings(&done), [had_no_effect]);
    assert_eq!(
        journalled(&done),
        [
            "the limit `tokens` may have no effect: it counts only if this agent tells its tokens while it works",
            had_no_effect,
        ]
    );
}

#[tokio::test]
async fn an_agent_that_tells_is_limited_and_nothing_is_said() {
    let used = update_of(&json!({"sessionUpdate": "usage_update", "used": 5, "size": 9}));
    let trial = Trial::new().await.limit("tokens", 5);
    let done = trial.prompt(turn(&[used])).run().await;
    done.complete("end_turn");
    assert_eq!(warnings(&done), [] as [String; 0]);
    assert!(done.terminal().get("warnings").is_none());
}

#[tokio::test]
async fn what_is_told_with_the_answer_is_too_late() {
    for answer in [
        json!({"stopReason": "end_turn", "usage": {"totalTokens": 9, "inputTokens": 7, "outputTokens": 2}}),
        json!({"stopReason": "end_turn", "_meta": {"quota": {"token_count": {"input_tokens": 7, "output_tokens": 2}}}}),
    ] {
        let trial = Trial::new().await.limit("tokens", 5);
        let reply = unanswered(&[says("1")]).result(&answer.to_string());
        let done = trial.prompt(reply).run().await;
        done.complete("end_turn");
        let late =
            "the limit `tokens` of 5 is exceeded: 9, which this agent told only when it was done";
        assert_eq!(warnings(&done), [late]);
        assert_eq!(done.ended.done.spent.tokens, 9);
    }
}

#[tokio::test]
async fn steps_that_tell_their_own_use_add_up() {
    let step = |tokens: u64| {
        update_of(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": ""},
                "_meta": {"usage": {"inputTokens": tokens, "outputTokens": 0, "totalTokens": tokens}}}),
        )
    };
    let trial = Trial::new().await.limit("tokens", 9);
    let done = trial.prompt(unanswered(&[step(5), step(5)])).run().await;
    let data = &done.failed("limit_exceeded")["error"]["data"];
    assert_eq!(
        (&data["limit"], &data["used"]),
        (&json!("tokens"), &json!(10.0))
    );
    // The limit that ended the run had its effect.
    assert_eq!(warnings(&done), [] as [String; 0]);
    done.parity();
}

#[tokio::test]
async fn a_run_without_a_prompt_had_nothing_to_limit() {
    let trial = Trial::new().await.limit("tokens", 5);
    let trial = trial.on("session/new", Reply::default().error("no"));
    let done = trial.run().await;
    done.failed("agent_error");
    assert_eq!(warnings(&done), [] as [String; 0]);
}

#[tokio::test]
async fn a_strict_limit_that_cannot_be_enforced_is_refused() {
    for (agent, limit, refused) in [
        (None, "tokens", Some("may have no effect")),
        (None, "turns", None),
        (
            Some("gemini"),
            "tokens",
            Some("Gemini CLI tells its tokens only"),
        ),
        (Some("codex"), "cost", Some("Codex does not tell its cost")),
        (Some("codex"), "tokens", None),
    ] {
        let mut trial = Trial::new().await.limit(limit, 5).limit("strict", true);
        if let Some(agent) = agent {
            trial = trial.set("agent", agent);
        }
        let around = Surroundings::default();
        let ready = setup::prepare(trial.read(), around).await;
        let problem = ready.err().map(|error| error.to_string());
        match (problem, refused) {
            (None, None) => {}
            (Some(problem), Some(part)) => assert!(problem.contains(part), "{problem}"),
            (problem, _) => panic!("{agent:?} {limit}: {problem:?}"),
        }
    }
}

#[tokio::test]
async fn the_prompts_of_a_session_share_its_limits() {
    let trial = Trial::new().await.limit("tokens", 40).limit("turns", 9);
    let prompts = trial.at("prompts");
    let keep = json!({"promptsDir": prompts, "idleSeconds": 20});
    let answer = json!({"stopReason": "end_turn", "usage": {"totalTokens": 15}});
    let reply = unanswered(&[says("1")]).result(&answer.to_string());
    let trial = trial
        .set("keep", keep)
        .prompt(reply.clone())
        .on("session/prompt#2", reply.clone())
        .on("session/prompt#3", reply);
    std::fs::create_dir(&prompts).unwrap();
    for number in 2..=4 {
        let followup = json!({"promptId": format!("p{number}"), "prompt": "go on"});
        let file = prompts.join(format!("{number:06}.json"));
        std::fs::write(file, followup.to_string()).unwrap();
    }
    let done = trial.run().await;
    let outcome = done.ended.outcome.describe();
    assert_eq!(outcome["reason"], "limit_exceeded", "{outcome}");
    let spent = done.ended.done.spent;
    assert_eq!((spent.tokens, spent.turns), (45, 3));
    assert_eq!(done.told("session/prompt").len(), 3);
    let end = done.of_prompt("p4");
    assert_eq!(end[0]["error"]["data"]["reason"], "not_begun");
}
