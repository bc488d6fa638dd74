//! Signs of life of one call, for a client that wants to hear them: that it waits for a decision, then what
//! the server says of its progress. The numbers only ever grow, as the protocol wants.

use provost_core::approval::Approval;
use serde_json::{Map, Value, json};

use super::{message::notification, stream::Out};

pub(super) struct Progress {
    /// `None`: nobody wants to hear.
    listener: Option<(Value, Out)>,
    waited: f64,
}

impl Progress {
    pub(super) fn new(meta: Option<&Map<String, Value>>, out: Option<&Out>) -> Self {
        let token = meta.and_then(|meta| meta.get("progressToken"));
        let token = token.filter(|token| token.is_string() || token.is_number());
        Self {
            listener: token.cloned().zip(out.cloned()),
            waited: 0.0,
        }
    }

    /// One more sign that the call waits for a decision.
    pub(super) fn waits(&mut self, approval: &Approval) {
        self.waited += 1.0;
        let (tool, id) = (&approval.question.tool, &approval.question.id);
        let message = format!("`{tool}` waits for approval {id}");
        self.tell(self.waited, None, Some(&message));
    }

    /// What the server says.
    pub(super) fn passes(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        self.tell(
            self.waited + progress,
            total.map(|total| self.waited + total),
            message,
        );
    }

    fn tell(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some((token, out)) = &self.listener else {
            return;
        };
        let mut params = json!({"progressToken": token, "progress": progress});
        if let Some(params) = params.as_object_mut() {
            params.extend(total.map(|total| ("total".to_owned(), total.into())));
            params.extend(message.map(|message| ("message".to_owned(), message.into())));
        }
        // A client that does not keep up misses signs, not answers.
        let _ = out.try_send(notification("notifications/progress", params));
    }
}
