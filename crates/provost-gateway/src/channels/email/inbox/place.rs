//! How far a mailbox was read.

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
