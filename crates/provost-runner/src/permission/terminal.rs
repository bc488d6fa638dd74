//! The person at the terminal, who is asked in the live view.

use tokio::sync::{mpsc, oneshot};

use super::{Choice, Judgement, Permission, Wish};

/// What the view shows, and where its answer goes.
#[derive(Debug)]
pub struct Question {
    pub id: String,
    pub raw: Box<serde_json::value::RawValue>,
    pub options: Vec<Choice>,
    pub answer: oneshot::Sender<Wish>,
}

pub struct Person(mpsc::UnboundedSender<Question>);

impl Person {
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Question>) {
        let (asked, questions) = mpsc::unbounded_channel();
        (Self(asked), questions)
    }

    pub(super) async fn ask(&self, permission: &Permission) -> Judgement {
        let (answer, answered) = oneshot::channel();
        let question = Question {
            id: permission.id.clone(),
            raw: permission.raw.clone(),
            options: permission.options.clone(),
            answer,
        };
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
