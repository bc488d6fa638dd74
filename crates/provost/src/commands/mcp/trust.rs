//! `provost mcp trust`: a tool that changed is shown as a diff, and accepted as it was shown.

use serde_json::{Value, json};
use similar::TextDiff;

use crate::{
    client::{Client, Target},
    commands::{
        connect::diff,
        terminal::Terminal,
        view::{items, moment, some_text, text},
    },
    context::Context,
    exit::{Exit, usage},
    output,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost mcp trust filesystem                 look at all that changed, and decide
  provost mcp trust filesystem write_file --yes")]
pub(crate) struct Args {
    /// The MCP server, as it is named in the configuration
    #[arg(value_name = "SERVER")]
    server: String,
    /// The tool [default: all that changed]
    #[arg(value_name = "TOOL")]
    tool: Option<String>,
    /// Accept without asking
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let client = context.client()?;
    let target = Target::new("/mcp-servers").step(&args.server).step("tools");
    let tools = client.get(target).await?.body;
    let wanted = args.tool.as_deref();
    let named = |tool: &&Value| {
        wanted.is_none_or(|wanted| text(tool, "tool") == wanted || text(tool, "name") == wanted)
    };
    let tools: Vec<_> = items(&tools).iter().filter(named).collect();
    if let (Some(wanted), true) = (wanted, tools.is_empty()) {
        return Err(usage(format!("`{}` has no tool `{wanted}`", args.server)));
    }
    let held = tools.iter().filter(|tool| text(tool, "state") == "held");
    let held: Vec<_> = held.copied().collect();
    if held.is_empty() {
        output::note("nothing is held: every tool is what it was when it was trusted");
    }
    let mut answers = Vec::new();
    let mut exit = Exit::Ok;
    for tool in &held {
        if !context.json() {
            show(tool)?;
        }
        if consents(context, args.yes).await? {
            answers.push(accept(&client, &args.server, tool).await?);
        } else {
            exit = Exit::No;
        }
    }
    if context.json() {
        output::json(&json!({"held": held, "trusted": answers}))?;
    } else if exit == Exit::No {
        output::note("what was not accepted stays held");
    }
    Ok(exit)
}

/// Exactly what was shown: where it has changed meanwhile, the gateway refuses.
async fn accept(client: &Client, server: &str, tool: &Value) -> anyhow::Result<Value> {
    let target = Target::new("/mcp-servers").step(server).step("trust");
    let body = json!({"tool": text(tool, "tool"), "digest": text(tool, "digest")});
    let answer = client.post(target, &body).await?.body;
    output::note(format_args!(
        "`{}` is trusted as it is now",
        output::safe(text(tool, "name"))
    ));
    Ok(answer)
}

async fn consents(context: &Context, yes: bool) -> anyhow::Result<bool> {
    if yes || context.json() {
        return Ok(yes);
    }
    let Some(mut terminal) = Terminal::open() else {
        output::note("there is nobody to ask; --yes accepts it");
        return Ok(false);
    };
    loop {
        match terminal
            .ask("trust it as it is now? [y/n] ")
            .await?
            .as_deref()
        {
            Some("y" | "Y" | "yes") => return Ok(true),
            Some("n" | "N" | "no") | None => return Ok(false),
            Some(_) => {}
        }
    }
}

fn show(tool: &Value) -> anyhow::Result<()> {
    let since = moment(text(tool, "trusted_at"));
    let by = some_text(tool, "trusted_by").unwrap_or("first seen");
    let name = text(tool, "name");
    output::line(output::safe(&format!(
        "{name} changed since it was trusted ({since}, {by})"
    )))?;
    let (before, after) = (tool.get("trusted_definition"), tool.get("definition"));
    let (before, after) = (readable(before), readable(after));
    let unified = TextDiff::from_lines(&before, &after)
        .unified_diff()
        .header("trusted", "now")
        .to_string();
    diff::show(&unified)?;
    Ok(())
}

/// A definition in lines: text as it reads, everything else as indented JSON.
fn readable(definition: Option<&Value>) -> String {
    let Some(fields) = definition.and_then(Value::as_object) else {
        return "(not readable)\n".to_owned();
    };
    let mut lines = String::new();
    for (name, value) in fields {
        lines.push_str(name);
        lines.push_str(":\n");
        let shown = match value {
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        for line in shown.split('\n') {
            lines.push_str("  ");
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_read_in_lines() {
        let definition = json!({"description": "Reads.\nNothing else.", "inputSchema": {"a": 1}});
        assert_eq!(
            readable(Some(&definition)),
            "description:\n  Reads.\n  Nothing else.\ninputSchema:\n  {\n    \"a\": 1\n  }\n"
        );
        assert_eq!(readable(None), "(not readable)\n");
    }
}
