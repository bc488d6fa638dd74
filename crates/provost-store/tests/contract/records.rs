//! Decisions, outcomes, notes: what is written, when, and under which conditions.

use provost_core::{
    ids::TraceId,
    ports::{IdempotencyKey, Record, Recorded, StoreError, TraceFilter},
    trace::TraceRow,
};

use crate::{making::*, place::Place};

crate::contract!(
    what_was_recorded_outlives_the_process,
    records_form_one_chain,
    records_that_come_at_once_keep_their_names,
    a_decision_under_old_control_is_not_written,
    a_refusal_needs_no_current_control,
    a_grant_is_used_no_more_often_than_it_allows,
    a_grant_that_is_over_or_revoked_permits_nothing,
    an_idempotency_key_stands_for_one_call,
    a_key_that_is_taken_uses_no_grant,
    p03_a_key_is_free_again_for_one_of_those_who_replace_it,
    p03_a_key_is_read_with_the_version_of_control,
    a_callers_trace_id_is_given_to_one_call,
    a_total_is_never_passed_however_many_race,
    calls_are_counted_by_agent_and_session,
    one_failing_write_does_not_take_others_along,
    a_closed_store_refuses_everything,
    large_records_survive,
);

async fn what_was_recorded_outlives_the_process(place: &Place) {
    let store = place.open().await;
    let decision = row("claude", Some("s1"), "fs.read", START);
    write(&*store, decision.clone()).await;
    store.close().await;

    let store = place.open().await;
    let trace = store
        .trace(decision.trace_id.as_str())
        .await
        .unwrap()
        .expect("it is there");
    assert_eq!(trace.decision, decision.body);
    write(&*store, row("claude", None, "fs.read", START)).await;
    verify(&*store).await.unwrap();
    store.close().await;
}

async fn records_form_one_chain(place: &Place) {
    let store = place.open().await;
    let begin = verify(&*store).await.unwrap();
    let decisions = (0..100).map(|n| {
        let store = store.clone();
        async move {
            let decision = forwarded(&format!("agent-{n}"), START);
            write(&*store, decision.clone()).await;
            store
                .record_outcome(outcome(&decision, "done"), None)
                .await
                .unwrap();
        }
    });
    race(decisions).await;
    store.record_note(note("that was it")).await.unwrap();
    assert_eq!(verify(&*store).await.unwrap(), begin + 201);
    store.close().await;
}

async fn records_that_come_at_once_keep_their_names(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    let rows: Vec<_> = (0..100)
        .map(|n| {
            let (agent, session) = (format!("agent-{}", n % 3), format!("s{}", n % 5));
            let tool = format!("fs.{}", n % 7);
            TraceRow {
                forwarded: true,
                ..row(&agent, (n % 4 > 0).then_some(&*session), &tool, START)
            }
        })
        .collect();
    race(rows.iter().cloned().map(|row| {
        let store = store.clone();
        async move {
            let recorded = store.record(record(row.clone(), seen)).await.unwrap();
            assert_eq!(recorded, Recorded::Done);
            if let Err(row) = store.leave_outcome(outcome(&row, "done")) {
                store.record_outcome(row, None).await.unwrap();
            }
        }
    }))
    .await;
    for row in rows.iter().filter(|row| row.session.is_some()) {
        let filter = TraceFilter {
            agent: Some(row.agent.to_string()),
            session: row.session.as_deref().map(str::to_owned),
            tool: Some(glob(&row.tool)),
            limit: 100,
            ..TraceFilter::default()
        };
        let found = store.traces(&filter).await.unwrap();
        let names = |row: &TraceRow| (row.agent.clone(), row.session.clone(), row.tool.clone());
        let mut alike: Vec<_> = rows
            .iter()
            .filter(|other| names(other) == names(row))
            .map(|row| &row.body)
            .collect();
        let mut bodies: Vec<_> = found.iter().map(|entry| &entry.decision).collect();
        alike.sort();
        bodies.sort();
        assert_eq!(bodies, alike);
        assert!(
            found
                .iter()
                .all(|entry| entry.outcome.is_some() && !entry.in_flight)
        );
    }
    verify(&*store).await.unwrap();
    store.close().await;
}

async fn a_decision_under_old_control_is_not_written(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    store.add_grant(grant(None), note("granted")).await.unwrap();
    let before = verify(&*store).await.unwrap();
    let decision = row("claude", None, "fs.read", START);
    let recorded = store.record(record(decision.clone(), seen)).await.unwrap();
    assert_eq!(recorded, Recorded::Stale);
    assert_eq!(verify(&*store).await.unwrap(), before);
    assert_eq!(store.total_calls("claude").await.unwrap(), 0);
    assert_eq!(
        store.record(record(decision, seen + 1)).await.unwrap(),
        Recorded::Done
    );
    store.close().await;
}

async fn a_refusal_needs_no_current_control(place: &Place) {
    let store = place.open().await;
    let refusal = TraceRow {
        verdict: "deny",
        ..row("claude", None, "fs.read", START)
    };
    let record = Record {
        row: refusal,
        version: None,
        grant: None,
        key: None,
        max_total: None,
    };
    assert_eq!(store.record(record).await.unwrap(), Recorded::Done);
    store.close().await;
}

async fn a_grant_is_used_no_more_often_than_it_allows(place: &Place) {
    let store = place.open().await;
    let grant = grant(Some(5));
    store
        .add_grant(grant.clone(), note("granted"))
        .await
        .unwrap();
    let seen = version(&*store).await;
    let uses = (0..40).map(|n| {
        let (store, id) = (store.clone(), grant.id.clone());
        let row = row("claude", None, &format!("fs.{n}"), START);
        let record = Record {
            row,
            version: Some(seen),
            grant: Some(id),
            key: None,
            max_total: None,
        };
        async move { store.record(record).await.unwrap() }
    });
    let recorded = race(uses).await;
    let count = |what| {
        recorded
            .iter()
            .filter(|recorded| **recorded == what)
            .count()
    };
    assert_eq!(
        (count(Recorded::Done), count(Recorded::GrantSpent)),
        (5, 35)
    );
    let control = store.control().await.unwrap();
    assert_eq!(control.grants[0].uses, 5);
    assert_eq!(
        control.version, seen,
        "using a grant is no change of control"
    );
    assert_eq!(store.total_calls("claude").await.unwrap(), 5);
    store.close().await;
}

async fn a_grant_that_is_over_or_revoked_permits_nothing(place: &Place) {
    let store = place.open().await;
    let grant = grant(None);
    store
        .add_grant(grant.clone(), note("granted"))
        .await
        .unwrap();
    let with = |at, version| Record {
        row: row("claude", None, "fs.read", at),
        version: Some(version),
        grant: Some(grant.id.clone()),
        key: None,
        max_total: None,
    };
    let seen = version(&*store).await;
    assert_eq!(
        store.record(with(after(999), seen)).await.unwrap(),
        Recorded::Done
    );
    assert_eq!(
        store.record(with(after(1000), seen)).await.unwrap(),
        Recorded::GrantSpent
    );
    store
        .revoke_grant(&grant.id, "human:alice", START, note("revoked"))
        .await
        .unwrap();
    let seen = version(&*store).await;
    assert_eq!(
        store.record(with(after(1), seen)).await.unwrap(),
        Recorded::GrantSpent
    );
    store.close().await;
}

async fn an_idempotency_key_stands_for_one_call(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    assert_eq!(store.keyed_answer("claude", "k1").await.unwrap(), None);
    let keyed = |agent: &str| Record {
        key: Some(key(agent, "k1")),
        ..record(forwarded(agent, START), seen)
    };
    let first = keyed("claude");
    assert_eq!(store.record(first.clone()).await.unwrap(), Recorded::Done);
    assert_eq!(
        store.record(keyed("claude")).await.unwrap(),
        Recorded::KeyTaken
    );
    assert_eq!(
        store.record(keyed("codex")).await.unwrap(),
        Recorded::Done,
        "another agent's"
    );

    let kept = store
        .keyed_answer("claude", "k1")
        .await
        .unwrap()
        .expect("it is kept");
    assert_eq!(
        (kept.digest, &kept.trace_id),
        (key("claude", "k1").digest, &first.row.trace_id)
    );
    assert_eq!(kept.answer, None);
    let answered = Some((key("claude", "k1"), "{\"status\":200}".to_owned()));
    store
        .record_outcome(outcome(&first.row, "done"), answered)
        .await
        .unwrap();
    store.close().await;

    let store = place.open().await;
    let kept = store
        .keyed_answer("claude", "k1")
        .await
        .unwrap()
        .expect("it is kept");
    assert_eq!(kept.answer.as_deref(), Some("{\"status\":200}"));
    assert_eq!(store.total_calls("claude").await.unwrap(), 1);
    store.close().await;
}

async fn a_key_that_is_taken_uses_no_grant(place: &Place) {
    let store = place.open().await;
    let grant = grant(Some(5));
    store
        .add_grant(grant.clone(), note("granted"))
        .await
        .unwrap();
    let seen = version(&*store).await;
    let attempts = (0..10).map(|_| {
        let store = store.clone();
        let record = Record {
            row: row("claude", None, "fs.read", START),
            version: Some(seen),
            grant: Some(grant.id.clone()),
            key: Some(key("claude", "k1")),
            max_total: None,
        };
        async move { store.record(record).await.unwrap() }
    });
    let recorded = race(attempts).await;
    assert_eq!(
        recorded
            .iter()
            .filter(|recorded| **recorded == Recorded::Done)
            .count(),
        1
    );
    assert_eq!(
        recorded
            .iter()
            .filter(|recorded| **recorded == Recorded::KeyTaken)
            .count(),
        9
    );
    assert_eq!(store.control().await.unwrap().grants[0].uses, 1);
    store.close().await;
}

async fn p03_a_key_is_free_again_for_one_of_those_who_replace_it(place: &Place) {
    let first = place.open().await;
    let second = match place {
        Place::Sqlite(_) => first.clone(),
        Place::Postgres { .. } => place.open().await,
    };
    let stores = [first, second];
    let seen = version(&*stores[0]).await;
    let keyed = |replaces: Option<&TraceId>| {
        let mut record = record(row("claude", None, "fs.read", after(90)), seen);
        record.key = Some(IdempotencyKey {
            at: after(90),
            answer: Some("yes".into()),
            replaces: replaces.cloned(),
            ..key("claude", "k1")
        });
        record
    };
    let old = keyed(None);
    assert_eq!(stores[0].record(old.clone()).await.unwrap(), Recorded::Done);
    let never = TraceId::at(START);
    assert_eq!(
        stores[0].record(keyed(Some(&never))).await.unwrap(),
        Recorded::KeyTaken,
        "it stands for another decision"
    );
    let attempts = (0..10).map(|n| {
        let (store, new) = (stores[n % 2].clone(), keyed(Some(&old.row.trace_id)));
        async move { (store.record(new.clone()).await.unwrap(), new) }
    });
    let recorded = race(attempts).await;
    let mut done = recorded.iter().filter(|(end, _)| *end == Recorded::Done);
    let (_, winner) = done.next().expect("one replaces it");
    assert!(done.next().is_none(), "only one does");
    let kept = stores[0].keyed_answer("claude", "k1").await.unwrap();
    let kept = kept.expect("it is kept");
    assert_eq!(kept.trace_id, winner.row.trace_id);
    assert_eq!((kept.at, kept.answer.as_deref()), (after(90), Some("yes")));
    for store in stores {
        store.close().await;
    }
}

async fn p03_a_key_is_read_with_the_version_of_control(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    let mut keyed = record(row("claude", None, "fs.read", START), seen);
    keyed.key = Some(key("claude", "k1"));
    store.record(keyed).await.unwrap();
    let read = async || store.keyed_answer("claude", "k1").await.unwrap().unwrap();
    assert_eq!(read().await.version, seen);
    store.add_grant(grant(None), note("granted")).await.unwrap();
    assert!(read().await.version > seen);
    store.close().await;
}

async fn a_total_is_never_passed_however_many_race(place: &Place) {
    let first = place.open().await;
    // A file has one process; a server has many.
    let second = match place {
        Place::Sqlite(_) => first.clone(),
        Place::Postgres { .. } => place.open().await,
    };
    let stores = [first, second];
    let version = stores[0].control_version().await.unwrap();
    let attempts = (0..40).map(|n| {
        let store = stores[n % 2].clone();
        let mut record = record(row("claude", None, "fs.read", START), version);
        record.max_total = Some(7);
        async move { store.record(record).await.unwrap() }
    });
    let recorded = race(attempts).await;
    let done = recorded
        .iter()
        .filter(|recorded| **recorded == Recorded::Done);
    assert_eq!(done.count(), 7);
    assert_eq!(stores[0].total_calls("claude").await.unwrap(), 7);
    for store in stores {
        store.close().await;
    }
}

async fn a_callers_trace_id_is_given_to_one_call(place: &Place) {
    let store = place.open().await;
    let id = TraceId::from("0af7651916cd43dd8448eb211c80319c");
    let attempts = (0..10).map(|_| {
        let (store, id) = (store.clone(), id.clone());
        async move { store.reserve_trace_id(&id, START).await.unwrap() }
    });
    let reserved = race(attempts).await;
    assert_eq!(reserved.iter().filter(|given| **given).count(), 1);
    let recorded = row("claude", None, "fs.read", START);
    write(&*store, recorded.clone()).await;
    let taken = store.reserve_trace_id(&recorded.trace_id, START).await;
    assert!(!taken.unwrap(), "a trace has it");
    store.close().await;
}

async fn calls_are_counted_by_agent_and_session(place: &Place) {
    let store = place.open().await;
    for (session, verdict, at) in [
        (Some("s1"), "allow", 1),
        (Some("s1"), "deny", 5),
        (Some("s1"), "rate_limited", 3),
        (Some("s2"), "allow", 9),
        (None, "allow", 7),
    ] {
        let row = TraceRow {
            verdict,
            ..row("claude", session, "fs.read", after(at))
        };
        write(&*store, row).await;
    }
    // What a limit held back does not count against the limit.
    assert_eq!(store.total_calls("claude").await.unwrap(), 4);
    assert_eq!(store.total_calls("nobody").await.unwrap(), 0);
    let activity = store.activity(10).await.unwrap();
    let seen: Vec<_> = activity
        .iter()
        .map(|a| {
            (
                a.session_id.as_deref(),
                a.first_at,
                a.last_at,
                a.calls,
                a.denied,
            )
        })
        .collect();
    let expected = [
        (Some("s2"), after(9), after(9), 1, 0),
        (None, after(7), after(7), 1, 0),
        (Some("s1"), after(1), after(5), 3, 2),
    ];
    assert_eq!(seen, expected);
    assert_eq!(store.activity(1).await.unwrap().len(), 1);
    store.close().await;
}

async fn one_failing_write_does_not_take_others_along(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let seen = version(&*store).await;
    let before = verify(&*store).await.unwrap();
    // The same id for another call: no database takes it.
    let mut double = question("fs.write", "b", seen);
    double.question.id = asked.question.id.clone();
    let writes = (0..200).map(|n| {
        let (store, double) = (store.clone(), double.clone());
        async move {
            if n % 20 == 10 {
                let failed = store.open_approval(double, START).await;
                return matches!(failed, Err(StoreError::Failed(_)));
            }
            let row = row("claude", None, &format!("fs.{n}"), START);
            store.record(record(row, seen)).await.unwrap() == Recorded::Done
        }
    });
    assert!(
        race(writes)
            .await
            .into_iter()
            .all(|as_expected| as_expected)
    );
    assert_eq!(verify(&*store).await.unwrap(), before + 190);
    assert_eq!(store.total_calls("claude").await.unwrap(), 190);
    let filter = TraceFilter {
        limit: 1000,
        ..TraceFilter::default()
    };
    assert_eq!(store.traces(&filter).await.unwrap().len(), 190);
    store.close().await;
}

async fn a_closed_store_refuses_everything(place: &Place) {
    let store = place.open().await;
    store.ready().await.unwrap();
    let seen = version(&*store).await;
    store.close().await;
    store.close().await;
    let refused = store
        .record(record(row("claude", None, "fs.read", START), seen))
        .await;
    assert!(matches!(refused, Err(StoreError::Closed)), "{refused:?}");
    assert!(matches!(store.ready().await, Err(StoreError::Closed)));
    assert!(matches!(store.control().await, Err(StoreError::Closed)));
}

async fn large_records_survive(place: &Place) {
    let store = place.open().await;
    let mut decision = row("claude", None, "fs.write", START);
    decision.body = format!("{{\"text\":\"{}\"}}", "ä\\u0000€".repeat(300_000));
    write(&*store, decision.clone()).await;
    let trace = store
        .trace(decision.trace_id.as_str())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(trace.decision, decision.body);
    verify(&*store).await.unwrap();
    store.close().await;
}
