//! Mails that decide nothing and are not answered.

use crate::{
    replies::without,
    site::{Site, YOU},
};
use provost_core::ids::DeliveryId;

#[tokio::test]
async fn strangers_and_programs_decide_nothing() {
    let site = Site::reading().await;
    let asked = site.ask(YOU).await;
    let (mail, id) = (&asked.mail, &asked.delivery.approval_id);
    let yes = mail.reply(YOU, "\n1\n");
    let spoofed = |from: &str| yes.replace("From: Someone <you@domain.com>", from);
    let other_token = site.ask("other@domain.com").await.mail;
    let mails = [
        ("another sender with the token", mail.reply("me@evil.example", "\n1\n")),
        ("a forward to somebody else", mail.reply("colleague@domain.com", "\n1\n")),
        ("a name that looks like the target", spoofed("From: \"you@domain.com\" <me@evil.example>")),
        ("two senders", spoofed("From: you@domain.com, me@evil.example")),
        ("two headers", spoofed("From: me@evil.example\r\nFrom: you@domain.com")),
        ("no sender", without(&yes, "From")),
        ("only a Sender", spoofed("Sender: you@domain.com")),
        ("a subdomain", mail.reply("you@mail.domain.com", "\n1\n")),
        ("an absence note", mail.reply(YOU, "Auto-Submitted: auto-replied\n\n1\n")),
        ("an old absence note", mail.reply(YOU, "Precedence: auto_reply\n\n1\n")),
        ("a mailing list", mail.reply(YOU, "List-Id: <all.domain.com>\n\n1\n")),
        ("a bounce", mail.reply("MAILER-DAEMON@domain.com", "Return-Path: <>\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\n1\n--b--\n")),
        ("a null sender", mail.reply(YOU, "Return-Path: <>\n\n1\n")),
        ("a wrong token", {
            let token = mail.reply_to();
            let wrong = token.replace("gate+", "gate+a");
            strip_thread(&yes.replace(&token, &wrong)).replace(id.as_str(), "x")
        }),
        ("a token without its hash", {
            let bare = format!("gate+{}@example.com", DeliveryId::random());
            strip_thread(&yes.replace(&mail.reply_to(), &bare)).replace(id.as_str(), "x")
        }),
        ("somebody else's question", other_token.reply(YOU, "\n1\n")),
        ("about nothing", format!("From: {YOU}\r\nTo: gate@example.com\r\nSubject: hello\r\n\r\n1\r\n")),
        ("no mail at all", "\u{0}\u{1}\u{2}".into()),
        ("empty", "\r\n".into()),
        ("broken MIME", format!("From: {YOU}\r\nContent-Type: multipart/mixed; boundary=\r\n\r\n--\r\n--\r\n")),
    ];
    for (_, raw) in &mails {
        site.imap().put(raw).await;
    }
    site.all_handled().await;
    assert!(site.desk.decision(&asked.delivery).is_none());
    assert_eq!(site.desk.state().decided.len(), 1, "only the last mail");
    assert_eq!(site.smtp.mails().len(), 3, "nobody of them was answered");
    assert_eq!(
        site.imap().unseen().await,
        mails.len(),
        "what is not for us stays unread"
    );

    site.imap().put(&yes).await;
    site.decision(&asked, "the true reply").await;
}

#[tokio::test]
async fn our_own_mails_decide_nothing() {
    let site = Site::reading().await;
    let asked = site.ask("gate@example.com").await;
    let own = asked.mail.reply("gate@example.com", "\n1\n");
    let id = asked.mail.header("Message-ID");
    let own = without(&own, "Message-ID").replacen("To:", &format!("Message-ID: {id}\r\nTo:"), 1);
    site.imap().put(own).await;
    site.all_handled().await;
    assert!(site.desk.decision(&asked.delivery).is_none());
    // Whoever asks themselves at the gate's own address can still answer.
    site.imap()
        .put(asked.mail.reply("gate@example.com", "\n1\n"))
        .await;
    site.decision(&asked, "a reply from our own address").await;
}

#[tokio::test]
async fn whoever_left_people_decides_nothing() {
    let site = Site::reading().await;
    let delivery = site.desk.deliver(YOU);
    for kept in &mut site.desk.state().deliveries {
        kept.plan.person = Some("you".into());
    }
    let asked = site.show(delivery).await;
    let yes = asked.mail.reply(YOU, "\n1\n");
    site.imap().put(&yes).await;
    site.all_handled().await;
    assert!(site.desk.decision(&asked.delivery).is_none());

    site.desk.state().people.insert(YOU.into(), "you".into());
    let again = without(&yes, "Message-ID");
    site.imap().put(again).await;
    site.decision(&asked, "one of `people` again").await;
}

/// The token is then all that finds the question.
fn strip_thread(mail: &str) -> String {
    without(&without(mail, "In-Reply-To"), "References")
}
