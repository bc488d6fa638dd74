use serde_json::json;

use super::*;
use crate::{
    approval::{Kind, Question},
    call::{Call, Executor},
    door::Door,
    glob::Glob,
    ids::{ApprovalId, TraceId},
    key::Role,
    policy::Verdict,
    time::Time,
};

/// A Monday, 12:00 UTC.
const NOON: Time = Time::from_millis(1_731_931_200_000);

fn minutes(count: u64) -> Duration {
    Duration::from_mins(count)
}

fn person(name: &str, chat: i64) -> Person {
    Person {
        name: name.into(),
        role: Role::Human,
        addresses: vec![Address {
            channel: "telegram".into(),
            address: json!({"tg_chat_id": chat}),
        }],
        hours: None,
    }
}

fn question(tool: &str, risky: bool) -> Question {
    let call = Call {
        agent: "claude".into(),
        session: None,
        tool: tool.into(),
        params: serde_json::Map::new(),
    };
    Question {
        id: ApprovalId::random(),
        kind: Kind::Call,
        agent_id: call.agent.clone(),
        session_id: None,
        tool: call.tool.clone(),
        digest: call.digest(),
        params: call.params,
        policy_rule: "r".into(),
        policy: Verdict::HumanApproval,
        created_at: NOON,
        injection_risk: risky,
        risk_reasons: Vec::new(),
        summary: None,
        trace_id: TraceId::at(NOON),
        door: Door::Http,
        executor: Executor::Gateway,
        works_in: None,
        request: None,
        needed: 1,
        denied_before: None,
        hides_secret: false,
    }
}

fn route(tools: &[&str], risky: bool) -> Route {
    Route {
        name: "money".into(),
        tools: tools.iter().map(|glob| Glob::new(glob).unwrap()).collect(),
        risky,
        needed: 2,
        steps: vec![
            Step {
                after: Duration::ZERO,
                people: vec!["alice".into()],
                remind: Some(minutes(4)),
            },
            Step {
                after: minutes(10),
                people: vec!["bob".into(), "carol".into()],
                remind: None,
            },
        ],
        timeout: Some(minutes(30)),
        fallback: Some(Fallback::Deny),
    }
}

fn told(routed: &Routed) -> Vec<(String, Purpose, u64)> {
    let who = |plan: &Plan| match &plan.person {
        Some(person) => person.to_string(),
        None => plan.channel.to_string(),
    };
    let plans = routed.plans.iter();
    plans
        .map(|plan| (who(plan), plan.purpose, plan.after.as_secs() / 60))
        .collect()
}

#[test]
fn a_route_asks_reminds_passes_on_and_decides_in_the_end() {
    let directory = Directory {
        people: vec![person("alice", 1), person("bob", 2), person("carol", 3)],
        routes: vec![route(&["pay.*"], false)],
        watchers: Vec::new(),
    };
    let routed = directory.route(&question("pay.send", false), minutes(5), NOON);
    assert_eq!(routed.needed, 2);
    assert_eq!(routed.timeout, minutes(31));
    let expected = [
        ("alice", Purpose::Ask, 0),
        ("alice", Purpose::Remind, 4),
        ("alice", Purpose::Remind, 8),
        ("bob", Purpose::Ask, 10),
        ("carol", Purpose::Ask, 10),
        (FALLBACK, Purpose::Ask, 30),
    ];
    let expected = expected.map(|(who, purpose, at)| (who.to_owned(), purpose, at));
    assert_eq!(told(&routed), expected);

    let elsewhere = directory.route(&question("fs.read", false), minutes(5), NOON);
    assert_eq!(elsewhere.plans.len(), 3, "everybody is asked");
    assert_eq!((elsewhere.needed, elsewhere.timeout), (1, minutes(5)));
}

#[test]
fn p14_who_has_no_channel_is_asked_in_the_console() {
    let mut bob = person("bob", 2);
    bob.addresses.clear();
    let directory = Directory {
        people: vec![person("alice", 1), bob, person("carol", 3)],
        routes: vec![route(&["pay.*"], false)],
        watchers: Vec::new(),
    };
    let routed = directory.route(&question("pay.send", false), minutes(5), NOON);
    let plans = routed.plans.iter();
    let of_bob: Vec<_> = plans
        .filter(|plan| plan.person.as_deref() == Some("bob"))
        .map(|plan| (&*plan.channel, plan.purpose, plan.after))
        .collect();
    assert_eq!(of_bob, [(CONSOLE, Purpose::Ask, minutes(10))]);
}

#[test]
fn a_route_for_risky_questions_leaves_the_others() {
    let directory = Directory {
        people: vec![person("alice", 1)],
        routes: vec![route(&[], true)],
        watchers: Vec::new(),
    };
    let needed = |risky| {
        let question = question("fs.read", risky);
        directory.route(&question, minutes(5), NOON).needed
    };
    assert_eq!((needed(true), needed(false)), (2, 1));
}

#[test]
fn p09_a_mask_is_a_risk_for_routes_as_well() {
    let directory = Directory {
        people: vec![person("alice", 1)],
        routes: vec![route(&[], true)],
        watchers: Vec::new(),
    };
    let mut question = question("x.y", false);
    question.hides_secret = true;
    assert_eq!(directory.route(&question, minutes(5), NOON).needed, 2);
}

#[test]
fn nobody_is_asked_outside_their_hours() {
    for (hours, expected) in [
        ("Mon-Fri 08:00-18:00", 0),
        ("Mon-Fri 08:00-18:00 UTC", 0),
        ("Mon 13:00-14:00", 60),
        ("Mon 13:00-14:00 +01:00", 0),
        ("Tue,Thu 00:00-24:00", 12 * 60),
        ("Mon 08:00-11:00", (7 * 24 - 4) * 60),
        ("Sat-Sun 10:00-11:00 +00:00", (5 * 24 - 2) * 60),
        ("Fri-Mon 11:00-12:30", 0),
        ("Sun 22:00-13:00", 0),
        ("Sun 22:00-12:00", (6 * 24 + 10) * 60),
        ("Mon 22:00-13:00", 10 * 60),
        ("Sat 22:00-13:00", (5 * 24 + 10) * 60),
        ("Mon 13:00-00:00", 60),
        ("Sun-Thu 20:00-04:00 +09:00", 0),
        ("Mon-Fri 22:00-06:00 +12:00", 0),
        ("Tue-Fri 22:00-06:00 +12:00", 22 * 60),
    ] {
        let mut alice = person("alice", 1);
        alice.hours = Some(hours.parse().unwrap());
        let directory = Directory {
            people: vec![alice],
            ..Directory::default()
        };
        let routed = directory.route(&question("t", false), minutes(5), NOON);
        assert_eq!(routed.plans[0].after, minutes(expected), "{hours}");
    }
    for bad in [
        "",
        "Mon",
        "Mon 8-9",
        "Mon 09:00-09:00",
        "Foo 08:00-09:00",
        "Mon 08:00-25:00",
        "Mon 08:00-09:00 Mars/Base",
    ] {
        assert!(bad.parse::<Hours>().is_err(), "{bad}");
    }
}

#[test]
fn people_are_known_by_their_addresses() {
    let mut alice = person("alice", 42);
    alice.addresses.push(Address {
        channel: "email".into(),
        address: json!({"email_to": "Alice@Example.org"}),
    });
    let directory = Directory {
        people: vec![alice],
        ..Directory::default()
    };
    for (channel, address, known) in [
        ("telegram", json!({"tg_user_id": 42}), true),
        ("telegram", json!({"tg_chat_id": "42"}), true),
        ("telegram", json!({"tg_chat_id": 4}), false),
        ("telegram", json!({}), false),
        ("email", json!({"email_to": "alice@example.org"}), true),
        ("email", json!({"email_to": "mallory@example.org"}), false),
        ("telegram", json!({"email_to": "alice@example.org"}), false),
    ] {
        let found = directory.person(channel, &address).is_some();
        assert_eq!(found, known, "{channel} {address}");
    }
}

#[test]
fn nobody_is_disturbed_outside_their_hours() {
    let mut alice = person("alice", 42);
    alice.hours = Some("Mon-Fri 08:00-18:00".parse().unwrap());
    let directory = Directory {
        people: vec![alice, person("bob", 43)],
        ..Directory::default()
    };
    let evening = NOON.plus(minutes(8 * 60));
    let morning = NOON.plus(minutes(20 * 60));
    assert_eq!(directory.quiet_until("alice", NOON), None);
    assert_eq!(directory.quiet_until("alice", evening), Some(morning));
    assert_eq!(directory.quiet_until("alice", morning), None);
    assert_eq!(directory.quiet_until("bob", evening), None);
    assert_eq!(directory.quiet_until("carol", evening), None);
}

#[test]
fn offsets_are_hours_and_minutes() {
    for (zone, fits) in [
        ("+02:00", true),
        ("-9:30", true),
        ("+99:00", false),
        ("+1:99", false),
        ("+-1:00", false),
        ("++1:00", false),
        ("+999999999:00", false),
        ("+01:00:00", false),
    ] {
        let hours = format!("Mon 08:00-18:00 {zone}").parse::<Hours>();
        assert_eq!(hours.is_ok(), fits, "{zone} {hours:?}");
    }
}

proptest::proptest! {
    /// As one would find out with a calendar, minute by minute.
    #[test]
    fn hours_begin_when_a_calendar_says_so(
        days in proptest::collection::btree_set(0..7_i64, 1..4),
        from in 0..24 * 60_i64,
        to in 0..24 * 60_i64,
        minute in 0..7 * 24 * 60_i64,
    ) {
        const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        const DAY: i64 = 24 * 60;
        proptest::prop_assume!(from != to);
        let names: Vec<_> = days.iter().map(|day| NAMES[*day as usize]).collect();
        let clock = |minute: i64| format!("{:02}:{:02}", minute / 60, minute % 60);
        let text = format!("{} {}-{}", names.join(","), clock(from), clock(to));
        let hours: Hours = text.parse().unwrap();
        let length = (to - from).rem_euclid(DAY);
        let open = |minute: i64| days.iter().any(|day| {
            (minute - day * DAY - from).rem_euclid(7 * DAY) < length
        });
        let expected = (0..=7 * DAY).find(|wait| open(minute + wait)).unwrap();
        let monday = NOON.plus(minutes(12 * 60 + 6 * DAY as u64));
        let now = monday.plus(minutes(minute as u64));
        proptest::prop_assert_eq!(hours.until_open(now), minutes(expected as u64), "{} at {}", text, minute);
    }
}
