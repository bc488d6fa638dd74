//! The summary of a shell command: its parts, and what each of them risks.

use serde_json::{Map, Value};

use super::{
    Act, Part, Risk, Risks, Summary,
    bounds::{Bounds, head, hides_characters},
    given::{self, Form, is_plain, speaks_posix},
    judge::Judge,
    place::Place,
    shell::{self, Word},
    text,
};
use crate::review::excerpt::Excerpt;

pub(super) const LONGEST_READ: usize = 64 * 1024;

pub(super) fn summarize(
    tool: &str,
    params: &Map<String, Value>,
    project: Option<&str>,
    changes: bool,
    bounds: Bounds,
) -> Option<Summary> {
    let given = given::find(tool, params, changes)?;
    let place = place(params, project);
    let mut parts = Vec::new();
    for command in &given.commands {
        parts.append(&mut steps(&mut Judge::new(place.clone()), command));
    }
    let mut summary = shown(parts, bounds);
    // What stands around the steps is shown beside them.
    let mut around = Judge::new(place).assign(given.assigned.iter());
    if given.hides_characters {
        around.insert(Risk::HiddenCharacters);
    }
    if !given.sure {
        around.insert(Risk::Unreadable);
    }
    summary.risks.extend(around);
    Some(summary)
}

fn steps(judge: &mut Judge, command: &Form) -> Vec<Part> {
    match command {
        Form::Script(text) => script(judge, text),
        Form::Words(words) => vec![words_part(judge, words)],
        Form::Either(words) => {
            let mut part = words_part(judge, words);
            // As a tool reads it that joins the words.
            for step in script(judge, &words.join(" ")) {
                part.risks.extend(step.risks);
            }
            part.risks.insert(Risk::Unreadable);
            vec![part]
        }
        Form::Odd(text) => vec![part(text, Risks::from([Risk::Unreadable]))],
    }
}

/// The folder that the call names is where it begins, and stands for a project that is not known.
fn place(params: &Map<String, Value>, project: Option<&str>) -> Place {
    let folder = text(params, &["cwd", "workdir", "working_directory"]);
    let mut place = Place::new(project.or(folder));
    if let Some(folder) = folder {
        place.begin(folder);
    }
    place
}

fn script(judge: &mut Judge, text: &str) -> Vec<Part> {
    let read = head(text, LONGEST_READ);
    let script = shell::parse(read);
    let mut texts =
        with_here_documents(read, script.pipelines.iter().map(|it| &*it.text)).into_iter();
    let mut parts: Vec<Part> = script
        .pipelines
        .iter()
        .map(|pipeline| {
            let text = texts.next().unwrap_or_else(|| pipeline.text.clone());
            part(&text, judge.pipeline(pipeline))
        })
        .collect();
    if !script.sound || read.len() < text.len() {
        let unreadable = Risks::from([Risk::Unreadable]);
        match parts.last_mut() {
            Some(last) => last.risks.extend(unreadable),
            None => parts.push(part(text, unreadable)),
        }
    }
    if hides_characters(text) && !parts.iter().any(hides) {
        // In a comment, in a here-document or beyond what is read.
        parts.push(part(text, Risks::from([Risk::HiddenCharacters])));
    }
    parts
}

/// The texts of the steps, each with the lines that follow it and belong to no step: here-documents, which are
/// what a step is fed with. Comments and empty lines do nothing and are left out.
fn with_here_documents<'a>(script: &str, steps: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut from = 0;
    for step in steps {
        let rest = script.get(from..).unwrap_or_default();
        // A step that runs inside another is part of its text.
        let Some(start) = rest.find(step) else {
            texts.push(step.to_owned());
            continue;
        };
        if let (Some(last), Some(between)) = (texts.last_mut(), rest.get(..start)) {
            append_lines(last, between);
        }
        from += start + step.len();
        texts.push(step.to_owned());
    }
    if let (Some(last), Some(rest)) = (texts.last_mut(), script.get(from..)) {
        append_lines(last, rest);
    }
    texts
}

/// The first line is the rest of the step's own: what separates it from the next, or a comment.
fn append_lines(text: &mut String, between: &str) {
    for line in between.lines().skip(1) {
        let bare = line.trim();
        if !bare.is_empty() && !bare.starts_with('#') {
            text.push('\n');
            text.push_str(line);
        }
    }
}

fn hides(part: &Part) -> bool {
    part.risks.contains(&Risk::HiddenCharacters)
}

fn part(text: &str, mut risks: Risks) -> Part {
    if hides_characters(text) {
        risks.insert(Risk::HiddenCharacters);
    }
    Part {
        text: Some(text.to_owned()),
        risks,
        skipped: 0,
    }
}

/// A command that no shell splits.
fn words_part(judge: &mut Judge, words: &[String]) -> Part {
    let text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
    part(&text.join(" "), judge.words(&words))
}

pub(crate) fn quoted(word: &str) -> String {
    if is_plain(word) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// One command of literal words, and the arguments beside it.
pub(crate) struct PlainCommand {
    pub(crate) words: Vec<String>,
    /// With nothing in the place of the command.
    pub(crate) rest: Map<String, Value>,
}

/// `None` for whatever is more than one command: with an operator, a redirection, an expansion, a glob or an
/// assignment in it, or not understood.
pub(crate) fn plain_command(tool: &str, params: &Map<String, Value>) -> Option<PlainCommand> {
    let mut named = ["command", "cmd"]
        .iter()
        .filter(|name| params.contains_key(**name));
    let (Some(name), None) = (named.next(), named.next()) else {
        return None;
    };
    let text = params.get(*name)?.as_str()?;
    if !speaks_posix(tool) || text.len() > LONGEST_READ || hides_characters(text) {
        return None;
    }
    let script = shell::parse(text);
    let ([pipeline], true) = (script.pipelines.as_slice(), script.sound) else {
        return None;
    };
    let [command] = pipeline.commands.as_slice() else {
        return None;
    };
    let first = command.words.first()?;
    if !command.redirects.is_empty()
        || !command.groups.is_empty()
        || !command.words.iter().all(Word::is_plain)
        || shell::is_keyword_text(&first.text)
        || first.text.contains('=')
        || text.contains(['\n', '&', '|', ';'])
    {
        return None;
    }
    let mut rest = params.clone();
    rest.insert((*name).to_owned(), Value::Null);
    let words = command.words.iter().map(|word| word.text.clone());
    Some(PlainCommand {
        words: words.collect(),
        rest,
    })
}

/// Within bounds. Steps with risks are kept before others, and the risks of what is left out still count.
fn shown(parts: Vec<Part>, bounds: Bounds) -> Summary {
    let risks = parts.iter().flat_map(|part| part.risks.clone()).collect();
    let risky = parts.iter().filter(|part| !part.risks.is_empty()).count();
    let mut room_for_risky = risky.min(bounds.parts);
    let mut room_for_plain = bounds.parts - room_for_risky;
    let (mut kept, mut skipped, mut more) = (Vec::new(), 0, 0);
    for part in parts {
        let room = if part.risks.is_empty() {
            &mut room_for_plain
        } else {
            &mut room_for_risky
        };
        let text = part.text.unwrap_or_default();
        if *room == 0 {
            skipped += 1;
            more += text.lines().count().max(1);
            continue;
        }
        *room -= 1;
        let excerpt = Excerpt::of(&text, bounds.part_lines, bounds.part_bytes);
        more += excerpt.more;
        kept.push(Part {
            text: Some(excerpt.text),
            risks: part.risks,
            skipped: std::mem::take(&mut skipped),
        });
    }
    Summary {
        act: Act::Command { parts: kept },
        risks,
        cut: more > 0,
        more,
        claim: None,
    }
}
