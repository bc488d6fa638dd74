//! Answers as they came. The models of `rmcp` know the fields of the protocol and lose all others, so what
//! a server answers to a call is taken from the wire, before it is read as one of them.
//!
//! A request that wants its answer so carries a [`Wanted`] in its extensions. Every transport shows the tap
//! what it sends and what it receives.

use std::{
    borrow::Cow,
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use rmcp::model::{
    ClientJsonRpcMessage, GetExtensions as _, GetMeta as _, ProgressNotificationParam,
    ProgressToken, RequestId,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

/// What the models get to see instead of an answer that was taken.
const STAND_IN: &str = r#"{"content":[],"resultType":"complete"}"#;
const PROGRESS: &str = "notifications/progress";
/// How far into a message that is too long its id is looked for.
const HEAD: usize = 256;

/// One request that wants its answer as it comes.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    answer: Mutex<Option<Box<RawValue>>>,
    too_large: AtomicBool,
    progress: Option<mpsc::Sender<ProgressNotificationParam>>,
    /// The models see the answer, too.
    shared: bool,
}

#[derive(Debug, Default)]
pub(super) struct Tap {
    requests: Mutex<HashMap<RequestId, Weak<Wanted>>>,
    progress: Mutex<HashMap<ProgressToken, Weak<Wanted>>>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Wanted {
    pub(super) fn call(progress: Option<mpsc::Sender<ProgressNotificationParam>>) -> Arc<Self> {
        Arc::new(Self {
            progress,
            ..Self::default()
        })
    }

    pub(super) fn list() -> Arc<Self> {
        Arc::new(Self {
            shared: true,
            ..Self::default()
        })
    }

    pub(super) fn take(&self) -> Option<Box<RawValue>> {
        lock(&self.answer).take()
    }

    pub(super) fn was_too_large(&self) -> bool {
        self.too_large.load(Ordering::SeqCst)
    }
}

impl Tap {
    /// Called before a message is on the wire, so that no answer can come too early.
    pub(super) fn sending(&self, message: &ClientJsonRpcMessage) {
        let ClientJsonRpcMessage::Request(request) = message else {
            return;
        };
        let Some(wanted) = request.request.extensions().get::<Arc<Wanted>>() else {
            return;
        };
        remember(&self.requests, request.id.clone(), wanted);
        if wanted.progress.is_some()
            && let Some(token) = request.request.get_meta().get_progress_token()
        {
            remember(&self.progress, token, wanted);
        }
    }

    /// The message for the models to read.
    pub(super) fn received<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Ok(Envelope {
            id,
            result,
            method,
            params,
        }) = serde_json::from_str(text)
        else {
            return Cow::Borrowed(text);
        };
        if method.as_deref() == Some(PROGRESS) {
            self.progress(params);
        }
        let Some((id, result)) = id.zip(result) else {
            return Cow::Borrowed(text);
        };
        let Some(wanted) = self.wanted(id.get()) else {
            return Cow::Borrowed(text);
        };
        *lock(&wanted.answer) = Some(result.to_owned());
        if wanted.shared {
            return Cow::Borrowed(text);
        }
        let id = id.get();
        Cow::Owned(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{STAND_IN}}}"#
        ))
    }

    /// The error to be read instead of a message that is too long, of which only the beginning was kept.
    /// `None` when it cannot be told which request it answers.
    pub(super) fn too_large(&self, head: &[u8]) -> Option<String> {
        let head = String::from_utf8_lossy(head.get(..HEAD).unwrap_or(head));
        let id = head.split_once("\"id\":")?.1.trim_start();
        let id = id.split([',', '}', ' ']).next()?;
        let wanted = self.wanted(id)?;
        wanted.too_large.store(true, Ordering::SeqCst);
        Some(format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"too large"}}}}"#
        ))
    }

    /// Told here and not by `rmcp`, whose tasks would tell it in any order, and some of it after the answer.
    fn progress(&self, params: Option<&RawValue>) {
        let params = params.and_then(|params| serde_json::from_str(params.get()).ok());
        let Some(params): Option<ProgressNotificationParam> = params else {
            return;
        };
        let wanted = lock(&self.progress).get(&params.progress_token).cloned();
        let sender = wanted.as_ref().and_then(Weak::upgrade);
        if let Some(sender) = sender.as_ref().and_then(|wanted| wanted.progress.as_ref()) {
            // A caller too slow to take its progress does without.
            let _ = sender.try_send(params);
        }
    }

    fn wanted(&self, id: &str) -> Option<Arc<Wanted>> {
        let id: RequestId = serde_json::from_str(id).ok()?;
        let mut requests = lock(&self.requests);
        // Some servers answer with the number as text.
        let as_number = match &id {
            RequestId::String(text) => text.parse().ok().map(RequestId::Number),
            RequestId::Number(_) => None,
        };
        let found = requests.remove(&id);
        let found = found.or_else(|| requests.remove(&as_number?))?;
        found.upgrade()
    }
}

fn remember<K: Eq + Hash>(map: &Mutex<HashMap<K, Weak<Wanted>>>, key: K, wanted: &Arc<Wanted>) {
    let mut map = lock(map);
    // Those whose callers went away without an answer.
    if map.len() >= 64 && map.len().is_power_of_two() {
        map.retain(|_, wanted| wanted.strong_count() > 0);
    }
    map.insert(key, Arc::downgrade(wanted));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};

    use super::*;

    fn asked(tap: &Tap, id: i64, wanted: &Arc<Wanted>) {
        let mut request = CallToolRequest::new(CallToolRequestParams::new("t"));
        request.extensions.insert(wanted.clone());
        let request = ClientRequest::CallToolRequest(request);
        tap.sending(&ClientJsonRpcMessage::request(
            request,
            RequestId::Number(id),
        ));
    }

    #[test]
    fn an_answer_is_taken_byte_for_byte_and_once() {
        let (tap, wanted) = (Tap::default(), Wanted::call(None));
        asked(&tap, 3, &wanted);
        let result =
            r#"{"content":[{"type":"new"}], "x": 1.0, "big": 123456789012345678901234567890}"#;
        let text = format!(r#"{{"jsonrpc":"2.0","id":"3","result":{result}}}"#);
        let seen = tap.received(&text).into_owned();
        assert!(!seen.contains("big"), "{seen}");
        assert_eq!(wanted.take().unwrap().get(), result);
        assert_eq!(tap.received(&text), text);
    }

    #[test]
    fn progress_is_there_before_the_answer_and_in_order() {
        let (told, mut heard) = mpsc::channel(8);
        let (tap, wanted) = (Tap::default(), Wanted::call(Some(told)));
        let token = || ProgressToken(rmcp::model::NumberOrString::Number(7));
        remember(&tap.progress, token(), &wanted);
        for (token, progress) in [(7, 1), (8, 9), (7, 2)] {
            let params = format!(r#"{{"progressToken":{token},"progress":{progress}}}"#);
            let text = format!(r#"{{"jsonrpc":"2.0","method":"{PROGRESS}","params":{params}}}"#);
            assert_eq!(tap.received(&text), text);
        }
        let heard = std::iter::from_fn(|| heard.try_recv().ok());
        let heard: Vec<_> = heard.map(|one| one.progress).collect();
        assert_eq!(heard, [1.0, 2.0]);
    }

    #[test]
    fn what_nobody_wants_passes() {
        let (tap, wanted) = (Tap::default(), Wanted::call(None));
        asked(&tap, 3, &wanted);
        for text in [
            r#"{"jsonrpc":"2.0","id":4,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            "{broken",
        ] {
            assert_eq!(tap.received(text), text);
        }
        assert!(wanted.take().is_none());
    }

    #[test]
    fn a_message_that_is_too_long_fails_the_request_it_answers() {
        let (tap, wanted) = (Tap::default(), Wanted::call(None));
        asked(&tap, 3, &wanted);
        assert_eq!(tap.too_large(b"{\"result\":{"), None);
        assert_eq!(tap.too_large(br#"{"jsonrpc":"2.0","id": 4,"#), None);
        assert!(
            tap.too_large(br#"{"jsonrpc":"2.0","id": 3,"result""#)
                .is_some()
        );
        assert!(wanted.was_too_large());
    }

    #[test]
    fn callers_who_went_away_are_forgotten() {
        let tap = Tap::default();
        for id in 0..1000 {
            asked(&tap, id, &Wanted::call(None));
        }
        assert!(lock(&tap.requests).len() <= 65);
    }
}
