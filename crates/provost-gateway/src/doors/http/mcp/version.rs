//! Which MCP a client speaks: the versions with `initialize` and a session, or the stateless one, whose
//! requests each carry what the handshake used to agree on.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::HeaderMap;
use serde_json::{Map, Value, json};

use super::message::{Fault, HEADER_MISMATCH, Request, UNSUPPORTED_VERSION};

/// The newest version that begins with `initialize`.
const NEWEST_WITH_SESSION: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";
const WITH_SESSION: [&str; 4] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    NEWEST_WITH_SESSION,
];
/// From here on a server may ask the user by a form.
const FIRST_WITH_ELICITATION: &str = "2025-06-18";

const VERSION_HEADER: &str = "mcp-protocol-version";
const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_META: &str = "io.modelcontextprotocol/clientCapabilities";
/// The header by which a client that has no MCP session says which run of the agent it is.
pub(super) const SESSION_META: &str = "provost/session";

/// All versions there are, oldest first.
pub(super) fn supported() -> Vec<&'static str> {
    WITH_SESSION.into_iter().chain([STATELESS]).collect()
}

/// The version a session is to speak: the client's, or the newest we both may know.
pub(super) fn agreed(asked: &str) -> &'static str {
    WITH_SESSION
        .into_iter()
        .find(|version| *version == asked)
        .unwrap_or(NEWEST_WITH_SESSION)
}

/// Whether a client of this version that declares these capabilities can be asked by a form.
pub(super) fn takes_forms(version: &str, capabilities: Option<&Value>) -> bool {
    let elicitation = capabilities.and_then(|given| given.get("elicitation"));
    let Some(Value::Object(kinds)) = elicitation else {
        return false;
    };
    // Without any kind, forms are meant.
    version >= FIRST_WITH_ELICITATION && (kinds.is_empty() || kinds.contains_key("form"))
}

/// What a stateless request says of its client.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) takes_forms: bool,
    pub(super) session: Option<String>,
}

/// `None`: the request belongs to a session, or to a client from before there were any.
pub(super) fn stateless(headers: &HeaderMap, request: &Request) -> Result<Option<Declared>, Fault> {
    let header = version_header(headers)?;
    let none = Map::new();
    let meta = request.meta().unwrap_or(&none);
    let version = meta.get(VERSION_META).and_then(Value::as_str);
    let is_stateless = version.is_some()
        || request.method == "server/discover"
        || header.is_some_and(|version| version >= STATELESS);
    if request.method == "initialize" || !is_stateless {
        return Ok(None);
    }
    let Some((version, capabilities)) = version.zip(meta.get(CAPABILITIES_META)) else {
        return Err(Fault::params(format!(
            "`_meta` needs `{VERSION_META}` and `{CAPABILITIES_META}`"
        )));
    };
    if header != Some(version) {
        return Err(mismatch("MCP-Protocol-Version", version));
    }
    if version != STATELESS {
        return Err(unsupported(version));
    }
    agree(headers, "mcp-method", &request.method)?;
    if let Some(name) = named(request) {
        agree(headers, "mcp-name", name)?;
    }
    let session = meta.get(SESSION_META).and_then(Value::as_str);
    Ok(Some(Declared {
        takes_forms: takes_forms(version, Some(capabilities)),
        session: session.map(str::to_owned),
    }))
}

/// Of a request in a session: an unknown version is an error, a missing one is an older client's.
pub(super) fn check_header(headers: &HeaderMap) -> Result<(), Fault> {
    match version_header(headers)? {
        Some(version) if !supported().contains(&version) => Err(unsupported(version)),
        _ => Ok(()),
    }
}

fn version_header(headers: &HeaderMap) -> Result<Option<&str>, Fault> {
    single(headers, VERSION_HEADER)
}

pub(super) fn unsupported(version: &str) -> Fault {
    Fault::new(UNSUPPORTED_VERSION, "unsupported protocol version")
        .with(json!({"requested": version, "supported": supported()}))
}

/// What in the body a middle box may have gone by without reading it.
fn named(request: &Request) -> Option<&str> {
    let name = match &*request.method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    request.params.get(name).and_then(Value::as_str)
}

fn agree(headers: &HeaderMap, name: &str, body: &str) -> Result<(), Fault> {
    let given = single(headers, name)?.and_then(decoded);
    if given.as_deref() == Some(body) {
        return Ok(());
    }
    Err(mismatch(name, body))
}

fn mismatch(header: &str, body: &str) -> Fault {
    Fault::new(
        HEADER_MISMATCH,
        format!("the header `{header}` is missing or does not say `{body}`, as the body does"),
    )
}

/// Two values would be two readings.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Fault> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    match (first.to_str(), values.next()) {
        (Ok(text), None) => Ok(Some(text)),
        _ => Err(Fault::new(
            HEADER_MISMATCH,
            format!("the header `{name}` cannot be read"),
        )),
    }
}

/// Text that is no header's is wrapped as `=?base64?…?=`.
fn decoded(value: &str) -> Option<String> {
    let wrapped = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match wrapped {
        None => Some(value.to_owned()),
        Some(text) => String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doors::http::mcp::message::{INVALID_PARAMS, Id};

    fn request(method: &str, params: Value) -> Request {
        let Value::Object(params) = params else {
            panic!("{params}")
        };
        let (id, method) = (Id::Number(1), method.to_owned());
        Request { id, method, params }
    }

    fn meta(version: &str) -> Value {
        json!({VERSION_META: version, CAPABILITIES_META: {"elicitation": {}}, SESSION_META: "s"})
    }

    #[test]
    fn stateless_requests_say_everything_twice_and_agree() {
        let full = [
            (VERSION_HEADER, STATELESS),
            ("mcp-method", "tools/call"),
            ("mcp-name", "=?base64?ZnMucmVhZA==?="),
        ];
        let params = |version: &str| json!({"name": "fs.read", "_meta": meta(version)});
        for (headers, params, expected) in [
            (&full[..], params(STATELESS), Ok(true)),
            (&full[..], params("2030-01-01"), Err(HEADER_MISMATCH)),
            (&full[..], json!({"name": "fs.read"}), Err(INVALID_PARAMS)),
            (&full[..1], params(STATELESS), Err(HEADER_MISMATCH)),
            (&full[..2], params(STATELESS), Err(HEADER_MISMATCH)),
            (&full[1..], params(STATELESS), Err(HEADER_MISMATCH)),
            (&[][..], json!({"name": "fs.read"}), Ok(false)),
            (
                &[(VERSION_HEADER, "2030-01-01")][..],
                params("2030-01-01"),
                Err(UNSUPPORTED_VERSION),
            ),
            (
                &[full[0], full[1], ("mcp-name", "fs.write")][..],
                params(STATELESS),
                Err(HEADER_MISMATCH),
            ),
            (
                &[full[0], full[1], full[1], full[2]][..],
                params(STATELESS),
                Err(HEADER_MISMATCH),
            ),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let read = stateless(&map, &request("tools/call", params.clone()));
            let read = read.map(|read| read.is_some()).map_err(|fault| fault.code);
            assert_eq!(read, expected, "{headers:?} {params}");
        }
    }

    #[test]
    fn forms_are_for_clients_that_know_them() {
        for (version, capabilities, expected) in [
            ("2025-06-18", json!({"elicitation": {}}), true),
            ("2025-11-25", json!({"elicitation": {"form": {}}}), true),
            ("2025-11-25", json!({"elicitation": {"url": {}}}), false),
            ("2024-11-05", json!({"elicitation": {}}), false),
            ("2025-06-18", json!({}), false),
        ] {
            let takes = takes_forms(version, Some(&capabilities));
            assert_eq!(takes, expected, "{version} {capabilities}");
        }
    }

    #[test]
    fn a_session_speaks_the_clients_version_or_the_newest() {
        for (asked, agreed_on) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            (STATELESS, NEWEST_WITH_SESSION),
            ("1999-01-01", NEWEST_WITH_SESSION),
        ] {
            assert_eq!(agreed(asked), agreed_on);
        }
    }
}
