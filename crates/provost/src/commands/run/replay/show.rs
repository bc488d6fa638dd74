//! A journal on the screen, in its own time.

use std::time::Duration;

use provost_runner::journal::{Line, Read};
use tokio::time::{Instant, sleep};

use super::{
    super::watch::{Pen, Screen, Show, json},
    Journal, complaint,
};
use crate::{context::Context, exit::Exit, output};

/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(500);

/// How long to wait between two lines.
#[derive(Debug)]
pub(super) struct Pace {
    /// 0: not at all.
    speed: f64,
    longest: Duration,
    last: Option<i64>,
}

impl Pace {
    pub(super) fn new(speed: f64, longest: Duration) -> Self {
        Self {
            speed,
            longest,
            last: None,
        }
    }

    /// Before what happened then. A clock that went back costs no time.
    fn pause(&mut self, at: i64) -> Duration {
        let last = self.last.replace(at).unwrap_or(at);
        if self.speed <= 0.0 {
            return Duration::ZERO;
        }
        let passed = u64::try_from(at.saturating_sub(last)).unwrap_or(0);
        let passed = Duration::from_millis(passed).min(self.longest);
        let pause = passed.as_secs_f64() / self.speed;
        Duration::try_from_secs_f64(pause).map_or(self.longest, |pause| pause.min(self.longest))
    }
}

pub(super) async fn show(
    context: &Context,
    journal: Journal,
    mut pace: Pace,
) -> anyhow::Result<Exit> {
    let mut player = Player::new(context.json());
    let mut found = false;
    for read in journal {
        let read = read?;
        let complaint = complaint(&read);
        if let Read::Line(line) = read {
            found = true;
            player.wait(pace.pause(line.at), pace.speed).await?;
            player.line(&line)?;
        }
        if let Some(complaint) = complaint {
            player.complain(&complaint)?;
        }
    }
    player.end()?;
    if !found {
        anyhow::bail!("there is no run in this journal");
    }
    Ok(Exit::Ok)
}

/// Shows the lines of a journal, or prints them.
pub(crate) struct Player(Output);

enum Output {
    Json,
    Screen { screen: Box<Screen>, pen: Pen },
}

impl Player {
    pub(crate) fn new(as_json: bool) -> Self {
        if as_json {
            return Self(Output::Json);
        }
        let pen = Pen::new();
        let screen = Box::new(Screen::new(pen.style(), Show::Replay));
        Self(Output::Screen { screen, pen })
    }

    async fn wait(&mut self, pause: Duration, speed: f64) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let left = pause.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            sleep(left.min(TICK)).await;
            if let Output::Screen { screen, pen } = &mut self.0 {
                let passed = began.elapsed().as_secs_f64() * speed;
                let passed = Duration::try_from_secs_f64(passed).unwrap_or_default();
                pen.write(&[], &screen.bottom(passed))?;
            }
        }
    }

    pub(crate) fn line(&mut self, line: &Line) -> anyhow::Result<()> {
        match &mut self.0 {
            Output::Json => json(&line.text)?,
            Output::Screen { screen, pen } => {
                screen.resize(pen.width());
                let lines = screen.line(line);
                pen.write(&lines, &screen.bottom(Duration::ZERO))?;
            }
        }
        Ok(())
    }

    fn complain(&mut self, complaint: &str) -> anyhow::Result<()> {
        match &mut self.0 {
            Output::Json => output::note(complaint),
            Output::Screen { screen, pen } => {
                let mut lines = screen.end();
                lines.push(output::paint(
                    &format!("! {complaint}"),
                    output::Color::Yellow,
                ));
                pen.write(&lines, &[])?;
            }
        }
        Ok(())
    }

    pub(crate) fn end(&mut self) -> anyhow::Result<()> {
        if let Output::Screen { screen, pen } = &mut self.0 {
            let mut lines = screen.end();
            lines.extend(screen.bottom(Duration::ZERO));
            pen.write(&lines, &[])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_those_of_the_run() {
        let seconds = Duration::from_secs;
        for (speed, expected) in [
            (1.0, [0, 2_000, 10_000, 0]),
            (4.0, [0, 500, 2_500, 0]),
            (0.5, [0, 4_000, 10_000, 0]),
            (0.0, [0; 4]),
            (f64::MIN_POSITIVE, [0, 10_000, 10_000, 0]),
        ] {
            let mut pace = Pace::new(speed, seconds(10));
            let pauses = [1_000, 3_000, 3_600_000, 5_000].map(|at| pace.pause(at).as_millis());
            assert_eq!(pauses, expected, "{speed}");
        }
    }
}
