//! The words for what deserves a closer look.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Characters that are not seen, or that change the order in which others are seen.
    HiddenCharacters,
    /// Deletes recursively, by force, or whatever it is handed.
    Deletes,
    /// Throws away uncommitted work.
    DiscardsChanges,
    ForcesPush,
    RaisesPrivilege,
    ChangesPermissions,
    WritesDisk,
    /// Shell profiles, keys, schedules, the system's own folders, and what build tools, CI and agents obey.
    WritesSensitive,
    /// Outside the project, or where that cannot be told.
    WritesOutside,
    /// An interpreter runs what it reads from its input.
    PipesToShell,
    /// Runs a text as a program: `sh -c`, `eval`, `python -c`.
    RunsText,
    Downloads,
    Uploads,
    /// Talks to another machine in either direction.
    Network,
    InstallsPackages,
    KillsProcesses,
    /// The agent asks, and does not say with which arguments: nobody knows what would run.
    ArgumentsNotTold,
    /// A secret is masked wherever the call is shown: nobody sees all of it.
    HidesSecret,
    /// It could not be read in full, or says only when it runs what it does. A word of a later version is
    /// read as this one.
    #[serde(other)]
    Unreadable,
}

impl Risk {
    pub const ALL: [Self; 19] = [
        Self::HiddenCharacters,
        Self::Deletes,
        Self::DiscardsChanges,
        Self::ForcesPush,
        Self::RaisesPrivilege,
        Self::ChangesPermissions,
        Self::WritesDisk,
        Self::WritesSensitive,
        Self::WritesOutside,
        Self::PipesToShell,
        Self::RunsText,
        Self::Downloads,
        Self::Uploads,
        Self::Network,
        Self::InstallsPackages,
        Self::KillsProcesses,
        Self::ArgumentsNotTold,
        Self::HidesSecret,
        Self::Unreadable,
    ];

    /// The word for it in rules and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::HiddenCharacters => "hidden_characters",
            Self::Deletes => "deletes",
            Self::DiscardsChanges => "discards_changes",
            Self::ForcesPush => "forces_push",
            Self::RaisesPrivilege => "raises_privilege",
            Self::ChangesPermissions => "changes_permissions",
            Self::WritesDisk => "writes_disk",
            Self::WritesSensitive => "writes_sensitive",
            Self::WritesOutside => "writes_outside",
            Self::PipesToShell => "pipes_to_shell",
            Self::RunsText => "runs_text",
            Self::Downloads => "downloads",
            Self::Uploads => "uploads",
            Self::Network => "network",
            Self::InstallsPackages => "installs_packages",
            Self::KillsProcesses => "kills_processes",
            Self::ArgumentsNotTold => "arguments_not_told",
            Self::HidesSecret => "hides_secret",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Risk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HiddenCharacters => "hidden characters",
            Self::Deletes => "deletes",
            Self::DiscardsChanges => "discards changes",
            Self::ForcesPush => "forces a push",
            Self::RaisesPrivilege => "raises its privileges",
            Self::ChangesPermissions => "changes permissions",
            Self::WritesDisk => "writes to a disk",
            Self::WritesSensitive => "writes where it is sensitive",
            Self::WritesOutside => "writes outside the project",
            Self::PipesToShell => "pipes into a shell",
            Self::RunsText => "runs a text as a program",
            Self::Downloads => "downloads",
            Self::Uploads => "uploads",
            Self::Network => "uses the network",
            Self::InstallsPackages => "installs packages",
            Self::KillsProcesses => "kills processes",
            Self::ArgumentsNotTold => "the agent does not tell the arguments",
            Self::HidesSecret => "hides a secret",
            Self::Unreadable => "could not be read in full",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p19_rules_and_json_call_a_risk_the_same() {
        for risk in Risk::ALL {
            assert_eq!(serde_json::json!(risk), risk.name());
        }
    }
}
