//! What the agent asks, as the person who answers reads it, and what their answer means.

use provost_runner::permission::{Choice, Question, Wish};

use super::{
    fields::{Fields, compact, places},
    style::{Ink, Style, columns, size},
    tool::diffs,
};
use crate::output;

/// Of what is to be run or written: whoever decides sees all of it, or is told that they do not.
const MOST_LINES: usize = 40;
const MOST_BYTES: usize = 4 * 1024;
const DIFF_LINES: usize = 60;
const MOST_OPTIONS: usize = 20;
/// Columns of what stands before each line.
const BAR: usize = 2;

/// With how many more wait.
pub(super) fn lines(question: &Question, more: usize, style: Style) -> Vec<String> {
    let call = Fields::read(&question.tool_call);
    let input = call.inner("rawInput");
    let kind = call
        .short("kind", 20)
        .unwrap_or_else(|| "something".to_owned());
    let mut head = format!("may it do this? {}", style.paint(Ink::Bold, &kind));
    if more > 0 {
        head.push_str(&style.paint(Ink::Dim, &format!("  ({more} more to answer)")));
    }
    let mut body = vec![];
    let command = command(&input);
    let title = call.short("title", 500);
    if let Some(title) = title.filter(|title| command.as_deref() != Some(title)) {
        body.extend(style.folded(Some(Ink::Bold), &title, BAR));
    }
    match command {
        Some(command) => body.extend(whole(&command, "$ ", style)),
        None if question.tells_arguments && call.raw("content").is_none() => {
            let input = call.raw("rawInput").map(|input| compact(input, 1_000));
            body.extend(style.folded(None, &input.unwrap_or_default(), BAR));
        }
        None => {}
    }
    for (name, label) in [("cwd", "in "), ("description", "it says: ")] {
        if let Some(said) = input.short(name, 300) {
            body.extend(style.folded(Some(Ink::Dim), &format!("{label}{said}"), BAR));
        }
    }
    let places = places(&call);
    if !places.is_empty() {
        let places = format!("at {}", places.join(", "));
        body.extend(style.folded(Some(Ink::Dim), &places, BAR));
    }
    body.extend(diffs(&call, DIFF_LINES, style));
    if !question.tells_arguments {
        let unknown = "the agent does not tell the arguments: nobody knows what this does";
        body.extend(style.folded(Some(Ink::Red), unknown, BAR));
    }
    body.push(String::new());
    body.extend(options(&question.options, style));
    let bar = style.paint(Ink::Yellow, "│");
    let head = format!("{} {head}", style.paint(Ink::Yellow, "┌"));
    let body = body
        .iter()
        .map(|line| format!("{bar} {line}").trim_end().to_owned());
    std::iter::once(head).chain(body).collect()
}

/// What stands before the answer.
pub(super) fn prompt(question: &Question, again: bool, style: Style) -> String {
    let most = question.options.len().min(MOST_OPTIONS);
    let numbers = match most {
        0 => String::new(),
        1 => "1, ".to_owned(),
        most => format!("1-{most}, "),
    };
    let please = if again {
        "please answer with one of "
    } else {
        ""
    };
    format!(
        "{} {please}{numbers}y or n? ",
        style.paint(Ink::Yellow, "└")
    )
}

/// `None`: it has to be asked again.
pub(super) fn answer(typed: &str, options: &[Choice]) -> Option<Wish> {
    match typed.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Wish::Allow),
        "n" | "no" => Some(Wish::Reject),
        number => {
            let number: usize = number.parse().ok()?;
            let shown = options.get(..options.len().min(MOST_OPTIONS))?;
            let option = shown.get(number.checked_sub(1)?)?;
            Some(Wish::Option(option.option_id.clone()))
        }
    }
}

fn command(input: &Fields<'_>) -> Option<String> {
    if let Some(line) = input.text("command").or_else(|| input.text("cmd")) {
        return Some(line);
    }
    let words = input.list("command");
    let words: Vec<String> = words
        .iter()
        .map(|word| serde_json::from_str(word.get()).unwrap_or_else(|_| word.to_string()))
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// A text in its lines, and how much of it is not shown.
fn whole(text: &str, before: &str, style: Style) -> Vec<String> {
    let start = text
        .get(..text.floor_char_boundary(MOST_BYTES))
        .unwrap_or(text);
    let mut lines = Vec::new();
    for (place, line) in start.lines().take(MOST_LINES).enumerate() {
        let before = if place == 0 { before } else { "  " };
        let line = format!("{before}{}", output::safe(&line.replace('\t', "    ")));
        lines.extend(style.folded(None, &line, BAR));
    }
    if start.len() < text.len() || start.lines().nth(MOST_LINES).is_some() {
        let more = format!("NOT ALL OF IT IS SHOWN: it is {} long", size(text.len()));
        lines.push(style.paint(Ink::Red, &more));
    }
    lines
}

/// Its own words, and what choosing it means: the words are the agent's, the meaning is the protocol's.
fn options(options: &[Choice], style: Style) -> Vec<String> {
    let shown = options.iter().take(MOST_OPTIONS).enumerate();
    let mut lines: Vec<_> = shown
        .map(|(place, option)| {
            let (meaning, ink) = meaning(&option.kind);
            let number = style.paint(Ink::Bold, &(place + 1).to_string());
            let name = output::shorten(&option.name, 120);
            let name = style.fit(&name, columns(&meaning) + BAR + 7);
            format!("{number}  {}  {name}", style.paint(ink, &meaning))
        })
        .collect();
    if options.len() > MOST_OPTIONS {
        lines.push(format!("… and {} more", options.len() - MOST_OPTIONS));
    }
    let has = |kinds: [&str; 2]| options.iter().any(|option| kinds.contains(&&*option.kind));
    if !has(["allow_once", "allow_always"]) {
        lines.push("y  nothing that it offers is a yes: y is a no".to_owned());
    }
    if !has(["reject_once", "reject_always"]) {
        lines.push("n  it offers no no: its turn ends".to_owned());
    }
    lines
}

fn meaning(kind: &str) -> (String, Ink) {
    let (meaning, ink) = match kind {
        "allow_once" => ("yes, this once   ", Ink::Green),
        "allow_always" => ("yes, from now on ", Ink::Yellow),
        "reject_once" => ("no, this once    ", Ink::Red),
        "reject_always" => ("no, from now on  ", Ink::Red),
        other => return (format!("`{}`", output::shorten(other, 30)), Ink::Dim),
    };
    (meaning.to_owned(), ink)
}

#[cfg(test)]
mod tests {
    use provost_runner::permission::Permission;
    use serde_json::{Value, json, value::to_raw_value};
    use tokio::sync::oneshot;

    use super::*;

    const PLAIN: Style = Style {
        colored: false,
        width: Some(72),
    };

    fn asking(tool_call: Value, options: Value) -> Question {
        let raw =
            to_raw_value(&json!({"sessionId": "s", "toolCall": tool_call, "options": options}))
                .unwrap();
        let permission = Permission::read("p".to_owned(), raw).unwrap();
        Question::new(&permission, oneshot::channel().0)
    }

    fn usual() -> Value {
        json!([
            {"optionId": "a", "name": "Yes", "kind": "allow_once"},
            {"optionId": "b", "name": "Yes, and echo *", "kind": "allow_always"},
            {"optionId": "c", "name": "No", "kind": "reject_once"},
        ])
    }

    #[test]
    fn questions_show_what_is_decided() {
        let run = json!({"toolCallId": "1", "kind": "execute", "title": "Say hi", "locations": [{"path": "/repo/hi.txt"}],
            "rawInput": {"command": "echo hi > hi.txt &&\n  cat hi.txt\u{1b}[2J", "description": "harmless", "cwd": "/repo"}});
        let write = json!({"toolCallId": "2", "kind": "edit", "title": "write /repo/a", "content": [
            {"type": "diff", "path": "/repo/a", "oldText": null, "newText": "new\n"}]});
        let long = json!({"kind": "execute", "rawInput": {"command": "true; ".repeat(100_000)}});
        let other = json!({"title": "Fetch", "rawInput": {"url": "http://\u{202e}x"}});
        let untold = json!({"title": "Bash", "rawInput": {}});
        let odd = json!([{"optionId": "z", "name": "No\u{1b}", "kind": "allow_always\u{1b}"}]);
        let all = [
            (run, usual()),
            (write, usual()),
            (other, odd),
            (untold, usual()),
            (long, json!([])),
        ];
        let shown: Vec<_> = all
            .into_iter()
            .map(|(call, options)| {
                let question = asking(call, options);
                let mut shown = lines(&question, 2, PLAIN);
                shown.push(prompt(&question, false, PLAIN));
                // Of the long one, its ends.
                if shown.len() > 20 {
                    shown.drain(4..shown.len() - 6);
                }
                shown.join("\n")
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n\n"));
    }

    #[test]
    fn answers_are_what_was_offered() {
        let question = asking(json!({"rawInput": {"command": "ls"}}), usual());
        for (typed, expected) in [
            ("y", Some(Wish::Allow)),
            (" YES ", Some(Wish::Allow)),
            ("n", Some(Wish::Reject)),
            ("1", Some(Wish::Option("a".into()))),
            ("3", Some(Wish::Option("c".into()))),
            ("0", None),
            ("4", None),
            ("-1", None),
            ("", None),
            ("yep", None),
            ("1 2", None),
        ] {
            assert_eq!(answer(typed, &question.options), expected, "{typed}");
        }
    }
}
