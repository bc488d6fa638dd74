//! `provost check`: every problem of a configuration, with its place and help. Where a gateway runs on
//! its data folder, the grants in force are held against the rules too.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use provost_core::{grant::Grant, policy::PolicySet};
use serde_json::{Value, json};

use crate::{
    client::Target,
    config::{self, Problem, Unset},
    context::Context,
    exit::Exit,
    output,
};

const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  provost check
  provost check new.yaml && cp new.yaml provost.yaml
  provost check --strict                    where the gateway will run, with its secrets
  provost check --json | jq '.problems[].message'")]
pub(crate) struct Args {
    /// The file to check [default: the one that `provost serve` would use]
    file: Option<PathBuf>,
    /// Make unset secrets (`env:`, `file:`) errors, as for `provost serve`
    #[arg(long)]
    strict: bool,
}

pub(super) async fn run(context: &Context, args: Args) -> anyhow::Result<Exit> {
    let Some(path) = args.file.or_else(|| context.config_file()) else {
        if context.json() {
            output::json(&config::to_json(&[]))?;
        } else {
            output::line(
                "there is no configuration file: the embedded defaults are used, and everything asks a human",
            )?;
        }
        return Ok(Exit::Ok);
    };
    let unset = if args.strict {
        Unset::Error
    } else {
        Unset::Warning
    };
    let mut loaded = config::load_to_check(&path, unset);
    let mut grants = Vec::new();
    if let (Some(config), Some(policies)) = (loaded.config.clone(), loaded.policy_set()) {
        let data = context.global.data.clone().unwrap_or(config.data);
        grants = wide_grants(context, &data, &policies).await;
    }
    let ok = !loaded.has_errors();
    if context.json() {
        output::json(&as_json(&loaded.problems, &grants))?;
        return Ok(Exit::yes_or_no(ok));
    }
    if !loaded.problems.is_empty() {
        output::line(config::render(&loaded.problems, output::is_colored()).trim_end())?;
    }
    for (message, help) in &grants {
        output::line(format_args!(
            "warning: {}\n  help: {help}",
            output::safe(message)
        ))?;
    }
    output::line(summary(
        &path.display().to_string(),
        &loaded.problems,
        grants.len(),
    ))?;
    Ok(Exit::yes_or_no(ok))
}

/// Message and help of each. A gateway that is not there, or does not let us in, has no say.
async fn wide_grants(
    context: &Context,
    data: &Path,
    policies: &PolicySet,
) -> Vec<(String, String)> {
    let Some(client) = context.client_of_folder(data) else {
        return Vec::new();
    };
    let Ok(answer) = client.patient(PATIENCE).get(Target::new("/grants")).await else {
        return Vec::new();
    };
    let grants: Vec<Grant> = serde_json::from_value(answer.body).unwrap_or_default();
    policies
        .lint_grants(&grants)
        .into_iter()
        .map(|lint| (lint.message, lint.help))
        .collect()
}

fn as_json(problems: &[Problem], grants: &[(String, String)]) -> Value {
    let mut value = config::to_json(problems);
    let grants: Vec<_> = grants
        .iter()
        .map(|(message, help)| json!({"message": message, "help": help}))
        .collect();
    if let Some(value) = value.as_object_mut() {
        value.insert("grants".into(), grants.into());
    }
    value
}

fn summary(file: &str, problems: &[Problem], wide_grants: usize) -> String {
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let warnings = problems.len() - errors + wide_grants;
    let many = |number: usize, word: &str| {
        format!("{number} {word}{}", if number == 1 { "" } else { "s" })
    };
    match (errors, warnings) {
        (0, 0) => format!("{file}: ok"),
        (0, _) => format!("{file}: ok, with {}", many(warnings, "warning")),
        _ => format!(
            "{file}: {}, {}",
            many(errors, "error"),
            many(warnings, "warning")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_how_it_stands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("provost.yaml");
        std::fs::write(&path, "polices: []\nlisten: nowhere\n").unwrap();
        let problems = config::load(&path).problems;
        assert_eq!(summary("f", &problems, 0), "f: 2 errors, 0 warnings");
        assert_eq!(summary("f", &[], 1), "f: ok, with 1 warning");
        assert_eq!(summary("f", &[], 0), "f: ok");
    }
}
