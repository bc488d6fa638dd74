//! `provost runs show` and `provost runs changes`: one run in detail.

use provost_core::time::Time;
use serde_json::Value;

use super::{
    super::view::{items, moment_near},
    resolve, some_text, text,
};
use crate::{
    client::{Client, Target},
    context::Context,
    exit::Exit,
    output::{self, Color, counted},
    table::{Fields, Table},
};

/// What did not go as wanted, and why.
fn failure(value: &Value) -> Option<String> {
    let error = value.get("error")?;
    let (reason, message) = (some_text(error, "reason")?, text(error, "message"));
    Some(format!("{reason}: {message}"))
}

pub(super) async fn run(context: &Context, client: &Client, id: &str) -> anyhow::Result<Exit> {
    let id = resolve(client, id).await?;
    let run = client.get(Target::new("/v1/runs").step(&id)).await?.body;
    if context.json() {
        output::json(&run)?;
        return Ok(Exit::Ok);
    }
    output::line(detail(&run))?;
    let prompts = items(run.get("prompts").unwrap_or(&Value::Null));
    if prompts.len() > 1 {
        output::line("")?;
        output::line(prompts_table(prompts, context.now()))?;
    }
    Ok(Exit::Ok)
}

fn detail(run: &Value) -> Fields {
    const TEXTS: [(&str, &str); 11] = [
        ("run", "id"),
        ("state", "state"),
        ("agent", "agent"),
        ("folder", "repoDir"),
        ("session", "session"),
        ("agent's session", "sessionId"),
        ("task", "taskId"),
        ("started by", "createdBy"),
        ("created", "createdAt"),
        ("ended", "endedAt"),
        ("stop reason", "stopReason"),
    ];
    let mut fields = Fields::default();
    for (shown, name) in TEXTS {
        fields.add_some(shown, some_text(run, name));
    }
    fields.add_some("error", failure(run));
    let warnings = items(run.get("warnings").unwrap_or(&Value::Null));
    for warning in warnings.iter().filter_map(Value::as_str) {
        fields.add("warning", warning);
    }
    fields.add_some("cancelled by", some_text(run, "cancelledBy"));
    if let Some(spent) = run.get("spent") {
        let count = |name: &str| spent.get(name).and_then(Value::as_u64).unwrap_or_default();
        let spent = [
            counted(count("turns"), "turn"),
            counted(count("toolCalls"), "tool call"),
            counted(count("tokens"), "token"),
        ];
        fields.add("spent", spent.join(", "));
    }
    fields.add("prompt", text(run, "prompt"));
    fields.add_some("answer", some_text(run, "answer").map(str::trim_end));
    fields
}

fn prompts_table(prompts: &[Value], now: Time) -> Table {
    let mut table = Table::new(["id", "state", "time", "prompt"]).below("prompt");
    for prompt in prompts {
        let time = some_text(prompt, "startedAt").map(|at| moment_near(at, now));
        table.row([
            text(prompt, "promptId"),
            text(prompt, "state"),
            &time.unwrap_or_default(),
            text(prompt, "prompt"),
        ]);
    }
    table
}

pub(super) async fn changes(context: &Context, client: &Client, id: &str) -> anyhow::Result<Exit> {
    let id = resolve(client, id).await?;
    let target = Target::new("/v1/runs").step(&id).step("changes");
    let changes = client.get(target).await?.having(&["files"])?;
    if context.json() {
        output::json(&changes)?;
        return Ok(Exit::Ok);
    }
    let files = items(changes.get("files").unwrap_or(&Value::Null));
    if files.is_empty() {
        output::note("nothing changed");
    }
    for file in files {
        let count = |name: &str| file.get(name).and_then(Value::as_u64).unwrap_or_default();
        let head = format!(
            "{} {} +{} -{}",
            text(file, "change"),
            output::safe(text(file, "path")),
            count("added"),
            count("removed")
        );
        output::line(output::paint(&head, Color::Bold))?;
        let diff = some_text(file, "diff").or_else(|| some_text(file, "why"));
        for line in diff.unwrap_or_default().lines() {
            let color = match line.as_bytes().first() {
                Some(b'+') => Some(Color::Green),
                Some(b'-') => Some(Color::Red),
                _ => None,
            };
            let line = output::safe(line);
            match color {
                Some(color) => output::line(output::paint(&line, color))?,
                None => output::line(line)?,
            }
        }
    }
    let left_out = items(changes.get("left_out").unwrap_or(&Value::Null));
    for what in left_out.iter().filter_map(Value::as_str) {
        output::note(format_args!("not looked at: {}", output::safe(what)));
    }
    Ok(Exit::Ok)
}
