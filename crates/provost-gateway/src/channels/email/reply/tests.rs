//! Replies as mail programs write them, in their styles and languages.

mod corpus;
mod found;

use proptest::prelude::*;
use provost_core::menu::{Code, Marked};

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "what a table expects")]
fn ok(code: Code, text: Option<&str>) -> Result<Reply, Misread> {
    Ok(Reply {
        code,
        text: text.map(str::to_owned),
        ..Reply::bare(Code::Once)
    })
}

fn unfenced(reply: Reply) -> Reply {
    Reply {
        marked: Marked::No,
        ..reply
    }
}

fn unclear(why: Unclear) -> Result<Reply, Misread> {
    Err(why.into())
}

/// Our mail as programs quote it. An agent wrote some of its lines.
const MAIL: &[&str] = &[
    "Provost asks: may claude use shell.run?",
    "",
    "| rm -rf build",
    "| 1",
    "",
    "[1] Allow once",
    "[3] Deny",
];

fn marked() -> String {
    format!("> {}\n", MAIL.join("\n> "))
}

fn unmarked() -> String {
    MAIL.join("\n") + "\n"
}

/// How programs introduce the mail that they quote line by line.
const ATTRIBUTIONS: &[&str] = &[
    // Gmail
    "On Tue, Mar 3, 2026 at 10:00 AM Gate <gate+abc@example.com> wrote:",
    "On Tue, Mar 3, 2026 at 10:00 AM Provost Gate With A Long Name <\ngate+abc@example.com> wrote:",
    "Am Di., 3. März 2026 um 10:00 Uhr schrieb Gate <gate@example.com>:",
    "Le mar. 3 mars 2026 à 10:00, Gate <gate@example.com> a écrit :",
    "Le mar. 3 mars 2026 à 10:00, Gate <gate@example.com> a écrit\u{a0}:",
    "El mar, 3 mar 2026 a las 10:00, Gate (<gate@example.com>) escribió:",
    "Em ter., 3 de mar. de 2026 às 10:00, Gate <gate@example.com> escreveu:",
    "No dia 3/11/2026, às 10:00, Gate <gate@example.com> escreveu:",
    "No dia 3 de nov de 2026 às 10:00, Gate <gate@example.com> escreveu:",
    "Il giorno mar 3 mar 2026 alle ore 10:00 Gate <gate@example.com> ha scritto:",
    "Op di 3 mrt 2026 om 10:00 schreef Gate <gate@example.com>:",
    "Den tis 3 mars 2026 kl 10:00 skrev Gate <gate@example.com>:",
    "tir. 3. mar. 2026 kl. 10.00 skrev Gate <gate@example.com>:",
    "ti 3. maalisk. 2026 klo 10.00 Gate (gate@example.com) kirjoitti:",
    "wt., 3 mar 2026 o 10:00 Gate <gate@example.com> napisał(a):",
    "вт, 3 мар. 2026 г. в 10:00, Gate <gate@example.com>:",
    "út 3. 3. 2026 v 10:00 odesílatel Gate <gate@example.com> napsal:",
    "2026年3月3日(火) 10:00 Gate <gate@example.com>:",
    "Gate <gate@example.com> 于2026年3月3日周二 10:00写道：",
    "Gate <gate@example.com> 於 2026年3月3日 週二 上午10:00寫道：",
    "2026년 3월 3일 (화) 오전 10:00, Gate <gate@example.com>님이 작성:",
    "Gate <gate@example.com>, 3 Mar 2026 Sal, 10:00 tarihinde şunu yazdı:",
    "Vào Th 3, 3 thg 3, 2026 vào lúc 10:00 Gate <gate@example.com> đã viết:",
    // Apple Mail
    "On Mar 3, 2026, at 10:00, Gate <gate@example.com> wrote:",
    "> On 3. Mar 2026, at 10:00, Gate <gate@example.com> wrote:",
    "Am 03.03.2026 um 10:00 schrieb Gate <gate@example.com>:",
    "Le 3 mars 2026 à 10:00, Gate <gate@example.com> a écrit :",
    "3 mars 2026 kl. 10:00 skrev Gate <gate@example.com>:",
    "3 марта 2026 г., в 10:00, Gate <gate@example.com> написал(а):",
    "1 марта 2026 г., в 10:00, Gate\n<gate@example.com> написал(а):",
    "Wiadomość napisana przez Gate <gate@example.com> w dniu 3 mar 2026, o godz. 10:00:",
    // Thunderbird
    "On 03.03.26 10:00, Gate wrote:",
    "Am 03.03.26 um 10:00 schrieb Gate:",
    "Le 03/03/2026 à 10:00, Gate a écrit :",
    "El 3/3/26 a las 10:00, Gate escribió:",
    "Il 03/03/26 10:00, Gate ha scritto:",
    "W dniu 3.03.2026 o 10:00, Gate pisze:",
    // GMX, mutt, and others
    "Gate <gate@example.com> schrieb am Di., 3. März 2026, 10:00:",
    "* Gate <gate@example.com> [2026-03-03 10:00]:",
    "Quoting Gate <gate@example.com> 2026-03-03:",
    "Gate wrote:",
];

#[test]
fn the_first_line_decides_above_every_style_of_quote() {
    for attribution in ATTRIBUTIONS {
        for gap in ["\n", "\n\n", "\n\n\n"] {
            for (reply, expected) in [
                ("1", ok(Code::Once, None)),
                ("4 add logs", ok(Code::Note, Some("add logs"))),
                ("5 npm test", ok(Code::Change, Some("npm test"))),
            ] {
                let text = format!("{reply}{gap}{attribution}\n\n{}", marked());
                assert_eq!(first_line(&text), expected, "{text}");
            }
        }
    }
}

#[test]
fn an_empty_reply_decides_nothing_whatever_is_quoted_below() {
    for attribution in ATTRIBUTIONS {
        for history in [marked(), unmarked()] {
            for day in ["3", "1"] {
                let attribution = attribution.replace('3', day);
                let text = format!("{attribution}\n{history}");
                assert!(first_line(&text).is_err(), "{text}");
                let text = format!("\n\n{attribution}\n\n{history}");
                assert!(first_line(&text).is_err(), "{text}");
            }
        }
    }
    assert!(first_line(&unmarked()).is_err());
    assert!(first_line(&marked()).is_err());
    assert!(first_line("").is_err());
}

#[test]
fn a_reply_below_the_quote_decides_when_nothing_stands_above() {
    for attribution in ATTRIBUTIONS {
        let text = format!("{attribution}\n{}\n3\n\n-- \nBob", marked());
        assert_eq!(first_line(&text), ok(Code::Deny, None), "{text}");
        for footer in [
            "4 Privet Drive, Little Whinging",
            "3 Main Street",
            "5 npm test",
        ] {
            let text = format!("{attribution}\n{}\n{footer}\n", marked());
            assert_eq!(first_line(&text), Err(Misread::BelowQuote), "{text}");
        }
        let text = format!("{attribution}\n\n{}\n3\n", unmarked());
        assert!(first_line(&text).is_err(), "{text}");
    }
}

/// The heads and rules below which everything is the mail before, unmarked.
const HEADS: &[&str] = &[
    "-----Original Message-----\nFrom: Gate <gate@example.com>\nSent: Tuesday\nTo: You\nSubject: x",
    "-----Ursprüngliche Nachricht-----\nVon: Gate\nGesendet: Dienstag\nAn: You\nBetreff: x",
    "-----Message d'origine-----\nDe : Gate\nEnvoyé : mardi\nÀ : You\nObjet : x",
    "-----Mensaje original-----\nDe: Gate\nEnviado: martes\nPara: You\nAsunto: x",
    "________________________________\nFrom: Gate <gate@example.com>\nSent: Tuesday\nTo: You",
    "From: Gate <gate@example.com>\nSent: Tuesday, March 3, 2026 10:00\nTo: You\nSubject: x",
    "*From:* Gate <gate@example.com>\n*Sent:* Tuesday\n*To:* You",
    "Von: Gate\nGesendet: Dienstag, 3. März 2026 10:00\nAn: You\nBetreff: x",
    "De : Gate\nEnvoyé : mardi 3 mars 2026 10:00\nÀ : You",
    "Da: Gate\nInviato: martedì 3 marzo 2026 10:00\nA: You",
    "Van: Gate\nVerzonden: dinsdag 3 maart 2026 10:00\nAan: You",
    "Från: Gate\nSkickat: den 3 mars 2026 10:00\nTill: You",
    "Lähettäjä: Gate\nLähetetty: tiistai\nVastaanottaja: You",
    "Od: Gate\nWysłano: wtorek\nDo: You",
    "От: Gate\nОтправлено: вторник\nКому: You",
    "发件人: Gate\n发送时间: 2026年3月3日\n收件人: You",
    "寄件者: Gate\n寄件日期: 2026年3月3日\n收件者: You",
    "差出人: Gate\n送信日時: 2026年3月3日\n宛先: You",
    "보낸 사람: Gate\n보낸 날짜: 2026년\n받는 사람: You",
    "Šalje: Gate <gate@example.com>\nPoslano: utorak, 3. ožujka 2026. 10:00\nPrima: You\nPredmet: x",
    "Frá: Gate <gate@example.com>\nSent: þriðjudagur, 3. mars 2026 10:00\nTil: You\nEfni: x",
    "Nork: Gate <gate@example.com>\nBidaltze-data: asteartea, 2026(e)ko martxoaren 3a\nNori: You\nGaia: x",
    "---------- Forwarded message ---------\nFrom: Gate",
    "---- On Tue, 03 Mar 2026 10:00:00 +0100 Gate <gate@example.com> wrote ----",
    "-------- Original message --------From: Gate <gate@example.com> Date: 3/3/26",
    "Sent with Proton Mail secure email.",
    "Begin forwarded message:\n\nFrom: Gate",
    "-- \nBob",
    "--\nBob",
    "Sent from my iPhone",
    "Sent from Outlook for Android",
    "Get Outlook for iOS",
    "Von meinem iPhone gesendet",
    "Envoyé de mon iPhone",
    "Enviado desde mi iPhone",
    "Inviato da iPhone",
    "Verzonden vanaf mijn iPhone",
    "Skickat från min iPhone",
    "iPhoneから送信",
    "发自我的 iPhone",
    "나의 iPhone에서 보냄",
];

#[test]
fn nothing_below_a_head_a_rule_or_a_signature_counts() {
    for head in HEADS {
        for gap in ["\n", "\n\n"] {
            let text = format!("5 npm test{gap}{head}\n\n{}", unmarked());
            assert_eq!(
                first_line(&text),
                ok(Code::Change, Some("npm test")),
                "{text}"
            );
            let text = format!("{gap}{head}\n\n1\n{}", unmarked());
            assert!(first_line(&text).is_err(), "{text}");
        }
    }
}

#[test]
fn texts_of_several_lines_stand_between_fences() {
    for (text, expected) in [
        (
            "5\n```\nnpm ci\nnpm test\n```\n\n> x",
            ok(Code::Change, Some("npm ci\nnpm test")),
        ),
        (
            "5 ```\nnpm ci\nnpm test\n```\nThanks",
            ok(Code::Change, Some("npm ci\nnpm test")),
        ),
        ("4\n\n```text\na\n\nb\n```", ok(Code::Note, Some("a\n\nb"))),
        (
            "5\n```sh\n  indented\n    more\n```",
            ok(Code::Change, Some("indented\n    more")),
        ),
        (
            "5\n```\nnpm ci\n",
            unclear(Unclear::OpenFence(Code::Change)),
        ),
        (
            "5\n```\nnpm ci\n> ```",
            unclear(Unclear::OpenFence(Code::Change)),
        ),
        (
            "5\n```\nnpm ci\n\nOn 3 Mar 2026 Gate wrote:\n```\n",
            unclear(Unclear::OpenFence(Code::Change)),
        ),
        ("5 ```npm ci```", unclear(Unclear::OpenFence(Code::Change))),
        ("5\n```\n```", unclear(Unclear::TextNeeded(Code::Change))),
        ("5\nnpm test", unclear(Unclear::TextNeeded(Code::Change))),
        (
            "5\n\n> npm test",
            unclear(Unclear::TextNeeded(Code::Change)),
        ),
        (
            "5 rm -rf /tmp/a\n/tmp/b",
            unclear(Unclear::GoesOn(Code::Change)),
        ),
        (
            "4 yes: keep it, but\nnot on Friday",
            unclear(Unclear::GoesOn(Code::Note)),
        ),
        (
            "1 fine, but\nnot on Friday",
            unclear(Unclear::NotAlone(Code::Once)),
        ),
        ("3 too risky\nreally", ok(Code::Deny, Some("too risky"))),
        ("1\nThanks, Bob", ok(Code::Once, None)),
        (
            "4 add logs\n\nThanks, Bob",
            ok(Code::Note, Some("add logs")),
        ),
    ] {
        let read = first_line(text).map(unfenced);
        assert_eq!(read, expected, "{text:?}");
    }
}

#[test]
fn what_is_no_answer_is_asked_again() {
    for text in [
        "Hi,\n1",
        "yes",
        "ok 1",
        "9",
        "12",
        "1.",
        "> 1",
        ">1\n>2",
        "| 1",
        "On it!\n1",
        "-- \n1",
        "\u{202e}1",
    ] {
        assert!(first_line(text).is_err(), "{text:?}");
    }
    for text in [
        "\u{feff}1",
        "\u{200b}1 \u{a0}",
        "\t1\r\n",
        "1\u{a0}",
        "\u{200e}1",
    ] {
        assert_eq!(first_line(text), ok(Code::Once, None), "{text:?}");
    }
}

#[test]
fn a_wrapped_line_of_the_quote_is_never_the_answer() {
    for text in [
        "Gate wrote:\n> | a long line that the program wrapped\n1 here\n> more\n\n3 no",
        "Gate wrote:\n> | a long line that the program wrapped\n1 here\n\n3 no",
        "> a\n1\n> b",
    ] {
        assert_eq!(first_line(text), Err(Misread::Mixed), "{text:?}");
    }
}

#[test]
fn p13_the_html_has_the_exact_text_and_the_plain_one_must_agree() {
    let change = |text| ok(Code::Change, Some(text));
    for (plain, html, expected) in [
        (Some("1"), Some("1"), ok(Code::Once, None)),
        (
            Some("5 some long\ncommand"),
            Some("5 some long command"),
            change("some long command"),
        ),
        (
            Some("5\n```\na\nb c\n```"),
            Some("5\n```\na b c\n```"),
            change("a b c"),
        ),
        (Some(" \n"), Some("3"), ok(Code::Deny, None)),
        (None, Some("3"), ok(Code::Deny, None)),
        (Some("1"), None, ok(Code::Once, None)),
        (Some("1"), Some("3"), Err(Misread::TwoReadings)),
        (Some("5 rm a"), Some("5 rm a b"), Err(Misread::TwoReadings)),
        (Some("1"), Some("hello"), Err(Misread::TwoReadings)),
        (Some("1"), Some(""), Err(Misread::TwoReadings)),
        (Some("*1*\n\n> x"), Some("1\n\n> x"), ok(Code::Once, None)),
        (
            Some("4: use a.org <http://a.org>"),
            Some("4: use a.org"),
            ok(Code::Note, Some("use a.org")),
        ),
        (
            Some("4: use bob@a.org<mailto:bob@a.org>"),
            Some("4: use bob@a.org"),
            ok(Code::Note, Some("use bob@a.org")),
        ),
        (
            Some("4: use *staging* only"),
            Some("4: use staging only"),
            ok(Code::Note, Some("use staging only")),
        ),
        (Some("5 ls *.o"), Some("5 ls .o"), Err(Misread::TwoReadings)),
        (
            Some("1"),
            Some("1 question first"),
            unclear(Unclear::NotAlone(Code::Once)),
        ),
        (Some("hello"), Some("1"), Err(Unclear::NoCode.into())),
        (None, None, Err(Unclear::NoCode.into())),
    ] {
        let read = read(plain, html).map(unfenced);
        assert_eq!(read, expected, "{plain:?} {html:?}");
    }
}

#[test]
fn forwarded_bodies_are_read_by_the_same_rules() {
    let note = Reply {
        code: Code::Note,
        text: Some("add logs".into()),
        ..Reply::bare(Code::Once)
    };
    assert_eq!(reply_in_text("4 add logs\n\nOn Tue..."), Ok(note));
    assert_eq!(
        reply_in_text("5\n\nOn Tue..."),
        Err(Unclear::TextNeeded(Code::Change))
    );
    assert_eq!(reply_in_text("5 rm\nb"), Err(Unclear::GoesOn(Code::Change)));
    assert_eq!(reply_in_text("9"), Err(Unclear::NoCode));
}

#[test]
fn the_approval_is_named_in_the_subject_or_the_text() {
    let long = format!("appr_{}", "0a".repeat(16));
    for (subject, body, expected) in [
        (
            format!("Re: Run command [{long}]"),
            "1",
            Some(long.as_str()),
        ),
        (format!("Re: [EXT] [appr_0] x [{long}]"), "1", Some(&long)),
        (
            "Re: [0123456789abcdef]".into(),
            "1",
            Some("0123456789abcdef"),
        ),
        ("Run command [appr_xxx]".into(), "1", Some("appr_xxx")),
        (
            "Re: hello".into(),
            "1\n> Approval: appr_12ab.",
            Some("appr_12ab"),
        ),
        ("Re: [hello]".into(), "1", None),
        ("Re: [appr_]".into(), "appr_ [x", None),
        ("]appr_1[".into(), "", None),
    ] {
        assert_eq!(
            approval_id_in(&subject, body).as_deref(),
            expected,
            "{subject}"
        );
    }
}

proptest! {
    #[test]
    fn no_text_breaks_it_and_only_an_own_line_decides(text in "(1|5|>|\\||`|```|\n|\r\n| |:|On |wrote|3 Mar 2026|@|--|x|é){0,30}") {
        if let Ok(reply) = first_line(&text) {
            let begins = |line: &&str| line.trim().starts_with(reply.code.as_str());
            let line = text.lines().find(begins);
            prop_assert!(line.is_some());
            let alone = !matches!(reply.code, Code::Once | Code::Session | Code::Always);
            prop_assert!(alone || text.lines().any(|line| line.trim() == reply.code.as_str()));
        }
        let _ = approval_id_in(&text, &text);
    }
}

#[test]
fn p13_a_sentence_that_ends_like_an_attribution_is_read() {
    let quote = "> rm -rf ./build\n";
    for text in [
        format!("1\n\nSorry, I meant 3, as you wrote:\n{quote}"),
        format!("6\n\nNein, ich meinte 3, wie Bob schrieb:\n{quote}"),
        format!("No, as Bob wrote:\n{quote}\n1"),
        format!("Not before 10:00:\n{quote}\n1"),
        format!("Nicht vor 10:00:\n{quote}\n6"),
    ] {
        let read = first_line(&text);
        assert!(read.is_err(), "{text:?} {read:?}");
    }
    let attributed = format!("1\n\nOn Tue, Jan 3 Bob wrote:\n{quote}");
    assert!(first_line(&attributed).is_ok(), "{attributed:?}");
    let unmarked = format!("1\n\n{}Approval: appr_2f31c6\nSession: r3\n", unmarked());
    assert!(first_line(&unmarked).is_ok(), "{unmarked:?}");
}
