//! What people are told of the sandbox before and when it is used.

use serde_json::{Value, json};

use super::{Work, kinds::Agent};
use crate::harness::Site;

#[test]
fn the_doctor_tells_what_the_kernel_can_confine_without_a_gateway() {
    let site = Site::empty();
    let output = site.provost(&["doctor", "--sandbox", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.success(), told["ok"] == true, "{told}");
    let findings = told["findings"].as_array().unwrap();
    for name in ["landlock", "sockets", "terminals"] {
        let found = findings.iter().find(|finding| finding["name"] == name);
        let found = found.unwrap_or_else(|| panic!("nothing about {name}: {told}"));
        assert_eq!(found["state"] == "ok", found.get("hint").is_none());
    }
    let plain = site.provost(&["doctor", "--sandbox"]);
    let plain = String::from_utf8(plain.stdout).unwrap();
    assert!(plain.contains("  sockets    "), "{plain}");
}

#[test]
fn a_folder_that_has_the_home_in_it_is_refused() {
    let work = Work::of(Agent::Claude, "touch done");
    let more = json!({"sandbox": true, "repoDir": work.home(), "permissions": "auto"});
    let output = work.start_at_home(&more).wait();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("has your home in it"), "{said}");
}
