//! What the gate computed of a call, as values for rules: `risks`, `command`, `change`, `url` and `unreadable`.
//! Read only for a rule that asks, and once for all rules that do.

use provost_abl::expr::{Known, Standing, Value};

use crate::{
    call::Call,
    review::{self, Program, Risk, Risks},
};

/// The names of what is computed.
pub const COMPUTED: [&str; 5] = ["risks", "command", "change", "url", "unreadable"];

/// Each as far as the call has such a thing.
#[derive(Debug)]
pub(super) struct Facts {
    risks: Option<Known>,
    command: Option<Known>,
    change: Option<Known>,
    url: Option<Known>,
    /// There is an address, and it could not be read.
    odd_url: bool,
    unreadable: Option<Known>,
}

impl Facts {
    pub(super) fn of(call: &Call) -> Self {
        let facts = review::Facts::of(&call.tool, &call.params);
        let judged = facts.command.is_some() || facts.change.is_some();
        Self {
            // Of any other call, only that it hides a secret is known.
            risks: (judged || !facts.risks.is_empty())
                .then(|| risks(&facts.risks, judged && facts.is_sure())),
            unreadable: (!facts.is_empty()).then(|| Known::Bool(facts.is_unreadable())),
            command: facts
                .command
                .map(|command| self::command(&command.parts, command.sure)),
            change: facts.change.map(|change| {
                let paths = change.paths.iter().map(String::as_str);
                Known::Object(vec![("paths", Known::texts(paths, change.sure))])
            }),
            odd_url: matches!(facts.url, Some(Err(_))),
            url: facts.url.and_then(Result::ok).map(|url| self::url(&url)),
        }
    }

    pub(super) fn root(&self, name: &str) -> Option<Value<'_>> {
        let known = match name {
            "risks" => self.risks.as_ref(),
            "command" => self.command.as_ref(),
            "change" => self.change.as_ref(),
            "url" => self.url.as_ref(),
            "unreadable" => self.unreadable.as_ref(),
            _ => None,
        };
        known.map(Value::from)
    }

    pub(super) fn standing(&self, name: &str) -> Standing {
        match name {
            "url" if self.odd_url => Standing::Unreadable,
            _ if self.root(name).is_none() => Standing::Absent,
            _ => Standing::Given,
        }
    }
}

fn risks(risks: &Risks, sure: bool) -> Known {
    Known::texts(risks.iter().map(|risk| risk.name()), sure)
}

fn command(parts: &[Program], sure: bool) -> Known {
    let mut programs: Vec<&str> = Vec::new();
    for name in parts.iter().flat_map(|part| [&part.program, &part.name]) {
        if !programs.contains(&name.as_str()) {
            programs.push(name);
        }
    }
    Known::Object(vec![
        ("programs", Known::texts(programs, sure)),
        ("parts", Known::list(parts.iter().map(part), sure)),
    ])
}

fn part(part: &Program) -> Known {
    let texts = |texts: &[String], sure| Known::texts(texts.iter().map(String::as_str), sure);
    let sure = part.sure && part.risks_sure && !part.risks.contains(&Risk::Unreadable);
    Known::Object(vec![
        ("program", Known::text(&part.program)),
        ("name", Known::text(&part.name)),
        ("words", texts(&part.words, part.sure)),
        ("reads", texts(&part.reads, part.sure && part.reads_sure)),
        ("writes", texts(&part.writes, part.sure && part.writes_sure)),
        ("hosts", texts(&part.hosts, part.sure && part.hosts_sure)),
        ("risks", risks(&part.risks, sure)),
    ])
}

fn url(url: &review::Url) -> Known {
    let mut fields = vec![("scheme", Known::text(&url.scheme))];
    if let Some(host) = &url.host {
        fields.push(("host", Known::text(host)));
    }
    if let Some(port) = url.port {
        fields.push(("port", Known::Count(port.into())));
    }
    Known::Object(fields)
}
