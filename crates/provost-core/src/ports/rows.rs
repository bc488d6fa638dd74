//! What goes into the store and comes out of it.

use std::{ops::Deref, sync::Arc};

use crate::{
    approval::{Approval, Claim, Decision, Level, Question, State, Status},
    call::Digest,
    delivery::{Delivery, Plan},
    glob::Glob,
    grant::Grant,
    ids::{ApprovalId, GrantId, TraceId},
    time::Time,
    trace::{RecordKind, TraceRow, chain::Hash},
};

/// A decision to be recorded, and what must still hold for it to count.
#[derive(Clone, Debug)]
pub struct Record {
    pub row: TraceRow,
    /// The [`ControlRows::version`] the decision was made under. `None`: the decision is a no.
    pub version: Option<u64>,
    /// The grant that permits the call: one use of it is taken.
    pub grant: Option<GrantId>,
    pub key: Option<IdempotencyKey>,
    /// How many calls of this agent may be let in altogether, by every replica.
    pub max_total: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    Done,
    /// Stops, grants or keys changed since: nothing was written, decide again.
    Stale,
    /// The grant is used up, over or revoked: nothing was written, decide again.
    GrantSpent,
    /// The idempotency key already stands for a permitted call: nothing was written.
    KeyTaken,
    /// The agent has made all the calls it may: nothing was written.
    TotalSpent,
}

/// A caller's promise that two requests are one. Kept with the permit it was used for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub agent: Arc<str>,
    pub key: String,
    pub digest: Digest,
    /// When the decision was made that it is kept with.
    pub at: Time,
    /// What is answered, where that is known already: nothing is executed here, so no outcome follows.
    pub answer: Option<String>,
    /// The decision that it stood for and that no longer holds: the key is free as long as it stands for that
    /// one. Of several who replace it, one does.
    pub replaces: Option<TraceId>,
}

/// What an idempotency key stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyedAnswer {
    pub digest: Digest,
    pub trace_id: TraceId,
    /// When that was decided.
    pub at: Time,
    /// What was answered, as JSON, once the call has ended.
    pub answer: Option<String>,
    /// The [`ControlRows::version`] when it was read.
    pub version: u64,
}

#[derive(Clone, Debug)]
pub struct NewApproval {
    pub question: Question,
    pub state: State,
    /// As in [`Record::version`]: a question that a new grant or stop has answered is not asked.
    pub version: u64,
    /// Its copies on channels.
    pub plans: Vec<Plan>,
    /// Stands for this approval from now on.
    pub key: Option<IdempotencyKey>,
    /// The record of what is settled when it is made: by a grant, whose use is taken in the same transaction, or
    /// because there is nothing to decide. Its key is `key`.
    pub granted: Option<Box<Record>>,
    /// How many questions of this agent and kind may wait at once.
    pub most_pending: Option<u32>,
    /// As [`Record::max_total`]; what waits is counted, too.
    pub max_total: Option<u64>,
}

impl NewApproval {
    /// What the key is kept as, once it stands for an approval.
    pub fn key_for(&self, id: &ApprovalId) -> Option<IdempotencyKey> {
        let key = self.key.as_ref()?;
        Some(IdempotencyKey {
            answer: Some(id.to_string()),
            ..key.clone()
        })
    }

    /// The record that is written with it, with the key.
    pub fn grant_record(&self) -> Option<Record> {
        let record = self.granted.as_deref()?;
        Some(Record {
            key: self.key_for(&self.question.id),
            ..record.clone()
        })
    }
}

#[derive(Clone, Debug)]
pub enum Opened {
    /// The question, new or found.
    Approval(Box<Approval>),
    /// As [`Recorded::Stale`].
    Stale,
    /// As [`Recorded::KeyTaken`].
    KeyTaken,
    /// As [`Recorded::GrantSpent`].
    GrantSpent,
    /// As [`Recorded::TotalSpent`].
    TotalSpent,
    /// As many questions of this agent wait as may: nothing was written.
    Crowded,
}

impl From<Recorded> for Option<Opened> {
    /// Why an approval is not made, where its record was not.
    fn from(recorded: Recorded) -> Self {
        match recorded {
            Recorded::Done => None,
            Recorded::Stale => Some(Opened::Stale),
            Recorded::GrantSpent => Some(Opened::GrantSpent),
            Recorded::KeyTaken => Some(Opened::KeyTaken),
            Recorded::TotalSpent => Some(Opened::TotalSpent),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Resolve {
    pub id: ApprovalId,
    pub decision: Decision,
    /// The decider may only decide what is, at this moment, for supervisors.
    pub only_supervisor_level: bool,
    /// Until when the decision waits for a caller to take it.
    pub permit_until: Option<Time>,
    /// The grant that answers: one use of it is taken in the same transaction.
    pub grant: Option<GrantId>,
    /// How many people must say yes. Until then a yes is counted, once for each of them.
    pub needed: u8,
    /// The record of a yes that does not suffice yet.
    pub vote: Option<Box<TraceRow>>,
    /// A grant that comes into force with the decision, and the note of it.
    pub new_grant: Option<Box<(Grant, TraceRow)>>,
    /// The record of the decision, written in the same transaction.
    pub row: TraceRow,
}

#[derive(Clone, Debug)]
pub enum Resolved {
    Won(Box<Approval>),
    /// A yes of several that are needed.
    Counted(Box<Approval>),
    /// Already decided or expired: this is how.
    Lost(Box<Approval>),
    /// It is for people now.
    NotYours(Box<Approval>),
    /// Another supervisor's claim lasts.
    Held(Claim),
    /// As [`Recorded::GrantSpent`].
    GrantSpent,
    NotFound,
}

/// A delivery of which something is to be done, and what it tells of.
#[derive(Clone, Debug)]
pub struct Leased {
    pub delivery: Delivery,
    pub approval: Approval,
}

/// A delivery, and how it went.
#[derive(Clone, Debug)]
pub struct Delivered {
    pub delivery: Delivery,
    /// Nothing more is to be done with it.
    pub closed: bool,
    /// Why it last failed.
    pub error: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Taken {
    /// The decision is this caller's to act on, and nobody else's.
    Yes,
    /// It was handed to another caller, or its permit ran out.
    No,
    /// As [`Recorded::Stale`].
    Stale,
    KeyTaken,
}

#[derive(Clone, Debug)]
pub enum Claimed {
    Yes(Box<Approval>),
    /// Somebody else's claim still lasts.
    Held(Claim),
    /// Not pending, or not for supervisors any more.
    Lost(Box<Approval>),
    NotFound,
}

#[derive(Clone, Debug)]
pub enum Escalated {
    Yes(Box<Approval>),
    /// Not pending, or with people already.
    Lost(Box<Approval>),
    NotFound,
}

#[derive(Clone, Debug, Default)]
pub struct ApprovalFilter {
    pub status: Option<Status>,
    pub tool: Option<Glob>,
    /// Any of these, when not empty: a supervisor's tools.
    pub tools: Vec<Glob>,
    pub level: Option<Level>,
    pub agent: Option<String>,
    pub session: Option<String>,
    /// Made at or after.
    pub since: Option<Time>,
    /// The `place` of the last row of the page before.
    pub after: Option<u64>,
    pub limit: usize,
}

/// A page of any list ends with the row that makes it this long, however few rows it has then.
pub const PAGE_BYTES: usize = 4 << 20;
/// The same of records of a chain, which are streamed.
pub const CHAIN_PAGE_BYTES: usize = 1 << 20;

/// The text of most questions is shorter.
const LIKELY_QUESTION: usize = 512;

/// Approvals as a list shows them: the questions as the JSON text they were stored as, one after another,
/// so that a page costs no parsing and no allocation per row.
#[derive(Clone, Debug, Default)]
pub struct ApprovalPage {
    questions: Vec<u8>,
    rows: Vec<PageRow>,
    most: usize,
}

#[derive(Clone, Debug)]
struct PageRow {
    place: u64,
    /// Where its question ends.
    end: usize,
    state: State,
}

/// One approval of an [`ApprovalPage`].
#[derive(Clone, Copy, Debug)]
pub struct ApprovalRow<'a> {
    pub place: u64,
    /// JSON of [`Question`].
    pub question: &'a [u8],
    pub state: &'a State,
}

impl ApprovalPage {
    /// For so many rows at most.
    pub fn with_room(rows: usize) -> Self {
        Self {
            questions: Vec::with_capacity(rows * LIKELY_QUESTION),
            rows: Vec::with_capacity(rows),
            most: rows,
        }
    }

    pub fn push(&mut self, place: u64, question: &[u8], state: State) {
        self.questions.extend_from_slice(question);
        self.rows.push(PageRow {
            place,
            end: self.questions.len(),
            state,
        });
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How long its questions are.
    pub fn bytes(&self) -> usize {
        self.questions.len()
    }

    /// It has as many rows or bytes as a page may have.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.most || self.questions.len() >= PAGE_BYTES
    }

    /// The `place` of its last row.
    pub fn last_place(&self) -> Option<u64> {
        self.rows.last().map(|row| row.place)
    }

    /// Where the next page goes on, if this one is full.
    pub fn next_after(&self) -> Option<u64> {
        self.last_place().filter(|_| self.is_full())
    }

    pub fn rows(&self) -> impl Iterator<Item = ApprovalRow<'_>> {
        let mut begin = 0;
        self.rows.iter().map(move |row| {
            let question = self.questions.get(begin..row.end).unwrap_or_default();
            begin = row.end;
            ApprovalRow {
                place: row.place,
                question,
                state: &row.state,
            }
        })
    }
}

/// Appends a row to a page, as JSON, as it is at a moment. A question longer than so many bytes is cut.
pub type WriteRow = fn(ApprovalRow<'_>, Time, usize, &mut Vec<u8>);

/// What most rows take in a page, with their state.
const LIKELY_ROW: usize = LIKELY_QUESTION + 160;
/// Longer questions are cut in a list.
pub const LONGEST_QUESTION: usize = 64 * 1024;
/// And these behind the first half of the page, so that long ones push no other row out of it: not every client asks
/// for the next page.
const LONGEST_BEHIND: usize = 2 * 1024;
/// No more than this is read for one page.
const MOST_READ: usize = 32 * PAGE_BYTES;

/// A page that is written while it is read, so that a question is copied once: from its row to the answer.
#[derive(Debug)]
pub struct WrittenPage {
    text: Vec<u8>,
    rows: usize,
    most: usize,
    read: usize,
    last_place: Option<u64>,
}

impl WrittenPage {
    /// For so many rows at most.
    pub fn of_at_most(rows: usize) -> Self {
        Self {
            text: Vec::new(),
            rows: 0,
            most: rows,
            read: 0,
            last_place: None,
        }
    }

    pub fn push(&mut self, row: ApprovalRow<'_>, now: Time, write: WriteRow) {
        if self.is_empty() {
            self.text.reserve(self.most * LIKELY_ROW);
        }
        self.text.push(if self.is_empty() { b'[' } else { b',' });
        self.rows += 1;
        self.read += row.question.len();
        self.last_place = Some(row.place);
        let longest = if self.text.len() < PAGE_BYTES / 2 {
            LONGEST_QUESTION
        } else {
            LONGEST_BEHIND
        };
        write(row, now, longest, &mut self.text);
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// It has as many rows or bytes as a page may have.
    pub fn is_full(&self) -> bool {
        self.rows >= self.most || self.text.len() >= PAGE_BYTES || self.read >= MOST_READ
    }

    /// Where the next page goes on, if this one is full.
    pub fn next_after(&self) -> Option<u64> {
        self.last_place.filter(|_| self.is_full())
    }

    /// An array of the rows.
    pub fn into_json(mut self) -> Vec<u8> {
        if self.is_empty() {
            self.text.push(b'[');
        }
        self.text.push(b']');
        self.text
    }
}

#[derive(Clone, Debug, Default)]
pub struct TraceFilter {
    pub agent: Option<String>,
    pub tool: Option<Glob>,
    /// Any of these, when not empty: a supervisor's tools.
    pub tools: Vec<Glob>,
    pub session: Option<String>,
    pub verdict: Option<String>,
    pub since: Option<Time>,
    pub until: Option<Time>,
    /// Older than this place.
    pub before: Option<u64>,
    pub limit: usize,
}

/// Some traces, newest first.
#[derive(Clone, Debug, Default)]
pub struct TracePage {
    pub entries: Vec<TraceEntry>,
    /// Where the next page goes on, if this one has as many rows or bytes as a page may have.
    pub next_before: Option<u64>,
}

impl Deref for TracePage {
    type Target = [TraceEntry];

    fn deref(&self) -> &[TraceEntry] {
        &self.entries
    }
}

impl TracePage {
    /// What was found, until the page is full.
    pub fn of<E>(
        limit: usize,
        found: impl IntoIterator<Item = Result<TraceEntry, E>>,
    ) -> Result<Self, E> {
        let (mut page, mut bytes) = (Self::default(), 0);
        for entry in found {
            let entry = entry?;
            bytes += entry.bytes();
            let is_full = page.entries.len() + 1 >= limit || bytes >= PAGE_BYTES;
            page.next_before = is_full.then_some(entry.place);
            page.entries.push(entry);
            if is_full {
                break;
            }
        }
        Ok(page)
    }
}

/// A decision and its outcome, as JSON text.
#[derive(Clone, Debug)]
pub struct TraceEntry {
    pub place: u64,
    pub decision: String,
    /// Let through to a backend, and its outcome not recorded yet.
    pub in_flight: bool,
    pub outcome: Option<String>,
}

impl TraceEntry {
    /// How long its records are.
    pub fn bytes(&self) -> usize {
        self.decision.len() + self.outcome.as_ref().map_or(0, String::len)
    }
}

/// One record as it stands in its chain, for verification and export.
#[derive(Clone, Debug)]
pub struct ChainRecord {
    /// Where it stands among the records of all chains: the order in which they are listed.
    pub place: u64,
    pub seq: u64,
    pub hash: Hash,
    pub trace_id: TraceId,
    pub kind: RecordKind,
    pub at: Time,
    pub agent: String,
    pub session: Option<String>,
    pub tool: String,
    pub verdict: String,
    pub forwarded: bool,
    pub body: String,
}

/// A record that is no longer what this program writes: somebody changed it.
#[derive(Clone, Debug)]
pub struct Unreadable {
    /// Its number in the chain, or 0 where it stands before the first.
    pub seq: u64,
    pub trace_id: Option<String>,
    pub why: String,
}

/// Where a chain begins and ends. What was pruned is represented by the hash of its last record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainEnds {
    pub chain: String,
    pub anchor_seq: u64,
    pub anchor_hash: Hash,
    pub head_seq: u64,
    pub head_hash: Hash,
}

/// The last record that this process appended to its chain, as it made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenHead {
    pub chain: String,
    pub seq: u64,
    pub hash: Hash,
}

/// What a tool of an upstream server says of itself, as it was first seen or accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPin {
    pub server: String,
    pub tool: String,
    /// Of the definition.
    pub digest: Digest,
    /// Canonical JSON.
    pub definition: String,
    pub at: Time,
    /// Who accepted it; nobody did when it was first seen.
    pub by: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pinned {
    Yes,
    /// Another definition was accepted meanwhile, or there is none: nothing was written.
    No,
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct Activity {
    pub agent_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub first_at: Time,
    pub last_at: Time,
    pub calls: u64,
    pub denied: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueDepth {
    pub pending: u64,
    pub oldest: Option<Time>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p10_a_written_page_has_room_for_a_thousand_questions_of_any_length() {
        let state = State::pending(Level::Human, Time::default(), None);
        for length in [300, 3000, 60_000, 100_000] {
            let question = vec![b'x'; length];
            let mut page = WrittenPage::of_at_most(1000);
            for place in 0..1000 {
                assert!(!page.is_full(), "{length}: full after {place}");
                let row = ApprovalRow {
                    place,
                    question: &question,
                    state: &state,
                };
                page.push(row, Time::default(), |row, _, longest, out| {
                    let length = row.question.len().min(longest);
                    out.extend(row.question.iter().take(length));
                });
            }
            assert!(page.into_json().len() < PAGE_BYTES + LONGEST_QUESTION);
        }
    }

    #[test]
    fn p10_what_is_read_for_a_page_is_bounded() {
        let state = State::pending(Level::Human, Time::default(), None);
        let question = vec![b'x'; 1 << 20];
        let mut page = WrittenPage::of_at_most(1000);
        let mut pushed = 0;
        while !page.is_full() {
            let row = ApprovalRow {
                place: pushed,
                question: &question,
                state: &state,
            };
            page.push(row, Time::default(), |_, _, _, out| out.push(b'0'));
            pushed += 1;
        }
        assert_eq!((pushed, page.next_after()), (128, Some(127)));
    }
}
