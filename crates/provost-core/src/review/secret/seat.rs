//! What stands before each word in its command, found for all of them at once.

use std::collections::BTreeMap;

use super::acts::ACTING_ANYWHERE;
use crate::review::{
    summary::{Outline, Role, Spot, assigned_name},
    work,
};

/// Programs behind which variables are set for another.
const STARTING: [&str; 6] = ["env", "sudo", "doas", "time", "nohup", "command"];

/// What the words before one are.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own about the words"
)]
#[derive(Clone, Debug)]
pub(super) struct Seat {
    /// One of them is a program that acts on its words.
    pub(super) acted_on: bool,
    /// Nothing but flags stands behind the first.
    pub(super) behind_flags: bool,
    /// All of them start programs, are flags or set variables.
    pub(super) behind_starters: bool,
    /// Behind `config set` and the like.
    pub(super) behind_set: bool,
    /// Behind `env`, wherever that stands: `kubectl exec db -- env NAME=x psql`.
    pub(super) behind_env: bool,
    /// Behind `make`, or some other `set`.
    pub(super) may_set: bool,
    last: String,
    words: usize,
}

impl Default for Seat {
    fn default() -> Self {
        Self {
            acted_on: false,
            behind_flags: true,
            behind_starters: true,
            behind_set: false,
            behind_env: false,
            may_set: false,
            last: String::new(),
            words: 0,
        }
    }
}

impl Seat {
    pub(super) fn all(outline: &Outline) -> Vec<Self> {
        work::count(outline.spots.len());
        let mut commands: BTreeMap<usize, Self> = BTreeMap::new();
        let seats = outline.spots.iter().map(|spot| {
            let seat = commands.entry(spot.command).or_default();
            let found = seat.clone();
            if matches!(spot.role, Role::Program | Role::Argument) {
                seat.pass(spot);
            }
            found
        });
        seats.collect()
    }

    fn pass(&mut self, spot: &Spot) {
        let name = spot.text.rsplit('/').next().unwrap_or_default();
        let is_flag = spot.text.starts_with('-');
        let is_setting = matches!(
            &*self.last,
            "config" | "configure" | "secret" | "secrets" | "vars"
        );
        let acts = |it: &&str| it.eq_ignore_ascii_case(name);
        self.acted_on |= ACTING_ANYWHERE.iter().any(acts);
        self.behind_flags &= self.words == 0 || is_flag;
        self.behind_starters &=
            STARTING.contains(&name) || name.starts_with('-') || assigned_name(name).is_some();
        self.behind_set |= name == "set" && is_setting;
        self.behind_env = name == "env" || (self.behind_env && assigned_name(name).is_some());
        self.may_set |=
            name == "set" || name.ends_with(":set") || (self.words == 0 && name == "make");
        name.clone_into(&mut self.last);
        self.words += 1;
    }
}
