//! The person at the terminal, who is asked in the live view.

use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};

use super::{Choice, Judgement, Permission, Wish};

/// What the view shows, and where its answer goes.
#[derive(Debug)]
pub struct Question {
    pub id: String,
    /// The call as far as the agent told of it, before and now.
    pub tool_call: Box<RawValue>,
    /// Otherwise nobody knows what it would do.
    pub tells_arguments: bool,
    pub options: Vec<Choice>,
    pub answer: oneshot::Sender<Wish>,
}

impl Question {
    pub fn new(permission: &Permission, answer: oneshot::Sender<Wish>) -> Self {
        let tells_arguments = permission.tells_arguments();
        // A yes to what nobody sees is for once.
        let offered = |option: &&Choice| tells_arguments || option.kind != "allow_always";
        let options = permission.options.iter().filter(offered);
        Self {
            id: permission.id.clone(),
            tool_call: to_raw_value(&permission.told).unwrap_or_default(),
            tells_arguments,
            options: options.cloned().collect(),
            answer,
        }
    }
}

pub struct Person(mpsc::UnboundedSender<Question>);

impl Person {
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Question>) {
        let (asked, questions) = mpsc::unbounded_channel();
        (Self(asked), questions)
    }

    pub(super) async fn ask(&self, permission: &Permission) -> Judgement {
        let (answer, answered) = oneshot::channel();
        let question = Question::new(permission, answer);
        let gone = || Judgement::new(Wish::Reject, "terminal", "nobody is at the terminal");
        if self.0.send(question).is_err() {
            return gone();
        }
        match answered.await {
            Ok(wish) => Judgement::new(wish, "terminal", "decided at the terminal"),
            Err(_) => gone(),
        }
    }
}
