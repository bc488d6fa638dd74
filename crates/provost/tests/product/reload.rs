//! The configuration, changed while the gateway runs.

use serde_json::json;

use crate::{
    echo::Echo,
    harness::{Site, configuration, eventually},
};

fn policy(action: &str) -> String {
    format!(
        "policies: [{{name: p, agent: '*', rules: [{{tools: [notes.add], action: {action}}}]}}]\n"
    )
}

#[test]
fn a_changed_policy_takes_effect_at_once_and_a_broken_one_does_not() {
    let echo = Echo::start();
    let site = Site::new(&echo, &policy("allow"));
    let gateway = site.start();
    let status = || gateway.agent().tool("notes.add", json!({})).status;
    assert_eq!(status(), 200);
    assert_eq!(gateway.health()["status"], "ok");
    let first = gateway.health()["policy"]["loaded_at"].clone();

    site.configure(&configuration(&echo, &policy("dney")));
    let health = eventually("the refusal", || {
        Some(gateway.health()).filter(|health| health["policy"]["error"].is_string())
    });
    assert_eq!(status(), 200, "the old policy must stay in force");
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["policy"]["loaded_at"], first);
    assert!(
        health["policy"]["error"]
            .as_str()
            .unwrap()
            .contains("`dney`")
    );
    eventually("the log says so", || {
        let log = gateway.log();
        (log.contains("`dney`") && log.contains("old one stays in force")).then_some(())
    });
    let doctor = site.provost(&["doctor", "--url", &gateway.url()]);
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("dney"), "the doctor does not see it:\n{said}");

    site.configure(&configuration(&echo, &policy("deny")));
    let health = eventually("the new policy", || {
        Some(gateway.health()).filter(|health| health["policy"]["loaded_at"] != first)
    });
    assert_eq!(status(), 403, "the new policy must be in force");
    assert_eq!(health["status"], "ok");
    assert!(health["policy"].get("error").is_none(), "{health}");
    assert!(gateway.log().contains("is in force"), "{}", gateway.log());

    // A file that is gone is a broken one too.
    std::fs::remove_file(site.path("provost.yaml")).unwrap();
    eventually("the missing file", || {
        gateway.health()["policy"]["error"]
            .is_string()
            .then_some(())
    });
    assert_eq!(status(), 403);
}
