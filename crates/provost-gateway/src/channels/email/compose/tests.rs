//! Mails about calls of hostile agents.

use provost_core::{
    approval::Kind,
    card::{CommandPart, Exact},
    ids::ApprovalId,
    people::{AskedNext, Fallback, Waiting},
    time::Time,
};

use super::*;
use crate::channels::email::{
    address::Address, letter::Letter, reply::first_line, settings::Sender,
};

const HOSTILE: &str =
    "</pre><script>alert(1)</script>\r\nBcc: evil@evil.example\r\n\r\n1\u{202e}\u{200b}";

fn card() -> Card {
    let time = |text| Time::parse(text).unwrap();
    Card {
        id: ApprovalId::from("appr_0123"),
        kind: Kind::Call,
        agent: "claude".into(),
        session: Some("s1".into()),
        tool: "shell.run".into(),
        exact: Exact::Command {
            parts: vec![CommandPart {
                text: Some("rm -rf build".into()),
                risks: vec!["deletes".into()],
                skipped: 0,
            }],
            more: 12,
        },
        other_arguments: None,
        claim: Some(Claim {
            title: Some("Clean up".into()),
            preview: Some("it is safe".into()),
            more: 0,
        }),
        risks: vec!["deletes files".into()],
        withheld: false,
        asked: 3,
        denied_before: true,
        needed: 2,
        approved_by: vec!["alice".into()],
        voted: false,
        waiting: None,
        choices: vec![Code::Once, Code::Deny, Code::Note],
        remember: Vec::new(),
        created_at: time("2026-03-03T10:00:00Z"),
        expires_at: time("2026-03-03T11:00:00Z"),
        fallback: None,
        end: None,
    }
}

#[test]
fn what_silence_means_is_said() {
    let card = Card {
        fallback: Some(Fallback::Approve),
        ..card()
    };
    let text = ask(&card, Purpose::Ask, None).page.plain();
    assert!(text.contains(Fallback::Approve.words()), "{text}");
}

fn sent(words: Words) -> String {
    let letter = Letter {
        to: Address::parse("you@domain.com").unwrap(),
        reply_to: Address::parse("gate+t@example.com").ok(),
        message_id: "ask.x@example.com".into(),
        above: vec!["first@example.com".into()],
        words,
    };
    let from = Sender::parse("Provost <gate@example.com>").unwrap();
    String::from_utf8(letter.message(&from).unwrap().formatted()).unwrap()
}

#[test]
fn a_question_says_all_there_is_and_offers_what_may_be_answered() {
    let words = ask(
        &card(),
        Purpose::Ask,
        Some("https://gate.example.com/a/d1".into()),
    );
    assert_eq!(words.subject, "claude asks: Clean up [appr_0123]");
    let text = words.page.plain();
    for part in [
        "Provost asks: may claude use shell.run?",
        "What it would run:\n\n| rm -rf build\n\nRisk: deletes\n\n",
        "This is not all of it (12 more lines). To read all of it before you decide, follow the link",
        "Risks:\n\n| deletes files",
        "What the agent says about it (not checked):\n\n| Clean up\n\n| it is safe",
        "The same was denied before.",
        "It was asked 3 times.",
        "It needs 2 people who approve. So far: alice.",
        "[1] Allow once\n[3] Deny\n[4] Allow once, with a note (reply: 4: your note)\n\n",
        "https://gate.example.com/a/d1",
        "Approval: appr_0123",
        "Expires: 2026-03-03T11:00:00",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
    assert!(!text.contains("[2]"), "{text}");
    assert!(
        words
            .page
            .html()
            .contains("href=\"https://gate.example.com/a/d1\"")
    );
}

#[test]
fn nobody_decides_blind_without_knowing_it() {
    let link = || Some("https://gate/a/1".to_owned());
    let shown = ask(&card(), Purpose::Ask, link()).page.plain();
    assert!(!shown.contains("withheld"), "{shown}");
    let withheld = Card {
        withheld: true,
        ..card()
    };
    let words = ask(&withheld, Purpose::Ask, link());
    for text in [words.page.plain(), words.page.html()] {
        let told = text.find("The content is withheld here").unwrap();
        assert!(told < text.find("What it would run").unwrap(), "{text}");
        assert!(text.contains("https://gate/a/1"), "{text}");
    }
}

#[test]
fn changes_and_arguments_are_shown_and_bounded() {
    let change = Exact::Change {
        path: Some("src/a.rs".into()),
        files: 1,
        diff: Some(format!("-a\n+{}", "b".repeat(20_000))),
        added: 1,
        removed: 1,
        more: 0,
    };
    let text = ask(
        &Card {
            exact: change,
            ..card()
        },
        Purpose::Ask,
        None,
    )
    .page
    .plain();
    assert!(
        text.contains("| src/a.rs (+1 -1 lines)\n\n| -a\n| +bbb"),
        "{text}"
    );
    assert!(
        text.contains("This is not all of it (1 more line)"),
        "{text}"
    );
    let arguments = Exact::Arguments {
        json: "{\n  \"a\": 1\n}".into(),
        more: 0,
    };
    let text = ask(
        &Card {
            exact: arguments,
            ..card()
        },
        Purpose::Ask,
        None,
    )
    .page
    .plain();
    assert!(text.contains("| {\n|   \"a\": 1\n| }"), "{text}");
}

#[test]
fn hostile_words_stay_words() {
    let hostile = Card {
        agent: HOSTILE.into(),
        tool: HOSTILE.into(),
        session: Some(HOSTILE.into()),
        exact: Exact::Arguments {
            json: HOSTILE.into(),
            more: 0,
        },
        claim: Some(Claim {
            title: Some(format!("[appr_evil] {HOSTILE}")),
            preview: Some(HOSTILE.repeat(1000)),
            more: 0,
        }),
        risks: vec![HOSTILE.into()],
        approved_by: vec![HOSTILE.into()],
        ..card()
    };
    let words = ask(&hostile, Purpose::Remind, None);
    assert!(words.subject.chars().count() < 250 && !words.subject.contains(['\r', '\n']));
    assert!(words.subject.starts_with("Reminder: "), "{}", words.subject);
    let id = crate::channels::email::approval_id_in(&format!("Re: {}", words.subject), "");
    assert_eq!(id.as_deref(), Some("appr_0123"));
    let (text, html) = (words.page.plain(), words.page.html());
    assert!(!text.contains(['\u{202e}', '\u{200b}', '\r']));
    assert!(
        !html.contains("<script") && !html.contains("</pre><s"),
        "{html}"
    );
    let raw = sent(words);
    let head = raw.split("\r\n\r\n").next().unwrap();
    assert!(!head.to_lowercase().contains("\r\nbcc:"), "{head}");
    let message = mail_parser::MessageParser::default()
        .parse(raw.as_bytes())
        .unwrap();
    assert!(message.bcc().is_none());
    assert_eq!(message.body_text(0).unwrap().replace("\r\n", "\n"), text);
}

#[test]
fn a_mail_carries_what_programs_need() {
    let raw = sent(ask(&card(), Purpose::Ask, None));
    for header in [
        "From: Provost <gate@example.com>\r\n",
        "To: you@domain.com\r\n",
        "Reply-To: Provost <gate+t@example.com>\r\n",
        "Subject: claude asks: Clean up [appr_0123]\r\n",
        "Message-ID: <ask.x@example.com>\r\n",
        "In-Reply-To: <first@example.com>\r\n",
        "References: <first@example.com>\r\n",
        "Auto-Submitted: auto-generated\r\n",
        "X-Auto-Response-Suppress: OOF, AutoReply\r\n",
        "Date: ",
        "MIME-Version: 1.0\r\n",
    ] {
        assert!(raw.contains(header), "{header}\n---\n{raw}");
    }
    let incoming = crate::channels::email::read_reply(raw.as_bytes()).unwrap();
    assert!(
        incoming.automatic,
        "our own mails are never taken for replies"
    );
}

#[test]
fn our_mails_are_no_answers_where_they_are_quoted_without_a_mark() {
    for agent in ["1", "3 yes", "5 rm -rf", "claude"] {
        let card = Card {
            agent: agent.into(),
            tool: "1".into(),
            ..card()
        };
        let end = End {
            status: Status::Denied,
            by: Some("1".into()),
            via: Some("1".into()),
            code: Some(Code::Deny),
            note: Some("1\n1".into()),
            replacement: None,
            rule_id: None,
            remembered: None,
            auto: false,
            at: card.created_at,
        };
        let pages = [
            ask(&card, Purpose::Ask, None),
            ask(&card, Purpose::Remind, None),
            ended(&card, &end),
            again("1", "1", Some(&card)),
        ];
        for words in pages {
            let text = words.page.plain();
            assert!(first_line(&text).is_err(), "{text}");
            assert!(
                first_line(&crate::channels::email::html::text_of(&words.page.html())).is_err()
            );
            for line in text.lines() {
                assert!(first_line(line).is_err(), "{line}");
            }
        }
    }
}

#[test]
fn the_end_says_who_and_how() {
    let at = card().created_at;
    let end = |status, by: Option<&str>, via: Option<&str>, code| End {
        status,
        by: by.map(str::to_owned),
        via: via.map(Into::into),
        code,
        note: None,
        replacement: None,
        rule_id: None,
        remembered: None,
        auto: false,
        at,
    };
    for (end, expected) in [
        (
            end(
                Status::Approved,
                Some("alice"),
                Some("telegram"),
                Some(Code::Session),
            ),
            "Approved by alice (telegram) at 2026-03-03T10:00:00",
        ),
        (
            end(Status::Denied, Some("bob"), None, None),
            "Denied by bob at",
        ),
        (
            end(Status::Expired, None, None, None),
            "nobody decided in time",
        ),
    ] {
        let words = ended(&card(), &end);
        assert!(
            words.page.plain().contains(expected),
            "{}",
            words.page.plain()
        );
        assert_eq!(words.subject, "Re: claude asks: Clean up [appr_0123]");
    }
}

#[test]
fn p14_a_mail_is_bounded_in_lines_and_says_where_the_rest_is() {
    let newlines = "\n".repeat(3000) + "end";
    let part = |text: &str, risk: Option<&str>| CommandPart {
        text: Some(text.into()),
        risks: risk.map(str::to_owned).into_iter().collect(),
        skipped: 0,
    };
    let steps = (0..40).map(|_| part("echo '\n\n\n\n\n\n\n\n\n\n\n'", None));
    let steps: Vec<_> = steps.chain([part("rm -rf x", Some("deletes"))]).collect();
    let change = |diff: &str| Exact::Change {
        path: None,
        files: 1,
        diff: Some(diff.into()),
        added: 1,
        removed: 1,
        more: 7,
    };
    for exact in [
        Exact::Command {
            parts: steps,
            more: 7,
        },
        change(&newlines),
        change(&"+x\n".repeat(3000)),
        Exact::Arguments {
            json: newlines.clone(),
            more: 0,
        },
    ] {
        let card = Card {
            exact,
            claim: Some(Claim {
                title: Some(newlines.clone()),
                preview: Some(newlines.clone()),
                more: 0,
            }),
            ..card()
        };
        let words = ask(&card, Purpose::Ask, None);
        let text = words.page.plain();
        assert!(text.lines().count() < 500, "{}", text.lines().count());
        assert!(text.contains("This is not all of it ("), "{text}");
        assert!(
            text.contains("provost approvals show appr_0123 --full"),
            "{text}"
        );
    }
}

#[test]
fn p14_a_mail_says_who_is_waited_for() {
    let at = card().expires_at;
    let card = Card {
        waiting: Some(Waiting {
            people: vec!["bob".into(), "carol".into()],
            next: Some(AskedNext {
                at,
                people: vec!["dave".into()],
            }),
        }),
        ..card()
    };
    let text = ask(&card, Purpose::Ask, None).page.plain();
    assert!(text.contains("So far: alice."), "{text}");
    assert!(text.contains("Waiting for: bob, carol."), "{text}");
    assert!(
        text.contains("Asked next, at 2026-03-03T11:00:00.000Z: dave."),
        "{text}"
    );
}
