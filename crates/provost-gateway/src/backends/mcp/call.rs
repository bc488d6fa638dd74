//! One call of an upstream tool. It is sent once, whatever happens: where the answer was lost, what became
//! of it is not known, and nobody tries again.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use provost_core::{
    gate::Permit,
    ports::{ForwardError, Forwarded},
};
use rmcp::{
    RoleClient,
    model::{CallToolRequest, CallToolRequestParams, ClientRequest, MetaObject, RequestMetaObject},
    service::{PeerRequestOptions, RequestHandle, ServiceError},
};
use serde_json::{Map, Value};
use tokio::time::{sleep, timeout};

use super::{CallLine, Definition, Upstream, answer, tap::Wanted, trouble};

/// What of a caller's `_meta` reaches a server: which trace it belongs to. Whatever else it says might change
/// what the server does, and nobody has judged it.
const PASSED: [&str; 2] = ["traceparent", "tracestate"];
/// How long it is tried to tell a server that a call is given up.
const TELLING: Duration = Duration::from_secs(5);

impl Upstream {
    /// One call with its line back to the caller: progress passes, cancellation too.
    pub async fn call(&self, permit: &Permit, line: CallLine) -> Result<Forwarded, ForwardError> {
        let call = permit.call();
        let tool = self.callable(&call.tool)?;
        let peer = self.peer()?;
        let wanted = Wanted::call(line.progress);
        let params =
            CallToolRequestParams::new(tool.tool.clone()).with_arguments(call.params.clone());
        let mut request = CallToolRequest::new(params);
        request.extensions.insert(wanted.clone());
        let mut options = PeerRequestOptions::no_options();
        options.meta = line.meta.map(meta);
        let request = ClientRequest::CallToolRequest(request);
        let _busy = Busy::new(&self.calls);
        let mut late = pin!(sleep(self.timeout));
        let mut handle = tokio::select! {
            sent = peer.send_cancellable_request(request, options) => {
                sent.map_err(|error| self.not_sent(&error))?
            }
            () = &mut late => return Err(self.too_late()),
        };
        let answered = tokio::select! {
            answered = &mut handle.rx => answered,
            () = line.cancelled.cancelled() => {
                cancel(handle, "the caller gave up");
                return Err(ForwardError::Failed("the caller gave up the call".to_owned()));
            }
            () = &mut late => {
                cancel(handle, "it took too long");
                return Err(self.too_late());
            }
        };
        if wanted.was_too_large() {
            return Err(ForwardError::TooLarge(self.web.max_answer()));
        }
        match answered {
            Ok(Ok(_)) => wanted
                .take()
                .map(answer::forwarded)
                .ok_or_else(|| ForwardError::Failed("the server's answer is not readable".into())),
            Ok(Err(error)) => Err(self.failed(error)),
            Err(_) => Err(self.lost()),
        }
    }

    /// The tool as it is trusted now: it may have changed while somebody thought about the call.
    fn callable(&self, name: &str) -> Result<Arc<Definition>, ForwardError> {
        let tool = name.strip_prefix(&*self.name).unwrap_or_default();
        let tool = tool.strip_prefix('.').unwrap_or_default();
        self.definition(tool).ok_or_else(|| {
            ForwardError::Failed(if self.is_held(tool) {
                self.held_back(tool)
            } else {
                format!("MCP server `{}` has no tool `{tool}`", self.name)
            })
        })
    }

    /// What is said of a tool that changed.
    pub fn held_back(&self, tool: &str) -> String {
        let server = &self.name;
        format!("`{server}.{tool}` is not what it was when it was trusted, and is held back")
    }

    pub(super) fn too_late(&self) -> ForwardError {
        ForwardError::Timeout(format!("{:?}", self.timeout))
    }

    pub(super) fn not_sent(&self, error: &ServiceError) -> ForwardError {
        self.doubted.notify_one();
        let why = trouble::one_line(&trouble::service(error), &self.secrets);
        ForwardError::Unreachable(format!("MCP server `{}`: {why}", self.name))
    }

    pub(super) fn lost(&self) -> ForwardError {
        let server = &self.name;
        ForwardError::Failed(format!(
            "outcome unknown: MCP server `{server}` was lost while it had the call"
        ))
    }

    pub(super) fn failed(&self, error: ServiceError) -> ForwardError {
        match error {
            ServiceError::McpError(error) => {
                let why = trouble::one_line(&error.message, &self.secrets);
                let code = error.code.0;
                ForwardError::Failed(format!("MCP server `{}`: {why} ({code})", self.name))
            }
            ServiceError::TransportSend(error) => {
                self.doubted.notify_one();
                match trouble::cause(&*error.error) {
                    Some(ForwardError::Unreachable(why)) => {
                        ForwardError::Unreachable(trouble::one_line(why, &self.secrets))
                    }
                    Some(ForwardError::TooLarge(max)) => ForwardError::TooLarge(*max),
                    _ => {
                        let why =
                            trouble::one_line(&trouble::transport(&*error.error), &self.secrets);
                        let server = &self.name;
                        ForwardError::Failed(format!(
                            "outcome unknown: MCP server `{server}`: {why}"
                        ))
                    }
                }
            }
            _ => {
                self.doubted.notify_one();
                self.lost()
            }
        }
    }
}

/// A call that is counted as long as it lasts.
pub(super) struct Busy<'u>(&'u AtomicUsize);

impl<'u> Busy<'u> {
    pub(super) fn new(calls: &'u AtomicUsize) -> Self {
        calls.fetch_add(1, Ordering::SeqCst);
        Self(calls)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Tells the server, without waiting for one that does not listen.
pub(super) fn cancel(handle: RequestHandle<RoleClient>, reason: &'static str) {
    tokio::spawn(timeout(TELLING, handle.cancel(Some(reason.to_owned()))));
}

pub(super) fn meta(given: Map<String, Value>) -> RequestMetaObject {
    let given = given.into_iter();
    let passed = given.filter(|(key, _)| PASSED.contains(&key.as_str()));
    RequestMetaObject(MetaObject(passed.collect()))
}
