//! Reading the settings of an agent's user, and writing the files of an overlay.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs, io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use super::{Ground, Unsafe};

/// More than any settings have.
const LONGEST: u64 = 4 * 1024 * 1024;

/// The variables that an agent would have without its overlay.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The run's own, before those of this process.
    pub given: BTreeMap<String, String>,
    pub inherited: BTreeMap<OsString, OsString>,
}

impl Environment {
    pub fn of_process(given: &BTreeMap<String, String>) -> Self {
        Self {
            given: given.clone(),
            inherited: std::env::vars_os().collect(),
        }
    }

    pub fn get(&self, name: &str) -> Option<OsString> {
        let given = self.given.get(name).map(OsString::from);
        let inherited = || self.inherited.get(OsStr::new(name)).cloned();
        given.or_else(inherited).filter(|value| !value.is_empty())
    }

    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    pub fn home(&self) -> PathBuf {
        self.path("HOME").unwrap_or_else(|| PathBuf::from("/"))
    }

    /// `$XDG_CONFIG_HOME`, or what it stands for.
    pub fn config_home(&self) -> PathBuf {
        self.path("XDG_CONFIG_HOME")
            .unwrap_or_else(|| self.home().join(".config"))
    }
}

/// Settings in JSON, with comments. `None` where there are none.
pub(super) fn json(agent: &'static str, path: &Path) -> Result<Option<Map<String, Value>>, Unsafe> {
    let Some(text) = text(agent, path)? else {
        return Ok(None);
    };
    object(&text).map(Some).map_err(|problem| Unsafe::Settings {
        agent,
        path: path.to_owned(),
        problem,
    })
}

/// One object of JSON, with comments and commas too many.
pub(super) fn object(text: &str) -> Result<Map<String, Value>, String> {
    let mut plain = text.to_owned();
    json_strip_comments::strip(&mut plain).map_err(|error| error.to_string())?;
    serde_json::from_str(&plain)
        .map_err(|error| format!("line {}: this is not one JSON object", error.line()))
}

pub(super) fn toml(
    agent: &'static str,
    path: &Path,
) -> Result<Option<toml_edit::DocumentMut>, Unsafe> {
    let Some(text) = text(agent, path)? else {
        return Ok(None);
    };
    // The error's own words would repeat what stands there, and that may be a key.
    text.parse().map(Some).map_err(|_| Unsafe::Settings {
        agent,
        path: path.to_owned(),
        problem: "this is not TOML".to_owned(),
    })
}

pub(super) fn text(agent: &'static str, path: &Path) -> Result<Option<String>, Unsafe> {
    use std::io::Read as _;
    let read = || -> io::Result<String> {
        let mut text = String::new();
        let file = fs::File::open(path)?;
        file.take(LONGEST).read_to_string(&mut text)?;
        Ok(text)
    };
    match read() {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unsafe::Settings {
            agent,
            path: path.to_owned(),
            problem: error.to_string(),
        }),
    }
}

impl Ground<'_> {
    /// A file of the overlay. It may hold the user's keys, and is for nobody else to read.
    pub(super) fn write(
        &self,
        agent: &'static str,
        name: &str,
        text: &str,
    ) -> Result<PathBuf, Unsafe> {
        let path = self.own.join(name);
        let written = || -> io::Result<()> {
            use std::io::Write as _;
            if let Some(folder) = path.parent() {
                private_folder(folder)?;
            }
            let mut options = fs::OpenOptions::new();
            let mut file = options
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)?;
            file.write_all(text.as_bytes())
        };
        written().map_err(|error| Unsafe::Files { agent, error })?;
        Ok(path)
    }

    pub(super) fn folder(&self, agent: &'static str, name: &str) -> Result<PathBuf, Unsafe> {
        let path = self.own.join(name);
        private_folder(&path).map_err(|error| Unsafe::Files { agent, error })?;
        Ok(path)
    }

    /// A folder of the user's in which the agent keeps its sessions: one that is gone on with is found there again.
    pub(super) fn keep(
        &self,
        agent: &'static str,
        folder: &Path,
        name: &str,
    ) -> Result<(), Unsafe> {
        private_folder(folder).map_err(|error| Unsafe::Files { agent, error })?;
        self.link(agent, folder, name)
    }

    /// The user's own file or folder under the overlay's name, if there is one.
    pub(super) fn link(
        &self,
        agent: &'static str,
        target: &Path,
        name: &str,
    ) -> Result<(), Unsafe> {
        if !target.exists() {
            return Ok(());
        }
        let linked = std::os::unix::fs::symlink(target, self.own.join(name));
        linked.map_err(|error| Unsafe::Files { agent, error })
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(path)
}

/// These keys of an object, as they are.
pub(super) fn only(settings: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let kept = settings.iter().filter(|(key, _)| keys.contains(&&***key));
    kept.map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// What `over` says replaces what was there; objects are merged.
pub(super) fn merge(into: &mut Value, over: Value) {
    match (into, over) {
        (Value::Object(into), Value::Object(over)) => {
            for (key, value) in over {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, over) => *into = over,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_may_have_comments() {
        let settings = object("{ // a model\n \"model\": \"http://x//y\", /* so */ }").unwrap();
        assert_eq!(settings["model"], "http://x//y");
        assert!(object("[1]").is_err());
    }

    #[test]
    fn an_overlay_goes_over_what_was_there() {
        let mut settings = json!({"a": {"b": 1, "c": [1]}, "d": 2});
        merge(&mut settings, json!({"a": {"c": [2]}, "e": {"f": 3}}));
        assert_eq!(
            settings,
            json!({"a": {"b": 1, "c": [2]}, "d": 2, "e": {"f": 3}})
        );
    }
}
