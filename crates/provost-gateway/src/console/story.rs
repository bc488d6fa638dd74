//! `/console/trace/{id}`: one call, from the request to its outcome.

use std::{sync::Arc, time::Duration};

use askama::Template;
use axum::extract::{Path, State};
use http::Uri;
use provost_core::{
    approval::Approval,
    heavy::{self, Lane},
    time::Time,
    trace::view::{Exposure, trace_view},
};
use serde_json::{Map, Value};

use super::{
    diff::{Line, lines},
    error::{PageError, PageResult},
    fields::Fields,
    moment::{Moment, roughly},
    page::{Here, Shell, html},
    record::{Row, some, text, time},
    shown::{Exactly, Shown},
    visible::json,
    visitor::Visitor,
};
use crate::app::App;

#[derive(Template)]
#[template(path = "console/trace.html")]
struct TracePage {
    shell: Shell,
    row: Row,
    steps: Vec<Step>,
    full: Option<String>,
    /// Everything that was recorded.
    record: String,
}

/// Something that happened.
#[derive(Default)]
struct Step {
    kind: &'static str,
    what: String,
    at: Option<Moment>,
    /// Further sentences.
    says: Vec<String>,
    /// In the words of whoever decided.
    quote: Option<String>,
    link: Option<(String, String)>,
    shows: Option<Seen>,
    diff: Vec<Line>,
}

/// What was asked for: as an approval shows it, or the bare arguments.
enum Seen {
    Card(Box<Shown>),
    Arguments(String),
}

type View = Map<String, Value>;

pub(super) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    uri: Uri,
) -> PageResult {
    let query = Fields::of_query(&uri);
    let exposure = visitor.exposure(&app, &query);
    let found = app.gate.store().trace(&id).await?;
    let entry = found.ok_or_else(PageError::not_found)?;
    let view = || trace_view(&entry, exposure);
    let view = heavy::run(Lane::Deciders, entry.bytes(), view).await;
    if !visitor.key.may_see(&text(&view, "tool")) {
        return Err(PageError::forbidden(
            "The tools of your key do not include the tool of this trace.",
        ));
    }
    let approval = match some(&view, "approval_id") {
        Some(id) => app.gate.store().approval(&id).await?,
        None => None,
    };
    let now = app.gate.now();
    let hides = exposure == Exposure::Structure && visitor.is_person();
    let steps = || steps(&app, &view, approval.as_ref(), &visitor, exposure);
    let page = TracePage {
        row: Row::of_view(&view, now),
        steps: heavy::run(Lane::Deciders, entry.bytes(), steps).await,
        full: hides.then(|| query.address(uri.path(), &[("content", Some("full"))])),
        record: json(&view),
        shell: Shell::new(&app, &visitor, Here::Traces).await?,
    };
    Ok(html(&page))
}

fn steps(
    app: &App,
    view: &View,
    approval: Option<&Approval>,
    visitor: &Visitor,
    exposure: Exposure,
) -> Vec<Step> {
    let now = app.gate.now();
    let card = approval.map(|approval| Shown::new(app, approval, visitor, exposure));
    let asked_at = approval
        .map(|approval| approval.question.created_at)
        .or_else(|| time(view, "timestamp"));
    let mut steps = vec![asked(view, card, asked_at, now), ruled(view)];
    steps.extend(granted(view));
    steps.extend(handed_up(view));
    steps.extend(decided(view, now));
    steps.push(answered(view, now));
    steps.extend(ended(view, now));
    steps
}

fn asked(view: &View, card: Option<Shown>, at: Option<Time>, now: Time) -> Step {
    let shows = match card {
        Some(card) => Seen::Card(Box::new(card)),
        None => Seen::Arguments(view.get("params").map(json).unwrap_or_default()),
    };
    Step {
        what: format!(
            "{} asked for {}",
            text(view, "agent_id"),
            text(view, "tool")
        ),
        at: at.map(|at| Moment::new(at, now)),
        says: vec![format!("Through the door {}.", text(view, "door"))],
        shows: Some(shows),
        ..Step::default()
    }
}

fn ruled(view: &View) -> Step {
    let rule = text(view, "policy_rule");
    let (kind, what) = match text(view, "policy").as_str() {
        "allow" => ("yes", "Policy allowed it".to_owned()),
        "deny" => ("no", "Policy denied it".to_owned()),
        "supervisor" => ("wait", "Policy left it to supervisors".to_owned()),
        "human_approval" => ("wait", "Policy left it to people".to_owned()),
        "rate_limited" => ("no", "A limit held it back".to_owned()),
        "stopped" => ("no", "A stop held it back".to_owned()),
        "invalid" => ("no", "Its arguments do not fit the tool".to_owned()),
        "unsupervised" => ("no", "Done without asking: nobody decided it".to_owned()),
        other => ("", format!("Policy said {other}")),
    };
    let says = if rule.is_empty() {
        Vec::new()
    } else {
        vec![format!("Rule {rule}.")]
    };
    Step {
        kind,
        what,
        says,
        ..Step::default()
    }
}

fn granted(view: &View) -> Option<Step> {
    let id = some(view, "grant_id")?;
    Some(Step {
        kind: "yes",
        what: "A grant answered".to_owned(),
        link: Some(("/console/grants".to_owned(), format!("Grant {id}"))),
        ..Step::default()
    })
}

fn handed_up(view: &View) -> Option<Step> {
    let by = some(view, "escalated_by")?;
    Some(Step {
        kind: "wait",
        what: format!("{by} left it to people"),
        quote: some(view, "escalation_reasoning"),
        ..Step::default()
    })
}

fn decided(view: &View, now: Time) -> Option<Step> {
    let status = some(view, "approval_status")?;
    let (kind, word) = match status.as_str() {
        "approved" => ("yes", "Approved"),
        "denied" => ("no", "Denied"),
        "expired" => ("late", "Nobody decided in time"),
        _ => ("wait", "Still open"),
    };
    let what = match some(view, "approved_by") {
        Some(by) => format!("{word} by {by}"),
        None => word.to_owned(),
    };
    let mut says = Vec::new();
    if let Some(waited) = view.get("approval_ms").and_then(Value::as_u64) {
        says.push(format!("After {}.", roughly(Duration::from_millis(waited))));
    }
    if let Some(label) = some(view, "approver_label") {
        says.push(format!("It calls itself “{label}”."));
    }
    if let Some(confidence) = view.get("supervisor_confidence") {
        says.push(format!("Confidence {confidence}."));
    }
    let diff = diff(view);
    if view.contains_key("edited") {
        says.push("Edited: with other arguments than were asked for.".to_owned());
        let how = if diff.is_empty() {
            "They differ only in what is masked here."
        } else {
            "What was asked (−) and what ran (+):"
        };
        says.push(how.to_owned());
    }
    let link = some(view, "approval_id").map(|id| {
        let words = "The approval".to_owned();
        (format!("/console/approval/{id}"), words)
    });
    Some(Step {
        kind,
        what,
        at: time(view, "timestamp").map(|at| Moment::new(at, now)),
        says,
        quote: some(view, "supervisor_reasoning"),
        link,
        diff,
        ..Step::default()
    })
}

/// What a person changed.
fn diff(view: &View) -> Vec<Line> {
    some(view, "edit").map_or_else(Vec::new, |edit| lines(&edit))
}

fn answered(view: &View, now: Time) -> Step {
    let verdict = text(view, "verdict");
    let forwarded = text(view, "outcome") != "none";
    let (kind, what) = match verdict.as_str() {
        "allow" if forwarded => ("yes", "It was let through"),
        "allow" => ("yes", "The agent was told yes"),
        "expired" => ("late", "The agent was told that nobody decided"),
        _ => ("no", "The agent was told no"),
    };
    let mut says = Vec::new();
    // Whoever decided has given theirs.
    let decided = view.contains_key("approved_by");
    if let Some(reason) = some(view, "reason").filter(|_| !decided) {
        says.push(format!("Because: {reason}."));
    }
    Step {
        kind,
        what: what.to_owned(),
        at: time(view, "timestamp").map(|at| Moment::new(at, now)),
        says,
        ..Step::default()
    }
}

fn ended(view: &View, now: Time) -> Option<Step> {
    let (kind, what) = match text(view, "outcome").as_str() {
        "done" => ("yes", "The tool answered"),
        "failed" => ("no", "The tool failed"),
        "unknown" => ("late", "What became of it is not known"),
        "pending" => ("wait", "It is running"),
        _ => return None,
    };
    let mut says = Vec::new();
    if let Some(code) = view.get("status_code").and_then(Value::as_u64) {
        says.push(format!("Status {code}."));
    }
    if let Some(size) = view.get("size").and_then(Value::as_u64) {
        says.push(format!("{size} bytes."));
    }
    if let Some(latency) = view.get("latency_ms").and_then(Value::as_u64) {
        says.push(format!("It took {latency} ms."));
    }
    Some(Step {
        kind,
        what: what.to_owned(),
        at: time(view, "ended_at").map(|at| Moment::new(at, now)),
        says,
        quote: view.get("error").and_then(Value::as_str).map(str::to_owned),
        ..Step::default()
    })
}
