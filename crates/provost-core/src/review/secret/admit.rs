//! Which of the values that may be secrets are masked. In a command, the reader of commands must find each inside
//! one word that takes no effect by itself; a program, a file or a text that runs stays visible.

use std::cell::RefCell;

use super::{
    Secret, Standing, Within,
    acts::acts,
    carried::{is_carried, is_given},
    find::Found,
    indirect::Indirect,
    looks::{
        is_command_like, is_key_line, is_phrase, is_place, is_plain, is_random, is_scrambled,
        looks_random,
    },
    reading::Reading,
    seat::Seat,
    token::{is_taken_by, is_token_handed_on},
    uses::{Script, Use, Uses, is_variable},
};
use crate::review::{
    names::{ends_as_secret, is_secret},
    summary::{Role, Spot, assigned_name},
    work,
};

type Pieces = Vec<std::ops::Range<usize>>;

/// Each value is held against the words of its command: one with more values is not understood.
const MOST_VALUES: usize = 512;
const DECLARING: [&str; 5] = ["export", "declare", "typeset", "local", "readonly"];

pub(super) fn in_text(text: &str, values: Vec<Found>) -> Vec<Secret> {
    let mut uses = Uses::of(text);
    let mut admitted = Vec::new();
    let mut unclear = Vec::new();
    for value in values {
        if let Some(line) = value.line.clone() {
            admitted.push((value.kind, vec![line]));
            continue;
        }
        let Some(place) = value.data.clone() else {
            continue;
        };
        let literal = text.get(place.clone()).unwrap_or_default();
        if value.by_itself {
            admitted.push((value.kind, vec![place]));
        } else if is_data(&mut uses, &value, literal) {
            let list = if is_plain(literal) {
                &mut admitted
            } else {
                &mut unclear
            };
            list.push((value.kind, vec![place]));
        }
    }
    if !unclear.is_empty() {
        // The text may be a script. If it is none, quotes have said where the value ends.
        match Reading::of(text) {
            Some(reading) => {
                let pieces: Vec<Pieces> = unclear.iter().map(|(_, it)| it.clone()).collect();
                let places = reading.places(&pieces, true);
                let sure = unclear.into_iter().zip(places);
                admitted.extend(sure.filter_map(|(value, place)| place.map(|_| value)));
            }
            None => admitted.append(&mut unclear),
        }
    }
    flat(admitted)
}

/// A value that runs nowhere, as far as the text shows.
fn is_data(uses: &mut Uses<'_>, value: &Found, literal: &str) -> bool {
    if value.whole {
        return !literal.contains(char::is_whitespace) && !is_substituted(literal);
    }
    if is_place(literal) || is_substituted(literal) {
        return false;
    }
    if literal.contains(char::is_whitespace) {
        return value.kind == "password"
            && is_phrase(literal)
            && !is_command_like(literal)
            && !uses.of_name(&value.name);
    }
    looks_random(literal) || !uses.of_name(&value.name)
}

fn is_substituted(literal: &str) -> bool {
    literal.contains("$(") || literal.contains('`') || literal.contains("${")
}

pub(super) fn in_command(
    text: &str,
    within: Option<Within<'_>>,
    runs_text: bool,
    values: Vec<Found>,
) -> Vec<Secret> {
    let reading = Reading::of(text).filter(|_| values.len() <= MOST_VALUES);
    let Some(reading) = reading else {
        return flat(random_only(text, values));
    };
    let own = within.is_none().then(|| Script::of(text));
    let context = Context {
        text,
        script: within.map(|it| it.script).or(own.as_ref()),
        begins: within.map_or(0, |it| it.start),
        runs_text: runs_text || reading.outline.runs_text,
        reading: &reading,
        uses: RefCell::new(Uses::of(text)),
    };
    // First the whole line or word, and where that is more than the value, the value as data has it.
    let lines: Vec<Pieces> = values
        .iter()
        .map(|value| value.line.clone().into_iter().collect())
        .collect();
    let words: Vec<Pieces> = values.iter().map(|value| value.word.clone()).collect();
    let data: Vec<Pieces> = values
        .iter()
        .map(|value| value.data.clone().into_iter().collect())
        .collect();
    let mut admitted: Vec<Option<Pieces>> = vec![None; values.len()];
    for pieces in [lines, words, data] {
        let places = context.places(&pieces);
        let read = pieces.into_iter().zip(places);
        for ((slot, value), (pieces, place)) in admitted.iter_mut().zip(&values).zip(read) {
            let admits = |at| context.admits(value, &pieces, at);
            if slot.is_none() && !pieces.is_empty() && place.is_some_and(admits) {
                *slot = Some(pieces);
            }
        }
    }
    let admitted = values.iter().zip(admitted);
    flat(
        admitted
            .filter_map(|(value, pieces)| Some((value.kind, pieces?)))
            .collect(),
    )
}

/// Which of these pieces stand where they say nothing about what is done.
pub(super) fn again(text: &str, mut pieces: Vec<Secret>) -> Vec<Secret> {
    let Some(reading) = Reading::of(text).filter(|_| pieces.len() <= MOST_VALUES) else {
        return pieces;
    };
    let values: Vec<Pieces> = pieces.iter().map(|it| vec![it.place.clone()]).collect();
    let mut places = reading.places(&values, true).into_iter();
    let is_handed_on = |at: usize| {
        let spot = reading.outline.spots.get(at);
        let is_input = spot.is_some_and(|spot| spot.role == Role::Here);
        let is_word =
            spot.is_some_and(|spot| matches!(spot.role, Role::Argument | Role::Assignment));
        is_input || (is_word && !acts(&reading.outline, reading.seat(at), at))
    };
    pieces.retain(|_| match places.next().flatten() {
        Some(Standing::Word(at)) => is_handed_on(at),
        Some(Standing::Comment) => true,
        None => false,
    });
    pieces
}

/// Of what is not understood, only what nobody chose is masked.
fn random_only(text: &str, values: Vec<Found>) -> Vec<(&'static str, Pieces)> {
    let mut admitted = Vec::new();
    for value in values {
        let Some(place) = value.data else { continue };
        let literal = text.get(place.clone()).unwrap_or_default();
        if is_random(literal) {
            admitted.push((value.kind, vec![place]));
        } else if value.by_itself {
            // The lines of a key.
            let lines = lines(text, place);
            let is_key = |line: &str| is_random(line) || is_key_line(line);
            let random = lines.filter(|line| text.get(line.clone()).is_some_and(is_key));
            admitted.push((value.kind, random.collect()));
        }
    }
    admitted
}

fn lines(
    text: &str,
    place: std::ops::Range<usize>,
) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = place.start;
    let whole = text.get(place).unwrap_or_default();
    whole.split_inclusive('\n').map(move |line| {
        let from = at;
        at += line.len();
        from..from + line.trim_end().len()
    })
}

fn flat(values: Vec<(&'static str, Pieces)>) -> Vec<Secret> {
    let secrets = values.into_iter().flat_map(|(kind, pieces)| {
        let pieces = pieces.into_iter();
        pieces.map(move |place| Secret { place, kind })
    });
    secrets.collect()
}

struct Context<'c> {
    text: &'c str,
    /// The whole script, and where the text begins in it.
    script: Option<&'c Script>,
    begins: usize,
    runs_text: bool,
    reading: &'c Reading<'c>,
    uses: RefCell<Uses<'c>>,
}

impl Context<'_> {
    /// Values that overlap are read apart from each other.
    fn places(&self, values: &[Pieces]) -> Vec<Option<Standing>> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        let start = |at: &usize| {
            let first = values.get(*at).and_then(|pieces| pieces.first());
            first.map_or(0, |piece| piece.start)
        };
        order.sort_by_key(start);
        let mut found = vec![None; values.len()];
        while !order.is_empty() {
            let (mut end, mut later, mut now) = (0, Vec::new(), Vec::new());
            for at in order {
                let pieces = values.get(at).map_or(&[][..], Vec::as_slice);
                match (pieces.first(), pieces.last()) {
                    (Some(first), Some(last)) if first.start >= end => {
                        end = last.end;
                        now.push(at);
                    }
                    (Some(_), Some(_)) => later.push(at),
                    _ => {}
                }
            }
            let some: Vec<Pieces> = now
                .iter()
                .filter_map(|at| values.get(*at).cloned())
                .collect();
            for (at, place) in now.into_iter().zip(self.reading.places(&some, false)) {
                if let Some(slot) = found.get_mut(at) {
                    *slot = place;
                }
            }
            order = later;
        }
        found
    }

    fn admits(&self, value: &Found, pieces: &Pieces, place: Standing) -> bool {
        let Standing::Word(at) = place else {
            return true;
        };
        let Some(spot) = self.reading.outline.spots.get(at) else {
            return false;
        };
        let literal: String = pieces
            .iter()
            .filter_map(|piece| self.text.get(piece.clone()))
            .collect();
        let outline = &self.reading.outline;
        let program = value.program.as_deref();
        // What is no word says nothing about what is done: where it goes matters only by its variable's name.
        let is_word = !value.by_itself && !looks_random(&literal);
        if is_word && !self.is_handed_over(value, at, pieces) {
            return false;
        }
        match spot.role {
            Role::Program | Role::File | Role::Keyword => false,
            _ if program.is_some_and(|program| !is_taken_by(program, outline, at)) => false,
            Role::Here => self.admits_input(value, &literal),
            Role::Argument if program.is_none() && self.acts(at) => false,
            Role::Argument if self.acts_inside(at, &literal) => false,
            Role::Assignment | Role::Argument if self.is_assigned(value, spot, at) => {
                self.admits_assigned(value, spot, pieces, &literal)
            }
            Role::Assignment | Role::Argument if value.by_itself => {
                is_token_handed_on(value.kind, outline, at, &literal)
            }
            Role::Assignment | Role::Argument => {
                is_carried(value, self.reading, at, &literal)
                    && self.admits_argument(value, spot, pieces, &literal)
            }
        }
    }

    /// Whether a value that somebody may have chosen goes to a program and nowhere else in the script.
    fn is_handed_over(&self, value: &Found, at: usize, pieces: &Pieces) -> bool {
        let outline = &self.reading.outline;
        let Some(spot) = outline.spots.get(at) else {
            return false;
        };
        let Some(indirect) = self.script.map(|script| script.indirect) else {
            return false;
        };
        if self.is_assigned(value, spot, at) {
            return !spot.feeds && indirect == Indirect::default();
        }
        if spot.role != Role::Here && indirect.words {
            return false;
        }
        if spot.role == Role::Assignment {
            let name = assigned_name(&spot.text).unwrap_or_default();
            let is_unread = !spot.feeds && indirect == Indirect::default();
            return is_unread && self.use_of(name, pieces) == Use::None;
        }
        is_given(value, outline, at)
    }

    fn admits_input(&self, value: &Found, literal: &str) -> bool {
        value.by_itself && (!self.runs_text || value.kind == "private key")
            || if self.runs_text {
                is_random(literal)
            } else {
                is_data(&mut self.uses.borrow_mut(), value, literal)
            }
    }

    /// The value of a variable that is only handed on.
    fn admits_assigned(&self, value: &Found, spot: &Spot, pieces: &Pieces, literal: &str) -> bool {
        let name = assigned_name(&spot.text).unwrap_or_default();
        let used = self.use_of(name, pieces);
        if value.by_itself {
            return used != Use::Free || is_secret(name);
        }
        let may_run = self.runs_text && !(looks_random(literal) && used == Use::None);
        if may_run || used == Use::Free || !ends_as_secret(name) {
            return is_random(literal);
        }
        // Before the host of a URL, it may be the host.
        if used == Use::InUrl {
            return looks_random(literal) && is_plain(literal) && !literal.contains(['/', '.']);
        }
        if is_place(literal) {
            return false;
        }
        if used == Use::HandedOn {
            return is_plain(literal) && (looks_random(literal) || !literal.contains(['/', '.']));
        }
        if literal.contains(char::is_whitespace) {
            return value.kind == "password" && is_phrase(literal) && !is_command_like(literal);
        }
        !is_command_like(literal) || looks_random(literal) || is_random(literal)
    }

    fn admits_argument(&self, value: &Found, spot: &Spot, pieces: &Pieces, literal: &str) -> bool {
        let is_other = !value.name.is_empty() && !ends_as_secret(&value.name);
        let is_script = spot.text.contains(char::is_whitespace) || !looks_random(literal);
        if (self.runs_text && is_script) || is_other {
            return is_random(literal);
        }
        if value.whole {
            // Among other words it may be a part of a command.
            let alone = !spot.text.contains(char::is_whitespace);
            return is_plain(literal) || (alone && !is_substituted(literal));
        }
        let used = self.use_of(&value.name, pieces);
        if used == Use::Free && is_variable(&value.name) {
            return is_random(literal);
        }
        (is_plain(literal) || is_scrambled(literal))
            && !is_place(literal)
            && (looks_random(literal) || used == Use::None)
    }

    /// What becomes of the variable whose value these pieces are.
    fn use_of(&self, name: &str, pieces: &Pieces) -> Use {
        let start = pieces.first().map_or(0, |piece| piece.start);
        let value = Some(self.begins + start);
        let literal: String = pieces
            .iter()
            .filter_map(|piece| self.text.get(piece.clone()))
            .collect();
        let script = self.script.map(|script| {
            if looks_random(&literal) {
                script.named_use_of(name, value)
            } else {
                script.use_of(name, value)
            }
        });
        script.unwrap_or(Use::Free)
    }

    fn acts(&self, at: usize) -> bool {
        acts(&self.reading.outline, self.reading.seat(at), at)
    }

    /// The word may be a command of its own, for a program that is not known to run it: `foo 'rm --token folder'`.
    fn acts_inside(&self, at: usize, literal: &str) -> bool {
        let acted_on = self.reading.inner(at, |outline| {
            let seats = Seat::all(outline);
            let spots = outline.spots.iter().zip(&seats).enumerate();
            let acted_on = spots.filter(|(at, (spot, seat))| {
                spot.role == Role::Argument && acts(outline, Some(seat), *at)
            });
            acted_on
                .map(|(_, (spot, _))| &*spot.text)
                .collect::<Vec<_>>()
                .join("\n")
        });
        work::count(acted_on.len());
        acted_on.contains(literal)
    }

    /// The word is `NAME=` and this value, for a shell.
    fn is_assigned(&self, value: &Found, spot: &Spot, at: usize) -> bool {
        let declares = || {
            let mut before = self.reading.outline.before(at);
            let program = before.next();
            program.is_some_and(|program| DECLARING.contains(&program.text.as_str()))
        };
        assigned_name(&spot.text).is_some_and(|name| value.by_itself || name == value.name)
            && (spot.role == Role::Assignment || declares())
    }
}
