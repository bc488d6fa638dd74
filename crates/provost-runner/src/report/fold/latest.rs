//! What only the last word counts of: plan, mode, options, usage, title, commands.

use serde_json::value::RawValue;

use super::{Fields, is_null};

const LARGEST: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct Latest {
    pub(super) plan: Option<Box<RawValue>>,
    pub(super) mode: Option<Box<RawValue>>,
    pub(super) config_options: Option<Box<RawValue>>,
    pub(super) used: Option<Box<RawValue>>,
    pub(super) window: Option<Box<RawValue>>,
    pub(super) cost: Option<Box<RawValue>>,
    pub(super) title: Option<Box<RawValue>>,
    pub(super) commands: Option<Box<RawValue>>,
}

impl Latest {
    /// Whether all of it was kept. A kind that is not known here has nothing to keep.
    pub(super) fn take(&mut self, kind: &str, update: &Fields<'_>) -> bool {
        match kind {
            "plan" => keep(&mut self.plan, update.get("entries"), LARGEST),
            "current_mode_update" => keep(&mut self.mode, update.get("currentModeId"), 512),
            "config_option_update" => keep(
                &mut self.config_options,
                update.get("configOptions"),
                LARGEST,
            ),
            "session_info_update" => keep(&mut self.title, update.get("title"), 2048),
            "available_commands_update" => {
                keep(&mut self.commands, update.get("availableCommands"), LARGEST)
            }
            "usage_update" => {
                let used = keep(&mut self.used, update.get("used"), 64);
                let window = keep(&mut self.window, update.get("size"), 64);
                used & window & keep(&mut self.cost, update.get("cost"), 1024)
            }
            _ => true,
        }
    }

    pub(super) fn size(&self) -> usize {
        let all = [
            &self.plan,
            &self.mode,
            &self.config_options,
            &self.used,
            &self.window,
            &self.cost,
            &self.title,
            &self.commands,
        ];
        let all = all.into_iter().flatten();
        all.map(|value| value.get().len()).sum()
    }
}

/// A value that is too large is better not known than an old one taken for it; `null` takes it back.
fn keep(slot: &mut Option<Box<RawValue>>, value: Option<&&RawValue>, largest: usize) -> bool {
    let Some(value) = value else { return true };
    let fits = value.get().len() <= largest;
    *slot = (fits && !is_null(value)).then(|| (*value).to_owned());
    fits
}
