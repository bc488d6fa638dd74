//! `provost policy explain`: every rule that was looked at for one call, and what decided.

use std::{fs, path::PathBuf};

use provost_core::call::Call;
use provost_runner::json_error;
use serde_json::{Map, Value};

use crate::{
    context::Context,
    exit::{Exit, usage},
    output,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent that calls
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// The tool that it calls
    #[arg(long, value_name = "NAME")]
    tool: String,
    /// The session of the call
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The arguments, a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "params_file")]
    params: Option<String>,
    /// A file with the arguments
    #[arg(long, value_name = "FILE")]
    params_file: Option<PathBuf>,
}

impl Args {
    fn params(&self) -> anyhow::Result<Map<String, Value>> {
        let text = match (&self.params, &self.params_file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => fs::read_to_string(path)
                .map_err(|error| usage(format!("cannot read `{}`: {error}", path.display())))?,
            (None, None) => return Ok(Map::new()),
        };
        serde_json::from_str(&text).map_err(|error| {
            let why = json_error::told(&error);
            usage(format!("the arguments are not a JSON object: {why}"))
        })
    }
}

pub(super) fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let params = args.params()?;
    let call = Call {
        agent: args.agent.into(),
        session: args.session.map(Into::into),
        tool: args.tool.into(),
        params,
    };
    let explained = context.policies()?.explain(&call, context.now());
    if context.json() {
        output::json(&explained)?;
    } else {
        output::line(output::safe_lines(&explained.to_string()))?;
    }
    Ok(Exit::Ok)
}
