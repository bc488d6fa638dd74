//! Replies in text. Which question is meant is known only by the message that is replied to.

use provost_core::{
    delivery::Delivery,
    menu::{self, Reply},
    ports::StoreError,
};

use super::{
    NAME, Telegram,
    chat::Key,
    message::menu_lines,
    sender::Known,
    speak::{repeats, words},
    wire::{Entity, Message},
};
use crate::channels::{Answered, Desk};

const REPLY_TO_IT: &str =
    "I cannot tell which question you mean: reply to the message of the question itself.";
const TEXT_ONLY: &str = "I read only text.";

impl Telegram {
    pub(super) async fn replied(
        &self,
        desk: &dyn Desk,
        message: &Message,
    ) -> Result<(), StoreError> {
        if message.is_second_hand() {
            return Ok(());
        }
        let Some(known) = self.known(desk, message.from.as_ref()) else {
            return Ok(());
        };
        let key = Key::of(message);
        let Some(delivery) = self.meant(desk, &known, message).await? else {
            // In a group people talk about other things, too.
            if message.chat.kind == "private" {
                self.say(key, REPLY_TO_IT).await;
            }
            return Ok(());
        };
        if let Err(not_theirs) = known.may_decide(&delivery, &message.chat) {
            self.say(key, not_theirs.words()).await;
            return Ok(());
        }
        let Some(text) = message
            .text
            .as_deref()
            .map(|text| written(text, &message.entities))
        else {
            return self.again(desk, &known, key, &delivery, TEXT_ONLY).await;
        };
        match menu::parse(&text) {
            Ok(reply) => self.answer(desk, &known, key, &delivery, reply).await,
            Err(unclear) => {
                let why = unclear.to_string();
                self.again(desk, &known, key, &delivery, &why).await
            }
        }
    }

    async fn answer(
        &self,
        desk: &dyn Desk,
        known: &Known,
        key: Key,
        delivery: &Delivery,
        reply: Reply,
    ) -> Result<(), StoreError> {
        let code = reply.code;
        let answered = desk.reply(delivery, &known.sender, reply).await?;
        match &answered {
            Answered::Already(card) if repeats(card, &known.sender, code) => {}
            Answered::AskAgain(why) => return self.again(desk, known, key, delivery, why).await,
            _ => self.say(key, &words(&answered, &known.sender, code)).await,
        }
        Ok(())
    }

    /// The question that a message replies to, whether to itself or to our asking again about it.
    async fn meant(
        &self,
        desk: &dyn Desk,
        known: &Known,
        message: &Message,
    ) -> Result<Option<Delivery>, StoreError> {
        let Some(replied_to) = &message.reply_to_message else {
            return Ok(None);
        };
        let key = Key::of(replied_to);
        if key.chat != message.chat.id {
            return Ok(None);
        }
        if let Some(delivery) = desk.shown_as(NAME, &key.to_string()).await? {
            return Ok(Some(delivery));
        }
        let again = desk.cursor(&asked_again(known, key.chat)).await?;
        let about = again.as_deref().and_then(|again| again.split_once(' '));
        match about {
            Some((asked, id)) if Key::parse(asked) == Some(key) => desk.delivery(&id.into()).await,
            _ => Ok(None),
        }
    }

    /// Asks again, and keeps what about: the reply will be to this, not to the question. Only the last one
    /// per person and chat is kept.
    async fn again(
        &self,
        desk: &dyn Desk,
        known: &Known,
        key: Key,
        delivery: &Delivery,
        why: &str,
    ) -> Result<(), StoreError> {
        let card = desk.card(delivery).await?;
        let words = format!(
            "Nothing was decided. {why}\n\n{}\n\nReply with the number; behind 4 and 5 a colon and the text, as in 4: note.",
            card.as_ref().map(menu_lines).unwrap_or_default()
        );
        let Some(asked) = self.ask_again(key, &words).await else {
            return Ok(());
        };
        let about = format!("{asked} {}", delivery.id);
        let kept = desk.set_cursor(&asked_again(known, key.chat), &about).await;
        if let Err(error) = kept {
            tracing::warn!(%error, "a reply to what was asked again will not be understood");
        }
        Ok(())
    }
}

/// A text as it was typed. Telegram takes the backticks around code away, and says where they were; what is
/// crossed out comes as if it were not. Code in the middle of a line is part of its sentence.
fn written(text: &str, entities: &[Entity]) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut marks: Vec<(usize, String)> = Vec::new();
    for entity in entities {
        let end = entity.offset.saturating_add(entity.length);
        match entity.kind.as_str() {
            "pre" | "code" if is_block(&units, entity.offset, end) => {
                marks.push((entity.offset, "\n```\n".to_owned()));
                marks.push((end, "\n```\n".to_owned()));
            }
            "strikethrough" | "spoiler" => marks.push((entity.offset, menu::UNREADABLE.into())),
            _ => {}
        }
    }
    let units = without_quotes(units, entities);
    marks.sort_by_key(|(at, _)| *at);
    let mut written = String::with_capacity(text.len());
    let mut from = 0;
    for (at, mark) in marks {
        let at = at.clamp(from, units.len());
        let part = units.get(from..at).unwrap_or_default();
        written.push_str(&String::from_utf16_lossy(part));
        written.push_str(&mark);
        from = at;
    }
    written + &String::from_utf16_lossy(units.get(from..).unwrap_or_default())
}

/// Whether code fills its lines: nothing stands before it but a code that takes a text, and nothing behind it.
fn is_block(units: &[u16], start: usize, end: usize) -> bool {
    let text = |part: Option<&[u16]>| String::from_utf16_lossy(part.unwrap_or_default());
    let above = text(units.get(..start));
    let below = text(units.get(end.min(units.len())..));
    let before = menu::lines(&above).last().copied().unwrap_or_default();
    let before = if above.ends_with(before) {
        before.trim()
    } else {
        ""
    };
    let mut chars = before.chars();
    let code = chars.next().map(|c| menu::plain_digit(c).to_string());
    let takes_text = code.is_none_or(|code| ["3", "4", "5"].contains(&code.as_str()));
    let is_separator = |c: char| c.is_whitespace() || ":：)-–—".contains(c);
    let after = menu::lines(&below).first().copied().unwrap_or_default();
    takes_text && chars.as_str().chars().all(is_separator) && after.trim().is_empty()
}

/// What somebody quotes is not their answer, and becomes spaces. Between two parts of an answer it may be meant as
/// a part of it, and cannot be read.
fn without_quotes(mut units: Vec<u16>, entities: &[Entity]) -> Vec<u16> {
    let quotes: Vec<&Entity> = entities
        .iter()
        .filter(|entity| matches!(entity.kind.as_str(), "blockquote" | "expandable_blockquote"))
        .collect();
    for quote in &quotes {
        let end = quote.offset.saturating_add(quote.length).min(units.len());
        if let Some(quoted) = units.get_mut(quote.offset..end) {
            quoted.fill(u16::from(b' '));
        }
    }
    let is_said = |units: Option<&[u16]>| {
        let text = String::from_utf16_lossy(units.unwrap_or_default());
        !text.trim().is_empty()
    };
    for quote in quotes {
        let end = quote.offset.saturating_add(quote.length);
        if is_said(units.get(..quote.offset)) && is_said(units.get(end..)) {
            let mut mark = [0; 2];
            let mark = menu::UNREADABLE.encode_utf16(&mut mark);
            if let (Some(unit), Some(mark)) = (units.get_mut(quote.offset), mark.first()) {
                *unit = *mark;
            }
        }
    }
    units
}

fn asked_again(known: &Known, chat: i64) -> String {
    format!("{NAME}:again:{chat}:{}", known.id)
}

#[cfg(test)]
mod tests {
    use provost_core::menu::Code;

    use super::*;

    fn entity(kind: &str, offset: usize, length: usize) -> Entity {
        Entity {
            kind: kind.to_owned(),
            offset,
            length,
        }
    }

    #[test]
    fn p13_code_in_the_middle_of_a_line_is_part_of_it() {
        for (text, code) in [
            ("1 rm too many, deny this", "rm"),
            ("6 npm packages are outdated, wait", "npm"),
            ("2 npm test runs failed, please wait", "npm test"),
            ("1 rm", "rm"),
            ("6 PM would be better", "PM"),
            ("5 users tables would be dropped by this", "users"),
            ("1\u{2028}rm 3", "rm"),
        ] {
            for kind in ["code", "pre"] {
                let at = text.find(code).unwrap();
                let offset = text.get(..at).unwrap().encode_utf16().count();
                let entities = [entity(kind, offset, code.len())];
                let read = menu::parse(&written(text, &entities));
                assert!(read.is_err(), "{text} {read:?}");
            }
        }
        let read = menu::parse(&written("3 rm -rf is too risky", &[entity("code", 2, 6)]));
        let denied = Reply::with_text(Code::Deny, "rm -rf is too risky");
        assert_eq!(read, Ok(denied));
    }

    #[test]
    fn p13_formatting_is_read_as_it_was_typed() {
        let fenced = |code, text| {
            Ok(Reply {
                marked: menu::Marked::Surely,
                ..Reply::with_text(code, text)
            })
        };
        for (text, entities, expected) in [
            (
                "5\nnpm test",
                vec![entity("pre", 2, 8)],
                fenced(Code::Change, "npm test"),
            ),
            (
                "5 npm test",
                vec![entity("code", 2, 8)],
                fenced(Code::Change, "npm test"),
            ),
            (
                "5: npm test ",
                vec![entity("code", 3, 8)],
                fenced(Code::Change, "npm test"),
            ),
            (
                "4 🙂 a\nb",
                vec![entity("pre", 2, 6)],
                fenced(Code::Note, "🙂 a\nb"),
            ),
            (
                "1",
                vec![entity("strikethrough", 0, 1)],
                Err(menu::Unclear::Unreadable),
            ),
            ("1", vec![entity("bold", 0, 1)], Ok(Reply::bare(Code::Once))),
            (
                "1\nis that the one to press",
                vec![entity("blockquote", 0, 1)],
                Err(menu::Unclear::NoCode),
            ),
            (
                "3 Deny\n1",
                vec![entity("expandable_blockquote", 0, 6)],
                Ok(Reply::bare(Code::Once)),
            ),
            (
                "1\n3 Deny",
                vec![entity("blockquote", 2, 6)],
                Ok(Reply::bare(Code::Once)),
            ),
            (
                "5 npm ci\nnpm x\nnpm test",
                vec![entity("blockquote", 9, 5)],
                Err(menu::Unclear::Unreadable),
            ),
            (
                "1",
                vec![entity("blockquote", 0, usize::MAX)],
                Err(menu::Unclear::NoCode),
            ),
            (
                "1",
                vec![entity("bold", 9, usize::MAX)],
                Ok(Reply::bare(Code::Once)),
            ),
        ] {
            assert_eq!(menu::parse(&written(text, &entities)), expected, "{text}");
        }
    }
}
