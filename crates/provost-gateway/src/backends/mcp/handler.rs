//! What a server says by itself, to everybody. Progress, which belongs to one caller, is the tap's.
//!
//! Sampling, roots and elicitation are not offered: no capability for them is declared, and `rmcp` answers
//! that there is no such method.

use std::sync::Arc;

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, Implementation, ProtocolVersion,
        ResourceUpdatedNotificationParam,
    },
    service::NotificationContext,
};
use tokio::sync::{Notify, broadcast};

use super::Notice;

#[derive(Clone)]
pub(super) struct Handler {
    pub(super) server: Arc<str>,
    pub(super) notices: broadcast::Sender<Notice>,
    /// Its tools are to be read again.
    pub(super) changed: Arc<Notify>,
}

impl Handler {
    pub(super) fn tell(&self, notice: Notice) {
        // Nobody may be listening.
        let _ = self.notices.send(notice);
    }

    pub(super) fn prompts_changed(&self) {
        let server = self.server.clone();
        self.tell(Notice::PromptsChanged { server });
    }

    pub(super) fn resources_changed(&self) {
        let server = self.server.clone();
        self.tell(Notice::ResourcesChanged { server });
    }

    pub(super) fn resource_updated(&self, uri: String) {
        let server = self.server.clone();
        self.tell(Notice::ResourceUpdated { server, uri });
    }
}

type Context = NotificationContext<RoleClient>;

#[expect(deprecated, reason = "logging passes as long as servers send it")]
impl ClientHandler for Handler {
    /// The newest version that begins with `initialize`; newer ones are found by `server/discover`.
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("provost", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_logging_message(
        &self,
        params: rmcp::model::LoggingMessageNotificationParam,
        _: Context,
    ) {
        if let Ok(params) = serde_json::to_value(&params) {
            self.tell(Notice::Log {
                server: self.server.clone(),
                params: Arc::new(params),
            });
        }
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: Context) {
        self.resource_updated(params.uri);
    }

    async fn on_resource_list_changed(&self, _: Context) {
        self.resources_changed();
    }

    async fn on_tool_list_changed(&self, _: Context) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: Context) {
        self.prompts_changed();
    }
}
