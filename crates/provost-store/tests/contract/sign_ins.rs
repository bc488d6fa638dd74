//! Who is signed in to the console, and what one replica does at a time.

use std::time::Duration;

use provost_core::{
    key::KeyHash,
    sign_in::{SignIn, SignInLink},
    time::Time,
};

use crate::{
    contract,
    making::{START, after},
    place::Place,
};

contract!(
    a_sign_in_lasts_over_a_restart_and_no_longer_than_it_is_wanted,
    one_key_cannot_crowd_out_another,
    a_link_is_used_once_and_in_time,
    a_lease_has_one_holder_until_it_is_over,
);

fn sign_in(secret: &str, key: &str, at: Time) -> SignIn {
    SignIn {
        secret: KeyHash::of(secret),
        key: KeyHash::of(key),
        since: at,
        seen_at: at,
    }
}

async fn a_sign_in_lasts_over_a_restart_and_no_longer_than_it_is_wanted(place: &Place) {
    let store = place.open().await;
    let (alice, bob) = (sign_in("a", "alice", START), sign_in("b", "bob", after(1)));
    for new in [&alice, &bob] {
        store.sign_in(new.clone()).await.unwrap();
    }
    store.sign_in_seen(&alice.secret, after(60)).await.unwrap();
    store.sign_in_seen(&alice.secret, after(30)).await.unwrap();
    store.sign_out(&bob.secret).await.unwrap();
    store.sign_in_seen(&bob.secret, after(60)).await.unwrap();
    store.close().await;

    let store = place.open().await;
    let found = store.signed_in(&alice.secret).await.unwrap().unwrap();
    let seen_at = after(60);
    assert_eq!(found, SignIn { seen_at, ..alice });
    assert_eq!(store.signed_in(&bob.secret).await.unwrap(), None);
    let nobody = KeyHash::of("nobody");
    assert_eq!(store.signed_in(&nobody).await.unwrap(), None);

    let later = START.plus(SignIn::LONGEST);
    store.sign_in(sign_in("c", "carol", later)).await.unwrap();
    let gone = store.signed_in(&KeyHash::of("a")).await.unwrap();
    assert_eq!(gone, None, "what is over is forgotten");
}

async fn one_key_cannot_crowd_out_another(place: &Place) {
    let store = place.open().await;
    store.sign_in(sign_in("a", "alice", START)).await.unwrap();
    for at in 0..=SignIn::MOST {
        let new = sign_in(&format!("m{at}"), "mallory", after(1));
        store.sign_in(new).await.unwrap();
        if at == 0 {
            let first = KeyHash::of("m0");
            store.sign_in_seen(&first, after(2)).await.unwrap();
        }
    }
    let mut left = 0;
    for at in 0..=SignIn::MOST {
        let secret = KeyHash::of(&format!("m{at}"));
        left += usize::from(store.signed_in(&secret).await.unwrap().is_some());
    }
    assert_eq!(left, SignIn::MOST);
    for secret in ["a", "m0", &format!("m{}", SignIn::MOST)] {
        let found = store.signed_in(&KeyHash::of(secret)).await.unwrap();
        assert!(found.is_some(), "{secret}");
    }
}

async fn a_link_is_used_once_and_in_time(place: &Place) {
    let store = place.open().await;
    let key = KeyHash::of("alice");
    let link = |secret: &str, until| SignInLink {
        secret: KeyHash::of(secret),
        key,
        until,
    };
    for (secret, until) in [("once", after(600)), ("late", after(10))] {
        let link = link(secret, until);
        store.add_sign_in_link(link, START).await.unwrap();
    }
    store.close().await;

    let store = place.open().await;
    let take = async |secret: &str, now| {
        let taken = store.take_sign_in_link(&KeyHash::of(secret), now).await;
        taken.unwrap()
    };
    assert_eq!(take("late", after(10)).await, None);
    assert_eq!(take("nobody", START).await, None);
    let tries = futures_util::future::join_all((0..8).map(|_| take("once", after(599)))).await;
    let won: Vec<_> = tries.into_iter().flatten().collect();
    assert_eq!(won, [key], "of all who try, one");

    for at in 0..=SignInLink::MOST {
        let until = after(700 + at as u64);
        let link = link(&format!("l{at}"), until);
        store.add_sign_in_link(link, START).await.unwrap();
    }
    assert_eq!(take("l0", START).await, None, "the oldest made room");
    assert_eq!(take("l1", START).await, Some(key));
}

async fn a_lease_has_one_holder_until_it_is_over(place: &Place) {
    let store = place.open().await;
    let lease = async |name: &str, holder: &str, at: u64| {
        let until = after(at).plus(Duration::from_secs(30));
        let taken = store.lease(name, holder, after(at), until).await;
        taken.unwrap()
    };
    assert!(lease("poll", "one", 0).await);
    assert!(!lease("poll", "two", 1).await);
    assert!(lease("other", "two", 1).await);
    assert!(lease("poll", "one", 20).await, "prolonged");
    assert!(!lease("poll", "two", 49).await);
    assert!(lease("poll", "two", 50).await, "over");
    assert!(!lease("poll", "one", 51).await);
    store.release("poll", "one").await.unwrap();
    assert!(!lease("poll", "one", 52).await, "not its to give back");
    store.release("poll", "two").await.unwrap();
    assert!(lease("poll", "one", 53).await);
    let racers = ["a", "b", "c", "d"].map(|holder| lease("race", holder, 60));
    let won = futures_util::future::join_all(racers).await;
    assert_eq!(won.into_iter().filter(|won| *won).count(), 1);
}
