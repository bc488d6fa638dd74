//! A question that was shown in a chat, and everything around it.

use std::{sync::Arc, time::Duration};

use provost_core::{
    card::Card,
    delivery::{Delivery, Shown},
    ports::Channel as _,
};
use provost_gateway::{
    channels::telegram::{Mode, Pace, Settings, Telegram},
    web::Web,
};
use serde_json::{Value, json};

use crate::{
    desk::{MemoryDesk, card, delivery},
    fake::{At, Fake, TOKEN},
};

/// Who may decide.
pub(crate) const ALICE: i64 = 7;
/// Who may not.
pub(crate) const MALLORY: i64 = 66;
/// Where both are.
pub(crate) const GROUP: i64 = -100_200;

/// Quick enough for tests.
pub(crate) const PACE: Pace = Pace {
    wait: Duration::from_secs(5),
    pause: Duration::from_millis(20),
    longest_pause: Duration::from_millis(200),
    look: Duration::from_millis(20),
};

/// Something about an update that must not be, and how to make it so.
pub(crate) type Change = (&'static str, fn(&mut Value));

pub(crate) struct Scene {
    pub(crate) fake: Fake,
    pub(crate) desk: Arc<MemoryDesk>,
    pub(crate) telegram: Arc<Telegram>,
    pub(crate) delivery: Delivery,
    pub(crate) shown: Shown,
    /// The message of the question.
    pub(crate) message: i64,
    pub(crate) alice: At,
    pub(crate) mallory: At,
}

pub(crate) fn telegram(url: &str, allow: &[i64], mode: Mode) -> Arc<Telegram> {
    let settings = Settings {
        token: TOKEN.into(),
        api_url: url.into(),
        mode,
        allow: allow.into(),
    };
    Arc::new(Telegram::new(settings, Web::new(1 << 20)).unwrap())
}

impl Scene {
    /// In the group, where alice may decide.
    pub(crate) async fn new() -> Self {
        Self::with(&[ALICE], |_, _| {}).await
    }

    pub(crate) async fn with(allow: &[i64], change: impl FnOnce(&mut Delivery, &mut Card)) -> Self {
        let fake = Fake::start().await;
        let telegram = telegram(&fake.url, allow, Mode::Poll);
        let desk = Arc::new(MemoryDesk::default());
        let (mut delivery, mut card) = (delivery(json!(GROUP)), card());
        change(&mut delivery, &mut card);
        desk.add(&delivery, &card);
        let shown = telegram.show(&delivery, &card).await.unwrap();
        desk.set_shown(&delivery.id, &shown);
        let message = shown.detail["message_id"].as_i64().unwrap();
        Self {
            fake,
            desk,
            telegram,
            delivery,
            shown,
            message,
            alice: At {
                user: ALICE,
                chat: GROUP,
            },
            mallory: At {
                user: MALLORY,
                chat: GROUP,
            },
        }
    }

    /// What a button of the question carries.
    pub(crate) fn data(&self, code: &str) -> String {
        format!("{code}:{}", self.delivery.id)
    }

    pub(crate) fn tap(&self, at: At, code: &str) -> Value {
        self.fake.tap(at, self.message, &self.data(code))
    }

    pub(crate) async fn handle(&self, update: &Value) {
        let handled = self.telegram.handle_update(&*self.desk, update).await;
        handled.unwrap();
    }

    /// What the last tap was answered with.
    pub(crate) fn notice(&self) -> String {
        let answers = self.fake.asked("answerCallbackQuery");
        answers.last().unwrap()["text"].as_str().unwrap().to_owned()
    }

    /// What was sent after the question.
    pub(crate) fn said(&self) -> Vec<Value> {
        self.fake.asked("sendMessage").split_off(1)
    }

    pub(crate) fn assert_undecided(&self) {
        assert!(self.desk.codes().is_empty());
        assert_eq!(self.desk.card(&self.delivery.id).end, None);
    }
}
