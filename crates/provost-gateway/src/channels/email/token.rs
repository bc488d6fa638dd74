//! What mails carry so that a reply finds its delivery, and so that nobody can make it up: the delivery's id
//! and a keyed hash of it. In base32, since mail servers may change the case of an address.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use provost_core::ids::DeliveryId;
use sha2::Sha256;

use super::address::{Address, LONGEST_LOCAL};

const ID: usize = 16;
const MAC: usize = 10;
/// 26 bytes in base32.
const LENGTH: usize = 42;
/// So much of `from` fits beside a `+` and the token.
pub(super) const LONGEST_SENDER: usize = LONGEST_LOCAL - LENGTH - 1;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

pub struct Tokens {
    key: [u8; 32],
}

/// Where a token stands. One place's token is of no use in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    ReplyTo,
    MessageId,
}

/// What one of our mails is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mail {
    Ask,
    End,
    /// Each one is a mail of its own.
    Again([u8; 5]),
}

impl Tokens {
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// `None` for an id that is not one of ours.
    pub(super) fn seal(&self, place: Place, id: &DeliveryId) -> Option<String> {
        let id = bytes_of(id.as_str())?;
        let mac = self.mac(place, &id).finalize().into_bytes();
        let bytes = id.iter().chain(mac.iter().take(MAC));
        Some(base32(bytes.copied()))
    }

    /// The delivery that a token was made for, when it was made by us.
    pub(super) fn open(&self, place: Place, token: &str) -> Option<DeliveryId> {
        let bytes = unbase32(token)?;
        let (id, mac) = bytes.split_at_checked(ID)?;
        let ours = mac.len() == MAC && self.mac(place, id).verify_truncated_left(mac).is_ok();
        ours.then(|| DeliveryId::from(hex(id)))
    }

    /// Where replies go: `from` with the token behind a plus.
    pub(super) fn reply_to(&self, from: &Address, id: &DeliveryId) -> Option<Address> {
        let token = self.seal(Place::ReplyTo, id)?;
        Address::parse(&format!("{}+{token}@{}", from.local(), from.domain())).ok()
    }

    /// The delivery that an address of ours was made for.
    pub(super) fn replied_to(&self, from: &Address, to: &Address) -> Option<DeliveryId> {
        let (base, token) = to.local().rsplit_once('+')?;
        let ours = base.eq_ignore_ascii_case(from.local()) && to.domain() == from.domain();
        ours.then(|| self.open(Place::ReplyTo, token)).flatten()
    }

    /// The same for the same mail: whatever is sent twice after a crash is one mail to most programs.
    pub(super) fn message_id(&self, mail: Mail, from: &Address, id: &DeliveryId) -> Option<String> {
        let token = self.seal(Place::MessageId, id)?;
        let kind = match mail {
            Mail::Ask => "ask".to_owned(),
            Mail::End => "end".to_owned(),
            Mail::Again(random) => format!("again.{}", base32(random.into_iter())),
        };
        Some(format!("{kind}.{token}@{}", from.domain()))
    }

    /// Whether a mail with that Message-ID was written by us.
    pub(super) fn is_own(&self, message_id: &str) -> bool {
        let token = message_id.split('@').next().unwrap_or_default();
        let token = token.rsplit('.').next().unwrap_or_default();
        self.open(Place::MessageId, token).is_some()
    }

    fn mac(&self, place: Place, id: &[u8]) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "a key of any length is one")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("32 bytes are a key");
        mac.update(match place {
            Place::ReplyTo => b"reply-to:",
            Place::MessageId => b"message-id:",
        });
        mac.update(id);
        mac
    }
}

fn bytes_of(id: &str) -> Option<[u8; ID]> {
    if id.len() != 2 * ID {
        return None;
    }
    let mut bytes = [0; ID];
    for (byte, pair) in bytes.iter_mut().zip(id.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    // A sign passes for a digit above.
    (hex(&bytes) == id).then_some(bytes)
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn base32(bytes: impl Iterator<Item = u8>) -> String {
    let mut text = String::with_capacity(LENGTH);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in bytes {
        bits = (bits << 8) | u32::from(byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            text.push(letter(bits >> held));
        }
        bits &= (1 << held) - 1;
    }
    if held > 0 {
        text.push(letter(bits << (5 - held)));
    }
    text
}

fn letter(bits: u32) -> char {
    let byte = ALPHABET.get(bits as usize & 31).copied();
    char::from(byte.unwrap_or(b'a'))
}

fn unbase32(text: &str) -> Option<Vec<u8>> {
    if text.len() != LENGTH {
        return None;
    }
    let mut bytes = Vec::with_capacity(ID + MAC);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.bytes() {
        let letter = letter.to_ascii_lowercase();
        let value = ALPHABET.iter().position(|known| *known == letter)?;
        bits = (bits << 5) | value as u32;
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens() -> Tokens {
        Tokens::new([7; 32])
    }

    #[test]
    fn a_reply_finds_its_delivery() {
        let id = DeliveryId::random();
        let from = Address::parse("gate@example.com").unwrap();
        let to = tokens().reply_to(&from, &id).unwrap();
        assert!(to.local().len() <= LONGEST_LOCAL);
        assert_eq!(tokens().replied_to(&from, &to), Some(id.clone()));
        let shouted = Address::parse(&to.to_string().to_uppercase()).unwrap();
        assert_eq!(tokens().replied_to(&from, &shouted), Some(id.clone()));

        let other = Address::parse("gate@elsewhere.example").unwrap();
        assert_eq!(tokens().replied_to(&other, &to), None);
        assert_eq!(Tokens::new([8; 32]).replied_to(&from, &to), None);
        assert_eq!(tokens().reply_to(&from, &"short".into()), None);
    }

    #[test]
    fn the_longest_sender_leaves_room_for_the_token() {
        let long = format!("{}@example.com", "x".repeat(LONGEST_SENDER));
        let from = Address::parse(&long).unwrap();
        let to = tokens().reply_to(&from, &DeliveryId::random()).unwrap();
        assert_eq!(to.local().len(), LONGEST_LOCAL);
    }

    #[test]
    fn our_own_mails_are_known_and_a_token_works_in_its_place_only() {
        let (tokens, id) = (tokens(), DeliveryId::random());
        let from = Address::parse("gate@example.com").unwrap();
        let asked = tokens.message_id(Mail::Ask, &from, &id).unwrap();
        assert!(tokens.is_own(&asked));
        assert_ne!(tokens.message_id(Mail::End, &from, &id).unwrap(), asked);
        assert!(!tokens.is_own("ask.aaaa@example.com"));
        assert!(!tokens.is_own(""));
        let token = tokens.seal(Place::MessageId, &id).unwrap();
        assert_eq!(tokens.open(Place::ReplyTo, &token), None);
    }

    proptest! {
        #[test]
        fn every_id_comes_back_and_no_changed_token_does(id in any::<[u8; ID]>(), at in 0..LENGTH, to in 0..32_usize) {
            let id = DeliveryId::from(hex(&id));
            let token = tokens().seal(Place::ReplyTo, &id).unwrap();
            prop_assert_eq!(tokens().open(Place::ReplyTo, &token), Some(id));
            let mut changed = token.clone().into_bytes();
            changed[at] = ALPHABET[to];
            let changed = String::from_utf8(changed).unwrap();
            if changed != token {
                prop_assert_eq!(tokens().open(Place::ReplyTo, &changed), None);
            }
        }

        #[test]
        fn no_token_breaks_it(text in ".{0,60}") {
            prop_assert_eq!(tokens().open(Place::ReplyTo, &text), None);
        }
    }
}
