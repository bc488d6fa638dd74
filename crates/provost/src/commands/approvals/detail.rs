//! One approval as the person who decides it reads it: who, what, why, how risky, and what went before.

use std::{collections::BTreeSet, fmt::Write as _};

use provost_core::{
    approval::Question,
    call::Digest,
    card::Whole,
    review::{Excerpt, NOT_TOLD, Risk, more_lines},
    time::Time,
    trace::view::Exposure,
};
use serde_json::{Value, json};

use crate::{
    commands::{
        grants::grants_table,
        view::{ago, compact, items, left, moment, moment_near, some_text, text},
    },
    output::{self, Color},
    table::{Fields, Table},
};

/// Of what the agent would do, and of its arguments.
const MOST_LINES: usize = 40;
const LONGEST: usize = 8 * 1024;
const MOST_CLAIM_LINES: usize = 10;
const LONGEST_CLAIM: usize = 1024;

/// One approval, and how many lines of it were left out.
pub(in crate::commands) struct Detail {
    pub(in crate::commands) text: String,
    pub(in crate::commands) more: usize,
}

/// Long texts are cut, and the last line says how to read all of it.
pub(in crate::commands) fn detail(approval: &Value, now: Time) -> Detail {
    detail_beside(approval, now, 0)
}

/// The same where so many columns of the terminal are taken.
pub(in crate::commands) fn detail_beside(approval: &Value, now: Time, margin: usize) -> Detail {
    let mut more = 0;
    let act = |fields: &mut Fields| more = act(fields, approval);
    let fields = question(approval, now, act);
    let mut text = fields.to_string() + &context(approval, now, margin);
    if more > 0 {
        let id = output::safe(text_of_id(approval));
        let how = format!("{}: provost approvals show {id} --full", more_lines(more));
        let _ = write!(text, "\n\n{}", output::paint(&how, Color::Yellow));
    }
    Detail { text, more }
}

/// The same with every line.
pub(in crate::commands) fn whole_detail(approval: &Value, now: Time) -> String {
    let fields = question(approval, now, |_| {});
    format!(
        "{fields}\n\n{}{}",
        whole(approval),
        context(approval, now, 0)
    )
}

/// All of the act: every step, every line of a change, every argument.
pub(super) fn whole(approval: &Value) -> String {
    let mut view = approval.clone();
    if let Some(view) = view.as_object_mut() {
        // A view that hides something has no digest. Showing it needs none.
        view.entry("digest")
            .or_insert_with(|| json!(Digest::of(&Value::Null)));
    }
    let question = serde_json::from_value::<Question>(view);
    let text = question.map_or_else(
        |_| arguments(approval),
        |question| Whole::of(&question, Exposure::Everything).to_text(),
    );
    output::safe_lines(text.trim_end()).into_owned()
}

fn text_of_id(approval: &Value) -> &str {
    text(approval, "id")
}

fn context(approval: &Value, now: Time, margin: usize) -> String {
    let list = |name: &str| approval.get(name).map(items).unwrap_or_default();
    let mut shown = String::new();
    let lasting = lasting(list("remember"));
    if !lasting.is_empty() {
        let title = output::paint("What you can allow for longer: approve with", Color::Bold);
        let _ = write!(shown, "\n\n{title}{lasting}");
    }
    let mut add = |title: &str, table: Table| {
        let table = table.beside(margin);
        if !table.is_empty() {
            let _ = write!(shown, "\n\n{}\n{table}", output::paint(title, Color::Bold));
        }
    };
    add("What it did lately", lately(list("recent_traces"), now));
    add("Grants it has", grants_table(list("active_grants")));
    shown
}

/// `act` adds what the agent would do.
fn question(approval: &Value, now: Time, act: impl FnOnce(&mut Fields)) -> Fields {
    let text = |name: &str| text(approval, name);
    let some = |name: &str| some_text(approval, name);
    let mut fields = Fields::default();
    let standing = format!("{}, for {}", text("status"), level(approval));
    fields.add("approval", format!("{} ({standing})", text("id")));
    fields.add("agent", text("agent_id"));
    fields.add_some("session", some("session_id"));
    fields.add("tool", text("tool"));
    act(&mut fields);
    let rule = text("policy_rule");
    fields.add("why", format!("rule {rule} says {}", text("policy")));
    let risks = risks(approval).join(", ");
    fields.add_some("risk", Some(risks).filter(|risks| !risks.is_empty()));
    fields.add("influence", influence(approval));
    let asked = text("created_at");
    fields.add(
        "asked",
        format!("{} ({} ago)", moment(asked), ago(asked, now)),
    );
    if text("status") == "pending" {
        fields.add("time left", left(text("remaining")));
    }
    fields.add_some("claimed by", some("claimed_by"));
    let escalated = some("escalated_by").map(|by| because(by, some("escalation_reasoning")));
    fields.add_some("escalated", escalated);
    people(&mut fields, approval);
    let decided = some("resolved_by").map(|by| because(by, some("reasoning")));
    fields.add_some("decided", decided);
    fields
}

/// What the agent would do, its arguments and its claim. Says how many lines are left out.
fn act(fields: &mut Fields, approval: &Value) -> usize {
    let mut more = 0;
    let mut excerpt = |text: &str, lines: usize, bytes: usize| {
        let excerpt = Excerpt::of(text, lines, bytes);
        more += excerpt.more;
        match excerpt.more {
            0 => excerpt.text,
            left_out => format!("{}\n… {}", excerpt.text, more_lines(left_out)),
        }
    };
    if let Some(summary) = approval.get("summary") {
        fields.add("would do", excerpt(&would_do(summary), MOST_LINES, LONGEST));
        let claim = some_text(summary, "claim");
        let claim = claim.map(|claim| excerpt(claim, MOST_CLAIM_LINES, LONGEST_CLAIM));
        fields.add_some("it says", claim);
    }
    if let Some(request) = approval.get("request") {
        let title = some_text(request, "title");
        let title = title.map(|title| excerpt(title, MOST_CLAIM_LINES, LONGEST_CLAIM));
        fields.add_some("it asks", title);
        let preview = some_text(request, "preview");
        let preview = preview.map(|preview| excerpt(preview, MOST_LINES, LONGEST));
        fields.add_some("it says", preview);
    }
    fields.add(
        "arguments",
        excerpt(&arguments(approval), MOST_LINES, LONGEST),
    );
    more += approval.get("summary").map_or(0, left_out);
    more
}

/// Where several must approve: who has, who is waited for, who is asked next.
fn people(fields: &mut Fields, approval: &Value) {
    let names = |name: &str| {
        let names = approval.get(name).map(items).unwrap_or_default();
        let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    };
    if let Some(needed) = approval.get("needed").and_then(Value::as_u64) {
        let votes = approval.get("votes").map(items).unwrap_or_default();
        let votes: Vec<_> = votes.iter().map(|vote| text(vote, "by")).collect();
        let so_far = match votes.as_slice() {
            [] => "nobody yet".to_owned(),
            votes => votes.join(", "),
        };
        fields.add(
            "approvals",
            format!("{} of {needed}: {so_far}", votes.len()),
        );
    }
    fields.add_some("waits for", names("waiting_for"));
    let next = names("asked_next").map(|people| {
        let at = moment(text(approval, "escalates_at"));
        format!("{people}, at {at} UTC")
    });
    fields.add_some("asked next", next);
    if approval.get("you_approved") == Some(&Value::Bool(true)) {
        fields.add("you", "have approved it");
    }
}

/// Lines that the summary itself left out.
fn left_out(summary: &Value) -> usize {
    let more = summary
        .get("more")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    usize::try_from(more).unwrap_or(usize::MAX)
}

/// The usual scopes stand for themselves; the others are chosen by `--scope`. Not a table: whoever allows
/// something reads all of it, and tables cut what is long.
fn lasting(offers: &[Value]) -> String {
    let mut lines = String::new();
    for offer in offers {
        let _ = write!(lines, "\n--for {}", text(offer, "remember"));
        if let breadth @ ("words" | "any") = text(offer, "breadth") {
            let _ = write!(lines, " --scope {breadth}");
        }
        let _ = write!(lines, "\n    {}", output::safe_lines(text(offer, "label")));
    }
    lines
}

fn lately(traces: &[Value], now: Time) -> Table {
    let mut table = Table::new(["time", "tool", "arguments", "verdict", "outcome"]);
    for trace in traces {
        table.row([
            &moment_near(text(trace, "timestamp"), now),
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
        if let Some(skipped) = part.get("skipped") {
            lines.push(format!("… {skipped} steps are left out here"));
        }
        let (text, risks) = (text(part, "text"), risks(part));
        lines.push(if risks.is_empty() {
            text.to_owned()
        } else {
            format!("{text}   [{risks}]")
        });
    }
    if lines.is_empty() {
        lines.extend(
            some_text(summary, "diff")
                .map(|diff| diff.strip_suffix('\n').unwrap_or(diff).to_owned()),
        );
        lines.extend(Some(risks(summary)).filter(|risks| !risks.is_empty()));
    }
    if let more @ 1.. = left_out(summary) {
        lines.push(format!("… {}", more_lines(more)));
    }
    lines.join("\n")
}

/// What deserves a closer look, in words.
pub(super) fn risks(approval: &Value) -> Vec<String> {
    let risks = approval.pointer("/summary/risks").map(items);
    let risks = risks.unwrap_or_default().iter();
    let mut risks: BTreeSet<Risk> = risks
        .filter_map(|risk| serde_json::from_value(risk.clone()).ok())
        .collect();
    if approval.get("hides_secret") == Some(&Value::Bool(true)) {
        risks.insert(Risk::HidesSecret);
    }
    let told = approval.pointer("/params/acp/arguments");
    if told.and_then(Value::as_str) == Some(NOT_TOLD) {
        risks.insert(Risk::ArgumentsNotTold);
    }
    risks.iter().map(ToString::to_string).collect()
}

/// Whether the arguments speak to whoever decides.
fn influence(approval: &Value) -> String {
    if !super::is_risky(approval) {
        return "no attempt to influence the decision was found".to_owned();
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
    use super::*;

    #[test]
    fn p09_a_hidden_secret_is_said_with_and_without_a_summary() {
        let now = Time::parse("2026-04-10T14:30:00Z").unwrap();
        for approval in [
            json!({"tool": "x.y", "params": {"password": "[secret: password, 5 characters]"}}),
            json!({"tool": "shell.run", "params": {"command": "ls"},
                   "summary": {"kind": "command", "parts": [{"text": "ls"}]}}),
        ] {
            let mut approval = approval;
            assert!(!detail(&approval, now).text.contains("hides a secret"));
            approval["hides_secret"] = true.into();
            assert!(detail(&approval, now).text.contains("hides a secret"));
            assert!(whole_detail(&approval, now).contains("hides a secret"));
        }
    }

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
        let shown = detail(&approval, Time::parse("2026-04-10T14:30:00Z").unwrap()).text;
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

    #[test]
    fn p17_the_risks_of_a_call_are_named_apart_from_its_influence() {
        let now = Time::parse("2026-04-10T14:30:00Z").unwrap();
        let call = json!({"id": "3f9a", "params": {}, "summary": {
            "kind": "command", "risks": ["deletes", "pipes_to_shell"]}});
        let secret = json!({"id": "3f9a", "params": {}, "hides_secret": true});
        let plain = json!({"id": "3f9a", "params": {}});
        for (approval, risk) in [
            (&call, Some("deletes, pipes into a shell")),
            (&secret, Some("hides a secret")),
            (&plain, None),
        ] {
            for shown in [detail(approval, now).text, whole_detail(approval, now)] {
                let line = shown.lines().find_map(|line| line.strip_prefix("risk "));
                assert_eq!(line.map(str::trim), risk, "{shown}");
                assert!(shown.contains("influence  no attempt"), "{shown}");
            }
        }
    }

    #[test]
    fn p14_a_long_act_is_cut_and_says_how_to_read_all_of_it() {
        let newlines = "\n".repeat(3000);
        let now = Time::parse("2026-04-10T14:30:00Z").unwrap();
        for approval in [
            json!({"id": "3f9a", "params": {"list": vec![0; 3000]}}),
            json!({"id": "3f9a", "params": {}, "request": {"title": "x", "preview": newlines}}),
            json!({"id": "3f9a", "params": {}, "summary": {"kind": "change", "diff": newlines, "more": 70}}),
            json!({"id": "3f9a", "params": {}, "summary": {"kind": "command", "claim": newlines,
                   "parts": [{"text": newlines}]}}),
        ] {
            let detail = detail(&approval, now);
            let lines = detail.text.lines().count();
            assert!(lines < 120, "{lines}");
            assert!(detail.more > 2000, "{}", detail.more);
            let how = format!(
                "{} more lines: provost approvals show 3f9a --full",
                detail.more
            );
            assert!(detail.text.ends_with(&how), "{}", detail.text);
        }
    }

    #[test]
    fn p14_who_voted_who_is_waited_for_and_who_is_next() {
        let approval = json!({
            "id": "3f9a", "params": {}, "needed": 3, "votes": [{"by": "human:alice"}, {"by": "human:bob"}],
            "waiting_for": ["carol"], "asked_next": ["dave"], "escalates_at": "2026-04-10T14:35:00.000Z",
            "you_approved": true,
        });
        let shown = detail(&approval, Time::parse("2026-04-10T14:30:00Z").unwrap()).text;
        for expected in [
            "2 of 3: human:alice, human:bob",
            "waits for   carol",
            "asked next  dave, at 2026-04-10 14:35:00 UTC",
            "have approved it",
        ] {
            assert!(
                shown.contains(expected),
                "{expected} is missing in\n{shown}"
            );
        }
    }
}
