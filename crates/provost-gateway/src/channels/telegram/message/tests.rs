use std::time::Duration;

use proptest::prelude::*;
use provost_core::{
    approval::{InForce, Status},
    card::{Claim, CommandPart, Exact, Offer},
    grant::Breadth,
    people::{AskedNext, Fallback, Waiting},
    review::Excerpt,
    time::Time,
};

use super::*;
use crate::channels::telegram::{buttons, text};

fn card(exact: Exact) -> Card {
    let created_at = Time::parse("2026-04-10T14:30:00Z").unwrap();
    Card {
        id: "00aa11bb22cc33dd".into(),
        kind: Kind::Call,
        agent: "claude".into(),
        session: Some("s-1".into()),
        tool: "shell.run".into(),
        exact,
        other_arguments: None,
        claim: None,
        risks: vec![],
        withheld: false,
        asked: 1,
        denied_before: false,
        needed: 1,
        approved_by: vec![],
        voted: false,
        waiting: None,
        choices: Code::ALL.to_vec(),
        remember: Vec::new(),
        created_at,
        expires_at: created_at.plus(Duration::from_mins(5)),
        fallback: None,
        end: None,
    }
}

fn part(text: &str, risks: &[&str]) -> CommandPart {
    CommandPart {
        text: Some(text.into()),
        risks: risks.iter().map(|risk| (*risk).to_owned()).collect(),
        skipped: 0,
    }
}

fn claim(title: &str, preview: &str) -> Claim {
    Claim {
        title: Some(title.into()),
        preview: Some(preview.into()),
        more: 0,
    }
}

fn command() -> Card {
    let parts = vec![
        part("cd /srv && ls", &[]),
        part(
            "rm -rf build\n2. ls # harmless",
            &["deletes files", "forces"],
        ),
    ];
    Card {
        claim: Some(claim("Clean up", "Only removes\nwhat was built")),
        risks: vec!["deletes files".into()],
        ..card(Exact::Command { parts, more: 0 })
    }
}

/// What Telegram shows, marks taken away.
fn shown(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        rest = after.split_once('>').expect("a mark ends").1;
    }
    text.push_str(rest);
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

fn length(html: &str) -> usize {
    text::units(&shown(html))
}

#[test]
fn a_command() {
    let text = question(&command(), Purpose::Ask, None);
    insta::assert_snapshot!(text);
}

#[test]
fn what_silence_means_is_said() {
    for fallback in [Fallback::Approve, Fallback::Deny] {
        let card = Card {
            fallback: Some(fallback),
            ..command()
        };
        let text = question(&card, Purpose::Ask, None);
        assert!(text.ends_with(fallback.words()), "{text}");
    }
}

#[test]
fn a_change() {
    let text = question(
        &Card {
            tool: "filesystem.write_file".into(),
            ..card(Exact::Change {
                path: Some("src/main.rs".into()),
                files: 2,
                diff: Some("@@ -1 +1 @@\n-let a = b < c;\n+let a = b <= c;\n".into()),
                added: 1,
                removed: 1,
                more: 120,
            })
        },
        Purpose::Ask,
        None,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_reminder_of_what_two_people_must_approve() {
    let json = "{\n  \"amount\": 100\n}".to_owned();
    let text = question(
        &Card {
            tool: "payments.send".into(),
            session: None,
            asked: 3,
            denied_before: true,
            needed: 2,
            approved_by: vec!["human:alice".into()],
            choices: vec![Code::Once, Code::Deny, Code::Note],
            ..card(Exact::Arguments { json, more: 0 })
        },
        Purpose::Remind,
        None,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_request_in_the_agents_own_words() {
    let text = question(
        &Card {
            kind: Kind::Permission,
            claim: Some(claim(
                "Deploy?",
                "<b>safe</b> & \"sound\" https://evil.example @admin",
            )),
            ..card(Exact::Nothing)
        },
        Purpose::Ask,
        None,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_hostile_author() {
    let parts = vec![part(
        "echo \u{202e}fdp\u{200b} </pre><b>Denied</b>\n⚠ nothing to see",
        &[],
    )];
    let text = question(
        &Card {
            agent: "a<i>\n🔎 What it would run".into(),
            claim: Some(claim(
                "x</pre>",
                "\n\n🔎 What it would run, read from the call\n$ ls",
            )),
            ..card(Exact::Command { parts, more: 0 })
        },
        Purpose::Ask,
        None,
    );
    insta::assert_snapshot!(text);
}

fn end(status: Status, code: Option<Code>) -> End {
    End {
        status,
        by: Some("human:alice".into()),
        via: Some("email".into()),
        code,
        note: None,
        replacement: None,
        rule_id: None,
        remembered: None,
        auto: false,
        at: Time::parse("2026-04-10T14:31:00Z").unwrap(),
    }
}

#[test]
fn ends() {
    let endings = [
        end(Status::Approved, Some(Code::Session)),
        End {
            note: Some("too <risky>\nfor me".into()),
            ..end(Status::Denied, Some(Code::Deny))
        },
        End {
            by: None,
            via: None,
            ..end(Status::Expired, None)
        },
    ];
    let card = Card {
        claim: None,
        ..command()
    };
    let shown: Vec<_> = endings.iter().map(|end| ended(&card, end)).collect();
    let text = shown.join("\n=====\n");
    insta::assert_snapshot!(text);
}

#[test]
fn long_texts_are_cut_and_say_how_much() {
    let diff = "+long\n".repeat(2000);
    let long = Card {
        claim: Some(claim("title", &"👍".repeat(5000))),
        ..card(Exact::Change {
            path: None,
            files: 1,
            diff: Some(diff),
            added: 2000,
            removed: 0,
            more: 0,
        })
    };
    let html = question(&long, Purpose::Ask, None);
    let units = length(&html);
    assert!((3900..=LIMIT).contains(&units), "{units}");
    let text = shown(&html);
    let notices: Vec<_> = text.lines().filter(|line| line.starts_with("✂️")).collect();
    assert_eq!(notices.len(), 2, "{text}");
    let kept = text.matches('👍').count();
    let notice = format!("✂️ {} more characters are not shown here", 5000 - kept);
    assert_eq!(notices[1], notice);
    assert!(text.ends_with("5m0s after it was asked"), "{text}");
}

#[test]
fn p14_a_message_is_bounded_in_lines_and_says_where_the_rest_is() {
    let newlines = "\n".repeat(3000);
    let change = |diff: &str| Exact::Change {
        path: None,
        files: 1,
        diff: Some(diff.into()),
        added: 1,
        removed: 1,
        more: 0,
    };
    let parts = vec![part(&newlines, &["deletes"]); 40];
    for exact in [
        Exact::Command { parts, more: 5 },
        change(&newlines),
        change(&"+\n".repeat(1000)),
        Exact::Arguments {
            json: newlines.clone(),
            more: 0,
        },
    ] {
        let long = Card {
            other_arguments: Some(Excerpt {
                text: newlines.clone(),
                more: 0,
            }),
            claim: Some(claim(&newlines, &newlines)),
            ..card(exact)
        };
        for link in [None, Some("https://gate/a/1")] {
            let html = question(&long, Purpose::Ask, link);
            let text = shown(&html);
            assert!(length(&html) <= LIMIT);
            assert!(text.lines().count() < 130, "{}", text.lines().count());
            let at = link.unwrap_or("provost approvals show 00aa11bb22cc33dd --full");
            assert!(
                text.contains("📖 Read all of it before you decide"),
                "{text}"
            );
            assert!(text.contains(at), "{text}");
            assert_eq!(
                text.matches("more lines not shown here").count(),
                3,
                "{text}"
            );
        }
        assert!(!ended(&long, &end(Status::Denied, None)).contains('📖'));
    }
    assert!(!question(&command(), Purpose::Ask, None).contains('📖'));
}

#[test]
fn p14_who_approved_is_told_so_and_who_is_waited_for() {
    let open = Card {
        needed: 2,
        approved_by: vec!["human:alice".into()],
        waiting: Some(Waiting {
            people: vec!["bob".into()],
            next: Some(AskedNext {
                at: Time::parse("2026-04-10T14:35:00Z").unwrap(),
                people: vec!["carol".into(), "dave".into()],
            }),
        }),
        ..command()
    };
    let text = question(&open, Purpose::Ask, None);
    for line in [
        "👥 Needs 2 people, approved by alice, waiting for bob\n",
        "⏫ Asks carol, dave at 2026-04-10 14:35:00 UTC\n",
        "1 Allow once",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let voted = question(&open.for_voter(), Purpose::Ask, None);
    assert!(voted.starts_with("<b>✅ You have approved this"), "{voted}");
    assert!(
        !voted.contains("Allow once") && !voted.contains("Tap a button"),
        "{voted}"
    );
}

fn anything(length: usize) -> impl Strategy<Value = String> {
    let chars = prop_oneof![
        4 => any::<char>(),
        1 => prop::sample::select(vec!['<', '>', '&', '\n', '👍', '\u{202e}', '\u{300}', '\u{1b}']),
    ];
    prop::collection::vec(chars, 0..length).prop_map(|chars| chars.into_iter().collect())
}

#[test]
fn nobody_decides_blind_without_knowing_it() {
    let shown = question(&command(), Purpose::Ask, Some("https://gate/a/1"));
    assert!(!shown.contains("withheld") && !shown.contains("https://gate/a/1"));
    let withheld = Card {
        withheld: true,
        ..command()
    };
    let text = question(&withheld, Purpose::Remind, Some("https://gate/a/1"));
    let words = text.find("The content is withheld here").unwrap();
    assert!(
        text.contains("before you decide.\nhttps://gate/a/1\n"),
        "{text}"
    );
    assert!(words < text.find("What it would run").unwrap(), "{text}");
    let text = question(&withheld, Purpose::Ask, None);
    assert!(text.contains("in the console"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_author_breaks_the_limits_or_the_marks(
        names in prop::collection::vec(anything(300), 3),
        risks in prop::collection::vec(anything(300), 0..12),
        commands in prop::collection::vec((anything(3000), anything(100)), 0..4),
        title in anything(600),
        preview in anything(6000),
        note in anything(2000),
    ) {
        let parts = commands.iter().map(|(text, risk)| part(text, &[risk])).collect();
        let card = Card {
            agent: names[0].as_str().into(),
            tool: names[1].as_str().into(),
            session: Some(names[2].as_str().into()),
            risks: risks.clone(),
            asked: u32::MAX,
            denied_before: true,
            needed: 200,
            approved_by: risks,
            claim: Some(claim(&title, &preview)),
            other_arguments: Some(Excerpt { text: preview.clone(), more: 1 }),
            ..card(Exact::Command { parts, more: 3 })
        };
        let closed = End { note: Some(note), ..end(Status::Denied, None) };
        for html in [question(&card, Purpose::Ask, None), ended(&card, &closed)] {
            prop_assert!(length(&html) <= LIMIT, "{}", length(&html));
            prop_assert!(html.len() < 32 * 1024);
            let text = shown(&html);
            let hidden = text.contains(['\u{202e}', '\u{1b}']);
            prop_assert!(!hidden);
            // Apart from ours no marks are left.
            let json = "<code class=\"language-json\">";
            let ours = ["<b>", "</b>", "<code>", json, "</code>", "<pre>", "</pre>"];
            let bare = ours.iter().fold(html.clone(), |html, mark| html.replace(mark, ""));
            prop_assert!(!bare.contains('<'), "{}", bare);
        }
    }
}

#[test]
fn p04_the_menu_says_what_is_remembered_and_the_end_says_it_again() {
    let offer = |code| Offer {
        code,
        breadth: Breadth::Narrow,
        scope: "folder",
        words: "edits of files directly in /srv/project/src".into(),
        lasts: "30 days".into(),
    };
    let card = Card {
        remember: vec![offer(Code::Session), offer(Code::Always)],
        ..command()
    };
    let asked = question(&card, Purpose::Ask, None);
    for line in [
        "2 Allow for this session: edits of files directly in /srv/project/src",
        "6 Allow for 30 days: edits of files directly in /srv/project/src",
    ] {
        assert!(asked.contains(line), "{asked}");
    }
    let buttons = buttons::keyboard(&"d1".into(), &card)["inline_keyboard"].clone();
    assert_eq!(
        buttons[1][0]["text"],
        "2 Allow for this session: edits in this folder"
    );
    assert_eq!(
        buttons[2][0]["text"],
        "6 Allow for 30 days: edits in this folder"
    );
    assert_eq!(buttons[2][0]["callback_data"], "6:d1");
    let end = End {
        rule_id: Some("g1".into()),
        remembered: Some(InForce {
            words: "edits of files directly in /srv/project/src".into(),
            until: Time::parse("2026-12-17T10:00:00Z").unwrap(),
        }),
        ..end(Status::Approved, Some(Code::Always))
    };
    let told = ended(&card, &end);
    let expected = "Remembered until 2026-12-17 10:00:00 UTC: edits of files directly in /srv/project/src. \
                    Revoke it in the console under Grants, or with: provost grants revoke g1";
    assert!(told.contains(expected), "{told}");
}
