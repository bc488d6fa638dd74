//! The folder of this user that outlives any data folder: what is kept there must survive the loss of a
//! gateway's own data, or be found from any folder. The only secrets in it are the keys that `provost connect`
//! makes for agents of a gateway on another machine.

use std::{env, ffi::OsString, path::PathBuf};

/// Names the folder; tests and containers set it.
pub(crate) const VARIABLE: &str = "PROVOST_STATE";

/// `PROVOST_STATE`, else `provost` below `XDG_STATE_HOME`, else below `~/.local/state`. `None` for a user
/// without a home: then nothing is kept, and `provost doctor` says so.
pub(crate) fn user_folder() -> Option<PathBuf> {
    resolve(|name| env::var_os(name))
}

fn resolve(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would be another folder in every working folder.
    let absolute = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        path.is_absolute().then_some(path)
    };
    absolute(VARIABLE)
        .or_else(|| Some(absolute("XDG_STATE_HOME")?.join("provost")))
        .or_else(|| Some(absolute("HOME")?.join(".local/state/provost")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_absolute_folder_counts() {
        for (variables, expected) in [
            (&[("PROVOST_STATE", "/s"), ("HOME", "/h")][..], Some("/s")),
            (
                &[("PROVOST_STATE", "s"), ("HOME", "/h")],
                Some("/h/.local/state/provost"),
            ),
            (
                &[("XDG_STATE_HOME", "/x"), ("HOME", "/h")],
                Some("/x/provost"),
            ),
            (&[("HOME", "")], None),
            (&[], None),
        ] {
            let found = resolve(|name| {
                let value = variables.iter().find(|(key, _)| *key == name);
                value.map(|(_, value)| OsString::from(value))
            });
            assert_eq!(found, expected.map(PathBuf::from), "{variables:?}");
        }
    }
}
