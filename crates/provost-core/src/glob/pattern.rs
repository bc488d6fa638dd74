//! One glob: parsed once, matched without allocating.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Longer names are nobody's tool or agent.
const MAX_LENGTH: usize = 512;

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Glob {
    source: Box<str>,
    parts: Box<[Part]>,
    /// The characters before the first wildcard, by which [`super::GlobIndex`] finds this glob.
    prefix: Box<str>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Part {
    Literal(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// A whole pattern `*`: everything, `/` included.
    Everything,
    Class {
        negated: bool,
        ranges: Box<[(char, char)]>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    #[error("an empty glob matches nothing")]
    Empty,
    #[error("the class that begins at character {0} has no closing `]`")]
    OpenClass(usize),
    #[error("the class at character {0} is empty")]
    EmptyClass(usize),
    #[error("`\\` at the end escapes nothing")]
    DanglingEscape,
    #[error("longer than {MAX_LENGTH} characters")]
    TooLong,
}

impl Glob {
    pub fn new(source: &str) -> Result<Self, GlobError> {
        if source.is_empty() {
            return Err(GlobError::Empty);
        }
        if source.chars().count() > MAX_LENGTH {
            return Err(GlobError::TooLong);
        }
        let parts = if source == "*" {
            vec![Part::Everything]
        } else {
            parse(source)?
        };
        let prefix: String = parts
            .iter()
            .map_while(|part| {
                if let Part::Literal(c) = part {
                    Some(*c)
                } else {
                    None
                }
            })
            .collect();
        Ok(Self {
            source: source.into(),
            parts: parts.into(),
            prefix: prefix.into(),
        })
    }

    /// The glob that matches this name and no other.
    pub fn exactly(name: &str) -> Self {
        let special = |c| matches!(c, '*' | '?' | '[' | '\\');
        let escaped = name
            .chars()
            .flat_map(|c| special(c).then_some('\\').into_iter().chain([c]));
        Self {
            source: escaped.collect::<String>().into(),
            parts: name.chars().map(Part::Literal).collect(),
            prefix: name.into(),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.source
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Whether this glob names exactly one thing.
    pub fn is_literal(&self) -> bool {
        self.parts
            .iter()
            .all(|part| matches!(part, Part::Literal(_)))
    }

    pub fn is_everything(&self) -> bool {
        matches!(*self.parts, [Part::Everything])
    }

    pub fn matches(&self, name: &str) -> bool {
        match_parts(&self.parts, name)
    }

    /// Whether every name this glob matches is matched by `self`; sound, but not complete: `false`
    /// may mean "cannot tell". Used for warnings only.
    pub fn covers(&self, other: &Self) -> bool {
        if self.is_everything() || self == other {
            return true;
        }
        if other.is_literal() {
            return self.matches(&other.prefix);
        }
        match &*self.parts {
            [head @ .., Part::Many] if head.iter().all(|p| matches!(p, Part::Literal(_))) => {
                other.prefix.starts_with(&*self.prefix)
                    && !other.is_everything()
                    && !other
                        .source
                        .chars()
                        .skip(self.prefix.chars().count())
                        .any(|c| c == '/')
            }
            _ => false,
        }
    }
}

fn parse(source: &str) -> Result<Vec<Part>, GlobError> {
    let mut parts = Vec::new();
    let mut chars = source.chars().enumerate().peekable();
    while let Some((at, c)) = chars.next() {
        parts.push(match c {
            '?' => Part::One,
            '*' => {
                while chars.next_if(|(_, c)| *c == '*').is_some() {}
                Part::Many
            }
            '\\' => Part::Literal(chars.next().ok_or(GlobError::DanglingEscape)?.1),
            '[' => parse_class(at, &mut chars)?,
            other => Part::Literal(other),
        });
    }
    Ok(parts)
}

type Chars<'a> = std::iter::Peekable<std::iter::Enumerate<std::str::Chars<'a>>>;

fn parse_class(start: usize, chars: &mut Chars<'_>) -> Result<Part, GlobError> {
    let negated = chars.next_if(|(_, c)| *c == '^').is_some();
    let mut ranges = Vec::new();
    loop {
        let low = match chars.next() {
            None => return Err(GlobError::OpenClass(start)),
            Some((_, ']')) => break,
            Some((_, '\\')) => chars.next().ok_or(GlobError::DanglingEscape)?.1,
            Some((_, c)) => c,
        };
        let high = if chars.next_if(|(_, c)| *c == '-').is_some() {
            match chars.next() {
                None | Some((_, ']')) => return Err(GlobError::OpenClass(start)),
                Some((_, '\\')) => chars.next().ok_or(GlobError::DanglingEscape)?.1,
                Some((_, c)) => c,
            }
        } else {
            low
        };
        ranges.push((low, high));
    }
    if ranges.is_empty() {
        return Err(GlobError::EmptyClass(start));
    }
    Ok(Part::Class {
        negated,
        ranges: ranges.into(),
    })
}

/// Backtracks to the last `*` only, so the cost is at most pattern × name.
fn match_parts(parts: &[Part], name: &str) -> bool {
    let (mut parts, mut rest) = (parts, name.chars());
    let mut retry: Option<(&[Part], std::str::Chars<'_>)> = None;
    loop {
        match parts.split_first() {
            Some((Part::Everything, _)) => return true,
            Some((Part::Many, after)) => {
                retry = Some((after, rest.clone()));
                parts = after;
                continue;
            }
            Some((part, after)) => {
                let mut ahead = rest.clone();
                if ahead.next().is_some_and(|c| part.accepts(c)) {
                    (parts, rest) = (after, ahead);
                    continue;
                }
            }
            None if rest.as_str().is_empty() => return true,
            None => {}
        }
        let Some((after, mut from)) = retry.take() else {
            return false;
        };
        if from.next().is_none_or(|c| c == '/') {
            return false;
        }
        (parts, rest) = (after, from.clone());
        retry = Some((after, from));
    }
}

impl Part {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Literal(l) => *l == c,
            Self::One => c != '/',
            Self::Class { negated, ranges } => {
                c != '/' && ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
            Self::Many | Self::Everything => false,
        }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source)
    }
}

impl Serialize for Glob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_matched_exactly_and_read_again_as_the_same() {
        for name in [
            "claude.Bash",
            "a*b",
            "what?",
            "[x]",
            "back\\slash",
            "*",
            "é/ü",
        ] {
            let glob = Glob::exactly(name);
            assert_eq!(Glob::new(glob.as_str()).unwrap(), glob, "{name}");
            assert!(glob.matches(name) && !glob.matches("aXb"), "{name}");
        }
    }

    #[test]
    fn matches_as_go_does() {
        for (glob, name, expected) in [
            ("*", "anything/at.all", true),
            ("filesystem.*", "filesystem.read_file", true),
            ("filesystem.*", "filesystem.a/b", false),
            ("filesystem.read_*", "filesystem.write_file", false),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("[a-c]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("[^a-c]x", "zx", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("*ab*cd", "xxabyyabcdcd", true),
            ("a*b*c", "a1b2", false),
            ("gmail.send", "gmail.send", true),
            ("claude*", "claude", true),
        ] {
            assert_eq!(
                Glob::new(glob).unwrap().matches(name),
                expected,
                "{glob} {name}"
            );
        }
    }

    #[test]
    fn bad_globs_are_refused() {
        for glob in ["", "[", "[a", "[]", "a\\", "[a-", "[^]"] {
            assert!(Glob::new(glob).is_err(), "{glob}");
        }
    }

    #[test]
    fn covering_is_sound() {
        for (wide, narrow, expected) in [
            ("*", "a/b*", true),
            ("fs.*", "fs.read_*", true),
            ("fs.*", "fs.read", true),
            ("fs.*", "fs.a/b", false),
            ("fs.*", "*", false),
            ("fs.read_*", "fs.*", false),
        ] {
            assert_eq!(
                Glob::new(wide).unwrap().covers(&Glob::new(narrow).unwrap()),
                expected,
                "{wide} {narrow}"
            );
        }
    }

    #[test]
    fn hostile_patterns_stay_cheap() {
        let glob = Glob::new(&"a*".repeat(100)).unwrap();
        assert!(glob.matches(&"a".repeat(5000)));
        assert!(!glob.matches(&format!("b{}", "a".repeat(5000))));
    }
}
