//! Approvals: decided once, taken once.

use provost_core::{
    approval::{Approval, Status},
    call::Executor,
    event::Event,
    ids::ApprovalId,
    ports::{Opened, Resolved, Taken},
};

use crate::{making::*, place::Place};

crate::contract!(
    of_all_deciders_one_wins,
    supervisors_decide_only_what_is_theirs,
    an_expired_question_cannot_be_decided,
    a_grant_that_answers_is_used,
    a_decision_is_taken_once,
    a_permit_runs_out,
    a_yes_is_not_taken_under_old_control,
    taking_with_a_key_keeps_it,
    p03_one_question_is_open_of_each_folder_and_executor,
    p05_a_yes_that_nobody_took_is_found_by_its_digest,
);

async fn of_all_deciders_one_wins(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let before = verify(&*store).await.unwrap();
    let deciders = (0..40).map(|n| {
        let status = if n % 2 == 0 {
            Status::Approved
        } else {
            Status::Denied
        };
        let resolve = answer(&asked, status, &format!("human:{n}"), after(1));
        let store = store.clone();
        async move { store.resolve(resolve).await.unwrap() }
    });
    let mut winner = None;
    let mut losers = Vec::new();
    for resolved in race(deciders).await {
        match resolved {
            Resolved::Won(approval) => assert!(winner.replace(approval).is_none(), "two won"),
            Resolved::Lost(approval) => losers.push(approval),
            other => panic!("{other:?}"),
        }
    }
    let winner = winner.expect("one wins");
    assert!(
        losers.iter().all(|lost| *lost == winner),
        "the losers are told how it was decided"
    );
    assert_eq!(losers.len(), 39);
    let id = asked.question.id.as_str();
    assert_eq!(store.approval(id).await.unwrap().as_ref(), Some(&*winner));
    assert_eq!(
        verify(&*store).await.unwrap(),
        before + 1,
        "one record of one decision"
    );
    let events = store.events(0, 100).await.unwrap();
    let resolved = |event: &&_| matches!(event, Event::ApprovalResolved(_));
    assert_eq!(
        events
            .iter()
            .map(|event| &event.event)
            .filter(resolved)
            .count(),
        1
    );
    store.close().await;
}

async fn supervisors_decide_only_what_is_theirs(place: &Place) {
    let store = place.open().await;
    for (seconds, theirs) in [(59, true), (60, false)] {
        let asked = ask(&*store, "fs.write", &seconds.to_string()).await;
        let mut resolve = answer(&asked, Status::Approved, "supervisor:bot", after(seconds));
        resolve.only_supervisor_level = true;
        let resolved = store.resolve(resolve).await.unwrap();
        assert_eq!(matches!(resolved, Resolved::Won(_)), theirs, "{resolved:?}");
        assert_eq!(
            matches!(resolved, Resolved::NotYours(_)),
            !theirs,
            "{resolved:?}"
        );
    }
    let mut nowhere = answer(
        &ask(&*store, "x", "y").await,
        Status::Denied,
        "human:a",
        START,
    );
    nowhere.id = ApprovalId::random();
    assert!(matches!(
        store.resolve(nowhere).await.unwrap(),
        Resolved::NotFound
    ));
    store.close().await;
}

async fn an_expired_question_cannot_be_decided(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let late = answer(&asked, Status::Approved, "human:alice", after(300));
    match store.resolve(late).await.unwrap() {
        Resolved::Lost(approval) => {
            assert_eq!(approval.state.status_at(after(300)), Status::Expired);
            assert_eq!(approval.state.decision, None);
        }
        other => panic!("{other:?}"),
    }
    store.close().await;
}

async fn a_grant_that_answers_is_used(place: &Place) {
    let store = place.open().await;
    let grant = grant(Some(1));
    store
        .add_grant(grant.clone(), note("granted"))
        .await
        .unwrap();
    let answered = |by: &str, asked: &_| {
        let mut resolve = answer(asked, Status::Approved, by, after(1));
        resolve.grant = Some(grant.id.clone());
        resolve
    };
    let (first, second) = (
        ask(&*store, "fs.write", "a").await,
        ask(&*store, "fs.write", "b").await,
    );
    let resolved = store.resolve(answered("grant:1", &first)).await.unwrap();
    assert!(matches!(resolved, Resolved::Won(_)), "{resolved:?}");
    let resolved = store.resolve(answered("grant:1", &second)).await.unwrap();
    assert!(matches!(resolved, Resolved::GrantSpent), "{resolved:?}");
    let resolved = store.resolve(answered("grant:1", &first)).await.unwrap();
    assert!(matches!(resolved, Resolved::Lost(_)), "{resolved:?}");
    assert_eq!(store.control().await.unwrap().grants[0].uses, 1);
    let second = store
        .approval(second.question.id.as_str())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(second.state.status, Status::Pending);
    store.close().await;
}

async fn a_decision_is_taken_once(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    let seen = version(&*store).await;
    let id = asked.question.id.clone();
    assert!(
        matches!(
            store.take(&id, after(1), seen, None).await.unwrap(),
            Taken::No
        ),
        "pending"
    );
    approve(&*store, &asked).await;
    let takers = (0..30).map(|_| {
        let (store, id) = (store.clone(), id.clone());
        async move { store.take(&id, after(2), seen, None).await.unwrap() }
    });
    let taken = race(takers).await;
    assert_eq!(
        taken
            .iter()
            .filter(|taken| matches!(taken, Taken::Yes))
            .count(),
        1
    );
    assert_eq!(
        taken
            .iter()
            .filter(|taken| matches!(taken, Taken::No))
            .count(),
        29
    );
    let answered = store
        .approval(id.as_str())
        .await
        .unwrap()
        .unwrap()
        .state
        .answered_at;
    assert_eq!(answered, Some(after(2)));
    store.close().await;
}

async fn a_permit_runs_out(place: &Place) {
    let store = place.open().await;
    let asked = ask(&*store, "fs.write", "a").await;
    approve(&*store, &asked).await;
    let seen = version(&*store).await;
    for (seconds, yes) in [(600, false), (599, true)] {
        let taken = store
            .take(&asked.question.id, after(seconds), seen, None)
            .await
            .unwrap();
        assert_eq!(matches!(taken, Taken::Yes), yes, "{seconds}: {taken:?}");
    }
    store.close().await;
}

async fn a_yes_is_not_taken_under_old_control(place: &Place) {
    let store = place.open().await;
    let (yes, no) = (
        ask(&*store, "fs.write", "a").await,
        ask(&*store, "fs.write", "b").await,
    );
    approve(&*store, &yes).await;
    store
        .resolve(answer(&no, Status::Denied, "human:alice", after(1)))
        .await
        .unwrap();
    let seen = version(&*store).await;
    store.add_grant(grant(None), note("granted")).await.unwrap();
    let taken = store
        .take(&yes.question.id, after(2), seen, None)
        .await
        .unwrap();
    assert!(matches!(taken, Taken::Stale), "{taken:?}");
    let taken = store
        .take(&no.question.id, after(2), seen, None)
        .await
        .unwrap();
    assert!(
        matches!(taken, Taken::Yes),
        "a no holds whatever changed: {taken:?}"
    );
    let taken = store
        .take(&yes.question.id, after(2), seen + 1, None)
        .await
        .unwrap();
    assert!(matches!(taken, Taken::Yes), "{taken:?}");
    store.close().await;
}

async fn taking_with_a_key_keeps_it(place: &Place) {
    let store = place.open().await;
    let (first, second) = (
        ask(&*store, "fs.write", "a").await,
        ask(&*store, "fs.write", "b").await,
    );
    approve(&*store, &first).await;
    approve(&*store, &second).await;
    let seen = version(&*store).await;
    let taken = store
        .take(&first.question.id, after(2), seen, Some(key("claude", "k")))
        .await
        .unwrap();
    assert!(matches!(taken, Taken::Yes), "{taken:?}");
    let kept = store
        .keyed_answer("claude", "k")
        .await
        .unwrap()
        .expect("it is kept");
    assert_eq!(kept.trace_id, first.question.trace_id);
    let taken = store
        .take(
            &second.question.id,
            after(2),
            seen,
            Some(key("claude", "k")),
        )
        .await
        .unwrap();
    assert!(matches!(taken, Taken::KeyTaken), "{taken:?}");
    let taken = store
        .take(&second.question.id, after(2), seen, None)
        .await
        .unwrap();
    assert!(
        matches!(taken, Taken::Yes),
        "the refused attempt left nothing: {taken:?}"
    );
    store.close().await;
}

async fn p03_one_question_is_open_of_each_folder_and_executor(place: &Place) {
    let store = place.open().await;
    let seen = version(&*store).await;
    let open = async |folder: Option<&str>, executor| {
        let mut new = question("fs.write", "a", seen);
        new.question.works_in = folder.map(Into::into);
        new.question.executor = executor;
        match store.open_approval(new, after(1)).await.unwrap() {
            Opened::Approval(approval) => *approval,
            other => panic!("{other:?}"),
        }
    };
    let places = [
        (None, Executor::Caller),
        (None, Executor::Gateway),
        (Some("/srv/a"), Executor::Caller),
        (Some("/srv/b"), Executor::Caller),
    ];
    let mut asked = Vec::new();
    for (folder, executor) in places {
        let first = open(folder, executor).await;
        let again = open(folder, executor).await;
        assert_eq!(first.question.id, again.question.id, "{folder:?}");
        assert_eq!(again.state.asked, 2);
        asked.push(first);
    }
    let yes = answer(&asked[2], Status::Approved, "human:alice", after(1));
    store.resolve(yes).await.unwrap();
    for one in &asked {
        let found = store.untaken(one.question.bound(), after(2)).await.unwrap();
        let found = found.map(|approval| approval.question.id);
        let own = one.question.id == asked[2].question.id;
        assert_eq!(found, own.then(|| one.question.id.clone()));
    }
    let ids: std::collections::HashSet<_> = asked.iter().map(|one| &one.question.id).collect();
    assert_eq!(ids.len(), places.len());
    store.close().await;
}

async fn p05_a_yes_that_nobody_took_is_found_by_its_digest(place: &Place) {
    let store = place.open().await;
    let (yes, no, open) = (
        ask(&*store, "fs.write", "a").await,
        ask(&*store, "fs.write", "b").await,
        ask(&*store, "fs.write", "c").await,
    );
    let mut remembered = answer(&yes, Status::Approved, "human:alice", after(1));
    let made = grant(None);
    remembered.decision.made_grant = Some(made.id.clone());
    remembered.new_grant = Some(Box::new((made, note("granted"))));
    store.resolve(remembered).await.unwrap();
    let denied = answer(&no, Status::Denied, "human:alice", after(1));
    store.resolve(denied).await.unwrap();
    let untaken = async |asked: &Approval, seconds| {
        let found = store.untaken(asked.question.bound(), after(seconds)).await;
        found.unwrap().map(|approval| approval.question.id)
    };
    assert_eq!(untaken(&yes, 2).await, Some(yes.question.id.clone()));
    assert_eq!(untaken(&yes, 600).await, None, "its permit has run out");
    assert_eq!(untaken(&no, 2).await, None);
    assert_eq!(untaken(&open, 2).await, None);
    let seen = version(&*store).await;
    let taken = store.take(&yes.question.id, after(2), seen, None).await;
    assert!(matches!(taken, Ok(Taken::Yes)), "{taken:?}");
    assert_eq!(untaken(&yes, 2).await, None, "it was taken");
    store.close().await;
}
