//! Command line tools: a binary whose subcommands are tools, and what holds for those no rule names.

use std::{collections::BTreeMap, path::PathBuf};

use provost_core::policy::{Policy, Rule, Verdict};
use provost_gateway::backends::{CliCommandConfig, CliToolConfig};

use super::{
    fields::{Field, Map},
    node::Span,
    policies::{Origin, Policies, PolicyPlace, RulePlace},
    reader::Reader,
    tools::Names,
};

impl Reader<'_> {
    /// The tools; their `default_action`s are put last among the policies, and so are asked last.
    pub(super) fn read_cli_tools(
        &mut self,
        top: &Map<'_>,
        policies: &mut Policies,
    ) -> Vec<CliToolConfig> {
        let mut names = Names::default();
        let mut tools = Vec::new();
        let Some(field) = top.get("cli_tools") else {
            return tools;
        };
        for item in self.items(field) {
            tools.extend(self.read_cli_tool(item, &mut names, policies));
        }
        tools
    }

    fn read_cli_tool(
        &mut self,
        item: Field<'_>,
        names: &mut Names,
        policies: &mut Policies,
    ) -> Option<CliToolConfig> {
        const KEYS: [&str; 8] = [
            "name",
            "bin",
            "default_action",
            "strict",
            "working_dir",
            "env",
            "commands",
            "bare",
        ];
        let map = self.map(item, &KEYS)?;
        let name = self.require(&map, "name", "a CLI tool");
        let place = name.map_or_else(|| map.head(), |name| name.node.span);
        let name = name.and_then(|field| self.unique_name(field, names));
        let bin = self
            .require(&map, "bin", "a CLI tool")
            .and_then(|field| self.text(field));
        let strict = map
            .get("strict")
            .and_then(|field| self.boolean(field))
            .unwrap_or(false);
        let working_dir = map
            .filled("working_dir")
            .and_then(|field| self.read_folder(field));
        let env = map
            .get("env")
            .map(|field| self.secret_pairs(field))
            .unwrap_or_default();
        let commands = map
            .get("commands")
            .map(|field| self.read_commands(field))
            .unwrap_or_default();
        let bare = map.get("bare").and_then(|field| self.read_command(field));
        self.check_modes(&map, strict, commands.is_empty());
        let action = self.read_default_action(&map);
        let name = name?;
        policies.push_default(&name, action, place);
        Some(CliToolConfig {
            name,
            bin: bin?.to_owned(),
            default_action: action.map(|(verdict, _)| verdict.as_str().to_owned()),
            strict,
            working_dir,
            env: env.into_iter().collect(),
            commands,
            bare,
        })
    }

    fn read_default_action(&mut self, map: &Map<'_>) -> Option<(Verdict, Span)> {
        let field = map.filled("default_action")?;
        let verdicts = Verdict::ALL.map(|verdict| (verdict.as_str(), verdict));
        self.choice(field, &verdicts)
            .map(|verdict| (verdict, field.node.span))
    }

    fn read_folder(&mut self, field: Field<'_>) -> Option<PathBuf> {
        let text = self.text(field)?;
        let path = self.resolve(text);
        if !path.is_dir() {
            let message = format!("there is no folder `{}`", path.display());
            self.warn(
                field.node.span,
                message,
                "calls fail until it is there; paths are relative to this file's folder",
            );
        }
        Some(path)
    }

    fn read_commands(&mut self, field: Field<'_>) -> BTreeMap<String, CliCommandConfig> {
        let mut commands = BTreeMap::new();
        for (name, _, value) in self.pairs(field) {
            let command = if value.node.is_null() {
                Some(CliCommandConfig::default())
            } else {
                self.read_command(value)
            };
            commands.extend(command.map(|command| (name.to_owned(), command)));
        }
        commands
    }

    fn read_command(&mut self, field: Field<'_>) -> Option<CliCommandConfig> {
        const KEYS: [&str; 4] = ["allowed_args", "list_args", "value_args", "timeout"];
        let map = self.map(field, &KEYS)?;
        let allowed_args = map.get("allowed_args").map(|field| self.strings(field));
        let list_args = map.get("list_args").map(|field| self.strings(field));
        let value_args = map.get("value_args").map(|field| self.strings(field));
        let timeout = map.filled("timeout").and_then(|field| self.duration(field));
        Some(CliCommandConfig {
            allowed_args,
            list_args: list_args.unwrap_or_default(),
            value_args: value_args.unwrap_or_default(),
            timeout,
        })
    }

    fn check_modes(&mut self, map: &Map<'_>, strict: bool, no_commands: bool) {
        let bare = map
            .get("bare")
            .map(|field| map.key_span("bare").unwrap_or_else(|| field.span()));
        if let Some(span) = bare.filter(|_| !no_commands) {
            self.error(
                span,
                "`bare` and `commands` exclude each other",
                "a bare tool has no subcommands: remove one",
            );
        }
        if let Some(span) = bare.filter(|_| strict) {
            self.error(
                span,
                "`strict` has no meaning for a bare tool",
                "remove `strict`",
            );
        }
        if let Some(field) = map
            .get("strict")
            .filter(|_| strict && no_commands && bare.is_none())
        {
            self.error(
                field.span(),
                "`strict` allows declared commands only, and none is declared",
                "add `commands`",
            );
        }
    }
}

impl Policies {
    /// What holds for a tool's commands when no rule matches: `deny`, unless `default_action` says otherwise.
    fn push_default(&mut self, tool: &str, action: Option<(Verdict, Span)>, place: Span) {
        let policy = Policy {
            name: format!("cli_tools.{tool}").into(),
            agent: "*".to_owned(),
            rate_limit: None,
            rules: vec![Rule {
                tools: vec![format!("{}.*", escape(tool))],
                action: action.map_or(Verdict::Deny, |(verdict, _)| verdict),
                when: None,
                condition: None,
            }],
        };
        let span = action.map_or(place, |(_, span)| span);
        let origin = if action.is_some() {
            Origin::DefaultAction
        } else {
            Origin::Implied
        };
        let rules = vec![RulePlace {
            rule: span,
            tools: vec![place],
            when: None,
        }];
        self.push(
            policy,
            PolicyPlace {
                name: place,
                agent: place,
                rules,
                origin,
            },
        );
    }
}

/// A name as the glob that matches just it.
fn escape(name: &str) -> String {
    name.chars()
        .flat_map(|c| "*?[\\".contains(c).then_some('\\').into_iter().chain([c]))
        .collect()
}
