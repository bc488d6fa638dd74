//! A card as a message. What was computed from the call and what the agent claims have a block each, in which
//! every line is marked as theirs, so that neither can pass for the other or for words of ours.

mod claimed;
mod computed;
#[cfg(test)]
mod tests;

use provost_core::{
    approval::Kind,
    card::{Card, End},
    delivery::Purpose,
    menu::Code,
    time::format_duration,
};

use self::computed::computed;
use super::{
    ending,
    text::{LIMIT, Text, head, units},
    visible,
};
use crate::channels::WITHHELD;

const LONGEST_NAME: usize = 80;
const LONGEST_RISK: usize = 100;
const LONGEST_NOTE: usize = 500;
const MOST_RISKS: usize = 8;
const MOST_NAMES: usize = 5;
/// For the notice that a block was cut, and the line breaks around it.
const NOTICE: usize = 120;

/// A part of the message that gives way when there is not enough room.
pub(super) struct Block {
    heading: &'static str,
    remark: String,
    language: Option<&'static str>,
    body: String,
    /// It was shortened before it came here.
    cut: bool,
}

/// The link leads to the question in the console.
pub(super) fn question(card: &Card, purpose: Purpose, link: Option<&str>) -> String {
    let mut top = Text::default();
    match purpose {
        Purpose::Remind => top.bold("⏰ Reminder: this still waits for a decision"),
        Purpose::Ask | Purpose::Callback => top.bold("🔔 A decision is needed"),
    };
    asker(&mut top, card);
    if card.withheld {
        top.plain(&format!("\n🙈 {WITHHELD}"));
        if let Some(link) = link {
            top.plain(&format!("\n{link}"));
        }
    }
    circumstances(&mut top, card);
    let mut bottom = Text::default();
    menu(&mut bottom, &card.choices);
    let lasts = format_duration(card.expires_at.since(card.created_at));
    bottom
        .plain("\n\nApproval ")
        .code(&visible::line(card.id.as_str(), LONGEST_NAME))
        .plain(&format!(
            "\nExpires {}, {lasts} after it was asked",
            ending::moment(card.expires_at)
        ));
    if let Some(fallback) = card.fallback {
        bottom.plain(&format!("\n⏳ {}", fallback.words()));
    }
    put_together(top, card, &bottom)
}

pub(super) fn ended(card: &Card, end: &End) -> String {
    let mut top = Text::default();
    top.bold(&format!("{} {}", ending::sign(end), ending::outcome(end)))
        .plain(&ending::by_whom(end))
        .plain(&format!("\n{}", ending::moment(end.at)));
    if let Some(note) = &end.note {
        top.plain("\nNote: ")
            .code(head(&visible::prose(note), LONGEST_NOTE));
    }
    top.plain("\n");
    asker(&mut top, card);
    people(&mut top, card);
    let mut bottom = Text::default();
    bottom
        .plain("\n\nApproval ")
        .code(&visible::line(card.id.as_str(), LONGEST_NAME));
    put_together(top, card, &bottom)
}

/// The menu as it is repeated to somebody whose reply was not understood.
pub(super) fn menu_lines(choices: &[Code]) -> String {
    let lines = choices
        .iter()
        .map(|code| format!("{} {}", code.as_str(), code.label()));
    lines.collect::<Vec<_>>().join("\n")
}

fn asker(text: &mut Text, card: &Card) {
    let asks = match card.kind {
        Kind::Call => " asks for ",
        Kind::Permission => " asks permission for ",
        Kind::Message => " has a message held at ",
        Kind::Escalation => " hands over to a person: ",
    };
    text.plain("\n")
        .code(&visible::line(&card.agent, LONGEST_NAME))
        .plain(asks)
        .code(&visible::line(&card.tool, LONGEST_NAME));
    if let Some(session) = &card.session {
        text.plain("\nSession ")
            .code(&visible::line(session, LONGEST_NAME));
    }
}

fn circumstances(text: &mut Text, card: &Card) {
    for risk in card.risks.iter().take(MOST_RISKS) {
        text.plain(&format!("\n⚠️ {}", visible::line(risk, LONGEST_RISK)));
    }
    if let Some(more @ 1..) = card.risks.len().checked_sub(MOST_RISKS) {
        text.plain(&format!("\n⚠️ and {more} more risks"));
    }
    if card.asked > 1 {
        text.plain(&format!("\n🔁 Asked {} times", card.asked));
    }
    if card.denied_before {
        text.plain("\n⛔ The same was denied before");
    }
    people(text, card);
}

fn people(text: &mut Text, card: &Card) {
    if card.needed <= 1 {
        return;
    }
    text.plain(&format!("\n👥 Needs {} people", card.needed));
    let names = card.approved_by.iter().take(MOST_NAMES);
    let names: Vec<_> = names.map(|by| ending::name(by)).collect();
    if !names.is_empty() {
        text.plain(&format!(", approved by {}", names.join(", ")));
    }
}

fn menu(text: &mut Text, choices: &[Code]) {
    if choices.is_empty() {
        return;
    }
    text.plain("\n\n").plain(&menu_lines(choices));
    let words: Vec<_> = [(Code::Note, "4 note"), (Code::Change, "5 replacement")]
        .into_iter()
        .filter(|(code, _)| choices.contains(code))
        .collect();
    text.plain("\n\nTap a button, or reply to this message with a number.");
    for (number, (_, example)) in words.into_iter().enumerate() {
        text.plain(if number == 0 { " With words: " } else { " or " })
            .code(example);
    }
}

fn put_together(mut text: Text, card: &Card, bottom: &Text) -> String {
    let exact = computed(&card.exact);
    let claim = card.claim.as_ref().map(claimed::claimed);
    let blocks = || std::iter::once(&exact).chain(&claim);
    let around: usize = blocks().map(|block| block.around() + NOTICE).sum();
    let room = LIMIT.saturating_sub(text.units() + bottom.units() + around);
    let claim_units = claim.as_ref().map_or(0, |claim| units(&claim.body));
    // What would be done comes first: the claim has a third when both are long.
    let for_exact = (room - room / 3).max(room.saturating_sub(claim_units));
    let used = exact.write(&mut text, for_exact);
    if let Some(claim) = &claim {
        claim.write(&mut text, room.saturating_sub(used));
    }
    text.append(bottom);
    text.into_html()
}

impl Block {
    /// What stands around the body.
    fn around(&self) -> usize {
        units(self.heading) + units(&self.remark) + 8
    }

    /// How much of the room was used.
    fn write(&self, text: &mut Text, room: usize) -> usize {
        text.plain("\n\n").bold(self.heading);
        if !self.remark.is_empty() {
            text.plain("\n").code(&self.remark);
        }
        let kept = head(&self.body, room);
        if !kept.is_empty() {
            text.plain("\n").block(self.language, kept);
        }
        let missing = self.body.chars().count() - kept.chars().count();
        if missing > 0 {
            text.plain(&format!(
                "\n✂️ {missing} more characters are not shown here"
            ));
        } else if self.cut {
            text.plain("\n✂️ It is longer than what is shown here");
        }
        units(kept)
    }
}
