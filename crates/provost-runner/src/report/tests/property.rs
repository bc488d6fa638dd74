//! Whatever is told, in whatever order, over whatever network: what arrives is what was said.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Notify(usize, Phase),
    Agent,
    Ask(u8, bool),
    Settle(u8),
    State(State),
    Session(u8),
    Wait(u64),
    End,
}

const SAID: [&str; 5] = [
    r#"{"a":1}"#,
    "{ \"n\": 0.0024000000000000002, \"n\":\t12345678901234567890123 }",
    r#"{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\u00e9"}}}"#,
    "null",
    "LARGE",
];

fn said(which: usize, number: usize) -> String {
    match SAID.get(which) {
        Some(&"LARGE") => format!("\"{number}{}\"", "x".repeat(450_000)),
        Some(text) => format!("[{number},{text}]"),
        None => number.to_string(),
    }
}

fn step() -> impl Strategy<Value = Step> {
    let phase = prop_oneof![9 => Just(Phase::Live), 1 => Just(Phase::Replay)];
    prop_oneof![
        30 => (prop_oneof![40 => 0_usize..4, 1 => Just(4)], phase).prop_map(|(which, phase)| Step::Notify(which, phase)),
        2 => Just(Step::Agent),
        2 => (0_u8..3, any::<bool>()).prop_map(|(id, announce)| Step::Ask(id, announce)),
        2 => (0_u8..3).prop_map(Step::Settle),
        1 => prop_oneof![Just(Step::State(State::Running)), Just(Step::State(State::Idle))],
        1 => (0_u8..3).prop_map(Step::Session),
        4 => (0_u64..1_500).prop_map(Step::Wait),
        1 => Just(Step::Wait(20_000)),
        1 => Just(Step::End),
    ]
}

fn reply() -> impl Strategy<Value = Reply> {
    prop_oneof![
        6 => Just(Reply::Status(200, "")),
        2 => Just(Reply::Status(500, "")),
        1 => Just(Reply::Status(400, "")),
        1 => Just(Reply::Later(429, "3")),
        2 => Just(Reply::Unreached),
        2 => Just(Reply::Lost),
    ]
}

/// What was said up to the end, in order.
async fn play(reporter: &Reporter, steps: &[Step]) -> Vec<(String, Phase)> {
    let mut all = Vec::new();
    let end = steps.iter().position(|step| matches!(step, Step::End));
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Notify(which, phase) => {
                if end.is_none_or(|end| number < end) {
                    all.push((said(*which, number), *phase));
                }
                reporter.notification(raw(&said(*which, number)), *phase);
            }
            Step::Agent => reporter.agent_notification("_x", Some(raw("{ }"))),
            Step::Ask(id, announce) => {
                reporter.permission_pending(&id.to_string(), &raw("{}"), announce.then_some(""));
            }
            Step::Settle(id) => reporter.permission_settled(&id.to_string(), "allowed"),
            Step::State(state) => reporter.state(*state),
            Step::Session(id) => reporter.session(&id.to_string()),
            Step::Wait(millis) => tokio::time::sleep(Duration::from_millis(*millis)).await,
            Step::End => reporter.end(complete()),
        }
    }
    all
}

/// The first time each report was taken or refused for good, in the order in which that happened.
fn settled(network: &Network) -> Vec<Request> {
    let mut seen = HashSet::new();
    let mut sent = network.chained();
    sent.retain(|one| one.arrived() || matches!(one.reply, Reply::Status(400, _)));
    sent.retain(|one| seen.insert(one.sequence()));
    sent
}

fn phased(request: &Request) -> Vec<(String, Phase)> {
    let phase = match request.json()["phase"].as_str() {
        Some("replay") => Phase::Replay,
        _ => Phase::Live,
    };
    let all = request.notifications().into_iter();
    all.map(|text| (text, phase)).collect()
}

/// No batch is over its bounds, and each snapshot ends where its report ends.
fn check_batches(settled: &[Request]) {
    let mut count = 0;
    for request in settled {
        let items = request.notifications();
        let bytes: usize = items.iter().map(String::len).sum();
        assert!(items.len() <= 50 && (bytes <= 1_000_000 || items.len() == 1));
        count += items.len();
        let json = request.json();
        if let Some(snapshot) = json.get("snapshot") {
            assert_eq!(snapshot["notificationCount"], count);
            assert_eq!(snapshot["throughSequence"], json["sequence"]);
        }
    }
}

fn check(network: &Network, pulse: &Network, said: &[(String, Phase)], counts: Counts) {
    let settled = settled(network);
    assert_eq!(
        sequences(&settled),
        (1..=counts.last_sequence).collect::<Vec<_>>()
    );
    let heard: Vec<(String, Phase)> = settled.iter().flat_map(phased).collect();
    assert!(heard == said, "{} heard, {} said", heard.len(), said.len());
    check_batches(&settled);
    let is_end = |one: &Request| one.kind().starts_with("prompt_");
    assert!(
        settled.iter().rev().skip(1).all(|one| !is_end(one)),
        "the end is not the last"
    );
    for request in network.sent() {
        let first = settled
            .iter()
            .find(|one| one.sequence() == request.sequence());
        assert_eq!(first.unwrap().body, request.body);
    }
    for beat in pulse.sent() {
        assert_eq!((beat.sequence(), beat.kind().as_str()), (0, "heartbeat"));
    }
    let mut nonces = HashSet::new();
    for request in network.sent().iter().chain(&pulse.sent()) {
        assert!(nonces.insert(request.headers["x-supervisor-nonce"].clone()));
    }
    let total = counts.delivered + counts.refused + counts.dropped;
    assert_eq!((total, counts.waiting), (counts.last_sequence, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_arrives_is_what_was_said(
        steps in prop::collection::vec(step(), 0..150),
        chain in prop::collection::vec(reply(), 0..60),
        beats in prop::collection::vec(reply(), 0..10),
        small: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let mut settings = settings();
            settings.spool = Some(folder.path().to_owned());
            if small {
                settings.memory_bytes = 3_000;
            }
            let (network, pulse) = (Network::default(), Network::default());
            network.plan(chain);
            pulse.plan(beats);
            let reporter = network.start_with(settings, &pulse);
            let said = play(&reporter, &steps).await;
            reporter.drained(LONG).await;
            check(&network, &pulse, &said, reporter.counts());
        });
    }
}
