//! What an agent keeps in the home of its user: its login, its settings and its sessions, each by name. A confined
//! agent with a home of its own gets these, and nothing else of the user's.

use std::path::PathBuf;

use super::Environment;

/// A folder that agents keep their files in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    /// Names the folder.
    variable: &'static str,
    /// Where it is below the home, if no variable says so.
    usual: &'static str,
}

/// One file, or all files of one folder.
#[derive(Clone, Copy, Debug)]
pub struct HomeFile {
    base: Base,
    path: &'static str,
    pub use_of: UseOf,
}

/// What a file is for, which says what becomes of it.
#[derive(Clone, Copy, Debug)]
pub enum UseOf {
    /// Copied, and copied back once the agent renewed it.
    Login,
    /// Copied.
    Settings,
    /// Only these fields of its JSON are copied.
    Fields(&'static [&'static str]),
    /// Not copied: the agent's own sessions are kept here, for whoever resumes one.
    Sessions,
}

pub(super) const CONFIG: Base = Base::named("XDG_CONFIG_HOME", ".config");
pub(super) const DATA: Base = Base::named("XDG_DATA_HOME", ".local/share");

impl Base {
    pub(super) const fn named(variable: &'static str, usual: &'static str) -> Self {
        Self { variable, usual }
    }

    const fn file(self, path: &'static str, use_of: UseOf) -> HomeFile {
        HomeFile {
            base: self,
            path,
            use_of,
        }
    }

    pub(super) const fn login(self, path: &'static str) -> HomeFile {
        self.file(path, UseOf::Login)
    }

    pub(super) const fn settings(self, path: &'static str) -> HomeFile {
        self.file(path, UseOf::Settings)
    }

    pub(super) const fn fields(
        self,
        path: &'static str,
        fields: &'static [&'static str],
    ) -> HomeFile {
        self.file(path, UseOf::Fields(fields))
    }

    pub(super) const fn sessions(self, path: &'static str) -> HomeFile {
        self.file(path, UseOf::Sessions)
    }
}

impl HomeFile {
    /// Where the user has it.
    pub fn theirs(&self, environment: &Environment) -> PathBuf {
        let named = environment.path(self.base.variable);
        let folder = named.unwrap_or_else(|| environment.home().join(self.base.usual));
        folder.join(self.path)
    }

    /// Where it is below a home in which no variable moves it.
    pub fn place(&self) -> PathBuf {
        PathBuf::from(self.base.usual).join(self.path)
    }

    /// Moves it elsewhere.
    pub fn variable(&self) -> &'static str {
        self.base.variable
    }
}
