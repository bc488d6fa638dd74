//! Connections that wait for their next use, by where they lead.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use http::{
    Uri,
    uri::{Authority, Scheme},
};
use provost_core::ports::ForwardError;

use super::line::Line;

const IDLE_TIME: Duration = Duration::from_secs(90);
const SWEEP_TIME: Duration = Duration::from_secs(15);
/// More than a gateway has callers at a time would only be kept open for nothing.
const MAX_IDLE: usize = 1024;

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Place {
    scheme: Scheme,
    authority: Authority,
}

impl Place {
    pub(super) fn of(uri: &Uri) -> Result<Self, ForwardError> {
        match (uri.scheme(), uri.authority()) {
            (Some(scheme), Some(authority)) => Ok(Self {
                scheme: scheme.clone(),
                authority: authority.clone(),
            }),
            _ => Err(ForwardError::Failed("the URL names no server".to_owned())),
        }
    }
}

#[derive(Default)]
pub(super) struct Pool(Arc<Mutex<Idle>>);

#[derive(Default)]
struct Idle {
    /// A gateway calls few servers: looking through them is cheaper than hashing their names.
    lines: Vec<(Place, Vec<Line>)>,
    /// Somebody looks after them.
    swept: bool,
}

impl Pool {
    /// The one that was used last: the others may rest, and in the end close.
    pub(super) fn take(&self, place: &Place) -> Option<Line> {
        loop {
            let mut line = lock(&self.0).at(place)?.pop()?;
            if line.used_at().elapsed() < IDLE_TIME && line.is_ready() {
                return Some(line);
            }
        }
    }

    pub(super) fn give(&self, place: &Place, mut line: Line) {
        if !line.is_ready() {
            return;
        }
        line.rest();
        let mut idle = lock(&self.0);
        match idle.at(place) {
            Some(lines) if lines.len() < MAX_IDLE => lines.push(line),
            Some(_) => {}
            None => idle.lines.push((place.clone(), vec![line])),
        }
        if !idle.swept {
            idle.swept = true;
            tokio::spawn(sweep(Arc::downgrade(&self.0)));
        }
    }

    /// Closes the one that has rested longest. `false`: none rests.
    pub(super) fn close_oldest(&self) -> bool {
        // Dropped after the lock.
        let oldest = lock(&self.0).oldest();
        oldest.is_some()
    }
}

impl Idle {
    fn oldest(&mut self) -> Option<Line> {
        // Of one place, the first has rested longest.
        let lines = self.lines.iter_mut().map(|(_, lines)| lines);
        let oldest = lines
            .filter(|lines| !lines.is_empty())
            .min_by_key(|lines| lines.first().map(Line::used_at))?;
        Some(oldest.remove(0))
    }

    fn at(&mut self, place: &Place) -> Option<&mut Vec<Line>> {
        let mut lines = self.lines.iter_mut();
        let (_, lines) = lines.find(|(known, _)| known == place)?;
        Some(lines)
    }

    /// Closes what nobody used for long, and what its server has closed. Whether any are left.
    fn sweep(&mut self) -> bool {
        self.lines.retain_mut(|(_, lines)| {
            lines.retain_mut(|line| line.used_at().elapsed() < IDLE_TIME && line.is_ready());
            !lines.is_empty()
        });
        !self.lines.is_empty()
    }
}

/// Looks after idle connections as long as there are any.
async fn sweep(idle: Weak<Mutex<Idle>>) {
    loop {
        tokio::time::sleep(SWEEP_TIME).await;
        let Some(idle) = idle.upgrade() else {
            return;
        };
        let mut idle = lock(&idle);
        if !idle.sweep() {
            idle.swept = false;
            return;
        }
    }
}

fn lock(idle: &Mutex<Idle>) -> MutexGuard<'_, Idle> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_server_has_closed_is_let_go_without_a_call() {
        let place = Place::of(&Uri::from_static("http://peer:1/")).unwrap();
        let (ours, theirs) = tokio::io::duplex(64);
        let idle = Arc::new(Mutex::new(Idle::default()));
        lock(&idle).lines.push((place, vec![Line::used(ours)]));
        assert!(lock(&idle).sweep());
        drop(theirs);
        assert!(!lock(&idle).sweep());
    }
}
