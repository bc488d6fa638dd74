//! Tables for people: aligned columns without lines, so that they can be read, copied and cut.

use std::fmt::{self, Display};

use comfy_table::{ContentArrangement, Table as Grid, presets};

use crate::output::shorten;

/// Longer cells are cut, hashes just not; `--json` has them whole.
const WIDEST: usize = 64;

#[derive(Debug)]
pub(crate) struct Table {
    grid: Grid,
    rows: usize,
}

impl Table {
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        let mut grid = Grid::new();
        grid.load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(heads.map(str::to_uppercase));
        for column in grid.column_iter_mut() {
            column.set_padding((0, 2));
        }
        Self { grid, rows: 0 }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.grid.add_row(cells.map(|cell| shorten(cell, WIDEST)));
        self.rows += 1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.grid.to_string();
        for (at, line) in text.lines().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            f.write_str(line.trim_end())?;
        }
        Ok(())
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
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn what_agents_write_stays_in_its_cell() {
        let mut table = Table::new(["tool"]);
        table.row(["a\n\u{1b}[31mb"]);
        assert_eq!(table.to_string(), "TOOL\na\\n\\u{1b}[31mb");
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
