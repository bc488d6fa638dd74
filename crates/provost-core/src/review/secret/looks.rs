//! How a value looks: chosen by nobody, or a word, a name, a path, a phrase.

/// Letters, digits and signs that mean nothing to a shell.
pub(in crate::review) fn is_plain(value: &str) -> bool {
    value
        .chars()
        .all(|c| c.is_alphanumeric() || "_.@%+=:!#^~-/".contains(c))
}

/// What stands for no value, or switches something on or off: a person says it instead of a secret.
const SETTINGS: [&str; 27] = [
    "none",
    "null",
    "true",
    "false",
    "nil",
    "undefined",
    "str",
    "string",
    "bool",
    "int",
    "...",
    "***",
    "yes",
    "no",
    "on",
    "off",
    "enable",
    "enabled",
    "disable",
    "disabled",
    "required",
    "optional",
    "always",
    "never",
    "auto",
    "0",
    "1",
];
/// Where something happens, in a word that everybody uses for that.
const TARGETS: [&str; 19] = [
    "prod",
    "production",
    "staging",
    "stage",
    "dev",
    "development",
    "test",
    "testing",
    "local",
    "localhost",
    "live",
    "sandbox",
    "preview",
    "qa",
    "uat",
    "main",
    "master",
    "default",
    "all",
];

/// A word that switches something, or stands for no value.
pub(in crate::review) fn is_setting(value: &str) -> bool {
    SETTINGS.contains(&&*value.to_lowercase())
}

/// A word that says where something happens, or the sign of a coin: `TOKEN=production`, `"token": "USDC"`.
pub(in crate::review) fn is_target(value: &str) -> bool {
    let is_sign = (2..=5).contains(&value.len()) && value.bytes().all(|c| c.is_ascii_uppercase());
    is_sign || TARGETS.contains(&&*value.to_lowercase())
}

/// A path, a file or an address: it says where something happens.
pub(super) fn is_place(value: &str) -> bool {
    // A password may begin so, too.
    let begins = value.starts_with(['~', '.', '%'])
        && (value.contains('/') || value.ends_with('%') || !looks_random(value));
    if begins || value.contains("://") {
        return true;
    }
    if value.contains('/') {
        return is_path(value);
    }
    let extension = value.rsplit_once('.').map_or("", |(_, end)| end);
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphabetic());
    (1..=4).contains(&extension.len()) && is_word(extension) && !looks_random(value)
}

/// A text with slashes that is a path: somebody chose its words. Base64 has slashes, too, and no words.
pub(in crate::review) fn is_path(text: &str) -> bool {
    /// What is shorter cannot be told apart.
    const SHORTEST: usize = 12;
    let is_absolute = text.starts_with('/');
    if text.len() < SHORTEST {
        return true;
    }
    if switches(text) * 4 < text.len() {
        let slashes = text.matches('/').count();
        let is_words = letters_of_words(text) * 3 >= (text.len() - slashes) * 2;
        return is_absolute || (is_words && !text.contains('+'));
    }
    let is_word = |part: &str| part.len() > 1 && part.bytes().all(|c| c.is_ascii_lowercase());
    is_absolute && text.split('/').any(is_word)
}

/// How many letters stand in runs as words have them: `word`, `Word`.
fn letters_of_words(text: &str) -> usize {
    const SHORTEST: usize = 3;
    let is_lower = u8::is_ascii_lowercase;
    let runs = text.as_bytes().chunk_by(|first, second| {
        (is_lower(first) || first.is_ascii_uppercase()) && is_lower(second)
    });
    runs.map(<[u8]>::len).filter(|it| *it >= SHORTEST).sum()
}

/// Blanks and signs as a command has them.
pub(super) fn is_command_like(value: &str) -> bool {
    value.contains([';', '|', '&', '<', '>', '$', '`', '(', ')', '/', '*', '{'])
        || value
            .split_whitespace()
            .any(|word| word.starts_with(['-', '!', '~', '.']))
}

/// Some words on one line, as people choose them for a password.
pub(in crate::review) fn is_phrase(value: &str) -> bool {
    const LONGEST: usize = 200;
    const MOST_WORDS: usize = 24;
    value.len() <= LONGEST
        && !value.chars().any(char::is_control)
        && value.split_whitespace().count() <= MOST_WORDS
}

/// Letters and digits mixed, as nobody writes them in a sentence.
pub(in crate::review) fn looks_random(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.as_bytes().iter().any(of);
    let digits = has(u8::is_ascii_digit);
    (text.len() >= 6 && digits && has(u8::is_ascii_alphabetic))
        || (text.len() >= 20
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
            && switches(text) >= 3)
        || (text.len() >= 16 && digits)
}

/// Signs that end a value, or begin something else.
pub(super) const SIGNS: &str = ",;&\"'()[]{}<>|$`\\";

/// A password with signs: to a shell, something else may begin at one of them, but what follows is no word that a
/// program would have.
pub(super) fn is_scrambled(text: &str) -> bool {
    const SHORTEST: usize = 8;
    let mut pieces = text.split(|c: char| SIGNS.contains(c));
    let first = pieces.next().unwrap_or_default();
    let mut rest = text.get(first.len()..).unwrap_or_default().chars();
    // `getToken(x1)`, `list[0]`.
    let is_call = !first.is_empty()
        && matches!(rest.next(), Some('(' | '[' | '{'))
        && text.ends_with([')', ']', '}']);
    let is_substituted = ["$(", "${", "`", "{{", "\"", "'", "\\"]
        .iter()
        .any(|it| text.contains(it));
    let is_variable = first.is_empty() && text.starts_with('$') && pieces.clone().count() == 1;
    text.len() >= SHORTEST
        && looks_random(text)
        && !is_call
        && !is_substituted
        && !is_variable
        && pieces.all(is_no_word)
}

fn is_no_word(piece: &str) -> bool {
    let has = |of: fn(&u8) -> bool| piece.as_bytes().iter().any(of);
    let is_mixed =
        has(u8::is_ascii_digit) || (has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase));
    piece.is_empty() || (is_mixed && letters_of_words(piece) * 2 < piece.len())
}

/// Letters and digits in an order that nobody chose: no word, no name, no path is like this.
pub(in crate::review) fn is_random(text: &str) -> bool {
    const LONG: usize = 20;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=.~/".contains(c);
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let switches = switches(text);
    text.len() >= 12
        && !text.starts_with(['.', '~'])
        && text.chars().all(plain)
        && digits < text.len()
        && !(text.contains('/') && is_path(text))
        && ((digits >= 2 && switches * 7 >= text.len())
            || (text.len() >= LONG
                && switches * 5 >= text.len()
                && letters_of_words(text) * 3 < text.len() * 2))
}

/// One long part of a token, without the signs between its parts.
pub(super) fn is_long_token(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    part.len() >= 20 && digits >= 2 && digits < part.len()
}

/// One line of the shortest private key there is.
const SHORTEST_KEY: usize = 40;

/// The lines of a private key: as long as each other but for the last, and nobody chose their letters.
pub(super) fn is_key(lines: &[&str]) -> bool {
    let Some((first, rest)) = lines.split_first() else {
        return false;
    };
    // A checksum may stand below the last line.
    let (rest, last) = match rest {
        [rest @ .., last, sum] if sum.starts_with('=') => (rest, Some(last)),
        [rest @ .., last] => (rest, Some(last)),
        [] => (rest, None),
    };
    let is_full = |line: &&str| line.len() == first.len() && is_key_line(line);
    let is_last = |last: &&str| last.len() < SHORTEST_KEY || is_key_line(last);
    is_key_line(first)
        && rest.iter().all(is_full)
        && last.is_none_or(|last| last.len() <= first.len() && is_last(last))
}

/// A line of base64. A path of as many letters has fewer capitals and digits in it.
pub(super) fn is_key_line(line: &str) -> bool {
    line.len() >= SHORTEST_KEY
        && switches(line) * 8 >= line.len()
        && !(line.starts_with('/') && is_path(line))
}

/// How often neighbours are of different kinds: lower case, upper case, digits. `Word` is no switch.
fn switches(text: &str) -> usize {
    let kind = |c: u8| match c {
        b'a'..=b'z' => Some(0),
        b'A'..=b'Z' => Some(1),
        b'0'..=b'9' => Some(2),
        _ => None,
    };
    let pairs = text.as_bytes().windows(2).filter_map(|pair| match pair {
        [first, second] => Some((kind(*first)?, kind(*second)?)),
        _ => None,
    });
    pairs
        .filter(|(first, second)| first != second && (*first, *second) != (1, 0))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_words_names_and_paths_are_not_random() {
        for word in [
            "production_backup_folder",
            "production-server-backups",
            "evil-script-run",
            "evil-script-v2-run1",
            "/usr/local/bin/wipeeverythingnow",
            "home/ann/Documents/important2024",
            "important-file-2024-01",
        ] {
            assert!(!is_random(word), "{word}");
        }
        for token in ["a1B2c3D4e5F6g7H8", "0f3a9c0f3a9c0f3a9c", "3k9XqLm02Vb7Tz"] {
            assert!(is_random(token), "{token}");
        }
    }
}
