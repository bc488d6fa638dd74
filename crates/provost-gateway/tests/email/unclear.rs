//! Replies of the right person that are not clear: they are told, a few times.

use provost_core::menu::{Code, Reply};
use provost_gateway::channels::email::{Handled, Ignored, Proof, read_reply};

use crate::{
    post::{Mail, eventually},
    replies::without,
    site::{Site, YOU},
};

#[tokio::test]
async fn an_unclear_reply_is_asked_again_in_its_thread() {
    let site = Site::reading().await;
    let asked = site.ask(YOU).await;
    for (sent, (body, why)) in [
        ("\nyes please\n", "invalid code"),
        ("\n5 npm ci\nnpm test\n", "go on in the next line"),
        ("\n6\n", "6 is not offered here"),
        ("\n9\n", ""),
        ("\n4\n", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = asked.mail.reply(YOU, body);
        site.imap().put(&reply).await;
        if why.is_empty() {
            continue;
        }
        let again = eventually("a mail that asks again", async || {
            site.smtp.mails().into_iter().nth(sent + 1)
        })
        .await;
        assert!(again.text().contains(why), "{}", again.text());
        assert_eq!(again.to(), YOU);
        assert_eq!(again.reply_to(), asked.mail.reply_to());
        let above = again.header("References");
        assert!(
            above.starts_with(&asked.mail.header("Message-ID")),
            "{above}"
        );
        assert!(reply.contains(&again.header("In-Reply-To")));
        assert!(
            again
                .subject()
                .contains(asked.delivery.approval_id.as_str())
        );
    }
    site.all_handled().await;
    assert_eq!(
        site.smtp.mails().len(),
        5,
        "two questions, and three mails that ask again"
    );
    assert!(site.desk.decision(&asked.delivery).is_none());
    let again = site.smtp.mails().remove(1);
    site.imap().put(again.reply(YOU, "\n1\n")).await;
    assert_eq!(
        site.decision(&asked, "a reply to that").await,
        Reply::bare(Code::Once)
    );
}

#[tokio::test]
async fn an_agent_that_knows_the_approval_cannot_pass_for_its_person() {
    let site = Site::reading().await;
    let asked = site.ask(YOU).await;
    let id = &asked.delivery.approval_id;
    let forged = format!(
        "From: {YOU}\r\nTo: gate@example.com\r\nSubject: Re: [{id}]\r\nMessage-ID: <x@y>\r\n\r\n1\r\n"
    );
    site.imap().put(&forged).await;
    site.all_handled().await;
    assert!(site.desk.decision(&asked.delivery).is_none());
    let to_you = |mail: &Mail| mail.to() == YOU;
    let mut mails = site.smtp.mails().into_iter().filter(to_you).skip(1);
    let again = mails.next().expect("the person is told");
    assert!(
        again.text().contains("not a reply to the mail that asked"),
        "{}",
        again.text()
    );
}

#[tokio::test]
async fn who_is_vouched_for_may_name_the_approval() {
    let site = Site::sending().await;
    let asked = site.ask(YOU).await;
    let id = &asked.delivery.approval_id;
    let mail = |from: &str| {
        let raw =
            format!("From: {from}\r\nSubject: Re: Run [{id}]\r\nMessage-ID: <{from}>\r\n\r\n1\r\n");
        read_reply(raw.as_bytes()).unwrap()
    };
    let other = site
        .email
        .take(&mail("me@evil.example"), Proof::Vouched)
        .await
        .unwrap();
    assert_eq!(other, Handled::Ignored(Ignored::NoQuestion));
    let you = site.email.take(&mail(YOU), Proof::Vouched).await.unwrap();
    assert!(matches!(you, Handled::Decided(_)), "{you:?}");
    let twice = site.email.take(&mail(YOU), Proof::Vouched).await.unwrap();
    assert_eq!(twice, Handled::Ignored(Ignored::Replayed));
    let raw = asked.mail.reply(YOU, "\n3\n");
    let late = site
        .email
        .take(&read_reply(raw.as_bytes()).unwrap(), Proof::InTheMail)
        .await
        .unwrap();
    assert!(matches!(late, Handled::Already(_)), "{late:?}");
    assert_eq!(
        site.smtp.mails().len(),
        1,
        "the closing mail tells them, not we"
    );
}

#[tokio::test]
async fn a_mail_that_is_too_large_is_not_read() {
    let site = Site::reading().await;
    let asked = site.ask(YOU).await;
    let large = asked
        .mail
        .reply(YOU, &format!("\n1\n\n{}", "filler\n".repeat(400_000)));
    site.imap().put(large).await;
    site.all_handled().await;
    assert!(site.desk.decision(&asked.delivery).is_none());
    assert_eq!(site.smtp.mails().len(), 3, "its sender was told");
    let small = without(&asked.mail.reply(YOU, "\n1\n"), "References");
    site.imap().put(small).await;
    site.decision(&asked, "a smaller one").await;
}
