//! A question that is too long for a list. Its long arguments are described by length, hash and type, as they are where
//! content is not shown: clients know this form, and no beginning of a text passes for all of it. Nothing long is
//! masked or summarised here, so that a page of long questions stays cheap.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{Question, Request};
use crate::{
    review::{Excerpt, Summary, described, redact_map},
    trace::view::Exposure,
};

/// A shorter argument is described with all others or not at all.
const SHORT: usize = 256;
/// Of a preview.
const MOST_LINES: usize = 60;

#[derive(Deserialize)]
struct Long<'a> {
    #[serde(borrow)]
    params: BTreeMap<Cow<'a, str>, &'a RawValue>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl Question {
    /// Reads the JSON of a question without what is long in it: about `longest` bytes remain. It is as it may be
    /// shown: what is masked in a part depends on the whole, so of a question with a secret only structure remains.
    pub fn cut(json: &[u8], longest: usize, exposure: Exposure) -> Option<Self> {
        let Long { params, mut rest } = serde_json::from_slice(json).ok()?;
        rest.insert("params".into(), json!({}));
        let question: Self = serde_json::from_value(Value::Object(rest)).ok()?;
        let is_plain = exposure == Exposure::Everything && !question.hides_secret;
        let question = if is_plain {
            question
        } else {
            question.structure()
        };
        Some(Self {
            params: shortened(&params, longest, is_plain),
            summary: question.summary.map(|summary| outlined(summary, longest)),
            request: question.request.map(|said| Box::new(begun(*said, longest))),
            ..question
        })
    }
}

/// The arguments in half of the room: the longest of them described, or all of them as one.
fn shortened(
    params: &BTreeMap<Cow<'_, str>, &RawValue>,
    longest: usize,
    is_plain: bool,
) -> Map<String, Value> {
    for longest_shown in [longest / 16, SHORT] {
        let is_long = |value: &RawValue| value.get().len() > longest_shown.max(SHORT);
        let length = |(name, value): (&Cow<'_, str>, &&RawValue)| {
            let value = value.get().len();
            name.len() + value.min(longest_shown.max(SHORT))
        };
        if params.iter().map(length).sum::<usize>() > longest / 2 {
            continue;
        }
        let (long, short): (Vec<_>, Vec<_>) = params.iter().partition(|(_, value)| is_long(value));
        let short: Map<String, Value> = short
            .into_iter()
            .filter_map(|(name, value)| {
                let value = serde_json::from_str(value.get()).ok()?;
                Some((name.to_string(), value))
            })
            .collect();
        let mut shown = if is_plain { short } else { redact_map(&short) };
        let long = long.into_iter();
        shown.extend(long.map(|(name, value)| (name.to_string(), description(value, is_plain))));
        return shown;
    }
    let length = params.values().map(|value| value.get().len());
    let mut all = Map::new();
    all.insert("content_length".into(), length.sum::<usize>().into());
    all.insert("content_type_detected".into(), "application/json".into());
    all
}

/// By its hash, a text of which all is known but a secret would be found.
fn description(value: &RawValue, is_plain: bool) -> Value {
    let text = serde_json::from_str::<Cow<'_, str>>(value.get());
    let content = text.as_deref().unwrap_or(value.get());
    let mut description = described(content.as_bytes());
    if let Some(description) = description.as_object_mut().filter(|_| !is_plain) {
        description.remove("content_sha256");
    }
    description
}

fn outlined(summary: Summary, longest: usize) -> Summary {
    let length = serde_json::to_vec(&summary).map_or(usize::MAX, |text| text.len());
    if length > longest / 4 {
        summary.structure()
    } else {
        summary
    }
}

fn begun(said: Request, longest: usize) -> Request {
    Request {
        preview: Excerpt::of(&said.preview, MOST_LINES, longest / 4).text,
        ..said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 2048;

    fn question(params: &Value, hides_secret: bool) -> Vec<u8> {
        let question = json!({
            "id": "3f9a", "kind": "call", "agent_id": "claude", "tool": "fs.write", "params": params,
            "policy_rule": "r", "policy": "human_approval", "created_at": "2026-04-10T14:30:00.000Z",
            "digest": "00".repeat(32), "injection_risk": false, "trace_id": "t", "door": "http",
            "hides_secret": hides_secret,
        });
        serde_json::to_vec(&question).unwrap()
    }

    fn cut(params: &Value, hides_secret: bool, exposure: Exposure) -> Map<String, Value> {
        let json = question(params, hides_secret);
        let cut = Question::cut(&json, LONGEST, exposure).unwrap();
        assert!(serde_json::to_vec(&cut).unwrap().len() < LONGEST);
        assert_eq!(&*cut.tool, "fs.write");
        cut.params
    }

    #[test]
    fn p10_what_is_long_is_described_and_what_is_short_stays() {
        let content = "a\"b\n".repeat(100_000);
        let list = vec!["0123456789"; 10_000];
        let params = json!({"path": "/srv/a", "n": 7, "content": content, "list": list});
        let shown = cut(&params, false, Exposure::Everything);
        assert_eq!((&shown["path"], &shown["n"]), (&json!("/srv/a"), &json!(7)));
        assert_eq!(shown["content"], described(content.as_bytes()));
        assert_eq!(shown["list"]["content_type_detected"], "application/json");
        let many: Map<String, Value> = (0..1000).map(|n| (format!("k{n}"), n.into())).collect();
        let shown = cut(&many.into(), false, Exposure::Everything);
        assert!(shown.contains_key("content_length") && shown.len() == 2);
    }

    #[test]
    fn p10_a_part_of_a_question_with_a_secret_shows_structure_only() {
        let content = format!("password: hunter2horse\n{}", "x".repeat(100_000));
        let params = json!({"path": "/srv/a", "note": "said in words", "content": content});
        for (hides_secret, exposure) in [
            (true, Exposure::Everything),
            (false, Exposure::Structure),
            (true, Exposure::Structure),
        ] {
            let shown = cut(&params, hides_secret, exposure);
            assert_eq!(shown["path"], "/srv/a");
            let text = Value::Object(shown).to_string();
            assert!(
                !text.contains("hunter2horse") && !text.contains("said in words"),
                "{text}"
            );
            assert!(!text.contains(&described(content.as_bytes())["content_sha256"].to_string()));
        }
    }

    #[test]
    fn p10_a_long_preview_is_cut() {
        let mut long: Value = serde_json::from_slice(&question(&json!({}), false)).unwrap();
        long["request"] = json!({"client_id": "c", "title": "t", "preview": "x\n".repeat(30_000),
            "channel": "email", "target": null});
        let long = serde_json::to_vec(&long).unwrap();
        let cut = Question::cut(&long, LONGEST, Exposure::Everything).unwrap();
        assert!(serde_json::to_vec(&cut).unwrap().len() < LONGEST);
        assert!(cut.request.unwrap().preview.starts_with("x\nx\n"));
    }
}
