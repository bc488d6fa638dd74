//! Reading the record.

use provost_core::{
    ids::TraceId,
    ports::{PAGE_BYTES, Store, TraceEntry, TraceFilter},
    trace::TraceRow,
};

use crate::{making::*, place::Place};

crate::contract!(
    traces_come_newest_first_and_in_pages,
    traces_are_filtered,
    rare_names_are_found_far_back,
    a_decision_is_shown_with_its_outcome,
    a_trace_is_found_by_the_beginning_of_its_id,
    p10_pages_of_long_records_end_early_and_lose_nothing,
);

fn all() -> TraceFilter {
    TraceFilter {
        limit: 1000,
        ..TraceFilter::default()
    }
}

async fn tools(store: &dyn Store, filter: &TraceFilter) -> Vec<String> {
    let page = store.traces(filter).await.unwrap();
    let tool = |decision: &str| {
        let body: serde_json::Value = serde_json::from_str(decision).unwrap();
        body["tool"].as_str().unwrap().to_owned()
    };
    page.iter().map(|entry| tool(&entry.decision)).collect()
}

async fn p10_pages_of_long_records_end_early_and_lose_nothing(place: &Place) {
    let store = place.open().await;
    for n in 0..10 {
        let row = row("claude", None, &format!("fs.{n}"), after(n));
        let long = format!(",\"long\":\"{}\"}}", "x".repeat(1 << 20));
        let body = row.body.replace('}', &long);
        write(&*store, TraceRow { body, ..row }).await;
    }
    let (mut seen, mut filter) = (Vec::new(), all());
    loop {
        let page = store.traces(&filter).await.unwrap();
        let bytes = page.iter().map(TraceEntry::bytes).sum::<usize>();
        assert!(!page.is_empty() && bytes < PAGE_BYTES + (2 << 20));
        seen.extend(page.iter().map(|entry| entry.place));
        filter.before = page.next_before;
        if filter.before.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 10);
    assert!(seen.is_sorted_by(|a, b| a > b));
    let ends = store.chains().await.unwrap();
    let ends = ends.iter().find(|ends| ends.head_seq >= 10).unwrap();
    let page = store.chain_records(&ends.chain, 0, 1000).await.unwrap();
    assert!((1..4).contains(&page.len()), "{} records", page.len());
    assert!(verify(&*store).await.unwrap() >= 10);
    store.close().await;
}

async fn traces_come_newest_first_and_in_pages(place: &Place) {
    let store = place.open().await;
    for n in 0..10 {
        write(&*store, row("claude", None, &format!("fs.{n}"), after(n))).await;
        store.record_note(note("between")).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = store
            .traces(&TraceFilter {
                before,
                limit: 3,
                ..all()
            })
            .await
            .unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.place);
        assert!(page.len() <= 3);
        seen.extend(page.iter().map(|entry| entry.place));
    }
    assert_eq!(seen.len(), 10);
    assert!(seen.is_sorted_by(|a, b| a > b));
    let expected: Vec<_> = (0..10).rev().map(|n| format!("fs.{n}")).collect();
    assert_eq!(tools(&*store, &all()).await, expected);
    store.close().await;
}

async fn traces_are_filtered(place: &Place) {
    let store = place.open().await;
    for (agent, session, tool, verdict, at) in [
        ("claude", Some("s1"), "fs.read", "allow", 0),
        ("claude", Some("s2"), "fs.write", "deny", 10_000),
        ("codex", None, "mail.send", "allow", 20_000),
        ("codex", Some("s1"), "fs/odd", "expired", 30_000),
    ] {
        write(
            &*store,
            TraceRow {
                verdict,
                ..row(agent, session, tool, after(at))
            },
        )
        .await;
    }
    let text = |text: &str| Some(text.to_owned());
    let globs = |texts: &[&str]| texts.iter().map(|text| glob(text)).collect();
    let cases: [(TraceFilter, &[&str]); 14] = [
        (
            TraceFilter {
                agent: text("claude"),
                ..all()
            },
            &["fs.write", "fs.read"],
        ),
        (
            TraceFilter {
                session: text("s1"),
                ..all()
            },
            &["fs/odd", "fs.read"],
        ),
        (
            TraceFilter {
                agent: text("codex"),
                session: text("s1"),
                ..all()
            },
            &["fs/odd"],
        ),
        (
            TraceFilter {
                verdict: text("allow"),
                ..all()
            },
            &["mail.send", "fs.read"],
        ),
        (
            TraceFilter {
                tool: Some(glob("fs.*")),
                ..all()
            },
            &["fs.write", "fs.read"],
        ),
        (
            TraceFilter {
                tool: Some(glob("*.send")),
                ..all()
            },
            &["mail.send"],
        ),
        (
            TraceFilter {
                tool: Some(glob("fs.read")),
                ..all()
            },
            &["fs.read"],
        ),
        (
            TraceFilter {
                tools: globs(&["mail.*", "fs.read"]),
                ..all()
            },
            &["mail.send", "fs.read"],
        ),
        (
            TraceFilter {
                tool: Some(glob("fs.read")),
                tools: globs(&["mail.*"]),
                ..all()
            },
            &[],
        ),
        (
            TraceFilter {
                since: Some(after(20_000)),
                ..all()
            },
            &["fs/odd", "mail.send"],
        ),
        (
            TraceFilter {
                until: Some(after(10_000)),
                ..all()
            },
            &["fs.write", "fs.read"],
        ),
        (
            TraceFilter {
                since: Some(after(1)),
                until: Some(after(29_999)),
                ..all()
            },
            &["mail.send", "fs.write"],
        ),
        (
            TraceFilter {
                agent: text("nobody"),
                ..all()
            },
            &[],
        ),
        (
            TraceFilter {
                agent: text("claude"),
                limit: 1,
                ..all()
            },
            &["fs.write"],
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(tools(&*store, &filter).await, expected, "{filter:?}");
    }
    store.close().await;
}

async fn rare_names_are_found_far_back(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    write(&*store, row("rare", Some("rare"), "rare.tool", START)).await;
    let common = (0..9000).map(|n| {
        let (store, row) = (
            store.clone(),
            row("claude", Some("s1"), "fs.read", after(n)),
        );
        async move { store.record(record(row, seen)).await.unwrap() }
    });
    race(common).await;
    write(&*store, row("rare", Some("rare"), "rare.tool", after(9000))).await;
    let name = || Some("rare".to_owned());
    for filter in [
        TraceFilter {
            agent: name(),
            ..all()
        },
        TraceFilter {
            session: name(),
            ..all()
        },
        TraceFilter {
            tool: Some(glob("rare.tool")),
            ..all()
        },
        TraceFilter {
            tool: Some(glob("*.tool")),
            ..all()
        },
    ] {
        assert_eq!(tools(&*store, &filter).await.len(), 2, "{filter:?}");
        let newest = store
            .traces(&TraceFilter {
                limit: 1,
                ..filter.clone()
            })
            .await
            .unwrap();
        let before = TraceFilter {
            before: Some(newest[0].place),
            ..filter.clone()
        };
        assert_eq!(tools(&*store, &before).await.len(), 1, "{before:?}");
        let since = TraceFilter {
            since: Some(after(1)),
            ..filter
        };
        assert_eq!(tools(&*store, &since).await.len(), 1, "{since:?}");
    }
    store.close().await;
}

async fn a_decision_is_shown_with_its_outcome(place: &Place) {
    let store = place.open().await;
    let decision = forwarded("claude", START);
    write(&*store, decision.clone()).await;
    let id = decision.trace_id.as_str();
    let trace = store.trace(id).await.unwrap().unwrap();
    assert_eq!((trace.in_flight, trace.outcome.as_deref()), (true, None));
    let end = outcome(&decision, "done");
    store.record_outcome(end.clone(), None).await.unwrap();
    let trace = store.trace(id).await.unwrap().unwrap();
    assert_eq!(
        (trace.decision, trace.outcome),
        (decision.body.clone(), Some(end.body.clone()))
    );
    let page = store.traces(&all()).await.unwrap();
    let [entry] = &*page else {
        panic!("the outcome is no entry of its own: {page:?}")
    };
    assert_eq!(
        (&entry.decision, entry.outcome.as_ref()),
        (&decision.body, Some(&end.body))
    );
    store.close().await;
}

async fn a_trace_is_found_by_the_beginning_of_its_id(place: &Place) {
    let store = place.open().await;
    for id in [
        "aaaaaaaa000000000000000000000001",
        "aaaaaaaa000000000000000000000002",
        "bbbbbbbb000000000000000000000001",
    ] {
        let decision = TraceRow {
            trace_id: TraceId::from(id),
            ..forwarded(id, START)
        };
        write(&*store, decision.clone()).await;
        store
            .record_outcome(outcome(&decision, "done"), None)
            .await
            .unwrap();
    }
    for (text, expected) in [
        (
            "aaaaaaaa000000000000000000000002",
            Some("aaaaaaaa000000000000000000000002"),
        ),
        ("bbbbbbbb", Some("bbbbbbbb000000000000000000000001")),
        ("bbbbbbb", None),
        ("aaaaaaaa", None),
        ("cccccccc", None),
        ("", None),
    ] {
        let found = store.trace(text).await.unwrap().map(|entry| {
            let body: serde_json::Value = serde_json::from_str(&entry.decision).unwrap();
            body["agent_id"].as_str().unwrap().to_owned()
        });
        assert_eq!(found.as_deref(), expected, "{text}");
    }
    store.close().await;
}
