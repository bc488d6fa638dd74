//! What can be told without the gateway: the configuration and the data folder.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use provost_core::time::format_duration;

use super::findings::Findings;
use crate::{
    config::{self, Config, Database},
    context::{ADMIN_KEY, Context, DEFAULT_FILE},
    exit::Exit,
    gateway,
    heads::Heads,
    locate::{FoundBy, Located},
    output::counted,
};

/// Of the gateway that runs; where none does, the one that `provost serve` would read here. The file of this folder
/// says nothing of a gateway that was named by its address.
pub(super) fn configuration(
    context: &Context,
    running: Option<&Located>,
    findings: &mut Findings,
) -> Option<Config> {
    let path = match running.map(|running| (running.by, &running.config)) {
        Some((FoundBy::Registry, config)) => config.clone(),
        Some((FoundBy::Address, Some(config))) => Some(config.clone()),
        Some((FoundBy::Address, None)) => {
            findings.ok(
                "config",
                "not known: the gateway was named by its address alone",
            );
            return None;
        }
        Some((FoundBy::Folder, _)) | None => context.config_file(),
    };
    let known = running.filter(|running| running.by != FoundBy::Folder);
    let data = known.and_then(|running| running.data.clone());
    let placed = |config: Config| {
        let mut config = context.apply(config);
        config.data = data.clone().unwrap_or(config.data);
        config
    };
    let Some(path) = path else {
        no_file(known, findings);
        return Some(placed(Config::default()));
    };
    let loaded = config::load(&path);
    let (file, problems) = (path.display(), loaded.problems.len());
    match (&loaded.config, problems) {
        (Some(_), 0) => findings.ok("config", format!("{file}")),
        (Some(_), _) => findings.warn(
            "config",
            format!("{file}: {}", counted(problems, "warning")),
            "`provost check` shows them",
        ),
        (None, _) => findings.fail(
            "config",
            format!(
                "{file}: {}; a gateway cannot start with it",
                counted(problems, "problem")
            ),
            "`provost check` shows them",
        ),
    }
    loaded.config.map(placed)
}

/// Nothing was named, and the gateway was started without a file. One that was written later does not count.
fn no_file(known: Option<&Located>, findings: &mut Findings) {
    let defaults = "the embedded defaults, under which everything asks a human";
    let late = known.and_then(|running| Some(running.folder.as_ref()?.join(DEFAULT_FILE)));
    match late.filter(|late| late.exists()) {
        None => findings.ok("config", format!("no file: {defaults}")),
        Some(late) => findings.warn(
            "config",
            format!(
                "the gateway was started without a file: {defaults}; `{}` came later",
                late.display()
            ),
            "restart the gateway to use it",
        ),
    }
}

pub(super) fn data_folder(data: &Path, findings: &mut Findings) {
    let shown = data.display();
    let Ok(folder) = fs::metadata(data) else {
        findings.ok(
            "data",
            format!("{shown}: not there yet; the first `provost serve` makes it"),
        );
        return;
    };
    let mut open = Vec::new();
    if folder.permissions().mode() & 0o077 != 0 {
        open.push("the folder".to_owned());
    }
    for entry in fs::read_dir(data).into_iter().flatten().flatten() {
        let is_open = entry
            .metadata()
            .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o077 != 0);
        if is_open {
            open.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    // A closed folder hides whatever lies in it.
    if open.first().is_some_and(|first| first == "the folder") {
        let hint = format!("chmod -R go= {shown}");
        findings.warn(
            "data",
            format!(
                "{shown}: others on this machine may read {}",
                open.join(", ")
            ),
            hint,
        );
    } else {
        findings.ok("data", format!("{shown}: closed to others"));
    }
    if let Ok(key) = fs::metadata(data.join(ADMIN_KEY))
        && key.permissions().mode() & 0o077 != 0
    {
        let hint = format!(
            "chmod 600 {}; if others may have seen it, remove it and restart",
            data.join(ADMIN_KEY).display()
        );
        findings.fail(
            "admin key",
            "others on this machine may read it, and so decide everything",
            hint,
        );
    }
}

/// The second place of the record.
pub(super) async fn record(config: &Config, reached: Exit, findings: &mut Findings) {
    let store = gateway::store_config(config);
    let heads = match Heads::of(config) {
        Ok(heads) => heads,
        Err(error) => {
            let hint = "correct `database`";
            return findings.fail("record", error.to_string(), hint);
        }
    };
    let Some(file) = heads.file() else {
        return findings.warn(
            "record",
            "its heads are kept nowhere else: a record that is cut or replaced is not noticed",
            "set `PROVOST_STATE` to a folder outside the data folder",
        );
    };
    // A gateway that runs watches its record itself.
    if reached == Exit::Unreachable
        && let Ok(Some(_)) = heads.read()
        && let Err(error) = heads.look_before(&store).await
    {
        let error = error.to_string();
        let (what, help) = error.split_once("\nhelp: ").unwrap_or((&error, ""));
        let what = what.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        return findings.fail("record", what, help);
    }
    match heads.read() {
        Ok(Some(kept)) => {
            let records = kept.records();
            let (file, at) = (file.display(), kept.written_at);
            findings.ok(
                "record",
                format!(
                    "{}, heads kept in {file} at {at}",
                    counted(records, "record")
                ),
            );
        }
        Ok(None) => findings.ok("record", "nothing is kept of it yet"),
        Err(error) => findings.fail(
            "record",
            format!(
                "{} cannot be read, and a gateway will not start",
                file.display()
            ),
            error.to_string(),
        ),
    }
}

pub(super) fn settings(config: &Config, findings: &mut Findings) {
    let database = match &config.database {
        Database::DataFolder => "sqlite in the data folder".to_owned(),
        Database::Sqlite(path) => format!("sqlite at {}", path.display()),
        Database::Postgres(_) => "postgres".to_owned(),
    };
    findings.ok("database", database);
    if config.auth.open {
        findings.warn(
            "auth",
            "open: whoever is on this machine decides without a key",
            "set `auth.open: false`",
        );
    } else {
        findings.ok(
            "auth",
            format!(
                "deciding needs a key; {} in the file",
                counted(config.auth.keys.len(), "key")
            ),
        );
    }
    match &config.gate.repeat {
        Some(limit) => findings.ok(
            "loop limit",
            format!(
                "the same call at most {} in {}",
                counted(limit.max, "time"),
                format_duration(limit.window)
            ),
        ),
        None => findings.ok("loop limit", "off"),
    }
    match config.retention {
        Some(kept) => findings.ok(
            "retention",
            format!("traces are kept for {}", format_duration(kept)),
        ),
        None => findings.ok("retention", "traces are kept for ever"),
    }
    let content = if config.expose_content {
        "see arguments"
    } else {
        "see the shape of arguments only"
    };
    findings.ok("supervisors", content);
    let spans = if config.telemetry.otlp.is_some() {
        "spans are exported"
    } else {
        "no spans are exported"
    };
    findings.ok("telemetry", spans);
}
