//! Whom a request is for.

use serde_json::{Value, json};

use super::unprocessable;
use crate::{
    channels::email::Address,
    doors::http::error::{ApiError, ApiResult},
};

/// The address on the channel, in one form whatever form it was given in.
pub(super) fn address(channel: &str, target: &Value) -> ApiResult<Value> {
    match channel {
        "telegram" => chat(target.get("tg_chat_id")).ok_or_else(|| {
            missing(
                "target.tg_chat_id",
                "the number of a chat, or the `@name` of a public one",
            )
        }),
        "email" => mailbox(target.get("email_to"))
            .ok_or_else(|| missing("target.email_to", "one e-mail address")),
        _ => Err(unprocessable(
            "bad_channel",
            format!("`channel` is `telegram` or `email`, not `{channel}`"),
        )),
    }
}

fn missing(name: &str, what: &str) -> ApiError {
    unprocessable("missing_target", format!("`{name}` is needed: {what}"))
}

fn chat(given: Option<&Value>) -> Option<Value> {
    let id = match given? {
        Value::Number(number) => number.as_i64()?,
        Value::String(text) => match text.trim().parse() {
            Ok(number) => number,
            Err(_) => return public_chat(text.trim()),
        },
        _ => return None,
    };
    (id != 0).then(|| json!({"tg_chat_id": id}))
}

fn public_chat(text: &str) -> Option<Value> {
    let name = text.strip_prefix('@')?;
    let fits = (1..=64).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    fits.then(|| json!({"tg_chat_id": text}))
}

fn mailbox(given: Option<&Value>) -> Option<Value> {
    let address = Address::parse(given?.as_str()?.trim()).ok()?;
    Some(address.to_target())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        for (channel, target, expected) in [
            (
                "telegram",
                json!({"tg_chat_id": 42}),
                Some(json!({"tg_chat_id": 42})),
            ),
            (
                "telegram",
                json!({"tg_chat_id": "-100"}),
                Some(json!({"tg_chat_id": -100})),
            ),
            (
                "telegram",
                json!({"tg_chat_id": "@ops"}),
                Some(json!({"tg_chat_id": "@ops"})),
            ),
            ("telegram", json!({"tg_chat_id": "ops"}), None),
            ("telegram", json!({"tg_chat_id": 1.5}), None),
            ("telegram", json!({"tg_chat_id": 0}), None),
            ("telegram", json!({"email_to": "a@b.c"}), None),
            (
                "email",
                json!({"email_to": "a+b@c.org"}),
                Some(json!({"email_to": "a+b@c.org"})),
            ),
            ("email", json!({"email_to": "a@b.c, d@e.f"}), None),
            ("email", json!({"email_to": "A <a@b.c>"}), None),
            ("email", json!({"email_to": "a@b.c\r\nBcc: d@e.f"}), None),
            ("email", json!({"email_to": "nobody"}), None),
            ("email", json!({}), None),
            ("pigeon", json!({"email_to": "a@b.c"}), None),
        ] {
            assert_eq!(
                address(channel, &target).ok(),
                expected,
                "{channel} {target}"
            );
        }
    }
}
