//! The names and the JSON of OTLP. All GenAI attribute names stand here.

use provost_core::{
    ids::{hex, random_bytes},
    time::Time,
};
use serde_json::{Value, json};

use super::CallSpan;

const SERVER: u8 = 2;
const ERROR: u8 = 2;
const UNSET: u8 = 0;

pub(super) fn body(spans: &[CallSpan]) -> String {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({
        "resourceSpans": [{
            "resource": {"attributes": [attribute("service.name", "provost")]},
            "scopeSpans": [{"scope": {"name": "provost", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
        }],
    })
    .to_string()
}

fn span(call: &CallSpan) -> Value {
    let mut attributes = vec![
        attribute("gen_ai.operation.name", "execute_tool"),
        attribute("gen_ai.tool.name", &call.tool),
        attribute("gen_ai.agent.name", &call.agent),
        attribute("provost.verdict", call.verdict),
    ];
    if let Some(session) = &call.session {
        attributes.push(attribute("gen_ai.conversation.id", session));
    }
    if call.failed {
        let kind = if call.verdict == "allow" {
            "tool_error"
        } else {
            call.verdict
        };
        attributes.push(attribute("error.type", kind));
    }
    json!({
        "traceId": call.trace_id,
        "spanId": hex(&random_bytes::<8>()),
        "parentSpanId": call.parent.as_deref().unwrap_or_default(),
        "name": format!("execute_tool {}", call.tool),
        "kind": SERVER,
        "startTimeUnixNano": nanos(call.began_at),
        "endTimeUnixNano": nanos(call.ended_at),
        "attributes": attributes,
        "status": {"code": if call.failed { ERROR } else { UNSET }},
    })
}

fn attribute(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// 64-bit numbers are strings in OTLP's JSON.
fn nanos(time: Time) -> String {
    format!("{}000000", time.millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use provost_core::ids::TraceId;

    #[test]
    fn a_call_is_one_span_with_the_genai_names() {
        let call = CallSpan {
            trace_id: TraceId::from("0af7651916cd43dd8448eb211c80319c"),
            parent: Some("b7ad6b7169203331".into()),
            agent: "claude".into(),
            session: Some("s1".into()),
            tool: "fs.read".into(),
            began_at: Time::from_millis(1_000),
            ended_at: Time::from_millis(1_250),
            verdict: "deny",
            failed: true,
        };
        let body: Value = serde_json::from_str(&body(&[call])).unwrap();
        let span = &body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(span["name"], "execute_tool fs.read");
        assert_eq!(span["traceId"], "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(span["parentSpanId"], "b7ad6b7169203331");
        assert_eq!(span["endTimeUnixNano"], "1250000000");
        assert_eq!(span["status"]["code"], 2);
        assert!(
            span["attributes"]
                .as_array()
                .unwrap()
                .contains(&attribute("gen_ai.conversation.id", "s1"))
        );
    }
}
