//! Options as programs take them apart: letters together, values glued on or in the next word.

#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    /// Letters, and long flags with their dashes, each with its value.
    pub(super) given: Vec<(&'a str, Option<&'a str>)>,
    pub(super) operands: Vec<&'a str>,
}

/// Where a program takes flags.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Anywhere,
    /// Behind the first word that is none, everything is an operand.
    First,
}

/// `valued` letters take the rest of their word, or the next one. Long flags take what stands behind `=`, or the
/// next word if they are `long_valued`; the value of any other is found among the operands.
pub(super) fn parse<'a>(
    words: impl Iterator<Item = &'a str>,
    order: Order,
    valued: &str,
    long_valued: impl Fn(&str) -> bool,
) -> Options<'a> {
    let mut options = Options::default();
    let mut words = words;
    while let Some(word) = words.next() {
        if word == "--" {
            options.operands.extend(words.by_ref());
        } else if word.starts_with("--") {
            options.given.push(match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None if long_valued(word) => (word, words.next()),
                None => (word, None),
            });
        } else if let Some(letters) = word.strip_prefix('-').filter(|it| !it.is_empty()) {
            options.letters(letters, valued, &mut words);
        } else {
            options.operands.push(word);
            if order == Order::First {
                options.operands.extend(words.by_ref());
            }
        }
    }
    options
}

impl<'a> Options<'a> {
    fn letters(
        &mut self,
        letters: &'a str,
        valued: &str,
        words: &mut impl Iterator<Item = &'a str>,
    ) {
        for (at, letter) in letters.char_indices() {
            let end = at + letter.len_utf8();
            let name = letters.get(at..end).unwrap_or_default();
            if valued.contains(letter) {
                let rest = letters.get(end..).filter(|rest| !rest.is_empty());
                self.given.push((name, rest.or_else(|| words.next())));
                return;
            }
            self.given.push((name, None));
        }
    }
}
