//! Writing: kept text as it came, everything else one member to a line, indented as the file is.

use super::Json;

/// How a file is laid out.
#[derive(Debug, PartialEq, Eq)]
struct Layout<'t> {
    indent: &'t str,
    newline: &'static str,
}

impl<'t> Layout<'t> {
    fn of(text: &'t str) -> Self {
        let indent = text.lines().find_map(|line| {
            let rest = line.trim_start_matches([' ', '\t']);
            let indent = line.get(..line.len() - rest.len())?;
            (!indent.is_empty() && rest.starts_with('"')).then_some(indent)
        });
        Self {
            indent: indent.unwrap_or("  "),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        }
    }

    fn line(&self, depth: usize, out: &mut String) {
        out.push_str(self.newline);
        out.push_str(&self.indent.repeat(depth));
    }
}

impl Json {
    /// As a file, laid out as the file was before.
    pub(in super::super) fn file(&self, before: &str) -> String {
        let layout = Layout::of(before);
        let mut out = String::new();
        self.write(&layout, 0, &mut out);
        out.push_str(layout.newline);
        out
    }

    fn write(&self, layout: &Layout<'_>, depth: usize, out: &mut String) {
        match self {
            Self::Kept(text) => out.push_str(text),
            Self::Object(members) => {
                let lines = members.iter().map(|(name, value)| (Some(name), value));
                block(('{', '}'), lines, layout, depth, out);
            }
            Self::Array(items) => {
                let lines = items.iter().map(|item| (None, item));
                block(('[', ']'), lines, layout, depth, out);
            }
        }
    }
}

fn block<'j>(
    (open, close): (char, char),
    lines: impl ExactSizeIterator<Item = (Option<&'j String>, &'j Json)>,
    layout: &Layout<'_>,
    depth: usize,
    out: &mut String,
) {
    out.push(open);
    let last = lines.len();
    for (at, (name, value)) in lines.enumerate() {
        layout.line(depth + 1, out);
        if let Some(name) = name {
            out.push_str(&serde_json::Value::from(name.as_str()).to_string());
            out.push_str(": ");
        }
        value.write(layout, depth + 1, out);
        if at + 1 < last {
            out.push(',');
        }
    }
    if last > 0 {
        layout.line(depth, out);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_touched_keeps_its_text() {
        let before =
            "{\n    \"z\": [1.10, 1e5,  2],\n    \"a\": {\n        \"b\": \"\\u00e4\"\n    }\n}\n";
        let mut json = Json::parse(before).unwrap();
        json.set("new", Json::texts(["x"])).unwrap();
        let expected = before.replace(
            "    }\n}",
            "    },\n    \"new\": [\n        \"x\"\n    ]\n}",
        );
        assert_eq!(json.file(before), expected);
    }

    #[test]
    fn a_file_keeps_its_indents_and_line_ends() {
        for (text, indent, newline) in [
            ("", "  ", "\n"),
            ("{\n\t\"a\": 1\n}", "\t", "\n"),
            ("{\r\n    \"a\": 1\r\n}", "    ", "\r\n"),
        ] {
            assert_eq!(Layout::of(text), Layout { indent, newline }, "{text:?}");
        }
    }
}
