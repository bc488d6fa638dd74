//! Holds a command against itself. With another word in the place of a piece, the reader of commands must find
//! the same command: then the piece is literal text inside one word, and nothing else is hidden with it.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Write as _,
    ops::Range,
    rc::Rc,
};

use super::seat::Seat;
use crate::review::summary::Outline;

/// So many readings of one command, at most: what they do not settle stays visible.
const MOST_READINGS: usize = 200;
/// So many letters in all of them: a long command is read less often.
const MOST_LETTERS: usize = 1024 * 1024;
/// Each word is held against those before it: a command of more words is not understood.
pub(super) const MOST_WORDS: usize = 2000;

pub(in crate::review) struct Reading<'t> {
    text: &'t str,
    pub(in crate::review) outline: Outline,
    seats: Vec<Seat>,
    /// What the commands act on that words with blanks may be.
    inner: RefCell<BTreeMap<usize, Rc<str>>>,
    /// So many letters were read.
    read: Cell<usize>,
    /// Letters that do not occur in the text.
    mark: &'static str,
}

/// Where the pieces of one value stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::review) enum Standing {
    /// In a word of the outline.
    Word(usize),
    /// In what no shell reads: a comment.
    Comment,
}

type Pieces = Vec<Range<usize>>;

impl<'t> Reading<'t> {
    /// `None` where the command is not understood.
    pub(in crate::review) fn of(text: &'t str) -> Option<Self> {
        let marks = ["Zq", "Zj", "Qz", "Jq"];
        let outline = Outline::of(text)?;
        if outline.spots.len() > MOST_WORDS {
            return None;
        }
        Some(Self {
            text,
            mark: marks.into_iter().find(|mark| !text.contains(mark))?,
            seats: Seat::all(&outline),
            outline: outline.judged(text),
            inner: RefCell::default(),
            read: Cell::new(0),
        })
    }

    pub(super) fn seat(&self, at: usize) -> Option<&Seat> {
        self.seats.get(at)
    }

    /// The command that this word may be, for a program that is not known to run it: what it acts on, computed once.
    pub(super) fn inner(&self, at: usize, acted_on: impl FnOnce(&Outline) -> String) -> Rc<str> {
        let mut known = self.inner.borrow_mut();
        let inner = known.entry(at).or_insert_with(|| {
            let text = self.outline.spots.get(at).map_or("", |spot| &spot.text);
            let is_text = text.contains(char::is_whitespace);
            let outline = is_text.then(|| Outline::of(text)).flatten();
            outline.map_or_else(|| Rc::from(""), |outline| acted_on(&outline).into())
        });
        Rc::clone(inner)
    }

    /// Where each of the values stands; `None` for one that is more than literal text inside one word.
    /// `variables`: a variable in it is text, too.
    pub(in crate::review) fn places(
        &self,
        values: &[Pieces],
        variables: bool,
    ) -> Vec<Option<Standing>> {
        let mut found = vec![None; values.len()];
        let mut open: Vec<Range<usize>> = std::iter::once(0..values.len()).collect();
        let mut readings = 0;
        while let Some(part) = open.pop() {
            let read = self.read.get();
            if part.is_empty() || readings >= MOST_READINGS || read > MOST_LETTERS {
                continue;
            }
            readings += 1;
            self.read.set(read + self.text.len());
            let some = values.get(part.clone()).unwrap_or_default();
            match self.attempt(some, variables) {
                Some(places) => {
                    for (slot, place) in found.iter_mut().skip(part.start).zip(places) {
                        *slot = Some(place);
                    }
                }
                None if part.len() > 1 => {
                    let middle = part.start + part.len() / 2;
                    open.extend([middle..part.end, part.start..middle]);
                }
                None => {}
            }
        }
        found
    }

    /// All of them at once.
    fn attempt(&self, values: &[Pieces], variables: bool) -> Option<Vec<Standing>> {
        let other = Outline::of(&self.replaced(values)?)?;
        if !self.outline.is_alike(&other) {
            return None;
        }
        let mut standing = vec![Standing::Comment; values.len()];
        let spots = self.outline.spots.iter().zip(&other.spots).enumerate();
        for (at, (was, is)) in spots {
            let (Some(first), Some(last)) = (is.text.find(self.mark), is.text.rfind(self.mark))
            else {
                if was.text != is.text {
                    return None;
                }
                continue;
            };
            let after = is.text.get(last + self.mark.len()..)?;
            let after = after.get(after.find('Z')? + 1..)?;
            let same = was.text.starts_with(is.text.get(..first)?)
                && was.text.ends_with(after)
                && was.pattern == is.pattern
                && (variables || was.computed == is.computed);
            if !same {
                return None;
            }
            for value in marked(&is.text, self.mark) {
                *standing.get_mut(value)? = Standing::Word(at);
            }
        }
        Some(standing)
    }

    /// Each piece replaced by a mark with the number of its value: `Zq3Z`.
    fn replaced(&self, values: &[Pieces]) -> Option<String> {
        let mut pieces: Vec<(usize, &Range<usize>)> = values
            .iter()
            .enumerate()
            .flat_map(|(number, pieces)| pieces.iter().map(move |piece| (number, piece)))
            .collect();
        pieces.sort_by_key(|(_, piece)| piece.start);
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for (number, piece) in pieces {
            text.push_str(self.text.get(at..piece.start)?);
            let _ = write!(text, "{}{number}Z", self.mark);
            at = piece.end;
        }
        text.push_str(self.text.get(at..)?);
        Some(text)
    }
}

/// The numbers of the values that are marked in a word.
fn marked<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.split(mark)
        .skip(1)
        .filter_map(|rest| rest.split('Z').next()?.parse().ok())
}
