//! What the receiver has is what the agent wrote: byte for byte, in its order.

use serde_json::{Value, json, value::RawValue};

use crate::{
    script::{bytes, says, step, turn, unanswered, update},
    trial::{Done, Trial},
};

/// Every kind that there is, and what there is not.
const KINDS: [&str; 20] = [
    r#"{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"image","data":"aGk=","mimeType":"image/png"}}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"\u00e9\/\ud83d\ude00 \ud800"}}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"t","kind":"edit","status":"pending","content":[{"type":"diff","path":"/a","oldText":null,"newText":"x"}],"locations":[{"path":"/a","line":1}],"rawInput":{"a":[1,2]}}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed","rawOutput":"o"}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"pending"}]}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"n","description":"d"}]}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"code"}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","category":"model","currentValue":"m"}]}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"T","updatedAt":"2026-11-16T00:00:00Z"}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":12,"size":200000,"cost":{"amount":0.0024000000000000002,"currency":"USD"}}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"notice","level":"warning","message":"m"}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"compaction_update","status":"started"}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"compaction_summary_chunk","content":{"type":"text","text":"sum"}}}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"kind_of_next_year","x":{"y":[null,true]}},"_meta":{"k":1},"more":[]}"#,
    r#"{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":123456789012345678901234567890,"size":-0.0,"cost":{"amount":1e400}}}"#,
    r#"{ "update" :	{"sessionUpdate":"agent_message_chunk" , "n": [1.0, 1.10, 1E5, 0.1e-7, 9007199254740993]  } , "sessionId" : "s" }"#,
    r#"{"sessionId":"s","sessionId":"t","update":{"sessionUpdate":"plan","sessionUpdate":"tool_call","toolCallId":"1","toolCallId":"2"}}"#,
    r#"{"sessionId":"another session","update":{}}"#,
    r#"["params",{"that":"are a list"}]"#,
];

async fn after(steps: &[String]) -> Done {
    let done = Trial::new().await.prompt(turn(steps)).run().await;
    done.complete("end_turn");
    done
}

#[tokio::test]
async fn every_kind_arrives_as_it_was_written() {
    let steps = KINDS.map(update);
    let done = after(&steps).await;
    assert_eq!(done.log, KINDS);
    done.parity();
    replays(&done);
}

#[tokio::test]
async fn lists_in_lists_without_end_are_passed_on() {
    let deep = format!(
        r#"{{"sessionId":"s","update":{{"sessionUpdate":"odd","deep":{}{}}}}}"#,
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let done = after(&[update(&deep), says("and on")]).await;
    assert_eq!(done.log[0], deep);
    done.parity();
}

#[tokio::test]
async fn a_line_of_ten_megabytes_is_a_line() {
    let steps = [
        says("before"),
        crate::script::flood(1, 10_000_000),
        says("after"),
    ];
    let done = after(&steps).await;
    assert!(done.log[1].len() > 10_000_000);
    done.parity();
    // What is large goes alone, and nothing is cut.
    let counts = done.of("session_update");
    let counts = counts
        .iter()
        .map(|one| one["notifications"].as_array().unwrap().len());
    assert_eq!(counts.collect::<Vec<_>>(), [1, 1, 1]);
}

#[tokio::test]
async fn what_is_no_utf8_is_mended_as_a_decoder_does() {
    let broken = b"{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"x\",\"t\":\"a\xff\xfe\xe2\x82 b\xc0\xaf\"}}";
    let done = after(&[bytes("updateBytes", broken), says("next")]).await;
    // The log is read with the same decoder.
    assert!(done.log[0].contains('\u{fffd}'));
    done.parity();
}

#[tokio::test]
async fn noise_is_noise() {
    let noise = [
        "npm warn deprecated something",
        "",
        "   ",
        "{}",
        "[]",
        "null",
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/upda",
        "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"4\",\"result\":{\"stopReason\":\"end_turn\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\"}",
        "\u{feff}{}",
        "\u{0}\u{1}\u{1b}[31m",
    ];
    let mut steps = vec![says("before")];
    for line in noise {
        steps.push(step("line", line));
        steps.push(says(line));
    }
    steps.push(bytes("bytes", b"\xff\xfe\n\r\n\n"));
    let done = after(&steps).await;
    done.parity();
    assert_eq!(done.raw.len(), noise.len() + 1);
}

#[tokio::test]
async fn lines_of_windows_are_lines() {
    let params = r#"{"sessionId":"s","update":{"sessionUpdate":"x"}}"#;
    let line = format!("{{\"method\":\"session/update\",\"params\":{params}}}\r");
    let done = after(&[step("line", line)]).await;
    assert_eq!(done.raw, [params]);
}

#[tokio::test]
async fn half_a_line_before_a_crash_is_no_update() {
    let half = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","upd"#;
    let steps = [says("whole"), bytes("bytes", half), step("exit", 3)];
    let done = Trial::new().await.prompt(unanswered(&steps)).run().await;
    let end = done.failed("agent_exited");
    assert_eq!(end["exitCode"], 3);
    done.parity();
    assert_eq!(done.raw.len(), 1);
    let noise = done.journal.iter().find_map(|line| line["noise"].as_str());
    assert_eq!(noise.map(str::as_bytes), Some(&half[..]));
}

#[tokio::test]
async fn other_notifications_are_reports_of_their_own() {
    let params = r#"{ "state":"ok", "n":0.0024000000000000002 }"#;
    let line = format!(r#"{{"jsonrpc":"2.0","method":"_auth/status_update","params":{params}}}"#);
    let done = after(&[says("1"), step("line", line), says("2")]).await;
    done.parity();
    let kinds: Vec<_> = done.reports.iter().map(|one| &one["kind"]).collect();
    let expected = [
        "session_update",
        "agent_notification",
        "session_update",
        "prompt_complete",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(done.reports[1]["method"], "_auth/status_update");
    assert_eq!(done.reports[1]["params"]["state"], "ok");
}

#[tokio::test]
async fn late_updates_are_in_before_the_end_and_the_end_is_last() {
    let trial = Trial::new().await;
    let later = crate::script::file(&trial.at("later"));
    let pause = step("pause", json!({"millis": 300}));
    let reply = turn(&[says("in time")]).after(&[pause, says("late"), later, says("later")]);
    let trial = trial.prompt(reply);
    let running = trial.start();
    let ended = |reports: &[Value]| {
        reports
            .iter()
            .any(|report| report["kind"] == "prompt_complete")
    };
    trial.taken(ended).await;
    std::fs::write(trial.at("later"), "").unwrap();
    let done = trial.end(running).await;
    done.complete("end_turn");
    let end = done.last();
    assert_eq!(end["kind"], "prompt_complete");
    assert_eq!(end["snapshot"]["notificationCount"], 2);
    assert_eq!(end["snapshot"]["state"], "done");
    // The journal has what came too late to be told.
    assert!(done.journal_text.contains("later"), "{}", done.journal_text);
}

#[tokio::test]
async fn how_it_ended_is_told_as_the_agent_wrote_it() {
    let result = r#"{"stopReason":"max_tokens","usage":{ "totalTokens":12, "x":0.30000000000000004 },"_meta":1}"#;
    let reply = crate::script::Reply::default().result(result);
    let done = Trial::new().await.prompt(reply).run().await;
    done.complete("max_tokens");
    assert_eq!(done.terminal()["usage"]["totalTokens"], 12);
}

#[tokio::test]
async fn nothing_of_the_token_is_in_the_journal() {
    let done = after(&[says("hello"), step("stderr", "an error\n")]).await;
    done.no_journal_of(crate::trial::TOKEN);
    let errors = done.journal.iter().find_map(|line| line["err"].as_str());
    assert_eq!(errors, Some("an error"));
    // Both ways, each line.
    let told = done.journal.iter().filter_map(|line| line.get("out"));
    assert!(told.eq(done.heard.iter()));
}

/// The journal alone gives the same.
fn replays(done: &Done) {
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        #[serde(borrow, rename = "in")]
        heard: Option<&'a RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct Message<'a> {
        method: Option<String>,
        #[serde(borrow)]
        params: Option<&'a RawValue>,
    }
    let lines = done.journal_text.split_terminator('\n');
    let lines = lines.filter_map(|line| serde_json::from_str::<Line<'_>>(line).unwrap().heard);
    let messages = lines.filter_map(|line| serde_json::from_str::<Message<'_>>(line.get()).ok());
    let updates = messages.filter(|one| one.method.as_deref() == Some("session/update"));
    let updates: Vec<_> = updates
        .filter_map(|one| one.params)
        .map(RawValue::get)
        .collect();
    assert_eq!(updates, done.log);
}
