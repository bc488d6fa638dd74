//! CLI tools: a program and its subcommands. There is never a shell.
//!
//! `arguments` turns a call into a checked argument list, `process` runs it within bounds.

mod arguments;
mod locate;
mod process;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use async_trait::async_trait;
use provost_core::{
    gate::Permit,
    ports::{Backend, ForwardError, Forwarded, ToolInfo},
};
use serde_json::{Map, Value, json};

use self::{arguments::Invocation, locate::locate, process::Program};
use super::BackendError;
use crate::{secret::Secret, web::Outlets};

/// The tool that runs any subcommand of a program, named in its argument `command`.
pub(super) const DISPATCH: &str = "__dispatch";
pub(super) const COMMAND: &str = "command";
/// The tool of a program without subcommands.
const BARE: &str = "run";
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, Default)]
pub struct CliToolConfig {
    pub name: String,
    /// A path, or a name looked up in `PATH`.
    pub bin: String,
    /// What policy does with its commands; it is not used here.
    pub default_action: Option<String>,
    /// Only declared commands run.
    pub strict: bool,
    pub working_dir: Option<PathBuf>,
    pub env: BTreeMap<String, Secret>,
    pub commands: BTreeMap<String, CliCommandConfig>,
    /// For a program without subcommands.
    pub bare: Option<CliCommandConfig>,
}

#[derive(Clone, Debug, Default)]
pub struct CliCommandConfig {
    /// The flags that may be given; any, when absent.
    pub allowed_args: Option<Vec<String>>,
    /// The flags whose value may be a list, which repeats the flag for each item: `--label`, `-s`.
    pub list_args: Vec<String>,
    /// The flags whose value is a word of its own: `-n`, or `--indent` of a program that knows no `--indent=2`.
    pub value_args: Vec<String>,
    pub timeout: Option<Duration>,
}

pub(super) struct CliTool {
    config: CliToolConfig,
    /// Looked up again at each call while it is not there.
    bin: Option<PathBuf>,
    outlets: Outlets,
}

/// How a name of this tool is to be run.
struct Resolved<'t> {
    /// The subcommand; none for a bare program.
    command: Option<&'t str>,
    settings: &'t CliCommandConfig,
    /// It was named by an argument of the dispatcher.
    dispatched: bool,
}

impl CliTool {
    /// A tool whose program is missing is built all the same, with a warning.
    pub(super) fn build(
        config: CliToolConfig,
        outlets: &Outlets,
    ) -> (Option<Self>, Vec<BackendError>) {
        let problems = check(&config);
        if !problems.is_empty() {
            let fatal = |problem| BackendError::fatal(&config.name, problem);
            return (None, problems.into_iter().map(fatal).collect());
        }
        let bin = locate(&config.bin, &config.env);
        let warning = match bin {
            Some(_) => Vec::new(),
            None => vec![BackendError::warning(&config.name, missing(&config.bin))],
        };
        let outlets = outlets.clone();
        let tool = Self {
            config,
            bin,
            outlets,
        };
        (Some(tool), warning)
    }

    async fn execute(
        &self,
        tool: &str,
        params: &Map<String, Value>,
    ) -> Result<Forwarded, ForwardError> {
        let resolved = self.resolve(tool, params)?;
        let Invocation { args, stdin } = arguments::read(params, &resolved)?;
        let bin = self
            .bin
            .clone()
            .or_else(|| locate(&self.config.bin, &self.config.env));
        let bin = bin.ok_or_else(|| ForwardError::Unreachable(missing(&self.config.bin)))?;
        let program = Program {
            bin: &bin,
            working_dir: self.config.working_dir.as_deref(),
            env: &self.config.env,
            timeout: resolved.settings.timeout.unwrap_or(DEFAULT_TIMEOUT),
        };
        let _files = self.outlets.program(program.latest_start()).await?;
        program
            .run(
                resolved
                    .command
                    .into_iter()
                    .chain(args.iter().map(String::as_str)),
                stdin,
            )
            .await
    }

    /// What a tool's name runs. A declared command is never run through the dispatcher: policy would
    /// have judged it under a name that is not its own, and its allowed arguments would not hold.
    fn resolve<'t>(
        &'t self,
        tool: &'t str,
        params: &'t Map<String, Value>,
    ) -> Result<Resolved<'t>, ForwardError> {
        let unknown = || {
            ForwardError::Arguments(format!(
                "`{}` has no command of that name",
                self.config.name
            ))
        };
        let name = self.command_of(tool).ok_or_else(unknown)?;
        if let Some(settings) = &self.config.bare {
            return if name == BARE {
                Ok(Resolved {
                    command: None,
                    settings,
                    dispatched: false,
                })
            } else {
                Err(unknown())
            };
        }
        if name != DISPATCH {
            return self.subcommand(name).ok_or_else(unknown);
        }
        let Some(Value::String(command)) = params.get(COMMAND).filter(|_| !self.config.strict)
        else {
            return Err(ForwardError::Arguments(
                "missing `command`, which names the subcommand as text".into(),
            ));
        };
        if self.config.commands.contains_key(command) {
            let message = format!(
                "command `{command}` has a tool of its own: call `{}.{command}`",
                self.config.name
            );
            return Err(ForwardError::Arguments(message));
        }
        self.subcommand(command)
            .filter(|resolved| resolved.command != Some(DISPATCH))
            .map(|resolved| Resolved {
                dispatched: true,
                ..resolved
            })
            .ok_or_else(|| ForwardError::Arguments(format!("`{command}` cannot be a subcommand")))
    }

    fn subcommand<'t>(&'t self, name: &'t str) -> Option<Resolved<'t>> {
        const UNDECLARED: &CliCommandConfig = &CliCommandConfig {
            allowed_args: None,
            list_args: Vec::new(),
            value_args: Vec::new(),
            timeout: None,
        };
        let declared = self.config.commands.get(name);
        let settings = declared
            .or_else(|| (!self.config.strict && is_subcommand(name)).then_some(UNDECLARED))?;
        Some(Resolved {
            command: Some(name),
            settings,
            dispatched: false,
        })
    }

    fn command_of<'t>(&self, tool: &'t str) -> Option<&'t str> {
        tool.strip_prefix(self.config.name.as_str())?
            .strip_prefix('.')
    }

    fn info(&self, command: &str, description: String) -> ToolInfo {
        ToolInfo {
            name: format!("{}.{command}", self.config.name),
            description,
            source: "cli",
            input_schema: input_schema(command == DISPATCH),
        }
    }
}

#[async_trait]
impl Backend for CliTool {
    fn tools(&self) -> Vec<ToolInfo> {
        let bin = &self.config.bin;
        if self.config.bare.is_some() {
            return vec![self.info(BARE, format!("Run {bin}"))];
        }
        let declared = self.config.commands.keys();
        let mut tools: Vec<_> = declared
            .map(|command| self.info(command, format!("Run {bin} {command}")))
            .collect();
        if !self.config.strict {
            tools.push(self.info(DISPATCH, format!("Run {bin} <command> (any subcommand)")));
        }
        tools
    }

    fn has(&self, tool: &str) -> bool {
        match self.command_of(tool) {
            Some(BARE) if self.config.bare.is_some() => true,
            Some(name) => self.config.bare.is_none() && self.subcommand(name).is_some(),
            None => false,
        }
    }

    fn check(&self, tool: &str, arguments: &Value) -> Result<(), String> {
        let arguments = arguments.as_object().ok_or("arguments are an object")?;
        self.resolve(tool, arguments)
            .and_then(|resolved| arguments::read(arguments, &resolved).map(|_| ()))
            .map_err(|error| error.to_string())
    }

    async fn forward(&self, permit: &Permit) -> Result<Forwarded, ForwardError> {
        self.execute(&permit.call().tool, &permit.call().params)
            .await
    }
}

fn check(config: &CliToolConfig) -> Vec<String> {
    let mut problems = Vec::new();
    if config.name.is_empty() {
        problems.push("the tool has no name".to_owned());
    }
    if config.bin.is_empty() {
        problems.push("`bin` is empty".to_owned());
    }
    if config.strict && config.commands.is_empty() {
        problems.push("`strict` without any `commands` leaves nothing to run".to_owned());
    }
    if config.bare.is_some() && (config.strict || !config.commands.is_empty()) {
        problems.push("`bare` excludes `commands` and `strict`".to_owned());
    }
    for command in config
        .commands
        .keys()
        .filter(|command| !may_be_declared(command))
    {
        problems.push(format!("`{command}` cannot be a subcommand"));
    }
    if let Some(dir) = config.working_dir.as_deref().filter(|dir| !dir.is_dir()) {
        problems.push(format!(
            "the working directory `{}` does not exist",
            dir.display()
        ));
    }
    for name in config
        .env
        .iter()
        .filter(|(name, value)| !is_variable(name, value))
        .map(|(name, _)| name)
    {
        problems.push(format!("`{name}` cannot be set in the environment"));
    }
    problems
}

/// What an agent may ask for undeclared. A leading dash would make a flag of it.
fn is_subcommand(name: &str) -> bool {
    !name.starts_with('-')
        && !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn may_be_declared(name: &str) -> bool {
    let printable = !name
        .chars()
        .any(|letter| letter.is_control() || letter.is_whitespace());
    printable && !name.is_empty() && !name.starts_with('-') && name != DISPATCH
}

fn is_variable(name: &str, value: &Secret) -> bool {
    !name.is_empty() && !name.contains(['=', '\0']) && !value.expose().contains('\0')
}

fn missing(bin: &str) -> String {
    let place = if Path::new(bin).components().count() > 1 {
        ""
    } else {
        " in PATH"
    };
    format!("the program `{bin}` is not there{place}, or cannot be executed")
}

fn input_schema(dispatches: bool) -> Value {
    let text = json!({"type": ["string", "number"]});
    let flag = json!({"type": ["string", "number", "boolean", "array"], "items": text});
    let mut schema = json!({
        "type": "object",
        "properties": {
            "args": {"type": "array", "items": text, "description": "Arguments, passed as they are"},
            "flags": {
                "type": "object",
                "additionalProperties": flag,
                "description": "Named flags: `name` with a value becomes --name=value; true is the flag alone, false leaves it out; a list only for flags that take several values. A one-letter flag takes a value only where the tool is configured so: otherwise write both in `args`",
            },
            "stdin": {"type": "string", "description": "Text for the standard input"},
        },
        "additionalProperties": false,
    });
    if dispatches && let Some(schema) = schema.as_object_mut() {
        schema.insert("required".into(), json!([COMMAND]));
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.insert(
                COMMAND.into(),
                json!({"type": "string", "description": "The subcommand to run"}),
            );
        }
    }
    schema
}

#[cfg(test)]
mod tests;
