//! Policies: inline and in files of their own. Globs and expressions are checked later, all together, by
//! compiling them; here it is noted where each of them stands.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    rc::Rc,
};

use provost_abl::expr::Number;
use provost_core::policy::{Condition, Operator, Policy, RateLimit, Rule, TEXTS, Verdict};
use serde_json::Value;

use super::{
    fields::{Field, Map},
    node::{Kind, Node, Span},
    reader::Reader,
};

/// Policies, and beside each its place.
#[derive(Default)]
pub(super) struct Policies {
    pub(super) policies: Vec<Policy>,
    pub(super) places: Vec<PolicyPlace>,
}

pub(super) struct PolicyPlace {
    pub(super) name: Span,
    pub(super) agent: Span,
    pub(super) rules: Vec<RulePlace>,
    pub(super) origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Written,
    /// From the `default_action` of a CLI tool.
    DefaultAction,
    /// Nobody wrote it: it is what holds where nothing is written.
    Implied,
}

pub(super) struct RulePlace {
    pub(super) rule: Span,
    pub(super) tools: Vec<Span>,
    /// The scalar of `when`, into which errors point.
    pub(super) when: Option<Rc<Node>>,
}

impl Policies {
    pub(super) fn push(&mut self, policy: Policy, place: PolicyPlace) {
        self.policies.push(policy);
        self.places.push(place);
    }

    pub(super) fn ask_supervisors(&self) -> bool {
        let mut rules = self.policies.iter().flat_map(|policy| &policy.rules);
        rules.any(|rule| rule.action == Verdict::Supervisor)
    }
}

impl Reader<'_> {
    /// Those of `policies`, then those of `policy_dir`.
    pub(super) fn read_policies(&mut self, top: &Map<'_>) -> Policies {
        let mut policies = Policies::default();
        if let Some(field) = top.get("policies") {
            for item in self.items(field) {
                self.read_policy(item, &mut policies);
            }
        }
        if let Some(field) = top.filled("policy_dir") {
            for path in self.policy_files(field) {
                self.read_policy_file(&path, &mut policies);
            }
        }
        policies
    }

    /// In the order of their names.
    fn policy_files(&mut self, field: Field<'_>) -> Vec<PathBuf> {
        let Some(text) = self.text(field) else {
            return Vec::new();
        };
        let folder = self.resolve(text);
        self.fingerprint.note(&folder);
        let listed = fs::read_dir(&folder)
            .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
        let mut paths: Vec<PathBuf> = match listed {
            Ok(paths) => paths,
            Err(error) => {
                // The ancestor goes on without; but rules that deny would be missing.
                let message = format!("`policy_dir` cannot be read: {error}");
                self.error(
                    field.span(),
                    message,
                    format!("make the folder `{}`", folder.display()),
                );
                return Vec::new();
            }
        };
        paths.sort();
        let extension =
            |path: &Path, wanted: &str| path.extension().is_some_and(|found| found == wanted);
        for path in paths.iter().filter(|path| extension(path, "yml")) {
            let message = format!(
                "`{}` is not read: its name does not end in `.yaml`",
                path.display()
            );
            self.warn(field.span(), message, "rename it");
        }
        paths.retain(|path| extension(path, "yaml") && !path.is_dir());
        paths
    }

    fn read_policy_file(&mut self, path: &Path, policies: &mut Policies) {
        let errors = self.error_count();
        match self.open(path) {
            Some(node) if !node.is_null() => {
                self.read_policy(Field::new("policy", &node), policies);
            }
            _ if self.error_count() > errors => {}
            _ => self.file_error(
                path,
                "the file holds no policy",
                "write one, or remove the file",
            ),
        }
    }

    fn read_policy(&mut self, item: Field<'_>, policies: &mut Policies) {
        let Some(map) = self.map(
            item,
            &["name", "agent", "rate_limit", "rules", "description"],
        ) else {
            return;
        };
        let name = self.require(&map, "name", "a policy");
        let place = name.map_or_else(|| map.head(), |name| name.node.span);
        let name = name.and_then(|field| self.name(field)).unwrap_or_default();
        let agent = map.get("agent");
        let mut written = PolicyPlace {
            name: place,
            agent: agent.map_or(place, |agent| agent.node.span),
            rules: Vec::new(),
            origin: Origin::Written,
        };
        let mut policy = Policy {
            name: name.into(),
            agent: agent
                .and_then(|field| self.text(field))
                .unwrap_or("*")
                .to_owned(),
            rate_limit: map
                .get("rate_limit")
                .and_then(|field| self.read_rate_limit(field)),
            rules: Vec::new(),
        };
        if let Some(rules) = map.get("rules") {
            for item in self.items(rules) {
                if let Some((rule, place)) = self.read_rule(item) {
                    policy.rules.push(rule);
                    written.rules.push(place);
                }
            }
        }
        if let Some(field) = map.get("description") {
            self.text(field);
        }
        policies.push(policy, written);
    }

    fn read_rate_limit(&mut self, field: Field<'_>) -> Option<RateLimit> {
        let map = self.map(field, &["max_per_minute", "max_total"])?;
        let limit = RateLimit {
            max_per_minute: self
                .limit(map.get("max_per_minute"), u64::from(u32::MAX))
                .map(|max| max as u32),
            max_total: self.limit(map.get("max_total"), i64::MAX as u64),
        };
        (limit != RateLimit::default()).then_some(limit)
    }

    fn limit(&mut self, field: Option<Field<'_>>, most: u64) -> Option<u64> {
        let field = field?;
        let max = self.number(field, 0, most)?;
        if max == 0 {
            let help = "remove it, or deny the calls with a rule";
            self.warn(
                field.span(),
                format!("`{}: 0` means no limit", field.name),
                help,
            );
        }
        (max > 0).then_some(max)
    }

    /// A rule with errors is kept all the same, so that the errors of its globs and expression are found too.
    fn read_rule(&mut self, item: Field<'_>) -> Option<(Rule, RulePlace)> {
        let map = self.map(
            item,
            &["tools", "action", "when", "condition", "description"],
        )?;
        let tools = self
            .require(&map, "tools", "a rule")
            .map(|field| (field, self.texts(field)));
        if let Some((field, _)) = tools.as_ref().filter(|(_, tools)| tools.is_empty()) {
            self.error(
                field.span(),
                "`tools` is empty: the rule matches nothing",
                "name the tools, or `*` for all",
            );
        }
        let (tools, places): (Vec<_>, Vec<_>) = tools
            .into_iter()
            .flat_map(|(_, tools)| tools)
            .map(|(tool, span)| (tool.to_owned(), span))
            .unzip();
        let verdicts = Verdict::ALL.map(|verdict| (verdict.as_str(), verdict));
        let action = self
            .require(&map, "action", "a rule")
            .and_then(|field| self.choice(field, &verdicts));
        let when = map
            .get("when")
            .and_then(|field| self.text(field).map(str::to_owned));
        let condition = map
            .get("condition")
            .and_then(|field| self.read_condition(field));
        if let Some(field) = map.get("description") {
            self.text(field);
        }
        let place = RulePlace {
            rule: map.head(),
            tools: places,
            when: map.shared("when").filter(|_| when.is_some()),
        };
        Some((
            Rule {
                tools,
                action: action.unwrap_or(Verdict::Deny),
                when,
                condition,
            },
            place,
        ))
    }

    fn read_condition(&mut self, field: Field<'_>) -> Option<Condition> {
        let map = self.map(field, &["field", "operator", "value"])?;
        let path = self
            .require(&map, "field", "a condition")
            .and_then(|field| self.read_path(field));
        let operator = self
            .require(&map, "operator", "a condition")
            .and_then(|field| self.choice(field, &Operator::ALL));
        let value = self
            .require(&map, "value", "a condition")
            .and_then(|field| self.read_value(field, operator));
        Some(Condition {
            field: path?,
            operator: operator?,
            value: value?,
        })
    }

    fn read_path(&mut self, field: Field<'_>) -> Option<String> {
        let path = self.text(field)?;
        let steps = path.strip_prefix("params.").unwrap_or(path);
        if steps == "params" || steps.split('.').any(str::is_empty) {
            let help = "write it as `params.amount` or `params.order.amount`";
            self.error(field.node.span, format!("`{path}` names no argument"), help);
            return None;
        }
        // A condition looks at arguments only: who calls, and what, is for `when`.
        let root = path.split('.').next().unwrap_or_default();
        if TEXTS.contains(&root) {
            let message =
                format!("`{path}` is no argument: a condition never sees the call's `{root}`");
            let help = format!(
                "write `when: '{root} == \"…\"'`, or `params.{path}` if the tool has such an argument"
            );
            if path.contains('.') {
                self.error(field.node.span, message, help);
                return None;
            }
            // The ancestor's tools may have an argument of that name.
            self.warn(field.node.span, message, help);
        }
        Some(path.to_owned())
    }

    fn read_value(&mut self, field: Field<'_>, operator: Option<Operator>) -> Option<Value> {
        if matches!(field.node.kind, Kind::List(_) | Kind::Map(_)) {
            self.expected(
                field,
                "a number, text, true or false",
                "for more than that, use `when`",
            );
            return None;
        }
        let value = self.json(field)?;
        let orders = operator.filter(|operator| operator.is_ordering());
        // A text that is a number says what no JSON number can, and is compared as it is written.
        let is_number = match &value {
            Value::String(text) => Number::parse(text).is_some(),
            other => other.is_number(),
        };
        if let Some(operator) = orders.filter(|_| !is_number) {
            let message = format!(
                "`{}` compares numbers, and `value` is {}",
                operator.as_str(),
                field.node.describe()
            );
            let help = "write a number, or use `==` or `!=`";
            self.error(field.node.span, message, help);
            return None;
        }
        Some(value)
    }

    pub(super) fn check_policy_names(&mut self, policies: &Policies) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for (policy, place) in policies.policies.iter().zip(&policies.places) {
            if policy.name.is_empty() {
                continue;
            }
            match seen.get(&*policy.name) {
                Some(first) => {
                    let help = format!("the other one is at {}", self.name_place(*first));
                    self.error(
                        place.name,
                        format!("there is another policy named `{}`", policy.name),
                        help,
                    );
                }
                None => {
                    seen.insert(&policy.name, place.name);
                }
            }
        }
    }
}
