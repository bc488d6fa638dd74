//! Connections that wait for their next use, by where they lead.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use http::{
    Uri,
    uri::{Authority, Scheme},
};
use provost_core::ports::ForwardError;

use super::line::Line;

const IDLE_TIME: Duration = Duration::from_secs(90);
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
pub(super) struct Pool(Mutex<Idle>);

#[derive(Default)]
struct Idle {
    /// A gateway calls few servers: looking through them is cheaper than hashing their names.
    lines: Vec<(Place, Vec<Line>)>,
    swept_at: Option<Instant>,
}

impl Pool {
    /// The one that was used last: the others may rest, and in the end close.
    pub(super) fn take(&self, place: &Place) -> Option<Line> {
        loop {
            let mut line = self.idle().at(place)?.pop()?;
            if line.used_at().elapsed() < IDLE_TIME && line.is_ready() {
                return Some(line);
            }
        }
    }

    pub(super) fn give(&self, place: &Place, mut line: Line) {
        if !line.is_ready() {
            return;
        }
        let mut idle = self.idle();
        idle.sweep(line.used_at());
        match idle.at(place) {
            Some(lines) if lines.len() < MAX_IDLE => lines.push(line),
            Some(_) => {}
            None => idle.lines.push((place.clone(), vec![line])),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Idle {
    fn at(&mut self, place: &Place) -> Option<&mut Vec<Line>> {
        let mut lines = self.lines.iter_mut();
        let (_, lines) = lines.find(|(known, _)| known == place)?;
        Some(lines)
    }

    /// Closes what nobody used for long, now and then.
    fn sweep(&mut self, now: Instant) {
        let since = |at: Instant| now.saturating_duration_since(at);
        if self.swept_at.is_some_and(|at| since(at) < IDLE_TIME) {
            return;
        }
        self.swept_at = Some(now);
        self.lines.retain_mut(|(_, lines)| {
            lines.retain(|line| since(line.used_at()) < IDLE_TIME);
            !lines.is_empty()
        });
    }
}
