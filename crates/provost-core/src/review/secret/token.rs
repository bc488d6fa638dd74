//! Values that only some programs take, and tokens that are known by their looks, in the words of a command. A word
//! that says what a program acts on may look like a token, too: it stays visible.

use crate::review::{
    names::{is_place_name, is_reference, is_secret},
    summary::{Outline, Spot, started},
    work,
};

/// The program of a command stands among so many of its words.
const FAR: usize = 64;
/// Programs that act on nothing that they are given.
pub(super) const SAYING: [&str; 3] = ["echo", "printf", "export"];

/// The program of the command that a word belongs to, behind those that start it. `None` where it is not certain.
pub(in crate::review) fn program(outline: &Outline, at: usize) -> Option<&str> {
    let mut words = outline.before(at).take(FAR).map(|spot| spot.text.as_str());
    let first = words.next()?;
    // Most programs start no other.
    if let Some(program) = started(&[first]) {
        return Some(program);
    }
    let words: Vec<&str> = std::iter::once(first).chain(words).collect();
    work::count(words.len());
    started(&words)
}

/// Whether this program takes the word. A word with blanks may be a script that has the program in it.
pub(super) fn is_taken_by(taker: &str, outline: &Outline, at: usize) -> bool {
    let has_blanks = outline
        .spots
        .get(at)
        .is_some_and(|spot| spot.text.contains(char::is_whitespace));
    let program = program(outline, at);
    has_blanks
        || program == Some(taker)
        || program.is_some_and(|it| is_started_inside(it, taker, outline, at))
}

/// Programs that start another one in a container, on another machine or for each line that they read; the word behind
/// which it stands, and how many words are between the two at least.
const CARRYING: [(&str, &str, usize); 11] = [
    ("docker", "exec", 1),
    ("docker-compose", "exec", 1),
    ("podman", "exec", 1),
    ("nerdctl", "exec", 1),
    ("kubectl", "exec", 1),
    ("oc", "exec", 1),
    ("find", "-exec", 0),
    ("ssh", "ssh", 1),
    ("xargs", "xargs", 0),
    ("watch", "watch", 0),
    ("parallel", "parallel", 0),
];

fn name(spot: &Spot) -> Option<&str> {
    spot.text.rsplit('/').next()
}

/// `docker exec db mysql -p…`: the program that takes the word stands behind one that starts it.
fn is_started_inside(program: &str, taker: &str, outline: &Outline, at: usize) -> bool {
    let Some((_, starter, between)) = CARRYING.iter().find(|(it, _, _)| *it == program) else {
        return false;
    };
    let words = outline.before(at).take(FAR);
    let behind = words.skip_while(|spot| name(spot) != Some(*starter));
    let mut behind = behind.skip(1 + between);
    behind.any(|spot| name(spot) == Some(taker))
}

/// Whether a token in this word is handed on, and not what the program acts on: it is part of a text or of a URL, the
/// value of a secret's flag, or stands behind a name that is no place's.
pub(super) fn is_token_handed_on(kind: &str, outline: &Outline, at: usize, token: &str) -> bool {
    let Some(spot) = outline.spots.get(at) else {
        return false;
    };
    let word = spot.text.as_str();
    let before = word.split_once(token).map_or("", |(before, _)| before);
    let near = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let is_text = word.contains(char::is_whitespace) && !outline.runs_text;
    if kind == "private key" || near.contains("://") || is_text {
        return true;
    }
    if let Some((name, _)) = near.rsplit_once('=') {
        let name = name.rsplit(['?', '&', ',']).next().unwrap_or_default();
        return !is_place_name(name, "");
    }
    let after_flag = || {
        let flag = outline.before(at).next_back().map_or("", |spot| &spot.text);
        flag.starts_with('-') && is_secret(flag) && !is_reference(flag)
    };
    after_flag() || program(outline, at).is_some_and(|program| SAYING.contains(&program))
}
