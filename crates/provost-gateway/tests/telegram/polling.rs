//! Long polling.

use std::{sync::Arc, time::Duration};

use provost_core::{menu::Code, time::Time};
use provost_gateway::channels::telegram::Mode;
use serde_json::json;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    desk::MemoryDesk,
    fake::too_many,
    scene::{ALICE, PACE, Scene, telegram},
};

struct Poller {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Poller {
    /// Another process on the same store: it remembers nothing.
    fn start(scene: &Scene) -> Self {
        Self::at(scene, Arc::clone(&scene.desk))
    }

    fn at(scene: &Scene, desk: Arc<MemoryDesk>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let telegram = telegram(&scene.fake.url, &[ALICE], Mode::Poll);
        let task = tokio::spawn(async move {
            let stopping = async move { drop(stopped.await) };
            telegram.poll(&*desk, PACE, stopping).await;
        });
        Self { stop, task }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }

    /// As a crash would.
    async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

#[tokio::test]
async fn updates_are_handled_and_only_then_marked() {
    let scene = Scene::new().await;
    let poller = Poller::start(&scene);
    let tap = scene.tap(scene.alice, "1");
    let next = tap["update_id"].as_i64().unwrap() + 1;
    scene.fake.push(tap);
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    poller.stop().await;
    let written = scene.desk.papers().written.clone();
    assert_eq!(
        written,
        ["decision".to_owned(), format!("telegram:4242 = {next}")]
    );
    let polls = scene.fake.asked("getUpdates");
    assert_eq!(polls.last().unwrap()["offset"], next);
    assert_eq!(
        polls[0]["allowed_updates"],
        json!(["message", "callback_query"])
    );
}

#[tokio::test]
async fn polling_takes_the_updates_away_from_a_webhook() {
    let scene = Scene::new().await;
    scene.fake.api().webhook = Some(json!({"url": "http://127.0.0.1:1"}));
    let poller = Poller::start(&scene);
    scene.fake.until_asked("getUpdates", 1).await;
    assert_eq!(scene.fake.api().webhook, None);
    poller.stop().await;
}

/// Hole: a replayed update. The process dies after the decision, before anything is marked.
#[tokio::test]
async fn an_update_that_comes_again_after_a_crash_is_not_decided_twice() {
    let scene = Scene::new().await;
    let tap = scene.tap(scene.alice, "1");
    // What the process that died had done.
    scene.handle(&tap).await;
    scene.fake.push(tap);
    let poller = Poller::start(&scene);
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    poller.stop().await;
    assert_eq!(scene.desk.codes(), [Code::Once]);
    assert_eq!(scene.notice(), "✅ Allowed once.");
}

#[tokio::test]
async fn what_was_marked_is_not_handled_again_after_a_crash() {
    let scene = Scene::new().await;
    // What the process that died had marked, and Telegram did not learn.
    let unclear = scene.fake.text(scene.alice, Some(scene.message), "yes");
    let id = unclear["update_id"].as_i64().unwrap();
    let cursor = (id + 1).to_string();
    scene
        .desk
        .papers()
        .cursors
        .insert("telegram:4242".into(), cursor);
    scene.fake.push(unclear);
    let poller = Poller::start(&scene);
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    scene.fake.push(scene.tap(scene.alice, "3"));
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    poller.kill().await;
    assert!(
        scene.said().is_empty(),
        "asked again about what was handled"
    );
    assert_eq!(scene.desk.codes(), [Code::Deny]);
}

/// After a quiet week Telegram numbers updates anew.
#[tokio::test]
async fn a_cursor_from_long_ago_hides_nothing() {
    let scene = Scene::new().await;
    let cursor = "900000000".to_owned();
    scene
        .desk
        .papers()
        .cursors
        .insert("telegram:4242".into(), cursor);
    scene.fake.push(scene.tap(scene.alice, "1"));
    let poller = Poller::start(&scene);
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    poller.stop().await;
    assert_eq!(scene.desk.codes(), [Code::Once]);
}

#[tokio::test]
async fn of_two_replicas_one_polls_and_the_other_takes_over() {
    let scene = Scene::new().await;
    let all_read = async || {
        let read = scene.fake.until(|api| api.updates.is_empty().then_some(()));
        read.await;
    };
    let first = Poller::at(&scene, scene.desk.replica("first"));
    scene.fake.until_asked("getUpdates", 1).await;
    let second = Poller::at(&scene, scene.desk.replica("second"));
    scene.fake.until_asked("getMe", 2).await;
    scene.fake.push(scene.tap(scene.alice, "nonsense"));
    all_read().await;
    scene.desk.until_looked("second", 3).await;
    assert_eq!(scene.desk.papers().turns["telegram:4242"].0, "first");
    assert_eq!(scene.fake.api().conflicts, 0);

    // It dies with an update handled and marked that Telegram does not know of.
    first.kill().await;
    let unclear = scene.fake.text(scene.alice, Some(scene.message), "yes");
    let next = unclear["update_id"].as_i64().unwrap() + 1;
    scene
        .desk
        .papers()
        .cursors
        .insert("telegram:4242".into(), next.to_string());
    scene.fake.push(unclear);
    scene.fake.push(scene.tap(scene.alice, "1"));
    let polls = scene.fake.asked("getUpdates").len();
    scene.desk.until_looked("second", 3).await;
    assert_eq!(
        scene.fake.asked("getUpdates").len(),
        polls,
        "not before the turn is over"
    );
    scene.desk.papers().now = Time::default().plus(Duration::from_mins(10));
    scene.desk.until_decided(1).await;
    all_read().await;
    assert_eq!(scene.desk.papers().turns["telegram:4242"].0, "second");
    assert_eq!(scene.desk.codes(), [Code::Once]);
    assert!(scene.said().is_empty(), "handled twice");

    // One that ends in order gives its turn away at once.
    let third = Poller::at(&scene, scene.desk.replica("third"));
    scene.desk.until_looked("third", 1).await;
    second.stop().await;
    scene.desk.until_turn("third").await;
    third.stop().await;
    assert!(scene.desk.papers().turns.is_empty());
}

#[tokio::test]
async fn two_readers_get_in_each_others_way_and_nothing_is_lost() {
    let scene = Scene::new().await;
    let first = Poller::start(&scene);
    scene.fake.until_asked("getUpdates", 1).await;
    let second = Poller::start(&scene);
    // Each takes the other's place, rests, and comes back.
    scene.fake.until_asked("getUpdates", 4).await;
    scene.fake.push(scene.tap(scene.alice, "1"));
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    first.stop().await;
    second.stop().await;
    assert_eq!(scene.desk.codes(), [Code::Once]);
}

/// Questions get through and answers do not come back: only whoever reads can tell.
#[tokio::test]
async fn p12_updates_that_go_elsewhere_are_told_until_they_come_back() {
    let scene = Scene::new().await;
    let telegram = Arc::new(telegram(&scene.fake.url, &[ALICE], Mode::Poll));
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn({
        let (telegram, desk) = (telegram.clone(), scene.desk.clone());
        async move {
            let stopping = async move { drop(stopped.await) };
            telegram.poll(&*desk, PACE, stopping).await;
        }
    });
    scene.fake.until_asked("getUpdates", 1).await;
    scene.fake.api().webhook = Some(json!({}));
    let told = scene.fake.until(|_| telegram.reading_problem()).await;
    assert!(told.problem.contains("go elsewhere"), "{told:?}");
    assert!(told.help.contains("@BotFather"), "{told:?}");
    scene.fake.api().webhook = None;
    let is_well = || telegram.reading_problem().is_none();
    scene.fake.until(|_| is_well().then_some(())).await;
    stop.send(()).unwrap();
    task.await.unwrap();
}

#[tokio::test]
async fn readers_come_back_after_every_trouble() {
    let scene = Scene::new().await;
    scene.fake.fail_next("getMe", 401, "Unauthorized");
    scene.fake.fail_next("deleteWebhook", 502, "Bad Gateway");
    scene.fake.script("getUpdates", too_many(0));
    scene
        .fake
        .fail_next("getUpdates", 500, "Internal Server Error");
    scene.fake.script(
        "getUpdates",
        (200, json!({"ok": true, "result": "nonsense"})),
    );
    let nameless = json!({"ok": true, "result": [{"no": "id"}]});
    scene.fake.script("getUpdates", (200, nameless));
    scene
        .fake
        .push(json!({"update_id": 900, "message": "unreadable"}));
    let poller = Poller::start(&scene);
    scene.fake.push(scene.tap(scene.alice, "1"));
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    poller.stop().await;
    assert_eq!(scene.desk.codes(), [Code::Once]);
}

#[tokio::test]
async fn an_update_waits_for_the_store() {
    let scene = Scene::new().await;
    scene.desk.papers().failures = 3;
    let poller = Poller::start(&scene);
    scene.fake.push(scene.tap(scene.alice, "1"));
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    poller.stop().await;
    assert_eq!(scene.desk.codes(), [Code::Once]);
    assert_eq!(scene.notice(), "✅ Allowed once.");
}

#[tokio::test]
async fn when_the_store_does_not_come_back_people_are_told_and_others_have_their_turn() {
    let scene = Scene::new().await;
    scene.desk.papers().failures = 5;
    let poller = Poller::start(&scene);
    scene.fake.push(scene.tap(scene.alice, "1"));
    scene.fake.until_asked("answerCallbackQuery", 1).await;
    assert!(scene.notice().contains("could not be recorded"));
    scene.assert_undecided();
    scene.fake.push(scene.tap(scene.alice, "3"));
    scene
        .fake
        .until(|api| api.updates.is_empty().then_some(()))
        .await;
    poller.stop().await;
    assert_eq!(scene.desk.codes(), [Code::Deny]);
}
