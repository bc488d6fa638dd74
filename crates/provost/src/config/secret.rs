//! Secrets: written out, `env:NAME` or `file:PATH`. Their values are never printed and never shown in a problem.

use std::{fmt, fs, io::Read as _};

use super::{fields::Field, reader::Reader};

const MAX_BYTES: u64 = 64 * 1024;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
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
            Ok(secret) => Some(Secret(secret)),
            Err(problem) => {
                let help = "a secret is written out, or is `env:NAME`, or `file:PATH`";
                self.error(field.node.span, format!("`{}` {problem}", field.name), help);
                None
            }
        }
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
        let mut text = String::new();
        let length = fs::File::open(self.resolve(path))
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
            .map_err(|error| format!("cannot be read from `{path}`: {error}"))?;
        if length as u64 > MAX_BYTES {
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
