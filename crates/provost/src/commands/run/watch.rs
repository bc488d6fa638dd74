//! The live view of a run.

use provost_runner::{permission::Question, run::Seen};
use tokio::sync::mpsc;

pub(super) async fn show(
    mut events: mpsc::UnboundedReceiver<Seen>,
    _questions: Option<mpsc::UnboundedReceiver<Question>>,
) {
    while events.recv().await.is_some() {}
}
