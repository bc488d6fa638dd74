//! Answers to those who tapped or replied. They are a courtesy: what was decided stands without them.

use std::time::Duration;

use provost_core::{
    card::{Card, End, who},
    menu::Code,
};
use serde_json::json;

use super::{
    NAME, Telegram, chat::Key, ending, put, sender::UNKNOWN, text::head, trouble::Trouble, visible,
};
use crate::channels::{Answered, Sender};

/// Of the little window that a tap opens.
const LONGEST_NOTICE: usize = 200;
const LONGEST_ANSWER: usize = 1000;
/// Nobody waits longer for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a tap is answered with.
pub(super) struct Notice {
    pub(super) words: String,
    /// Stays until it is read.
    pub(super) stays: bool,
}

impl Notice {
    pub(super) fn passing(words: impl Into<String>) -> Self {
        let (words, stays) = (words.into(), false);
        Self { words, stays }
    }

    pub(super) fn staying(words: impl Into<String>) -> Self {
        let (words, stays) = (words.into(), true);
        Self { words, stays }
    }
}

impl Telegram {
    pub(super) async fn notice(&self, query: &str, notice: Notice) {
        let answer = json!({
            "callback_query_id": query,
            "text": head(&notice.words, LONGEST_NOTICE),
            "show_alert": notice.stays,
        });
        let answered = match self.api.answer_callback_query(answer.clone()).await {
            Err(trouble) if waited(&trouble).await => self.api.answer_callback_query(answer).await,
            answered => answered,
        };
        if let Err(trouble) = answered {
            tracing::debug!(%trouble, "a tap was not answered");
        }
    }

    /// Answers a message.
    pub(super) async fn say(&self, to: Key, words: &str) {
        self.send_answer(to, words, None).await;
    }

    /// Answers a message and opens a reply to the answer, which is given back.
    pub(super) async fn ask_again(&self, to: Key, words: &str) -> Option<Key> {
        let placeholder = json!({
            "force_reply": true,
            "selective": true,
            "input_field_placeholder": "1, 2, 3, 4: note, 5: replacement, 6",
        });
        self.send_answer(to, words, Some(placeholder)).await
    }

    async fn send_answer(
        &self,
        to: Key,
        words: &str,
        markup: Option<serde_json::Value>,
    ) -> Option<Key> {
        let mut answer = json!({
            "chat_id": to.chat,
            "text": head(words, LONGEST_ANSWER),
            "reply_parameters": to.as_reply(),
            "link_preview_options": {"is_disabled": true},
        });
        if let Some(markup) = markup {
            put(&mut answer, "reply_markup", markup);
        }
        let sent = match self.api.send_message(answer.clone()).await {
            Err(trouble) if waited(&trouble).await => self.api.send_message(answer).await,
            sent => sent,
        };
        match sent {
            Ok(sent) => Some(Key {
                chat: sent.chat.id,
                message: sent.message_id,
            }),
            Err(trouble) => {
                tracing::warn!(%trouble, "a reply was not answered");
                None
            }
        }
    }
}

/// Whether it is worth another try, after the time that Telegram asked for.
async fn waited(trouble: &Trouble) -> bool {
    match trouble {
        Trouble::Wait(time) if *time <= PATIENCE => {
            tokio::time::sleep(*time).await;
            true
        }
        _ => false,
    }
}

/// What became of a reply, in words for its sender.
pub(super) fn words(answered: &Answered, sender: &Sender, code: Code) -> String {
    match answered {
        Answered::Decided(card) => done(card, code),
        Answered::Already(card) if repeats(card, sender, code) => done(card, code),
        Answered::Already(card) => already(card),
        Answered::Counted(card) => counted(card),
        Answered::AskAgain(why) | Answered::Refused(why) => visible::line(why, LONGEST_ANSWER / 2),
        Answered::NotFound => UNKNOWN.to_owned(),
    }
}

/// The same said twice, such as by an update that came again after a crash.
pub(super) fn repeats(card: &Card, sender: &Sender, code: Code) -> bool {
    let by = |end: &End| {
        let by = end.by.as_deref().unwrap_or_default();
        who(by) == &*sender.name
    };
    card.end
        .as_ref()
        .is_some_and(|end| by(end) && end.via.as_deref() == Some(NAME) && end.code == Some(code))
}

fn done(card: &Card, code: Code) -> String {
    match &card.end {
        Some(end) => {
            let remembered = end.remembered_words(ending::moment);
            let remembered =
                remembered.map(|words| format!(" {}", visible::line(&words, LONGEST_ANSWER / 2)));
            let (sign, outcome) = (ending::sign(end), ending::outcome(end));
            format!("{sign} {outcome}.{}", remembered.unwrap_or_default())
        }
        None => format!("Recorded: {}.", code.label()),
    }
}

fn already(card: &Card) -> String {
    let Some(end) = &card.end else {
        return "This was already decided: nothing was changed.".to_owned();
    };
    format!(
        "{} Too late, nothing was changed. {}{}.",
        ending::sign(end),
        ending::outcome(end),
        ending::by_whom(end)
    )
}

fn counted(card: &Card) -> String {
    let (yes, needed) = (card.approved_by.len(), usize::from(card.needed));
    format!("👥 Your yes is counted: {yes} of the {needed} people who are needed.")
}
