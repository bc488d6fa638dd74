//! `provost policy test`: a file of cases against the policy. Failing ones are explained.

use std::{fs, path::PathBuf};

use serde_json::json;

use super::cases::{Judged, judge, read};
use crate::{
    context::Context,
    exit::{Exit, usage},
    output::{self, Color},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The cases, in YAML
    file: PathBuf,
}

pub(super) fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let file = args.file.display();
    let text = fs::read_to_string(&args.file)
        .map_err(|error| usage(format!("cannot read `{file}`: {error}")))?;
    let cases = read(&text).map_err(|problems| {
        usage(format!(
            "`{file}` cannot be used:\n  {}",
            problems.join("\n  ")
        ))
    })?;
    let policies = context.policies()?;
    let now = context.now();
    let judged: Vec<_> = cases
        .into_iter()
        .map(|case| judge(case, &policies, now))
        .collect();
    let failed = judged.iter().filter(|judged| !judged.passed).count();
    if context.json() {
        output::json(&json!({"passed": judged.len() - failed, "failed": failed, "cases": judged}))?;
    } else {
        print(&judged, failed)?;
    }
    Ok(Exit::yes_or_no(failed == 0))
}

fn print(judged: &[Judged], failed: usize) -> anyhow::Result<()> {
    for case in judged {
        let Some(problem) = &case.problem else {
            continue;
        };
        let mark = output::paint("failed", Color::Red);
        output::line(format_args!(
            "{mark} {}: {}",
            output::safe(&case.name),
            output::safe(problem)
        ))?;
        for line in case.explained.to_string().lines() {
            output::line(format_args!("    {}", output::safe(line)))?;
        }
    }
    output::line(format_args!(
        "{} passed, {failed} failed",
        judged.len() - failed
    ))?;
    Ok(())
}
