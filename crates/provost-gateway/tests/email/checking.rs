//! What is wrong with the mail servers is found before anybody is asked.

use std::sync::Arc;

use provost_core::{
    approval::Kind,
    card::Card,
    menu::{Code, Reply},
    ports::Channel as _,
};
use provost_gateway::channels::{Sender, email::Email};
use tokio_util::sync::CancellationToken;

use crate::{
    desk::{MemoryDesk, card},
    post::{Imap, Smtp, eventually},
    site::{Asked, Site, YOU, settings},
};

async fn email(smtp: &str, imap: Option<&str>) -> Arc<Email> {
    let desk = Arc::new(MemoryDesk::default());
    Arc::new(Email::new(settings(smtp, imap), desk).await.unwrap())
}

#[tokio::test]
async fn p12_mail_servers_that_work_have_no_problem() {
    let (smtp, imap) = (Smtp::start(), Imap::start().await);
    let email = email(&smtp.url(), Some(&imap.url())).await;
    assert_eq!(email.check().await, []);
    assert_eq!(email.reading_problem(), None);
    assert!(smtp.mails().is_empty(), "nobody is disturbed");
}

#[tokio::test]
async fn p12_a_mail_server_that_is_not_there_is_told_with_what_to_do() {
    let email = email("smtp://127.0.0.1:9", None).await;
    let problems = email.check().await;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].problem.contains("cannot be sent"),
        "{problems:?}"
    );
    assert!(
        problems[0].help.contains("channels.email.smtp"),
        "{problems:?}"
    );
}

#[tokio::test]
async fn p12_an_smtp_login_that_fails_is_told_with_what_to_do() {
    let smtp = Smtp::start();
    let url = format!("smtp://gate:wrong-password@127.0.0.1:{}", smtp.port);
    let problems = email(&url, None).await.check().await;
    let [problem] = &*problems else {
        panic!("{problems:?}")
    };
    assert!(problem.problem.contains("refuses the login"), "{problem:?}");
    assert!(problem.help.contains("channels.email.smtp"), "{problem:?}");
    assert!(
        !format!("{problem:?}").contains("wrong-password"),
        "{problem:?}"
    );
}

#[tokio::test]
async fn p12_an_imap_login_that_fails_is_told_until_it_works() {
    let imap = Imap::start().await;
    let (before, place) = imap
        .url()
        .rsplit_once('@')
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let user = before
        .trim_start_matches("imap://")
        .split(':')
        .next()
        .unwrap()
        .to_owned();
    let wrong = format!("imap://{user}:wrong-password@{place}");
    let smtp = Smtp::start();
    let email = email(&smtp.url(), Some(&wrong)).await;
    let stop = CancellationToken::new();
    let reading = tokio::spawn({
        let (email, stop) = (email.clone(), stop.clone());
        async move { email.receive(stop).await }
    });
    let problem = eventually("the problem", async || email.reading_problem()).await;
    assert!(problem.problem.contains("refuses the login"), "{problem:?}");
    assert!(problem.help.contains("channels.email.imap"), "{problem:?}");
    assert!(
        !format!("{problem:?}").contains("wrong-password"),
        "{problem:?}"
    );
    stop.cancel();
    reading.await.unwrap();
}

#[tokio::test]
async fn p12_a_mailbox_that_says_nothing_is_not_known_to_work() {
    let smtp = Smtp::start();
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "imap://gate:secret@127.0.0.1:{}",
        silent.local_addr().unwrap().port()
    );
    let email = email(&smtp.url(), Some(&url)).await;
    let stop = CancellationToken::new();
    let reading = tokio::spawn({
        let (email, stop) = (email.clone(), stop.clone());
        async move { email.receive(stop).await }
    });
    let (connection, _) = silent.accept().await.unwrap();
    assert_eq!(email.reading_problem(), None);
    assert!(email.is_reading_unknown());
    drop(connection);
    let problem = eventually("the problem", async || email.reading_problem()).await;
    assert!(problem.help.contains("channels.email.imap"), "{problem:?}");
    assert!(!email.is_reading_unknown());
    stop.cancel();
    reading.await.unwrap();
}

#[tokio::test]
async fn p12_a_test_question_by_mail_says_so_and_is_answered_by_mail() {
    let site = Site::reading().await;
    let delivery = site.desk.deliver(YOU);
    let card = Card {
        kind: Kind::Test,
        choices: vec![Code::Once, Code::Deny],
        ..card(&delivery.approval_id)
    };
    let shown = site.email.show(&delivery, &card).await.unwrap();
    site.desk.was_shown(&delivery.id, shown);
    let mail = site.smtp.mails().pop().unwrap();
    assert!(mail.subject().starts_with("Test question from Provost ["));
    let text = mail.text();
    assert!(
        text.starts_with("This is a test question from Provost."),
        "{text}"
    );
    // Nothing of what an agent could have written.
    assert!(!text.contains("rm -rf"), "{text}");
    assert!(!text.contains("claude"), "{text}");
    site.imap().put(mail.reply(YOU, "\n1\n")).await;
    let asked = Asked { delivery, mail };
    let answer = site.decision(&asked, "the answer").await;
    assert_eq!(answer, Reply::bare(Code::Once));
}

#[tokio::test]
async fn what_nobody_decided_is_told_by_mail_and_asks_nothing() {
    let site = Site::reading().await;
    let delivery = site.desk.deliver(YOU);
    let decided = crate::desk::ended(
        &delivery.approval_id,
        &Sender {
            name: "watch".into(),
            via: "acp".into(),
        },
        &Reply::bare(Code::Deny),
    );
    let card = Card {
        kind: Kind::Notice,
        choices: Vec::new(),
        ..decided
    };
    site.email.show(&delivery, &card).await.unwrap();
    let mail = site.smtp.mails().pop().unwrap();
    assert!(mail.subject().starts_with("claude asked nobody ["));
    let text = mail.text();
    let begin = "Provost says: claude used shell.run, and nobody decided that.";
    assert!(text.starts_with(begin), "{text}");
    assert!(text.contains("rm -rf build"), "{text}");
    assert!(text.contains("There is nothing to answer."), "{text}");
    assert!(!text.contains("Allow once"), "{text}");
}
