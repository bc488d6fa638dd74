//! Which agent is started, and what makes it ask in this run.

use crate::{
    agents::{self, Environment, Ground, Habit, Offers, Overlay, Profile},
    config::{By, Config, Confine},
    metering::Metering,
};

use super::{StartFolder, Unready};

/// What is known of the agent of a run, and done about it.
#[derive(Default)]
pub struct Supervised {
    pub profile: Option<&'static Profile>,
    pub overlay: Overlay,
    /// The mode that it has to be in: one in which it asks.
    pub mode: Option<&'static str>,
}

impl Supervised {
    pub fn offers(&self, config: &Config) -> Offers {
        let usual = self.profile.map_or(Offers::ALL, |profile| profile.offers);
        config.offers.unwrap_or(usual)
    }

    /// How people call it.
    pub fn title(&self) -> &'static str {
        self.profile.map_or("this agent", |profile| profile.title)
    }

    /// What is told of the run's use, and when.
    pub fn metering(&self) -> Metering {
        self.profile
            .map_or(Metering::PERHAPS, |profile| profile.metering)
    }
}

/// The agent that is named, or that the command starts.
pub(super) fn agent(config: &Config, words: &[String]) -> Option<&'static Profile> {
    config.agent.or_else(|| agents::started_as(words))
}

pub(super) fn supervised(
    config: &Config,
    words: &[String],
    folder: &StartFolder,
    environment: &Environment,
) -> Result<Supervised, Unready> {
    let by = config.permissions.by;
    let profile = agent(config, words);
    let Some(profile) = profile else {
        let confined = config.sandbox.confine == Confine::Required;
        if by.is_strict() && !confined && !config.unknown_agent {
            let program = words.first().cloned().unwrap_or_default();
            return Err(Unready::UnknownAgent(program));
        }
        return Ok(Supervised::default());
    };
    if by == By::Auto {
        return Ok(Supervised {
            profile: Some(profile),
            ..Supervised::default()
        });
    }
    let mode = profile
        .mode(config.mode.as_deref())
        .map_err(Unready::Mode)?;
    loosened(config, profile, words)?;
    let overlay = profile.overlay(&Ground {
        repo: &config.repo,
        start: folder.path(),
        own: folder.own(),
        servers: &agents::servers(config),
        session: config.session.as_deref(),
        environment,
        confined: config.sandbox.confine == Confine::Required,
    })?;
    Ok(Supervised {
        profile: Some(profile),
        overlay,
        mode: Some(mode),
    })
}

/// What of the run's own configuration would have the agent ask less than it can.
fn loosened(config: &Config, profile: &Profile, words: &[String]) -> Result<(), Unready> {
    let offers = config.offers.unwrap_or(profile.offers);
    if profile.habits.contains(&Habit::WritesUnasked) && !offers.write {
        return Err(Unready::WritesUnasked(profile.title));
    }
    let flag = words.iter().find(|word| is_among(profile.loosening, word));
    flag.map_or(Ok(()), |flag| {
        Err(Unready::Loosened {
            agent: profile.title,
            flag: flag.clone(),
        })
    })
}

/// `--admin-policy`, `--adminPolicy`, `--admin-policy=file`: the parsers of agents take them all.
fn is_among(flags: &[&str], word: &str) -> bool {
    let name = word.strip_prefix("--").map(|word| {
        let name = word.split('=').next().unwrap_or_default();
        name.replace('-', "").to_ascii_lowercase()
    });
    name.is_some_and(|name| flags.contains(&&*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_loosen_are_known_however_they_are_written() {
        let gemini = agents::named("gemini").unwrap().loosening;
        for (word, found) in [
            ("--policy", true),
            ("--admin-policy=/tmp/p.toml", true),
            ("--adminPolicy", true),
            ("--approval-mode", true),
            ("--yolo", true),
            ("--model", false),
            ("--acp", false),
            // Of `npx`.
            ("-y", false),
            ("--yes", false),
            ("policy", false),
        ] {
            assert_eq!(is_among(gemini, word), found, "{word}");
        }
    }
}
