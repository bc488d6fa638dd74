//! `provost demo` through the real binary: a newcomer's first command must work, end, and leave nothing.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

#[test]
fn the_demo_tells_its_story_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_provost"))
        .args(["demo", "--yes"])
        .current_dir(home.path())
        .env("TMPDIR", home.path())
        .env("PROVOST_STATE", home.path().join("state"))
        .env_remove("PROVOST_CONFIG")
        .env_remove("PROVOST_DATA")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}\n{errors}");
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "it took {:?}",
        begun.elapsed()
    );
    for expected in [
        "yes, decided by the policy, demo:rule-",
        "no, decided by the policy, demo:rule-",
        "yes, decided by supervisor:demo-bot: a file of the project",
        "supervisor:demo-bot handed it on: outside the project",
        "no, decided by human:demo: nobody should write that",
        "yes, decided by human:demo: the bill is real",
        "\"amount\": 42",
        "intact",
        "provost serve",
    ] {
        assert!(
            told.contains(expected),
            "`{expected}` is missing in:\n{told}"
        );
    }
    assert!(
        !told.contains("pvk_") && !errors.contains("pvk_"),
        "a key was printed"
    );
    let left: Vec<_> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}
