//! A journal's reports, sent again by the reporter of a real run.

use std::{sync::Arc, time::Duration};

use provost_runner::{
    config::{Callback, Identity},
    journal::Read,
    report::{Event, Reporter, Settings},
};
use serde::Serialize;
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::{
    super::watch::Pen,
    Journal, complaint,
    story::{Story, Tell},
};
use crate::{
    context::Context,
    exit::{Exit, usage},
    output::{self, counted},
};

/// Reports that wait before the next line is read: a journal may be larger than memory.
const MOST_WAITING: u64 = 16;
/// Nobody lives whose heart could beat.
const NO_HEARTBEAT: Duration = Duration::from_hours(24 * 365);

/// What came of it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tally {
    runs: u64,
    notifications: u64,
    reports: u64,
    delivered: u64,
    refused: u64,
    left: u64,
    /// Runs whose end the journal knows.
    ended: u64,
    unauthorized: bool,
    /// The callback took nothing for too long: what follows in the journal was not sent.
    given_up: bool,
    broken_lines: u64,
    cut_off: bool,
}

struct Sending {
    callback: Callback,
    patience: Duration,
    run: Option<Run>,
    tally: Tally,
    pen: Option<Pen>,
}

/// The run whose lines are being read.
struct Run {
    reporter: Reporter,
    /// Something became of a report.
    news: Arc<Notify>,
}

/// Why no further line is read.
struct GivenUp;

pub(super) async fn send(
    context: &Context,
    journal: Journal,
    callback: Callback,
    patience: Duration,
) -> anyhow::Result<Exit> {
    let mut sending = Sending {
        callback,
        patience,
        run: None,
        tally: Tally::default(),
        pen: (!context.json()).then(Pen::new),
    };
    sending.all(journal).await?;
    sending.finish().await?;
    let tally = sending.tally;
    if tally.runs == 0 {
        anyhow::bail!("there is no run in this journal: nothing was sent");
    }
    match sending.pen {
        Some(mut pen) => pen.write(&tally.lines(), &[])?,
        None => output::json(&tally)?,
    }
    Ok(tally.exit())
}

impl Sending {
    async fn all(&mut self, journal: Journal) -> anyhow::Result<()> {
        let mut story = Story::default();
        for read in journal {
            let read = read?;
            self.note(&read)?;
            let Read::Line(line) = read else { continue };
            if self.tell(story.hear(&line.what)).await?.is_err() {
                self.tally.given_up = true;
                return Ok(());
            }
        }
        let rest = story.close();
        self.tell(rest).await?.ok();
        Ok(())
    }

    fn note(&mut self, read: &Read) -> anyhow::Result<()> {
        match read {
            Read::Line(_) => return Ok(()),
            Read::Broken { .. } => self.tally.broken_lines += 1,
            Read::CutOff { .. } => self.tally.cut_off = true,
        }
        let complaint = complaint(read).unwrap_or_default();
        match &mut self.pen {
            Some(pen) => pen.write(&[format!("! {complaint}")], &[])?,
            None => output::note(complaint),
        }
        Ok(())
    }

    async fn tell(&mut self, all: Vec<Tell>) -> anyhow::Result<Result<(), GivenUp>> {
        for one in all {
            if let Tell::Run(identity) = one {
                self.finish().await?;
                self.begin(identity)?;
                continue;
            }
            // Before its beginning nobody knows whose it is.
            let Some(run) = &self.run else { continue };
            self.tally.ended += u64::from(matches!(one, Tell::End(_)));
            run.tell(one);
            if self.room().await?.is_err() {
                return Ok(Err(GivenUp));
            }
        }
        Ok(Ok(()))
    }

    fn begin(&mut self, identity: Identity) -> anyhow::Result<()> {
        let mut settings = Settings::new(identity);
        settings.callback = Some(self.callback.clone());
        settings.heartbeat = NO_HEARTBEAT;
        // Nothing is dropped: we wait before there is too much.
        settings.memory_bytes = usize::MAX;
        let news = Arc::new(Notify::new());
        let told = Arc::clone(&news);
        settings.observe = Some(Arc::new(move |event| {
            // An attempt that failed is no progress.
            let settled = matches!(
                event,
                Event::Delivered { .. }
                    | Event::Refused { .. }
                    | Event::Dropped { .. }
                    | Event::Unauthorized { .. }
            );
            if settled {
                told.notify_one();
            }
        }));
        let reporter = Reporter::start(settings).map_err(|error| usage(error.to_string()))?;
        self.run = Some(Run { reporter, news });
        self.tally.runs += 1;
        Ok(())
    }

    /// Waits until there is room for more.
    async fn room(&mut self) -> anyhow::Result<Result<(), GivenUp>> {
        loop {
            let Some(run) = &self.run else {
                return Ok(Ok(()));
            };
            if run.reporter.unauthorized().is_cancelled() {
                return Ok(Err(GivenUp));
            }
            let counts = run.reporter.counts();
            if counts.waiting < MOST_WAITING {
                return Ok(Ok(()));
            }
            let news = run.news.notified();
            if timeout(self.patience, news).await.is_err() {
                return Ok(Err(GivenUp));
            }
            self.progress()?;
        }
    }

    fn progress(&mut self) -> anyhow::Result<()> {
        if let (Some(pen), Some(run)) = (&mut self.pen, &self.run) {
            let counts = run.reporter.counts();
            let (delivered, told) = (counts.delivered, counts.notifications);
            let line = format!(
                "{} delivered, {} read",
                counted(delivered, "report"),
                counted(told, "notification")
            );
            pen.write(&[], &[line])?;
        }
        Ok(())
    }

    /// Waits until the run's reports are delivered, for as long as any are.
    async fn finish(&mut self) -> anyhow::Result<()> {
        let Some(run) = &self.run else {
            return Ok(());
        };
        let reporter = run.reporter.clone();
        let drained = reporter.drained(Duration::MAX);
        let mut drained = std::pin::pin!(drained);
        let mut before = run.reporter.counts().delivered;
        let drained = loop {
            tokio::select! {
                drained = &mut drained => break drained,
                () = sleep(self.patience) => {
                    let now = reporter.counts().delivered;
                    if now == before {
                        break reporter.drained(Duration::ZERO).await;
                    }
                    before = now;
                }
            }
        };
        self.run = None;
        let counts = reporter.counts();
        self.tally.notifications += counts.notifications;
        self.tally.reports += counts.last_sequence;
        self.tally.delivered += counts.delivered;
        self.tally.refused += counts.refused + counts.dropped;
        self.tally.left += drained.left as u64;
        self.tally.unauthorized |= drained.unauthorized;
        Ok(())
    }
}

impl Run {
    fn tell(&self, tell: Tell) {
        let reporter = &self.reporter;
        match tell {
            Tell::Run(_) => {}
            Tell::Session(id) => reporter.session(&id),
            Tell::Update(params, phase) => reporter.notification(params, phase),
            Tell::Agent(method, params) => reporter.agent_notification(&method, params),
            Tell::State(state) => reporter.state(state),
            // Nobody listens for an answer, and so no address is named.
            Tell::Pending(id, request) => reporter.permission_pending(&id, &request, Some("")),
            Tell::Settled(id, outcome) => reporter.permission_settled(&id, &outcome),
            Tell::End(end) => reporter.end(end),
        }
    }
}

impl Tally {
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} in {}: {} delivered, {} refused, {} left",
            counted(self.notifications, "notification"),
            counted(self.reports, "report"),
            self.delivered,
            self.refused,
            self.left
        )];
        if self.given_up && !self.unauthorized {
            lines.push("the callback takes nothing: the rest was not sent".to_owned());
        } else if self.ended < self.runs {
            lines.push("the journal does not say how the run ended: no end was sent".to_owned());
        }
        if self.unauthorized {
            lines.push("the callback does not know the token: nothing more was sent".to_owned());
        }
        lines
    }

    fn exit(&self) -> Exit {
        match self {
            Self {
                unauthorized: true, ..
            } => Exit::Unauthorized,
            _ => Exit::yes_or_no(self.left == 0 && self.refused == 0),
        }
    }
}
