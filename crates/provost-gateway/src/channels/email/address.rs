//! One e-mail address. What passes here goes into headers and SMTP commands, so it is narrower than the
//! standards: plain ASCII, no quotes, no comments, exactly one.

use std::fmt;

use serde_json::Value;

/// RFC 5321, 4.5.3.1.1.
pub(super) const LONGEST_LOCAL: usize = 64;
const LONGEST: usize = 254;

/// Compared without regard to case, also before the `@`: RFC 5321 would allow two people whose addresses differ
/// in case only, but no mail service has them, and people and their programs spell one address in several ways.
/// Mails are sent to the address as it was given.
#[derive(Clone)]
pub struct Address {
    local: String,
    domain: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error("`{0}` is not an e-mail address: write it as `you@example.com`")]
    Malformed(String),
    #[error("an e-mail address is wanted: {{\"email_to\": \"you@example.com\"}}")]
    Missing,
}

impl Address {
    pub fn parse(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress::Malformed(super::visible::line(text, 80));
        let (local, domain) = text.rsplit_once('@').ok_or_else(bad)?;
        let whole = text.len() <= LONGEST && is_local(local) && is_domain(domain);
        whole
            .then(|| Self {
                local: local.to_owned(),
                domain: domain.to_ascii_lowercase(),
            })
            .ok_or_else(bad)
    }

    /// As a delivery carries it: `{"email_to": "you@example.com"}`.
    pub fn of_target(target: &Value) -> Result<Self, BadAddress> {
        let text = target.get("email_to").and_then(Value::as_str);
        Self::parse(text.ok_or(BadAddress::Missing)?)
    }

    pub fn to_target(&self) -> Value {
        serde_json::json!({"email_to": self.to_string()})
    }

    /// The one spelling by which whoever has the address is named.
    pub fn folded(&self) -> String {
        self.to_string().to_ascii_lowercase()
    }

    pub(super) fn local(&self) -> &str {
        &self.local
    }

    pub(super) fn domain(&self) -> &str {
        &self.domain
    }
}

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.local.eq_ignore_ascii_case(&other.local) && self.domain == other.domain
    }
}

impl Eq for Address {}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.local, self.domain)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A dot-atom of RFC 5322.
fn is_local(text: &str) -> bool {
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b))
    };
    text.len() <= LONGEST_LOCAL && text.split('.').all(is_atom)
}

fn is_domain(text: &str) -> bool {
    text.split('.').all(|label| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_one_address() {
        for text in [
            "you@domain.com",
            "you+tag@domain.com",
            "a.b-c_d@sub.example.org",
            "root@localhost",
            "o'neil@example.com",
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "@",
            "you",
            "you@",
            "@domain.com",
            "you@domain.com, me@domain.com",
            "you@domain.com\r\nBcc: me@evil.example",
            "You <you@domain.com>",
            "<you@domain.com>",
            "\"a b\"@domain.com",
            "you@@domain.com",
            "you@domain..com",
            ".you@domain.com",
            "you.@domain.com",
            "you@-domain.com",
            "you@[127.0.0.1]",
            "you@domain.com ",
            "y\u{f6}u@domain.com",
            "you@d\u{43e}main.com",
            "you(comment)@domain.com",
        ] {
            assert!(Address::parse(text).is_err(), "{text:?}");
        }
        let long = format!("{}@domain.com", "x".repeat(65));
        assert!(Address::parse(&long).is_err());
    }

    #[test]
    fn p13_spellings_of_an_address_are_one() {
        let address = |text| Address::parse(text).unwrap();
        assert_eq!(address("you@Domain.COM"), address("you@domain.com"));
        assert_eq!(
            address("You.There@domain.com"),
            address("you.there@domain.com")
        );
        assert_eq!(address("YOU@domain.com").folded(), "you@domain.com");
        assert_ne!(address("you@domain.com"), address("you@domain.org"));
        assert_ne!(address("you@domain.com"), address("yo.u@domain.com"));
        let spelled = address("You@Domain.com").to_string();
        assert_eq!(spelled, "You@domain.com", "sent to as it was given");
    }

    #[test]
    fn the_target_of_a_delivery_is_read() {
        let address = Address::of_target(&json!({"email_to": "you@domain.com"})).unwrap();
        assert_eq!(address.to_target(), json!({"email_to": "you@domain.com"}));
        for bad in [
            json!(null),
            json!({}),
            json!("you@domain.com"),
            json!({"email_to": ["you@domain.com"]}),
            json!({"email_to": "you"}),
        ] {
            assert!(Address::of_target(&bad).is_err(), "{bad}");
        }
    }
}
