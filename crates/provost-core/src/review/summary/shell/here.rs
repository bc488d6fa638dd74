//! Here-documents: their text begins on the next line and must not be taken for commands.

use super::{Reader, Word};

impl<'a> Reader<'a> {
    /// After `<<`: the delimiter, and the text that stands below this line.
    pub(super) fn here_document(&mut self) -> Word {
        let tabs = self.eat("-");
        self.blanks();
        let before = self.at;
        let delimiter = self.word();
        let written = self.slice(before, self.at);
        self.sound &= !written.is_empty() && !delimiter.computed;
        let body = self.here_body(&delimiter.text, tabs);
        // Without quotes around the delimiter lines that end in a backslash are joined with the next before
        // the delimiter is looked for, so that the text may end earlier than it seems.
        let literal = written.contains(['\'', '"', '\\']);
        self.sound &= literal || !body.contains("\\\n");
        if literal {
            Word::literal(body)
        } else {
            self.expanded(body)
        }
    }

    fn here_body(&mut self, delimiter: &str, tabs: bool) -> &'a str {
        let start = self.here_end.unwrap_or_else(|| {
            let line = self.rest().find('\n');
            line.map_or(self.text.len(), |line| self.at + line + 1)
        });
        let mut at = start;
        for line in self.slice(start, self.text.len()).split_inclusive('\n') {
            let bare = line.trim_end_matches('\n');
            let bare = if tabs {
                bare.trim_start_matches('\t')
            } else {
                bare
            };
            if bare == delimiter {
                self.here_end = Some(at + line.len());
                return self.slice(start, at);
            }
            at += line.len();
        }
        self.sound = false;
        self.here_end = Some(at);
        self.slice(start, at)
    }

    /// A text in which substitutions run.
    fn expanded(&mut self, body: &str) -> Word {
        let mut word = Word::default();
        if self.depth >= super::DEEPEST {
            self.give_up();
            return word;
        }
        let mut reader = Reader::new(body, self.depth + 1);
        while let Some(c) = reader.peek() {
            reader.inside_quotes(c, &mut word);
        }
        self.sound &= reader.sound;
        word
    }

    /// At the end of a line: goes on below its here-documents.
    pub(super) fn skip_here_documents(&mut self) {
        let Some(end) = self.here_end.take() else {
            return;
        };
        // A quoted line feed between the two: the texts were looked for in the wrong place.
        self.sound &= end >= self.at;
        self.at = self.at.max(end);
    }
}
