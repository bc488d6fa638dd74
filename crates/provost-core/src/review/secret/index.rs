//! A text whose words are found without reading it again: a call may set as many variables as it has room for, and
//! each of them is looked for.

use std::ops::Range;

use crate::review::work;

#[derive(Debug)]
pub(super) struct Index {
    pub(super) text: String,
    /// Runs of letters, digits and `_`, sorted by what they say and then by where they stand.
    words: Vec<Range<usize>>,
}

pub(super) fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Index {
    pub(super) fn of(text: String) -> Self {
        work::count(text.len());
        let mut words = runs(&text);
        words.sort_by(|one, other| {
            let key = |range: &Range<usize>| (text.get(range.clone()), range.start);
            key(one).cmp(&key(other))
        });
        Self { text, words }
    }

    fn word(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// Where this word stands, in order.
    fn exactly(&self, word: &str) -> &[Range<usize>] {
        let from = self.words.partition_point(|it| self.word(it) < word);
        let rest = self.words.get(from..).unwrap_or_default();
        let length = rest.partition_point(|it| self.word(it) == word);
        rest.get(..length).unwrap_or_default()
    }

    /// Where the rarest word of a name stands, and where it begins in there.
    fn rarest(&self, name: &str) -> (usize, &[Range<usize>]) {
        let words = runs(name).into_iter().map(|run| {
            let word = name.get(run.clone()).unwrap_or_default();
            (run.start, self.exactly(word))
        });
        words
            .min_by_key(|(_, found)| found.len())
            .unwrap_or_default()
    }

    /// Where a name stands that is not part of a longer one, in order.
    pub(super) fn places<'i>(&'i self, name: &'i str) -> impl Iterator<Item = usize> + 'i {
        let (offset, found) = self.rarest(name);
        let found = found.iter();
        found.filter_map(move |word| self.stands(name, word.start.checked_sub(offset)?))
    }

    /// The last of them that ends by here.
    pub(super) fn last_place(&self, name: &str, end: usize) -> Option<usize> {
        let (offset, found) = self.rarest(name);
        let fits = |word: &Range<usize>| word.start + name.len() <= end + offset;
        let mut found = found.iter().take(found.partition_point(fits)).rev();
        found.find_map(|word| self.stands(name, word.start.checked_sub(offset)?))
    }

    fn stands(&self, name: &str, at: usize) -> Option<usize> {
        let before = self.text.get(..at)?;
        let after = self.text.get(at..)?.strip_prefix(name)?;
        let goes_on = (before.ends_with(is_letter) && name.starts_with(is_letter))
            || (after.starts_with(is_letter) && name.ends_with(is_letter));
        work::count(1);
        (!goes_on).then_some(at)
    }

    fn begins(&self, name: &str, at: usize) -> Option<usize> {
        work::count(1);
        self.text.get(at..)?.starts_with(name).then_some(at)
    }

    /// Where a longer name or this one begins.
    pub(super) fn beginnings<'i>(&'i self, name: &'i str) -> impl Iterator<Item = usize> + 'i {
        let first = runs(name).into_iter().next().unwrap_or_default();
        let word = name.get(first.clone()).unwrap_or_default();
        let from = self.words.partition_point(|it| self.word(it) < word);
        let words = self.words.get(from..).unwrap_or_default().iter();
        let begun = words.take_while(move |it| !word.is_empty() && self.word(it).starts_with(word));
        begun.filter_map(move |it| self.begins(name, it.start.checked_sub(first.start)?))
    }
}

fn runs(text: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match (is_letter(letter), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                runs.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    runs.extend(start.map(|from| from..text.len()));
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p10_names_are_found_by_their_words() {
        let index = Index::of("a-key=1 $a-key xa-key a-keys key a-key".into());
        let places = |name| index.places(name).collect::<Vec<_>>();
        assert_eq!(places("a-key"), [0, 9, 33]);
        assert_eq!(places("key"), [2, 11, 18, 29, 35]);
        assert_eq!(places("$a"), [8]);
        assert_eq!(places("none"), [0; 0]);
        assert_eq!(places("-"), [0; 0]);
        assert_eq!(index.last_place("a-key", 13), Some(0));
        assert_eq!(index.last_place("a-key", 30), Some(9));
        let beginnings = |name| index.beginnings(name).collect::<Vec<_>>();
        assert_eq!(beginnings("a-key"), [0, 9, 22, 33]);
        assert_eq!(beginnings(""), [0; 0]);
    }
}
