//! Which Claude Code is installed here.

use std::{io::ErrorKind, process::Stdio, time::Duration};

use tokio::{process::Command, time::timeout};

use crate::commands::connect::plan::agent_program;

pub(in crate::commands) type Version = (u32, u32, u32);

/// The first that knows `onFailure`. Those before it go on when a hook over HTTP fails.
pub(in crate::commands) const FIRST_THAT_BLOCKS: Version = (2, 1, 295);

const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Installed {
    Version(Version),
    /// It is there, and does not say.
    Unknown,
    Missing,
}

/// What `claude` on the search path says of itself.
pub(in crate::commands) async fn installed() -> Installed {
    let Some(program) = agent_program("claude") else {
        return Installed::Missing;
    };
    let mut command = Command::new(program);
    let command = command
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    match timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => {
            let version = parse(&String::from_utf8_lossy(&output.stdout));
            version.map_or(Installed::Unknown, Installed::Version)
        }
        Ok(Err(error)) if error.kind() == ErrorKind::NotFound => Installed::Missing,
        _ => Installed::Unknown,
    }
}

/// `2.1.312 (Claude Code)`
fn parse(text: &str) -> Option<Version> {
    let mut numbers = text.split_whitespace().next()?.split('.');
    let mut number = || {
        let digits = numbers.next()?;
        let end = digits.find(|c: char| !c.is_ascii_digit());
        digits.get(..end.unwrap_or(digits.len()))?.parse().ok()
    };
    Some((number()?, number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        for (text, version, blocks) in [
            ("2.1.312 (Claude Code)\n", Some((2, 1, 312)), true),
            ("2.1.295", Some((2, 1, 295)), true),
            ("2.1.294 (Claude Code)", Some((2, 1, 294)), false),
            ("2.1.295-beta.1", Some((2, 1, 295)), true),
            ("2.10.0", Some((2, 10, 0)), true),
            ("1.9.999", Some((1, 9, 999)), false),
            ("2.1", None, false),
            ("claude", None, false),
            ("", None, false),
        ] {
            assert_eq!(parse(text), version, "{text:?}");
            assert_eq!(version >= Some(FIRST_THAT_BLOCKS), blocks, "{text:?}");
        }
    }
}
