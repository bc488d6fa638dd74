//! Requests that are no calls of tools: resources, prompts, completion, logging. Answers pass as they came.

use std::pin::pin;

use provost_core::ports::ForwardError;
use rmcp::{
    model::{ClientRequest, CustomRequest, ServerCapabilities},
    service::{PeerRequestOptions, ServiceError},
};
use serde_json::{Map, Value, value::RawValue};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{
    Upstream,
    call::{Busy, cancel, meta},
    tap::Wanted,
    trouble::one_line,
};

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The server's own answer, for the caller to read.
    #[error("{message} ({code})")]
    Refused {
        code: i32,
        message: String,
        data: Option<Value>,
    },
    #[error(transparent)]
    Failed(#[from] ForwardError),
}

impl Upstream {
    /// What it says it can do; `None` while it is away.
    pub fn capabilities(&self) -> Option<ServerCapabilities> {
        let peer = self.peer().ok()?;
        let capabilities = &peer.peer_info()?.capabilities;
        Some(capabilities.clone())
    }

    pub async fn ask(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        cancelled: &CancellationToken,
    ) -> Result<Box<RawValue>, AskError> {
        let peer = self.peer()?;
        let mut options = PeerRequestOptions::no_options();
        if let Some(Value::Object(given)) = params.remove("_meta") {
            options.meta = Some(meta(given));
        }
        let wanted = Wanted::call(None);
        let mut request = CustomRequest::new(method, Some(Value::Object(params)));
        request.extensions.insert(wanted.clone());
        let _busy = Busy::new(&self.calls);
        let mut late = pin!(sleep(self.timeout));
        let request = ClientRequest::CustomRequest(request);
        let mut handle = tokio::select! {
            sent = peer.send_cancellable_request(request, options) => {
                sent.map_err(|error| self.not_sent(&error))?
            }
            () = &mut late => return Err(self.too_late().into()),
        };
        let answered = tokio::select! {
            answered = &mut handle.rx => answered,
            () = cancelled.cancelled() => {
                cancel(handle, "the caller gave up");
                return Err(ForwardError::Failed("the caller gave up".to_owned()).into());
            }
            () = &mut late => {
                cancel(handle, "it took too long");
                return Err(self.too_late().into());
            }
        };
        if wanted.was_too_large() {
            return Err(ForwardError::TooLarge(self.web.max_answer()).into());
        }
        match answered {
            Ok(Ok(_)) => wanted.take().ok_or_else(|| {
                ForwardError::Failed("the server's answer is not readable".into()).into()
            }),
            Ok(Err(ServiceError::McpError(error))) => Err(AskError::Refused {
                code: error.code.0,
                message: one_line(&error.message, &self.secrets),
                data: error.data,
            }),
            Ok(Err(error)) => Err(self.failed(error).into()),
            Err(_) => Err(self.lost().into()),
        }
    }
}
