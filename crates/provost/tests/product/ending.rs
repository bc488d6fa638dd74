//! The orderly end.

use serde_json::json;

use crate::{
    echo::Echo,
    events_feed::Feed,
    harness::{POLICY, Site, eventually},
};

#[test]
fn sigterm_tells_waiting_callers_and_keeps_their_questions() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let mut gateway = site.start();
    let pay = json!({"id": "kept"});
    let waiting = gateway.agent().tool_waiting("payments.send", pay.clone());
    let running = gateway
        .agent()
        .tool_waiting("held.call", json!({"id": "running"}));
    let (alice, target) = (gateway.alice(), "/approvals?tool=none.*&wait=60s");
    let polling = std::thread::spawn(move || alice.get(target));
    let _feed = Feed::open(&gateway.alice(), "/events", None);
    gateway.until_waiting(1);
    eventually("the call at the backend", || {
        (echo.executions("running") == 1).then_some(())
    });
    let id = gateway.one_pending()["id"].clone();

    gateway.terminate();
    let told = waiting.join().unwrap();
    told.refused(503, "stopping");
    assert!(told.header("retry-after").is_some());
    assert_eq!(polling.join().unwrap().ok().json(), json!([]));
    // What runs may end.
    echo.release();
    running.join().unwrap().ok();
    assert!(gateway.ended().success(), "{}", gateway.log());
    drop(gateway);
    site.verify_chain(None);

    let gateway = site.start();
    let kept = gateway.one_pending();
    assert_eq!((&kept["id"], &kept["status"]), (&id, &json!("pending")));
    let retried = gateway.agent().tool_waiting("payments.send", pay);
    gateway.until_waiting(1);
    assert_eq!(
        gateway.one_pending()["id"],
        id,
        "the identical call asks nothing new"
    );
    gateway.alice().approve(id.as_str().unwrap()).ok();
    assert_eq!(
        retried.join().unwrap().ok().approval_id(),
        id.as_str().unwrap()
    );
    assert_eq!(echo.executions("kept"), 1);
    let outcomes: Vec<_> = gateway
        .traces()
        .iter()
        .map(|t| t["outcome"].clone())
        .collect();
    assert!(!outcomes.contains(&json!("unknown")), "{outcomes:?}");
}
