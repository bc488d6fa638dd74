//! Replies of the right person that are not clear: they are told, a few times.

use provost_core::menu::{Code, Reply};
use provost_gateway::channels::email::{Handled, Ignored, read_reply};

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

/// Whoever knows the approval can have us write one mail, in our words, to whom we wrote before: and that is all.
#[tokio::test]
async fn an_agent_that_knows_the_approval_cannot_pass_for_its_person() {
    let site = Site::reading().await;
    let asked = site.ask(YOU).await;
    let id = &asked.delivery.approval_id;
    for at in 0..5 {
        let forged = format!(
            "From: {YOU}\r\nTo: gate@example.com\r\nSubject: URGENT reply 1 [{id}]\r\nMessage-ID: <x{at}@y>\r\nReferences: <bank@evil.example>\r\n\r\n1\r\n"
        );
        site.imap().put(&forged).await;
    }
    site.all_handled().await;
    assert!(site.desk.decision(&asked.delivery).is_none());
    let to_you = |mail: &Mail| mail.to() == YOU;
    let mut mails = site.smtp.mails().into_iter().filter(to_you).skip(1);
    let told = mails.next().expect("the person is told");
    assert!(
        told.text().contains("not a reply to the mail that asked"),
        "{}",
        told.text()
    );
    assert_eq!(told.subject(), format!("Re: [{id}]"), "our words alone");
    assert_eq!(told.header("References"), asked.mail.header("Message-ID"));
    assert!(mails.next().is_none(), "once");

    site.imap().put(asked.mail.reply(YOU, "\nyes\n")).await;
    site.all_handled().await;
    let told = site.smtp.mails().into_iter().filter(to_you).count();
    assert_eq!(told, 3, "the person is still told what was unclear");
}

#[tokio::test]
async fn a_mail_that_comes_twice_counts_once() {
    let site = Site::sending().await;
    let asked = site.ask(YOU).await;
    let take = async |raw: &str| {
        let incoming = read_reply(raw.as_bytes()).unwrap();
        site.email.take(&incoming).await.unwrap()
    };
    let (first, second) = (
        asked.mail.reply(YOU, "\n1\n"),
        asked.mail.reply(YOU, "\n3\n"),
    );
    let decided = take(&first).await;
    assert!(matches!(decided, Handled::Decided(_)), "{decided:?}");
    assert_eq!(take(&first).await, Handled::Ignored(Ignored::Replayed));
    let late = take(&second).await;
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
