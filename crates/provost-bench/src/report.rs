//! The table, for people and for programs.

use std::{fs, io::Write as _, path::Path, time::Instant};

use serde::Serialize;

use crate::Effort;

const COLUMNS: [&str; 6] = ["", "measured", "baseline", "ratio", "target", ""];

#[derive(Serialize)]
pub(crate) struct Report {
    rows: Vec<Row>,
    /// Of the machine, one minute: what else ran makes the numbers worth less.
    load_average_before: String,
    load_average_after: String,
    cores: usize,
    connections: usize,
    seconds: f64,
    notes: Vec<String>,
    #[serde(skip)]
    began: Instant,
}

#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) measured: f64,
    pub(crate) baseline: Option<f64>,
    pub(crate) ratio: Option<f64>,
    pub(crate) target: Option<Target>,
    pub(crate) ok: bool,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    PerSecond,
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Bytes,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    RatioAtLeast(f64),
    RatioAtMost(f64),
    AtMost(f64),
}

impl Row {
    pub(crate) fn new(
        name: impl Into<String>,
        unit: Unit,
        measured: f64,
        baseline: Option<f64>,
        target: Option<Target>,
    ) -> Self {
        // Of a baseline too small to be measured there is no ratio.
        let baseline = baseline.filter(|baseline| *baseline > 0.0);
        let ratio = baseline.map(|baseline| measured / baseline);
        let ok = match target {
            Some(Target::AtMost(most)) => measured <= most,
            Some(Target::RatioAtLeast(least)) => ratio.is_some_and(|ratio| ratio >= least),
            Some(Target::RatioAtMost(most)) => ratio.is_some_and(|ratio| ratio <= most),
            None => true,
        };
        Self {
            name: name.into(),
            unit,
            measured,
            baseline,
            ratio,
            target,
            ok,
        }
    }

    fn cells(&self) -> [String; 6] {
        let target = self.target.map(|target| match target {
            Target::RatioAtLeast(least) => format!("≥ {least}"),
            Target::RatioAtMost(most) => format!("≤ {most}"),
            Target::AtMost(most) => format!("≤ {}", self.unit.show(most)),
        });
        let judged = match (self.target, self.ok) {
            (None, _) => "",
            (_, true) => "ok",
            (_, false) => "MISS",
        };
        [
            self.name.clone(),
            self.unit.show(self.measured),
            self.baseline
                .map(|baseline| self.unit.show(baseline))
                .unwrap_or_default(),
            self.ratio
                .map(|ratio| format!("{ratio:.2}"))
                .unwrap_or_default(),
            target.unwrap_or_default(),
            judged.to_owned(),
        ]
    }
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{value:.0}/s"),
            Self::Nanoseconds => format!("{value:.0} ns"),
            Self::Microseconds => format!("{value:.1} µs"),
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Bytes => format!("{:.1} MB", value / 1e6),
        }
    }
}

impl Report {
    pub(crate) fn begin(effort: &Effort) -> Self {
        Self {
            rows: Vec::new(),
            load_average_before: load_average(),
            load_average_after: String::new(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            connections: effort.connections,
            seconds: 0.0,
            notes: Vec::new(),
            began: Instant::now(),
        }
    }

    pub(crate) fn add(&mut self, row: Row) {
        eprintln!("  {}", row.cells().join("  ").trim_end());
        self.rows.push(row);
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    pub(crate) fn end(&mut self) {
        self.seconds = self.began.elapsed().as_secs_f64();
        self.load_average_after = load_average();
    }

    pub(crate) fn has_misses(&self) -> bool {
        self.rows.iter().any(|row| !row.ok)
    }

    pub(crate) fn write(&self, json: Option<&Path>) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout().lock();
        let Some(path) = json else {
            return Ok(stdout.write_all(self.table().as_bytes())?);
        };
        let text = serde_json::to_string_pretty(self)? + "\n";
        if path == Path::new("-") {
            return Ok(stdout.write_all(text.as_bytes())?);
        }
        stdout.write_all(self.table().as_bytes())?;
        Ok(fs::write(path, text)?)
    }

    fn table(&self) -> String {
        let cells: Vec<_> = std::iter::once(COLUMNS.map(str::to_owned))
            .chain(self.rows.iter().map(Row::cells))
            .collect();
        let mut widths = [0; 6];
        for row in &cells {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let mut text = String::new();
        for row in &cells {
            let mut line = String::new();
            for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
                let padding = " ".repeat(width - cell.chars().count());
                let (before, after) = if (1..5).contains(&at) {
                    (&*padding, "")
                } else {
                    ("", &*padding)
                };
                line.extend([before, cell, after, "  "]);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        for note in &self.notes {
            text.push_str(note);
            text.push('\n');
        }
        text + &format!(
            "{} cores, {} connections, {:.0} s, load average before {} after {}\n",
            self.cores,
            self.connections,
            self.seconds,
            self.load_average_before,
            self.load_average_after
        )
    }
}

fn load_average() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
