//! File paths as text, compared by component after `.`, `..` and repeated separators are
//! resolved. Never touches the file system: links are not followed, `~` and percent-encodings are
//! not expanded, and case counts except for a drive letter. Both `/` and `\` separate, so that
//! mixing them is no way out.

/// What a path hangs from. Paths that hang from different things are never within each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor<'p> {
    Relative,
    Root,
    /// `C:\`, upper case
    Drive(char),
    /// `C:here`: relative to a folder we do not know
    DriveRelative(char),
    /// `\\server\share`
    Share,
    /// `~` or `~name`
    Home(&'p str),
}

#[derive(Debug, Clone, Copy)]
struct Lexical<'p> {
    anchor: Anchor<'p>,
    rest: &'p str,
}

/// Components after `..` is resolved, and how many `..` were left over at the start.
struct Resolved<'p> {
    above: usize,
    parts: Vec<&'p str>,
}

const SEPARATORS: [char; 2] = ['/', '\\'];

/// `path WITHIN folder`: the folder itself or something below it.
///
/// A path that climbs above its own start is never within anything, nor is anything within it.
pub fn within(path: &str, folder: &str) -> bool {
    let (Some(path), Some(folder)) = (Lexical::read(path), Lexical::read(folder)) else {
        return false;
    };
    if path.anchor != folder.anchor {
        return false;
    }
    if !path.has_parent() && !folder.has_parent() {
        return prefix(path.parts(), folder.parts());
    }
    let (path, folder) = (path.resolved(), folder.resolved());
    path.above == 0 && folder.above == 0 && path.parts.starts_with(&folder.parts)
}

/// `text STARTS_WITH start`: by component when `start` looks like a path, else a plain prefix.
///
/// Unlike `within` it knows leading `..`: `../a` starts with `../`.
pub fn starts_with(text: &str, start: &str) -> bool {
    if !looks_like_path(start) {
        return text.starts_with(start);
    }
    let (Some(path), Some(folder)) = (Lexical::read(text), Lexical::read(start)) else {
        return false;
    };
    if path.anchor != folder.anchor {
        return false;
    }
    if !path.has_parent() && !folder.has_parent() {
        return prefix(path.parts(), folder.parts());
    }
    let (path, folder) = (path.resolved(), folder.resolved());
    if folder.parts.is_empty() && folder.above > 0 {
        return path.above >= folder.above;
    }
    path.above == folder.above && path.parts.starts_with(&folder.parts)
}

fn looks_like_path(text: &str) -> bool {
    let folder = text.strip_prefix("..").or_else(|| text.strip_prefix('.'));
    text == ".."
        || text.starts_with(['/', '\\', '~'])
        || folder.is_some_and(|rest| rest.starts_with(SEPARATORS))
        || drive(text).is_some_and(|(_, rest)| rest.starts_with(SEPARATORS))
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

fn drive(text: &str) -> Option<(char, &str)> {
    let letter = text.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = text.get(1..)?.strip_prefix(':')?;
    Some((letter.to_ascii_uppercase(), rest))
}

fn prefix<'p>(
    mut path: impl Iterator<Item = &'p str>,
    mut folder: impl Iterator<Item = &'p str>,
) -> bool {
    folder.all(|part| path.next() == Some(part))
}

impl<'p> Lexical<'p> {
    /// `None` for what is no path: the empty text, and anything with a NUL, at which the
    /// operating system would cut it.
    fn read(text: &'p str) -> Option<Self> {
        if text.is_empty() || text.contains('\0') {
            return None;
        }
        let (anchor, rest) = if let Some((letter, rest)) = drive(text) {
            match rest.strip_prefix(SEPARATORS) {
                Some(rest) => (Anchor::Drive(letter), rest),
                None => (Anchor::DriveRelative(letter), rest),
            }
        } else if text.starts_with('~') {
            let (name, rest) = text.split_once(SEPARATORS).unwrap_or((text, ""));
            (Anchor::Home(name), rest)
        } else if let Some(rest) = text.strip_prefix(SEPARATORS) {
            // `//a` is `/a`; only a backslash makes it a share.
            let share = rest.starts_with(SEPARATORS)
                && text.get(..2).is_some_and(|start| start.contains('\\'));
            (if share { Anchor::Share } else { Anchor::Root }, rest)
        } else {
            (Anchor::Relative, text)
        };
        Some(Self { anchor, rest })
    }

    fn parts(self) -> impl Iterator<Item = &'p str> {
        let mut rest = self.rest;
        // By bytes: this is the hot path, and no separator is part of a longer character.
        std::iter::from_fn(move || {
            while !rest.is_empty() {
                let mut bytes = rest.bytes();
                let end = bytes.position(is_separator).unwrap_or(rest.len());
                let part = rest.get(..end)?;
                rest = rest.get(end + 1..).unwrap_or_default();
                if !part.is_empty() && part != "." {
                    return Some(part);
                }
            }
            None
        })
    }

    fn has_parent(self) -> bool {
        let bytes = self.rest.as_bytes();
        bytes.windows(2).any(|pair| pair == b"..") && self.parts().any(|part| part == "..")
    }

    fn resolved(self) -> Resolved<'p> {
        let mut above = 0;
        let mut parts = Vec::new();
        // Above the root of an absolute path there is the root again.
        let stops = matches!(self.anchor, Anchor::Root | Anchor::Drive(_) | Anchor::Share);
        for part in self.parts() {
            if part != ".." {
                parts.push(part);
            } else if parts.pop().is_none() && !stops {
                above += 1;
            }
        }
        Resolved { above, parts }
    }
}
