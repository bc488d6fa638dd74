//! Secrets: written out, `env:NAME` or `file:PATH`. Their values are never printed and never shown in a problem.
//!
//! A file is often checked where its secrets are not: on a laptop, in a pull request. There an unset secret is a
//! warning, and its name stands in for its value. A gateway needs them all.

use std::io;

pub(crate) use provost_gateway::secret::Secret;

use super::{fields::Field, reader::Reader};
use crate::regular_file::read_regular;

const MAX_BYTES: u64 = 64 * 1024;

/// What a secret that cannot be had comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unset {
    #[default]
    Error,
    Warning,
}

impl Reader<'_> {
    pub(super) fn secret(&mut self, field: Field<'_>) -> Option<Secret> {
        self.cover(field.node);
        let text = self.text(field)?;
        let found = match (text.strip_prefix("env:"), text.strip_prefix("file:")) {
            (Some(name), _) => self.look_up(name),
            (_, Some(path)) => self.read_secret(path),
            (None, None) if text.is_empty() => Err("is empty".to_owned()),
            (None, None) => Ok(text.to_owned()),
        };
        match found {
            Ok(secret) => Some(Secret::new(secret)),
            Err(problem) if self.unset == Unset::Warning && is_reference(text) => {
                let message = format!("`{}` {problem}", field.name);
                let help = "`provost serve` will not start without it; `provost check --strict` makes this an error";
                self.warn(field.node.span, message, help);
                Some(Secret::new(text))
            }
            Err(problem) => {
                let help = match text.strip_prefix("env:").filter(|name| !name.is_empty()) {
                    Some(name) => format!("set it where the gateway is started: `export {name}=…`"),
                    None => "a secret is written out, or is `env:NAME`, or `file:PATH`".to_owned(),
                };
                self.error(field.node.span, format!("`{}` {problem}", field.name), help);
                None
            }
        }
    }

    /// Whether a secret is not known, so that its form cannot be checked.
    pub(super) fn stands_in(&self, field: Field<'_>, secret: &Secret) -> bool {
        let written = field.node.scalar().map(|scalar| &*scalar.text);
        self.unset == Unset::Warning
            && written.is_some_and(|text| is_reference(text) && text == secret.expose())
    }

    fn look_up(&self, name: &str) -> Result<String, String> {
        match (self.environment)(name) {
            None => Err(format!(
                "needs the environment variable `{name}`, which is not set"
            )),
            Some(value) if value.is_empty() => Err(format!(
                "needs the environment variable `{name}`, which is empty"
            )),
            Some(value) => Ok(value),
        }
    }

    fn read_secret(&self, path: &str) -> Result<String, String> {
        let read = read_regular(&self.resolve(path), MAX_BYTES + 1);
        let read = read.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
        let text = read.map_err(|error| format!("cannot be read from `{path}`: {error}"))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(format!(
                "cannot be read from `{path}`: it is too large to be a secret"
            ));
        }
        // Editors end files with a line break, which is no part of a key.
        let secret = text.trim_end_matches(['\r', '\n']);
        if secret.is_empty() {
            return Err(format!("cannot be read from `{path}`: it is empty"));
        }
        Ok(secret.to_owned())
    }
}

fn is_reference(text: &str) -> bool {
    text.starts_with("env:") || text.starts_with("file:")
}
