//! Servers, stores and gates that go away and come back.

use provost_core::menu::{Code, Reply};

use crate::{
    post::{Imap, eventually},
    site::{Site, YOU},
};

#[tokio::test]
async fn while_another_replica_reads_the_mailbox_this_one_waits() {
    let site = Site::reading().await;
    let asked = site.ask(YOU).await;
    site.desk.state().taken = true;
    site.imap().put(asked.mail.reply(YOU, "\n1\n")).await;
    let from = site.desk.state().refused;
    eventually("it looks whether it may", async || {
        (site.desk.state().refused > from + 1).then_some(())
    })
    .await;
    assert!(site.desk.decision(&asked.delivery).is_none());
    // That one died, and its turn is over.
    site.desk.state().taken = false;
    let decided = site.decision(&asked, "the mail that was left").await;
    assert_eq!(decided, Reply::bare(Code::Once));
}

#[tokio::test]
async fn a_server_that_went_away_is_found_again() {
    let mut site = Site::reading().await;
    site.all_handled().await;
    let port = site.imap().port;
    site.imap.as_mut().unwrap().stop();
    let asked = site.ask(YOU).await;
    site.imap = Some(Imap::start_at(port).await);
    site.imap().put(asked.mail.reply(YOU, "\n1\n")).await;
    assert_eq!(
        site.decision(&asked, "a decision").await,
        Reply::bare(Code::Once)
    );
    site.stop_reading().await;
}

#[tokio::test]
async fn a_server_that_cannot_tell_is_asked() {
    let site = Site::reading_from(Imap::without_idle().await).await;
    for _ in 0..2 {
        let asked = site.ask(YOU).await;
        site.imap().put(asked.mail.reply(YOU, "\n1\n")).await;
        let decided = site.decision(&asked, "a decision").await;
        assert_eq!(decided, Reply::bare(Code::Once));
    }
}

#[tokio::test]
async fn what_came_while_we_were_away_is_read_once() {
    let mut site = Site::reading().await;
    site.all_handled().await;
    site.stop_reading().await;
    let (first, second) = (site.ask(YOU).await, site.ask(YOU).await);
    site.imap().put(first.mail.reply(YOU, "\n1\n")).await;
    // Opened in another program before we came to it.
    site.imap()
        .put_with(second.mail.reply(YOU, "\n3\n"), Some("(\\Seen)"))
        .await;
    site.restart().await;
    assert_eq!(
        site.decision(&first, "the first").await,
        Reply::bare(Code::Once)
    );
    assert_eq!(
        site.decision(&second, "the second").await,
        Reply::bare(Code::Deny)
    );
    site.stop_reading().await;
    let before = site.desk.state().replies;
    site.restart().await;
    site.all_handled().await;
    assert_eq!(site.desk.state().replies, before + 1, "only the last mail");
}

#[tokio::test]
async fn a_reply_waits_for_a_store_that_fails() {
    let site = Site::reading().await;
    site.desk.state().failures = 2;
    let asked = site.ask(YOU).await;
    site.imap().put(asked.mail.reply(YOU, "\n3\n")).await;
    assert_eq!(
        site.decision(&asked, "a decision").await,
        Reply::bare(Code::Deny)
    );
    assert_eq!(site.desk.state().replies, 3);
    eventually("the mark of what was read", async || {
        (site.imap().unseen().await == 0).then_some(())
    })
    .await;
}
