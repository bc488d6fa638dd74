//! What can be confined here, found out by doing it: whether a kernel has something does not tell whether this user
//! may use it.

use std::path::Path;

use serde::Serialize;

use super::{Enforced, Refused, Spec, Support, Terminals, launch::launcher, support};

/// What a run can be confined to on this machine.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Possible {
    pub support: Support,
    pub terminals: Terminals,
    /// Why there are no terminals, if there are none.
    pub problem: Option<String>,
}

impl Possible {
    /// Without having tried anything.
    pub fn untried() -> Self {
        Self {
            support: support(),
            terminals: Terminals::None,
            problem: None,
        }
    }
}

/// Has `exe` confine itself once, and end.
pub async fn probe(exe: &Path) -> Result<Possible, Refused> {
    let failed = |problem: String| Refused::Probe {
        launcher: exe.to_owned(),
        problem,
    };
    let folder = tempfile::tempdir().map_err(|error| failed(error.to_string()))?;
    let report = folder.path().join("report");
    let spec = Spec {
        read_only: vec!["/".into()],
        terminals: Terminals::Own,
        report: Some(report.clone()),
        ..Spec::default()
    };
    let tried = launcher(exe, &spec)?.output().await;
    let tried = tried.map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
    let told = std::fs::read_to_string(report).unwrap_or_default();
    let own = serde_json::from_str::<Enforced>(&told).is_ok();
    Ok(Possible {
        terminals: if own { Terminals::Own } else { Terminals::None },
        problem: (!own).then_some(said),
        ..Possible::untried()
    })
}
