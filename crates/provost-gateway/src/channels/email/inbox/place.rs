//! How far a mailbox was read.

/// So many of the unread mails that lay there before are looked at when a mailbox is read for the first time.
const MOST_AT_FIRST: usize = 200;

/// UIDs grow within one validity and mean nothing in another (RFC 3501, 2.3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) validity: u32,
    /// The last one that was handled.
    pub(super) uid: u32,
}

impl Place {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (validity, uid) = text.split_once(':')?;
        Some(Self {
            validity: validity.parse().ok()?,
            uid: uid.parse().ok()?,
        })
    }

    /// The place before the mail that comes next, which is 0 in an empty mailbox.
    pub(super) fn before(validity: u32, next: Option<u32>) -> Option<Self> {
        let uid = next?.checked_sub(1)?;
        Some(Self { validity, uid })
    }

    pub(super) fn is_beyond(self, other: Self) -> bool {
        self.validity == other.validity && self.uid >= other.uid
    }
}

/// The mails to handle when a mailbox is read for the first time: the last ones that lay there, and all that came
/// since it was opened.
pub(super) fn at_first(mut sorted: Vec<u32>, next: Option<u32>) -> Vec<u32> {
    let lay_there = match next {
        Some(next) => sorted.partition_point(|uid| *uid < next),
        None => sorted.len(),
    };
    sorted.split_off(lay_there.saturating_sub(MOST_AT_FIRST))
}

/// A mail at which connections break again and again must not keep the others waiting for ever.
#[derive(Debug, Default)]
pub(super) struct Stuck {
    uid: u32,
    times: u32,
}

impl Stuck {
    const MOST: u32 = 5;

    /// Whether it was tried often enough. Asking counts as a try.
    pub(super) fn is_hopeless(&mut self, uid: u32) -> bool {
        if self.uid != uid {
            *self = Self { uid, times: 0 };
        }
        self.times += 1;
        self.times > Self::MOST
    }

    pub(super) fn is_over(&mut self) {
        *self = Self::default();
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.validity, self.uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_given_up_after_some_tries_in_a_row() {
        let mut stuck = Stuck::default();
        let tries = (0..10).take_while(|_| !stuck.is_hopeless(7)).count();
        assert_eq!(tries, 5);
        assert!(!stuck.is_hopeless(8));
        stuck.is_over();
        assert_eq!((0..10).take_while(|_| !stuck.is_hopeless(8)).count(), 5);
    }

    #[test]
    fn p13_an_empty_mailbox_has_a_place_and_what_comes_into_it_is_all_read() {
        let empty = Place::before(7, Some(1)).unwrap();
        assert_eq!(empty.to_string(), "7:0");
        assert_eq!(Place::parse("7:0"), Some(empty));
        assert_eq!(Place::before(7, None), None);
        let handled = Place { uid: 3, ..empty };
        assert!(handled.is_beyond(empty) && !empty.is_beyond(handled));
        let other = Place {
            validity: 8,
            ..handled
        };
        assert!(!other.is_beyond(empty));
        let came: Vec<u32> = (1..=206).collect();
        assert_eq!(at_first(came.clone(), Some(1)).len(), 206);
        assert_eq!(at_first(came.clone(), Some(207)).first(), Some(&7));
        assert_eq!(at_first(came.clone(), Some(204)).first(), Some(&4));
        assert_eq!(at_first(came, None).len(), 200);
    }

    #[test]
    fn a_place_is_found_again() {
        let place = Place {
            validity: 7,
            uid: 42,
        };
        assert_eq!(Place::parse(&place.to_string()), Some(place));
        for text in ["", "7", "7:", "x:1", "-1:2", "7:99999999999"] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }
}
