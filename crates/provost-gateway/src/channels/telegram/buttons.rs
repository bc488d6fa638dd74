//! The buttons below a question, and what a tap on one says.

use provost_core::{card::Card, ids::DeliveryId, menu::Code};
use serde_json::{Value, json};

/// What Telegram lets a button carry, in bytes.
const LONGEST_DATA: usize = 64;

/// Yes and no first, what lasts below. The other codes need words.
const ROWS: [&[(Code, &str)]; 3] = [
    &[(Code::Once, "1 ✅ Allow once"), (Code::Deny, "3 ⛔ Deny")],
    &[(Code::Session, "2 Allow for this session")],
    &[(Code::Always, "6 Always allow this")],
];

pub(super) fn keyboard(delivery: &DeliveryId, card: &Card) -> Value {
    let rows = ROWS.iter().filter_map(|row| {
        let buttons: Vec<Value> = row
            .iter()
            .filter(|(code, _)| card.choices.contains(code))
            .map(|(code, label)| {
                let label = match card.offer(*code) {
                    Some(offer) => format!("{} {}", code.as_str(), offer.short_label()),
                    None => (*label).to_owned(),
                };
                (label, format!("{}:{delivery}", code.as_str()))
            })
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
