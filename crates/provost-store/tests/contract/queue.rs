//! Lists of approvals.

use provost_core::{
    approval::{Approval, Claim, Level, Question, Status},
    ids::{ApprovalId, TraceId},
    ports::{ApprovalFilter, ApprovalRow, PAGE_BYTES, QueueDepth, Store, WrittenPage},
    time::Time,
};

use crate::{making::*, place::Place};

crate::contract!(
    lists_are_paged_in_the_order_of_asking,
    lists_are_filtered,
    lists_see_the_time,
    what_waits_is_listed_with_all_that_happened_to_it,
    globs_that_match_little_still_fill_a_page,
    an_approval_is_found_by_the_beginning_of_its_id,
    what_is_settled_is_told,
    the_depth_of_the_queue_is_known,
    p10_a_page_of_long_questions_ends_early_and_says_so,
    p10_long_questions_push_nothing_out_of_a_written_page,
);

/// What is listed, and written the same way.
async fn tools(store: &dyn Store, filter: ApprovalFilter, now: Time) -> Vec<String> {
    let page = store.approvals(&filter, now).await.unwrap();
    let mut expected = WrittenPage::of_at_most(filter.limit);
    for row in page.rows() {
        expected.push(row, now, write_all);
    }
    let written = store.written_approvals(&filter, now, write_all).await;
    let written = written.unwrap();
    assert_eq!(written.next_after(), expected.next_after(), "{filter:?}");
    assert_eq!(written.into_json(), expected.into_json(), "{filter:?}");
    page.rows()
        .map(|row| asked_in(row).tool.to_string())
        .collect()
}

fn write_all(row: ApprovalRow<'_>, now: Time, _: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{now} {row:?}").as_bytes());
}

/// The length of what is written is the longest that it may have.
fn write_longest(row: ApprovalRow<'_>, _: Time, longest: usize, out: &mut Vec<u8>) {
    let id = asked_in(row).id;
    let rest = row.question.len().min(longest) - id.as_str().len();
    out.extend_from_slice(format!("\"{id}{}\"", " ".repeat(rest)).as_bytes());
}

fn asked_in(row: ApprovalRow<'_>) -> Question {
    serde_json::from_slice(row.question).unwrap()
}

fn all() -> ApprovalFilter {
    ApprovalFilter {
        limit: 100,
        ..ApprovalFilter::default()
    }
}

async fn lists_are_paged_in_the_order_of_asking(place: &Place) {
    let store = place.open().await;
    let mut asked = Vec::new();
    for n in 0..10 {
        asked.push(ask(&*store, &format!("tool.{n}"), "a").await);
    }
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let filter = ApprovalFilter {
            after,
            limit: 3,
            ..ApprovalFilter::default()
        };
        let page = store.approvals(&filter, START).await.unwrap();
        let Some(last) = page.last_place() else { break };
        after = Some(last);
        assert!(page.len() <= 3);
        seen.extend(page.rows().map(|row| Approval {
            question: asked_in(row),
            state: row.state.clone(),
        }));
    }
    assert_eq!(seen, asked);
    store.close().await;
}

/// So many questions of 1 MiB, and a short one behind them.
async fn ask_at_length(store: &dyn Store, count: usize) -> Vec<String> {
    let mut asked = Vec::new();
    for n in 0..count {
        let long = format!("{n} {}", "x".repeat(1 << 20));
        asked.push(ask(store, "fs.write", &long).await);
    }
    asked.push(ask(store, "fs.write", "short").await);
    let ids = asked.iter().map(|asked| asked.question.id.to_string());
    ids.collect()
}

async fn p10_a_page_of_long_questions_ends_early_and_says_so(place: &Place) {
    let store = place.open().await;
    let asked = ask_at_length(&*store, 9).await;
    let (mut seen, mut filter) = (Vec::new(), all());
    loop {
        let page = store.approvals(&filter, START).await.unwrap();
        assert!(!page.is_empty() && page.bytes() < PAGE_BYTES + (2 << 20));
        seen.extend(page.rows().map(|row| asked_in(row).id.to_string()));
        filter.after = page.next_after();
        if filter.after.is_none() {
            break;
        }
    }
    assert_eq!(seen, asked);
    store.close().await;
}

async fn p10_long_questions_push_nothing_out_of_a_written_page(place: &Place) {
    let store = place.open().await;
    let asked = ask_at_length(&*store, 20).await;
    let written = store.written_approvals(&all(), START, write_longest).await;
    let written = written.unwrap();
    assert_eq!(written.next_after(), None);
    let written: Vec<String> = serde_json::from_slice(&written.into_json()).unwrap();
    let ids: Vec<_> = written.iter().map(|row| row.trim_end()).collect();
    assert_eq!(ids, asked);
    store.close().await;
}

async fn lists_are_filtered(place: &Place) {
    let store = place.open().await;
    for tool in ["fs.read", "fs.write", "mail.send", "fs/odd"] {
        ask(&*store, tool, "a").await;
    }
    let tool = |text: &str| ApprovalFilter {
        tool: Some(glob(text)),
        ..all()
    };
    let any = |texts: &[&str]| ApprovalFilter {
        tools: texts.iter().map(|t| glob(t)).collect(),
        ..all()
    };
    let cases: [(ApprovalFilter, &[&str]); 12] = [
        (tool("fs.*"), &["fs.read", "fs.write"]),
        (tool("*"), &["fs.read", "fs.write", "mail.send", "fs/odd"]),
        (tool("*.send"), &["mail.send"]),
        (tool("fs.read"), &["fs.read"]),
        (tool("fs[./]*"), &["fs.read", "fs.write"]),
        (any(&["mail.*", "fs.read"]), &["fs.read", "mail.send"]),
        (
            ApprovalFilter {
                tool: Some(glob("fs.*")),
                ..any(&["*.write"])
            },
            &["fs.write"],
        ),
        (
            ApprovalFilter {
                agent: Some("nobody".to_owned()),
                ..all()
            },
            &[],
        ),
        (
            ApprovalFilter {
                agent: Some("claude".to_owned()),
                ..tool("fs.read")
            },
            &["fs.read"],
        ),
        (
            ApprovalFilter {
                session: Some("s1".to_owned()),
                ..tool("mail.*")
            },
            &["mail.send"],
        ),
        (
            ApprovalFilter {
                since: Some(after(1)),
                ..all()
            },
            &[],
        ),
        (
            ApprovalFilter {
                since: Some(START),
                limit: 1,
                ..all()
            },
            &["fs.read"],
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(
            tools(&*store, filter.clone(), START).await,
            expected,
            "{filter:?}"
        );
    }
    store.close().await;
}

async fn lists_see_the_time(place: &Place) {
    let store = place.open().await;
    ask(&*store, "fs.wait", "a").await;
    approve(&*store, &ask(&*store, "fs.done", "a").await).await;
    let status = |status| ApprovalFilter {
        status: Some(status),
        ..all()
    };
    let level = |level| ApprovalFilter {
        level: Some(level),
        ..status(Status::Pending)
    };
    let cases: [(ApprovalFilter, u64, &[&str]); 9] = [
        (status(Status::Pending), 299, &["fs.wait"]),
        (status(Status::Pending), 300, &[]),
        (status(Status::Expired), 299, &[]),
        (status(Status::Expired), 300, &["fs.wait"]),
        (status(Status::Approved), 0, &["fs.done"]),
        (level(Level::Supervisor), 59, &["fs.wait"]),
        (level(Level::Supervisor), 60, &[]),
        (level(Level::Human), 59, &[]),
        (level(Level::Human), 60, &["fs.wait"]),
    ];
    for (filter, seconds, expected) in cases {
        let found = tools(&*store, filter.clone(), after(seconds)).await;
        assert_eq!(found, expected, "{filter:?} at {seconds}");
    }
    store.close().await;
}

async fn what_waits_is_listed_with_all_that_happened_to_it(place: &Place) {
    let store = place.open().await;
    let mut asked = Vec::new();
    for tool in ["a.new", "b.claimed", "c.escalated", "d.asked", "e.counted"] {
        asked.push(ask(&*store, tool, "a").await.question.id);
    }
    let claim = Claim {
        by: "bot".to_owned(),
        until: after(20),
    };
    store.claim(&asked[1], claim, START).await.unwrap();
    let escalated = store.escalate(&asked[2], escalation(START)).await;
    escalated.unwrap();
    let mut again = question("d.asked", "a", version(&*store).await);
    again.question.trace_id = TraceId::at(after(1));
    store.open_approval(again, after(1)).await.unwrap();
    let counted = store.approval(asked[4].as_str()).await.unwrap().unwrap();
    let mut vote = answer(&counted, Status::Approved, "human:alice", after(1));
    vote.needed = 2;
    store.resolve(vote).await.unwrap();

    let pending = ApprovalFilter {
        status: Some(Status::Pending),
        ..all()
    };
    let page = store.approvals(&pending, after(1)).await.unwrap();
    assert_eq!(page.len(), asked.len());
    for (row, id) in page.rows().zip(&asked) {
        let alone = store.approval(id.as_str()).await.unwrap().unwrap();
        assert_eq!(row.state, &alone.state, "{}", alone.question.tool);
        assert_eq!(asked_in(row), alone.question);
    }
    let states: Vec<_> = page.rows().map(|row| row.state).collect();
    assert!(states[1].claim.is_some() && states[2].escalation.is_some());
    assert_eq!((states[3].asked, states[4].votes.len()), (2, 1));
    assert_eq!(tools(&*store, pending, after(1)).await.len(), asked.len());
    store.close().await;
}

async fn globs_that_match_little_still_fill_a_page(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    let asks = (0..700).map(|n| {
        let tool = format!(
            "tool-{n:03}.{}",
            if n % 100 == 99 { "rare" } else { "common" }
        );
        let (store, new) = (store.clone(), question(&tool, "a", seen));
        async move { opened(store.open_approval(new, START).await.unwrap()) }
    });
    race(asks).await;
    let filter = |limit| ApprovalFilter {
        tool: Some(glob("tool-*.rare")),
        limit,
        ..all()
    };
    assert_eq!(tools(&*store, filter(5), START).await.len(), 5);
    assert_eq!(tools(&*store, filter(100), START).await.len(), 7);
    store.close().await;
}

async fn an_approval_is_found_by_the_beginning_of_its_id(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    for (id, argument) in [
        ("abcd000000000001", "a"),
        ("abcd000000000002", "b"),
        ("abce000000000001", "c"),
    ] {
        let mut new = question("fs.write", argument, seen);
        new.question.id = ApprovalId::from(id);
        store.open_approval(new, START).await.unwrap();
    }
    for (text, expected) in [
        ("abcd000000000001", Some("abcd000000000001")),
        ("abce", Some("abce000000000001")),
        ("abcd", None),
        ("abc", None),
        ("abcd000000000003", None),
        ("", None),
        ("abce%", None),
    ] {
        let found = store
            .approval(text)
            .await
            .unwrap()
            .map(|found| found.question.id.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    }
    store.close().await;
}

async fn what_is_settled_is_told(place: &Place) {
    let store = place.open().await;
    let (open, decided) = (
        ask(&*store, "fs.a", "a").await,
        ask(&*store, "fs.b", "b").await,
    );
    approve(&*store, &decided).await;
    let ids = [open.question.id.clone(), decided.question.id.clone()];
    assert_eq!(store.settled(&ids, after(1)).await.unwrap(), ids[1..]);
    assert_eq!(store.settled(&ids, after(300)).await.unwrap(), ids);
    assert_eq!(store.settled(&[], after(1)).await.unwrap(), []);
    let gone = [ApprovalId::random()];
    assert_eq!(
        store.settled(&gone, after(1)).await.unwrap(),
        gone,
        "what is gone is not pending"
    );
    store.close().await;
}

async fn the_depth_of_the_queue_is_known(place: &Place) {
    let store = place.open().await;
    assert_eq!(store.queue_depth().await.unwrap(), QueueDepth::default());
    let seen = version(&*store).await;
    let mut first = None;
    for n in 0..3 {
        let mut new = question("fs.write", &n.to_string(), seen);
        new.question.created_at = after(n);
        let approval = opened(store.open_approval(new, after(n)).await.unwrap());
        first.get_or_insert(approval);
    }
    assert_eq!(
        store.queue_depth().await.unwrap(),
        QueueDepth {
            pending: 3,
            oldest: Some(START)
        }
    );
    approve(&*store, &first.unwrap()).await;
    assert_eq!(
        store.queue_depth().await.unwrap(),
        QueueDepth {
            pending: 2,
            oldest: Some(after(1))
        }
    );
    store.close().await;
}
