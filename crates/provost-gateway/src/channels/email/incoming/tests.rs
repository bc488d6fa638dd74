//! Mails as programs send them.

use proptest::prelude::*;

use super::*;
use crate::channels::email::reply::{self, Misread};
use provost_core::menu::{Code, Reply, Unclear};

/// A mail with these lines after its first headers.
fn mail(lines: &str) -> Incoming {
    let raw = format!(
        "Message-ID: <m1@domain.com>\r\nSubject: Re: Run [appr_1]\r\nIn-Reply-To: <ask.x@example.com>\r\n\
         References: <a@b>\r\n <ask.x@example.com>\r\nTo: Gate <gate+tok@example.com>\r\n{}",
        lines.replace('\n', "\r\n")
    );
    read_reply(raw.as_bytes()).unwrap()
}

fn decision(incoming: &Incoming) -> Result<Reply, Misread> {
    reply::read(incoming.plain.as_deref(), incoming.html.as_deref())
}

const FROM: &str = "From: You <you@domain.com>\n";

#[test]
fn the_parts_of_a_reply_are_found() {
    let incoming = mail(&format!("{FROM}Delivered-To: gate+two@example.com\n\n1\n"));
    assert_eq!(incoming.from.unwrap().to_string(), "you@domain.com");
    assert_eq!(incoming.message_id.as_deref(), Some("m1@domain.com"));
    assert_eq!(incoming.in_reply_to, ["ask.x@example.com"]);
    assert_eq!(incoming.references, ["a@b", "ask.x@example.com"]);
    assert_eq!(incoming.subject, "Re: Run [appr_1]");
    let to: Vec<String> = incoming.to.iter().map(ToString::to_string).collect();
    assert_eq!(to, ["gate+tok@example.com", "gate+two@example.com"]);
    assert!(!incoming.automatic);
    assert_eq!(incoming.plain.as_deref().map(str::trim), Some("1"));
}

#[test]
fn a_mail_is_from_one_address_or_from_nobody() {
    for (from, expected) in [
        ("From: you@domain.com\n", Some("you@domain.com")),
        ("From: <you@DOMAIN.com>\n", Some("you@domain.com")),
        (
            "from: \"You, there\" <you@domain.com>\n",
            Some("you@domain.com"),
        ),
        (
            "From: \"you@domain.com\" <me@evil.example>\n",
            Some("me@evil.example"),
        ),
        (
            "From: you@domain.com <me@evil.example>\n",
            Some("me@evil.example"),
        ),
        (
            "From: =?utf-8?q?you=40domain.com?= <me@evil.example>\n",
            Some("me@evil.example"),
        ),
        ("From: you@domain.com\nFrom: me@evil.example\n", None),
        ("From: me@evil.example\nFrom: you@domain.com\n", None),
        ("From: you@domain.com, me@evil.example\n", None),
        ("From: me@evil.example, you@domain.com\n", None),
        ("From: Friends: you@domain.com;\n", None),
        ("From: you\n", None),
        ("From:\n", None),
        ("Sender: you@domain.com\n", None),
        ("Reply-To: you@domain.com\n", None),
        ("X-From: you@domain.com\n", None),
    ] {
        let found = mail(&format!("{from}\n1\n"))
            .from
            .map(|from| from.to_string());
        assert_eq!(found.as_deref(), expected, "{from}");
    }
}

#[test]
fn mails_of_programs_are_known() {
    for head in [
        "Auto-Submitted: auto-replied\n",
        "Auto-Submitted: auto-generated; x=y\n",
        "auto-submitted:  Auto-Replied\n",
        "Precedence: bulk\n",
        "Precedence: auto_reply\n",
        "X-Autoreply: yes\n",
        "X-Autorespond: x\n",
        "List-Id: <list.example.com>\n",
        "Return-Path: <>\n",
        "X-Failed-Recipients: x@example.com\n",
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n",
    ] {
        assert!(mail(&format!("{FROM}{head}\n1\n")).automatic, "{head}");
    }
    for head in [
        "Auto-Submitted: no\n",
        "Precedence: first-class\n",
        "Return-Path: <you@domain.com>\n",
        "",
    ] {
        assert!(!mail(&format!("{FROM}{head}\n1\n")).automatic, "{head}");
    }
    for from in [
        "MAILER-DAEMON@domain.com",
        "postmaster@domain.com",
        "no-reply@domain.com",
    ] {
        assert!(mail(&format!("From: {from}\n\n1\n")).automatic, "{from}");
    }
    for subject in [
        "Automatic reply: Run [appr_1]",
        "Abwesenheitsnotiz: Run",
        "Undeliverable: Run",
        "自動返信: x",
        "Urlaub: Re: x",
        "OOO Re: x",
        "Otomatik yanıt: x",
        "Odpowiedź automatyczna: x",
        "[EXT] Automatic reply: x",
    ] {
        let raw = format!("{FROM}Subject: {subject}\n\n1\n");
        assert!(read_reply(raw.as_bytes()).unwrap().automatic, "{subject}");
    }
}

#[test]
fn p13_mails_that_ask_for_no_absence_note_are_automatic() {
    let raw = format!("{FROM}X-Auto-Response-Suppress: All\n\n3 weeks off\n");
    assert!(read_reply(raw.as_bytes()).unwrap().automatic);
    for subject in [
        "Re: x [appr_1]",
        "[appr_1]",
        "Ooops [appr_1]",
        "AW: Urlaub [appr_1]",
    ] {
        assert!(!is_automatic_subject(subject), "{subject}");
    }
}

#[test]
fn p13_every_part_that_is_seen_is_read() {
    let plain = |text: &str| format!("--b\nContent-Type: text/plain\n\n{text}\n");
    let html = |text: &str| format!("--b\nContent-Type: text/html\n\n{text}\n");
    let image = "--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\neA==\n";
    let caution = "CAUTION: This email originated from outside the organization.";
    for (parts, expected) in [
        (
            vec![
                plain("1"),
                image.to_owned(),
                plain("Sorry, no:\n3 too risky"),
            ],
            None,
        ),
        (
            vec![
                html("<div>1</div>"),
                image.to_owned(),
                html("<div>3 too risky</div>"),
            ],
            None,
        ),
        (
            vec![plain("1"), image.to_owned(), html("<div>3 no</div>")],
            None,
        ),
        (vec![plain(caution), plain("1")], Some(Code::Once)),
        (
            vec![plain("1"), image.to_owned(), plain("Bob")],
            Some(Code::Once),
        ),
    ] {
        let body = format!(
            "{FROM}Content-Type: multipart/mixed; boundary=b\n\n{}--b--\n",
            parts.concat()
        );
        let decided = decision(&mail(&body)).ok().map(|reply| reply.code);
        assert_eq!(decided, expected, "{body}");
    }
}

#[test]
fn p13_an_unknown_encoding_is_asked_about() {
    let body = "Content-Type: text/plain; charset=x-unknown\nContent-Transfer-Encoding: base64\n\nNCCDjYNPCg==\n";
    assert_eq!(
        decision(&mail(&format!("{FROM}{body}"))),
        Err(Unclear::Unreadable.into())
    );
}

#[expect(clippy::unnecessary_wraps, reason = "what a table expects")]
fn ok(code: Code, text: Option<&str>) -> Result<Reply, Misread> {
    Ok(Reply {
        code,
        text: text.map(str::to_owned),
        ..Reply::bare(Code::Once)
    })
}

#[test]
fn bodies_are_decoded_however_they_were_sent() {
    for (name, body, expected) in [
        (
            "quoted-printable",
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n4 add a caf=C3=A9 =\nnoir\n\n> x\n",
            ok(Code::Note, Some("add a café noir")),
        ),
        (
            "base64",
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nNSBucG0gdGVzdAo=\n",
            ok(Code::Change, Some("npm test")),
        ),
        (
            "latin-1",
            "Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n3 pas s=FBr\n\nLe 3 mars 2026 =E0 10:00, Gate a =E9crit :\n> 1\n",
            ok(Code::Deny, Some("pas sûr")),
        ),
        (
            "iso-2022-jp",
            "Content-Type: text/plain; charset=iso-2022-jp\n\n4 add the \u{1b}$B%m%0\u{1b}(B\n",
            ok(Code::Note, Some("add the ログ")),
        ),
        (
            "gb18030",
            "Content-Type: text/plain; charset=gb18030\nContent-Transfer-Encoding: base64\n\nNCBhZGQgdGhlIMjV1r4K\n",
            ok(Code::Note, Some("add the 日志")),
        ),
        (
            "flowed",
            "Content-Type: text/plain; charset=utf-8; format=flowed\n\n5 npm run \nbuild\n\n> 1\n",
            ok(Code::Change, Some("npm run build")),
        ),
        (
            "html only, Gmail",
            "Content-Type: text/html; charset=utf-8\n\n<div dir=\"ltr\">5 npm test</div><br><div class=\"gmail_quote\"><div dir=\"ltr\" class=\"gmail_attr\">On Tue wrote:<br></div><blockquote class=\"gmail_quote\">1<br>2</blockquote></div>\n",
            ok(Code::Change, Some("npm test")),
        ),
        (
            "html only, Outlook",
            "Content-Type: text/html; charset=utf-8\n\n<html><head><style>p {}</style></head><body><div class=WordSection1><p class=MsoNormal>3 too risky<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in'><p class=MsoNormal><b>From:</b> Gate</p></div><p>1</p></div></body></html>\n",
            ok(Code::Deny, Some("too risky")),
        ),
        (
            "html only, Outlook on the web",
            "Content-Type: text/html; charset=utf-8\n\n<div class=\"elementToProof\">2</div><div id=\"appendonsend\"></div><hr><div id=\"divRplyFwdMsg\" dir=\"ltr\"><b>From:</b> Gate<br></div><div>1</div>\n",
            ok(Code::Session, None),
        ),
        (
            "html only, Apple Mail",
            "Content-Type: text/html; charset=utf-8\n\n<html><body>6<br><div><br><blockquote type=\"cite\"><div>On 3 Mar 2026, at 10:00, Gate wrote:</div><br><div>1</div></blockquote></div></body></html>\n",
            ok(Code::Always, None),
        ),
        (
            "html only, Thunderbird, below the quote",
            "Content-Type: text/html; charset=utf-8\n\n<body><div class=\"moz-cite-prefix\">On 03.03.26 10:00, Gate wrote:<br></div><blockquote type=\"cite\"><pre>1\n2</pre></blockquote><p>3</p></body>\n",
            ok(Code::Deny, None),
        ),
        (
            "alternatives, the plain one wrapped",
            "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\n5 cargo test --workspace --all-features --all-targets --locked\n--no-fail-fast\n\nOn Tue, Gate wrote:\n> 1\n--b\nContent-Type: text/html; charset=utf-8\n\n<div>5 cargo test --workspace --all-features --all-targets --locked --no-fail-fast</div><div class=\"gmail_quote\">1</div>\n--b--\n",
            ok(
                Code::Change,
                Some("cargo test --workspace --all-features --all-targets --locked --no-fail-fast"),
            ),
        ),
        (
            "mixed with an attachment that says otherwise",
            "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n3\n--b\nContent-Type: text/plain; name=a.txt\nContent-Disposition: attachment; filename=a.txt\n\n1\n--b--\n",
            ok(Code::Deny, None),
        ),
        (
            "signed",
            "Content-Type: multipart/signed; boundary=b; protocol=\"application/pgp-signature\"\n\n--b\nContent-Type: text/plain\n\n1\n\n> x\n--b\nContent-Type: application/pgp-signature\n\nx\n--b--\n",
            ok(Code::Once, None),
        ),
    ] {
        assert_eq!(
            decision(&mail(&format!("{FROM}{body}"))),
            expected,
            "{name}"
        );
    }
}

#[test]
fn a_mail_without_text_decides_nothing() {
    for body in [
        "\n",
        "Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n\nMQ==\n",
        "Content-Type: multipart/mixed; boundary=b\n\n--b--\n",
        "Content-Type: text/html\n\n<blockquote>1</blockquote>\n",
        "Content-Type: text/calendar\n\n1\n",
    ] {
        assert!(decision(&mail(&format!("{FROM}{body}"))).is_err(), "{body}");
    }
}

#[test]
fn a_forwarded_reply_is_from_one_address_too() {
    let long = "a.name.that.is.quite.a.bit.longer@domain.com";
    for (from, expected) in [
        ("you@domain.com", Some("you@domain.com")),
        ("You <you@Domain.com>", Some("you@domain.com")),
        (long, Some(long)),
        (
            "\"you@domain.com\" <me@evil.example>",
            Some("me@evil.example"),
        ),
        ("you@domain.com, me@evil.example", None),
        ("me@evil.example\r\nFrom: you@domain.com", None),
        ("", None),
    ] {
        let found = sender_named(from).map(|from| from.to_string());
        assert_eq!(found.as_deref(), expected, "{from:?}");
    }
}

#[test]
fn odd_ids_are_left_out() {
    let raw = "From: a@b.c\r\nIn-Reply-To: <a b@c> <ok@c>\r\nReferences: <\u{e9}@c> <fine@c>\r\n\r\n1\r\n";
    let incoming = read_reply(raw.as_bytes()).unwrap();
    for id in incoming.in_reply_to.iter().chain(&incoming.references) {
        assert!(id.bytes().all(|b| b.is_ascii_graphic()), "{id}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_it(raw in proptest::collection::vec(any::<u8>(), 0..600)) {
        if let Some(incoming) = read_reply(&raw) {
            let _ = decision(&incoming);
        }
    }

    #[test]
    fn no_mail_breaks_it(raw in "(From: |Content-Type: |text/html|multipart/mixed; boundary=b|--b|\r\n|\r\n\r\n|<div>|=|1|@|a){0,60}") {
        if let Some(incoming) = read_reply(raw.as_bytes()) {
            let _ = decision(&incoming);
        }
    }
}
