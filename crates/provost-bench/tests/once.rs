//! The benchmark can still measure what the gateway answers today. Its numbers are not looked at.

use std::{path::Path, process::Command};

/// All but `waiting`, whose ten thousand callers are too many for a machine that runs other tests.
const MEASURES: &str = "decisions,forwarded,approvals,mcp,policy,listing,runs,start";

#[test]
fn everything_can_be_measured() {
    let bench = env!("CARGO_BIN_EXE_provost-bench");
    let gateway = Path::new(bench).with_file_name("provost");
    assert!(
        gateway.exists(),
        "build the workspace: there is no {}",
        gateway.display()
    );
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(bench)
        .args(["--once", "--connections", "16", "--only", MEASURES])
        .args(["--json", "-", "--gateway"])
        .arg(&gateway)
        .env("HOME", home.path())
        .output()
        .unwrap();
    let (told, table) = (
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(&output.stdout),
    );
    assert!(output.status.success(), "{told}");
    let table: serde_json::Value = serde_json::from_str(&table).unwrap();
    let rows = table["rows"].as_array().unwrap();
    assert!(rows.len() >= 8, "{table:#}");
    for row in rows {
        assert!(row["measured"].as_f64().unwrap() > 0.0, "{row}");
    }
}
