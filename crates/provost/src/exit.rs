//! How a command ends: the exit codes scripts rely on, and errors that choose one.

use std::{fmt, io, process::ExitCode};

use crate::{client::ClientError, output};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok = 0,
    /// The answer is no: a failed check, a denial, a broken chain.
    No = 1,
    /// Wrong use: nothing was asked.
    Usage = 2,
    /// The gateway cannot be reached.
    Unreachable = 3,
    /// Whoever is reported to does not know us.
    Unauthorized = 4,
}

impl Exit {
    pub(crate) fn yes_or_no(yes: bool) -> Self {
        if yes { Self::Ok } else { Self::No }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The command was called wrongly.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

pub(crate) fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// Tells an error on stderr, and finds the code that goes with it.
pub(crate) fn report(error: &anyhow::Error) -> Exit {
    if is_broken_pipe(error) {
        // Whoever read our output has seen enough.
        return Exit::Ok;
    }
    output::note(format_args!(
        "error: {}",
        output::safe_lines(&format!("{error:#}"))
    ));
    let client = error.downcast_ref::<ClientError>();
    if let Some(help) = client.and_then(ClientError::help) {
        output::note(format_args!("help: {}", output::safe_lines(&help)));
    }
    match client {
        Some(error) => error.exit(),
        None if error.is::<Usage>() => Exit::Usage,
        None => Exit::No,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn errors_choose_their_exit_code() {
        let broken =
            Err::<(), _>(io::Error::from(io::ErrorKind::BrokenPipe)).context("while printing");
        for (error, exit) in [
            (usage("no such shell"), Exit::Usage),
            (anyhow::anyhow!("tests failed"), Exit::No),
            (broken.unwrap_err(), Exit::Ok),
        ] {
            assert_eq!(report(&error), exit, "{error:#}");
        }
    }
}
