//! A command as it is shown where content is not: programs, words and redirections stay, the texts that it
//! writes, sends or says do not. Like a mask, this covers literal text only, and where the quotes of a command
//! are not clear, nothing is left out.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;

use super::secret::{literals, mask_text, opens};

/// What stands before a text: a flag that takes one, a here-string, a program that says it.
static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:[ \t](?:-[a-z]*m|--message|--body|--notes|--description|-d|--data(?:-raw|-binary|-urlencode|-ascii)?",
        r"|--json|--form-string|--post-data)(?:=|[ \t]+)",
        r"|<<<[ \t]*",
        r"|(?:^|[\s;|&(])(?:echo|printf)(?:[ \t]+-[a-zA-Z]+)*[ \t]+)",
    ))
    .ok()
});
static HERE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"<<-?[ \t]*(?:'([A-Za-z0-9_]+)'|"([A-Za-z0-9_]+)"|\\?([A-Za-z0-9_]+))[^\n]*\n"#)
        .ok()
});

/// The command with its texts withheld and its secrets masked.
pub(super) fn withhold(command: &str) -> String {
    let mut pieces = here_documents(command);
    pieces.extend(texts(command));
    pieces.sort_by_key(|piece| piece.start);
    let mut shown = String::with_capacity(command.len());
    let mut at = 0;
    for piece in pieces {
        if piece.start < at {
            continue;
        }
        let literal = command.get(piece.clone()).unwrap_or_default();
        shown.push_str(command.get(at..piece.start).unwrap_or_default());
        shown.push_str(&withheld(literal));
        at = piece.end;
    }
    shown.push_str(command.get(at..).unwrap_or_default());
    match mask_text(&shown) {
        Cow::Owned(masked) => masked,
        Cow::Borrowed(_) => shown,
    }
}

fn withheld(literal: &str) -> String {
    let line = if literal.ends_with('\n') { "\n" } else { "" };
    format!("[content, {} characters]{line}", literal.chars().count())
}

/// Quoted texts after what takes one. A bare word is a name more often than a text.
fn texts(command: &str) -> Vec<Range<usize>> {
    let Some(before) = BEFORE.as_ref() else {
        return Vec::new();
    };
    let quoted = before.find_iter(command).filter(|found| {
        let rest = command.get(found.end()..).unwrap_or_default();
        rest.starts_with(['"', '\''])
    });
    quoted
        .flat_map(|found| literals(command, found.end()))
        .collect()
}

/// The bodies of here-documents, of those that certainly are some. A body in which something runs is shown.
fn here_documents(command: &str) -> Vec<Range<usize>> {
    let Some(here) = HERE.as_ref() else {
        return Vec::new();
    };
    let Some(captures) = here.captures(command) else {
        return Vec::new();
    };
    let Some(whole) = captures
        .get(0)
        .filter(|found| opens(command, found.start()))
    else {
        return Vec::new();
    };
    let quoted = captures.get(1).or(captures.get(2));
    let delimiter = quoted
        .or(captures.get(3))
        .map_or("", |found| found.as_str());
    let mut end = whole.end();
    for line in command.get(end..).unwrap_or_default().split_inclusive('\n') {
        if line.trim_end_matches('\n').trim_start_matches('\t') == delimiter {
            break;
        }
        end += line.len();
    }
    let body = command.get(whole.end()..end).unwrap_or_default();
    let runs = quoted.is_none() && body.contains(['`', '$']);
    if body.is_empty() || runs {
        return Vec::new();
    }
    std::iter::once(whole.end()..end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_commands_keep_their_words_and_lose_their_texts() {
        for (command, expected) in [
            ("cargo test", "cargo test"),
            (
                "git commit -am \"all of it\"",
                "git commit -am \"[content, 9 characters]\"",
            ),
            ("git commit -m fix", "git commit -m fix"),
            (
                "cat <<E > f\na b\nE\nls",
                "cat <<E > f\n[content, 4 characters]\nE\nls",
            ),
            (
                "curl -d '{\"a\":1}' x",
                "curl -d '[content, 7 characters]' x",
            ),
            ("wc <<< 'a b'", "wc <<< '[content, 3 characters]'"),
            ("base64 -d file", "base64 -d file"),
            ("TOKEN=abc ls", "TOKEN=[secret: token, 3 characters] ls"),
        ] {
            assert_eq!(withhold(command), expected);
        }
    }

    #[test]
    fn p09_nothing_that_runs_is_withheld() {
        for command in [
            "git commit -m \"$(rm -rf /)\"",
            "cat <<E\n$(rm -rf /)\nE",
            "cat <<E\n`rm -rf /`\nE",
            "echo '<<E'\nrm -rf /\nE",
            "echo \"<<E\nx\"\nrm -rf /\nE",
            "echo \"a\"-m \"; rm -rf /; echo \"b\"",
            "git commit -m 'x'; rm -rf /",
        ] {
            assert!(
                withhold(command).contains("rm -rf /"),
                "{command} {}",
                withhold(command)
            );
        }
    }
}
