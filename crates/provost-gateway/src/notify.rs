//! The ancestor's `approval.notify_url`: a POST for each question that comes up. Best effort: people and
//! supervisors who must not miss one poll or follow `/events`.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Uri, header};
use provost_core::{event::Event, ids::ApprovalId};
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use crate::{app::App, web::Web};

const TIMEOUT: Duration = Duration::from_secs(5);

/// Runs until the gateway stops.
pub async fn notify(app: Arc<App>, uri: Uri, web: Web) {
    let mut feed = app.feed.subscribe();
    loop {
        let numbered = tokio::select! {
            numbered = feed.recv() => numbered,
            () = app.stopping() => return,
        };
        match numbered {
            Ok(numbered) => {
                if let Event::ApprovalCreated(about) | Event::ApprovalEscalated(about) =
                    &numbered.event
                {
                    tokio::spawn(post(
                        app.clone(),
                        uri.clone(),
                        web.clone(),
                        about.approval_id.clone(),
                    ));
                }
            }
            Err(RecvError::Lagged(missed)) => tracing::warn!(missed, "notifications fell behind"),
            Err(RecvError::Closed) => return,
        }
    }
}

async fn post(app: Arc<App>, uri: Uri, web: Web, id: ApprovalId) {
    let Ok(Some(approval)) = app.gate.store().approval(id.as_str()).await else {
        return;
    };
    let question = &approval.question;
    // Names and the reason only: where content may go is for the channel's owner to say, not for this.
    let body = json!({
        "event": "approval.pending",
        "id": question.id,
        "agent_id": question.agent_id,
        "session_id": question.session_id,
        "tool": question.tool,
        "policy_rule": question.policy_rule,
        "level": approval.state.level,
        "injection_risk": question.injection_risk,
        "created_at": question.created_at,
        "expires_at": approval.state.expires_at,
    });
    let request = Request::post(uri)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Bytes::from(body.to_string()));
    let sent = match request {
        Ok(request) => web
            .exchange(request, TIMEOUT, 64 * 1024)
            .await
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match sent {
        Ok(answer) if answer.status.is_success() => {}
        Ok(answer) => {
            tracing::warn!(approval.id = %id, status = %answer.status, "the notification was refused");
        }
        Err(error) => {
            tracing::warn!(approval.id = %id, %error, "the notification was not delivered");
        }
    }
}
