//! What the programs of a script risk. What hides a program (prefixes, other shells, `xargs`) is seen
//! through, and what cannot be seen through is marked as such.

mod args;
mod awk;
mod builtins;
mod curl;
mod files;
mod find;
mod flags;
mod git;
mod interpreter;
mod known;
mod ledger;
mod options;
mod outputs;
mod programs;
mod sed;
mod variables;
mod wrapper;

use std::{cell::Cell, rc::Rc};

use super::{
    Risk, Risks,
    place::{self, Place},
    shell::{self, Command, Pipeline, Redirect, Script, Word, is_keyword},
};

pub(crate) use files::reads_files;
pub use ledger::Program;
pub(super) use ledger::{Ledger, SharedLedger};
pub(in crate::review) use wrapper::started;

/// Texts that run other texts, at most.
const DEEPEST: usize = 6;
/// Bytes of texts inside texts that are looked at, at most: nesting must not multiply the work.
const MOST_READ: usize = 1024 * 1024;

#[derive(Clone, Debug)]
pub(super) struct Judge {
    place: Place,
    depth: usize,
    read: Rc<Cell<usize>>,
    /// Where the programs are noted, if anybody wants to know.
    ledger: Option<SharedLedger>,
    /// What runs gets more words than are written.
    fed: bool,
    /// What it reads as its input stands in the command.
    told: bool,
    /// Its input comes from another command or a file.
    piped: bool,
}

impl Judge {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            depth: 0,
            read: Rc::default(),
            ledger: None,
            fed: false,
            told: false,
            piped: false,
        }
    }

    pub(super) fn noting(place: Place, ledger: SharedLedger) -> Self {
        Self {
            ledger: Some(ledger),
            ..Self::new(place)
        }
    }

    /// Of what is not certain nothing is noted but that.
    fn doubt(&mut self) {
        if let Some(ledger) = self.ledger.take() {
            ledger.doubt();
        }
    }

    /// Variables that are set: a part of its own, and what that risks.
    pub(super) fn assign<'w>(&self, words: impl Iterator<Item = &'w Word> + Clone) -> Risks {
        if words.clone().next().is_none() {
            return Risks::new();
        }
        let risks = variables::risks(words.clone());
        self.note(Program::assigning(words, &risks));
        risks
    }

    fn script(&self, script: &Script) -> Risks {
        let mut inside = self.clone();
        inside.fed = false;
        if !script.sound || script.guessed {
            inside.doubt();
        }
        let mut risks = unreadable_unless(script.sound);
        for pipeline in &script.pipelines {
            risks.append(&mut inside.pipeline(pipeline));
        }
        risks
    }

    pub(super) fn pipeline(&mut self, pipeline: &Pipeline) -> Risks {
        let mut risks = Risks::new();
        let around = self.piped;
        for (at, command) in pipeline.commands.iter().enumerate() {
            // Behind a bar it may read what comes through that.
            self.told = at == 0 && is_told(command);
            self.piped = around || at > 0 || has_input(command);
            risks.append(&mut self.command(command));
        }
        self.told = false;
        self.piped = around;
        risks
    }

    fn command(&mut self, command: &Command) -> Risks {
        let mut risks = Risks::new();
        let redirected = command.redirects.iter().map(Redirect::word);
        for word in command.words.iter().chain(redirected) {
            for script in &word.inner {
                risks.append(&mut self.script(script));
            }
        }
        for group in &command.groups {
            risks.append(&mut self.script(group));
        }
        for redirect in &command.redirects {
            risks.append(&mut self.redirect(redirect));
        }
        if let Some(name) = &command.defines {
            self.note(Program::defining(name));
        }
        risks.append(&mut self.words(&command.words));
        risks.append(&mut self.input(command));
        risks
    }

    /// A file that the shell itself opens is a part of its own: a group and an empty command have none that
    /// could carry it.
    fn redirect(&self, redirect: &Redirect) -> Risks {
        let word = redirect.word();
        // An expansion may set variables and run what it finds in them.
        if let Some(ledger) = &self.ledger
            && (is_computed(word) || word.varies)
        {
            ledger.doubt();
        }
        match redirect {
            Redirect::Write(file) => {
                let risks = self.place.writing(&file.text);
                self.note_opened(Program::writing(file, &risks));
                risks
            }
            Redirect::Read(file) => {
                let risks = place::reading(&file.text);
                self.note_opened(Program::reading(file, &risks));
                risks
            }
            Redirect::Here(_) => Risks::new(),
        }
    }

    fn note_opened(&self, opened: Program) {
        let device = |path: &String| place::is_harmless_device(path);
        if !opened.reads.iter().chain(&opened.writes).any(device) {
            self.note(opened);
        }
    }

    fn note(&self, program: Program) {
        if let Some(ledger) = &self.ledger {
            ledger.note(program);
        }
    }

    /// What an interpreter finds in its here-document.
    fn input(&mut self, command: &Command) -> Risks {
        let mut risks = Risks::new();
        for redirect in &command.redirects {
            if let Redirect::Here(text) = redirect
                && command
                    .words
                    .iter()
                    .any(|word| interpreter::reads_commands(&name_of(word)))
            {
                risks.append(&mut self.text(text));
            }
        }
        risks
    }

    /// A command as the words it is made of: its name, behind assignments and keywords, and the rest.
    pub(super) fn words(&mut self, words: &[Word]) -> Risks {
        let named = named(words);
        let before = words.len() - named.len();
        let before = words.get(..before).unwrap_or_default();
        let mut risks = self.assign(before.iter().filter(|word| word.is_assignment()));
        risks.append(&mut self.heads(before));
        let Some((name, args)) = named.split_first() else {
            return risks;
        };
        // A name in other letters looks like one program and is another.
        if is_computed(name) || !name.text.is_ascii() {
            risks.insert(Risk::Unreadable);
            return risks;
        }
        let noted = self.note_program(named);
        let name = name_of(name);
        self.follow(&name, args);
        risks.append(&mut programs::risks(&name, args, &self.place));
        risks.append(&mut builtins::risks(self, &name, args));
        risks.append(&mut interpreter::risks(self, &name, args));
        risks.append(&mut wrapper::risks(self, &name, args));
        risks.append(&mut find::risks(self, &name, args));
        if let (Some(ledger), Some(at)) = (&self.ledger, noted) {
            ledger.note_risks(at, &risks);
        }
        risks
    }

    /// What the words before a body name: a function, or a variable.
    fn heads(&self, words: &[Word]) -> Risks {
        let mut risks = Risks::new();
        for pair in words.windows(2) {
            if let [head, name] = pair
                && is_head(head)
            {
                if head.text == "function" {
                    self.note(Program::defining(name));
                } else {
                    risks.append(&mut self.assign(std::iter::once(name)));
                }
            }
        }
        risks
    }

    fn note_program(&self, words: &[Word]) -> Option<usize> {
        let ledger = self.ledger.as_ref()?;
        ledger.note(Program::read(words, self.fed))
    }

    /// Into another folder, if that is what the command does.
    fn follow(&mut self, name: &str, args: &[Word]) {
        match name {
            "cd" | "chdir" | "pushd" => {
                let folder = args::operands(args).next();
                self.place.enter(folder.map_or("~", |folder| &folder.text));
            }
            "eval" | "builtin" | "command" | "-" => {
                let moves = |word: &Word| word.text.contains("cd") || word.text.contains("pushd");
                if args.iter().any(moves) {
                    self.place.enter_unknown();
                }
            }
            _ => {}
        }
    }

    /// A text that is run as a shell command.
    fn text(&self, text: &Word) -> Risks {
        let mut risks = unreadable_unless(!text.computed);
        risks.insert(Risk::RunsText);
        match self.deeper(text.text.len()) {
            Some(inner) => risks.append(&mut inner.script(&shell::parse(&text.text))),
            None => risks.extend([Risk::Unreadable]),
        }
        risks
    }

    /// Another command that this one runs.
    fn inner(&self, words: &[Word]) -> Risks {
        match self.deeper(words.len()) {
            Some(mut inner) => inner.words(words),
            None => Risks::from([Risk::Unreadable]),
        }
    }

    /// Another command that this one runs, with words that it finds elsewhere.
    fn inner_fed(&self, words: &[Word]) -> Risks {
        let fed = Self {
            fed: true,
            ..self.clone()
        };
        fed.inner(words)
    }

    /// The judge of what runs inside, as long as depth and work are within bounds.
    fn deeper(&self, size: usize) -> Option<Self> {
        self.read.set(self.read.get().saturating_add(size));
        let within = self.depth < DEEPEST && self.read.get() <= MOST_READ;
        within.then(|| Self {
            depth: self.depth + 1,
            ..self.clone()
        })
    }
}

/// It is given an input.
fn has_input(command: &Command) -> bool {
    let mut redirects = command.redirects.iter();
    redirects.any(|it| matches!(it, Redirect::Read(_) | Redirect::Here(_)))
}

/// Its input is a here-document.
fn is_told(command: &Command) -> bool {
    let mut redirects = command.redirects.iter();
    redirects.clone().any(|it| matches!(it, Redirect::Here(_)))
        && !redirects.any(|it| matches!(it, Redirect::Read(_)))
}

fn unreadable_unless(readable: bool) -> Risks {
    if readable {
        Risks::new()
    } else {
        Risks::from([Risk::Unreadable])
    }
}

/// The words from the command's name on.
fn named(words: &[Word]) -> &[Word] {
    let is_prefix = |word: &&Word| is_keyword(word) || word.is_assignment();
    let before = words.iter().take_while(is_prefix).count();
    let words = words.get(before..).unwrap_or_default();
    match words {
        // `function name { …`, `coproc name while …`, and `for name do …` without a list.
        [head, _, body @ ..] if is_head(head) && body.first().is_some_and(is_keyword) => {
            named(body)
        }
        _ => words,
    }
}

/// A name follows it, and then a body.
fn is_head(word: &Word) -> bool {
    !word.quoted && matches!(word.text.as_str(), "function" | "coproc" | "for" | "select")
}

/// Names made of expansions, globs or braces are known only when they run. `[` is a program.
fn is_computed(name: &Word) -> bool {
    name.computed || (name.pattern && !matches!(name.text.as_str(), "[" | "[["))
}

/// The program behind a path, in lower case: some file systems do not tell them apart.
fn name_of(word: &Word) -> String {
    let name = word.text.rsplit(['/', '\\']).next().unwrap_or_default();
    // Zsh finds `=rm` where `rm` is.
    let name = name.trim_start_matches('=').to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}
