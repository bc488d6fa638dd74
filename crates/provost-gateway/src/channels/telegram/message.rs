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
    review::more_lines,
    time::format_duration,
};

use self::computed::{computed, others};
use super::{
    ending,
    text::{LIMIT, Text, head, units},
    visible,
};
use crate::channels::WITHHELD;

const LONGEST_NAME: usize = 80;
const LONGEST_RISK: usize = 100;
const LONGEST_NOTE: usize = 500;
/// A line of the menu: a scope is shown whole.
const LONGEST_CHOICE: usize = 400;
const MOST_RISKS: usize = 8;
const MOST_NAMES: usize = 5;
/// For the notice that a block was cut, and the line breaks around it.
const NOTICE: usize = 60;

/// A part of the message that gives way when there is not enough room.
pub(super) struct Block {
    heading: &'static str,
    remark: String,
    language: Option<&'static str>,
    body: String,
    /// A message is bounded in lines as well as in characters: nobody scrolls past empty lines to a button.
    most_lines: usize,
    /// Lines that were left out before it came here.
    more: usize,
}

/// What of a block is in the message.
struct Written {
    units: usize,
    cut: bool,
}

/// The link leads to the question in the console.
pub(super) fn question(card: &Card, purpose: Purpose, link: Option<&str>) -> String {
    if card.kind == Kind::Test {
        return test_question(card);
    }
    let mut top = Text::default();
    match purpose {
        _ if card.voted => top.bold("✅ You have approved this, and more people are needed"),
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
    menu(&mut bottom, card);
    identify(&mut bottom, card);
    if let Some(fallback) = card.fallback {
        bottom.plain(&format!("\n⏳ {}", fallback.words()));
    }
    let whole = match link {
        Some(link) => format!("\n\n📖 Read all of it before you decide: {link}"),
        None => format!(
            "\n\n📖 Read all of it before you decide, in the console or with: provost approvals show {} --full",
            visible::line(card.id.as_str(), LONGEST_NAME)
        ),
    };
    put_together(top, card, &whole, &bottom)
}

/// All of it is our own words: no agent can have a message begin like this.
fn test_question(card: &Card) -> String {
    let mut text = Text::default();
    text.bold("🧪 This is a test question")
        .plain("\nIt decides nothing and opens no tool. It shows whether questions reach you here and answers ")
        .plain("come back. Answer with 1 or 3.");
    menu(&mut text, card);
    identify(&mut text, card);
    text.into_html()
}

fn identify(text: &mut Text, card: &Card) {
    let lasts = format_duration(card.expires_at.since(card.created_at));
    text.plain("\n\nApproval ")
        .code(&visible::line(card.id.as_str(), LONGEST_NAME))
        .plain(&format!(
            "\nExpires {}, {lasts} after it was asked",
            ending::moment(card.expires_at)
        ));
}

pub(super) fn ended(card: &Card, end: &End) -> String {
    if card.kind == Kind::Test {
        let mut text = Text::default();
        let end = match end.by {
            Some(_) => "🧪 The test question was answered: this works.",
            None => "🧪 The test question is over; nobody answered it.",
        };
        text.bold(end).plain("\nIt decided nothing.");
        return text.into_html();
    }
    let mut top = Text::default();
    if card.kind == Kind::Notice {
        top.bold("🚨 An agent did something that nobody decided");
    } else {
        top.bold(&format!("{} {}", ending::sign(end), ending::outcome(end)))
            .plain(&ending::by_whom(end));
    }
    top.plain(&format!("\n{}", ending::moment(end.at)));
    if let Some(note) = &end.note {
        top.plain("\nNote: ")
            .code(head(&visible::prose(note), LONGEST_NOTE));
    }
    if let Some(remembered) = end.remembered_words(ending::moment) {
        let most = LONGEST_CHOICE + 200;
        top.plain(&format!("\n{}", visible::line(&remembered, most)));
    }
    top.plain("\n");
    asker(&mut top, card);
    people(&mut top, card);
    let mut bottom = Text::default();
    bottom
        .plain("\n\nApproval ")
        .code(&visible::line(card.id.as_str(), LONGEST_NAME));
    put_together(top, card, "", &bottom)
}

/// The menu as it is repeated to somebody whose reply was not understood.
pub(super) fn menu_lines(card: &Card) -> String {
    let lines = card.choices.iter().map(|code| {
        let label = visible::line(&card.label(*code), LONGEST_CHOICE);
        format!("{} {label}", code.as_str())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn asker(text: &mut Text, card: &Card) {
    let asks = match card.kind {
        Kind::Call => " asks for ",
        Kind::Permission => " asks permission for ",
        Kind::Message => " has a message held at ",
        Kind::Escalation => " hands over to a person: ",
        Kind::Test => " tests ",
        Kind::Notice => " asked nobody and used ",
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
    let names = |names: &mut dyn Iterator<Item = &str>| {
        let names: Vec<_> = names.take(MOST_NAMES).map(ending::name).collect();
        names.join(", ")
    };
    let waiting = card.waiting.as_ref();
    if card.needed > 1 {
        let approved = names(&mut card.approved_by.iter().map(String::as_str));
        text.plain(&format!("\n👥 Needs {} people", card.needed));
        if !approved.is_empty() {
            text.plain(&format!(", approved by {approved}"));
        }
        let open = waiting.map(|waiting| names(&mut waiting.people.iter().map(|name| &**name)));
        if let Some(open) = open.filter(|open| !open.is_empty() && card.end.is_none()) {
            text.plain(&format!(", waiting for {open}"));
        }
    }
    if let Some(next) = waiting.and_then(|waiting| waiting.next.as_ref()) {
        let people = names(&mut next.people.iter().map(|name| &**name));
        text.plain(&format!(
            "\n⏫ Asks {people} at {}",
            ending::moment(next.at)
        ));
    }
}

fn menu(text: &mut Text, card: &Card) {
    let choices = &card.choices;
    if choices.is_empty() {
        return;
    }
    text.plain("\n\n").plain(&menu_lines(card));
    let words: Vec<_> = [(Code::Note, "4: note"), (Code::Change, "5: replacement")]
        .into_iter()
        .filter(|(code, _)| choices.contains(code))
        .collect();
    text.plain("\n\nTap a button, or reply to this message with a number.");
    for (number, (_, example)) in words.into_iter().enumerate() {
        text.plain(if number == 0 { " With words: " } else { " or " })
            .code(example);
    }
}

/// `whole` says where all of it can be read, and stands there if something is left out.
fn put_together(mut text: Text, card: &Card, whole: &str, bottom: &Text) -> String {
    let exact = computed(&card.exact);
    let others = card.other_arguments.as_ref().map(others);
    let claim = card.claim.as_ref().map(claimed::claimed);
    let blocks = || std::iter::once(&exact).chain(&others).chain(&claim);
    let around: usize = blocks().map(|block| block.around() + NOTICE).sum();
    let room = LIMIT.saturating_sub(text.units() + bottom.units() + units(whole) + around);
    let wanted = |block: &Option<Block>| block.as_ref().map_or(0, |block| units(&block.body));
    // What would be done comes first: the claim has a third when both are long.
    let (for_others, for_claim) = (wanted(&others).min(room / 6), wanted(&claim).min(room / 3));
    let mut left = room;
    let mut cut = false;
    let mut write = |block: &Block, room_for: usize, left: &mut usize| {
        let written = block.write(&mut text, room_for);
        *left = left.saturating_sub(written.units);
        cut |= written.cut;
    };
    write(&exact, room - for_others - for_claim, &mut left);
    if let Some(others) = &others {
        write(others, for_others, &mut left);
    }
    if let Some(claim) = &claim {
        let room = left;
        write(claim, room, &mut left);
    }
    if cut {
        text.plain(whole);
    }
    text.append(bottom);
    text.into_html()
}

impl Block {
    /// What stands around the body.
    fn around(&self) -> usize {
        units(self.heading) + units(&self.remark) + 8
    }

    fn write(&self, text: &mut Text, room: usize) -> Written {
        text.plain("\n\n").bold(self.heading);
        if !self.remark.is_empty() {
            text.plain("\n").code(&self.remark);
        }
        let kept = head(first_lines(&self.body, self.most_lines), room);
        if !kept.is_empty() {
            text.plain("\n").block(self.language, kept);
        }
        let rest = self.body.get(kept.len()..).unwrap_or_default();
        // The line that was cut has no break before its rest.
        let lines = rest.strip_prefix('\n').unwrap_or(rest).lines().count() + self.more;
        if lines > 1 || self.more > 0 {
            text.plain(&format!("\n✂️ {} not shown here", more_lines(lines)));
        } else if lines == 1 {
            let missing = rest.chars().count();
            text.plain(&format!(
                "\n✂️ {missing} more characters are not shown here"
            ));
        }
        Written {
            units: units(kept),
            cut: lines > 0,
        }
    }
}

/// Without the line break after the last of them.
fn first_lines(text: &str, most: usize) -> &str {
    let end = text.match_indices('\n').nth(most.saturating_sub(1));
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
