//! The buttons below a question, and what a tap on one says.

use provost_core::{ids::DeliveryId, menu::Code};
use serde_json::{Value, json};

/// What Telegram lets a button carry, in bytes.
const LONGEST_DATA: usize = 64;

/// Yes and no first, what lasts below. The other codes need words.
const ROWS: [&[(Code, &str)]; 3] = [
    &[(Code::Once, "1 ✅ Allow once"), (Code::Deny, "3 ⛔ Deny")],
    &[(Code::Session, "2 Allow for this session")],
    &[(Code::Always, "6 Always allow this")],
];

pub(super) fn keyboard(delivery: &DeliveryId, choices: &[Code]) -> Value {
    let rows = ROWS.iter().filter_map(|row| {
        let buttons: Vec<Value> = row
            .iter()
            .filter(|(code, _)| choices.contains(code))
            .map(|(code, label)| (label, format!("{}:{delivery}", code.as_str())))
            .filter(|(_, data)| data.len() <= LONGEST_DATA)
            .map(|(label, data)| json!({"text": label, "callback_data": data}))
            .collect();
        (!buttons.is_empty()).then_some(buttons)
    });
    json!({"inline_keyboard": rows.collect::<Vec<_>>()})
}

pub(super) fn none() -> Value {
    json!({"inline_keyboard": []})
}

/// What a tap carries. Clients can send what they like, so this proves nothing about who tapped where.
pub(super) fn read(data: &str) -> Option<(Code, DeliveryId)> {
    let (code, delivery) = data.split_once(':')?;
    let code = Code::parse(code)?;
    (!delivery.is_empty() && data.len() <= LONGEST_DATA).then(|| (code, delivery.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_chosen_has_a_button() {
        let choices = [Code::Once, Code::Deny, Code::Note, Code::Always];
        let keyboard = keyboard(&"d1".into(), &choices);
        assert_eq!(
            keyboard,
            json!({"inline_keyboard": [
                [
                    {"text": "1 ✅ Allow once", "callback_data": "1:d1"},
                    {"text": "3 ⛔ Deny", "callback_data": "3:d1"},
                ],
                [{"text": "6 Always allow this", "callback_data": "6:d1"}],
            ]})
        );
    }

    #[test]
    fn taps_are_read_strictly() {
        assert_eq!(read("3:d1"), Some((Code::Deny, "d1".into())));
        for wrong in [
            "",
            "3",
            "3:",
            "9:d1",
            ":d1",
            " 3:d1",
            &format!("1:{}", "d".repeat(63)),
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
