//! What a network and a receiver can do to a reporter.

use std::time::Duration;

use proptest::prelude::*;
use provost_runner::{
    config::Secret,
    report::{Drained, Failure, Phase, Reporter, Settings},
};
use serde_json::Value;
use tokio::net::TcpSocket;

use crate::{
    proof::Proof,
    receiver::{Act, Receiver},
    setup::{LONG, TOKEN, chunk, complete, proof, raw, settings},
};

/// Something of each kind, and what must arrive of it.
fn tell(reporter: &Reporter) -> Vec<String> {
    let said = speak(reporter);
    reporter.end(complete());
    said
}

/// The same before the end.
fn speak(reporter: &Reporter) -> Vec<String> {
    let said: Vec<String> = (0..230).map(chunk).collect();
    for (number, text) in said.iter().enumerate() {
        let phase = if number < 20 {
            Phase::Replay
        } else {
            Phase::Live
        };
        reporter.notification(raw(text), phase);
        if number == 100 {
            reporter.agent_notification("_auth/status_update", Some(raw("{ }")));
            reporter.permission_pending("p1", &raw(r#"{"options":[]}"#), Some(""));
        }
    }
    said
}

fn sequences(taken: &[Value]) -> Vec<u64> {
    let taken = taken.iter();
    taken.map(|one| one["sequence"].as_u64().unwrap()).collect()
}

fn check_all_arrived(receiver: &Receiver, reporter: &Reporter, said: &[String]) {
    let taken = receiver.taken();
    let last = reporter.counts().last_sequence;
    assert_eq!(sequences(&taken), (1..=last).collect::<Vec<_>>());
    assert_eq!(receiver.raw(), said);
    assert_eq!(taken.last().unwrap()["kind"], "prompt_complete");
}

const NOTHING_LEFT: Drained = Drained {
    left: 0,
    kept: 0,
    unauthorized: false,
};

#[tokio::test]
async fn everything_arrives_through_everything() {
    let script = [
        Act::Status(500),
        Act::Reset,
        Act::With(429, "retry-after: 1\r\n".to_owned()),
        Act::Silent,
        Act::Lose,
        Act::Take,
        Act::BreakOff,
        Act::Reset,
        Act::Reset,
        Act::Status(408),
        Act::Say("not json".to_owned()),
        Act::Status(425),
        Act::Lose,
        Act::Status(503),
        Act::Say("x".repeat(3_000_000)),
    ];
    let receiver = Receiver::start(proof(), script).await;
    let reporter = Reporter::start(settings(receiver.url())).unwrap();
    let start = std::time::Instant::now();
    let said = speak(&reporter);
    receiver.until(|receiver| receiver.beats() >= 3).await;
    reporter.end(complete());
    assert_eq!(reporter.drained(LONG).await, NOTHING_LEFT);
    check_all_arrived(&receiver, &reporter, &said);
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert!(reporter.counts().retries >= 11);
}

#[tokio::test]
async fn a_long_outage_is_sat_out_on_disk() {
    // The port is ours, and nobody listens there yet.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = socket.local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        spool: Some(folder.path().to_owned()),
        memory_bytes: 10_000,
        ..settings(format!("http://{address}/callback?x=1"))
    };
    let reporter = Reporter::start(settings).unwrap();
    let said = tell(&reporter);
    let prompt = std::fs::read_dir(folder.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    assert!(std::fs::read_dir(prompt.path()).unwrap().count() > 2);
    while reporter.counts().retries < 12 {
        tokio::task::yield_now().await;
    }
    let receiver = Receiver::start_on(socket.listen(64).unwrap(), proof(), []);
    assert_eq!(reporter.drained(LONG).await, NOTHING_LEFT);
    check_all_arrived(&receiver, &reporter, &said);
    assert!(!prompt.path().exists());
}

#[tokio::test]
async fn too_long_an_outage_costs_updates_and_nothing_else() {
    let receiver = Receiver::start(Proof::new("another", b"another"), [Act::Silent]).await;
    let settings = Settings {
        memory_bytes: 20_000,
        deadline: LONG,
        ..settings(receiver.url())
    };
    let reporter = Reporter::start(settings).unwrap();
    reporter.agent_notification("first", None);
    receiver.until(|receiver| receiver.attempts() == 1).await;
    tell(&reporter);
    let counts = reporter.counts();
    assert!(counts.dropped > 0);
    let kept = counts.last_sequence - counts.dropped;
    assert_eq!(counts.waiting, kept);
    let drained = reporter.drained(Duration::ZERO).await;
    assert_eq!((drained.left as u64, drained.kept), (kept, 0));
}

#[tokio::test]
async fn a_refused_token_ends_it_all() {
    let receiver = Receiver::start(proof(), [Act::Take, Act::Status(401)]).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        spool: Some(folder.path().to_owned()),
        ..settings(receiver.url())
    };
    let reporter = Reporter::start(settings).unwrap();
    tell(&reporter);
    reporter.unauthorized().cancelled().await;
    let drained = reporter.drained(LONG).await;
    assert!(drained.unauthorized && drained.left == drained.kept);
    assert_eq!(drained.left as u64, reporter.counts().last_sequence - 1);
    assert_eq!((receiver.taken().len(), receiver.attempts()), (1, 2));
}

#[tokio::test]
async fn a_redirect_is_a_refusal_and_is_not_followed() {
    let other = Receiver::start(proof(), []).await;
    let elsewhere = format!("location: {}\r\n", other.url());
    let script = [Act::With(307, elsewhere), Act::Status(413), Act::Take];
    let receiver = Receiver::start(proof(), script).await;
    let reporter = Reporter::start(settings(receiver.url())).unwrap();
    reporter.agent_notification("one", None);
    reporter.agent_notification("two", None);
    reporter.end(provost_runner::report::End::Failed(Failure {
        message: "it broke".to_owned(),
        exit_code: Some(3),
        stderr_tail: Some("oh".to_owned()),
        ..Failure::default()
    }));
    assert_eq!(reporter.drained(LONG).await, NOTHING_LEFT);
    let taken = receiver.taken();
    assert_eq!(sequences(&taken), [3]);
    assert_eq!(
        (&taken[0]["exitCode"], &taken[0]["stderrTail"]),
        (&3.into(), &"oh".into())
    );
    assert_eq!(other.attempts(), 0);
    assert_eq!(reporter.counts().refused, 2);
}

#[tokio::test]
async fn a_secret_of_its_own_signs_the_webhook() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let key = base64::Engine::decode(
        &base64::engine::general_purpose::STANDARD,
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    );
    let receiver = Receiver::start(Proof::new(TOKEN, &key.unwrap()), []).await;
    let mut settings = settings(receiver.url());
    settings.callback.as_mut().unwrap().signing_secret = Some(Secret::new(secret));
    let reporter = Reporter::start(settings).unwrap();
    let said = tell(&reporter);
    reporter.drained(LONG).await;
    check_all_arrived(&receiver, &reporter, &said);
}

#[tokio::test]
async fn an_answer_decides_a_permission() {
    let decision = r#"{"permission":{"permissionId":"p1","optionId":"allow"}}"#;
    let receiver = Receiver::start(proof(), [Act::Say(decision.to_owned())]).await;
    let reporter = Reporter::start(settings(receiver.url())).unwrap();
    reporter.permission_pending("p1", &raw("{}"), Some("https://example.com/answer"));
    let answer = reporter.answers().next().await.unwrap();
    assert_eq!(answer.option_id.as_deref(), Some("allow"));
    assert_eq!(
        receiver.taken()[0]["answerUrl"],
        "https://example.com/answer"
    );
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Take),
        2 => Just(Act::Reset),
        2 => Just(Act::Lose),
        1 => Just(Act::BreakOff),
        1 => prop::sample::select(vec![408_u16, 425, 429, 500, 502, 503, 504]).prop_map(Act::Status),
        1 => Just(Act::With(503, "retry-after: 0\r\nconnection: close\r\n".to_owned())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_attack_is_survived(script in prop::collection::vec(act(), 0..30), memory in 1_000_usize..200_000) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let receiver = Receiver::start(proof(), script).await;
            let settings = Settings {
                spool: Some(folder.path().to_owned()),
                memory_bytes: memory,
                ..settings(receiver.url())
            };
            let reporter = Reporter::start(settings).unwrap();
            let said = tell(&reporter);
            assert_eq!(reporter.drained(LONG).await, NOTHING_LEFT);
            check_all_arrived(&receiver, &reporter, &said);
        });
    }
}
