use std::{
    net::{IpAddr, Ipv4Addr},
    time::{Duration, Instant},
};

use super::{room::Limits, *};

fn admission() -> Arc<Admission> {
    Arc::new(Admission::with_room(Room::of(1024, Limits::default())))
}

fn agent(name: &str) -> Who {
    Who::Agent(name.into())
}

/// So many requests of one, each on a connection of its own; the last says why it is not let in.
fn fill(admission: &Arc<Admission>, who: &Who) -> (Vec<Occupied>, Full) {
    let mut occupied = Vec::new();
    loop {
        match Arc::new(Seat::new(admission.clone())).enter(who) {
            Ok(request) => occupied.push(request),
            Err(full) => return (occupied, full),
        }
    }
}

#[test]
fn p10_agents_use_up_their_own_share_and_nobody_elses() {
    let admission = admission();
    let room = admission.room();
    let (first, full) = fill(&admission, &agent("a"));
    assert_eq!(
        (first.len(), full),
        (room.per_agent, Full::Own(room.per_agent))
    );
    let (second, _) = fill(&admission, &agent("b"));
    let (third, full) = fill(&admission, &agent("c"));
    assert_eq!(first.len() + second.len() + third.len(), room.agents);
    assert_eq!(full, Full::Agents(room.agents));
    for who in [Who::Person("alice".into()), Who::Stranger, Who::Anybody] {
        assert!(Arc::new(Seat::new(admission.clone())).enter(&who).is_ok());
    }
    drop(second);
    assert!(
        Arc::new(Seat::new(admission.clone()))
            .enter(&agent("c"))
            .is_ok()
    );
    assert!(Arc::new(Seat::new(admission)).enter(&agent("a")).is_err());
}

#[test]
fn p10_strangers_and_one_person_leave_room_for_others() {
    let admission = admission();
    let room = admission.room();
    let (strangers, full) = fill(&admission, &Who::Stranger);
    assert_eq!(full, Full::Strangers(strangers.len()));
    let (alice, _) = fill(&admission, &Who::Person("alice".into()));
    assert!(strangers.len() + alice.len() <= room.people);
    let bob = Who::Person("bob".into());
    assert!(Arc::new(Seat::new(admission)).enter(&bob).is_ok());
}

/// Together with strangers of all kinds, and however many keys they have.
#[test]
fn p10_supervisors_leave_room_for_people() {
    let admission = admission();
    let room = admission.room();
    let supervisor = |name: &str| Who::Supervisor(name.into());
    let (first, full) = fill(&admission, &supervisor("a"));
    assert_eq!(full, Full::Own(first.len()));
    let (second, _) = fill(&admission, &supervisor("b"));
    let (third, full) = fill(&admission, &supervisor("c"));
    let supervisors = first.len() + second.len() + third.len();
    assert_eq!(full, Full::Supervisors(supervisors));
    let (strangers, _) = fill(&admission, &Who::Stranger);
    let (senders, _) = fill(&admission, &Who::Sender);
    let slow = strangers.len();
    let others = supervisors + strangers.len() + senders.len() + slow;
    let (alice, _) = fill(&admission, &Who::Person("alice".into()));
    assert!(others + alice.len() < room.people);
    drop(first);
    assert!(
        Arc::new(Seat::new(admission))
            .enter(&supervisor("c"))
            .is_ok()
    );
}

#[test]
fn p10_a_connection_that_changes_hands_is_counted_for_who_asks() {
    let admission = admission();
    let seat = Arc::new(Seat::new(admission.clone()));
    for _ in 0..3 {
        for who in [agent("a"), Who::Person("alice".into()), agent("b")] {
            drop(seat.enter(&who).unwrap());
        }
    }
    assert_eq!(admission.agents.load(Relaxed), 0);
    let (all, _) = fill(&admission, &agent("a"));
    assert_eq!(all.len(), admission.room().per_agent);
}

/// The next request may come while a large answer to the last one is on its way.
#[test]
fn p10_requests_that_overlap_on_a_connection_are_each_counted() {
    let admission = admission();
    let seats = Seats::new(admission.clone());
    let taken = seats.take(Ipv4Addr::LOCALHOST.into(), Instant::now());
    let first = taken.seat.enter(&agent("a")).unwrap();
    first.hold(1000).unwrap();
    let second = taken.seat.enter(&agent("b")).unwrap();
    drop(first);
    assert_eq!(admission.agents_bytes.load(Relaxed), 0);
    assert_eq!(admission.agents.load(Relaxed), 1);
    assert!(!seats.make_room(Instant::now() + Duration::from_mins(1)));
    drop(second);
    assert_eq!(admission.agents.load(Relaxed), 0);
    assert!(seats.make_room(Instant::now() + Duration::from_mins(1)));
}

#[test]
fn p10_bodies_are_counted_until_their_request_is_answered() {
    let admission = admission();
    let half = admission.room().held_bytes / 2;
    let enter = |who: &Who| Arc::new(Seat::new(admission.clone())).enter(who).unwrap();
    let (a, b) = (enter(&agent("a")), enter(&agent("a")));
    assert_eq!(a.hold(half), Ok(()));
    assert_eq!(b.hold(1), Err(Full::Bytes(half)), "one agent has half");
    let other = enter(&agent("b"));
    assert_eq!(other.hold(half), Ok(()));
    let third = enter(&agent("c"));
    assert_eq!(third.hold(1), Err(Full::Bytes(2 * half)));
    assert_eq!(enter(&Who::Person("alice".into())).hold(1 << 20), Ok(()));
    drop(a);
    assert_eq!(b.hold(1), Ok(()));
}

#[test]
fn p10_bytes_of_strangers_and_supervisors_leave_room_for_people() {
    let admission = admission();
    let quarter = admission.room().held_bytes / 4;
    let enter = |who: &Who| Arc::new(Seat::new(admission.clone())).enter(who).unwrap();
    let strangers = [enter(&Who::Anybody), enter(&Who::Stranger)];
    assert_eq!(strangers[0].hold(quarter), Ok(()));
    assert_eq!(strangers[1].hold(1), Err(Full::Bytes(quarter)));
    let supervisors = ["a", "b"].map(|name| enter(&Who::Supervisor(name.into())));
    for supervisor in &supervisors {
        assert_eq!(supervisor.hold(quarter / 2), Ok(()));
    }
    let (alice, bob) = (Who::Person("alice".into()), Who::Person("bob".into()));
    let (alice, bob) = (enter(&alice), enter(&bob));
    assert_eq!(alice.hold(quarter / 2), Ok(()));
    assert_eq!(alice.hold(1), Err(Full::Bytes(quarter / 2)));
    assert_eq!(bob.hold(quarter / 2), Ok(()));
    drop(alice);
    assert_eq!(admission.people_bytes.load(Relaxed), quarter / 2);
}

#[test]
fn p10_who_rests_longest_leaves_first_and_who_works_stays() {
    let seats = Seats::new(admission());
    let (from, now) = (
        |last| IpAddr::from(Ipv4Addr::new(10, 0, 0, last)),
        Instant::now(),
    );
    let take = |last| seats.take(from(last), now);
    let busy = take(1);
    let request = busy.seat.enter(&agent("a")).unwrap();
    let (first, second) = (take(2), take(3));
    assert!(!seats.make_room(now), "they have only just come");
    let soon = now + Duration::from_millis(500);
    assert!(seats.make_room(soon));
    assert!(first.seat.leaves() && !second.seat.leaves() && !busy.seat.leaves());
    assert!(seats.make_room(soon));
    assert!(second.seat.leaves());
    assert!(!seats.make_room(soon), "nobody is left who could go");
    drop(request);
    assert!(seats.make_room(soon), "it is between two requests");
    assert!(busy.seat.leaves());
}

/// Nobody counts them, so there may be any number whose answers are not read.
#[test]
fn p10_who_is_not_counted_keeps_no_connection_while_its_answer_is_taken() {
    let seats = Seats::new(admission());
    for (who, can_leave) in [
        (Who::Anybody, true),
        (Who::Challenger, true),
        (Who::SignIn, true),
        (Who::Stranger, false),
        (agent("a"), false),
    ] {
        let taken = seats.take(Ipv4Addr::LOCALHOST.into(), Instant::now());
        let request = taken.seat.enter(&who).unwrap();
        assert!(!seats.make_room(Instant::now()), "{who:?} is not answered");
        request.answered();
        assert_eq!(seats.make_room(Instant::now()), can_leave, "{who:?}");
        assert_eq!(taken.seat.leaves(), can_leave, "{who:?}");
        // The next request on the connection counts for itself.
        let next = taken.seat.enter(&agent("b")).unwrap();
        drop(request);
        assert!(!taken.seat.leaves());
        drop(next);
    }
}

/// Whoever asks for something every moment keeps nobody out; people's connections go last.
#[test]
fn p10_who_rests_for_moments_leaves_when_nobody_else_can() {
    let seats = Seats::new(admission());
    let now = Instant::now();
    let take = |who: &Who| {
        let taken = seats.take(Ipv4Addr::LOCALHOST.into(), now);
        drop(taken.seat.enter(who).unwrap());
        taken
    };
    let alice = take(&Who::Person("alice".into()));
    let supervisor = Who::Supervisor("bot".into());
    let others = [
        Who::Anybody,
        Who::Stranger,
        Who::Sender,
        supervisor,
        agent("a"),
    ];
    let others: Vec<_> = others.iter().map(take).collect();
    for left in 1..=others.len() {
        assert!(seats.make_room(Instant::now()));
        let leaving = others.iter().filter(|taken| taken.seat.leaves());
        assert_eq!(leaving.count(), left);
        assert!(!alice.seat.leaves());
    }
    assert!(seats.make_room(Instant::now()));
    assert!(alice.seat.leaves());
    assert!(!seats.make_room(Instant::now()));
}

#[test]
fn p10_when_connections_run_short_answers_end_them_except_for_people() {
    let admission = Arc::new(Admission::with_room(Room::of(64, Limits::default())));
    let seats = Seats::new(admission.clone());
    let take = || seats.take(Ipv4Addr::LOCALHOST.into(), Instant::now());
    let first = take();
    assert!(!seats.is_full() && !first.seat.ends_with_answer());
    let rest: Vec<_> = (1..admission.room().connections())
        .map(|_| take())
        .collect();
    assert!(seats.is_full());
    for (who, ends) in [
        (Who::Anybody, true),
        (Who::Stranger, true),
        (agent("a"), true),
        (Who::Supervisor("bot".into()), true),
        (Who::Person("alice".into()), false),
        // Alice, perhaps: the next request on this connection tells.
        (Who::Challenger, false),
    ] {
        let request = first.seat.enter(&who).unwrap();
        assert_eq!(first.seat.ends_with_answer(), ends, "{who:?}");
        drop(request);
    }
    drop(rest);
    assert!(!seats.is_full());
    drop(first.seat.enter(&Who::Anybody).unwrap());
    assert!(!first.seat.ends_with_answer());
}

/// Bodies that never come keep nobody from the page that signs in.
#[test]
fn p10_strangers_with_a_body_leave_room_for_those_without() {
    let admission = admission();
    let (senders, full) = fill(&admission, &Who::Sender);
    assert_eq!(full, Full::Strangers(senders.len()));
    let (strangers, _) = fill(&admission, &Who::Stranger);
    assert!(strangers.len() >= 16);
}

/// Whoever signs in with a form that is there is let in, however many forms never come.
#[test]
fn p10_slow_sign_ins_keep_nobody_from_signing_in() {
    let admission = admission();
    let enter = || Arc::new(Seat::new(admission.clone())).enter(&Who::SignIn);
    let mut slow = Vec::new();
    let full = loop {
        let request = enter().unwrap();
        match request.waits_for_body() {
            Ok(()) => slow.push(request),
            Err(full) => break full,
        }
    };
    assert_eq!(full, Full::Strangers(slow.len()));
    assert!(enter().is_ok_and(|request| request.is_of_stranger()));
    for who in [Who::Stranger, Who::Sender] {
        let (others, _) = fill(&admission, &who);
        assert!(others.len() >= 16, "{who:?}");
    }
    drop(slow.pop());
    assert_eq!(enter().unwrap().waits_for_body(), Ok(()));
}

/// An agent whose answers nobody reads is told so before its next call is made.
#[test]
fn p10_an_agent_that_holds_too_much_begins_nothing() {
    let admission = admission();
    let enter = || Arc::new(Seat::new(admission.clone())).enter(&agent("a"));
    let first = enter().unwrap();
    first.hold(admission.room().bytes_to_begin()).unwrap();
    let second = enter().unwrap();
    second.hold(1).unwrap();
    assert!(matches!(enter(), Err(Full::Bytes(_))));
    second.release(1);
    assert!(enter().is_ok());
    drop((first, second));
    assert_eq!(admission.agents_bytes.load(Relaxed), 0);
}

#[test]
fn p10_an_address_has_its_share_of_connections() {
    let limits = Limits {
        connections_per_address: Some(2),
        ..Limits::default()
    };
    let admission = Arc::new(Admission::with_room(Room::of(1024, limits)));
    let seats = Seats::new(admission);
    let address = IpAddr::from(Ipv4Addr::new(10, 0, 0, 1));
    let now = Instant::now();
    let (one, two) = (seats.take(address, now), seats.take(address, now));
    let _first = one.seat.enter(&agent("a")).unwrap();
    let later = now + Duration::from_mins(1);
    let three = seats.take(address, later);
    assert!(two.seat.leaves(), "it rested");
    let _third = three.seat.enter(&agent("a")).unwrap();
    drop(two);
    let mapped = IpAddr::from(Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped());
    let four = seats.take(mapped, later);
    for who in [agent("b"), Who::Stranger, Who::Sender] {
        assert_eq!(four.seat.enter(&who).err(), Some(Full::Address(2)));
    }
    let alice = Who::Person("alice".into());
    let bot = Who::Supervisor("bot".into());
    for who in [alice, bot, Who::Anybody, Who::Challenger] {
        assert!(four.seat.enter(&who).is_ok(), "they may share the address");
    }
    let elsewhere = seats.take(IpAddr::from([10, 0, 0, 2]), later);
    assert!(elsewhere.seat.enter(&agent("b")).is_ok());
    // Everybody on this machine has the same address.
    let take = || seats.take(Ipv4Addr::LOCALHOST.into(), later);
    let local: Vec<_> = (0..9).map(|_| take()).collect();
    for taken in &local {
        assert!(taken.seat.enter(&agent("b")).is_ok());
    }
}
