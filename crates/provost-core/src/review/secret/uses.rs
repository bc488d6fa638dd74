//! Whether a script uses a variable, and as what.

use std::{cell::RefCell, collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::{
    index::{Index, is_letter},
    indirect::Indirect,
};
use crate::review::names::{ends_as_secret, may_name_secret};

/// Which variables a text uses: each name is looked for once.
pub(super) struct Uses<'t> {
    text: &'t str,
    index: Option<Index>,
    known: BTreeMap<String, bool>,
}

impl<'t> Uses<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            index: None,
            known: BTreeMap::new(),
        }
    }

    pub(super) fn of_name(&mut self, name: &str) -> bool {
        if let Some(used) = self.known.get(name) {
            return *used;
        }
        let index = self
            .index
            .get_or_insert_with(|| Index::of(self.text.to_owned()));
        let used = is_used(index, name);
        self.known.insert(name.to_owned(), used);
        used
    }
}

/// What becomes of a variable in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::review) enum Use {
    /// Its name stands nowhere but where it is set.
    None,
    /// It is used only where nothing but a secret stands: in a header, as the value of a secret's flag, or behind a
    /// user.
    HandedOn,
    /// The same, before the host of a URL or in a secret's field of its query: with a slash in it, it would be more.
    InUrl,
    /// It may be what a program acts on, or a part of that: `rm -rf /data/$TOKEN`, `kill $((PIN))`.
    Free,
}

/// A script in which variables are looked for. There are more ways to use one than `$NAME`, so that whatever is said
/// of a name counts.
#[derive(Debug)]
pub(in crate::review) struct Script {
    /// Lines that go on with the next are one.
    joined: Index,
    /// Where a line was joined with the next, and how many letters are gone by there.
    cuts: Vec<(usize, usize)>,
    /// The same without quotes: a name in pieces is still the name.
    spelled: Index,
    /// Where a quote stood in front of a letter of that.
    quotes: Vec<usize>,
    /// What it reads without naming it.
    pub(super) indirect: Indirect,
    /// Has a sum, in which `5-PIN` is no other name.
    sums: bool,
    known: RefCell<BTreeMap<String, Mentions>>,
}

/// Where a name is said. Of each kind no more than two: one of them may be where the variable is set.
#[derive(Clone, Copy, Debug, Default)]
struct Mentions {
    /// In pieces.
    split: bool,
    free: [Option<usize>; 2],
    handed_on: [Option<usize>; 2],
    in_url: bool,
}

impl Script {
    pub(in crate::review) fn of(text: &str) -> Self {
        let (joined, cuts) = joined(text);
        let (spelled, quotes) = spelled(&joined);
        Self {
            indirect: Indirect::of(text),
            sums: joined.contains("(("),
            joined: Index::of(joined),
            cuts,
            spelled: Index::of(spelled),
            quotes,
            known: RefCell::default(),
        }
    }

    /// Whether the script says this name at all, as a word: `printenv TOKEN`.
    pub(in crate::review) fn says(&self, name: &str) -> bool {
        let name = bare(name);
        !name.is_empty() && self.joined.places(name).next().is_some()
    }

    /// `value`: where the value of the variable begins, if it is set in this script.
    pub(in crate::review) fn use_of(&self, name: &str, value: Option<usize>) -> Use {
        let name = bare(name);
        let is_read = self.indirect.words || (self.indirect.variables && is_variable(name));
        if is_read && !name.is_empty() {
            return Use::Free;
        }
        self.named_use_of(name, value)
    }

    /// The same as far as the script says the name.
    pub(super) fn named_use_of(&self, name: &str, value: Option<usize>) -> Use {
        let name = bare(name);
        if name.is_empty() {
            return Use::None;
        }
        let mentions = self.mentions(name);
        let set = value.and_then(|value| self.joined.last_place(name, self.in_joined(value)));
        let is_other = |at: &Option<usize>| at.is_some() && *at != set;
        if mentions.split || mentions.free.iter().any(is_other) {
            Use::Free
        } else if mentions.handed_on.iter().any(is_other) {
            if mentions.in_url {
                Use::InUrl
            } else {
                Use::HandedOn
            }
        } else {
            Use::None
        }
    }

    /// Where a letter of the script stands once lines are joined.
    fn in_joined(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|(cut, _)| *cut < at);
        let gone = before.checked_sub(1).and_then(|last| self.cuts.get(last));
        at.saturating_sub(gone.map_or(0, |(_, gone)| *gone))
    }

    /// Whether quotes stand inside a name that begins here without them.
    fn is_split(&self, at: usize, name: &str) -> bool {
        let next = self.quotes.partition_point(|quote| *quote <= at);
        self.quotes
            .get(next)
            .is_some_and(|quote| *quote < at + name.len())
    }

    fn mentions(&self, name: &str) -> Mentions {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        let mut spelled = self.spelled.places(name);
        let mut found = Mentions {
            split: spelled.any(|at| self.is_split(at, name)),
            ..Mentions::default()
        };
        for at in self.joined.places(name) {
            let before = self.joined.text.get(..at).unwrap_or_default();
            let after = self.joined.text.get(at + name.len()..).unwrap_or_default();
            if !self.is_mention(before, after) {
                continue;
            }
            let taken = place_of(before, after);
            found.in_url |= taken == Some(Place::Url);
            let places = if taken.is_some() {
                &mut found.handed_on
            } else {
                &mut found.free
            };
            if let Some(place) = places.iter_mut().find(|place| place.is_none()) {
                *place = Some(at);
            } else if found.free.iter().all(Option::is_some) {
                break;
            }
        }
        self.known.borrow_mut().insert(name.to_owned(), found);
        found
    }

    /// Whether the name stands here as a word, and is not what is set.
    fn is_mention(&self, before: &str, after: &str) -> bool {
        let begins = |c: char| c.is_whitespace() || ";&|({".contains(c);
        let is_word = !before.ends_with(is_letter) && !after.starts_with(is_letter);
        let is_set = (after.starts_with('=') || after.starts_with("+="))
            && (before.is_empty() || before.ends_with(begins));
        // `--password-stdin` is another name.
        let is_part = !self.sums
            && !before.ends_with(['$', '{'])
            && (before.ends_with(['-', '.']) || after.starts_with(['-', '.']));
        is_word && !is_set && !is_part && !is_exported(before, after)
    }
}

/// A text in which lines that go on with the next are one, and where they were joined.
fn joined(text: &str) -> (String, Vec<(usize, usize)>) {
    let (mut joined, mut cuts) = (String::with_capacity(text.len()), Vec::new());
    let (mut from, mut gone) = (0, 0);
    for (at, _) in text.match_indices('\\') {
        let rest = text.get(at + 1..).unwrap_or_default();
        let end = match rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n') {
            Some(next) if at >= from => text.len() - next.len(),
            _ => continue,
        };
        joined.push_str(text.get(from..at).unwrap_or_default());
        gone += end - at;
        cuts.push((at, gone));
        from = end;
    }
    joined.push_str(text.get(from..).unwrap_or_default());
    (joined, cuts)
}

/// A text without quotes, and where they stood.
fn spelled(text: &str) -> (String, Vec<usize>) {
    let (mut spelled, mut quotes) = (String::with_capacity(text.len()), Vec::new());
    for letter in text.chars() {
        if matches!(letter, '\\' | '\'' | '"') {
            quotes.push(spelled.len());
        } else {
            spelled.push(letter);
        }
    }
    (spelled, quotes)
}

/// `export NAME`: the variable is handed to programs, as one that is set before them is.
fn is_exported(before: &str, after: &str) -> bool {
    let blank = [' ', '\t'];
    let ends = ['\n', ';', '&'];
    let before = before.trim_end_matches(blank).strip_suffix("export");
    let before = before.map(|before| before.trim_end_matches(blank));
    let after = after.trim_start_matches(blank);
    before.is_some_and(|it| it.is_empty() || it.ends_with(ends))
        && (after.is_empty() || after.starts_with(ends))
}

/// Where the variable that is used here stands, if nothing but a secret does so.
fn place_of(before: &str, after: &str) -> Option<Place> {
    let before = before.trim_end_matches(['{', '#']).strip_suffix('$')?;
    takes_secret(before, after.strip_prefix('}').unwrap_or(after))
}

/// Whether the variable of this name is used in the text.
fn is_used(index: &Index, name: &str) -> bool {
    index.beginnings(bare(name)).any(|at| {
        let before = index.text.get(..at).unwrap_or_default();
        let before = before.trim_end_matches(['{', '!', '#']);
        before.ends_with('$') || before.ends_with("env:") || before.ends_with('%')
    })
}

/// Where nothing but a secret stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Header,
    Flag,
    Login,
    Url,
}

/// What stands before a secret, with the name that must be a secret's, and after it.
static PLACES: LazyLock<Vec<(Place, Regex, Regex)>> = LazyLock::new(|| {
    let word_ends = r#"^["']?(?:[\s;|&)]|$)"#;
    let places = [
        (
            Place::Header,
            r#"\s(?:-H|--header)[ =]?["'](?P<name>[A-Za-z0-9-]+):[ \t][^"'\n]*$"#,
            r#"^[^"'\n]*["']"#,
        ),
        (
            Place::Flag,
            r#"\s--?(?P<name>[A-Za-z0-9-]+)=["']?$"#,
            word_ends,
        ),
        (
            Place::Login,
            r#"\bcurl\s(?:[^\n;|&]*\s)?(?:-u|--user)[ =]?["']?[^\s:"'/]+:$"#,
            word_ends,
        ),
        (
            Place::Login,
            r#"\b(?:(?:mysql|mariadb)[a-z-]{0,10}\s(?:[^\n;|&]*\s)?-p|sshpass\s(?:[^\n;|&]*\s)?-p\s?|redis-cli\s(?:[^\n;|&]*\s)?-a\s)["']?$"#,
            word_ends,
        ),
        (
            Place::Login,
            r#"\b(?:(?:docker|podman|nerdctl)\s(?:[^\n;|&]*\s)?(?:-e|--env)[ =]?|(?:kubectl|oc)\s(?:[^\n;|&]*\s)?--from-literal[ =])["']?(?P<name>[A-Za-z0-9_.-]+)=["']?$"#,
            word_ends,
        ),
        (
            Place::Login,
            r#"(?:^|[;&|\n])[ \t]*(?:PGPASSWORD|MYSQL_PWD|SSHPASS|REDISCLI_AUTH|RESTIC_PASSWORD|BORG_PASSPHRASE)=["']?$"#,
            r#"^["']?[ \t]+[a-z]"#,
        ),
        (
            Place::Login,
            r#"\bcurl\s(?:[^\n;|&]*\s)?(?:-d|--data[a-z-]{0,12}|-F|--form)[ =]?["'](?:[^"'\n]*&)?(?P<name>[A-Za-z0-9_.-]+)=$"#,
            r#"^[&"']"#,
        ),
        (
            Place::Login,
            r#"\b(?:echo|printf)\s(?:-[a-z]+\s|["']?%s["']?\s)?["']?$"#,
            r#"^["']?\s*\|\s*(?:docker|podman|helm|oras|crane|skopeo)\s[^\n;|&]*--password-stdin"#,
        ),
        (
            Place::Url,
            r#"[A-Za-z]://(?:[^\s/?\#@"':]*:)?$"#,
            r#"^(?::[^\s/@"']*)?@"#,
        ),
        (
            Place::Url,
            r#"[A-Za-z]://[^\s"']*[?&](?P<name>[A-Za-z0-9_.-]+)=$"#,
            r#"^(?:[&"'\s]|$)"#,
        ),
    ];
    let regexes = places.iter().filter_map(|(place, before, after)| {
        Some((*place, Regex::new(before).ok()?, Regex::new(after).ok()?))
    });
    regexes.collect()
});

fn takes_secret(before: &str, after: &str) -> Option<Place> {
    /// So far back, at most.
    const FAR: usize = 300;
    let near = before.ceil_char_boundary(before.len().saturating_sub(FAR));
    let before = before.get(near..).unwrap_or_default();
    let found = PLACES.iter().find(|(place, begins, ends)| {
        let Some(found) = begins.captures(before).filter(|_| ends.is_match(after)) else {
            return false;
        };
        let name = found.name("name").map(|name| name.as_str());
        // `--secret=$NAME` may say which one.
        let says_which = |name: &str| *place == Place::Flag && may_name_secret(&format!("-{name}"));
        name.is_none_or(|name| ends_as_secret(name) && !says_which(name))
    });
    found.map(|(place, _, _)| *place)
}

/// Whether a program would have a variable of this name.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_lowercase)
}

fn bare(name: &str) -> &str {
    name.trim_matches(['-', '.'])
}
