//! What mails say. Agents are hostile authors: their words are bounded, made visible, marked line by line, and
//! never begin a mail, so that no program that quotes badly can make an answer of them.

mod exact;
mod page;

use provost_core::{
    approval::{Kind, Status},
    card::{Card, Claim, End, who},
    delivery::Purpose,
    ids::ApprovalId,
    menu::Code,
    review::more_lines,
};

use self::page::Block;
pub(super) use self::page::Page;
use crate::channels::{WITHHELD, more_wait as more_words};

use super::{reply::Misread, visible};

const LONGEST_NAME: usize = 60;
/// A line of the menu: a scope is shown whole.
const LONGEST_CHOICE: usize = 400;
const LONGEST_TITLE: usize = 200;
const MOST_NAMES: usize = 10;
const LONGEST_PREVIEW: usize = 8 * 1024;
const MOST_PREVIEW_LINES: usize = 60;
const LONGEST_NOTE: usize = 2 * 1024;
const MOST_NOTE_LINES: usize = 30;

/// The subject and the text of a mail.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) subject: String,
    pub(super) page: Page,
}

/// A question. The link leads to a page with a form.
pub(super) fn ask(card: &Card, purpose: Purpose, link: Option<String>) -> Words {
    if card.kind == Kind::Test {
        return test_question(card);
    }
    let mut page = Page::default();
    page.text(format!(
        "Provost asks: may {} use {}?",
        name(&card.agent),
        name(&card.tool)
    ));
    if purpose == Purpose::Remind {
        page.text("This is a reminder: nobody has decided yet.");
    }
    if card.withheld {
        page.text(WITHHELD);
    }
    let mut more = exact::add(&mut page, card);
    if let Some(claim) = &card.claim {
        more += claimed(&mut page, claim);
    }
    notice(&mut page, card, more, link.is_some());
    circumstances(&mut page, card);
    menu(&mut page, card);
    if let Some(link) = link {
        page.text(if more > 0 {
            "All of it is on a page of the console, where you can answer, too:"
        } else {
            "Or answer on a page of the console:"
        });
        page.push(Block::Link(link));
    }
    identify(&mut page, card);
    let reminder = if purpose == Purpose::Remind {
        "Reminder: "
    } else {
        ""
    };
    Words {
        subject: format!("{reminder}{}", subject(card)),
        page,
    }
}

/// All of it is our own words: no agent can have a mail begin like this.
fn test_question(card: &Card) -> Words {
    let mut page = Page::default();
    page.text("This is a test question from Provost.");
    page.text(
        "It decides nothing and opens no tool. It shows whether questions reach you here and answers come back. Answer with 1 or 3.",
    );
    menu(&mut page, card);
    identify(&mut page, card);
    Words {
        subject: subject(card),
        page,
    }
}

/// Something that nobody decided, and nobody can any more.
fn told(card: &Card, end: &End) -> Words {
    let mut page = Page::default();
    let (agent, tool) = (name(&card.agent), name(&card.tool));
    page.text(format!(
        "Provost says: {agent} used {tool}, and nobody decided that."
    ));
    if let Some(note) = &end.note {
        page.text(format!("{}.", visible::line(note, LONGEST_NOTE)));
    }
    let more = exact::add(&mut page, card);
    notice(&mut page, card, more, false);
    page.text("There is nothing to answer. Look at what it did, and at the agent's settings.");
    page.text(format!("Approval: {}", card.id));
    Words {
        subject: subject(card),
        page,
    }
}

/// How a question ended, for somebody who was asked and did not decide it by mail.
pub(super) fn ended(card: &Card, end: &End) -> Words {
    if card.kind == Kind::Notice {
        return told(card, end);
    }
    let mut page = Page::default();
    let (agent, tool) = (name(&card.agent), name(&card.tool));
    page.text(if card.kind == Kind::Test {
        "Provost says: the test question is closed. It decided nothing.".to_owned()
    } else {
        format!("Provost says: the question whether {agent} may use {tool} is closed.")
    });
    page.text(format!("{}.", outcome(end)));
    if let Some(remembered) = end.remembered_words(|until| until.to_string()) {
        page.text(visible::line(&remembered, LONGEST_CHOICE + 200));
    }
    if let Some(note) = &end.note {
        page.heading("With these words");
        page.push(Block::Quoted(visible::block(
            note,
            MOST_NOTE_LINES,
            LONGEST_NOTE,
        )));
    }
    page.text("There is nothing left to do.");
    page.text(format!("Approval: {}", card.id));
    Words {
        subject: format!("Re: {}", subject(card)),
        page,
    }
}

/// A reply that decided nothing. The menu is that of the question as it is now.
pub(super) fn again(why: &str, answered: &str, card: Option<&Card>) -> Words {
    let mut page = Page::default();
    page.text("Provost could not take your reply. Nothing was decided.");
    page.push(Block::Quoted(visible::block(
        why,
        MOST_NOTE_LINES,
        LONGEST_NOTE,
    )));
    if let Some(card) = card {
        menu(&mut page, card);
    }
    page.text("A text of several lines stands between two lines of ``` below the code.");
    let subject = visible::line(answered, LONGEST_TITLE);
    let subject = subject.strip_prefix("Re: ").unwrap_or(&subject);
    Words {
        subject: format!("Re: {subject}"),
        page,
    }
}

/// A mail that may be from anybody.
pub(super) fn unproven(id: &ApprovalId) -> Words {
    let mut page = Page::default();
    page.text(
        "Provost was sent a mail about this question in your name. Nothing was decided by it.",
    );
    page.text(
        "It was not a reply to the mail that asked. If you wrote it, use the reply button of that mail, or of this one. If you did not, somebody else used your address.",
    );
    page.text(format!("Approval: {id}"));
    Words {
        subject: format!("Re: [{id}]"),
        page,
    }
}

/// That more is held back.
pub(super) fn more_wait(waiting: usize) -> Words {
    let mut page = Page::default();
    page.text(more_words(waiting));
    Words {
        subject: if waiting == 1 {
            "1 more question waits for you".to_owned()
        } else {
            format!("{waiting} more questions wait for you")
        },
        page,
    }
}

/// In words for the sender of a reply.
pub(super) fn misread(why: &Misread) -> String {
    format!("{why}.")
}

/// Always ends with the approval's id in brackets: the last ones in the subject.
fn subject(card: &Card) -> String {
    if card.kind == Kind::Test {
        return format!("Test question from Provost [{}]", card.id);
    }
    if card.kind == Kind::Notice {
        return format!("{} asked nobody [{}]", name(&card.agent), card.id);
    }
    let title = card.claim.as_ref().and_then(|claim| claim.title.as_deref());
    let what = title.map_or_else(
        || name(&card.tool),
        |title| visible::line(title, LONGEST_NAME),
    );
    let words = format!("{} asks: {what}", name(&card.agent)).replace(['[', ']'], "|");
    format!("{words} [{}]", card.id)
}

fn name(text: &str) -> String {
    visible::line(text, LONGEST_NAME)
}

/// Says how many lines are left out.
fn claimed(page: &mut Page, claim: &Claim) -> usize {
    page.heading("What the agent says about it (not checked)");
    if let Some(title) = &claim.title {
        page.push(Block::Quoted(visible::line(title, LONGEST_TITLE)));
    }
    let Some(preview) = &claim.preview else {
        return claim.more;
    };
    let preview = visible::excerpt(preview, MOST_PREVIEW_LINES, LONGEST_PREVIEW);
    page.push(Block::Quoted(preview.text));
    claim.more + preview.more
}

/// Where the rest is read.
fn notice(page: &mut Page, card: &Card, more: usize, linked: bool) {
    if more == 0 {
        return;
    }
    let wherever = if linked {
        "follow the link below".to_owned()
    } else {
        format!(
            "open the console, or run: provost approvals show {} --full",
            card.id
        )
    };
    page.text(format!(
        "This is not all of it ({}). To read all of it before you decide, {wherever}.",
        more_lines(more)
    ));
}

fn circumstances(page: &mut Page, card: &Card) {
    if card.denied_before {
        page.text("The same was denied before.");
    }
    if card.asked > 1 {
        page.text(format!("It was asked {} times.", card.asked));
    }
    if card.needed > 1 {
        let so_far = card
            .approved_by
            .iter()
            .map(|by| name(by))
            .collect::<Vec<_>>()
            .join(", ");
        let so_far = if so_far.is_empty() {
            "nobody".into()
        } else {
            so_far
        };
        page.text(format!(
            "It needs {} people who approve. So far: {so_far}.",
            card.needed
        ));
    }
    let Some(waiting) = &card.waiting else {
        return;
    };
    let names = |people: &[std::sync::Arc<str>]| {
        let names: Vec<_> = people.iter().take(MOST_NAMES).map(|it| name(it)).collect();
        names.join(", ")
    };
    if card.needed > 1 && !waiting.people.is_empty() {
        page.text(format!("Waiting for: {}.", names(&waiting.people)));
    }
    if let Some(next) = &waiting.next {
        page.text(format!(
            "Asked next, at {}: {}.",
            next.at,
            names(&next.people)
        ));
    }
}

fn menu(page: &mut Page, card: &Card) {
    page.heading("Reply with one of these codes in the first line");
    let labelled = |code: &Code| (*code, visible::line(&card.label(*code), LONGEST_CHOICE));
    page.push(Block::Menu(card.choices.iter().map(labelled).collect()));
}

fn identify(page: &mut Page, card: &Card) {
    if let Some(session) = &card.session {
        page.text(format!("Session: {}", name(session)));
    }
    page.text(format!("Approval: {}", card.id));
    page.text(format!("Expires: {}", card.expires_at));
    if let Some(fallback) = card.fallback {
        page.text(fallback.words());
    }
}

fn outcome(end: &End) -> String {
    let by = end
        .by
        .as_deref()
        .map(|by| format!(" by {}", name(who(by))))
        .unwrap_or_default();
    let via = end
        .via
        .as_deref()
        .map(|via| format!(" ({})", name(via)))
        .unwrap_or_default();
    let how = end
        .code
        .map(|code| match (code, &end.remembered) {
            (Code::Always, Some(_)) => ": Allowed for longer".to_owned(),
            _ => format!(": {}", code.label()),
        })
        .unwrap_or_default();
    match end.status {
        Status::Approved => format!("Approved{by}{via} at {}{how}", end.at),
        Status::Denied => format!("Denied{by}{via} at {}", end.at),
        Status::Expired => format!("Expired at {}: nobody decided in time", end.at),
        Status::Pending => "Still open".to_owned(),
    }
}

#[cfg(test)]
mod tests;
