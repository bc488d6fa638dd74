//! The settings of the e-mail channel, checked before anything is sent. Errors never repeat a URL: it may
//! hold a password.
//!
//! - `smtp://user:pass@host:587`: STARTTLS is required. On a loopback host it is plain, unless `?tls=required`;
//!   elsewhere only `?tls=none` makes it plain.
//! - `smtps://user:pass@host:465`: TLS from the first byte.
//! - `imaps://user:pass@host/INBOX`: TLS from the first byte. `imap://` is plain, and for loopback only.
//!
//! A user or password with one of `:@/?#%` in it writes that percent-encoded.

use std::net::IpAddr;

use http::Uri;
use percent_encoding::percent_decode_str;

use super::{address::Address, token::LONGEST_SENDER};
use crate::secret::Secret;

#[derive(Clone, Debug)]
pub struct Settings {
    pub smtp: Smtp,
    /// Who the mails are from. Replies go to the same mailbox, with a token behind a plus.
    pub from: Sender,
    /// Where replies are read. Without it they come by the inbound webhook only.
    pub imap: Option<Imap>,
    /// Whether the inbound webhook must say who sent a reply. A mail read over IMAP must in any case.
    pub require_from: bool,
    /// The console, where people can answer on a page instead.
    pub link_base: Option<LinkBase>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smtp {
    pub(super) server: Server,
    pub(super) tls: Tls,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tls {
    /// From the first byte.
    Wrapped,
    Starttls,
    Plain,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imap {
    pub(super) server: Server,
    pub(super) encrypted: bool,
    pub(super) mailbox: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) login: Option<Login>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: Secret,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    pub(super) name: Option<String>,
    pub(crate) address: Address,
}

/// An absolute URL without a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkBase(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSetting {
    #[error(
        "`smtp` must look like smtp://user:password@host:587 or smtps://user:password@host:465"
    )]
    Smtp,
    #[error("`smtp` knows only `?tls=none` and `?tls=required`")]
    SmtpTls,
    #[error("`imap` must look like imaps://user:password@host/INBOX")]
    Imap,
    #[error("`imap://` is not encrypted and works on a loopback host only: use imaps://")]
    ImapPlain,
    #[error("`from` must look like gate@example.com or Provost <gate@example.com>")]
    From,
    #[error(
        "the name before the @ of `from` must have at most {LONGEST_SENDER} characters: replies go to it with a token behind a plus"
    )]
    FromTooLong,
    #[error("the link to the console must be an http:// or https:// URL without query")]
    LinkBase,
}

impl Smtp {
    pub fn parse(text: &str) -> Result<Self, BadSetting> {
        let url = MailUrl::parse(text).ok_or(BadSetting::Smtp)?;
        let (port, wrapped) = match url.scheme.as_str() {
            "smtp" => (587, false),
            "smtps" => (465, true),
            _ => return Err(BadSetting::Smtp),
        };
        if !url.path.is_empty() {
            return Err(BadSetting::Smtp);
        }
        let server = url.server(port);
        let tls = match url.query.as_deref() {
            None if wrapped => Tls::Wrapped,
            None if server.is_loopback() => Tls::Plain,
            None => Tls::Starttls,
            Some("tls=none") if !wrapped => Tls::Plain,
            Some("tls=required") if !wrapped => Tls::Starttls,
            Some(_) => return Err(BadSetting::SmtpTls),
        };
        Ok(Self { server, tls })
    }
}

impl Imap {
    pub fn parse(text: &str) -> Result<Self, BadSetting> {
        let url = MailUrl::parse(text).ok_or(BadSetting::Imap)?;
        let (port, encrypted) = match url.scheme.as_str() {
            "imap" => (143, false),
            "imaps" => (993, true),
            _ => return Err(BadSetting::Imap),
        };
        let server = url.server(port);
        if server.login.is_none() || url.query.is_some() {
            return Err(BadSetting::Imap);
        }
        if !encrypted && !server.is_loopback() {
            return Err(BadSetting::ImapPlain);
        }
        let mailbox = if url.path.is_empty() {
            "INBOX".to_owned()
        } else {
            url.path
        };
        Ok(Self {
            server,
            encrypted,
            mailbox,
        })
    }
}

impl Server {
    fn is_loopback(&self) -> bool {
        let by_number = self.host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        by_number || self.host.eq_ignore_ascii_case("localhost")
    }
}

impl Sender {
    pub fn parse(text: &str) -> Result<Self, BadSetting> {
        let text = text.trim();
        let (name, address) = match text.split_once('<') {
            Some((name, rest)) => (name.trim(), rest.strip_suffix('>').ok_or(BadSetting::From)?),
            None => ("", text),
        };
        let name = name.trim_matches('"');
        if name.chars().any(char::is_control) {
            return Err(BadSetting::From);
        }
        let address = Address::parse(address).map_err(|_| BadSetting::From)?;
        if address.local().len() > LONGEST_SENDER {
            return Err(BadSetting::FromTooLong);
        }
        let name = (!name.is_empty()).then(|| name.to_owned());
        Ok(Self { name, address })
    }
}

impl LinkBase {
    pub fn parse(text: &str) -> Result<Self, BadSetting> {
        let uri: Uri = text.parse().map_err(|_| BadSetting::LinkBase)?;
        let known = matches!(uri.scheme_str(), Some("http" | "https"));
        let plain = !text.contains(['?', '#', '@']) && uri.host().is_some_and(|h| !h.is_empty());
        if !known || !plain {
            return Err(BadSetting::LinkBase);
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The parts of a URL of a mail server.
struct MailUrl {
    scheme: String,
    login: Option<Login>,
    host: String,
    port: Option<u16>,
    path: String,
    query: Option<String>,
}

impl MailUrl {
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at_checked(end)?;
        let (login, place) = match authority.rsplit_once('@') {
            Some((login, place)) => (Some(Login::parse(login)?), place),
            None => (None, authority),
        };
        let (host, port) = host_and_port(place)?;
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        let path = decode(path.strip_prefix('/').unwrap_or(path))?;
        let sound = !target.contains('#') && !path.chars().any(char::is_control);
        sound.then(|| Self {
            scheme: scheme.to_ascii_lowercase(),
            login,
            host,
            port,
            path,
            query,
        })
    }

    fn server(&self, port: u16) -> Server {
        Server {
            host: self.host.clone(),
            port: self.port.unwrap_or(port),
            login: self.login.clone(),
        }
    }
}

impl Login {
    fn parse(text: &str) -> Option<Self> {
        let (user, password) = text.split_once(':')?;
        let (user, password) = (decode(user)?, decode(password)?);
        let sound = !user.is_empty()
            && ![&user, &password]
                .iter()
                .any(|part| part.contains(['\r', '\n', '\0']));
        sound.then(|| Self {
            user,
            password: Secret::from(password),
        })
    }
}

fn decode(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// An IPv6 address stands in brackets.
fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let uri: Uri = format!("http://{text}/").parse().ok()?;
    let host = uri.host().filter(|host| !host.is_empty())?;
    let port = match text.strip_prefix(host)?.strip_prefix(':') {
        Some(port) => Some(port.parse().ok().filter(|port| *port != 0)?),
        None => None,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smtp_is_encrypted_unless_it_stays_on_this_machine_or_says_otherwise() {
        for (url, host, port, tls) in [
            (
                "smtp://u:p@mail.example.com",
                "mail.example.com",
                587,
                Tls::Starttls,
            ),
            (
                "smtp://mail.example.com:25?tls=none",
                "mail.example.com",
                25,
                Tls::Plain,
            ),
            ("smtp://localhost:2525", "localhost", 2525, Tls::Plain),
            ("smtp://127.0.0.1:2525/", "127.0.0.1", 2525, Tls::Plain),
            ("smtp://[::1]:2525", "::1", 2525, Tls::Plain),
            (
                "smtp://127.0.0.1?tls=required",
                "127.0.0.1",
                587,
                Tls::Starttls,
            ),
            (
                "smtps://u:p@mail.example.com",
                "mail.example.com",
                465,
                Tls::Wrapped,
            ),
        ] {
            let smtp = Smtp::parse(url).unwrap();
            assert_eq!(
                (smtp.server.host.as_str(), smtp.server.port, smtp.tls),
                (host, port, tls),
                "{url}"
            );
        }
        for url in [
            "mail.example.com",
            "http://mail.example.com",
            "smtp://",
            "smtp://u@mail.example.com",
            "smtp://:p@mail.example.com",
            "smtp://mail.example.com:x",
            "smtp://mail.example.com:99999",
            "smtp://mail.example.com/path",
            "smtp://mail.example.com?tls=maybe",
            "smtps://mail.example.com?tls=none",
            "smtp://mail.example.com#x",
            "smtp://u%0d:p@mail.example.com",
        ] {
            assert!(Smtp::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn imap_without_encryption_stays_on_this_machine() {
        let imap = Imap::parse("imaps://me%40example.com:p%3A%2F@mail.example.com/Gate").unwrap();
        assert_eq!(
            (imap.server.port, imap.encrypted, imap.mailbox.as_str()),
            (993, true, "Gate")
        );
        let login = imap.server.login.unwrap();
        assert_eq!(
            (login.user.as_str(), login.password.expose()),
            ("me@example.com", "p:/")
        );
        let imap = Imap::parse("imap://u:p@127.0.0.1:1143").unwrap();
        assert_eq!((imap.server.port, imap.mailbox.as_str()), (1143, "INBOX"));
        assert_eq!(
            Imap::parse("imap://u:p@mail.example.com"),
            Err(BadSetting::ImapPlain)
        );
        for url in [
            "imaps://mail.example.com",
            "pop3://u:p@h",
            "imaps://u:p@h/A%0d%0aB",
            "imaps://u:p@h?x",
        ] {
            assert_eq!(Imap::parse(url), Err(BadSetting::Imap), "{url}");
        }
    }

    #[test]
    fn no_password_is_printed() {
        let smtp = Smtp::parse("smtp://u:hunter2@mail.example.com").unwrap();
        let imap = Imap::parse("imaps://u:hunter2@mail.example.com").unwrap();
        let wrong = Smtp::parse("smtp://u:hunter2@mail.example.com?x").unwrap_err();
        let printed = format!("{smtp:?} {imap:?} {wrong:?} {wrong}");
        assert!(!printed.contains("hunter2"), "{printed}");
    }

    #[test]
    fn the_sender_may_have_a_name_and_leaves_room_for_the_token() {
        let sender = Sender::parse("Provost Gate <gate@Example.com>").unwrap();
        assert_eq!(sender.name.as_deref(), Some("Provost Gate"));
        assert_eq!(sender.address.to_string(), "gate@example.com");
        assert_eq!(Sender::parse("gate@example.com").unwrap().name, None);
        let long = format!("{}@example.com", "x".repeat(LONGEST_SENDER + 1));
        assert_eq!(Sender::parse(&long), Err(BadSetting::FromTooLong));
        for bad in [
            "",
            "gate",
            "A <gate@example.com",
            "A\r\nB <gate@example.com>",
            "<a@b.c>, d@e.f",
        ] {
            assert_eq!(Sender::parse(bad), Err(BadSetting::From), "{bad:?}");
        }
    }

    #[test]
    fn the_link_leads_to_a_page() {
        assert_eq!(
            LinkBase::parse("https://gate.example.com/")
                .unwrap()
                .as_str(),
            "https://gate.example.com"
        );
        for bad in [
            "",
            "gate",
            "javascript:x",
            "ftp://h",
            "https://h?x=1",
            "https://u:p@h",
            "/a",
        ] {
            assert!(LinkBase::parse(bad).is_err(), "{bad}");
        }
    }
}
