//! Scripts: pipelines of commands, and what separates them.

use super::{Command, Pipeline, Reader, Redirect, Script, Word};

/// A script while it is read.
#[derive(Default)]
struct Draft {
    pipelines: Vec<Pipeline>,
    pipeline: Vec<Command>,
    command: Command,
    /// The first word of the command that is no keyword.
    name: Option<usize>,
    /// Where the pipeline's text starts and ends.
    from: usize,
    to: usize,
    /// `case … in` without its `esac`.
    cases: usize,
    /// The next `)` ends a pattern of a `case`.
    in_pattern: bool,
}

impl Draft {
    fn end_command(&mut self) {
        self.name = None;
        if !self.command.is_empty() {
            self.pipeline.push(std::mem::take(&mut self.command));
        }
    }

    fn end_pipeline(&mut self, text: &str) {
        self.end_command();
        if !self.pipeline.is_empty() {
            self.pipelines.push(Pipeline {
                text: text
                    .get(self.from..self.to)
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
                commands: std::mem::take(&mut self.pipeline),
            });
        }
    }

    fn starts(&self) -> bool {
        self.pipeline.is_empty() && self.command.is_empty()
    }

    fn push(&mut self, word: Word) {
        let first = self.name.and_then(|at| self.command.words.get(at));
        match (first.and_then(unquoted), unquoted(&word).unwrap_or("")) {
            (Some("case"), "in") => {
                self.cases += 1;
                self.in_pattern = true;
            }
            (None, "esac") => {
                self.cases = self.cases.saturating_sub(1);
                self.in_pattern = false;
            }
            _ => {}
        }
        if self.name.is_none() && !is_keyword(&word) {
            self.name = Some(self.command.words.len());
        }
        self.command.words.push(word);
    }
}

/// The text of a word that may mean something to the shell itself.
fn unquoted(word: &Word) -> Option<&str> {
    (!word.quoted && !word.computed).then_some(word.text.as_str())
}

/// Words before a command that are not its name. In quotes they are names of programs.
pub(in crate::review::summary) fn is_keyword(word: &Word) -> bool {
    unquoted(word).is_some_and(is_keyword_text)
}

pub(in crate::review::summary) fn is_keyword_text(word: &str) -> bool {
    matches!(
        word,
        "if" | "then"
            | "else"
            | "elif"
            | "fi"
            | "while"
            | "until"
            | "do"
            | "done"
            | "!"
            | "{"
            | "}"
    )
}

/// `name` or `function name`, and nothing that would run.
fn names_function(words: &[Word]) -> bool {
    let keywords = words.iter().take_while(|word| is_keyword(word)).count();
    let names = words.get(keywords..).unwrap_or_default();
    let names = match names {
        [first, names @ ..] if unquoted(first) == Some("function") => names,
        names => names,
    };
    matches!(names, [name] if name.is_plain() && !name.text.contains('='))
}

/// `x=( … )`, alone or declared.
fn may_be_array(words: &[Word]) -> bool {
    const DECLARING: [&str; 5] = ["declare", "typeset", "local", "readonly", "export"];
    let before = |word: &Word| is_keyword(word) || word.is_assignment();
    let first = words.iter().find(|word| !before(word));
    first.is_none_or(|word| unquoted(word).is_some_and(|name| DECLARING.contains(&name)))
}

impl Reader<'_> {
    /// Reads up to `close`, or to the end.
    pub(super) fn script(&mut self, close: Option<char>) -> Script {
        let mut draft = Draft::default();
        let mut closed = close.is_none();
        loop {
            self.blanks();
            let before = self.at;
            if draft.starts() {
                draft.from = before;
            }
            let Some(c) = self.peek() else { break };
            if c == ')' && close == Some(')') && !draft.in_pattern {
                self.at += 1;
                closed = true;
                break;
            }
            self.tokens += 1;
            if self.tokens > super::MOST_TOKENS {
                self.give_up();
                break;
            }
            self.token(c, &mut draft);
            if !draft.starts() {
                draft.to = self.at;
            }
            if self.at == before {
                self.give_up();
            }
        }
        draft.end_pipeline(self.text);
        self.sound &= closed && draft.cases == 0 && !self.awaits_here_document();
        Script {
            pipelines: draft.pipelines,
            sound: self.sound,
            guessed: false,
        }
    }

    fn token(&mut self, c: char, draft: &mut Draft) {
        match c {
            '#' => self.comment(),
            '\n' | ';' => self.separator(draft),
            '&' => self.ampersand(draft),
            '|' => self.bar(draft),
            '(' => self.parenthesis(draft),
            ')' => {
                self.sound &= draft.in_pattern;
                draft.in_pattern = false;
                draft.end_pipeline(self.text);
                self.at += 1;
            }
            '<' | '>' => self.redirect(draft),
            _ => self.plain_word(draft),
        }
    }

    pub(super) fn blanks(&mut self) {
        while self.eat(" ") || self.eat("\t") || self.eat("\\\n") {}
    }

    fn comment(&mut self) {
        let line = self.rest().find('\n').unwrap_or(self.rest().len());
        self.at += line;
    }

    fn separator(&mut self, draft: &mut Draft) {
        draft.end_pipeline(self.text);
        if self.eat("\n") {
            self.skip_here_documents();
            return;
        }
        if self.eat(";;&") || self.eat(";;") || self.eat(";&") {
            draft.in_pattern = draft.cases > 0;
            self.sound &= draft.in_pattern;
        } else {
            self.at += 1;
        }
    }

    fn ampersand(&mut self, draft: &mut Draft) {
        if self.eat("&>>") || self.eat("&>") {
            let target = self.target();
            draft.command.redirects.push(Redirect::Write(target));
            // To dash the `&` ends the command, and what follows is another one.
            self.blanks();
            self.sound &= self.peek().is_none_or(|c| "\n;&|)#".contains(c));
            return;
        }
        draft.end_pipeline(self.text);
        let _ = self.eat("&&") || self.eat("&");
    }

    fn bar(&mut self, draft: &mut Draft) {
        if self.eat("||") {
            draft.end_pipeline(self.text);
        } else {
            draft.end_command();
            let _ = self.eat("|&") || self.eat("|");
        }
    }

    /// A group, the head of a function, an array, or an arithmetic command.
    fn parenthesis(&mut self, draft: &mut Draft) {
        let start = self.at;
        if self.arithmetic("((") {
            let body = self.slice(start + 2, self.at - 2);
            draft.command.groups.push(self.perhaps_commands(body));
            return;
        }
        let touching = self.slice(0, self.at).ends_with('=');
        self.at += 1;
        if draft.in_pattern {
            return;
        }
        let words = &draft.command.words;
        if !words.is_empty() && self.rest().trim_start_matches([' ', '\t']).starts_with(')') {
            self.blanks();
            self.at += 1;
            // To zsh there may be several names, and any of them may run commands.
            self.sound &= names_function(words) && draft.command.redirects.is_empty();
            draft.command.defines = draft.command.words.pop();
            draft.command.words.clear();
            draft.name = None;
            return;
        }
        self.sound &= draft.name.is_none() || (touching && may_be_array(words));
        let group = self.nested();
        draft.command.groups.push(group);
    }

    /// Shells without arithmetic commands run what stands in `((rm -rf x))`. As commands it need not make
    /// sense.
    fn perhaps_commands(&mut self, body: &str) -> Script {
        let sound = self.sound;
        let script = self.read_inside(body, |reader| reader.script(None));
        let Some(script) = script else {
            return Script::default();
        };
        self.sound = sound;
        Script {
            sound: true,
            guessed: true,
            ..script
        }
    }

    fn plain_word(&mut self, draft: &mut Draft) {
        let start = self.at;
        let word = self.word();
        // In quotes it is an argument.
        let names_descriptor = self.rest().starts_with(['<', '>'])
            && unquoted(&word).is_some_and(|text| !text.is_empty())
            && word.text.chars().all(|c| c.is_ascii_digit());
        // Longer ones, and those before a line that goes on, are arguments to some shells.
        self.sound &= !names_descriptor || self.at == start + 1;
        // Zsh closes a group with it wherever it stands.
        self.sound &= unquoted(&word) != Some("}") || draft.name.is_none();
        if !names_descriptor {
            draft.push(word);
        }
    }

    fn redirect(&mut self, draft: &mut Draft) {
        if let Some(word) = self.process() {
            draft.push(word);
        } else if self.eat("<<<") {
            let word = self.target();
            draft.command.redirects.push(Redirect::Here(word));
        } else if self.eat("<<") {
            let word = self.here_document();
            draft.command.redirects.push(Redirect::Here(word));
        } else if self.eat("<&") || self.eat(">&") {
            self.duplicate(draft);
        } else if self.eat("<>") || self.eat(">>") || self.eat(">|") || self.eat(">") {
            let target = self.target();
            draft.command.redirects.push(Redirect::Write(target));
        } else {
            self.at += 1;
            let target = self.target();
            draft.command.redirects.push(Redirect::Read(target));
        }
    }

    /// `2>&1` copies a descriptor; `>&file` writes.
    fn duplicate(&mut self, draft: &mut Draft) {
        let target = self.target();
        // To bash the `-` ends the redirection, and what follows is a word.
        self.sound &= !target.text.starts_with('-') || target.text == "-";
        let number = target.text.strip_suffix('-').unwrap_or(&target.text);
        let descriptor = number.bytes().all(|c| c.is_ascii_digit());
        if !descriptor || target.computed {
            draft.command.redirects.push(Redirect::Write(target));
        }
    }

    fn target(&mut self) -> Word {
        self.blanks();
        if let Some(word) = self.process() {
            return word;
        }
        let before = self.at;
        let word = self.word();
        // To zsh `>! file` writes the file.
        self.sound &= self.at > before && unquoted(&word) != Some("!");
        word
    }

    /// `<( … )` or `>( … )`: a file that a command writes or reads.
    fn process(&mut self) -> Option<Word> {
        if !self.eat("<(") && !self.eat(">(") {
            return None;
        }
        let mut word = Word::literal("/dev/fd");
        let script = self.nested();
        word.run(script);
        Some(word)
    }
}
