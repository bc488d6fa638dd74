//! Which agent is meant and what it is asked: by words on the command line, by a file, or by the input.

use std::{
    fs,
    io::{self, IsTerminal as _, Read as _},
    os::unix::fs::FileTypeExt as _,
    path::Path,
};

use anyhow::Context as _;
use provost_runner::agents::{self, Profile};

use super::Args;
use crate::{exit::usage, output};

/// More is no prompt.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Puts the prompt where the rest looks for it, and tells which agent was named. `has_file`: there is a file of the
/// run, which has a prompt.
pub(super) fn take(args: &mut Args, has_file: bool) -> anyhow::Result<Option<&'static Profile>> {
    let mut words = std::mem::take(&mut args.words).into_iter().peekable();
    let named = words.peek().and_then(|word| agents::named(word));
    if named.is_some() {
        words.next();
    }
    let prompt = words.next();
    if words.next().is_some() {
        return Err(usage(format!(
            "there is no agent of that name. Known are {}; put a prompt of several words into quotes",
            agents::KNOWN.map(|profile| profile.name).join(", ")
        )));
    }
    if named.is_some() && args.agent.is_some() {
        return Err(usage(
            "the agent is named twice: by its name, and with --agent",
        ));
    }
    if prompt.is_some() && args.prompt.is_some() {
        return Err(usage("the prompt is given twice"));
    }
    let from_file = args.prompt_file.take();
    let given = prompt.or_else(|| args.prompt.take());
    let is_asked = named.is_some() || args.session.is_some() || !has_file;
    args.prompt = match (given, from_file) {
        (Some(prompt), Some(file)) => Some(format!("{prompt}\n\n{}", read(&file)?)),
        (Some(prompt), None) => {
            note_unread_input(args.quiet);
            Some(prompt)
        }
        (None, Some(file)) => Some(read(&file)?),
        (None, None) if is_asked => Some(from_input()?),
        (None, None) => None,
    };
    Ok(named)
}

/// It may never end, so nobody waits for it who has a prompt.
fn note_unread_input(quiet: bool) {
    let input = fs::metadata("/dev/stdin");
    let is_given = input
        .is_ok_and(|input| input.file_type().is_fifo() || (input.is_file() && input.len() > 0));
    if is_given && !quiet {
        output::note(
            "note: the input is not read, because there is a prompt; `--prompt-file -` adds it",
        );
    }
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        return from_input();
    }
    let opened = fs::File::open(file);
    let opened = opened.with_context(|| format!("`{}` cannot be read", file.display()))?;
    whole(opened)
}

fn from_input() -> anyhow::Result<String> {
    if io::stdin().is_terminal() {
        return Err(usage(
            "what is it to do? Write the prompt behind the agent's name, pipe it in, or name a file with --config",
        ));
    }
    whole(io::stdin().lock())
}

fn whole(from: impl io::Read) -> anyhow::Result<String> {
    let mut text = String::new();
    let size = from.take(LONGEST + 1).read_to_string(&mut text);
    let size = size.context("the prompt cannot be read as text")?;
    if size as u64 > LONGEST {
        return Err(usage(format!("the prompt has more than {LONGEST} bytes")));
    }
    if text.trim().is_empty() {
        return Err(usage("the prompt is empty"));
    }
    Ok(text)
}
