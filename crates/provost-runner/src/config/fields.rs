//! The fields of an object, each taken once: what is left is not known.

use std::{path::Path, time::Duration};

use serde_json::{Map, Value};

const LONGEST_NAME: usize = 512;
/// Ten years: more is a mistake, and would not fit everywhere.
const LONGEST: f64 = 315_360_000.0;

pub(super) struct Reader {
    /// Where these fields stand, with a dot at the end.
    pub(super) at: String,
    pub(super) fields: Map<String, Value>,
    pub(super) problems: Vec<String>,
}

impl Reader {
    pub(super) fn absolute(&mut self, name: &str) -> Option<Vec<String>> {
        let value = self.fields.remove(name).filter(|value| !value.is_null())?;
        let paths: Option<Vec<String>> = serde_json::from_value(value).ok();
        let paths = paths.filter(|paths| paths.iter().all(|path| Path::new(path).is_absolute()));
        if paths.is_none() {
            self.problem(name, "is a list of paths that begin with /");
        }
        paths
    }

    pub(super) fn ports(&mut self) -> Option<Vec<u16>> {
        let value = self
            .fields
            .remove("ports")
            .filter(|value| !value.is_null())?;
        let ports: Option<Vec<u16>> = serde_json::from_value(value).ok();
        if ports.is_none() {
            self.problem("ports", "is a list of port numbers");
        }
        ports
    }

    pub(super) fn required(&mut self, name: &str) -> Option<String> {
        if !self.has(name) {
            self.problem(name, "is missing");
            self.fields.remove(name);
            return None;
        }
        let text = self.text(name)?;
        if text.len() > LONGEST_NAME && name != "callbackUrl" && name != "token" {
            self.problem(name, &format!("has more than {LONGEST_NAME} bytes"));
            return None;
        }
        Some(text)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// A text with something in it.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.fields.remove(name)? {
            Value::String(text) if !text.trim().is_empty() => Some(text),
            Value::Null => None,
            Value::String(_) => {
                self.problem(name, "is empty");
                None
            }
            _ => {
                self.problem(name, "is a text");
                None
            }
        }
    }

    /// Which of these words it is.
    pub(super) fn choice<const N: usize>(&mut self, name: &str, words: [&str; N]) -> Option<usize> {
        let text = self.text(name)?;
        let found = words.iter().position(|word| *word == text);
        if found.is_none() {
            self.problem(name, &format!("is one of {}", words.join(", ")));
        }
        found
    }

    pub(super) fn flag_or(&mut self, name: &str, usual: bool) -> bool {
        match self.fields.remove(name) {
            None | Some(Value::Null) => usual,
            Some(Value::Bool(flag)) => flag,
            Some(_) => {
                self.problem(name, "is true or false");
                false
            }
        }
    }

    pub(super) fn count(&mut self, name: &str) -> Option<u64> {
        let value = self.fields.remove(name).filter(|value| !value.is_null())?;
        let count = value.as_u64().filter(|count| *count > 0);
        if count.is_none() {
            self.problem(name, "is a whole number above 0");
        }
        count
    }

    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        let value = self.fields.remove(name).filter(|value| !value.is_null())?;
        let number = value.as_f64().filter(|number| *number > 0.0);
        if number.is_none() {
            self.problem(name, "is a number above 0");
        }
        number
    }

    pub(super) fn seconds(&mut self, name: &str) -> Option<Duration> {
        let seconds = self.number(name)?;
        if seconds > LONGEST {
            self.problem(name, "is longer than ten years: leave it out for no limit");
            return None;
        }
        Some(Duration::from_secs_f64(seconds))
    }

    pub(super) fn web_address(&mut self, name: &str, url: String) -> Option<String> {
        let uri = url.parse::<http::Uri>().ok();
        let fits = uri.is_some_and(|uri| {
            let plain = uri
                .authority()
                .is_some_and(|host| !host.as_str().contains('@'));
            plain && matches!(uri.scheme_str(), Some("http" | "https"))
        });
        if !fits {
            self.problem(
                name,
                "is an address that begins with http:// or https://, without a user in it",
            );
        }
        fits.then_some(url)
    }

    pub(super) fn object(&mut self, name: &str) -> Option<Self> {
        match self.fields.remove(name)? {
            Value::Object(fields) => Some(Self {
                at: format!("{}{name}.", self.at),
                fields,
                problems: Vec::new(),
            }),
            Value::Null => None,
            _ => {
                self.problem(name, "is an object");
                None
            }
        }
    }

    pub(super) fn close(&mut self, mut inner: Self) {
        inner.nothing_else();
        self.problems.append(&mut inner.problems);
    }

    /// A misspelt limit would be no limit.
    pub(super) fn nothing_else(&mut self) {
        for (name, _) in std::mem::take(&mut self.fields) {
            self.problem(&name, "is not known here");
        }
    }

    pub(super) fn problem(&mut self, name: &str, what: &str) {
        self.problems.push(format!("`{}{name}` {what}", self.at));
    }
}
