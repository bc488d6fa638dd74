//! Conditions on arguments that none of a rule's tools has: `params.cmd` of Claude Code's `Bash`.

use provost_abl::expr::{ExprKind, Step, parse};
use provost_core::policy::Rule;
use provost_gateway::hooks::{AgentTool, Dialect};

use super::super::{policies::RulePlace, reader::Reader};

impl Reader<'_> {
    pub(super) fn lint_arguments(&mut self, rule: &Rule, place: &RulePlace) {
        let Some(tools) = known_tools(&rule.tools) else {
            return;
        };
        if let (Some(when), Some(node)) = (&rule.when, &place.when) {
            for (argument, part) in arguments(when) {
                if let Some((message, help)) = unknown(&argument, &tools) {
                    let span = self.within(node, part);
                    self.warn(span, message, help);
                }
            }
        }
        if let Some(condition) = &rule.condition {
            let field = condition.field.as_str();
            let field = field.strip_prefix("params.").unwrap_or(field);
            let argument = field.split(['.', '[']).next().unwrap_or(field);
            if let Some((message, help)) = unknown(argument, &tools) {
                self.warn(place.rule, message, help);
            }
        }
    }
}

/// The tools of a rule, if each of them is a tool of an agent whose arguments are known.
fn known_tools(names: &[String]) -> Option<Vec<(&str, &'static AgentTool)>> {
    names
        .iter()
        .map(|name| {
            let (prefix, tool) = name.split_once('.')?;
            let dialect = Dialect::ALL
                .into_iter()
                .find(|dialect| dialect.prefix() == prefix)?;
            let tool = dialect.tools().iter().find(|known| known.name == tool)?;
            Some((name.as_str(), tool))
        })
        .collect()
}

/// Every `params.NAME` of an expression, once each.
fn arguments(when: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let mut found: Vec<(String, _)> = Vec::new();
    let Some(expr) = parse(when).expr else {
        return found;
    };
    expr.walk(&mut |node| {
        if let ExprKind::Path { root, steps } = &node.kind
            && &**root == "params"
            && let Some(Step::Key(name)) = steps.first()
            && found.iter().all(|(known, _)| known != &**name)
        {
            found.push((name.to_string(), node.span.start..node.span.end));
        }
    });
    found
}

fn unknown(argument: &str, tools: &[(&str, &'static AgentTool)]) -> Option<(String, String)> {
    let has = |(_, tool): &(&str, &AgentTool)| tool.arguments.contains(&argument);
    let (first, tool) = tools.first()?;
    if tools.iter().any(has) {
        return None;
    }
    let of = match tools {
        [_] => format!("`{first}` has"),
        _ => "none of these tools has".to_owned(),
    };
    let (not, arguments) = match tools {
        [_] => ("no", tool.arguments.join(", ")),
        _ => ("an", String::new()),
    };
    let help = match arguments.as_str() {
        "" => "docs/agents.md lists the arguments of each".to_owned(),
        arguments => format!("its arguments are {arguments}"),
    };
    Some((format!("{of} {not} argument `{argument}`"), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p17_arguments_that_no_tool_of_a_rule_has_are_told() {
        let told = |tools: &[&str], when: &str| {
            let names: Vec<_> = tools.iter().map(|&tool| tool.to_owned()).collect();
            let tools = known_tools(&names)?;
            let arguments = arguments(when).into_iter();
            let mut told = arguments.filter_map(|(name, _)| unknown(&name, &tools));
            told.next().map(|(message, _)| message)
        };
        for (tools, when, expected) in [
            (
                &["claude.Bash"][..],
                "params.cmd MATCHES /x/",
                Some("`claude.Bash` has no argument `cmd`"),
            ),
            (
                &["claude.Read"],
                "NOT (params.path WITHIN '/srv')",
                Some("`claude.Read` has no argument `path`"),
            ),
            (
                &["claude.Read", "claude.Edit"],
                "params.path IS SET",
                Some("none of these tools has an argument `path`"),
            ),
            (&["claude.Bash", "cursor.Shell"], "params.cwd == '/'", None),
            (&["claude.Bash"], "params.command == 'ls'", None),
            (&["claude.*"], "params.cmd == 'ls'", None),
            (&["claude.Bash", "mine.run"], "params.cmd == 'ls'", None),
            (&["claude.Bash"], "command.programs == ['ls']", None),
        ] {
            assert_eq!(told(tools, when).as_deref(), expected, "{tools:?} {when}");
        }
    }
}
