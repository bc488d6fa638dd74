//! The launcher: a process that confines itself and then becomes the command.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use serde_json::json;

use super::{Refused, Spec, confine};

/// The subcommand of the executable that calls [`launch`].
pub const SUBCOMMAND: &str = "run-confined";

/// The command line that has `exe` confine itself to `spec` and become `argv`.
pub fn command(
    exe: &Path,
    spec: &Spec,
    argv: &[impl AsRef<OsStr>],
) -> Result<tokio::process::Command, Refused> {
    if argv.is_empty() {
        return Err(Refused::Nothing);
    }
    let mut command = launcher(exe, spec)?;
    command.arg("--").args(argv);
    Ok(command)
}

/// The command line that has `exe` confine itself to `spec` and end.
pub(super) fn launcher(exe: &Path, spec: &Spec) -> Result<tokio::process::Command, Refused> {
    let mut command = tokio::process::Command::new(exe);
    command.arg(SUBCOMMAND).arg(serde_json::to_string(spec)?);
    Ok(command)
}

/// Confines this process and becomes the command; returns only if that fails, or if there is no command. To be
/// called before any other thread is started: the others would stay free until the command takes over.
pub fn launch(spec: &Spec, argv: &[OsString]) -> Result<(), Refused> {
    // Opened now: it may well be out of reach afterwards.
    let mut report = Report::open(spec)?;
    let enforced = confine(spec).inspect_err(|refused| report.refused(refused))?;
    report.line(&serde_json::to_string(&enforced)?)?;
    let Some((program, args)) = argv.split_first() else {
        return Ok(());
    };
    Err(Refused::Exec {
        command: program.display().to_string(),
        source: std::process::Command::new(program).args(args).exec(),
    })
}

struct Report<'a> {
    spec: &'a Spec,
    file: Option<File>,
}

impl<'a> Report<'a> {
    fn open(spec: &'a Spec) -> Result<Self, Refused> {
        let file = spec.report.as_ref().map(|path| {
            let mut options = File::options();
            options.create(true).write(true).truncate(true).mode(0o600);
            options.open(path)
        });
        let file = file.transpose().map_err(|source| said(spec, source))?;
        Ok(Self { spec, file })
    }

    fn line(&mut self, line: &str) -> Result<(), Refused> {
        match &mut self.file {
            Some(file) => writeln!(file, "{line}").map_err(|source| said(self.spec, source)),
            None => Ok(()),
        }
    }

    /// The refusal itself is what the caller is told; a report that fails on top of it changes nothing.
    fn refused(&mut self, refused: &Refused) {
        let line = json!({ "enforced": "none", "refused": refused.to_string() });
        drop(self.line(&line.to_string()));
    }
}

fn said(spec: &Spec, source: std::io::Error) -> Refused {
    Refused::Report {
        path: spec.report.clone().unwrap_or_default(),
        source,
    }
}
