//! File paths as text, compared by component after `.`, `..` and repeated separators are
//! resolved. Never touches the file system: links are not followed, `~`, short names and
//! percent-encodings are not expanded, and case counts except for a drive letter.
//!
//! Nobody tells us on which system a path will be opened, and `a\b` is one name here and two
//! there. So a question is asked under every [`Reading`], and where they differ there is no
//! answer: a guess is what `/srv/p/q\r\s/../../../etc` is made for.

/// The readings of a path do not agree. A gate that sees this should fail closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the path can be read in two ways")]
pub struct Ambiguous;

/// What one system makes of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Only `/` separates; `\` and `C:` are parts of names.
    Posix,
    /// `\` separates too, and there are drives and shares.
    Windows,
    /// As Windows itself tidies it: dots and spaces that end a name are dropped, and `..` does
    /// not leave the share.
    TidyWindows,
}

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
    /// `\\.\PhysicalDrive0`
    Device,
    /// `~` or `~name`
    Home(&'p str),
}

#[derive(Debug, Clone, Copy)]
struct Lexical<'p> {
    reading: Reading,
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
/// The empty text is no path.
pub fn within(path: &str, folder: &str) -> Result<bool, Ambiguous> {
    judge(path, folder, |path, folder| {
        path.above == 0 && folder.above == 0 && path.parts.starts_with(&folder.parts)
    })
}

/// `text STARTS_WITH start`: by component when `start` looks like a path, else a plain prefix.
///
/// Unlike `within` it knows leading `..`: `../a` starts with `../`.
pub fn starts_with(text: &str, start: &str) -> Result<bool, Ambiguous> {
    if !looks_like_path(start) {
        return Ok(text.starts_with(start));
    }
    judge(text, start, |path, folder| {
        if folder.parts.is_empty() && folder.above > 0 {
            return path.above >= folder.above;
        }
        path.above == folder.above && path.parts.starts_with(&folder.parts)
    })
}

/// Whether a folder can be told to be ambiguous before any path is compared with it.
pub(super) fn is_ambiguous(folder: &str) -> bool {
    folder.contains('\0')
        || if is_of_windows(folder) {
            folder.contains('\\') && climbs_by_slash(folder)
        } else {
            folder.contains('\\') || folder.starts_with("//")
        }
}

pub(super) fn looks_like_path(text: &str) -> bool {
    let folder = text.strip_prefix("..").or_else(|| text.strip_prefix('.'));
    text == ".."
        || text.starts_with(['/', '\\', '~'])
        || folder.is_some_and(|rest| rest.starts_with(SEPARATORS))
        || drive(text).is_some_and(|(_, rest)| rest.starts_with(SEPARATORS))
}

/// `inside` under every reading. At a NUL some systems cut the path off, so that is two readings
/// as well.
fn judge(
    path: &str,
    folder: &str,
    inside: impl Fn(Resolved<'_>, Resolved<'_>) -> bool,
) -> Result<bool, Ambiguous> {
    if path.contains('\0') || folder.contains('\0') {
        return Err(Ambiguous);
    }
    if path.is_empty() || folder.is_empty() {
        return Ok(false);
    }
    let under = |reading| {
        let (path, folder) = (Lexical::read(path, reading), Lexical::read(folder, reading));
        if path.anchor != folder.anchor {
            return false;
        }
        if !path.has_parent() && !folder.has_parent() {
            return prefix(path.parts(), folder.parts());
        }
        inside(path.resolved(), folder.resolved())
    };
    let posix = under(Reading::Posix);
    if reads_alike(path) && reads_alike(folder) {
        return Ok(posix);
    }
    let windows = under(Reading::Windows);
    if windows != under(Reading::TidyWindows) {
        return Err(Ambiguous);
    }
    // Elsewhere `C:\a` is a file with an odd name in the current folder. That harms nobody, as
    // long as no `..` leads from there to somewhere else.
    let names_windows = is_of_windows(folder) && !climbs_by_slash(path) && !climbs_by_slash(folder);
    if posix == windows || (windows && names_windows) {
        Ok(windows)
    } else {
        Err(Ambiguous)
    }
}

/// Whether all readings of this text are surely the same. May say no too often: this only spares
/// the usual path the second look.
fn reads_alike(text: &str) -> bool {
    let bytes = text.as_bytes();
    let tidied = |byte: u8| matches!(byte, b'.' | b' ');
    !text.starts_with("//")
        && drive(text).is_none()
        && !bytes.contains(&b'\\')
        && !bytes.last().copied().is_some_and(tidied)
        && !bytes
            .windows(2)
            .any(|pair| matches!(pair, [end, b'/'] if tidied(*end)))
}

/// A folder that only Windows knows: on a drive, or on a share that is written with backslashes.
fn is_of_windows(folder: &str) -> bool {
    match Lexical::read(folder, Reading::Windows).anchor {
        Anchor::Drive(_) => true,
        Anchor::Share | Anchor::Device => folder.starts_with("\\\\"),
        _ => false,
    }
}

fn climbs_by_slash(text: &str) -> bool {
    text.split('/').any(|part| part == "..")
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

fn drive(text: &str) -> Option<(char, &str)> {
    let letter = text.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = text.get(1..)?.strip_prefix(':')?;
    Some((letter.to_ascii_uppercase(), rest))
}

/// What follows `\\?\`, `\\.\` or `\??\`.
fn after_device(text: &str) -> Option<&str> {
    match *text.as_bytes() {
        [a, b, b'?' | b'.', c, ..] if [a, b, c].into_iter().all(is_separator) => text.get(4..),
        [a, b'?', b'?', b, ..] if is_separator(a) && is_separator(b) => text.get(4..),
        _ => None,
    }
}

fn prefix<'p>(
    mut path: impl Iterator<Item = &'p str>,
    mut folder: impl Iterator<Item = &'p str>,
) -> bool {
    folder.all(|part| path.next() == Some(part))
}

impl Reading {
    fn separates(self, byte: u8) -> bool {
        byte == b'/' || (byte == b'\\' && self != Self::Posix)
    }

    /// The name as this system takes it; `None` for what is no step at all.
    fn name(self, part: &str) -> Option<&str> {
        match part {
            "" | "." => return None,
            ".." => return Some(part),
            _ if self != Self::TidyWindows => return Some(part),
            _ => {}
        }
        let name = part.trim_end_matches(['.', ' ']);
        if !name.is_empty() {
            Some(name)
        } else if part.starts_with("..") && part.contains(' ') {
            Some("..")
        } else {
            None
        }
    }
}

impl<'p> Lexical<'p> {
    fn read(text: &'p str, reading: Reading) -> Self {
        let (anchor, rest) = match reading {
            Reading::Posix => posix_anchor(text),
            Reading::Windows | Reading::TidyWindows => windows_anchor(text),
        };
        Self {
            reading,
            anchor,
            rest,
        }
    }

    fn parts(self) -> impl Iterator<Item = &'p str> {
        let mut rest = self.rest;
        // By bytes: this is the hot path, and no separator is part of a longer character.
        std::iter::from_fn(move || {
            while !rest.is_empty() {
                let mut bytes = rest.bytes();
                let end = bytes
                    .position(|byte| self.reading.separates(byte))
                    .unwrap_or(rest.len());
                let part = rest.get(..end)?;
                rest = rest.get(end + 1..).unwrap_or_default();
                if let Some(name) = self.reading.name(part) {
                    return Some(name);
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
        let stops = !matches!(
            self.anchor,
            Anchor::Relative | Anchor::DriveRelative(_) | Anchor::Home(_)
        );
        let floor = match (self.reading, self.anchor) {
            (Reading::TidyWindows, Anchor::Share) => 2,
            _ => 0,
        };
        for part in self.parts() {
            if part != ".." {
                parts.push(part);
            } else if parts.len() > floor {
                parts.pop();
            } else if !stops {
                above += 1;
            }
        }
        Resolved { above, parts }
    }
}

fn posix_anchor(text: &str) -> (Anchor<'_>, &str) {
    if text.starts_with('~') {
        let (name, rest) = text.split_once('/').unwrap_or((text, ""));
        (Anchor::Home(name), rest)
    } else if let Some(rest) = text.strip_prefix('/') {
        (Anchor::Root, rest)
    } else {
        (Anchor::Relative, text)
    }
}

fn windows_anchor(text: &str) -> (Anchor<'_>, &str) {
    if let Some(rest) = after_device(text) {
        return match (drive(rest), rest.split_once(SEPARATORS)) {
            (Some((letter, rest)), _) => (Anchor::Drive(letter), rest),
            (None, Some((unc, rest))) if unc.eq_ignore_ascii_case("UNC") => (Anchor::Share, rest),
            _ => (Anchor::Device, rest),
        };
    }
    if let Some((letter, rest)) = drive(text) {
        return match rest.strip_prefix(SEPARATORS) {
            Some(rest) => (Anchor::Drive(letter), rest),
            None => (Anchor::DriveRelative(letter), rest),
        };
    }
    if text.starts_with('~') {
        let (name, rest) = text.split_once(SEPARATORS).unwrap_or((text, ""));
        return (Anchor::Home(name), rest);
    }
    match text.strip_prefix(SEPARATORS) {
        Some(rest) if rest.starts_with(SEPARATORS) => (Anchor::Share, rest),
        Some(rest) => (Anchor::Root, rest),
        None => (Anchor::Relative, text),
    }
}
