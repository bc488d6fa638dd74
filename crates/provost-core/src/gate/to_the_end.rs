//! Work that goes on to its end even if nobody waits for it any more.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

/// Runs where it is awaited, which costs no task of its own; dropped before its end, in the background.
pub(super) struct ToTheEnd<F: Future + Send + 'static>(Option<Pin<Box<F>>>);

impl<F: Future + Send + 'static> ToTheEnd<F> {
    pub(super) fn new(work: F) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<F: Future + Send + 'static> Future for ToTheEnd<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(work) = &mut self.0 else {
            return Poll::Pending;
        };
        let polled = work.as_mut().poll(context);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl<F: Future + Send + 'static> Drop for ToTheEnd<F> {
    fn drop(&mut self) {
        // Without a runtime the process is ending, and the next start records that the end is unknown.
        if let (Some(work), Ok(runtime)) = (self.0.take(), Handle::try_current())
            && !std::thread::panicking()
        {
            runtime.spawn(async move {
                work.await;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::Pin, task::Poll};

    use tokio::sync::oneshot;

    use super::ToTheEnd;

    #[tokio::test]
    async fn what_nobody_awaits_any_more_still_ends() {
        let (go, gone) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let mut work = ToTheEnd::new(async move {
            gone.await.unwrap();
            end.send("done").unwrap();
        });
        let begun = poll_fn(|context| Poll::Ready(Pin::new(&mut work).poll(context))).await;
        assert!(begun.is_pending());
        drop(work);
        go.send(()).unwrap();
        assert_eq!(ended.await, Ok("done"));
    }
}
