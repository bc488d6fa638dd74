//! Problems with the lines they stand in and a caret, or as JSON.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use serde_json::{Value, json};

use super::problem::{Problem, Severity, Source};
use crate::output::{safe, safe_lines};

const WIDTH: usize = 100;

/// For people; `color` when they sit at a terminal.
pub(crate) fn render(problems: &[Problem], color: bool) -> String {
    let theme = if color {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(WIDTH)
        .with_links(false);
    let mut text = String::new();
    for problem in problems {
        if handler.render_report(&mut text, &Shown(problem)).is_err() {
            text.push_str(&safe(&problem.to_string()));
        }
        text.push('\n');
    }
    text
}

/// For programs: `{"errors": n, "warnings": n, "problems": […]}`.
pub(crate) fn to_json(problems: &[Problem]) -> Value {
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    json!({"errors": errors, "warnings": problems.len() - errors, "problems": problems})
}

#[derive(Debug)]
struct Shown<'a>(&'a Problem);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without lines to show, the file's name stands nowhere else.
        if self.0.at.is_none() {
            let file = self.0.file.to_string_lossy();
            write!(f, "{}: ", safe(&file))?;
        }
        f.write_str(&safe_lines(&self.0.message))
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.0.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.0
            .help
            .as_ref()
            .map(|help| Box::new(safe_lines(help)) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.at.as_ref().map(|at| &*at.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let at = self.0.at.as_ref()?;
        let label = LabeledSpan::new(None, at.span.start, at.span.len());
        Some(Box::new(std::iter::once(label)))
    }
}

impl SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            inner.data(),
            *inner.span(),
            inner.line(),
            inner.column(),
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::load;

    use super::*;

    #[test]
    fn p06_what_a_file_says_does_not_reach_the_terminal_raw() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prov\u{1b}[2Jost.yaml");
        // In a name that is told, in the line that is shown, and where it cannot be read at all.
        for text in [
            "\"a\\e[31mb\\u202e\\n\": 1\nlisten: nowhere \u{202e}\u{9b}\n",
            "listen: [\n",
            "policies:\n  - {name: \"x\\e]0;t\\a\", agent: '*', rules: [{tools: ['*'], action: \"\\e[8m\"}]}\n",
            "listen: \u{1b}[31m\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let problems = load(&path).problems;
            assert!(!problems.is_empty(), "{text:?}");
            let shown = render(&problems, false);
            let raw = shown
                .chars()
                .find(|c| *c != '\n' && provost_core::review::hides(*c));
            assert_eq!(raw, None, "{text:?}\n{shown:?}");
        }
    }
}
