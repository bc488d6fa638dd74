//! Here-documents: their text begins on the next line and must not be taken for commands.

use super::{Reader, Word};

/// The here-documents of one line, whose texts were looked for below it.
pub(super) struct PendingHere {
    /// Where the line seemed to end. A shell looks for the texts where it does end.
    line: usize,
    /// Where the texts end.
    end: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    /// After `<<`: the delimiter, and the text that stands below this line.
    pub(super) fn here_document(&mut self) -> Word {
        let start = self.at;
        let tabs = self.eat("-");
        self.blanks();
        let before = self.at;
        let delimiter = self.word();
        let written = self.slice(before, self.at);
        // A line that goes on is joined before quotes are looked for. Of other expansions and quotes shells
        // make different delimiters.
        let joined = self.slice(start, self.at).contains('\n');
        self.sound &= !written.is_empty() && !joined && delimiter.is_plain();
        let body = self.here_body(&delimiter.text, tabs);
        // Without quotes around the delimiter lines that end in a backslash are joined with the next before
        // the delimiter is looked for, so that the text may end earlier than it seems.
        self.sound &= delimiter.quoted || !body.contains("\\\n");
        if delimiter.quoted {
            Word::literal(body)
        } else {
            self.expanded(body)
        }
    }

    fn here_body(&mut self, delimiter: &str, tabs: bool) -> &'a str {
        let (line, start) = if let Some(pending) = &self.here {
            (pending.line, pending.end)
        } else {
            let line = self.rest().find('\n');
            let line = line.map_or(self.text.len(), |line| self.at + line);
            (line, line + 1)
        };
        // Above it is what a surrounding script has pending.
        let depth = self.here.as_ref().map_or(self.depth, |it| it.depth);
        self.sound &= depth == self.depth;
        let mut at = start;
        let mut found = None;
        // Inside a substitution bash also ends the text at `E)`.
        let enclosed = self.depth > 0;
        for text in self.slice(start, self.text.len()).split_inclusive('\n') {
            let bare = text.trim_end_matches('\n');
            let bare = if tabs {
                bare.trim_start_matches('\t')
            } else {
                bare
            };
            if bare == delimiter {
                found = Some(at + text.len());
                break;
            }
            self.sound &= !(enclosed && bare.starts_with(delimiter));
            at += text.len();
        }
        if found.is_none() {
            // Looked for once, and not for each of many.
            self.tokens = super::MOST_TOKENS;
            self.sound = false;
        }
        self.here = Some(PendingHere {
            line,
            end: found.unwrap_or(at),
            depth,
        });
        self.slice(start, at)
    }

    /// A text in which substitutions run.
    fn expanded(&mut self, body: &str) -> Word {
        let expanded = self.read_inside(body, |reader| {
            let mut word = Word::default();
            while let Some(c) = reader.peek() {
                reader.inside_quotes(c, &mut word);
            }
            word
        });
        expanded.unwrap_or_default()
    }

    /// A script ends before the line that its here-documents stand below.
    pub(super) fn awaits_here_document(&self) -> bool {
        let depth = self.here.as_ref().map(|pending| pending.depth);
        depth == Some(self.depth)
    }

    /// After the end of a line: goes on below its here-documents.
    pub(super) fn skip_here_documents(&mut self) {
        let Some(pending) = self.here.take() else {
            return;
        };
        // The line went on, in quotes, behind a backslash or in a substitution: the texts were looked for in
        // the wrong place.
        self.sound &= pending.line + 1 == self.at && pending.depth == self.depth;
        self.at = self.at.max(pending.end);
    }
}
