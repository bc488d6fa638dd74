//! Where a piece of a scalar's value stands in the file: quotes, escapes, folds and indentation lie between
//! the two, and a caret must still be under the right character.

use std::ops::Range;

use super::node::{Node, Span, Style};

/// The bytes of the file that hold `part` of the value of `node`; the whole scalar when they cannot be told.
pub(super) fn locate(source: &str, node: &Node, part: Range<usize>) -> Span {
    let Some(scalar) = node.scalar() else {
        return node.span;
    };
    let Some(raw) = source.get(node.span.start..node.span.end) else {
        return node.span;
    };
    let Some(offsets) = align(raw, &scalar.text, scalar.style) else {
        return node.span;
    };
    let starts = offsets.iter().find(|offset| offset.value >= part.start);
    let ends = offsets.iter().rfind(|offset| offset.value < part.end);
    let (Some(start), end) = (starts, ends) else {
        return node.span;
    };
    let end = if part.is_empty() {
        start.raw.start
    } else {
        end.map_or(start.raw.start, |end| end.raw.end)
    };
    let start = node.span.start + start.raw.start;
    Span {
        start,
        end: (node.span.start + end).max(start),
        ..node.span
    }
}

/// One character of a value, or its end.
struct Offset {
    value: usize,
    raw: Range<usize>,
}

fn align(raw: &str, value: &str, style: Style) -> Option<Vec<Offset>> {
    let mut at = content_start(raw, style);
    let mut offsets = Vec::new();
    for (position, c) in value.trim_end_matches('\n').char_indices() {
        let found = step(raw, at, c, style)?;
        at = found.end;
        offsets.push(Offset {
            value: position,
            raw: found,
        });
    }
    offsets.push(Offset {
        value: value.len(),
        raw: at..at,
    });
    Some(offsets)
}

fn content_start(raw: &str, style: Style) -> usize {
    match style {
        Style::Plain => 0,
        Style::SingleQuoted | Style::DoubleQuoted => usize::from(raw.starts_with(['\'', '"'])),
        Style::Block => raw
            .starts_with(['|', '>'])
            .then(|| raw.find('\n'))
            .flatten()
            .map_or(0, |at| at + 1),
    }
}

/// The raw bytes that stand for the character `c`, at or after `at`.
fn step(raw: &str, mut at: usize, c: char, style: Style) -> Option<Range<usize>> {
    loop {
        let rest = raw.get(at..)?;
        let next = rest.chars().next()?;
        if style == Style::DoubleQuoted && next == '\\' {
            let length = escape_length(rest)?;
            if rest.starts_with("\\\n") || rest.starts_with("\\\r") {
                at += length;
                continue;
            }
            return Some(at..at + length);
        }
        if style == Style::SingleQuoted && rest.starts_with("''") {
            return (c == '\'').then_some(at..at + 2);
        }
        if next == c || (c == ' ' && next == '\n') {
            return Some(at..at + next.len_utf8());
        }
        if !next.is_whitespace() {
            return None;
        }
        at += next.len_utf8();
    }
}

fn escape_length(rest: &str) -> Option<usize> {
    let code = rest.chars().nth(1)?;
    Some(match code {
        'x' => 4,
        'u' => 6,
        'U' => 10,
        other => 1 + other.len_utf8(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{
        document::parse,
        node::{Kind, Node},
    };

    fn value_of(source: &str) -> std::rc::Rc<Node> {
        let root = parse(0, source).root.unwrap();
        let Kind::Map(entries) = &root.kind else {
            panic!()
        };
        entries[0].value.clone()
    }

    #[test]
    fn a_part_of_a_value_is_found_in_the_file() {
        for source in [
            "when: tool == bad.name",
            "when: 'agent == \"it''s\" AND bad.name'",
            "when: \"agent == \\\"x\\\" AND \\u0041 bad.name\"",
            "when: |\n    agent == 1\n    AND bad.name\n",
            "when: >-\n  agent == 1\n  AND bad.name\n",
            "when: tool == 1\n  AND   bad.name",
            "when: 'tool == 1\n\n  AND bad.name'",
            "when: \"tool \\\n   == bad.name\"",
            "# größer\nwhen: 'params.ä == bad.name'",
            "when: |2\n    indented == bad.name\n",
        ] {
            let node = value_of(source);
            let text = &node.scalar().unwrap().text;
            let start = text.find("bad").unwrap();
            let span = locate(source, &node, start..start + "bad".len());
            assert_eq!(&source[span.start..span.end], "bad", "{source:?}");
        }
    }

    #[test]
    fn the_end_of_a_value_is_found_too() {
        let source = "when: 'a =='";
        let node = value_of(source);
        let span = locate(source, &node, 4..4);
        assert_eq!((span.start, span.end), (11, 11));
    }
}
