//! What is made again from a journal is what was sent.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::{
    LONG, complete,
    network::{Network, Reply, raw, settings},
};
use crate::{
    journal::{Journal, Lines, Read, What},
    report::{Clock, Phase, Rebuilder, Settings, State},
    setup::note,
};

fn says(text: &str) -> String {
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    json!({"sessionId": "one", "update": update}).to_string()
}

#[tokio::test(start_paused = true)]
async fn every_report_is_made_again_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let journal = Arc::new(Journal::open(&path, Clock::system()).unwrap());
    let noting = Arc::clone(&journal);
    let notifications: Arc<Mutex<Vec<String>>> = Arc::default();
    let settings = Settings {
        observe: Some(Arc::new(move |event| note(&noting, event))),
        ..settings()
    };
    let identity = settings.identity.clone();
    let network = Network::default();
    // One is refused: later snapshots count it.
    network.plan([Reply::Status(200, ""), Reply::Status(413, "")]);
    let reporter = network.start(settings);
    let tell = |text: &str, phase| {
        let params = format!(r#"{{ "n": 0.0024000000000000002, "of":{} }}"#, says(text));
        notifications.lock().unwrap().push(params.clone());
        reporter.notification(raw(&params), phase);
        let params = says(text);
        notifications.lock().unwrap().push(params.clone());
        reporter.notification(raw(&params), phase);
    };
    reporter.session("one");
    tell("before", Phase::Replay);
    tell("a", Phase::Live);
    reporter.state(State::Running);
    reporter.agent_notification("_x", Some(raw("{ \"b\": 1.0 }")));
    for number in 0..20 {
        let asked = raw(r#"{"toolCall":{"toolCallId":"c","title":"Run"}}"#);
        reporter.permission_pending(&format!("p{number}"), &asked, None);
    }
    reporter.state(State::WaitingPermission);
    tell("b", Phase::Live);
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    reporter.permission_settled("p0", "allowed");
    reporter.state(State::Running);
    for number in 0..40 {
        tell(&number.to_string(), Phase::Live);
    }
    reporter.warn("a warning");
    reporter.end(complete());
    reporter.drained(LONG).await;

    let mut rebuilder = Rebuilder::new(identity);
    for params in notifications.lock().unwrap().iter() {
        rebuilder.notification(raw(params));
    }
    let lines = Lines::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
    let reports = lines.filter_map(|line| match line.unwrap() {
        Read::Line(line) => match line.what {
            What::Report(report) => rebuilder.report(&report),
            _ => None,
        },
        _ => None,
    });
    let rebuilt: Vec<_> = reports.collect();
    let sent = network.sent();
    assert!(sent.len() >= 7, "{}", sent.len());
    assert_eq!(rebuilt.len(), sent.len());
    for (again, first) in rebuilt.iter().zip(&sent) {
        assert_eq!(again.sequence, first.sequence());
        assert_eq!(
            String::from_utf8_lossy(&again.body),
            String::from_utf8_lossy(&first.body)
        );
        assert!(again.exact);
    }
}
