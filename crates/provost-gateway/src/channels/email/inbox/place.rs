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

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.validity, self.uid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
