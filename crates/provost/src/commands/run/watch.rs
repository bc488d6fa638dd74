//! The live view of a run: what the agent does as it does it, and its questions, answered where they are read.

mod diff;
mod fields;
mod flow;
mod messages;
mod pen;
mod question;
mod screen;
mod status;
mod style;
mod tool;
mod update;

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, io, time::Duration};

use provost_runner::{journal::Line, permission::Question, watch::Watcher};
use tokio::{
    sync::mpsc,
    task::block_in_place,
    time::{Instant, Interval, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use crate::commands::terminal::Terminal;

pub(super) use pen::{Pen, json};
pub(super) use screen::{Screen, Show};

/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(500);
/// Lines that wait for an answer before they are shown.
const MOST_HELD: usize = 1_000;

type Questions = mpsc::UnboundedReceiver<Question>;

/// Until the run is `over`: something of the agent's may outlive it and still be heard. A screen that cannot be written to ends the view, not the run: questions are then
/// answered with no.
pub(super) async fn show(
    mut events: Watcher,
    questions: Option<Questions>,
    as_json: bool,
    over: CancellationToken,
) {
    let shown = if as_json {
        drop(questions);
        lines(&mut events, &over).await
    } else {
        View::new(questions).run(&mut events, &over).await
    };
    if let Err(error) = shown {
        tracing::debug!(%error, "the view has ended");
    }
}

/// The journal's, as they are written.
async fn lines(events: &mut Watcher, over: &CancellationToken) -> io::Result<()> {
    while let Some(line) = next(events, over).await {
        block_in_place(|| json(&line))?;
        let missed = events.missed();
        if missed > 0 {
            crate::output::note(format_args!(
                "{missed} lines came too fast to be told here: the journal has them"
            ));
        }
    }
    Ok(())
}

/// `None`: everything was seen.
async fn next(events: &mut Watcher, over: &CancellationToken) -> Option<String> {
    tokio::select! {
        biased;
        seen = events.next() => seen,
        () = over.cancelled() => None,
    }
}

struct View {
    screen: Screen,
    pen: Pen,
    /// `None`: nobody sits there.
    terminal: Option<Terminal>,
    /// `None`: nobody is asked here.
    questions: Option<Questions>,
    /// Those that wait for the one that is being asked.
    waiting: VecDeque<Question>,
    asked: Option<Question>,
    held: VecDeque<String>,
    lost: usize,
    last: Instant,
    tick: Interval,
}

enum Happened {
    Seen(Option<String>),
    Asked(Question),
    /// `None`: the input ended.
    Typed(Option<String>),
    Withdrawn,
    Tick,
}

impl View {
    fn new(questions: Option<Questions>) -> Self {
        let pen = Pen::new();
        let terminal = questions.as_ref().and_then(|_| Terminal::open());
        let show = match terminal {
            Some(_) => Show::Asking,
            None => Show::Live,
        };
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            screen: Screen::new(pen.style(), show),
            pen,
            // Without anybody to answer, asking is refused where it is asked.
            questions: questions.filter(|_| terminal.is_some()),
            terminal,
            waiting: VecDeque::new(),
            asked: None,
            held: VecDeque::new(),
            lost: 0,
            last: Instant::now(),
            tick,
        }
    }

    async fn run(mut self, events: &mut Watcher, over: &CancellationToken) -> io::Result<()> {
        loop {
            match self.next(events, over).await {
                Happened::Seen(Some(seen)) => {
                    self.seen(seen)?;
                    self.missed(events.missed())?;
                }
                Happened::Seen(None) => return self.close(),
                Happened::Asked(question) => {
                    self.waiting.push_back(question);
                    self.ask()?;
                }
                Happened::Typed(typed) => self.typed(typed)?,
                Happened::Withdrawn => self.withdrawn()?,
                Happened::Tick => self.paint(&[])?,
            }
        }
    }

    async fn next(&mut self, events: &mut Watcher, over: &CancellationToken) -> Happened {
        tokio::select! {
            biased;
            () = withdrawn(self.asked.as_mut()) => Happened::Withdrawn,
            seen = next(events, over) => Happened::Seen(seen),
            question = asked(self.questions.as_mut()) => Happened::Asked(question),
            typed = typed(self.terminal.as_mut()) => Happened::Typed(typed),
            _ = self.tick.tick() => Happened::Tick,
        }
    }

    fn seen(&mut self, text: String) -> io::Result<()> {
        let Ok(line) = Line::parse(0, text) else {
            return Ok(());
        };
        self.last = Instant::now();
        self.screen.resize(self.pen.width());
        let lines = self.screen.line(&line);
        self.paint(&lines)
    }

    fn missed(&mut self, lines: usize) -> io::Result<()> {
        if lines == 0 {
            return Ok(());
        }
        self.paint(&[not_shown(lines)])
    }

    /// While a question is open, its answer is being typed: everything else waits.
    fn paint(&mut self, lines: &[String]) -> io::Result<()> {
        if self.asked.is_none() {
            let bottom = self.screen.bottom(self.last.elapsed());
            return block_in_place(|| self.pen.write(lines, &bottom));
        }
        for line in lines {
            if self.held.len() >= MOST_HELD {
                self.held.pop_front();
                self.lost += 1;
            }
            self.held.push_back(line.clone());
        }
        Ok(())
    }

    /// Asks the next one, if none is being asked.
    fn ask(&mut self) -> io::Result<()> {
        while self.asked.is_none() {
            let Some(question) = self.waiting.pop_front() else {
                return self.release();
            };
            if question.answer.is_closed() {
                continue;
            }
            let mut lines = self.held();
            lines.extend(self.screen.end());
            lines.push(String::new());
            let more = self.waiting.len();
            lines.extend(question::lines(&question, more, self.pen.style()));
            block_in_place(|| self.pen.write(&lines, &[]))?;
            self.asked = Some(question);
            self.prompt(false)?;
        }
        Ok(())
    }

    fn prompt(&mut self, again: bool) -> io::Result<()> {
        let (Some(question), Some(terminal)) = (&self.asked, &mut self.terminal) else {
            return Ok(());
        };
        terminal.clear();
        crate::output::prompt(question::prompt(question, again, self.pen.style()))
    }

    fn release(&mut self) -> io::Result<()> {
        let lines = self.held();
        self.paint(&lines)
    }

    /// What was held back, to be shown now.
    fn held(&mut self) -> Vec<String> {
        let mut lines: Vec<_> = self.held.drain(..).collect();
        let lost = std::mem::take(&mut self.lost);
        if lost > 0 {
            lines.insert(0, not_shown(lost));
        }
        lines
    }

    fn typed(&mut self, typed: Option<String>) -> io::Result<()> {
        let Some(typed) = typed else {
            // Nobody answers any more: what is open is a no, and so is what is to come.
            self.terminal = None;
            self.questions = None;
            self.waiting.clear();
            self.asked = None;
            return self.release();
        };
        let Some(question) = self.asked.take() else {
            self.pen.entered();
            return self.paint(&[]);
        };
        let Some(wish) = question::answer(&typed, &question.options) else {
            self.asked = Some(question);
            return self.prompt(true);
        };
        // Whoever asked may have gone while it was typed.
        let _ = question.answer.send(wish);
        self.ask()
    }

    fn withdrawn(&mut self) -> io::Result<()> {
        self.asked = None;
        let gone = [String::new(), "  it no longer asks".to_owned()];
        block_in_place(|| self.pen.write(&gone, &[]))?;
        self.ask()
    }

    fn close(mut self) -> io::Result<()> {
        if self.asked.take().is_some() {
            self.pen.write(&[String::new()], &[])?;
        }
        let mut lines = self.held();
        lines.extend(self.screen.end());
        self.pen.write(&lines, &[])
    }
}

fn not_shown(lines: usize) -> String {
    format!("… {lines} lines not shown")
}

async fn withdrawn(asked: Option<&mut Question>) {
    match asked {
        Some(question) => question.answer.closed().await,
        None => std::future::pending().await,
    }
}

async fn asked(questions: Option<&mut Questions>) -> Question {
    let question = match questions {
        Some(questions) => questions.recv().await,
        None => None,
    };
    match question {
        Some(question) => question,
        None => std::future::pending().await,
    }
}

async fn typed(terminal: Option<&mut Terminal>) -> Option<String> {
    match terminal {
        Some(terminal) => terminal.line().await,
        None => std::future::pending().await,
    }
}
