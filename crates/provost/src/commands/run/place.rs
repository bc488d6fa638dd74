//! What a run is called and where its things are, where nobody says.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use provost_runner::{
    config::{Gateway, Secret},
    web::Connector,
};
use serde_json::json;

use crate::{context::Context, found_key::FoundKey, user_folder::user_folder};

const LONGEST: usize = 80;

/// The configuration of a run that is only a prompt.
pub(super) fn of_prompt(prompt: &str) -> anyhow::Result<String> {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).context("this machine gives no random numbers")?;
    let id = format!("run-{:016x}", u64::from_be_bytes(random));
    let config =
        json!({"runId": id, "taskId": id, "sandboxId": "local", "promptId": id, "prompt": prompt});
    Ok(config.to_string())
}

/// The gateway that is meant, asked with the agent's own key or by its name.
pub(super) fn gateway(
    context: &Context,
    key_file: Option<&Path>,
    name: &str,
) -> anyhow::Result<Gateway> {
    let key = match (key_file, context.given_key()) {
        (Some(file), _) => {
            let text = fs::read_to_string(file)
                .with_context(|| format!("`{}` cannot be read", file.display()))?;
            text.trim().to_owned()
        }
        (None, Some(key)) => key.to_owned(),
        (None, None) => format!("agent:{name}"),
    };
    let located = context.gateway()?;
    // With the proof, where one is due, on each connection that the runner makes.
    let connector = context
        .client_as(&located, &FoundKey::given(&*key))?
        .connector();
    Ok(Gateway {
        url: located.url,
        key: Some(Secret::new(key)),
        connector: Some(Connector::new(connector)),
    })
}

/// Where a run's journal and spool are. Not in the folder that it works in: that is the agent's.
pub(super) fn folder(context: &Context, run: &str) -> PathBuf {
    base(context).join("runs").join(file_name(run))
}

/// What is kept of runs and sessions.
pub(super) fn base(context: &Context) -> PathBuf {
    match &context.global.data {
        Some(data) => data.clone(),
        None => state().join("provost"),
    }
}

/// Where confined agents have their homes. Nothing is kept for a user without a home.
pub(super) fn homes(context: &Context) -> Option<PathBuf> {
    let base = context.global.data.clone().or_else(user_folder)?;
    std::path::absolute(base.join("homes")).ok()
}

fn state() -> PathBuf {
    let variable = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    variable("XDG_STATE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".local/state")))
        .unwrap_or_else(std::env::temp_dir)
}

/// Whoever names runs does not name folders.
pub(super) fn file_name(run: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = run
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    let name = name.trim_start_matches('.');
    let cut: String = name.chars().take(LONGEST).collect();
    if cut == run {
        return cut;
    }
    // Two that look alike now were not.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in run.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{cut}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runs_name_is_one_folder() {
        assert_eq!(file_name("run-1.a_B"), "run-1.a_B");
        for odd in ["../../etc", "a/b", "..", "", "ü", &"x".repeat(300)] {
            let name = file_name(odd);
            assert!(
                !name.contains('/') && !name.starts_with('.') && name.len() < 120,
                "{name}"
            );
        }
        assert_ne!(file_name("a/b"), file_name("a:b"));
    }
}
