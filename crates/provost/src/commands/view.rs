//! The gateway's JSON as people read it: fields by name, times and durations in short.

use provost_core::time::{Time, format_duration, parse_duration};
use serde_json::Value;

use crate::{client::Client, client::ClientError, client::Target, exit::usage, table::Table};

/// The text of a field, or nothing.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn some_text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value
        .get(name)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A moment as `2026-04-10 14:30:00`, in UTC.
pub(super) fn moment(text: &str) -> String {
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {}", time.split(['.', 'Z']).next().unwrap_or(time)),
        None => text.to_owned(),
    }
}

/// How long ago a moment was.
pub(super) fn ago(text: &str, now: Time) -> String {
    Time::parse(text).map_or_else(String::new, |at| format_duration(now.since(at)))
}

/// Arguments in one line.
pub(super) fn compact(params: Option<&Value>) -> String {
    params.map(ToString::to_string).unwrap_or_default()
}

/// A moment as people give it: a time, or how long ago.
pub(super) fn parse_moment(text: &str, now: Time) -> anyhow::Result<Time> {
    Time::parse(text)
        .or_else(|| parse_duration(text).map(|ago| now.minus(ago)))
        .ok_or_else(|| usage(format!("`{text}` is neither a time such as 2026-04-10T14:30:00Z nor how long ago, such as 2h")))
}

/// Every page of a list: `next` is the header that says where the next one begins, `from` the parameter
/// that asks for it. At most `limit` items.
pub(super) async fn pages(
    client: &Client,
    target: &Target,
    (next, from): (&str, &'static str),
    limit: usize,
) -> Result<Vec<Value>, ClientError> {
    const PAGE: usize = 1000;
    let mut found = Vec::new();
    let mut place: Option<String> = None;
    while found.len() < limit {
        let wanted = limit.saturating_sub(found.len()).min(PAGE);
        let page = target
            .clone()
            .query("limit", wanted)
            .query_some(from, place.as_ref());
        let answer = client.get(page).await?;
        if let Value::Array(items) = answer.body {
            found.extend(items);
        }
        place = answer
            .headers
            .get(next)
            .and_then(|value| value.to_str().ok())
            .map(str::to_owned);
        if place.is_none() {
            break;
        }
    }
    Ok(found)
}

pub(super) fn traces_table(traces: &[Value]) -> Table {
    let mut table = Table::new([
        "time", "agent", "tool", "verdict", "rule", "by", "outcome", "trace",
    ]);
    for trace in traces {
        let status = trace.get("status_code").map(ToString::to_string);
        let outcome = match (text(trace, "outcome"), status) {
            ("none", _) => String::new(),
            (outcome, Some(status)) => format!("{outcome} {status}"),
            (outcome, None) => outcome.to_owned(),
        };
        let grant = some_text(trace, "grant_id").map(|id| format!("grant:{id}"));
        let by = some_text(trace, "approved_by").map(str::to_owned).or(grant);
        let edited = trace.get("edited") == Some(&Value::Bool(true));
        let by = by.unwrap_or_else(|| match text(trace, "policy") {
            // No rule was asked.
            before @ ("stopped" | "rate_limited" | "invalid") => before.to_owned(),
            _ => "policy".to_owned(),
        });
        table.row([
            &moment(text(trace, "timestamp")),
            text(trace, "agent_id"),
            text(trace, "tool"),
            text(trace, "verdict"),
            text(trace, "policy_rule"),
            &if edited { format!("{by} (edited)") } else { by },
            &outcome,
            text(trace, "trace_id"),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_given_as_a_time_or_as_how_long_ago() {
        let now = Time::parse("2026-04-10T14:30:00Z").unwrap();
        for (text, expected) in [
            ("2026-04-10T14:00:00Z", Some("2026-04-10T14:00:00.000Z")),
            ("30m", Some("2026-04-10T14:00:00.000Z")),
            ("yesterday", None),
        ] {
            let found = parse_moment(text, now).ok().map(|time| time.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn moments_are_shown_short() {
        assert_eq!(moment("2026-04-10T14:30:00.123Z"), "2026-04-10 14:30:00");
        assert_eq!(moment("never"), "never");
    }
}
