//! What a run does, a line a step, beside its answer: for whoever waits, and for logs.

use provost_runner::{
    agents,
    journal::{Line, What},
    watch::Watcher,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::output;

/// More of a title is not needed to recognise it.
const LONGEST: usize = 100;

pub(super) async fn show(mut events: Watcher, over: CancellationToken) {
    loop {
        let line = tokio::select! {
            biased;
            line = events.next() => line,
            () = over.cancelled() => None,
        };
        let Some(line) = line else { return };
        if let Some(step) = Line::parse(0, line).ok().and_then(|line| step(&line.what)) {
            output::note(output::safe_lines(&step));
        }
    }
}

fn step(what: &What) -> Option<String> {
    match what {
        What::In(message) => {
            let message: Value = serde_json::from_str(message.get()).ok()?;
            match message.get("method")?.as_str()? {
                "session/update" => update(message.pointer("/params/update")?),
                "session/request_permission" => {
                    let title = message.pointer("/params/toolCall/title");
                    Some(format!("asks: {}", short(title)?))
                }
                _ => None,
            }
        }
        What::Decision(decision) => {
            let decision: Value = serde_json::from_str(decision.get()).ok()?;
            let outcome = decision.get("outcome")?.as_str()?.to_owned();
            let by = decision.get("by")?.as_str()?.to_owned();
            let title = short(decision.get("title")).unwrap_or_default();
            Some(format!("{outcome} by {by}: {title}"))
        }
        What::Event(event) => {
            let event: Value = serde_json::from_str(event.get()).ok()?;
            if let Some(started) = event.get("started") {
                return unasked(started);
            }
            if let Some(warning) = event.get("warning").and_then(Value::as_str) {
                return Some(format!("warning: {warning}"));
            }
            let act = event.get("unsupervised")?;
            let title = short(act.get("title")).unwrap_or_default();
            Some(format!("NOBODY DECIDED THIS: {title}"))
        }
        _ => None,
    }
}

/// What the agent does without asking by design: whoever reads on should know.
pub(super) fn unasked(started: &Value) -> Option<String> {
    let agent = agents::named(started.get("agent")?.as_str()?)?;
    let acts = started.get("unasked")?.as_array()?;
    let acts: Vec<_> = acts.iter().filter_map(Value::as_str).collect();
    Some(format!(
        "{} does without asking, by design: {}",
        agent.title,
        acts.join("; ")
    ))
}

fn update(update: &Value) -> Option<String> {
    let kind = update.get("sessionUpdate")?.as_str()?;
    (kind == "tool_call").then_some(())?;
    Some(format!("- {}", short(update.get("title"))?))
}

/// Its first line, cut.
fn short(title: Option<&Value>) -> Option<String> {
    let title = title?.as_str()?.lines().next()?;
    let cut: String = title.chars().take(LONGEST).collect();
    (!cut.is_empty()).then_some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_told_in_a_line_each() {
        for (line, expected) in [
            (
                r#"{"at":1,"in":{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","title":"make\ntest"}}}}"#,
                Some("- make"),
            ),
            (
                r#"{"at":1,"in":{"method":"session/request_permission","params":{"toolCall":{"title":"rm x"}}}}"#,
                Some("asks: rm x"),
            ),
            (
                r#"{"at":1,"decision":{"outcome":"rejected","by":"deny","title":"rm x"}}"#,
                Some("rejected by deny: rm x"),
            ),
            (
                r#"{"at":1,"event":{"unsupervised":{"title":"rm x"}}}"#,
                Some("NOBODY DECIDED THIS: rm x"),
            ),
            (
                r#"{"at":1,"event":{"warning":"it has no effect"}}"#,
                Some("warning: it has no effect"),
            ),
            (
                r#"{"at":1,"event":{"started":{"agent":"qwen","unasked":["reads files","lists them"]}}}"#,
                Some("Qwen Code does without asking, by design: reads files; lists them"),
            ),
            (
                r#"{"at":1,"event":{"started":{"agent":"qwen","unasked":null}}}"#,
                None,
            ),
            (r#"{"at":1,"event":{"state":"running"}}"#, None),
            (r#"{"at":1,"err":"x"}"#, None),
        ] {
            let line = Line::parse(0, line.to_owned()).unwrap();
            assert_eq!(step(&line.what).as_deref(), expected);
        }
    }
}
