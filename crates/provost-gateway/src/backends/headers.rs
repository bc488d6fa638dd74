//! The headers of an outgoing request: those of the configuration, and the trace's.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use provost_core::ids::TraceId;

use crate::secret::Secret;

const TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const USER_AGENT: HeaderValue = HeaderValue::from_static("provost");
const ANY: HeaderValue = HeaderValue::from_static("application/json, */*;q=0.5");

/// What frames a message on the wire: neither the configuration nor an argument may set it.
const FRAMING: [HeaderName; 6] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The fixed headers of a tool. Problems name the header, never its value.
pub(super) fn configured(headers: &[(String, Secret)]) -> Result<HeaderMap, Vec<String>> {
    let mut map = HeaderMap::with_capacity(headers.len() + 2);
    map.insert(header::USER_AGENT, USER_AGENT);
    map.insert(header::ACCEPT, ANY);
    let mut problems = Vec::new();
    for (name, value) in headers {
        let parsed = name.parse::<HeaderName>();
        match (parsed, HeaderValue::from_str(value.expose())) {
            (Ok(name), _) if FRAMING.contains(&name) => {
                problems.push(format!("header `{name}` is set by the gateway itself"));
            }
            (Ok(name), Ok(mut value)) => {
                value.set_sensitive(true);
                map.insert(name, value);
            }
            (Err(_), _) => problems.push(format!("`{name}` is not the name of a header")),
            (Ok(name), Err(_)) => problems.push(format!(
                "the value of header `{name}` holds control characters"
            )),
        }
    }
    if problems.is_empty() {
        Ok(map)
    } else {
        Err(problems)
    }
}

/// Whether an argument may set this header. Those who the caller is and how the message is framed
/// are the gateway's to say.
pub(super) fn open_to_arguments(name: &HeaderName) -> bool {
    const OURS: [HeaderName; 8] = [
        header::ACCEPT,
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        header::COOKIE,
        header::HOST,
        header::PROXY_AUTHORIZATION,
        TRACE_ID,
        TRACEPARENT,
    ];
    !OURS.contains(name) && !FRAMING.contains(name)
}

/// A request's headers: the tool's, and the trace it belongs to. Room is left for a few more.
pub(super) fn for_call(configured: &HeaderMap, trace_id: &TraceId) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(configured.len() + 6);
    if let Ok(value) = HeaderValue::from_str(trace_id.as_str()) {
        headers.insert(TRACE_ID, value);
    }
    if let Some(value) = traceparent(trace_id) {
        headers.insert(TRACEPARENT, value);
    }
    for (name, value) in configured {
        headers.insert(name, value.clone());
    }
    headers
}

/// W3C trace context. A trace forwards one call, so half of its id serves as the id of the span.
fn traceparent(trace_id: &TraceId) -> Option<HeaderValue> {
    let id = TraceId::parse(trace_id.as_str())?;
    let span = id
        .as_str()
        .get(16..)
        .filter(|span| span.bytes().any(|byte| byte != b'0'));
    let span = span.unwrap_or("0000000000000001");
    HeaderValue::try_from(["00-", id.as_str(), "-", span, "-01"].concat()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_name_headers_and_never_values() {
        let headers = [
            ("content-length".to_owned(), Secret::from("hunter2")),
            ("no name".to_owned(), Secret::from("hunter2")),
            ("x-key".to_owned(), Secret::from("hunter2\r\nevil: 1")),
        ];
        let problems = configured(&headers).unwrap_err();
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(!problems.join(" ").contains("hunter2"), "{problems:?}");
    }

    #[test]
    fn configured_values_are_not_printed() {
        let map =
            configured(&[("Authorization".to_owned(), Secret::from("Bearer hunter2"))]).unwrap();
        let headers = for_call(&map, &TraceId::from("0af7651916cd43dd8448eb211c80319c"));
        assert_eq!(headers.get("authorization").unwrap(), "Bearer hunter2");
        assert!(!format!("{headers:?}").contains("hunter2"));
        assert_eq!(
            headers.get("traceparent").unwrap(),
            "00-0af7651916cd43dd8448eb211c80319c-8448eb211c80319c-01"
        );
    }

    #[test]
    fn a_trace_that_w3c_cannot_name_has_no_traceparent() {
        for (id, expected) in [
            ("short", None),
            ("00000000000000000000000000000000", None),
            (
                "0af7651916cd43dd0000000000000000",
                Some("00-0af7651916cd43dd0000000000000000-0000000000000001-01"),
            ),
        ] {
            let value = traceparent(&TraceId::from(id));
            assert_eq!(
                value.as_ref().map(|value| value.to_str().unwrap()),
                expected
            );
        }
    }
}
