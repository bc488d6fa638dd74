//! From bytes to a tree: one YAML document per file, bounded in size, depth and alias expansion, and
//! every duplicate key found, not the first only.

mod builder;

use std::rc::Rc;

use saphyr_parser::Parser;

use super::node::{Kind, Node, Span};
use builder::Builder;

pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// A complaint about the text itself.
#[derive(Debug)]
pub(super) struct Flaw {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// The tree, unless the text is not YAML, and all that is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) root: Option<Rc<Node>>,
    pub(super) flaws: Vec<Flaw>,
    /// Values that are secret by the sound of their keys, or that nobody will read.
    pub(super) covered: Vec<Span>,
}

/// Checks what the parser takes for granted. The text has no byte order mark any more.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, (String, String)> {
    if bytes.len() > MAX_BYTES {
        return Err((
            format!("the file is larger than {} KiB", MAX_BYTES / 1024),
            "split the policies into files of a `policy_dir`".to_owned(),
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error
            .as_bytes()
            .iter()
            .take(at)
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        (
            format!("not UTF-8: byte {at}, on line {line}, is not valid"),
            "save the file as UTF-8".to_owned(),
        )
    })?;
    // The parser takes NUL for the end of the file, and would drop the rest without a word.
    if let Some(at) = text.find('\0') {
        return Err((
            format!("the file holds a NUL byte at {at}"),
            "remove it".to_owned(),
        ));
    }
    Ok(text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text))
}

pub(super) fn parse(file: usize, text: &str) -> Parsed {
    let mut builder = Builder::new(file, text);
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => {
                let span = builder.span(span.start, span.end);
                if builder.take(event, span).is_none() {
                    return builder.give_up(text);
                }
            }
            Err(error) => {
                builder.syntax_error(&error);
                return builder.give_up(text);
            }
        }
    }
    let nothing = || {
        Rc::new(Node {
            span: Span {
                file,
                start: 0,
                end: 0,
            },
            kind: Kind::Null,
            weight: 1,
        })
    };
    let root = builder.root.unwrap_or_else(nothing);
    Parsed {
        root: Some(root),
        flaws: builder.flaws,
        covered: builder.covered,
    }
}
