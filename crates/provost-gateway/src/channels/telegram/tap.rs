//! Taps on buttons.

use provost_core::{
    menu::{Code, Reply},
    ports::StoreError,
};

use super::{
    Telegram, buttons,
    sender::UNKNOWN,
    speak::{Notice, words},
    wire::CallbackQuery,
};
use crate::channels::{Answered, Desk};

const NOT_ALLOWED: &str = "Sorry, you may not decide this: nothing was changed.";

impl Telegram {
    pub(super) async fn tapped(
        &self,
        desk: &dyn Desk,
        query: &CallbackQuery,
    ) -> Result<(), StoreError> {
        let notice = self.decide_tap(desk, query).await?;
        self.notice(&query.id, notice).await;
        Ok(())
    }

    async fn decide_tap(
        &self,
        desk: &dyn Desk,
        query: &CallbackQuery,
    ) -> Result<Notice, StoreError> {
        let Some(known) = self.known(desk, query.from.as_ref()) else {
            return Ok(Notice::staying(NOT_ALLOWED));
        };
        let message = query.message.as_ref().filter(|it| !it.is_forwarded());
        let data = query.data.as_deref().and_then(buttons::read);
        let (Some(message), Some((code, id))) = (message, data) else {
            return Ok(Notice::staying(UNKNOWN));
        };
        let Some(delivery) = desk.delivery(&id).await? else {
            return Ok(Notice::staying(UNKNOWN));
        };
        if let Err(not_theirs) = known.may_decide(&delivery, &message.chat) {
            return Ok(Notice::staying(not_theirs.words()));
        }
        if code.needs_text() {
            return Ok(Notice::staying(how_to_write(code)));
        }
        let answered = desk
            .reply(&delivery, &known.sender, Reply::bare(code))
            .await?;
        let words = words(&answered, &known.sender, code);
        Ok(match answered {
            Answered::Decided(_) | Answered::Counted(_) => Notice::passing(words),
            _ => Notice::staying(words),
        })
    }
}

fn how_to_write(code: Code) -> String {
    let what = if code == Code::Note {
        "note"
    } else {
        "replacement"
    };
    format!(
        "This needs words: reply to the message with {} and your {what}.",
        code.as_str()
    )
}
