//! One request and its answer: who asks, in which form of the protocol, and what becomes of it.

use std::sync::Arc;

use http::{HeaderMap, StatusCode};
use provost_core::{call::is_name, ids::TraceId};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    call, hello,
    message::{
        self, Fault, HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, Id, METHOD_NOT_FOUND,
        NO_RESOURCE, Request, UNSUPPORTED_VERSION,
    },
    notices, prompts,
    resources::{self, Wanted},
    servers::List,
    session::{Running, Session},
    stream::{Answered, Out},
    tools,
    version::Declared,
};
use crate::{
    access::Caller,
    app::App,
    doors::http::calls::{given_trace_id, parent_span},
};

/// What a client agreed on with us.
pub(super) enum Form {
    /// With `initialize`.
    Session(Arc<Session>),
    /// Each request for itself, as of 2026-07-28.
    Stateless(Declared),
    /// Each request for itself, as simple clients have always done it.
    Alone,
}

pub(super) struct Exchange {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
    pub(super) form: Form,
    /// The run of the agent that this belongs to.
    pub(super) session: Option<Arc<str>>,
    /// `None` where the client reads no stream.
    pub(super) out: Option<Out>,
    pub(super) cancelled: CancellationToken,
    pub(super) trace_id: Option<TraceId>,
    pub(super) parent: Option<String>,
    _running: Option<Running>,
}

impl Exchange {
    pub(super) fn new(
        app: Arc<App>,
        caller: Caller,
        form: Form,
        headers: &HeaderMap,
        request: &Request,
        out: Option<Out>,
    ) -> Result<Self, Fault> {
        let cancelled = CancellationToken::new();
        let running = match &form {
            Form::Session(session) => {
                let begun = session.begin(&request.id, cancelled.clone());
                let taken = || Fault::new(INVALID_REQUEST, "a request of this id is running");
                Some(begun.ok_or_else(taken)?)
            }
            Form::Stateless(_) | Form::Alone => None,
        };
        Ok(Self {
            session: session(&form, headers)?,
            trace_id: given_trace_id(headers),
            parent: parent_span(headers),
            app,
            caller,
            form,
            out,
            cancelled,
            _running: running,
        })
    }

    pub(super) async fn answer(self, request: Request) -> Answered {
        // Where there is no session, a client cancels by going away.
        let gone = self.cancelled.clone().drop_guard();
        let gone = match self.form {
            Form::Stateless(_) | Form::Alone => Some(gone),
            Form::Session(_) => {
                gone.disarm();
                None
            }
        };
        let id = request.id.clone();
        let served = tokio::select! {
            biased;
            () = self.cancelled.cancelled() => None,
            served = self.serve(&id, request) => Some(served),
        };
        let answered = served.map(|served| match served {
            Ok(result) => (StatusCode::OK, message::result(&id, &result)),
            Err(fault) => {
                let fault = self.renumbered(fault);
                (self.status(&fault), fault.answer(Some(&id)))
            }
        });
        drop(gone);
        answered
    }

    async fn serve(&self, id: &Id, request: Request) -> Result<Value, Fault> {
        let Request { method, params, .. } = request;
        let stateless = matches!(self.form, Form::Stateless(_));
        // Clients list once, right after they connect, and read what they were told of before.
        if method.ends_with("/list") || method == "resources/read" {
            self.app.mcp.settled().await;
        }
        let mut result = match (&*method, stateless) {
            ("server/discover", true) => hello::discovered(&self.app),
            ("ping", false) => json!({}),
            ("tools/list", _) => tools::list(self, &params)?,
            ("tools/call", _) => call::call(self, params).await?,
            ("resources/list", _) => resources::list(self, List::Resources, &params).await?,
            ("resources/templates/list", _) => {
                resources::list(self, List::Templates, &params).await?
            }
            ("resources/read", _) => resources::read(self, params).await?,
            ("resources/subscribe", false) => {
                resources::subscribe(self, params, Wanted::Yes).await?
            }
            ("resources/unsubscribe", false) => {
                resources::subscribe(self, params, Wanted::No).await?
            }
            ("prompts/list", _) => prompts::list(self, &params).await?,
            ("prompts/get", _) => prompts::get(self, params).await?,
            ("completion/complete", _) => prompts::complete(self, params).await?,
            ("logging/setLevel", false) => notices::set_level(self, params).await?,
            ("subscriptions/listen", true) => notices::listen(self, id, params).await?,
            _ => {
                let message = format!("unknown method `{method}`");
                return Err(Fault::new(METHOD_NOT_FOUND, message));
            }
        };
        if let (true, Some(result)) = (stateless, result.as_object_mut()) {
            complete(&method, result);
        }
        Ok(result)
    }

    /// The stateless protocol has no code of its own for a resource that is not there.
    fn renumbered(&self, mut fault: Fault) -> Fault {
        if matches!(self.form, Form::Stateless(_)) && fault.code == NO_RESOURCE {
            fault.code = INVALID_PARAMS;
        }
        fault
    }

    /// Errors of the protocol itself have a status of their own since there are no sessions.
    fn status(&self, fault: &Fault) -> StatusCode {
        match (&self.form, fault.code) {
            (Form::Stateless(_), METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
            (Form::Stateless(_), HEADER_MISMATCH | UNSUPPORTED_VERSION) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        }
    }
}

/// What the stateless protocol wants of every result. What depends on policy is nobody's to keep.
fn complete(method: &str, result: &mut Map<String, Value>) {
    result
        .entry("resultType")
        .or_insert_with(|| "complete".into());
    let kept = method.ends_with("/list") || matches!(method, "resources/read" | "server/discover");
    if kept {
        result.entry("ttlMs").or_insert_with(|| 0.into());
        result
            .entry("cacheScope")
            .or_insert_with(|| "private".into());
    }
}

fn session(form: &Form, headers: &HeaderMap) -> Result<Option<Arc<str>>, Fault> {
    let given = match form {
        Form::Session(session) => return Ok(Some(session.id.clone())),
        Form::Stateless(declared) => declared.session.as_deref(),
        Form::Alone => None,
    };
    let header = headers.get("x-session-id");
    let header = header.map(|value| value.to_str().unwrap_or_default());
    match given.or(header) {
        None => Ok(None),
        Some(session) if is_name(session) => Ok(Some(session.into())),
        Some(_) => Err(Fault::params(
            "a session id is 1 to 256 printable characters",
        )),
    }
}
