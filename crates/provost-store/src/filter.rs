//! Filters of lists as SQL: by columns and by the literal beginning of a glob. The glob itself is
//! matched in Rust, row by row.

use std::time::Duration;

use provost_core::{
    approval::{Level, Status},
    glob::Glob,
    ports::{ApprovalFilter, TraceFilter},
    time::Time,
};

use crate::codec::status_text;

/// How far the times of records may lie out of the order they were written in. A list "since" looks
/// this much further back for its beginning, which it finds by halving: time has no index of its own.
pub(crate) const CLOCK_SLACK: Duration = Duration::from_hours(1);

/// More alternatives than this are not worth telling the database.
const MAX_RANGES: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Int(i64),
    Text(String),
}

/// A `WHERE` under construction. In a condition, `@` stands for the next parameter.
pub(crate) struct Conditions {
    dialect: Dialect,
    sql: String,
    values: Vec<Value>,
}

/// Which tools a list is about.
#[derive(Clone, Default)]
pub(crate) struct Tools {
    one: Option<Glob>,
    any: Vec<Glob>,
}

enum Range {
    Everything,
    Exactly(String),
    /// From here, up to there.
    Within(String, Option<String>),
}

impl Tools {
    pub(crate) fn new(one: Option<&Glob>, any: &[Glob]) -> Self {
        Self {
            one: one.cloned(),
            any: any.to_vec(),
        }
    }

    /// Whether the list is about every tool, so that no row need be looked at for it.
    pub(crate) fn are_all(&self) -> bool {
        self.one.is_none() && self.any.is_empty()
    }

    pub(crate) fn matches(&self, tool: &str) -> bool {
        self.one.as_ref().is_none_or(|glob| glob.matches(tool))
            && (self.any.is_empty() || self.any.iter().any(|glob| glob.matches(tool)))
    }
}

impl Conditions {
    pub(crate) fn new(dialect: Dialect, first: &str) -> Self {
        Self {
            dialect,
            sql: first.to_owned(),
            values: Vec::new(),
        }
    }

    pub(crate) fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        if !self.sql.is_empty() {
            self.sql.push_str(" AND ");
        }
        self.push(condition, values);
    }

    pub(crate) fn sql(&self) -> &str {
        if self.sql.is_empty() {
            "true"
        } else {
            &self.sql
        }
    }

    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    fn push(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        let mark = if self.dialect == Dialect::Sqlite {
            '?'
        } else {
            '$'
        };
        let mut values = values.into_iter();
        for c in condition.chars() {
            match c {
                '@' => {
                    self.values.extend(values.next());
                    self.sql.push(mark);
                    self.sql.push_str(&self.values.len().to_string());
                }
                other => self.sql.push(other),
            }
        }
    }

    fn tools(&mut self, tools: &Tools) {
        if let Some(glob) = &tools.one {
            self.any_of(&[range(glob)]);
        }
        let ranges: Vec<Range> = tools.any.iter().map(range).collect();
        if !ranges.is_empty() && ranges.len() <= MAX_RANGES {
            self.any_of(&ranges);
        }
    }

    fn any_of(&mut self, ranges: &[Range]) {
        if ranges
            .iter()
            .any(|range| matches!(range, Range::Everything))
        {
            return;
        }
        self.and("(", []);
        for (at, range) in ranges.iter().enumerate() {
            if at > 0 {
                self.push(" OR ", []);
            }
            self.range(range);
        }
        self.push(")", []);
    }

    fn range(&mut self, range: &Range) {
        // SQLite must not take an index for a range: its rows would come out of order and the page
        // would cost a sort of everything in the range. `+` hides the column from its planner.
        let column = if self.dialect == Dialect::Sqlite {
            "+tool"
        } else {
            "tool"
        };
        match range {
            Range::Everything => self.push("true", []),
            Range::Exactly(name) => self.push("tool = @", [Value::Text(name.clone())]),
            Range::Within(from, None) => {
                self.push(&format!("{column} >= @"), [Value::Text(from.clone())]);
            }
            Range::Within(from, Some(to)) => self.push(
                &format!("({column} >= @ AND {column} < @)"),
                [Value::Text(from.clone()), Value::Text(to.clone())],
            ),
        }
    }
}

pub(crate) fn approvals(
    dialect: Dialect,
    filter: &ApprovalFilter,
    now: Time,
) -> (Conditions, Tools) {
    let mut all = Conditions::new(dialect, "");
    let int = |time: Time| [Value::Int(time.millis())];
    match filter.status {
        None => {}
        Some(Status::Pending) => all.and("status = 'pending' AND expires_at > @", int(now)),
        Some(Status::Expired) => {
            all.and(
                "(status = 'expired' OR (status = 'pending' AND expires_at <= @))",
                int(now),
            );
        }
        Some(status) => all.and(&format!("status = '{}'", status_text(status)), []),
    }
    match filter.level {
        None => {}
        Some(Level::Supervisor) => {
            all.and("level = 'supervisor' AND supervisor_until > @", int(now));
        }
        Some(Level::Human) => all.and(
            "(level = 'human' OR supervisor_until IS NULL OR supervisor_until <= @)",
            int(now),
        ),
    }
    if let Some(agent) = &filter.agent {
        all.and("agent = @", [Value::Text(agent.clone())]);
    }
    if let Some(session) = &filter.session {
        all.and("session = @", [Value::Text(session.clone())]);
    }
    if let Some(since) = filter.since {
        all.and("created_at >= @", int(since));
    }
    let tools = Tools::new(filter.tool.as_ref(), &filter.tools);
    all.tools(&tools);
    (all, tools)
}

pub(crate) fn traces(dialect: Dialect, filter: &TraceFilter) -> (Conditions, Tools) {
    let mut all = Conditions::new(dialect, "kind = 'decision'");
    let texts = [
        ("agent", &filter.agent),
        ("session", &filter.session),
        ("verdict", &filter.verdict),
    ];
    for (column, text) in texts {
        if let Some(text) = text {
            all.and(&format!("{column} = @"), [Value::Text(text.clone())]);
        }
    }
    if let Some(since) = filter.since {
        all.and("at >= @", [Value::Int(since.millis())]);
    }
    if let Some(until) = filter.until {
        all.and("at <= @", [Value::Int(until.millis())]);
    }
    let tools = Tools::new(filter.tool.as_ref(), &filter.tools);
    all.tools(&tools);
    (all, tools)
}

/// The one name a glob stands for, where it is written without escapes.
pub(crate) fn only_name(glob: &Glob) -> Option<String> {
    match range(glob) {
        Range::Exactly(name) => Some(name),
        _ => None,
    }
}

fn range(glob: &Glob) -> Range {
    let text = glob.as_str();
    let literal: String = text.chars().take_while(|c| !"*?[\\".contains(*c)).collect();
    if literal.is_empty() {
        Range::Everything
    } else if literal == text {
        Range::Exactly(literal)
    } else {
        let end = end_of_prefix(&literal);
        Range::Within(literal, end)
    }
}

/// The least text greater than all that begin with `prefix`; `None` when there is none.
pub(crate) fn end_of_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        let after = if last == '\u{D7FF}' {
            Some('\u{E000}')
        } else {
            char::from_u32(last as u32 + 1)
        };
        if let Some(after) = after {
            chars.push(after);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_where_the_next_begins() {
        for (prefix, end) in [
            ("fs.", Some("fs/")),
            ("a\u{D7FF}", Some("a\u{E000}")),
            ("a\u{10FFFF}", Some("b")),
            ("\u{10FFFF}", None),
        ] {
            assert_eq!(end_of_prefix(prefix).as_deref(), end, "{prefix:?}");
        }
    }

    #[test]
    fn globs_narrow_by_what_they_begin_with() {
        for (glob, sql, values) in [
            ("*", "kind = 'decision'", &[][..]),
            ("[ab]c", "kind = 'decision'", &[]),
            ("fs.read", "kind = 'decision' AND (tool = $1)", &["fs.read"]),
            (
                "fs.*",
                "kind = 'decision' AND ((tool >= $1 AND tool < $2))",
                &["fs.", "fs/"],
            ),
            (
                "a\\*b",
                "kind = 'decision' AND ((tool >= $1 AND tool < $2))",
                &["a", "b"],
            ),
        ] {
            let filter = TraceFilter {
                tool: Some(Glob::new(glob).unwrap()),
                ..TraceFilter::default()
            };
            let (conditions, _) = traces(Dialect::Postgres, &filter);
            let expected: Vec<Value> = values
                .iter()
                .map(|v| Value::Text((*v).to_owned()))
                .collect();
            assert_eq!(
                (conditions.sql(), conditions.values()),
                (sql, &*expected),
                "{glob}"
            );
        }
    }

    #[test]
    fn both_tool_filters_apply() {
        let glob = |text| Glob::new(text).unwrap();
        let tools = Tools::new(Some(&glob("fs.*")), &[glob("fs.read"), glob("mail.*")]);
        for (tool, expected) in [("fs.read", true), ("fs.write", false), ("mail.send", false)] {
            assert_eq!(tools.matches(tool), expected, "{tool}");
        }
    }
}
