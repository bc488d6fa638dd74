//! Stops, grants and keys.

use provost_core::{
    control::{Scope, Stop},
    ids::GrantId,
    key::{Key, KeyHash, Role},
};

use crate::{making::*, place::Place};

crate::contract!(
    every_change_counts_once,
    control_outlives_the_process,
    a_stop_is_replaced_and_lifted,
    changes_are_noted_and_told,
);

fn named(name: &str) -> Key {
    Key {
        name: name.into(),
        role: Role::Supervisor,
        tools: vec![glob("fs.*")],
        person: Some("carol".into()),
        hash: KeyHash::of(name),
        created_at: START,
    }
}

fn stop(scope: Scope, by: &str) -> Stop {
    Stop {
        scope,
        by: by.to_owned(),
        reasoning: Some("enough".to_owned()),
        at: START,
    }
}

async fn every_change_counts_once(place: &Place) {
    let store = place.open().await;
    let mut count = version(&*store).await;
    let grant = grant(None);
    let everything = Scope::Everything;
    let mut counted = async |changes: u64, what: &str| {
        count += changes;
        assert_eq!(version(&*store).await, count, "{what}");
    };
    store.add_grant(grant.clone(), note("")).await.unwrap();
    counted(1, "a grant").await;
    assert!(
        store
            .revoke_grant(&grant.id, "human:a", after(1), note(""))
            .await
            .unwrap()
    );
    counted(1, "a revocation").await;
    assert!(
        !store
            .revoke_grant(&grant.id, "human:a", after(2), note(""))
            .await
            .unwrap()
    );
    assert!(
        !store
            .revoke_grant(&GrantId::random(), "human:a", after(2), note(""))
            .await
            .unwrap()
    );
    counted(0, "nothing to revoke").await;
    store
        .add_stop(stop(everything.clone(), "human:a"), note(""))
        .await
        .unwrap();
    counted(1, "a stop").await;
    assert!(
        store
            .remove_stop(&everything, "human:a", note(""))
            .await
            .unwrap()
    );
    counted(1, "a resume").await;
    assert!(
        !store
            .remove_stop(&everything, "human:a", note(""))
            .await
            .unwrap()
    );
    counted(0, "nothing to resume").await;
    assert!(store.add_key(named("bot"), note("")).await.unwrap());
    counted(1, "a key").await;
    assert!(!store.add_key(named("bot"), note("")).await.unwrap());
    counted(0, "a name that is taken").await;
    assert!(store.remove_key("bot", note("")).await.unwrap());
    counted(1, "a key removed").await;
    assert!(!store.remove_key("bot", note("")).await.unwrap());
    counted(0, "no such key").await;
    write(&*store, row("claude", None, "fs.read", START)).await;
    approve(&*store, &ask(&*store, "fs.write", "a").await).await;
    counted(0, "decisions").await;
    store.close().await;
}

async fn control_outlives_the_process(place: &Place) {
    let store = place.open().await;
    let (kept, revoked) = (grant(Some(3)), grant(None));
    store.add_grant(kept.clone(), note("")).await.unwrap();
    store.add_grant(revoked.clone(), note("")).await.unwrap();
    store
        .revoke_grant(&revoked.id, "human:a", after(1), note(""))
        .await
        .unwrap();
    let halt = stop(Scope::Agent("claude".into()), "human:a");
    store.add_stop(halt.clone(), note("")).await.unwrap();
    store.add_key(named("bot"), note("")).await.unwrap();
    let count = version(&*store).await;
    store.close().await;

    let store = place.open().await;
    let control = store.control().await.unwrap();
    assert_eq!(control.version, count);
    assert_eq!(
        control.grants,
        [kept],
        "a revoked grant is no longer control"
    );
    assert_eq!(control.stops, [halt]);
    assert_eq!(control.keys, [named("bot")]);
    assert!(control.keys[0].hash.same(&KeyHash::of("bot")));
    assert_eq!(control.keys[0].person.as_deref(), Some("carol"));
    store.close().await;
}

async fn a_stop_is_replaced_and_lifted(place: &Place) {
    let store = place.open().await;
    let session = Scope::Session("s1".into());
    store
        .add_stop(stop(session.clone(), "human:a"), note(""))
        .await
        .unwrap();
    store
        .add_stop(stop(session.clone(), "human:b"), note(""))
        .await
        .unwrap();
    store
        .add_stop(stop(Scope::Everything, "human:c"), note(""))
        .await
        .unwrap();
    let stops = store.control().await.unwrap().stops;
    let by: Vec<_> = stops
        .iter()
        .map(|stop| (stop.scope.to_string(), stop.by.as_str()))
        .collect();
    assert_eq!(
        by,
        [
            ("everything".to_owned(), "human:c"),
            ("session:s1".to_owned(), "human:b")
        ]
    );
    assert!(
        store
            .remove_stop(&session, "human:a", note(""))
            .await
            .unwrap()
    );
    assert_eq!(store.control().await.unwrap().stops.len(), 1);
    store.close().await;
}

async fn changes_are_noted_and_told(place: &Place) {
    let store = place.open().await;
    let before = verify(&*store).await.unwrap();
    let grant = grant(None);
    store
        .add_grant(grant.clone(), note("granted"))
        .await
        .unwrap();
    store
        .revoke_grant(&grant.id, "human:b", after(1), note("revoked"))
        .await
        .unwrap();
    store
        .add_stop(stop(Scope::Everything, "human:a"), note("stopped"))
        .await
        .unwrap();
    store
        .remove_stop(&Scope::Everything, "human:a", note("resumed"))
        .await
        .unwrap();
    store.add_key(named("bot"), note("added")).await.unwrap();
    store
        .add_key(named("bot"), note("not added"))
        .await
        .unwrap();
    store.remove_key("bot", note("removed")).await.unwrap();
    assert_eq!(verify(&*store).await.unwrap(), before + 6);
    let events = store.events(0, 100).await.unwrap();
    let names: Vec<_> = events.iter().map(|event| event.event.name()).collect();
    let expected = [
        "grant.created",
        "grant.revoked",
        "stop",
        "resume",
        "keys.changed",
        "keys.changed",
    ];
    assert_eq!(names, expected);
    assert!(events.iter().all(|event| event.event.changes_control()));
    store.close().await;
}
