//! Buttons and replies.

use serde_json::Value;

use super::check::{a_text, boolean, integer, object, when};

type Checked = Result<(), String>;

pub(super) fn any(value: &Value) -> Checked {
    if value.get("force_reply").is_some() {
        return force_reply(value);
    }
    inline(value)
}

pub(super) fn inline(value: &Value) -> Checked {
    let markup = value.as_object().ok_or("not an object")?;
    object(markup, &[("inline_keyboard", true, rows)])
}

fn rows(value: &Value) -> Checked {
    let rows = value.as_array().ok_or("not a list of rows")?;
    for row in rows {
        let row = row.as_array().ok_or("a row is not a list")?;
        when((1..=8).contains(&row.len()), "a row has 1 to 8 buttons")?;
        for button in row {
            let button = button.as_object().ok_or("a button is not an object")?;
            object(
                button,
                &[("text", true, a_text), ("callback_data", true, data)],
            )?;
        }
    }
    Ok(())
}

fn data(value: &Value) -> Checked {
    let data = value.as_str().ok_or("not a text")?;
    when((1..=64).contains(&data.len()), "BUTTON_DATA_INVALID")
}

fn force_reply(value: &Value) -> Checked {
    let markup = value.as_object().ok_or("not an object")?;
    let rules: &[_] = &[
        ("force_reply", true, yes as fn(&Value) -> Checked),
        ("selective", false, boolean),
        ("input_field_placeholder", false, placeholder),
    ];
    object(markup, rules)
}

fn yes(value: &Value) -> Checked {
    when(value == true, "not true")
}

fn placeholder(value: &Value) -> Checked {
    let text = value.as_str().ok_or("not a text")?;
    when(
        (1..=64).contains(&text.chars().count()),
        "not 1 to 64 characters",
    )
}

pub(super) fn reply_parameters(value: &Value) -> Checked {
    let parameters = value.as_object().ok_or("not an object")?;
    let rules: &[_] = &[
        ("message_id", true, integer as fn(&Value) -> Checked),
        ("allow_sending_without_reply", false, boolean),
    ];
    object(parameters, rules)
}
