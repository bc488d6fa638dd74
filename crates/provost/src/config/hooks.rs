//! How the hooks of agents behave on this machine.

use clap::ValueEnum;

use super::{fields::Map, reader::Reader};

/// What a hook answers when it cannot ask the gateway. There is no yes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unreachable {
    /// No
    #[default]
    Deny,
    /// That the person at the agent be asked
    Ask,
}

impl Reader<'_> {
    pub(super) fn read_hooks(&mut self, top: &Map<'_>) -> Unreachable {
        let answers = [("deny", Unreachable::Deny), ("ask", Unreachable::Ask)];
        let map = top
            .get("hooks")
            .and_then(|field| self.map(field, &["unreachable"]));
        map.and_then(|map| self.choice(map.filled("unreachable")?, &answers))
            .unwrap_or_default()
    }
}
