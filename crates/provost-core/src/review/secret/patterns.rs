//! How secrets look: by themselves, or by what stands before them.

mod clients;
mod code;
mod named;
mod tokens;

use std::sync::LazyLock;

use regex::{Regex, RegexSet, RegexSetBuilder};

use crate::review::with_ascii_words;

/// What a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// The match itself, or its first group, is the secret.
    Whole,
    /// As [`Find::Whole`], where the letters are in an order that nobody chose. Folders may begin like a token.
    Token,
    /// As [`Find::Whole`], where letters and digits are mixed.
    Random,
    /// As [`Find::Whole`], where the first part of the token can be read.
    Jwt,
    /// The password of a URL.
    Url,
    /// The lines of a private key, after its first.
    Key,
    /// The value after the match.
    After,
    /// As [`Find::After`], behind the program of a command, which is the group `program`.
    Program,
    /// As [`Find::Program`], where the group `user` is one that nobody chose.
    User,
    /// The value after the match, if the group `name` is the name of a secret.
    Named,
    /// As [`Find::Named`], for a flag whose value is the next word.
    Flag,
    /// The value after the match, if it is in quotes.
    Quoted,
    /// As [`Find::Named`], for the lines below that are indented further.
    Block,
    /// The one word that a program reads which takes a secret there: `echo … | PROGRAM`, `PROGRAM <<< …`.
    Input,
    /// The value of a setting, among the words after the match: `config set NAME VALUE`, `secret set NAME --body VALUE`.
    Setting,
    /// The group `value` in what `program` puts in the place of another text, if the group `name` is a secret's.
    Replaced,
    /// The values of rows, behind the group `columns`.
    Columns,
    /// Values of cookies.
    Cookies,
}

/// A kind, how it is found, and the pattern.
type Pattern = (&'static str, Find, &'static str);

/// Where the program of a command may stand: at any word. Which program takes a word, the reader of commands says.
const BEGINS: &str = r#"(?m)(?:^|[\s;&|(`"'{/])"#;
/// A word that is written into a pipe.
const SAID: &str = r#"\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]+[ \t]{1,4})?(?:["']?%s(?:\\n)?["']?[ \t]{1,4})?["']?([^\s"'\\;|&<>()$`]+)(?:\\n)?["']?[ \t]{0,4}\|[ \t]{0,4}(?:(?:sudo|npx|bunx|yarn|pnpm(?:[ \t]{1,4}(?:exec|dlx))?)[ \t]{1,4})?"#;
/// A word that is the input of what stands before it.
const HERE_STRING: &str = r#"[^\n;|&<]*<<<[ \t]{0,4}["']?([^\s"'\\;|&<>()$`]+)"#;

static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| {
    // The defaults are too small for all of them: a set that forgets what it learned of texts is slow.
    const SIZE: usize = 64 * 1024 * 1024;
    const LEARNED: usize = 8 * 1024 * 1024;
    let mut set = RegexSetBuilder::new(sources());
    set.size_limit(SIZE).dfa_size_limit(LEARNED).build().ok()
});
static EACH: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| sources().map(|source| Regex::new(&source).ok()).collect());

fn patterns() -> impl Iterator<Item = &'static Pattern> {
    let groups = [
        tokens::PATTERNS,
        clients::PATTERNS,
        named::PATTERNS,
        code::PATTERNS,
    ];
    groups.into_iter().flatten()
}

fn sources() -> impl Iterator<Item = String> {
    let sources = patterns().map(|(_, find, pattern)| match find {
        Find::Program | Find::User | Find::Replaced => format!("{BEGINS}{pattern}"),
        Find::Input => format!("{SAID}{pattern}|{BEGINS}{pattern}{HERE_STRING}"),
        _ => (*pattern).to_owned(),
    });
    sources.map(|source| with_ascii_words(&source))
}

/// The patterns that occur in a text; all of them, should the set be unusable.
pub(super) fn occurring(text: &str) -> Vec<(&'static str, Find, &'static Regex)> {
    let matched = SET.as_ref().map(|set| set.matches(text));
    patterns()
        .zip(EACH.iter())
        .enumerate()
        .filter(|(at, _)| matched.as_ref().is_none_or(|matched| matched.matched(*at)))
        .filter_map(|(_, ((kind, find, _), regex))| Some((*kind, *find, regex.as_ref()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_all_patterns_compile() {
        assert!(SET.is_some());
        assert!(EACH.iter().all(Option::is_some));
    }

    #[test]
    fn p10_words_end_as_in_ascii() {
        let rest = sources().map(|source| source.replace(r"(?-u:\b)", ""));
        assert!(rest.into_iter().all(|source| !source.contains(r"\b")));
    }
}
