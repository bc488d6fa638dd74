//! The last bytes of what a command wrote, as text.

use std::collections::VecDeque;

/// Keeps at most `limit` bytes, the newest ones.
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    limit: usize,
    truncated: bool,
}

impl Tail {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            limit,
            truncated: false,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let newest = bytes
            .get(bytes.len().saturating_sub(self.limit)..)
            .unwrap_or_default();
        let over = (self.bytes.len() + newest.len()).saturating_sub(self.limit);
        self.truncated |= over > 0 || newest.len() < bytes.len();
        self.bytes.drain(..over);
        self.bytes.extend(newest);
    }

    /// The text and whether its beginning is gone. It is whole characters within the limit: one that was
    /// cut at the front is left out, and so is one at the end that has not fully arrived.
    pub(super) fn text(&mut self) -> (String, bool) {
        let mut bytes: &[u8] = self.bytes.make_contiguous();
        if self.truncated {
            let cut = bytes.iter().take(3).take_while(|b| **b & 0xC0 == 0x80);
            bytes = bytes.get(cut.count()..).unwrap_or_default();
        }
        let mut text = String::from_utf8_lossy(arrived(bytes)).into_owned();
        // What is not UTF-8 grows when it is replaced.
        let over = text.len().saturating_sub(self.limit);
        text.drain(..text.ceil_char_boundary(over));
        (text, self.truncated || over > 0)
    }
}

fn arrived(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).unwrap_or_default()
        }
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keeps_the_end_at_a_character() {
        let cases: [(usize, &[&str], &str, bool); 6] = [
            (5, &["12345"], "12345", false),
            (5, &["123", "456"], "23456", true),
            (5, &["0123456789"], "56789", true),
            (4, &["aéé", "é"], "éé", true),
            (3, &["éé"], "é", true),
            (0, &["a"], "", true),
        ];
        for (limit, pieces, text, truncated) in cases {
            let mut tail = Tail::new(limit);
            for piece in pieces {
                tail.push(piece.as_bytes());
            }
            assert_eq!(tail.text(), (text.to_owned(), truncated), "{pieces:?}");
        }
    }

    #[test]
    fn half_a_character_waits_for_the_rest() {
        let mut tail = Tail::new(10);
        tail.push(&[b'a', 0xC3]);
        assert_eq!(tail.text().0, "a");
        tail.push(&[0xA9]);
        assert_eq!(tail.text().0, "aé");
    }

    proptest! {
        #[test]
        fn never_more_than_the_limit(
            limit in 0_usize..40,
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..30), 0..6),
        ) {
            let mut tail = Tail::new(limit);
            for piece in &pieces {
                tail.push(piece);
            }
            prop_assert!(tail.text().0.len() <= limit);
        }

        #[test]
        fn text_ends_as_it_was_written(limit in 0_usize..40, text in ".{0,30}") {
            let mut tail = Tail::new(limit);
            tail.push(text.as_bytes());
            let (kept, truncated) = tail.text();
            prop_assert!(text.ends_with(&kept));
            prop_assert_eq!(truncated, text.len() > limit);
        }
    }
}
