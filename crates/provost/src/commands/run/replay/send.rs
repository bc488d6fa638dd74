//! A journal's reports, sent again by the reporter of a real run: as they were first sent, or, of a run that had no
//! callback, as they would have been.

use std::{sync::Arc, time::Duration};

use provost_runner::{
    acp::Message,
    config::{Callback, Identity},
    journal::{Read, What},
    report::{Event, Rebuilder, Reporter, Settings},
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
    /// Reports that could not be made again as they were.
    different: u64,
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
    /// Makes the reports that were sent again; `None`: none were.
    rebuilder: Option<Rebuilder>,
    told: u64,
    /// Something became of a report.
    news: Arc<Notify>,
}

/// Why no further line is read.
struct GivenUp;

pub(super) async fn send(
    context: &Context,
    journal: Journal,
    reported: Vec<bool>,
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
    sending.all(journal, reported).await?;
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
    /// `reported` says of each run in the journal whether its reports are in it.
    async fn all(&mut self, journal: Journal, reported: Vec<bool>) -> anyhow::Result<()> {
        let mut story = Story::default();
        let mut reported = reported.into_iter();
        for read in journal {
            let read = read?;
            self.note(&read)?;
            let Read::Line(line) = read else { continue };
            let tell = story.hear(&line.what);
            match tell.first() {
                Some(Tell::Run(identity)) => {
                    self.finish().await?;
                    self.begin(identity.clone(), reported.next() == Some(true))?;
                }
                Some(Tell::Waits) => self.finish().await?,
                _ => {}
            }
            let told = match &mut self.run {
                Some(run) if run.rebuilder.is_some() => {
                    let (ended, different) = run.rebuild(&line.what);
                    self.tally.ended += u64::from(ended);
                    self.tally.different += u64::from(different);
                    self.room().await?
                }
                _ => self.tell(tell).await?,
            };
            if told.is_err() {
                self.tally.given_up = true;
                return Ok(());
            }
        }
        // What a run was killed before it sent was not sent.
        if self.run.as_ref().is_some_and(|run| run.rebuilder.is_none()) {
            self.tell(story.close()).await?.ok();
        }
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

    fn begin(&mut self, identity: Identity, reported: bool) -> anyhow::Result<()> {
        let rebuilder = reported.then(|| Rebuilder::new(identity.clone()));
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
        self.run = Some(Run {
            reporter,
            rebuilder,
            told: 0,
            news,
        });
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
            let (delivered, told) = (counts.delivered, counts.notifications + run.told);
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
        let told = run.told;
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
        let settled = counts.delivered + counts.refused + counts.dropped;
        self.tally.notifications += counts.notifications + told;
        self.tally.reports += settled + drained.left as u64;
        self.tally.delivered += counts.delivered;
        self.tally.refused += counts.refused + counts.dropped;
        self.tally.left += drained.left as u64;
        self.tally.unauthorized |= drained.unauthorized;
        Ok(())
    }
}

impl Run {
    /// Sends the report of a line, where it is one. Whether it is the last, and whether it differs from what was sent.
    fn rebuild(&mut self, what: &What) -> (bool, bool) {
        let Some(rebuilder) = &mut self.rebuilder else {
            return (false, false);
        };
        match what {
            What::In(message) => {
                if let Message::Notification { method, params } = Message::parse(message.get())
                    && let ("session/update", Some(params)) = (&*method, params)
                {
                    rebuilder.notification(params);
                }
                (false, false)
            }
            What::Report(report) => {
                let Some(report) = rebuilder.report(report) else {
                    return (false, true);
                };
                let (ended, different) = (report.kind.is_end(), !report.exact);
                self.told += report.notifications as u64;
                self.reporter.again(report);
                (ended, different)
            }
            _ => (false, false),
        }
    }

    fn tell(&self, tell: Tell) {
        let reporter = &self.reporter;
        match tell {
            Tell::Run(_) | Tell::Waits => {}
            Tell::Session(id) => reporter.session(&id),
            Tell::Update(params, phase) => reporter.notification(params, phase),
            Tell::Agent(method, params) => reporter.agent_notification(&method, params),
            Tell::State(state) => reporter.state(state),
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
        if self.different > 0 {
            lines.push(format!(
                "{} not as first sent: lines of the journal are missing, or another version of Provost wrote it",
                counted(self.different, "report")
            ));
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
            _ if self.delivered == 0 && self.refused > 0 => Exit::Unauthorized,
            _ => Exit::yes_or_no(self.left == 0 && self.refused == 0 && self.different == 0),
        }
    }
}
