//! A ledger of every program that a command would start, kept while the command is judged. What stands in it
//! is certain; whether it is all is said apart.

use std::{cell::RefCell, rc::Rc};

use super::{Risks, Word, files, is_computed, name_of, outputs, variables};
use crate::review::summary::facts::hosts;

/// More programs than these are not kept, and then they are not all.
const MOST_PROGRAMS: usize = 500;
/// What stands for a program where the shell itself sets a variable, opens a file or defines a function. A rule
/// about programs must not pass a command because of a part that it does not speak of.
const ASSIGNS: &str = "=";
const WRITES: &str = ">";
const READS: &str = "<";
const DEFINES: &str = "()";

/// One program that would run, with the words that are certain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says whether one of the lists is whole"
)]
pub struct Program {
    /// As it is written, without the folder if that is one of the system's: `git`, `./git`, `/tmp/git`.
    pub program: String,
    /// Without any folder, in lower case.
    pub name: String,
    /// With the program itself, up to the first word that is known only when it runs.
    pub words: Vec<String>,
    pub reads: Vec<String>,
    pub writes: Vec<String>,
    pub hosts: Vec<String>,
    /// Its hosts are all that its words name, and so are its files.
    pub hosts_sure: bool,
    pub reads_sure: bool,
    pub writes_sure: bool,
    pub risks: Risks,
    /// Setting these variables is known to risk nothing else.
    pub risks_sure: bool,
    /// There are no further words.
    pub sure: bool,
}

#[derive(Debug)]
pub(in crate::review::summary) struct Ledger {
    programs: Vec<Program>,
    sure: bool,
}

/// A ledger that several judges write into.
#[derive(Clone, Debug)]
pub(in crate::review::summary) struct SharedLedger(Rc<RefCell<Ledger>>);

impl Default for Ledger {
    fn default() -> Self {
        Self {
            programs: Vec::new(),
            sure: true,
        }
    }
}

impl Ledger {
    pub(in crate::review::summary) fn unsure() -> Self {
        Self {
            programs: Vec::new(),
            sure: false,
        }
    }

    pub(in crate::review::summary) fn share(self) -> SharedLedger {
        SharedLedger(Rc::new(RefCell::new(self)))
    }

    /// These are all, and each is certain.
    pub(in crate::review::summary) fn is_sure(&self) -> bool {
        self.sure && self.programs.iter().all(|program| program.sure)
    }

    pub(in crate::review::summary) fn into_programs(self) -> Vec<Program> {
        self.programs
    }
}

impl SharedLedger {
    pub(in crate::review::summary) fn take(self) -> Ledger {
        self.0.take()
    }

    pub(super) fn doubt(&self) {
        self.0.borrow_mut().sure = false;
    }

    /// The place of the program in the ledger, as long as there is room.
    pub(super) fn note(&self, program: Program) -> Option<usize> {
        let mut ledger = self.0.borrow_mut();
        if ledger.programs.len() >= MOST_PROGRAMS {
            ledger.sure = false;
            return None;
        }
        ledger.programs.push(program);
        Some(ledger.programs.len() - 1)
    }

    pub(super) fn note_risks(&self, at: usize, risks: &Risks) {
        if let Some(program) = self.0.borrow_mut().programs.get_mut(at) {
            program.risks.extend(risks.iter().copied());
        }
    }
}

impl Program {
    /// `words` begin with the program; `fed` ones get more when they run.
    pub(super) fn read(words: &[Word], fed: bool) -> Self {
        let is_open = |word: &Word| is_open(word) || (fed && word.text.contains("{}"));
        let known = words
            .iter()
            .enumerate()
            .take_while(|(at, word)| *at == 0 || !is_open(word))
            .count();
        let certain = words.get(1..known).unwrap_or_default();
        let texts: Vec<String> = words
            .iter()
            .take(known)
            .map(|word| word.text.clone())
            .collect();
        let name = words.first().map(name_of).unwrap_or_default();
        let args = texts.get(1..).unwrap_or_default();
        let (hosts, hosts_sure) = hosts::named(&name, args);
        let (reads, reads_sure) = files::read(&name, certain);
        let writes_sure = outputs::are_all(&name, certain);
        Self {
            program: shown(texts.first().map_or("", String::as_str)),
            reads,
            reads_sure,
            writes: outputs::written(&name, words.get(1..).unwrap_or_default()),
            writes_sure,
            hosts,
            // Programs whose flags are known connect to nobody, or have habits.
            hosts_sure: hosts_sure && (writes_sure || hosts::are_told(&name)),
            risks_sure: true,
            sure: known == words.len() && !fed && !words.iter().any(|word| word.varies),
            name,
            words: texts,
            ..Self::default()
        }
    }

    pub(super) fn assigning<'w>(words: impl Iterator<Item = &'w Word>, risks: &Risks) -> Self {
        let words: Vec<&Word> = words.collect();
        Self {
            sure: !words.iter().any(|word| is_open(word)),
            risks_sure: variables::are_known(words.iter().copied()),
            words: words.into_iter().map(|word| word.text.clone()).collect(),
            risks: risks.clone(),
            ..Self::of_shell(ASSIGNS)
        }
    }

    pub(super) fn writing(file: &Word, risks: &Risks) -> Self {
        Self {
            writes: vec![file.text.clone()],
            risks: risks.clone(),
            ..Self::of_shell(WRITES).about(file)
        }
    }

    pub(super) fn reading(file: &Word, risks: &Risks) -> Self {
        Self {
            reads: vec![file.text.clone()],
            risks: risks.clone(),
            ..Self::of_shell(READS).about(file)
        }
    }

    /// A function: what its name does from here on is not what the name says.
    pub(super) fn defining(name: &Word) -> Self {
        Self::of_shell(DEFINES).about(name)
    }

    fn of_shell(sign: &str) -> Self {
        Self {
            program: sign.to_owned(),
            name: sign.to_owned(),
            words: vec![sign.to_owned()],
            hosts_sure: true,
            reads_sure: true,
            writes_sure: true,
            risks_sure: true,
            sure: true,
            ..Self::default()
        }
    }

    fn about(mut self, word: &Word) -> Self {
        self.words.push(word.text.clone());
        self.sure = !is_open(word);
        (self.hosts, self.hosts_sure) = hosts::of_device(&word.text);
        self
    }
}

/// Known only when it runs: an expansion, a glob, a place for something else.
pub(super) fn is_open(word: &Word) -> bool {
    is_computed(word) || word.varies || word.text == "{}" || word.text.starts_with('=')
}

/// Without a folder of the system's. A `..` may lead through a link to anywhere.
fn shown(program: &str) -> String {
    const FOLDERS: [&str; 7] = [
        "/bin",
        "/sbin",
        "/usr/bin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
    ];
    let Some((folder, name)) = program.rsplit_once('/') else {
        return program.to_owned();
    };
    let steps: Vec<&str> = folder
        .split('/')
        .filter(|step| !step.is_empty() && *step != ".")
        .collect();
    let folder = format!("/{}", steps.join("/"));
    if program.starts_with('/') && FOLDERS.contains(&folder.as_str()) && !name.is_empty() {
        name.to_owned()
    } else {
        program.to_owned()
    }
}
