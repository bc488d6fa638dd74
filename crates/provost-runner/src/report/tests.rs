mod network;
mod property;
mod rebuilt;

use std::{sync::Mutex, time::Duration};

use serde_json::{Value, json};

use self::network::{Network, Reply, Request, observer, raw, settings};
use super::*;

const LONG: Duration = Duration::from_hours(10);

fn complete() -> End {
    End::Complete {
        stop_reason: "end_turn".to_owned(),
        usage: None,
    }
}

fn sequences(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(Request::sequence).collect()
}

fn kinds(requests: &[Request]) -> Vec<String> {
    requests.iter().map(Request::kind).collect()
}

#[tokio::test(start_paused = true)]
async fn a_batch_goes_when_its_window_closes() {
    let network = Network::default();
    let reporter = network.start(settings());
    let start = Instant::now();
    reporter.notification(raw("1"), Phase::Live);
    tokio::time::sleep(Duration::from_millis(700)).await;
    reporter.notification(raw("2"), Phase::Live);
    assert!(network.sent().is_empty());
    tokio::time::sleep(Duration::from_millis(60)).await;
    let sent = network.sent();
    assert_eq!(sent[0].notifications(), ["1", "2"]);
    assert_eq!(sent[0].at - start, batch::WINDOW);
}

#[tokio::test(start_paused = true)]
async fn the_order_holds_through_every_kind() {
    let network = Network::default();
    let reporter = network.start(settings());
    reporter.session("one");
    reporter.notification(raw("1"), Phase::Replay);
    reporter.notification(raw("2"), Phase::Live);
    reporter.agent_notification("_auth/status_update", Some(raw("{ }")));
    reporter.notification(raw("3"), Phase::Live);
    reporter.permission_pending("quiet", &raw("{}"), None);
    reporter.permission_pending("p1", &raw(r#"{"toolCall":{"title":"Run"}}"#), Some(""));
    reporter.notification(raw("4"), Phase::Live);
    reporter.session("two");
    reporter.end(complete());
    reporter.notification(raw("5"), Phase::Live);
    let drained = reporter.drained(LONG).await;
    assert_eq!((drained.left, drained.kept), (0, 0));
    let sent = network.sent();
    assert_eq!(sequences(&sent), (1..=7).collect::<Vec<_>>());
    let update = "session_update";
    let expected = [
        update,
        update,
        "agent_notification",
        update,
        "permission_request",
        update,
        "prompt_complete",
    ];
    assert_eq!(kinds(&sent), expected);
    let phases: Vec<Value> = sent.iter().map(|one| one.json()["phase"].clone()).collect();
    assert_eq!((&phases[0], &phases[1]), (&json!("replay"), &Value::Null));
    assert_eq!(sent[5].json()["sessionId"], "one");
    assert_eq!(sent[6].json()["sessionId"], "two");
    let snapshot = &sent[6].json()["snapshot"];
    assert_eq!(snapshot["throughSequence"], 7);
    assert_eq!(
        (&snapshot["state"], &snapshot["stopReason"]),
        (&json!("done"), &json!("end_turn"))
    );
    let pending = json!([{"permissionId": "quiet"}, {"permissionId": "p1", "title": "Run"}]);
    assert_eq!(snapshot["pendingPermissions"], pending);
    assert_eq!(sent[4].headers["webhook-id"], "p:5");
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_does_not_wait_for_the_chain() {
    let (network, pulse) = (Network::default(), Network::default());
    network.plan([Reply::Never]);
    pulse.plan([Reply::Unreached, Reply::Status(500, "")]);
    let reporter = network.start_with(settings(), &pulse);
    let start = Instant::now();
    reporter.state(State::WaitingPermission);
    reporter.permission_pending("p1", &raw("{}"), Some("https://x/answer"));
    tokio::time::sleep(Duration::from_secs(46)).await;
    let beats = pulse.sent();
    let times: Vec<u64> = beats.iter().map(|one| (one.at - start).as_secs()).collect();
    assert_eq!(times, [15, 30, 45]);
    for (number, beat) in beats.iter().enumerate() {
        let expected = json!({
            "kind": "heartbeat", "runId": "r", "taskId": "t", "sandboxId": "s", "promptId": "p", "sequence": 0,
            "sessionId": null, "lastSequence": 1, "state": "waiting_permission",
            "pendingPermissions": [{"permissionId": "p1"}], "now": 1_700_000_000_000_i64,
        });
        assert_eq!(beat.json(), expected);
        assert_eq!(
            beat.headers["webhook-id"],
            format!("p:heartbeat:{}", 1_700_000_000_000 + number)
        );
    }
    assert_eq!(network.sent().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn after_401_nothing_is_posted() {
    for heartbeat in [false, true] {
        let (network, pulse) = (Network::default(), Network::default());
        let folder = tempfile::tempdir().unwrap();
        let refusing = if heartbeat { &pulse } else { &network };
        refusing.plan([Reply::Status(401, "")]);
        let (observe, told) = observer();
        let settings = Settings {
            spool: Some(folder.path().to_owned()),
            observe: Some(observe),
            ..settings()
        };
        let reporter = network.start_with(settings, &pulse);
        if !heartbeat {
            reporter.notification(raw("1"), Phase::Live);
        }
        reporter.unauthorized().cancelled().await;
        reporter.notification(raw("2"), Phase::Live);
        reporter.end(complete());
        tokio::time::sleep(Duration::from_mins(5)).await;
        assert_eq!(network.sent().len() + pulse.sent().len(), 1);
        let left = if heartbeat { 2 } else { 3 };
        let expected = Drained {
            left,
            kept: left,
            unauthorized: true,
        };
        assert_eq!(reporter.drained(LONG).await, expected);
        assert!(
            told.lock()
                .unwrap()
                .iter()
                .any(|event| event.starts_with("Unauthorized"))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_as_asked_and_differs_only_in_its_proof() {
    let network = Network::default();
    network.plan([
        Reply::Later(429, "77"),
        Reply::Status(503, ""),
        Reply::Lost,
        Reply::Status(302, ""),
    ]);
    let (observe, told) = observer();
    let reporter = network.start(Settings {
        observe: Some(observe),
        ..settings()
    });
    reporter.agent_notification("first", None);
    reporter.end(complete());
    reporter.drained(LONG).await;
    let sent = network.chained();
    assert_eq!(sequences(&sent), [1, 1, 1, 1, 2]);
    assert!(sent[1].at - sent[0].at >= Duration::from_secs(77));
    assert!(sent[2].at - sent[1].at >= Duration::from_millis(500));
    for again in &sent[1..4] {
        assert_eq!(again.body, sent[0].body);
        assert_eq!(again.headers["webhook-id"], "p:1");
        for name in ["x-supervisor-nonce", "x-supervisor-signature"] {
            assert_ne!(again.headers[name], sent[0].headers[name]);
        }
    }
    let counts = reporter.counts();
    assert_eq!(
        (counts.delivered, counts.refused, counts.retries),
        (1, 1, 3)
    );
    let expected = [
        "Queued 1",
        "Queued 2",
        "Again 1",
        "Again 1",
        "Again 1",
        "Refused 1",
        "Delivered 2",
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn answers_are_heard_once_and_only_for_what_waits() {
    let network = Network::default();
    let body = r#"{"permissions":[{"permissionId":"p1","kind":"allow_once"},{"permissionId":"other","optionId":"x"}]}"#;
    let other = r#"{"permission":{"permissionId":"p1","optionId":"no"}}"#;
    network.plan([
        Reply::Status(200, body),
        Reply::Status(200, body),
        Reply::Status(200, other),
    ]);
    let reporter = network.start(settings());
    let answers = reporter.answers();
    reporter.permission_pending("p1", &raw("{}"), Some(""));
    reporter.agent_notification("a", None);
    reporter.agent_notification("b", None);
    let first = answers.next().await.unwrap();
    assert_eq!(
        (first.permission_id.as_str(), first.kind),
        ("p1", Some(OptionKind::AllowOnce))
    );
    assert_eq!(answers.next().await.unwrap().option_id.unwrap(), "no");
    reporter.permission_settled("p1", "rejected");
    network.plan([Reply::Status(200, other)]);
    reporter.end(complete());
    reporter.drained(LONG).await;
    drop(reporter);
    assert_eq!(answers.next().await, None);
    let last = network.sent().last().unwrap().json();
    let settled = json!([{"permissionId": "p1", "outcome": "rejected"}]);
    assert_eq!(last["snapshot"]["settledPermissions"], settled);
}

#[tokio::test(start_paused = true)]
async fn what_is_left_is_sent_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let settings = || Settings {
        spool: Some(folder.path().to_owned()),
        ..settings()
    };
    let away = Network::default();
    away.plan(std::iter::repeat_n(Reply::Unreached, 1_000));
    let reporter = away.start(settings());
    reporter.notification(raw("1"), Phase::Live);
    reporter.end(complete());
    let drained = reporter.drained(Duration::from_mins(1)).await;
    assert_eq!((drained.left, drained.kept), (2, 2));
    let attempts = away.chained().len();

    let back = Network::default();
    let reporter = back.start(settings());
    reporter.agent_notification("hello", None);
    let drained = reporter.drained(LONG).await;
    assert_eq!((drained.left, drained.kept), (0, 0));
    assert_eq!(sequences(&back.sent()), [1, 2, 3]);
    assert_eq!(back.sent()[0].body, away.sent()[0].body);
    assert_eq!(back.sent()[1].kind(), "prompt_complete");
    assert_eq!(away.chained().len(), attempts);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_dropped_is_told() {
    let network = Network::default();
    network.plan([Reply::Never]);
    let settings = Settings {
        memory_bytes: 8_000,
        ..settings()
    };
    let reporter = network.start(settings);
    for number in 0..100 {
        reporter.notification(raw(&number.to_string()), Phase::Live);
        reporter.agent_notification("between", None);
        tokio::task::yield_now().await;
    }
    let counts = reporter.counts();
    assert!(counts.dropped > 50, "{counts:?}");
    assert_eq!(counts.waiting + counts.dropped, 200);
    let snapshot: Value = serde_json::from_str(reporter.snapshot().unwrap().get()).unwrap();
    assert_eq!(snapshot["droppedReports"], counts.dropped);
    assert_eq!(snapshot["notificationCount"], 100);
}

#[tokio::test(start_paused = true)]
async fn many_notifications_are_no_burden() {
    // Only the sizes: the bodies together are far larger than what was said.
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&sizes);
    let post: Post = Arc::new(move |_, body| {
        list.lock().unwrap().push(body.len());
        Box::pin(Reply::Status(200, "").answer())
    });
    let reporter = Reporter::with(settings(), Some([Arc::clone(&post), post])).unwrap();
    for number in 0..20_000 {
        let text = format!(
            r#"{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","messageId":"{}","content":{{"type":"text","text":"word {number} and more"}}}}}}"#,
            number / 40
        );
        reporter.notification(raw(&text), Phase::Live);
        if number % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    reporter.drained(LONG).await;
    let counts = reporter.counts();
    assert_eq!((counts.last_sequence, counts.delivered), (400, 400));
    assert!(sizes.lock().unwrap().iter().all(|size| *size < 160 * 1024));
}

#[test]
fn without_a_callback_only_the_snapshot_is_kept() {
    let settings = Settings {
        callback: None,
        ..settings()
    };
    let reporter = Reporter::start(settings).unwrap();
    reporter.notification(raw("1"), Phase::Live);
    reporter.end(complete());
    assert_eq!(reporter.counts().notifications, 1);
    assert_eq!(reporter.counts().last_sequence, 0);
    assert!(
        reporter
            .snapshot()
            .unwrap()
            .get()
            .contains(r#""stopReason":"end_turn""#)
    );
}

#[test]
fn the_token_is_shown_nowhere() {
    let shown = format!("{:?}", settings());
    assert!(!shown.contains("token\""), "{shown}");
    let mut bad = settings();
    bad.callback.as_mut().unwrap().token = crate::config::Secret::new("se\ncret");
    let error = Reporter::start(bad).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("cret"));
}
