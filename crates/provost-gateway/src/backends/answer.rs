//! What a backend's HTTP answer becomes for the caller: JSON as it is, text as a string, anything
//! else as base64.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, StatusCode, header};
use provost_core::ports::{ForwardError, Forwarded};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::web::Web;

impl Web {
    /// Sends a tool's request and makes its answer the result of the call.
    pub(super) async fn forward(
        &self,
        request: Request<Bytes>,
        timeout: Duration,
    ) -> Result<Forwarded, ForwardError> {
        let answer = self.exchange(request, timeout, self.max_answer()).await?;
        let content_type = answer.headers.get(header::CONTENT_TYPE);
        Ok(Forwarded {
            status_code: answer.status.as_u16(),
            result: result(
                content_type.and_then(|value| value.to_str().ok()),
                &answer.body,
            ),
            error: failure(answer.status),
        })
    }
}

#[derive(Serialize)]
struct Binary<'a> {
    content_type: &'a str,
    base64: String,
}

/// JSON is checked and kept byte for byte; it is recognised by its type, or by how it begins when
/// the backend names no type or a wrong one.
fn result(content_type: Option<&str>, body: &[u8]) -> Box<RawValue> {
    let body_begins = body.iter().find(|byte| !byte.is_ascii_whitespace());
    let Some(begins) = body_begins else {
        return null();
    };
    let may_be_json = content_type.is_none_or(is_json) || matches!(begins, b'{' | b'[');
    if may_be_json && let Ok(json) = serde_json::from_slice::<&RawValue>(body) {
        return json.to_owned();
    }
    match std::str::from_utf8(body) {
        Ok(text) if !text.contains('\0') => raw(&text),
        _ => raw(&Binary {
            content_type: content_type.unwrap_or("application/octet-stream"),
            base64: STANDARD.encode(body),
        }),
    }
}

/// Why a status counts as a failure. Redirects do: they are not followed, so nothing was done.
fn failure(status: StatusCode) -> Option<String> {
    let redirect = status.is_redirection() && status != StatusCode::NOT_MODIFIED;
    if !redirect && status.as_u16() < 400 {
        return None;
    }
    let reason = status
        .canonical_reason()
        .map(|reason| format!(" {reason}"))
        .unwrap_or_default();
    let note = if redirect {
        ", and redirects are not followed"
    } else {
        ""
    };
    Some(format!(
        "the backend answered {}{reason}{note}",
        status.as_u16()
    ))
}

pub(super) fn raw(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| null())
}

fn null() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
        || essence
            .get(essence.len().saturating_sub(5)..)
            .is_some_and(|end| end.eq_ignore_ascii_case("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_become_results() {
        let binary = r#"{"content_type":"image/png","base64":"iVAA/w=="}"#;
        let untyped = r#"{"content_type":"application/octet-stream","base64":"/w=="}"#;
        for (content_type, body, expected) in [
            (
                Some("application/json"),
                &b"{\"b\": 1.0,  \"a\":2}"[..],
                "{\"b\": 1.0,  \"a\":2}",
            ),
            (
                Some("application/problem+JSON; charset=utf-8"),
                b" [1]\n",
                "[1]",
            ),
            (Some("application/json"), b"{broken", r#""{broken""#),
            (Some("application/json"), b"{} {}", r#""{} {}""#),
            (Some("text/plain"), b"42", r#""42""#),
            (Some("text/plain"), b"{\"a\":1}", "{\"a\":1}"),
            (
                Some("text/html"),
                b"<p>\"h\xc3\xa9\"",
                "\"<p>\\\"h\u{e9}\\\"\"",
            ),
            (None, b"true", "true"),
            (None, b"hello", r#""hello""#),
            (None, b"", "null"),
            (Some("application/json"), b"", "null"),
            (Some("image/png"), b"\x89P\x00\xff", binary),
            (None, b"\xff", untyped),
        ] {
            assert_eq!(
                result(content_type, body).get(),
                expected,
                "{content_type:?} {body:?}"
            );
        }
    }

    #[test]
    fn failures_are_told_in_one_line() {
        for (status, expected) in [
            (200, None),
            (204, None),
            (304, None),
            (
                302,
                Some("the backend answered 302 Found, and redirects are not followed"),
            ),
            (404, Some("the backend answered 404 Not Found")),
            (599, Some("the backend answered 599")),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(failure(status).as_deref(), expected);
        }
    }
}
