//! Sessions of MCP clients: each belongs to the key that opened it, and there are only so many, for only so
//! long. Its id is the session of the calls made in it.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use provost_core::{
    ids::{hex, random_bytes},
    key::Role,
    time::Time,
};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::message::{Answer, Id};
use crate::access::Caller;

const MOST: usize = 10_000;
/// The rest is for those who decide.
const MOST_OF_AGENTS: usize = 9_000;
const MOST_OF_ONE: usize = 256;
/// Without a request, a call that runs or a stream that is open.
const IDLE: Duration = Duration::from_hours(1);
/// Questions to the client that may be open at once.
const MOST_ASKED: usize = 64;

#[derive(Default)]
pub(crate) struct Sessions {
    table: Mutex<Table>,
}

/// Whose session it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    role: Role,
    name: Arc<str>,
}

pub(super) struct Session {
    pub(super) id: Arc<str>,
    pub(super) takes_forms: bool,
    owner: Owner,
    state: Mutex<State>,
}

struct State {
    seen_at: Time,
    running: HashMap<Id, CancellationToken>,
    asked: HashMap<String, oneshot::Sender<Option<Value>>>,
    questions: u64,
    /// Ends when another stream takes its place.
    stream: Option<CancellationToken>,
    level: Option<u8>,
    subscriptions: BTreeSet<String>,
}

/// A call that runs in a session; dropped when it has ended.
pub(super) struct Running {
    session: Arc<Session>,
    id: Id,
}

/// A question to the client; dropped when its answer is not wanted any more.
pub(super) struct Question {
    session: Arc<Session>,
    pub(super) id: String,
    pub(super) answered: oneshot::Receiver<Option<Value>>,
}

/// A stream to the client; dropped when it ends.
pub(super) struct Stream {
    session: Arc<Session>,
    pub(super) ended: CancellationToken,
}

impl Owner {
    pub(super) fn of(caller: &Caller) -> Self {
        match caller {
            Caller::Agent(name) => Self {
                role: Role::Agent,
                name: name.clone(),
            },
            Caller::Decider(key) => Self {
                role: key.role,
                name: key.name.clone(),
            },
        }
    }
}

impl Sessions {
    /// `None`: there are too many, and all of them are in use. Else one that rests makes room: its owner's own,
    /// or, where agents have all that they may, one of the agent that has most.
    pub(super) fn open(&self, owner: Owner, takes_forms: bool, now: Time) -> Option<Arc<Session>> {
        let mut table = self.lock();
        let of_agents =
            |table: &Table| table.values().filter(|session| session.is_agents()).count();
        if table.len() >= MOST_OF_AGENTS {
            table.retain(|_, session| !session.is_idle(now));
        }
        let own = table.values().filter(|session| session.owner == owner);
        if own.count() >= MOST_OF_ONE && !forget_longest_unseen(&mut table, &owner) {
            return None;
        }
        let is_full = if owner.role == Role::Agent {
            table.len() >= MOST_OF_AGENTS && of_agents(&table) >= MOST_OF_AGENTS
        } else {
            table.len() >= MOST
        };
        if is_full {
            let largest = largest_agent(&table)?;
            if !forget_longest_unseen(&mut table, &largest) {
                return None;
            }
        }
        let id: Arc<str> = format!("mcp-{}", hex(&random_bytes::<16>())).into();
        let session = Arc::new(Session {
            id: id.clone(),
            takes_forms,
            owner,
            state: Mutex::new(State {
                seen_at: now,
                running: HashMap::new(),
                asked: HashMap::new(),
                questions: 0,
                stream: None,
                level: None,
                subscriptions: BTreeSet::new(),
            }),
        });
        table.insert(id, session.clone());
        Some(session)
    }

    /// Another's session is as good as none.
    pub(super) fn find(&self, id: &str, owner: &Owner, now: Time) -> Option<Arc<Session>> {
        let mut table = self.lock();
        let session = table.get(id).filter(|session| session.owner == *owner)?;
        if session.is_idle(now) {
            table.remove(id);
            return None;
        }
        session.lock().seen_at = now;
        Some(session.clone())
    }

    /// Ends a session, and what runs in it.
    pub(super) fn close(&self, session: &Session) {
        self.lock().remove(&session.id);
        session.end();
    }

    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Table = HashMap<Arc<str>, Arc<Session>>;

/// Ends the session of an owner in which nothing happened for longest. `false`: all are in use.
fn forget_longest_unseen(table: &mut Table, owner: &Owner) -> bool {
    let own = table.values().filter(|session| session.owner == *owner);
    let resting = own.filter(|session| session.rests());
    let oldest = resting
        .min_by_key(|session| session.lock().seen_at)
        .cloned();
    let Some(oldest) = oldest else { return false };
    table.remove(&oldest.id);
    oldest.end();
    true
}

fn largest_agent(table: &Table) -> Option<Owner> {
    let mut counts: HashMap<&Owner, usize> = HashMap::new();
    for session in table.values().filter(|session| session.is_agents()) {
        *counts.entry(&session.owner).or_default() += 1;
    }
    let largest = counts.into_iter().max_by_key(|(_, count)| *count);
    largest.map(|(owner, _)| owner.clone())
}

impl Session {
    /// `None`: a call of this id runs already.
    pub(super) fn begin(self: &Arc<Self>, id: &Id, cancel: CancellationToken) -> Option<Running> {
        let mut state = self.lock();
        if state.running.contains_key(id) {
            return None;
        }
        state.running.insert(id.clone(), cancel);
        Some(Running {
            session: self.clone(),
            id: id.clone(),
        })
    }

    pub(super) fn cancel(&self, id: &Id) {
        if let Some(cancel) = self.lock().running.get(id) {
            cancel.cancel();
        }
    }

    /// `None`: too many are open.
    pub(super) fn ask(self: &Arc<Self>) -> Option<Question> {
        let mut state = self.lock();
        if state.asked.len() >= MOST_ASKED {
            return None;
        }
        state.questions += 1;
        let id = format!("provost-{}", state.questions);
        let (answer, answered) = oneshot::channel();
        state.asked.insert(id.clone(), answer);
        Some(Question {
            session: self.clone(),
            id,
            answered,
        })
    }

    /// `false`: nothing of that id was asked.
    pub(super) fn answer(&self, answer: Answer) -> bool {
        let Id::Text(id) = answer.id else {
            return false;
        };
        let asked = self.lock().asked.remove(&id);
        // Whoever asked may have gone meanwhile.
        asked.is_some_and(|asked| asked.send(answer.result).is_ok())
    }

    /// A stream of what happens; the one before it ends.
    pub(super) fn listen(self: &Arc<Self>) -> Stream {
        let ended = CancellationToken::new();
        if let Some(before) = self.lock().stream.replace(ended.clone()) {
            before.cancel();
        }
        Stream {
            session: self.clone(),
            ended,
        }
    }

    pub(super) fn level(&self) -> Option<u8> {
        self.lock().level
    }

    pub(super) fn set_level(&self, level: u8) {
        self.lock().level = Some(level);
    }

    pub(super) fn subscribe(&self, uri: &str) {
        self.lock().subscriptions.insert(uri.to_owned());
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.lock().subscriptions.remove(uri);
    }

    pub(super) fn subscribes(&self, uri: &str) -> bool {
        self.lock().subscriptions.contains(uri)
    }

    pub(super) fn subscriptions(&self) -> usize {
        self.lock().subscriptions.len()
    }

    fn end(&self) {
        let mut state = self.lock();
        for (_, cancel) in state.running.drain() {
            cancel.cancel();
        }
        if let Some(stream) = state.stream.take() {
            stream.cancel();
        }
    }

    fn is_idle(&self, now: Time) -> bool {
        self.rests() && now.since(self.lock().seen_at) > IDLE
    }

    /// No call runs in it, and nobody listens.
    fn rests(&self) -> bool {
        let state = self.lock();
        state.running.is_empty() && state.stream.is_none()
    }

    fn is_agents(&self) -> bool {
        self.owner.role == Role::Agent
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.session.lock().running.remove(&self.id);
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.session.lock().asked.remove(&self.id);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut state = self.session.lock();
        // Unless it was this stream's end that made room for another.
        if !self.ended.is_cancelled() {
            state.stream = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str) -> Owner {
        Owner::of(&Caller::Agent(name.into()))
    }

    fn at(hours: u64) -> Time {
        Time::default().plus(Duration::from_mins(hours * 60 + 1))
    }

    #[test]
    fn a_session_is_its_owners_alone_and_ends_when_nobody_uses_it() {
        let sessions = Sessions::default();
        let open = |name| sessions.open(owner(name), false, Time::default());
        let (a, used) = (open("a").unwrap(), open("a").unwrap());
        assert!(sessions.find(&a.id, &owner("b"), at(0)).is_none());
        assert!(sessions.find(&a.id, &owner("a"), at(0)).is_some());
        let running = used.begin(&Id::Number(1), CancellationToken::new());
        assert!(sessions.find(&a.id, &owner("a"), at(2)).is_none());
        assert!(sessions.find(&used.id, &owner("a"), at(2)).is_some());
        drop(running);
        assert!(sessions.find(&used.id, &owner("a"), at(4)).is_none());
    }

    #[test]
    fn p10_one_owner_has_only_so_many_and_loses_the_oldest_that_rests() {
        let sessions = Sessions::default();
        let open = |minute: u64| {
            let now = Time::default().plus(Duration::from_secs(minute));
            sessions.open(owner("a"), false, now)
        };
        let first = open(0).unwrap();
        let cancel = CancellationToken::new();
        let _running = first.begin(&Id::Number(1), cancel.clone()).unwrap();
        let second = open(1).unwrap();
        for minute in 2..=MOST_OF_ONE as u64 {
            open(minute).unwrap();
        }
        assert!(sessions.find(&first.id, &owner("a"), at(0)).is_some());
        assert!(!cancel.is_cancelled(), "a call runs in it");
        assert!(sessions.find(&second.id, &owner("a"), at(0)).is_none());
        // Where all are in use, nobody's work ends for a newcomer.
        let running: Vec<_> = sessions.all();
        let _running: Vec<_> = running.iter().map(Session::listen).collect();
        assert!(open(900).is_none());
        assert!(sessions.open(owner("b"), false, at(0)).is_some());
    }

    #[test]
    fn p10_agents_leave_room_for_those_who_decide() {
        let sessions = Sessions::default();
        let names = (0..).map(|n: usize| format!("agent-{n}"));
        let all = names.flat_map(|name| std::iter::repeat_n(name, MOST_OF_ONE - 1));
        for name in all.take(MOST_OF_AGENTS + 50) {
            assert!(sessions.open(owner(&name), false, at(0)).is_some());
        }
        assert_eq!(sessions.all().len(), MOST_OF_AGENTS);
        let decider = Owner {
            role: Role::Human,
            name: "alice".into(),
        };
        assert!(sessions.open(decider, false, at(0)).is_some());
        let in_use: Vec<_> = sessions.all();
        let _streams: Vec<_> = in_use.iter().map(Session::listen).collect();
        assert!(sessions.open(owner("late"), false, at(0)).is_none());
    }

    #[test]
    fn a_call_runs_once_under_its_id_and_can_be_cancelled() {
        let sessions = Sessions::default();
        let session = sessions.open(owner("a"), false, Time::default()).unwrap();
        let (id, cancel) = (Id::Number(1), CancellationToken::new());
        let running = session.begin(&id, cancel.clone());
        assert!(session.begin(&id, CancellationToken::new()).is_none());
        session.cancel(&Id::Number(2));
        assert!(!cancel.is_cancelled());
        session.cancel(&id);
        assert!(cancel.is_cancelled());
        drop(running);
        assert!(session.begin(&id, CancellationToken::new()).is_some());
    }

    #[test]
    fn a_newer_stream_ends_the_older_and_is_not_ended_by_it() {
        let sessions = Sessions::default();
        let session = sessions.open(owner("a"), false, Time::default()).unwrap();
        let older = session.listen();
        let newer = session.listen();
        assert!(older.ended.is_cancelled());
        drop(older);
        assert!(!session.is_idle(at(9)), "the newer one is open");
        drop(newer);
        assert!(session.is_idle(at(9)));
    }
}
