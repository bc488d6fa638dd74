//! The address of one thing below the gateway's URL, escaped as it is built.

use std::fmt::{self, Display, Write as _};

#[derive(Clone, Debug)]
pub(crate) struct Target {
    text: String,
    has_query: bool,
}

impl Target {
    pub(crate) fn new(path: &'static str) -> Self {
        Self {
            text: path.to_owned(),
            has_query: false,
        }
    }

    /// One more step of the path, whatever characters it holds.
    pub(crate) fn step(mut self, text: &str) -> Self {
        self.text.push('/');
        escape(text, &mut self.text);
        self
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl Display) -> Self {
        self.text.push(if self.has_query { '&' } else { '?' });
        self.has_query = true;
        self.text.push_str(name);
        self.text.push('=');
        escape(&value.to_string(), &mut self.text);
        self
    }

    pub(crate) fn query_some(self, name: &'static str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn escape(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_value_can_change_the_address() {
        let target = Target::new("/approvals")
            .step("../a b?")
            .query("tool", "fs.*&x=1")
            .query_some("n", None::<u8>);
        assert_eq!(
            target.to_string(),
            "/approvals/..%2Fa%20b%3F?tool=fs.%2A%26x%3D1"
        );
        assert_eq!(
            Target::new("/x").query("a", 1).query("b", "ü").to_string(),
            "/x?a=1&b=%C3%BC"
        );
    }
}
