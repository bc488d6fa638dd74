//! Replies that decide, as mail programs write them.

use provost_core::menu::{Code, Reply};
use provost_gateway::channels::Sender;

use crate::{
    post::Mail,
    site::{Site, YOU},
};

struct Style {
    name: &'static str,
    body: fn(&Mail) -> String,
    code: Code,
    text: Option<&'static str>,
}

const fn style(
    name: &'static str,
    code: Code,
    text: Option<&'static str>,
    body: fn(&Mail) -> String,
) -> Style {
    Style {
        name,
        body,
        code,
        text,
    }
}

const STYLES: &[Style] = &[
    style("a bare yes", Code::Once, None, |_| "\n1\n".into()),
    style("a no", Code::Deny, None, |_| "\n3\n".into()),
    style(
        "a note, Gmail in English",
        Code::Note,
        Some("add logs"),
        |mail| {
            format!(
                "\n4 add logs\n\nOn Tue, Mar 3, 2026 at 10:00 AM Provost <gate@example.com>\nwrote:\n\n{}\n",
                mail.quoted()
            )
        },
    ),
    style(
        "an override, Apple Mail in Russian",
        Code::Change,
        Some("npm test"),
        |mail| {
            let head = "Content-Type: text/plain; charset=utf-8\n";
            format!(
                "{head}\n5 npm test\n\n1 марта 2026 г., в 10:00, Provost <gate@example.com> написал(а):\n\n{}\n",
                mail.quoted()
            )
        },
    ),
    style(
        "for the session, Thunderbird in German",
        Code::Session,
        None,
        |mail| {
            let head = "Content-Type: text/plain; charset=utf-8; format=flowed\n";
            format!(
                "{head}\n2\n\nAm 03.03.26 um 10:00 schrieb Provost:\n{}\n\n-- \nViele Grüße\n",
                mail.quoted()
            )
        },
    ),
    style(
        "below the quote, mutt in Spanish",
        Code::Deny,
        None,
        |mail| {
            let head = "Content-Type: text/plain; charset=utf-8\n";
            format!(
                "{head}\nEl 3 mar 2026 a las 10:00, Provost escribió:\n{}\n\n3\n",
                mail.quoted()
            )
        },
    ),
    style(
        "Outlook in French, without marks",
        Code::Note,
        Some("d'accord"),
        |mail| {
            let head = "Content-Type: text/plain; charset=utf-8\n";
            format!(
                "{head}\n4 yes: d'accord\n\n________________________________\nDe : Provost\nEnvoyé : mardi 3 mars 2026 10:00\nÀ : You\n\n{}\n",
                mail.text()
            )
        },
    ),
    style("a phone in Japanese, in base64", Code::Once, None, |_| {
        // 1, then "Sent from iPhone" and a line that introduces the quote.
        let text = "MQoKaVBob25l44GL44KJ6YCB5L+hCgoyMDI25bm0M+aciDPml6Uo54GrKSAxMDowMCBQcm92b3N0IDxnYXRlQGV4YW1wbGUuY29tPjoKCj4gMwo=";
        format!(
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n{text}\n"
        )
    }),
    style(
        "HTML only, Gmail",
        Code::Change,
        Some("npm ci && npm test"),
        |mail| {
            let quote = mail.html().replace("\r\n", "\n");
            format!(
                "Content-Type: text/html; charset=utf-8\n\n<div dir=\"ltr\">5 npm ci &amp;&amp; npm test</div><br><div class=\"gmail_quote\"><div class=\"gmail_attr\">On Tue, Provost wrote:</div><blockquote>{quote}</blockquote></div>\n"
            )
        },
    ),
    style(
        "HTML only, Outlook",
        Code::Deny,
        Some("too risky"),
        |mail| {
            let quote = mail.html().replace("\r\n", "\n");
            format!(
                "Content-Type: text/html; charset=utf-8\n\n<div class=WordSection1><p class=MsoNormal>3 too risky<o:p></o:p></p><div style='border:none;border-top:solid #E1E1E1 1.0pt'><p class=MsoNormal><b>From:</b> Provost</p></div>{quote}</div>\n"
            )
        },
    ),
    style(
        "several lines between fences",
        Code::Change,
        Some("npm ci\nnpm test"),
        |mail| {
            format!(
                "\n5\n```\nnpm ci\nnpm test\n```\n\nProvost wrote:\n{}\n",
                mail.quoted()
            )
        },
    ),
    style(
        "both kinds of text, the plain one wrapped",
        Code::Change,
        Some("cargo test --workspace --all-features --locked"),
        |mail| {
            format!(
                "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n5 cargo test --workspace\n--all-features --locked\n\nProvost wrote:\n{}\n--b\nContent-Type: text/html\n\n<div>5 cargo test --workspace --all-features --locked</div><blockquote>1</blockquote>\n--b--\n",
                mail.quoted()
            )
        },
    ),
];

#[tokio::test]
async fn replies_decide_whatever_program_wrote_them() {
    let site = Site::reading().await;
    for style in STYLES {
        let asked = site.ask(YOU).await;
        site.imap()
            .put(asked.mail.reply(YOU, &(style.body)(&asked.mail)))
            .await;
        let decided = site.decision(&asked, style.name).await;
        let expected = Reply {
            code: style.code,
            text: style.text.map(str::to_owned),
            marked: decided.marked,
        };
        assert_eq!(decided, expected, "{}", style.name);
    }
    site.all_handled().await;
    assert_eq!(site.imap().unseen().await, 0);
    assert_eq!(
        site.smtp.mails().len(),
        STYLES.len() + 1,
        "nobody was asked again"
    );
}

#[tokio::test]
async fn a_reply_is_found_by_its_token_or_by_its_thread() {
    let site = Site::reading().await;
    let by_token = site.ask(YOU).await;
    let reply = by_token.mail.reply("you@DOMAIN.com", "\n1\n");
    let reply = without(&without(&reply, "In-Reply-To"), "References");
    site.imap().put(without(&reply, "Subject")).await;
    site.decision(&by_token, "by token").await;

    let by_thread = site.ask(YOU).await;
    let reply = without(&by_thread.mail.reply(YOU, "\n1\n"), "To");
    site.imap().put(without(&reply, "References")).await;
    site.decision(&by_thread, "by In-Reply-To").await;

    let by_references = site.ask(YOU).await;
    let reply = without(&by_references.mail.reply(YOU, "\n1\n"), "To");
    site.imap().put(without(&reply, "In-Reply-To")).await;
    site.decision(&by_references, "by References").await;
}

#[tokio::test]
async fn the_decision_names_the_person() {
    let site = Site::reading().await;
    let first = site.ask(YOU).await;
    site.imap().put(first.mail.reply(YOU, "\n1\n")).await;
    site.decision(&first, "a decision").await;
    let name = (YOU.to_owned(), "Yolanda".to_owned());
    site.desk.state().people.extend([name]);
    let second = site.ask(YOU).await;
    site.imap().put(second.mail.reply(YOU, "\n1\n")).await;
    site.decision(&second, "a decision").await;
    for (asked, name) in [(first, "email:you@domain.com"), (second, "Yolanda")] {
        let (sender, _) = site.desk.decision(&asked.delivery).unwrap();
        assert_eq!(
            sender,
            Sender {
                name: name.into(),
                via: "email".into()
            }
        );
    }
}

#[tokio::test]
async fn a_mail_that_comes_twice_counts_once() {
    let site = Site::reading().await;
    let asked = site.ask(YOU).await;
    let reply = asked.mail.reply(YOU, "\n3\n");
    for _ in 0..3 {
        site.imap().put(&reply).await;
    }
    site.all_handled().await;
    assert_eq!(
        site.desk.decision(&asked.delivery).unwrap().1,
        Reply::bare(Code::Deny)
    );
    assert_eq!(
        site.desk.state().replies,
        2,
        "one of them, and the last mail"
    );
    assert_eq!(site.smtp.mails().len(), 2);
}

/// Without a header and the lines that continue it.
pub(crate) fn without(mail: &str, header: &str) -> String {
    let (head, body) = mail.split_once("\r\n\r\n").unwrap();
    let mut kept = Vec::new();
    let mut dropping = false;
    for line in head.split("\r\n") {
        if !line.starts_with([' ', '\t']) {
            dropping = line
                .to_ascii_lowercase()
                .starts_with(&format!("{}:", header.to_ascii_lowercase()));
        }
        if !dropping {
            kept.push(line);
        }
    }
    format!("{}\r\n\r\n{body}", kept.join("\r\n"))
}
