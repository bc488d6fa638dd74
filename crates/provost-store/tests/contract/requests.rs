//! Requests: answered by a grant in one breath, and only so many at once.

use provost_core::{
    approval::{Request, State, Status},
    grant::Grant,
    ids::ApprovalId,
    ports::{NewApproval, Opened, Store, TraceFilter},
};
use serde_json::json;

use crate::{making::*, place::Place};

crate::contract!(
    a_grant_is_used_with_the_request_it_answers_or_not_at_all,
    only_so_many_requests_of_an_agent_wait,
    p10_calls_that_wait_are_counted_apart_from_requests,
    what_waits_counts_against_the_total,
);

async fn request(store: &dyn Store, argument: &str) -> NewApproval {
    let mut new = question("exec_cmd", argument, version(store).await);
    new.question.id = ApprovalId::requested();
    new.question.request = Some(Box::new(Request {
        client_id: "0123456789abcdef".into(),
        title: "t".into(),
        preview: argument.into(),
        channel: "email".into(),
        target: json!({"email_to": "a@example.org"}),
    }));
    new
}

/// As the gate makes one that a grant answers.
async fn granted(store: &dyn Store, argument: &str, grant: &Grant) -> NewApproval {
    let mut new = request(store, argument).await;
    let mut row = row("claude", None, "exec_cmd", START);
    row.trace_id = new.question.trace_id.clone();
    let mut record = record(row, new.version);
    record.grant = Some(grant.id.clone());
    new.granted = Some(Box::new(record));
    new.state = State {
        status: Status::Approved,
        answered_at: Some(START),
        ..new.state
    };
    new.key = Some(key("claude", argument));
    new
}

async fn uses(store: &dyn Store) -> u64 {
    store.control().await.unwrap().grants[0].uses
}

async fn traces(store: &dyn Store) -> usize {
    let filter = TraceFilter {
        limit: 100,
        tool: Some(glob("exec_cmd")),
        ..TraceFilter::default()
    };
    store.traces(&filter).await.unwrap().len()
}

async fn a_grant_is_used_with_the_request_it_answers_or_not_at_all(place: &Place) {
    let store = place.open().await;
    let grant = grant(Some(1));
    store
        .add_grant(grant.clone(), note("granted"))
        .await
        .unwrap();
    // Nothing comes of these, the use of the grant included.
    let mut stale = granted(&*store, "stale", &grant).await;
    stale.version += 1;
    let refused = store.open_approval(stale, START).await.unwrap();
    assert!(matches!(refused, Opened::Stale), "{refused:?}");
    let mut spent = granted(&*store, "spent", &grant).await;
    spent.granted.as_mut().unwrap().max_total = Some(0);
    let refused = store.open_approval(spent, START).await.unwrap();
    assert!(matches!(refused, Opened::TotalSpent), "{refused:?}");
    let mut taken = record(row("claude", None, "other", START), version(&*store).await);
    taken.key = Some(key("claude", "taken"));
    store.record(taken).await.unwrap();
    let new = granted(&*store, "taken", &grant).await;
    let refused = store.open_approval(new, START).await.unwrap();
    assert!(matches!(refused, Opened::KeyTaken), "{refused:?}");
    assert_eq!((uses(&*store).await, traces(&*store).await), (0, 0));

    let first = granted(&*store, "first", &grant).await;
    let made = opened(store.open_approval(first, START).await.unwrap());
    assert_eq!(made.state.status, Status::Approved);
    assert_eq!((uses(&*store).await, traces(&*store).await), (1, 1));
    let keyed = store.keyed_answer("claude", "first").await.unwrap();
    let keyed = keyed.unwrap().answer;
    assert_eq!(keyed.as_deref(), Some(made.question.id.as_str()));

    let second = granted(&*store, "second", &grant).await;
    let id = second.question.id.clone();
    let refused = store.open_approval(second, START).await.unwrap();
    assert!(matches!(refused, Opened::GrantSpent), "{refused:?}");
    assert_eq!((uses(&*store).await, traces(&*store).await), (1, 1));
    assert!(store.approval(id.as_str()).await.unwrap().is_none());
    let keyed = store.keyed_answer("claude", "second").await.unwrap();
    assert!(keyed.is_none());
}

async fn only_so_many_requests_of_an_agent_wait(place: &Place) {
    let store = place.open().await;
    // Calls are none.
    for argument in ["a", "b", "c"] {
        ask(&*store, "mail.send", argument).await;
    }
    let open = async |argument: &str, agent: &str, now| {
        let mut new = request(&*store, argument).await;
        new.question.agent_id = agent.into();
        new.most_pending = Some(2);
        store.open_approval(new, now).await.unwrap()
    };
    let first = opened(open("1", "claude", START).await);
    opened(open("2", "claude", START).await);
    let refused = open("3", "claude", START).await;
    assert!(matches!(refused, Opened::Crowded), "{refused:?}");
    // The same again is not one more, and another agent has its own.
    assert_eq!(opened(open("2", "claude", START).await).state.asked, 2);
    opened(open("4", "codex", START).await);
    let denied = answer(&first, Status::Denied, "human:alice", after(1));
    store.resolve(denied).await.unwrap();
    opened(open("5", "claude", after(2)).await);
    let refused = open("6", "claude", after(2)).await;
    assert!(matches!(refused, Opened::Crowded), "{refused:?}");
    // What is over does not wait.
    opened(open("6", "claude", after(300)).await);
}

async fn p10_calls_that_wait_are_counted_apart_from_requests(place: &Place) {
    let store = place.open().await;
    for argument in ["a", "b", "c"] {
        let new = request(&*store, argument).await;
        opened(store.open_approval(new, START).await.unwrap());
    }
    let seen = version(&*store).await;
    let open = async |argument: &str, now| {
        let mut new = question("mail.send", argument, seen);
        new.most_pending = Some(2);
        store.open_approval(new, now).await.unwrap()
    };
    opened(open("1", START).await);
    opened(open("2", START).await);
    let refused = open("3", START).await;
    assert!(matches!(refused, Opened::Crowded), "{refused:?}");
    opened(open("2", START).await);
    opened(open("3", after(300)).await);
}

async fn what_waits_counts_against_the_total(place: &Place) {
    let store = place.open().await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    ask(&*store, "mail.send", "a").await;
    let open = async |argument: &str, now| {
        let mut new = request(&*store, argument).await;
        new.max_total = Some(3);
        store.open_approval(new, now).await.unwrap()
    };
    let last = opened(open("1", START).await);
    let refused = open("2", START).await;
    assert!(matches!(refused, Opened::TotalSpent), "{refused:?}");
    // The same again is not one more, and what was decided is not counted twice.
    assert_eq!(opened(open("1", START).await).state.asked, 2);
    let denied = answer(&last, Status::Denied, "human:alice", after(1));
    store.resolve(denied).await.unwrap();
    let refused = open("3", after(2)).await;
    assert!(matches!(refused, Opened::TotalSpent), "{refused:?}");
    let mut more = request(&*store, "3").await;
    more.max_total = Some(4);
    opened(store.open_approval(more, after(2)).await.unwrap());
}
