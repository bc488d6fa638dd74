//! What a server answered to a call, passed on byte for byte; only whether it failed is read in it.

use provost_core::ports::Forwarded;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::trouble::one_line;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(default, rename = "isError")]
    is_error: Option<bool>,
    #[serde(default, rename = "resultType")]
    kind: Option<String>,
    #[serde(default, borrow)]
    content: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

pub(super) fn forwarded(result: Box<RawValue>) -> Forwarded {
    let error = failure(&result);
    Forwarded {
        status_code: 200,
        result,
        error,
    }
}

/// Why a result of a tool is a failure, if it is one.
pub fn failure(result: &RawValue) -> Option<String> {
    let Ok(answer) = serde_json::from_str::<Answer<'_>>(result.get()) else {
        return Some("the server's answer is no result of a tool".to_owned());
    };
    // Input that is required, or a task that is to be asked for: nobody here can do that.
    if let Some(kind) = answer.kind.filter(|kind| kind != "complete") {
        let kind = one_line(&kind, &[]);
        return Some(format!("the tool did not finish: it answered `{kind}`"));
    }
    if answer.is_error != Some(true) {
        return None;
    }
    let content = answer.content.unwrap_or_default();
    let text = content
        .iter()
        .find_map(|part| serde_json::from_str::<Text>(part.get()).ok());
    let text = text
        .map(|text| one_line(&text.text, &[]))
        .unwrap_or_default();
    Some(if text.is_empty() {
        "the tool failed".to_owned()
    } else {
        format!("the tool failed: {text}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_and_results_are_not_touched() {
        for (result, expected) in [
            (r#"{"content": [ ],"x":1.0}"#, None),
            (r#"{"content":[],"isError":false}"#, None),
            (
                r#"{"structuredContent":{"a":1},"resultType":"complete"}"#,
                None,
            ),
            (
                r#"{"content":[{"type":"image"},{"type":"text","text":"no\nsuch file"}],"isError":true}"#,
                Some("the tool failed: no such file"),
            ),
            (r#"{"isError":true}"#, Some("the tool failed")),
            (
                r#"{"resultType":"input_required","inputRequests":{}}"#,
                Some("the tool did not finish: it answered `input_required`"),
            ),
            ("[1]", Some("the server's answer is no result of a tool")),
        ] {
            let raw = RawValue::from_string(result.to_owned()).unwrap();
            let forwarded = forwarded(raw);
            assert_eq!(forwarded.error.as_deref(), expected, "{result}");
            assert_eq!(forwarded.result.get(), result);
        }
    }
}
