//! The fields of each method, and their limits. A field that is not listed is refused.

use serde_json::{Map, Value};

use super::{html, markup};

type Checked = Result<(), String>;
type Rule = (&'static str, bool, fn(&Value) -> Checked);

const REQUIRED: bool = true;
const OPTIONAL: bool = false;

fn rules(method: &str) -> Option<&'static [Rule]> {
    Some(match method {
        "getMe" => &[],
        "getChat" => &[("chat_id", REQUIRED, chat)],
        "sendMessage" => &[
            ("chat_id", REQUIRED, chat),
            ("text", REQUIRED, a_text),
            ("parse_mode", OPTIONAL, parse_mode),
            ("link_preview_options", OPTIONAL, preview),
            ("reply_parameters", OPTIONAL, markup::reply_parameters),
            ("reply_markup", OPTIONAL, markup::any),
        ],
        "editMessageText" => &[
            ("chat_id", REQUIRED, chat),
            ("message_id", REQUIRED, integer),
            ("text", REQUIRED, a_text),
            ("parse_mode", OPTIONAL, parse_mode),
            ("link_preview_options", OPTIONAL, preview),
            ("reply_markup", OPTIONAL, markup::inline),
        ],
        "editMessageReplyMarkup" => &[
            ("chat_id", REQUIRED, chat),
            ("message_id", REQUIRED, integer),
            ("reply_markup", OPTIONAL, markup::inline),
        ],
        "answerCallbackQuery" => &[
            ("callback_query_id", REQUIRED, a_text),
            ("text", OPTIONAL, notice),
            ("show_alert", OPTIONAL, boolean),
        ],
        "getUpdates" => &[
            ("offset", OPTIONAL, integer),
            ("limit", OPTIONAL, limit),
            ("timeout", OPTIONAL, integer),
            ("allowed_updates", OPTIONAL, kinds),
        ],
        "setWebhook" => &[
            ("url", REQUIRED, a_text),
            ("secret_token", OPTIONAL, secret),
            ("allowed_updates", OPTIONAL, kinds),
        ],
        "deleteWebhook" => &[("drop_pending_updates", OPTIONAL, boolean)],
        _ => return None,
    })
}

pub(super) fn check(method: &str, body: &Value) -> Checked {
    let rules = rules(method).ok_or("no such method")?;
    let body = body.as_object().ok_or("the body is not an object")?;
    object(body, rules)?;
    if let Some(text) = body.get("text").and_then(Value::as_str)
        && method != "answerCallbackQuery"
    {
        length(text, body.contains_key("parse_mode"))?;
    }
    Ok(())
}

pub(super) fn object(body: &Map<String, Value>, rules: &[Rule]) -> Checked {
    for (name, value) in body {
        let rule = rules.iter().find(|(known, ..)| known == name);
        let (.., rule) = rule.ok_or_else(|| format!("unknown field {name}"))?;
        rule(value).map_err(|why| format!("{name}: {why}"))?;
    }
    for (name, required, _) in rules {
        if *required && !body.contains_key(*name) {
            return Err(format!("{name} is missing"));
        }
    }
    Ok(())
}

fn length(text: &str, html: bool) -> Checked {
    if text.len() > 1 << 15 {
        return Err("Text is too long".into());
    }
    let shown = if html {
        html::shown(text)?
    } else {
        text.to_owned()
    };
    match shown.trim().encode_utf16().count() {
        0 => Err("message text is empty".into()),
        1..=4096 => Ok(()),
        _ => Err("message is too long".into()),
    }
}

pub(super) fn when(holds: bool, why: &str) -> Checked {
    if holds { Ok(()) } else { Err(why.to_owned()) }
}

pub(super) fn a_text(value: &Value) -> Checked {
    when(
        value.as_str().is_some_and(|text| !text.is_empty()),
        "not a text",
    )
}

pub(super) fn integer(value: &Value) -> Checked {
    when(value.is_i64(), "not an integer")
}

pub(super) fn boolean(value: &Value) -> Checked {
    when(value.is_boolean(), "not a boolean")
}

fn chat(value: &Value) -> Checked {
    let named = value.as_str().is_some_and(|name| name.starts_with('@'));
    when(value.is_i64() || named, "neither an id nor @name")
}

fn parse_mode(value: &Value) -> Checked {
    when(value == "HTML", "only HTML is known here")
}

fn preview(value: &Value) -> Checked {
    let options = value.as_object().ok_or("not an object")?;
    object(options, &[("is_disabled", OPTIONAL, boolean)])
}

fn notice(value: &Value) -> Checked {
    let text = value.as_str().ok_or("not a text")?;
    when(
        text.encode_utf16().count() <= 200,
        "longer than 200 characters",
    )
}

fn limit(value: &Value) -> Checked {
    let limit = value.as_i64().unwrap_or_default();
    when((1..=100).contains(&limit), "not from 1 to 100")
}

fn secret(value: &Value) -> Checked {
    let secret = value.as_str().unwrap_or_default();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    when(
        (1..=256).contains(&secret.len()) && secret.chars().all(allowed),
        "secret token contains unallowed characters",
    )
}

/// Without the taps the buttons would do nothing.
fn kinds(value: &Value) -> Checked {
    let kinds = value.as_array().ok_or("not a list")?;
    let known = ["message", "callback_query"];
    when(
        kinds
            .iter()
            .all(|kind| known.iter().any(|known| kind == known))
            && kinds.iter().any(|kind| kind == "callback_query"),
        "unknown kinds, or no callback_query",
    )
}
