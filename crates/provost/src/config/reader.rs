//! Collects: the files read, the problems found in them, and the secrets that must not be shown with them.
//! It never stops at the first problem.

use std::{
    collections::HashSet,
    ops::Range,
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
};

use provost_core::review::hides;

use super::{
    cover, document,
    node::{Node, Span},
    problem::{At, Problem, Severity, Source},
    secret::Unset,
    watch::Fingerprint,
    within,
};
use crate::{output, regular_file::read_regular};

/// Nobody reads more, and showing each costs a pass over the file.
const MAX_PROBLEMS: usize = 100;

/// Where `env:NAME` is looked up.
pub(super) type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

pub(super) struct Reader<'e> {
    pub(super) environment: Environment<'e>,
    pub(super) unset: Unset,
    /// What relative paths are relative to.
    pub(super) folder: PathBuf,
    pub(super) fingerprint: Fingerprint,
    files: Vec<File>,
    drafts: Vec<Draft>,
    covered: Vec<Span>,
}

struct File {
    path: PathBuf,
    text: String,
}

struct Draft {
    severity: Severity,
    place: Place,
    message: String,
    help: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Place {
    Whole(PathBuf),
    Part(Span),
}

impl<'e> Reader<'e> {
    pub(super) fn new(config: &Path, environment: Environment<'e>) -> Self {
        let folder = config.parent().map(Path::to_path_buf).unwrap_or_default();
        Self {
            environment,
            unset: Unset::default(),
            folder,
            fingerprint: Fingerprint::default(),
            files: Vec::new(),
            drafts: Vec::new(),
            covered: Vec::new(),
        }
    }

    /// The tree of a file; `None` when it is empty, or cannot be read, which is then reported.
    pub(super) fn open(&mut self, path: &Path) -> Option<Rc<Node>> {
        // Noted before it is read: a change while we read is seen as one.
        self.fingerprint.note(path);
        let bytes = match read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.file_error(
                    path,
                    format!("cannot be read: {error}"),
                    "check the path and its permissions",
                );
                return None;
            }
        };
        match document::decode(bytes) {
            Ok(text) => self.parse(path, text),
            Err((message, help)) => {
                self.file_error(path, message, &help);
                None
            }
        }
    }

    fn parse(&mut self, path: &Path, text: String) -> Option<Rc<Node>> {
        let parsed = document::parse(self.files.len(), &text);
        for flaw in parsed.flaws {
            let (place, message, help) = (Place::Part(flaw.span), flaw.message, flaw.help);
            self.drafts.push(Draft {
                severity: Severity::Error,
                place,
                message,
                help,
            });
        }
        self.covered.extend(parsed.covered);
        self.files.push(File {
            path: path.to_owned(),
            text,
        });
        parsed.root
    }

    pub(super) fn error(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.draft(
            Severity::Error,
            Place::Part(span),
            message.into(),
            help.into(),
        );
    }

    pub(super) fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.draft(
            Severity::Warning,
            Place::Part(span),
            message.into(),
            help.into(),
        );
    }

    pub(super) fn file_error(&mut self, path: &Path, message: impl Into<String>, help: &str) {
        self.draft(
            Severity::Error,
            Place::Whole(path.to_owned()),
            message.into(),
            help.to_owned(),
        );
    }

    fn draft(&mut self, severity: Severity, place: Place, message: String, help: String) {
        let help = (!help.is_empty()).then_some(help);
        self.drafts.push(Draft {
            severity,
            place,
            message,
            help,
        });
    }

    /// Keeps the values below `node` out of every shown line.
    pub(super) fn cover(&mut self, node: &Node) {
        cover::values(node, &mut self.covered);
    }

    pub(super) fn spans_lines(&self, node: &Node) -> bool {
        let file = self.files.get(node.span.file);
        let text = file.and_then(|file| file.text.get(node.span.start..node.span.end));
        text.is_none_or(|text| text.contains('\n'))
    }

    /// Where `part` of the value of `node` stands in its file.
    pub(super) fn within(&self, node: &Node, part: Range<usize>) -> Span {
        self.files
            .get(node.span.file)
            .map_or(node.span, |file| within::locate(&file.text, node, part))
    }

    /// `file:line` of a place, to refer to it in another problem.
    pub(super) fn name_place(&self, span: Span) -> String {
        let Some(file) = self.files.get(span.file) else {
            return String::new();
        };
        let line = file
            .text
            .get(..span.start)
            .unwrap_or_default()
            .matches('\n')
            .count()
            + 1;
        format!("{}:{line}", file.path.display())
    }

    /// A path of the file, relative to the file's folder.
    pub(super) fn resolve(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub(super) fn error_count(&self) -> usize {
        self.drafts
            .iter()
            .filter(|draft| draft.severity == Severity::Error)
            .count()
    }

    /// The problems in the order of the files and their lines.
    pub(super) fn finish(mut self) -> (Vec<Problem>, Fingerprint) {
        let mut seen = HashSet::new();
        self.drafts
            .retain(|draft| seen.insert((draft.place.clone(), draft.message.clone())));
        self.drafts.sort_by_key(|draft| match &draft.place {
            Place::Whole(_) => (usize::MAX, 0),
            Place::Part(span) => (span.file, span.start),
        });
        let left_out = self.drafts.len().saturating_sub(MAX_PROBLEMS);
        if left_out > 0 {
            // An error must never be among those left out while warnings are shown.
            self.drafts
                .sort_by_key(|draft| draft.severity == Severity::Warning);
            self.drafts.truncate(MAX_PROBLEMS);
        }
        let shown: Vec<Shown> = self
            .files
            .into_iter()
            .enumerate()
            .map(|(at, file)| file.show(at, &self.covered))
            .collect();
        let mut problems: Vec<Problem> = self
            .drafts
            .into_iter()
            .map(|draft| draft.place(&shown))
            .collect();
        if let Some(last) = problems.last_mut().filter(|_| left_out > 0) {
            last.message = format!("{}; {left_out} more problems are not shown", last.message);
        }
        (problems, self.fingerprint)
    }
}

/// Reads no more than one byte above the limit, so that a huge file is refused cheaply.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    read_regular(path, document::MAX_BYTES as u64 + 1)
}

/// A file ready to be shown: secrets covered, lines counted.
struct Shown {
    path: PathBuf,
    source: Arc<Source>,
    lines: Vec<usize>,
}

impl File {
    fn show(self, at: usize, covered: &[Span]) -> Shown {
        let covered = covered
            .iter()
            .filter(|span| span.file == at)
            .map(|span| span.start..span.end);
        let text = printable(&cover::apply(&self.text, covered));
        let lines = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let source = Arc::new(Source {
            name: output::safe(&self.path.to_string_lossy()).into_owned(),
            text,
        });
        Shown {
            path: self.path,
            source,
            lines,
        }
    }
}

/// What a terminal would not print as it stands is replaced by a character of the same length: places in the text
/// stay what they are.
fn printable(text: &str) -> String {
    let mut left = text.chars().peekable();
    let mut shown = String::with_capacity(text.len());
    while let Some(c) = left.next() {
        let is_line_end = c == '\n' || (c == '\r' && left.peek() == Some(&'\n'));
        shown.push(if is_line_end || c == '\t' || !hides(c) {
            c
        } else {
            match c.len_utf8() {
                1 => '?',
                2 => '¿',
                3 => '\u{fffd}',
                _ => '\u{1f6ab}',
            }
        });
    }
    shown
}

impl Shown {
    fn at(&self, span: Span) -> At {
        // Nothing can be underlined behind the last line, so its end stands for the end of the file.
        let last = self.source.text.trim_end().len();
        let (from, to) = (span.start.min(last), span.end.min(last.max(span.start)));
        let line = self.lines.partition_point(|start| *start <= from).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or_default();
        let column = self
            .source
            .text
            .get(start..from)
            .map_or(0, |before| before.chars().count())
            + 1;
        At {
            line,
            column,
            span: from..to.max(from),
            source: self.source.clone(),
        }
    }
}

impl Draft {
    fn place(self, files: &[Shown]) -> Problem {
        let (file, at) = match self.place {
            Place::Whole(path) => (path, None),
            Place::Part(span) => match files.get(span.file) {
                Some(file) => (file.path.clone(), Some(file.at(span))),
                None => (PathBuf::new(), None),
            },
        };
        Problem {
            severity: self.severity,
            message: self.message,
            help: self.help,
            file,
            at,
        }
    }
}
