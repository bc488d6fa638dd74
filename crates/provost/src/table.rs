//! Tables for people: aligned columns without lines, so that they can be read, copied and cut. A table is as
//! wide as the terminal, or 80 columns where there is none: long cells are cut, ids never are. `--json` has
//! everything whole.

use std::{
    cmp::Ordering,
    fmt::{self, Display},
    io::IsTerminal as _,
};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::output::{safe, shorten};

/// Longer cells are cut on any terminal.
const WIDEST: usize = 64;
/// The same where a cell has a line of its own.
const WIDEST_BELOW: usize = 200;
/// The columns of a terminal that does not say how many it has, and of files and pipes.
const USUAL_WIDTH: usize = 80;
/// Columns that are narrower tell nothing.
const NARROWEST: usize = 7;
const GAP: usize = 2;
/// Columns whose cells are copied into other commands.
const TIME: &str = "TIME";
const IDS: [&str; 3] = ["id", "trace", "hash"];

#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The column that is never cut.
    id: Option<usize>,
    /// The column that stands on a line of its own below its row, where there is no room beside the others.
    below: Option<usize>,
    /// Columns of the terminal that something else stands in.
    margin: usize,
}

impl Table {
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        Self {
            id: heads.iter().position(|head| IDS.contains(head)),
            heads: heads.map(str::to_uppercase).into(),
            rows: Vec::new(),
            below: None,
            margin: 0,
        }
    }

    /// Gives the longest column a line of its own rather than cutting all of them.
    pub(crate) fn below(mut self, head: &str) -> Self {
        self.below = self.column(head);
        self
    }

    /// So many columns of the terminal are taken.
    pub(crate) fn beside(mut self, margin: usize) -> Self {
        self.margin = margin;
        self
    }

    fn column(&self, head: &str) -> Option<usize> {
        self.heads
            .iter()
            .position(|it| it.eq_ignore_ascii_case(head))
    }

    /// Leaves a column out, where it tells nothing.
    pub(crate) fn without(mut self, head: &str) -> Self {
        let Some(gone) = self.column(head) else {
            return self;
        };
        for row in self.rows.iter_mut().chain([&mut self.heads]) {
            if gone < row.len() {
                row.remove(gone);
            }
        }
        let moved = |at: usize| match at.cmp(&gone) {
            Ordering::Less => Some(at),
            Ordering::Equal => None,
            Ordering::Greater => Some(at - 1),
        };
        self.id = self.id.and_then(moved);
        self.below = self.below.and_then(moved);
        self
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        let cells = cells.into_iter().enumerate();
        let cells = cells.map(|(at, cell)| {
            if Some(at) == self.id {
                safe(cell).into_owned()
            } else if Some(at) == self.below {
                shorten(cell, WIDEST_BELOW)
            } else {
                shorten(cell, WIDEST)
            }
        });
        self.rows.push(cells.collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table on a terminal of this many columns. If the ids leave too little room for the rest, each stands on
    /// a line of its own below its row.
    fn render(&self, columns: usize) -> String {
        let columns = columns.saturating_sub(self.margin);
        let mut beside: Vec<usize> = (0..self.heads.len()).collect();
        let mut below = Vec::new();
        if let Some(long) = self.below.filter(|_| self.natural_width(&beside) > columns) {
            beside.retain(|at| *at != long);
            below.push(long);
        }
        let layout = self.layout(&beside, columns).unwrap_or_else(|| {
            if let Some(id) = self.id.filter(|_| beside.len() > 1) {
                beside.retain(|at| *at != id);
                below.insert(0, id);
            }
            self.squeezed(&beside, columns)
        });
        let mut lines = vec![line(&self.heads, &layout)];
        for row in &self.rows {
            lines.push(line(row, &layout));
            for at in &below {
                let cell = row.get(*at).map_or("", String::as_str);
                if Some(*at) == self.id {
                    lines.push(format!("  {cell}"));
                } else if !cell.is_empty() {
                    lines.push(format!("  {}", cut(cell, columns.saturating_sub(2))));
                }
            }
        }
        lines.join("\n")
    }

    fn natural_width(&self, columns: &[usize]) -> usize {
        let widths = self.natural(columns);
        widths.iter().map(|(_, width)| width).sum::<usize>() + gaps(columns.len())
    }

    /// Ids are copied, and half a time tells nothing.
    fn is_whole(&self, at: usize) -> bool {
        let is_time = |head: &String| head == TIME;
        Some(at) == self.id || self.heads.get(at).is_some_and(is_time)
    }

    /// The widths of these columns where they fit without becoming too narrow.
    fn layout(&self, columns: &[usize], width: usize) -> Option<Vec<(usize, usize)>> {
        let natural = self.natural(columns);
        let least = |(at, width): &(usize, usize)| {
            if self.is_whole(*at) {
                *width
            } else {
                (*width).min(NARROWEST)
            }
        };
        let needed = natural.iter().map(least).sum::<usize>() + gaps(columns.len());
        (needed <= width).then(|| self.shrunk(natural, width))
    }

    fn squeezed(&self, columns: &[usize], width: usize) -> Vec<(usize, usize)> {
        self.shrunk(self.natural(columns), width)
    }

    fn natural(&self, columns: &[usize]) -> Vec<(usize, usize)> {
        let widest = |at: usize| {
            let cells = self.rows.iter().chain([&self.heads]);
            cells
                .filter_map(|row| row.get(at))
                .map(|cell| cell.width())
                .max()
        };
        columns
            .iter()
            .map(|at| (*at, widest(*at).unwrap_or(0)))
            .collect()
    }

    /// The widest columns give first.
    fn shrunk(&self, mut widths: Vec<(usize, usize)>, width: usize) -> Vec<(usize, usize)> {
        let room = width.saturating_sub(gaps(widths.len()));
        while widths.iter().map(|(_, width)| width).sum::<usize>() > room {
            let widest = widths
                .iter_mut()
                .filter(|(at, width)| !self.is_whole(*at) && *width > 1)
                .max_by_key(|(_, width)| *width);
            let Some((_, widest)) = widest else { break };
            *widest -= 1;
        }
        widths
    }
}

fn gaps(columns: usize) -> usize {
    columns.saturating_sub(1) * GAP
}

fn line(row: &[String], layout: &[(usize, usize)]) -> String {
    let mut line = String::new();
    for (at, width) in layout {
        let cell = cut(row.get(*at).map_or("", String::as_str), *width);
        let rest = width.saturating_sub(cell.width()) + GAP;
        line.push_str(&cell);
        line.extend(std::iter::repeat_n(' ', rest));
    }
    line.trim_end().to_owned()
}

/// A text in so many columns, with an ellipsis where it was longer.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        cut.push(c);
    }
    cut.push('…');
    cut
}

/// How wide what is printed may be.
pub(crate) fn columns() -> usize {
    let told = || {
        let told = std::env::var("COLUMNS").ok()?;
        told.parse().ok().filter(|columns| *columns > 0)
    };
    let terminal = || {
        let stdout = std::io::stdout();
        let size = stdout
            .is_terminal()
            .then(|| terminal_size::terminal_size_of(stdout))??;
        Some(usize::from(size.0.0)).filter(|columns| *columns > 0)
    };
    terminal().or_else(told).unwrap_or(USUAL_WIDTH)
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(columns()))
    }
}

/// Names and values, one to a line, for the details of one thing.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    pub(crate) fn add(&mut self, name: &'static str, value: impl Display) {
        self.0.push((name, value.to_string()));
    }

    pub(crate) fn add_some(&mut self, name: &'static str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
}

impl Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (at, (name, value)) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            let value = crate::output::safe_lines(value);
            let value = value.replace('\n', &format!("\n{:width$}  ", ""));
            write!(f, "{name:width$}  {value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_and_lines_do_not_end_in_spaces() {
        let mut table = Table::new(["id", "tool", "why"]);
        table.row(["1", "filesystem.read", ""]);
        table.row(["1000", "日本", "because"]);
        let expected =
            "ID    TOOL             WHY\n1     filesystem.read\n1000  日本             because";
        assert_eq!(table.render(80), expected);
    }

    #[test]
    fn p17_tables_fit_the_terminal_and_ids_stay_whole() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let hash = "9c1e".repeat(16);
        let mut traces = Table::new([
            "time", "agent", "tool", "verdict", "rule", "by", "outcome", "trace",
        ]);
        traces.row([
            "2026-11-17 03:22:21",
            "claude-code@laptop-of-somebody",
            "filesystem.read_multiple_files",
            "rate_limited",
            "a policy with a long name, rule 12",
            "human:somebody@example.org",
            "failed 502",
            trace,
        ]);
        let mut chains = Table::new(["chain", "records", "pruned", "head", "hash"]);
        chains.row(["gateway-1", "100000", "0", "100000", &hash]);
        let mut wide = Table::new(["id", "tool"]);
        wide.row([
            "appr_0b0c",
            "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語",
        ]);
        for (table, id) in [(&traces, trace), (&chains, &*hash), (&wide, "appr_0b0c")] {
            for columns in [72, 80, 100, 120] {
                let shown = table.render(columns);
                for line in shown.lines() {
                    assert!(line.width() <= columns, "{columns}: {line}");
                }
                assert!(shown.contains(id), "{shown}");
            }
        }
        assert!(
            traces
                .render(80)
                .contains("\n  0af7651916cd43dd8448eb211c80319c")
        );
        assert!(!traces.render(400).contains('…'));
        assert_eq!(chains.render(120).lines().count(), 2, "{chains}");
    }

    #[test]
    fn p17_a_long_column_has_a_line_of_its_own_before_all_are_cut() {
        let mut table =
            Table::new(["id", "status", "tool", "arguments", "left"]).below("arguments");
        let long = |end: &str| format!("{{\"command\":\"{} {end}\"}}", "x".repeat(40));
        for end in ["one", "two"] {
            table.row(["0b0c", "pending", "claude-code.Bash", &long(end), "4m59s"]);
        }
        let table = table.without("status").without("no such");
        let expected = format!(
            "ID    TOOL              LEFT\n0b0c  claude-code.Bash  4m59s\n  {}\n0b0c  claude-code.Bash  4m59s\n  {}",
            long("one"),
            long("two")
        );
        assert_eq!(table.render(60), expected);
        assert_eq!(table.render(120).lines().count(), 3);
    }

    #[test]
    fn p17_times_stay_whole_and_a_margin_counts() {
        let mut table = Table::new(["time", "tool", "arguments"]).beside(5);
        table.row(["2026-11-17 03:22", "files.write", &"x".repeat(64)]);
        for columns in [40, 80] {
            let shown = table.render(columns);
            assert!(shown.contains("2026-11-17 03:22  "), "{shown}");
            assert!(
                shown.lines().all(|line| line.width() <= columns - 5),
                "{shown}"
            );
        }
    }

    #[test]
    fn what_agents_write_stays_in_its_cell() {
        let mut table = Table::new(["tool"]);
        table.row(["a\n\u{1b}[31mb"]);
        assert_eq!(table.render(80), "TOOL\na\\n\\u{1b}[31mb");
    }

    #[test]
    fn fields_align_their_values_and_their_further_lines() {
        let mut fields = Fields::default();
        fields.add("tool", "x");
        fields.add("arguments", "{\n}");
        fields.add_some("session", None::<&str>);
        assert_eq!(
            fields.to_string(),
            "tool       x\narguments  {\n           }"
        );
    }
}
