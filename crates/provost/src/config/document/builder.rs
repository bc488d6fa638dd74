//! Builds the tree from the parser's events.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use saphyr_parser::{Event, Marker, ScalarStyle, ScanError, Tag};

use super::{Flaw, Parsed};
use crate::config::{
    cover,
    node::{Entry, Kind, Node, Scalar, Span, Style},
};

const MAX_DEPTH: usize = 64;
/// Nodes after following aliases: a page of nested anchors can stand for billions.
const MAX_NODES: usize = 100_000;

pub(super) struct Builder {
    file: usize,
    /// Byte of each character; empty when they are the same.
    bytes: Vec<usize>,
    length: usize,
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    pub(super) root: Option<Rc<Node>>,
    nodes: usize,
    pub(super) flaws: Vec<Flaw>,
    pub(super) covered: Vec<Span>,
}

/// A list or map whose end is not read yet.
struct Open {
    anchor: usize,
    start: Span,
    is_map: bool,
    children: Vec<Rc<Node>>,
}

impl Builder {
    pub(super) fn new(file: usize, text: &str) -> Self {
        let bytes = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(at, _)| at).collect()
        };
        Self {
            file,
            bytes,
            length: text.len(),
            open: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            nodes: 0,
            flaws: Vec::new(),
            covered: Vec::new(),
        }
    }

    pub(super) fn give_up(mut self, text: &str) -> Parsed {
        self.covered.extend(cover::lexical(self.file, text));
        Parsed {
            root: None,
            flaws: self.flaws,
            covered: self.covered,
        }
    }

    fn byte(&self, marker: Marker) -> usize {
        if self.bytes.is_empty() {
            return marker.index().min(self.length);
        }
        self.bytes
            .get(marker.index())
            .copied()
            .unwrap_or(self.length)
    }

    pub(super) fn span(&self, start: Marker, end: Marker) -> Span {
        let start = self.byte(start);
        Span {
            file: self.file,
            start,
            end: self.byte(end).max(start),
        }
    }

    fn flaw(&mut self, span: Span, message: impl Into<String>, help: &str) {
        self.flaws.push(Flaw {
            span,
            message: message.into(),
            help: Some(help.to_owned()),
        });
    }

    pub(super) fn syntax_error(&mut self, error: &ScanError) {
        let span = self.span(*error.marker(), *error.marker());
        let message = format!("not valid YAML: {}", error.info());
        self.flaws.push(Flaw {
            span,
            message,
            help: Some(syntax_help(error.info()).to_owned()),
        });
    }

    /// `None`: there is no use in reading on.
    pub(super) fn take(&mut self, event: Event<'_>, span: Span) -> Option<()> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(text.into_owned(), style, tag.as_deref(), span);
                self.finish(
                    Node {
                        span,
                        kind,
                        weight: 1,
                    },
                    anchor,
                );
                Some(())
            }
            Event::SequenceStart(anchor, tag) => self.start(anchor, tag.as_deref(), span, false),
            Event::MappingStart(anchor, tag) => self.start(anchor, tag.as_deref(), span, true),
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::DocumentStart(_) if self.root.is_some() => {
                self.flaw(
                    span,
                    "a second document begins here",
                    "one file holds one document: remove the `---`",
                );
                None
            }
            _ => Some(()),
        }
    }

    fn scalar(&mut self, text: String, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Kind {
        let mut style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
        };
        self.check_tag(tag, span);
        if tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str")
            && style == Style::Plain
        {
            style = Style::SingleQuoted;
        }
        if style == Style::Plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") {
            return Kind::Null;
        }
        Kind::Scalar(Scalar { text, style })
    }

    fn check_tag(&mut self, tag: Option<&Tag>, span: Span) {
        const CORE: [&str; 7] = ["str", "int", "float", "bool", "null", "map", "seq"];
        let Some(tag) = tag else { return };
        if !tag.is_yaml_core_schema() || !CORE.contains(&tag.suffix.as_str()) {
            self.flaw(
                span,
                format!("the tag `{tag}` is not supported"),
                "remove it",
            );
        }
    }

    fn start(&mut self, anchor: usize, tag: Option<&Tag>, span: Span, is_map: bool) -> Option<()> {
        self.check_tag(tag, span);
        if self.open.len() >= MAX_DEPTH {
            self.flaw(
                span,
                format!("nested deeper than {MAX_DEPTH} levels"),
                "nothing in a configuration is this deep",
            );
            return None;
        }
        self.open.push(Open {
            anchor,
            start: span,
            is_map,
            children: Vec::new(),
        });
        Some(())
    }

    fn end(&mut self, end: Span) -> Option<()> {
        let open = self.open.pop()?;
        let weight = open
            .children
            .iter()
            .map(|child| child.weight)
            .sum::<usize>()
            + 1;
        // A block collection "ends" where the next thing begins; its last child is where it really ends.
        let last = open.children.last().map_or(end.end, |child| child.span.end);
        let end = if open.start.end > open.start.start {
            end.end
        } else {
            last
        };
        let span = Span {
            end: end.max(open.start.start),
            ..open.start
        };
        let kind = if open.is_map {
            Kind::Map(self.entries(open.children))
        } else {
            Kind::List(open.children)
        };
        self.finish(Node { span, kind, weight }, open.anchor);
        Some(())
    }

    fn finish(&mut self, node: Node, anchor: usize) {
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.nodes += 1;
        self.attach(node);
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Option<()> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            self.flaw(
                span,
                "this alias refers to itself",
                "an anchor can be used only after its value ends",
            );
            return None;
        };
        self.nodes += node.weight;
        if self.nodes > MAX_NODES {
            self.flaw(
                span,
                format!("aliases expand to more than {MAX_NODES} values"),
                "write the values out",
            );
            return None;
        }
        self.attach(node);
        Some(())
    }

    fn attach(&mut self, node: Rc<Node>) {
        match self.open.last_mut() {
            Some(open) => open.children.push(node),
            None => self.root = Some(node),
        }
    }

    /// Keys and values alternate. `<<` merges: keys that are written win over merged ones.
    fn entries(&mut self, children: Vec<Rc<Node>>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = HashSet::new();
        let mut merged = Vec::new();
        let mut children = children.into_iter();
        while let (Some(key), Some(value)) = (children.next(), children.next()) {
            let text = key
                .scalar()
                .map(|scalar| (scalar.text.clone(), scalar.style));
            if text
                .as_ref()
                .is_some_and(|(text, _)| cover::sounds_secret(text))
            {
                cover::values(&value, &mut self.covered);
            }
            match text {
                Some((text, Style::Plain)) if text == "<<" => merged.push(value),
                Some((text, _)) if !seen.insert(text.clone()) => {
                    cover::values(&value, &mut self.covered);
                    self.flaw(
                        key.span,
                        format!("the key `{text}` is written twice"),
                        "keep one of them",
                    );
                }
                _ => entries.push(Entry { key, value }),
            }
        }
        for value in merged {
            self.merge(&value, &mut entries, &mut seen);
        }
        entries
    }

    fn merge(&mut self, value: &Rc<Node>, entries: &mut Vec<Entry>, seen: &mut HashSet<String>) {
        match &value.kind {
            Kind::Map(from) => {
                for entry in from {
                    let Some(key) = entry.key.scalar() else {
                        continue;
                    };
                    if seen.insert(key.text.clone()) {
                        entries.push(entry.clone());
                    }
                }
            }
            Kind::List(items) => items
                .iter()
                .for_each(|item| self.merge(item, entries, seen)),
            _ => self.flaw(
                value.span,
                "`<<` merges maps only",
                "give it an alias of a map",
            ),
        }
    }
}

fn syntax_help(info: &str) -> &'static str {
    if info.contains("mapping values") || info.contains("simple key") || info.contains("':'") {
        "check the indentation, and quote text that holds `: `"
    } else if info.contains("quoted scalar") {
        "a quote is not closed"
    } else if info.contains("flow") || info.contains("','") {
        "a `[` or `{` is not closed, or a comma is missing"
    } else if info.contains("tab") {
        "indent with spaces, not with tabs"
    } else if info.contains("anchor") {
        "define it with `&name` first"
    } else {
        "check the indentation and the quotes around this place"
    }
}
