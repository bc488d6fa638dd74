//! The whole act on the page where it is decided, a page of lines at a time, and as plain text.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::IntoResponse as _,
};
use http::{Uri, header};
use provost_core::{
    approval::Question,
    card::{Body, Row, Whole},
    trace::view::Exposure,
};

use super::{
    approval::found,
    diff::{Line, lines},
    error::PageResult,
    fields::Fields,
    shown::Step,
    visible::visible,
    visitor::Visitor,
};
use crate::app::App;

/// A page of the whole act.
pub(super) struct WholeShown {
    pub(super) parts: Vec<Part>,
    pub(super) number: usize,
    pub(super) pages: usize,
    pub(super) lines: usize,
    /// Of this page.
    pub(super) bytes: usize,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// Where it is plain text, on one page: as it was asked, and not as somebody edits it.
    pub(super) text: Option<String>,
}

pub(super) struct Part {
    pub(super) title: &'static str,
    pub(super) body: Shape,
}

pub(super) enum Shape {
    Steps(Vec<Step>),
    Diff(Vec<Line>),
    Text(String),
}

impl WholeShown {
    /// `query` is that of the page, which says which page of the act is wanted.
    pub(super) fn new(question: &Question, exposure: Exposure, query: &Fields) -> Self {
        let whole = Whole::of(question, exposure);
        let wanted = query.number("page").and_then(|page| page.try_into().ok());
        let page = whole.page(wanted.unwrap_or(1));
        let path = format!("/console/approval/{}", question.id);
        let to = |number: usize| {
            let number = number.to_string();
            let said = ["done", "of", "grant"].map(|name| (name, None));
            let mut fields = vec![("whole", Some("1")), ("page", Some(&*number))];
            fields.extend(said);
            query.address(&path, &fields)
        };
        let content = query.text("content");
        let bytes = page.rows.iter().map(|row| row.text.len()).sum();
        let mut parts: Vec<Part> = Vec::new();
        let mut rows = page.rows.as_slice();
        while let Some(first) = rows.first() {
            let of_section = rows.iter().take_while(|row| row.section == first.section);
            let (own, rest) = rows.split_at(of_section.count());
            rows = rest;
            if let Some(section) = whole.sections.get(first.section) {
                let body = shape(&section.body, own);
                let title = section.title;
                parts.push(Part { title, body });
            }
        }
        Self {
            parts,
            number: page.number,
            pages: page.pages,
            lines: page.lines,
            bytes,
            before: (page.number > 1).then(|| to(page.number - 1)),
            after: (page.number < page.pages).then(|| to(page.number + 1)),
            text: Some(
                Fields::default().address(&format!("{path}/whole.txt"), &[("content", content)]),
            ),
        }
    }

    /// Whoever reads this page has reached the end.
    pub(super) fn is_last(&self) -> bool {
        self.number == self.pages
    }
}

fn shape(body: &Body, rows: &[Row<'_>]) -> Shape {
    match body {
        Body::Steps(_) => {
            let mut steps: Vec<Step> = Vec::new();
            for row in rows {
                match steps.last_mut() {
                    Some(Step {
                        text: Some(text), ..
                    }) if row.goes_on => {
                        text.push('\n');
                        text.push_str(row.text);
                    }
                    _ => steps.push(Step {
                        text: Some(row.text.to_owned()),
                        risks: row.risks.to_vec(),
                        skipped: 0,
                    }),
                }
            }
            Shape::Steps(steps)
        }
        Body::Diff(_) => Shape::Diff(lines(&joined(rows))),
        Body::Text(_) => Shape::Text(joined(rows)),
    }
}

/// Pieces of one line are joined again.
fn joined(rows: &[Row<'_>]) -> String {
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        if at > 0 && !row.goes_on {
            text.push('\n');
        }
        text.push_str(row.text);
    }
    text
}

/// `/console/approval/{id}/whole.txt`: all of it, for searching and for other programs.
pub(super) async fn text(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    uri: Uri,
) -> PageResult {
    let approval = found(&app, &visitor, &id).await?;
    let exposure = visitor.exposure(&app, &Fields::of_query(&uri));
    let text = Whole::of(&approval.question, exposure).to_text();
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    Ok((kind, visible(&text).into_owned()).into_response())
}
