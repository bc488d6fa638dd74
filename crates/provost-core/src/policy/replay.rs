//! What the policy said then against what it says now.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{PolicySet, Verdict};
use crate::{call::Call, time::Time};

/// A decision as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub trace_id: String,
    pub call: Call,
    /// The verdict of the policy, or what stood in for it.
    pub policy: String,
    pub at: Time,
}

#[derive(Debug, Default, Serialize)]
pub struct Replayed {
    /// How many were judged anew.
    pub decisions: usize,
    /// How many no policy was asked about: rate limits and stops came first.
    pub skipped: usize,
    pub counts: Vec<Count>,
    pub changed: Vec<Change>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    pub old: String,
    pub new: String,
    pub decisions: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    pub trace_id: String,
    pub agent: String,
    pub tool: String,
    pub old: String,
    pub new: String,
    pub rule: String,
    pub reason: String,
}

/// Each call is judged as of when it was made.
pub fn replay(decisions: &[Recorded], policies: &PolicySet) -> Replayed {
    let mut replayed = Replayed::default();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for decision in decisions {
        if Verdict::parse(&decision.policy).is_none() {
            replayed.skipped += 1;
            continue;
        }
        replayed.decisions += 1;
        let ruling = policies.evaluate(&decision.call, decision.at);
        if ruling.verdict.as_str() == decision.policy {
            continue;
        }
        let change = Change {
            trace_id: decision.trace_id.clone(),
            agent: decision.call.agent.to_string(),
            tool: decision.call.tool.to_string(),
            old: decision.policy.clone(),
            new: ruling.verdict.to_string(),
            rule: ruling.rule.to_string(),
            reason: ruling.reason.to_string(),
        };
        *counts
            .entry((change.old.clone(), change.new.clone()))
            .or_default() += 1;
        replayed.changed.push(change);
    }
    let counts = counts.into_iter().map(|((old, new), decisions)| Count {
        old,
        new,
        decisions,
    });
    replayed.counts = counts.collect();
    replayed
        .counts
        .sort_by_key(|count| std::cmp::Reverse(count.decisions));
    replayed
}

#[cfg(test)]
mod tests {
    use crate::policy::{Policy, Rule};
    use serde_json::{Map, Value, json};

    use super::*;

    fn policies(rules: &[(&str, Verdict, Option<&str>)]) -> PolicySet {
        let rules = rules.iter().map(|(tool, action, when)| Rule {
            tools: vec![(*tool).to_owned()],
            action: *action,
            when: when.map(str::to_owned),
            condition: None,
        });
        let policy = Policy {
            name: "p".into(),
            agent: "*".into(),
            rate_limit: None,
            rules: rules.collect(),
        };
        PolicySet::compile(vec![policy]).unwrap()
    }

    fn recorded(id: &str, tool: &str, policy: &str, params: Value) -> Recorded {
        let params: Map<_, _> = serde_json::from_value(params).unwrap();
        let call = Call {
            agent: "a".into(),
            session: None,
            tool: tool.into(),
            params,
        };
        Recorded {
            trace_id: id.to_owned(),
            call,
            policy: policy.to_owned(),
            at: Time::from_millis(0),
        }
    }

    #[test]
    fn only_changed_verdicts_are_told_and_counted() {
        let decisions = [
            recorded("1", "fs.read", "allow", json!({})),
            recorded("2", "fs.write", "human_approval", json!({"path": "/srv/x"})),
            recorded("3", "fs.write", "human_approval", json!({"path": "/etc/x"})),
            recorded("4", "fs.write", "human_approval", json!({"path": "/srv/y"})),
            recorded("5", "shell", "allow", json!({})),
            recorded("6", "fs.read", "rate_limited", json!({})),
            recorded("7", "fs.read", "stopped", json!({})),
        ];
        let new = policies(&[
            ("fs.read", Verdict::Allow, None),
            (
                "fs.write",
                Verdict::Supervisor,
                Some("params.path WITHIN \"/srv\""),
            ),
            ("fs.write", Verdict::HumanApproval, None),
        ]);
        let replayed = replay(&decisions, &new);
        assert_eq!((replayed.decisions, replayed.skipped), (5, 2));
        let changed: Vec<_> = replayed
            .changed
            .iter()
            .map(|change| (&*change.trace_id, &*change.old, &*change.new))
            .collect();
        let expected = [
            ("2", "human_approval", "supervisor"),
            ("4", "human_approval", "supervisor"),
            ("5", "allow", "deny"),
        ];
        assert_eq!(changed, expected);
        let count = |old: &str, new: &str, decisions| Count {
            old: old.into(),
            new: new.into(),
            decisions,
        };
        assert_eq!(
            replayed.counts,
            [
                count("human_approval", "supervisor", 2),
                count("allow", "deny", 1)
            ]
        );
        assert_eq!(replayed.changed[2].rule, "default");
    }
}
