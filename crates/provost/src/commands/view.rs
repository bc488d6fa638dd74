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

/// A moment in a table: the time of day, and the day where it is another.
pub(super) fn moment_near(text: &str, now: Time) -> String {
    let shown = moment(text);
    let today = moment(&now.to_string());
    match (shown.split_once(' '), today.split_once(' ')) {
        (Some((day, time)), Some((today, _))) if day == today => time.to_owned(),
        (Some((day, time)), _) => format!("{day} {}", time.get(..5).unwrap_or(time)),
        _ => shown,
    }
}

/// A time that is left, with as much precision as anybody wants to read: `29d 23h`, `4m30s`.
pub(super) fn left(text: &str) -> String {
    const DAY: u64 = 86_400;
    match parse_duration(text).map(|left| left.as_secs()) {
        Some(seconds) if seconds >= 2 * DAY => {
            format!("{}d {}h", seconds / DAY, seconds % DAY / 3600)
        }
        _ => text.to_owned(),
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

pub(super) fn traces_table(traces: &[Value], now: Time) -> Table {
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
            before @ ("stopped" | "rate_limited" | "invalid" | "unsupervised") => before.to_owned(),
            _ => "policy".to_owned(),
        });
        table.row([
            &moment_near(text(trace, "timestamp"), now),
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
    fn p17_moments_in_tables_keep_the_time_of_day() {
        let now = Time::parse("2026-04-10T14:30:00Z").unwrap();
        for (text, expected) in [
            ("2026-04-10T14:29:59.123Z", "14:29:59"),
            ("2026-04-09T23:59:59.000Z", "2026-04-09 23:59"),
            ("never", "never"),
        ] {
            assert_eq!(moment_near(text, now), expected);
        }
        let mut traces = Vec::new();
        for at in ["2026-04-10T14:29:59.123Z", "2026-04-09T23:59:59.000Z"] {
            traces.push(serde_json::json!({
                "timestamp": at, "agent_id": "claude-code", "tool": "claude-code.Bash", "verdict": "allow",
                "policy_rule": "a-policy:rule-12", "approved_by": "human:alice", "outcome": "done",
                "status_code": 200, "trace_id": "0af7651916cd43dd8448eb211c80319c",
            }));
        }
        let shown = traces_table(&traces, now).to_string();
        assert!(
            shown.contains("14:29:59 ") && shown.contains("2026-04-09 23:59 "),
            "{shown}"
        );
    }

    #[test]
    fn p17_long_times_are_left_in_days() {
        for (text, expected) in [
            ("719h59m59s", "29d 23h"),
            ("47h59m59s", "47h59m59s"),
            ("4m30s", "4m30s"),
            ("until it is revoked", "until it is revoked"),
        ] {
            assert_eq!(left(text), expected);
        }
    }

    #[test]
    fn moments_are_shown_short() {
        assert_eq!(moment("2026-04-10T14:30:00.123Z"), "2026-04-10 14:30:00");
        assert_eq!(moment("never"), "never");
    }
}
