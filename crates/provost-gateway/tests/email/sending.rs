//! What goes out, and what a server may say to it.

use std::sync::Arc;

use provost_core::{
    delivery::Purpose,
    ids::ApprovalId,
    menu::{Code, Reply},
    ports::{Channel as _, Undelivered},
};
use provost_gateway::channels::{Sender, email::Email};

use crate::{
    desk::{MemoryDesk, card, ended},
    site::{Site, YOU, settings},
};

fn by(name: &str, via: &str) -> Sender {
    Sender {
        name: name.into(),
        via: via.into(),
    }
}

#[tokio::test]
async fn a_question_is_a_mail_with_all_that_a_reply_needs() {
    let site = Site::sending().await;
    let asked = site.ask(YOU).await;
    let (id, mail) = (&asked.delivery.approval_id, &asked.mail);
    assert_eq!(mail.to(), YOU);
    assert_eq!(
        mail.subject(),
        format!("claude asks: Clean up the büild folder [{id}]")
    );
    assert!(mail.reply_to().starts_with("gate+") && mail.reply_to().ends_with("@example.com"));
    assert!(mail.reply_to().split('@').next().unwrap().len() <= 64);
    assert_eq!(mail.header("Auto-Submitted"), "auto-generated");
    let shown = site.desk.state().deliveries[0].shown.clone().unwrap();
    assert_eq!(mail.header("Message-ID"), format!("<{}>", shown.key));
    let link = format!("https://gate.example.com/a/{}", asked.delivery.id);
    for text in [mail.text(), mail.html()] {
        for part in ["rm -rf build", "[6] Always allow this", &link, id.as_str()] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }
}

#[tokio::test]
async fn reminders_and_the_end_stand_in_the_thread_of_the_question() {
    let site = Site::sending().await;
    let first = site.ask(YOU).await;
    let id = &first.delivery.approval_id;
    let above = first.mail.header("Message-ID");
    let reminder = site
        .show(site.desk.deliver_as(id, YOU, Purpose::Remind))
        .await;
    assert!(reminder.mail.subject().starts_with("Reminder: "));
    assert_eq!(reminder.mail.header("In-Reply-To"), above);
    assert_eq!(reminder.mail.header("References"), above);
    assert_ne!(reminder.mail.header("Message-ID"), above);

    let shown = site.desk.state().deliveries[0].shown.clone().unwrap();
    let end = ended(id, &by("alice", "telegram"), &Reply::bare(Code::Deny));
    site.email
        .close(&first.delivery, &shown, &end)
        .await
        .unwrap();
    let mails = site.smtp.mails();
    assert_eq!(mails.len(), 3);
    assert_eq!(mails[2].header("In-Reply-To"), above);
    let shown = site.desk.state().deliveries[1].shown.clone().unwrap();
    site.email
        .close(&reminder.delivery, &shown, &end)
        .await
        .unwrap();
    assert_eq!(site.smtp.mails().len(), 3, "the end is told once");
    assert!(
        mails[2].text().contains("Denied by alice (telegram)"),
        "{}",
        mails[2].text()
    );
}

#[tokio::test]
async fn whoever_decided_by_mail_needs_no_mail_about_it() {
    let site = Site::sending().await;
    let asked = site.ask(YOU).await;
    let (id, shown) = (
        &asked.delivery.approval_id,
        site.desk.state().deliveries[0].shown.clone().unwrap(),
    );
    let close = async |name: &str, via: &str| {
        let end = ended(id, &by(name, via), &Reply::bare(Code::Once));
        site.email
            .close(&asked.delivery, &shown, &end)
            .await
            .unwrap();
        site.smtp.mails().len() - 1
    };
    assert_eq!(close("email:you@domain.com", "email").await, 0);
    assert_eq!(close("email:other@domain.com", "email").await, 1);
    assert_eq!(close("email:you@domain.com", "console").await, 2);
    let name = ("you@domain.com".to_owned(), "Yolanda".to_owned());
    site.desk.state().people.extend([name]);
    assert_eq!(close("Yolanda", "email").await, 2);
    assert_eq!(close("email:you@domain.com", "email").await, 3);
    site.email
        .close(&asked.delivery, &shown, &card(id))
        .await
        .unwrap();
    assert_eq!(
        site.smtp.mails().len(),
        4,
        "what has not ended is not closed"
    );
}

#[tokio::test]
async fn a_server_says_later_or_never() {
    let mut site = Site::sending().await;
    let show = async |site: &Site, to: &str| {
        let delivery = site.desk.deliver(to);
        site.email
            .show(&delivery, &card(&delivery.approval_id))
            .await
            .unwrap_err()
    };
    let never = show(&site, "never@domain.com").await;
    assert!(
        matches!(&never, Undelivered::Never { why } if why.contains("550")),
        "{never:?}"
    );
    let later = show(&site, "later@domain.com").await;
    assert!(
        matches!(&later, Undelivered::Later { why, .. } if why.contains("451")),
        "{later:?}"
    );
    for bad in [
        "you",
        "you@domain.com, me@domain.com",
        "you@domain.com\r\nBcc: me@domain.com",
    ] {
        let never = show(&site, bad).await;
        assert!(matches!(never, Undelivered::Never { .. }), "{never:?}");
    }
    site.ask(YOU).await;
    site.smtp.stop();
    let later = show(&site, YOU).await;
    assert!(matches!(later, Undelivered::Later { .. }), "{later:?}");
}

#[tokio::test]
async fn a_wrong_password_and_missing_encryption_are_for_later_and_tell_no_secret() {
    let site = Site::sending().await;
    let port = site.smtp.port;
    for url in [
        format!("smtp://gate:hunter2@127.0.0.1:{port}"),
        format!("{}?tls=required", site.smtp.url()),
        format!("smtps://gate:hunter2@127.0.0.1:{port}"),
    ] {
        let desk = Arc::new(MemoryDesk::default());
        let email = Email::new(settings(&url, None), desk.clone())
            .await
            .unwrap();
        let delivery = desk.deliver(YOU);
        let error = email
            .show(&delivery, &card(&delivery.approval_id))
            .await
            .unwrap_err();
        assert!(matches!(error, Undelivered::Later { .. }), "{error:?}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    assert!(site.smtp.mails().is_empty());
}

#[tokio::test]
async fn many_mails_share_few_connections() {
    let site = Site::sending().await;
    for _ in 0..5 {
        site.ask(YOU).await;
    }
    let ids: Vec<ApprovalId> = (0..20).map(|_| ApprovalId::requested()).collect();
    let sent = ids.iter().map(|id| async {
        let delivery = site.desk.deliver_as(id, YOU, Purpose::Ask);
        site.email.show(&delivery, &card(id)).await.unwrap();
    });
    futures_util::future::join_all(sent).await;
    assert_eq!(site.smtp.mails().len(), 25);
    let opened = site.smtp.connections();
    // One that is on its way back to the pool is open beside the new one.
    assert!(
        opened.len() < 20 && opened.iter().all(|open| *open <= 8),
        "{opened:?}"
    );
}
