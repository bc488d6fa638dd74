//! The client's messages to the gateway and its answers back, each request beside the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use tokio::task::AbortHandle;
use tokio_util::task::TaskTracker;

use super::line::Line;
use crate::{
    client::{Client, ClientError, Events, Target},
    commands::mcp::{print_line, tell},
};

const ACCEPT: &str = "application/json, text/event-stream";
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

pub(super) struct Speaker {
    client: Client,
    state: Mutex<State>,
    running: TaskTracker,
}

#[derive(Default)]
struct State {
    session: Option<Session>,
    /// What waits for its answer, by the id of the request as text.
    waiting: HashMap<String, AbortHandle>,
    listening: Option<AbortHandle>,
}

#[derive(Clone)]
struct Session {
    id: HeaderValue,
    /// With which it was opened, and is opened again when the gateway has forgotten it.
    hello: Arc<Line>,
}

/// What the client was told in answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    All,
    /// The answer broke off: without a word more, the client would wait for ever.
    Nothing,
}

impl Speaker {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            state: Mutex::default(),
            running: TaskTracker::new(),
        }
    }

    pub(super) async fn hear(self: &Arc<Self>, text: &str) {
        let line = match Line::read(text) {
            Ok(line) => Arc::new(line),
            Err(answer) => return tell(&answer),
        };
        if line.method == "initialize" && !line.is_stateless() {
            // All that follows is of the session.
            return self.open(&line).await;
        }
        if let Some(id) = &line.cancels {
            let waiting = self.state().waiting.remove(&id.to_string());
            self.say(&line).await;
            waiting.iter().for_each(AbortHandle::abort);
            return;
        }
        let Some(id) = line.id.as_ref().map(Value::to_string) else {
            // What is not answered keeps its place among what is said.
            self.say(&line).await;
            return;
        };
        let (speaker, own) = (self.clone(), id.clone());
        // Held until the request is in it: an answer may be quicker than we are.
        let mut state = self.state();
        let asked = self.running.spawn(async move {
            let said = speaker.say(&line).await;
            let awaited = speaker.state().waiting.remove(&own).is_some();
            // The gateway ends the stream of a call that was cancelled, and nobody waits for its answer.
            if said == Said::Nothing && awaited {
                lost(&line, &ClientError::BrokeOff);
            }
        });
        state.waiting.insert(id, asked.abort_handle());
    }

    /// Until all that was asked is answered.
    pub(super) async fn finish(&self) {
        self.running.close();
        self.running.wait().await;
    }

    pub(super) async fn end(&self) {
        let (session, left) = {
            let mut state = self.state();
            let left = state.waiting.drain().map(|(_, waiting)| waiting);
            let left: Vec<_> = left.collect();
            let listening = state.listening.take();
            (state.session.take(), left.into_iter().chain(listening))
        };
        left.for_each(|task| task.abort());
        if let Some(session) = session {
            let headers = [("mcp-session-id", session.id)];
            // It would end by itself.
            let _ = self.send(Method::DELETE, &headers, Bytes::new()).await;
        }
    }

    async fn open(self: &Arc<Self>, hello: &Arc<Line>) {
        match self.post(hello, None).await {
            Ok(answer) => {
                self.opened(hello, &answer);
                if pass(answer, hello).await == Said::Nothing {
                    lost(hello, &ClientError::BrokeOff);
                }
            }
            Err(error) => lost(hello, &error),
        }
    }

    fn opened(self: &Arc<Self>, hello: &Arc<Line>, answer: &Response<Incoming>) {
        let Some(id) = answer.headers().get("mcp-session-id").cloned() else {
            return;
        };
        let session = Session {
            id,
            hello: hello.clone(),
        };
        let listening = tokio::spawn(self.clone().listen(session.clone()));
        let mut state = self.state();
        state.session = Some(session);
        if let Some(before) = state.listening.replace(listening.abort_handle()) {
            before.abort();
        }
    }

    /// One message and, if it has one, its answer.
    async fn say(self: &Arc<Self>, line: &Line) -> Said {
        let session = self.state().session.clone();
        let session = session.filter(|_| !line.is_stateless());
        let mut answer = self.post(line, session.as_ref()).await;
        // A gateway that was started anew knows nothing of us, and did nothing with the message.
        if let (Ok(refused), Some(session)) = (&answer, &session)
            && refused.status() == StatusCode::NOT_FOUND
            && let Some(session) = self.reopen(session).await
        {
            answer = self.post(line, Some(&session)).await;
        }
        match answer {
            Ok(answer) => pass(answer, line).await,
            Err(error) => {
                lost(line, &error);
                Said::All
            }
        }
    }

    async fn reopen(self: &Arc<Self>, forgotten: &Session) -> Option<Session> {
        let current = self.state().session.clone();
        // Somebody was quicker.
        if let Some(current) = current.filter(|current| current.id != forgotten.id) {
            return Some(current);
        }
        let answer = self.post(&forgotten.hello, None).await.ok()?;
        self.opened(&forgotten.hello, &answer);
        self.state().session.clone()
    }

    /// What the gateway says by itself, for as long as the session is the one we are in.
    async fn listen(self: Arc<Self>, session: Session) {
        let headers = [("mcp-session-id", session.id)];
        let mut pause = FIRST_PAUSE;
        loop {
            match self.send(Method::GET, &headers, Bytes::new()).await {
                Ok(answer) if answer.status().is_success() => {
                    pause = FIRST_PAUSE;
                    print_events(answer.into_body(), None).await;
                }
                // It is not this session's any more, or never was one's.
                Ok(_) => return,
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn post(
        &self,
        line: &Line,
        session: Option<&Session>,
    ) -> Result<Response<Incoming>, ClientError> {
        let mut headers = line.headers().to_vec();
        headers.extend(session.map(|session| ("mcp-session-id", session.id.clone())));
        let body = Bytes::from(line.text.clone());
        self.send(Method::POST, &headers, body).await
    }

    async fn send(
        &self,
        method: Method,
        headers: &[(&'static str, HeaderValue)],
        body: Bytes,
    ) -> Result<Response<Incoming>, ClientError> {
        let mut all = vec![("accept", HeaderValue::from_static(ACCEPT))];
        all.extend_from_slice(headers);
        self.client
            .raw(method, Target::new("/mcp"), &all, body)
            .await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer as it came, where it is one of MCP; else what it says.
async fn pass(answer: Response<Incoming>, line: &Line) -> Said {
    let (head, body) = answer.into_parts();
    let kind = head.headers.get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return print_events(body, line.id.as_ref()).await;
    }
    let Ok(body) = body.collect().await else {
        return Said::Nothing;
    };
    let body = body.to_bytes();
    if body.is_empty() {
        return Said::All;
    }
    match serde_json::from_slice::<Value>(&body) {
        Ok(said) if said.get("jsonrpc").is_some() => print_line(&body),
        Ok(said) => {
            let message = said.pointer("/error/message").and_then(Value::as_str);
            let message = message.unwrap_or("the gateway refused the message");
            line.failed(message).iter().for_each(tell);
        }
        Err(_) => {
            let message = "what answers there is not a provost gateway";
            line.failed(message).iter().for_each(tell);
        }
    }
    Said::All
}

/// Prints a stream of messages to its end.
async fn print_events(body: Incoming, awaited: Option<&Value>) -> Said {
    let mut events = Events::new(body);
    let mut answered = awaited.is_none();
    while let Some(data) = events.next().await {
        answered = answered || awaited.is_some_and(|id| is_answer(&data, id));
        print_line(data.as_bytes());
    }
    if answered { Said::All } else { Said::Nothing }
}

fn is_answer(message: &str, to: &Value) -> bool {
    /// As much of a message as says what it answers.
    #[derive(Deserialize)]
    struct Head {
        id: Option<Value>,
        method: Option<IgnoredAny>,
    }
    serde_json::from_str(message)
        .is_ok_and(|head: Head| head.method.is_none() && head.id.as_ref() == Some(to))
}

fn lost(line: &Line, error: &ClientError) {
    let why = match error {
        ClientError::BrokeOff if line.method == "tools/call" => {
            format!("{error}: whether the call took effect is not known")
        }
        error => error.to_string(),
    };
    line.failed(&why).iter().for_each(tell);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn p18_only_the_answer_to_a_request_ends_its_wait() {
        for (message, answers) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#, true),
            (r#"{"jsonrpc":"2.0","id":8,"result":{}}"#, false),
            (r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, false),
            (r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#, false),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
                false,
            ),
            ("", false),
        ] {
            assert_eq!(is_answer(message, &json!(7)), answers, "{message}");
        }
    }
}
