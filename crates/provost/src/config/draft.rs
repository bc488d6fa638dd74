//! A draft of policies, as somebody types it into the console. It is read as the config file is, but may say
//! nothing else: whoever tries a draft must not have files opened or secrets looked up.

use std::fs;

use provost_core::policy::PolicySet;
use provost_gateway::yaml;

use super::{load_with, render};

const NAME: &str = "draft.yaml";

/// The compiled policies, or what is wrong with the draft, in words.
pub(crate) fn read_draft(text: &str) -> Result<PolicySet, String> {
    let top = yaml::parse(text).map_err(|error| format!("not valid YAML: {error}"))?;
    let only_policies = top
        .as_object()
        .is_some_and(|top| top.len() == 1 && top.contains_key("policies"));
    if !only_policies {
        return Err("a draft is the `policies:` of a config file, and nothing else".to_owned());
    }
    let unusable = |error: std::io::Error| format!("the draft cannot be kept for reading: {error}");
    let folder = tempfile::tempdir().map_err(unusable)?;
    let path = folder.path().join(NAME);
    fs::write(&path, text).map_err(unusable)?;
    let mut loaded = load_with(&path, &|_| None);
    loaded.policy_set().ok_or_else(|| {
        let errors: Vec<_> = loaded
            .problems
            .iter()
            .filter(|problem| problem.is_error())
            .cloned()
            .collect();
        let shown = path.display().to_string();
        render(&errors, false).replace(&shown, NAME)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_read_as_the_file_is() {
        let good = "policies:\n  - name: p\n    agent: '*'\n    rules:\n      - {tools: ['*'], action: deny}\n";
        assert_eq!(read_draft(good).unwrap().rule_count(), 1);
        for (text, expected) in [
            ("policies: [", "not valid YAML"),
            ("", "it is empty"),
            ("policy_dir: /etc\n", "nothing else"),
            ("policies: []\nauth: {open: true}\n", "nothing else"),
            (&good.replace("deny", "denny"), "denny"),
            (&good.replace("tools:", "tool:"), "draft.yaml"),
        ] {
            let problem = read_draft(text).unwrap_err();
            assert!(problem.contains(expected), "{text}\n{problem}");
            let folder = std::env::temp_dir().display().to_string();
            assert!(!problem.contains(&folder), "{problem}");
        }
    }
}
