//! A known agent by its short name: installed once, by the package and the version that the table of agents was
//! measured with, after somebody agreed.

use std::{
    fs,
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use provost_runner::agents::Profile;

use crate::{exit::usage, output, user_folder::user_folder};

/// The agent's program and its arguments.
pub(super) fn command(profile: &Profile, agreed: bool) -> anyhow::Result<Vec<String>> {
    let folder = folder(profile)?;
    let program = program(profile, &folder);
    if !program.exists() {
        consent(profile, &folder, agreed)?;
        install(profile, &folder)?;
    }
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(profile.arguments.iter().map(|&word| word.to_owned()));
    Ok(words)
}

fn folder(profile: &Profile) -> anyhow::Result<PathBuf> {
    let folder = user_folder().context("there is no folder to install agents in: set HOME")?;
    let name = format!("{}-{}", profile.name, profile.version);
    Ok(folder.join("agents").join(name))
}

fn program(profile: &Profile, folder: &Path) -> PathBuf {
    folder.join("node_modules/.bin").join(profile.program())
}

fn consent(profile: &Profile, folder: &Path, agreed: bool) -> anyhow::Result<()> {
    let (title, package, version) = (profile.title, profile.package, profile.version);
    let what = format!("{package}@{version} with npm into {}", folder.display());
    if agreed {
        output::note(format_args!("installing {what}"));
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        return Err(usage(format!(
            "{title} is not installed. With --yes, {what} is installed first"
        )));
    }
    output::prompt(format_args!(
        "{title} is not installed. Install {what}? [y/N] "
    ))?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(usage(format!(
        "{title} is not installed. Name a program of your own with --agent"
    )))
}

/// Beside its place first: a folder under its own name is whole.
fn install(profile: &Profile, folder: &Path) -> anyhow::Result<()> {
    let parent = folder.parent().unwrap_or(folder);
    fs::create_dir_all(parent).with_context(|| format!("`{}` cannot be made", parent.display()))?;
    let part = tempfile::Builder::new()
        .prefix("part-")
        .tempdir_in(parent)
        .with_context(|| format!("`{}` cannot be written", parent.display()))?;
    fs::write(part.path().join("package.json"), "{}\n").context("it cannot be written")?;
    let package = format!("{}@{}", profile.package, profile.version);
    let flags = ["install", "--no-audit", "--no-fund", "--include=optional"];
    let installed = Command::new("npm")
        .args(flags)
        .arg(&package)
        .current_dir(part.path())
        .stdin(Stdio::null())
        .output()
        .context("`npm` cannot be started: install Node.js, or name a program with --agent")?;
    if !installed.status.success() {
        let said = String::from_utf8_lossy(&installed.stderr).into_owned();
        anyhow::bail!(
            "npm cannot install {package}:\n{}",
            output::safe_lines(&said)
        );
    }
    // Whoever was faster installed the same.
    if fs::rename(part.path(), folder).is_ok() {
        let _ = part.keep();
    }
    if !program(profile, folder).exists() {
        anyhow::bail!("{package} has no program `{}`", profile.program());
    }
    Ok(())
}
