//! `provost runs prompt` and `provost runs answer`: what a session is asked, and what it answers.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::{super::view::items, resolve, some_text, text};
use crate::{
    client::{Client, Target},
    context::Context,
    exit::{Exit, usage},
    output,
};

/// Between two looks at a prompt that is waited for.
const LOOK: Duration = Duration::from_millis(500);
/// The gateway takes no longer ones.
const LONGEST: u64 = 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The id of the run, or `last`
    id: String,
    /// The prompt; `-` reads it from the input
    #[arg(required_unless_present = "prompt_file")]
    prompt: Option<String>,
    /// A file with the prompt, or with what follows it; `-` is the input
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
    /// The agent's mode from now on: one in which it asks
    #[arg(long, value_name = "ID")]
    mode: Option<String>,
    /// The model from now on, as the agent calls it
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// An option of the agent, as NAME=VALUE
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    options: Vec<(String, String)>,
    /// Wait for the answer, and print it
    #[arg(long)]
    wait: bool,
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "it is NAME=VALUE".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}

pub(super) async fn run(context: &Context, client: &Client, args: Args) -> anyhow::Result<Exit> {
    let prompt = match (args.prompt, args.prompt_file) {
        (Some(prompt), None) if prompt == "-" => read(Path::new("-"))?,
        (Some(prompt), None) => prompt,
        (Some(prompt), Some(file)) => format!("{prompt}\n\n{}", read(&file)?),
        (None, Some(file)) => read(&file)?,
        (None, None) => return Err(usage("the prompt is missing")),
    };
    let id = resolve(client, &args.id).await?;
    let mut body = json!({ "prompt": prompt });
    if let Some(fields) = body.as_object_mut() {
        let given = [("mode", args.mode), ("modelId", args.model)];
        let given = given
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        fields.extend(given.map(|(name, value)| (name.to_owned(), value.into())));
        if !args.options.is_empty() {
            let options = args.options.into_iter();
            let options: Map<_, _> = options.map(|(name, value)| (name, value.into())).collect();
            fields.insert("options".to_owned(), options.into());
        }
    }
    let target = Target::new("/v1/runs").step(&id).step("prompts");
    let sent = client
        .post(target, &body)
        .await?
        .having(&["promptId", "state"])?;
    let prompt = text(&sent, "promptId");
    if args.wait {
        return answer(context, client, &id, Some(prompt), true).await;
    }
    if context.json() {
        output::json(&sent)?;
    } else {
        output::line(output::safe(prompt))?;
    }
    Ok(Exit::Ok)
}

/// The answer to one prompt, or the last one.
pub(super) async fn answer(
    context: &Context,
    client: &Client,
    id: &str,
    prompt: Option<&str>,
    wait: bool,
) -> anyhow::Result<Exit> {
    let found = loop {
        let found = find(client, id, prompt).await?;
        let state = text(&found, "state");
        if !wait || ["done", "failed", "cancelled"].contains(&state) {
            break found;
        }
        tokio::time::sleep(LOOK).await;
    };
    if context.json() {
        output::json(&found)?;
    } else if let Some(answer) = some_text(&found, "answer") {
        output::line(output::safe_lines(answer.trim_end()))?;
    }
    let state = text(&found, "state");
    let why = found
        .get("error")
        .and_then(|error| some_text(error, "message"));
    match (state, why) {
        ("done", _) if some_text(&found, "answer").is_some() => return Ok(Exit::Ok),
        ("done", _) => output::note("the agent said nothing"),
        (state, Some(why)) => {
            output::note(format_args!("{state}: {}", output::safe_lines(why)));
        }
        (state, None) => output::note(format_args!(
            "there is no answer: the prompt is {}",
            output::safe(state)
        )),
    }
    Ok(Exit::No)
}

/// The prompt that is named, or the last one.
async fn find(client: &Client, id: &str, prompt: Option<&str>) -> anyhow::Result<Value> {
    let target = Target::new("/v1/runs").step(id).step("prompts");
    let prompts = client.get(target).await?.having(&["prompts"])?;
    let prompts = items(prompts.get("prompts").unwrap_or(&Value::Null));
    let found = match prompt {
        Some(prompt) => prompts.iter().find(|one| text(one, "promptId") == prompt),
        None => prompts.last(),
    };
    found.cloned().ok_or_else(|| match prompt {
        Some(prompt) => usage(format!("this run has no prompt `{prompt}`")),
        None => anyhow::anyhow!("nothing is known of the prompts of this run"),
    })
}

/// `-` is the input.
fn read(file: &Path) -> anyhow::Result<String> {
    let from: Box<dyn io::Read> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let opened = File::open(file);
        Box::new(opened.with_context(|| format!("`{}` cannot be read", file.display()))?)
    };
    let mut text = String::new();
    let size = from.take(LONGEST + 1).read_to_string(&mut text);
    let size = size.context("the prompt cannot be read as text")?;
    if size as u64 > LONGEST || text.trim().is_empty() {
        return Err(usage(format!(
            "the prompt is a text of 1 to {LONGEST} bytes"
        )));
    }
    Ok(text)
}
