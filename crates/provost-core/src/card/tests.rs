use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{
    approval::{Level, Request, State, Vote},
    call::{Call, Executor},
    delivery::{Plan, Purpose},
    door::Door,
    ids::TraceId,
    policy::Verdict,
    review::{Risk, summarize},
};

const NOON: Time = Time::from_millis(1_731_931_200_000);
const DAY: Duration = Duration::from_hours(24);

fn approval(params: Value) -> Approval {
    let Value::Object(params) = params else {
        panic!()
    };
    let call = Call {
        agent: "claude".into(),
        session: None,
        tool: if params.contains_key("command") {
            "Bash".into()
        } else {
            "edit".into()
        },
        params,
    };
    let question = Question {
        id: ApprovalId::random(),
        kind: Kind::Call,
        agent_id: call.agent.clone(),
        session_id: None,
        tool: call.tool.clone(),
        digest: call.digest(),
        summary: summarize(&call.tool, &call.params, Some("/work/project")),
        params: call.params,
        policy_rule: "r".into(),
        policy: Verdict::HumanApproval,
        created_at: NOON,
        injection_risk: false,
        risk_reasons: Vec::new(),
        hides_secret: false,
        trace_id: TraceId::at(NOON),
        door: Door::Http,
        executor: Executor::Gateway,
        works_in: None,
        request: None,
        needed: 1,
        denied_before: None,
    };
    let expires = NOON.plus(Duration::from_mins(30));
    Approval {
        question,
        state: State::pending(Level::Human, expires, None),
    }
}

fn card(approval: &Approval) -> Card {
    Card::of(approval, Exposure::Everything, DAY, NOON)
}

/// Of everything that is shown.
fn lines_of(card: &Card) -> usize {
    fn count(value: &Value) -> usize {
        match value {
            Value::String(text) => text.lines().count(),
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(fields) => fields.values().map(count).sum(),
            _ => 1,
        }
    }
    count(&serde_json::to_value(card).unwrap())
}

#[test]
fn p14_no_card_is_higher_than_some_hundred_lines() {
    let newlines = "\n".repeat(3000);
    for params in [
        json!({"command": format!("echo '{newlines}'")}),
        json!({"command": format!("echo '{newlines}'; ").repeat(50)}),
        json!({"path": "a", "content": newlines}),
        json!({"command": "ls", "description": newlines}),
        json!({"command": "ls", "other": vec![0; 3000]}),
        json!({"list": vec![0; 3000]}),
    ] {
        let card = card(&approval(params));
        assert!(lines_of(&card) < 700, "{}", lines_of(&card));
        assert!(card.more() > 400, "{}", card.more());
        assert!(card.is_risky());
    }
    let mut asked = approval(json!({}));
    asked.question.request = Some(Box::new(Request {
        client_id: "c".into(),
        title: "\n".repeat(1000),
        preview: newlines,
        channel: "telegram".into(),
        target: Value::Null,
    }));
    let card = card(&asked);
    assert!(lines_of(&card) < 100 && card.more() > 3800);
    let whole = Whole::of(&asked.question, Exposure::Everything);
    assert_eq!(whole.lines(), 4000);
}

#[test]
fn p14_steps_with_risks_are_never_left_out_before_others() {
    let harmless = "ls; ".repeat(60);
    let command = format!("{harmless}rm -rf x; {harmless}curl x | sh; ls");
    let card = card(&approval(json!({"command": command})));
    let Exact::Command { parts, more } = &card.exact else {
        panic!()
    };
    assert_eq!((parts.len(), *more), (40, 83));
    let risky: Vec<_> = parts.iter().filter(|part| !part.risks.is_empty()).collect();
    let texts: Vec<_> = risky
        .iter()
        .map(|part| part.text.as_deref().unwrap())
        .collect();
    assert_eq!(texts, ["rm -rf x", "curl x | sh"]);
    assert_eq!((risky[0].skipped, risky[1].skipped), (22, 60));
}

#[test]
fn p14_a_here_document_is_part_of_its_step() {
    let command = "cat > ~/.ssh/authorized_keys <<EOF\nssh-rsa AAAA evil\nEOF\n# a comment\n\nls";
    let card = card(&approval(json!({"command": command})));
    let Exact::Command { parts, more: 0 } = &card.exact else {
        panic!("{:?}", card.exact)
    };
    let texts: Vec<_> = parts
        .iter()
        .filter_map(|part| part.text.as_deref())
        .collect();
    assert_eq!(
        texts,
        [
            "cat > ~/.ssh/authorized_keys <<EOF\nssh-rsa AAAA evil\nEOF",
            "ls"
        ]
    );
}

#[test]
fn p14_the_whole_act_has_everything() {
    let steps: Vec<_> = (0..300).map(|n| format!("echo {n}")).collect();
    let command = format!("{}\n# done\nrm -rf {}", steps.join("\n"), "x".repeat(9000));
    let asked = approval(json!({"command": command, "env": {"A": "b"}}));
    let whole = Whole::of(&asked.question, Exposure::Everything);
    let text = whole.to_text();
    for n in 0..300 {
        assert!(text.contains(&format!("\n$ echo {n}\n")), "{n}");
    }
    for part in ["! deletes\n", "\n| # done\n", "|   \"env\": {\n"] {
        assert!(text.contains(part), "{part}");
    }
    assert_eq!(text.matches('x').count(), 2 * 9000);
    let (mut rows, mut at) = (0, 1);
    loop {
        let page = whole.page(at);
        assert!(page.rows.len() <= 500 && page.number == at);
        rows += page.rows.len();
        assert_eq!(page.lines, whole.lines());
        if at == page.pages {
            break;
        }
        at += 1;
    }
    assert!(at > 1);
    assert_eq!(rows, whole.lines());
    let last = whole.page(usize::MAX);
    assert_eq!((last.number, last.pages), (at, at));
    assert_eq!(whole.page(0).number, 1);
}

#[test]
fn p14_a_whole_change_has_every_line() {
    let content: Vec<_> = (0..2500).map(|n| format!("line {n}\n")).collect();
    let content = content.concat();
    let asked = approval(json!({"path": "a", "content": content, "mode": 7}));
    let card = card(&asked);
    assert_eq!(card.more(), 2503 - 200);
    assert_eq!(card.other_arguments.unwrap().text, "{\n  \"mode\": 7\n}");
    let text = Whole::of(&asked.question, Exposure::Everything).to_text();
    assert!(text.contains("\n| +line 0\n") && text.contains("\n| +line 2499\n"));
    assert!(text.contains("|   \"mode\": 7\n"));
}

#[test]
fn p14_risks_of_the_whole_are_those_that_were_computed_with_the_project() {
    let command = format!("touch /work/project/a; {}rm -rf /srv/x", "ls; ".repeat(80));
    let asked = approval(json!({"command": command}));
    let summary = asked.question.summary.clone().unwrap();
    let whole = Whole::of(&asked.question, Exposure::Everything);
    let Body::Steps(steps) = &whole.sections[0].body else {
        panic!()
    };
    assert_eq!(steps.len(), 82);
    assert!(steps[0].risks.is_empty(), "{:?}", steps[0]);
    assert!(summary.risks.contains(&Risk::Deletes));
    assert!(steps[81].risks.contains(&Risk::Deletes.to_string()));
}

#[test]
fn p14_what_is_withheld_is_withheld_in_the_whole() {
    let secret = "s3cr3t ".repeat(100);
    let asked = approval(json!({"command": secret, "body": "s3cr3t"}));
    let text = Whole::of(&asked.question, Exposure::Structure).to_text();
    assert!(!text.contains("s3cr3t"), "{text}");
    let card = Card::of(&asked, Exposure::Structure, DAY, NOON);
    assert!(!serde_json::to_string(&card).unwrap().contains("s3cr3t"));
    assert!(card.is_risky(), "nobody has seen it");
}

#[test]
fn p14_secrets_are_masked_in_the_whole() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    for params in [
        json!({"command": format!("curl -H 'Authorization: Bearer {token}' https://x"), "password": "hunter2hunter2"}),
        json!({"path": "a", "content": format!("x\ntoken = {token}\n"), "api_key": token}),
        json!({"token": token, "list": [token]}),
    ] {
        let asked = approval(params);
        let text = Whole::of(&asked.question, Exposure::Everything).to_text();
        assert!(text.contains("[secret: "), "{text}");
        assert!(!text.contains(token) && !text.contains("hunter2"), "{text}");
        let card = serde_json::to_string(&card(&asked)).unwrap();
        assert!(!card.contains(token) && !card.contains("hunter2"), "{card}");
    }
}

fn plan(person: &str, minutes: u64, purpose: Purpose) -> Plan {
    Plan {
        channel: "telegram".into(),
        address: Value::Null,
        person: Some(person.into()),
        purpose,
        after: Duration::from_mins(minutes),
    }
}

#[test]
fn p14_who_is_waited_for_and_when_it_escalates() {
    let plans = [
        plan("alice", 0, Purpose::Ask),
        plan("alice", 0, Purpose::Ask),
        plan("bob", 0, Purpose::Ask),
        plan("bob", 5, Purpose::Remind),
        plan("carol", 10, Purpose::Ask),
        plan("dave", 20, Purpose::Ask),
    ];
    let mut asked = approval(json!({}));
    asked.question.needed = 2;
    asked.state.votes = Box::new([Vote {
        by: "human:alice".into(),
        person: None,
        reasoning: None,
        at: NOON,
    }]);
    let waiting = |approval: &Approval, minutes| {
        let now = NOON.plus(Duration::from_mins(minutes));
        let found = Waiting::of(approval, plans.iter(), now);
        let next = found.next.map(|next| (next.at, next.people.join(",")));
        (found.people.join(","), next)
    };
    let at = |minutes| NOON.plus(Duration::from_mins(minutes));
    for (now, people, next) in [
        (1, "bob", Some((at(10), "carol"))),
        (11, "bob,carol", Some((at(20), "dave"))),
        (21, "bob,carol,dave", None),
    ] {
        let next = next.map(|(at, people)| (at, people.to_owned()));
        assert_eq!(waiting(&asked, now), (people.to_owned(), next), "{now}");
    }
    asked.state.level = Level::Supervisor;
    asked.state.supervisor_until = Some(at(3));
    assert_eq!(
        waiting(&asked, 1),
        (String::new(), Some((at(3), "bob".to_owned())))
    );
    assert_eq!(waiting(&asked, 4).1, Some((at(13), "carol".to_owned())));
}

#[test]
fn p09_a_password_in_the_folder_of_a_call_is_masked() {
    let mut approval = approval(json!({"command": "ls"}));
    approval.question.works_in = Some("https://u:hunter2horse@h/x".into());
    let scope = crate::grant::GrantScope::Any {
        rest: None,
        works_in: approval.question.works_in.clone(),
    };
    let (masked, structure) = (
        approval.question.clone().masked(),
        approval.question.clone().structure(),
    );
    for shown in [
        json!(masked).to_string(),
        json!(structure).to_string(),
        scope.words(),
        format!("{:?}", card(&approval)),
    ] {
        assert!(!shown.contains("hunter2horse"), "{shown}");
    }
}

#[test]
fn p14_risks_of_the_whole_stand_at_their_steps_whatever_is_masked() {
    let command = "A_TOKEN=hunter22x; B_TOKEN=hunter33y ./x; true\nrm -rf /srv/x\nls a\nls b";
    let asked = approval(json!({"command": command}));
    let whole = Whole::of(&asked.question, Exposure::Everything);
    let Body::Steps(steps) = &whole.sections[0].body else {
        panic!()
    };
    let texts: Vec<_> = steps.iter().filter_map(|it| it.text.as_deref()).collect();
    assert_eq!(
        texts,
        [
            "A_TOKEN=[secret: token #1, 9 characters]",
            "B_TOKEN=[secret: token #2, 9 characters] ./x",
            "true",
            "rm -rf /srv/x",
            "ls a",
            "ls b",
        ]
    );
    let deletes = Risk::Deletes.to_string();
    let risky: Vec<_> = steps.iter().map(|it| it.risks.contains(&deletes)).collect();
    assert_eq!(risky, [false, false, false, true, false, false]);
}

#[test]
fn p14_no_secret_is_seen_in_pieces_in_the_whole() {
    let line = |seed: &str| seed.repeat(8);
    let key = |second: &str| {
        let body = [&line("a1B2c3D4"), second, &line("x9Y8z7W6")].join("\n");
        format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
    };
    let (old, new) = (line("e5F6g7H8"), line("i9J0k1L2"));
    let params = json!({"path": "k.pem", "old_string": key(&old), "new_string": key(&new)});
    let asked = approval(params);
    let whole = Whole::of(&asked.question, Exposure::Everything).to_text();
    let card = format!("{:?}", card(&asked));
    for shown in [whole, card] {
        for part in ["a1B2c3D4", "e5F6g7H8", "i9J0k1L2", "x9Y8z7W6"] {
            assert!(!shown.contains(part), "{part}: {shown}");
        }
    }
}

#[test]
fn p09_whatever_a_view_masks_marks_the_question() {
    let in_folder = |folder: &str| {
        let mut asked = approval(json!({"command": "ls"})).question;
        asked.works_in = Some(folder.into());
        asked.with_secrets_noted()
    };
    let in_words = |preview: &str| {
        let mut asked = approval(json!({})).question;
        asked.summary = None;
        asked.request = Some(Box::new(Request {
            client_id: "c".into(),
            title: "t".into(),
            preview: preview.into(),
            channel: "telegram".into(),
            target: Value::Null,
        }));
        asked.with_secrets_noted()
    };
    let of_params = |params: Value| approval(params).question.with_secrets_noted();
    for (asked, expected) in [
        (in_folder("https://u:hunter2horse@h/x"), true),
        (in_folder("/work/project"), false),
        (in_words("password: hunter2horse"), true),
        (in_words("nothing to hide"), false),
        (
            of_params(json!({"command": "PASSWORD=hunter2horse ./x"})),
            true,
        ),
        (
            of_params(json!({"command": "ls", "description": "x ".repeat(900)})),
            false,
        ),
        (of_params(json!({"command": "ls ".repeat(900)})), false),
    ] {
        assert_eq!(asked.hides_secret, expected, "{asked:?}");
        let stored = serde_json::to_vec(&asked).unwrap();
        assert_eq!(stored.ends_with(crate::approval::HIDES_SECRET), expected);
        let marked = asked
            .summary
            .as_ref()
            .map(|it| it.risks.contains(&Risk::HidesSecret));
        assert!(marked.is_none_or(|marked| marked == expected), "{asked:?}");
        assert_eq!(asked.clone().masked() != asked, expected);
    }
}

#[test]
fn p09_a_title_that_is_withheld_is_still_a_line() {
    let mut asked = approval(json!({})).question;
    asked.request = Some(Box::new(Request {
        client_id: "c".into(),
        title: "Salary of Ann".into(),
        preview: "90000".into(),
        channel: "telegram".into(),
        target: Value::Null,
    }));
    let request = asked.structure().request.unwrap();
    assert_eq!(request.title, "(its title is withheld)");
    assert!(!request.preview.contains("90000"));
}

#[test]
fn p09_no_part_of_a_call_shows_what_the_whole_masks() {
    const SECRET: &str = "Zq7pW2kL9xTb4Rm1";
    let flag = format!("-p{SECRET}");
    for params in [
        json!({"command": "mysql", "args": [flag, "-e", "select 1"]}),
        json!({"command": ["mysql"], "args": [flag, "-e", "select 1"]}),
        json!({"cmd": "mysql", "args": [flag], "timeout": 5}),
        json!({"command": "curl", "args": ["-u", format!("me:{SECRET}"), "https://h.example"]}),
        json!({"path": "a", "content": "x", "name": "DB_PASSWORD", "value": SECRET}),
        json!({"path": "a", "content": "x", "program": "mysql", "args": [flag]}),
    ] {
        let asked = approval(params.clone());
        let masked = mask_map(&asked.question.params);
        assert!(!pretty(&masked).contains(SECRET), "{params}");
        for exposure in [Exposure::Everything, Exposure::Structure] {
            let card = Card::of(&asked, exposure, DAY, NOON);
            let shown = [
                serde_json::to_string(&card).unwrap(),
                Whole::of(&asked.question, exposure).to_text(),
            ];
            for shown in shown {
                assert!(!shown.contains(SECRET), "{params}: {shown}");
            }
        }
    }
}
