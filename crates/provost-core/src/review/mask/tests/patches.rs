//! Patches that stand where a command is expected, and fields of pages.

use serde_json::json;

use super::*;

#[test]
fn p09_a_patch_hides_its_secrets() {
    const RANDOM: &str = "xK9qL2mN8vB4zT7wJ3hF6p";
    for line in [
        format!("+GITHUB_TOKEN={RANDOM}"),
        format!("-JWT_SECRET={RANDOM}"),
        format!("+API_KEY = \"{RANDOM}\""),
        format!("+password = \"{RANDOM}\""),
        format!("+env:\n+  - name: DB_PASSWORD\n+    value: {RANDOM}"),
    ] {
        let patch = format!(
            "*** Begin Patch\n*** Update File: .env\n@@\n A=1\n{line}\n+run /srv/x\n*** End Patch"
        );
        let params = map(json!({"command": patch}));
        let summary = crate::review::summarize("codex.apply_patch", &params, None).unwrap();
        let shown = [
            json!(mask_map(&params)).to_string(),
            json!(crate::review::redact_map(&params)).to_string(),
            json!(summary.masked(&params)).to_string(),
        ];
        for shown in &shown {
            assert!(!shown.contains(RANDOM), "{shown}");
        }
        assert!(shown[0].contains("run /srv/x"), "{}", shown[0]);
        assert_eq!(unmask(&mask_map(&params), &params).as_ref(), Some(&params));
    }
}

/// To another tool it may be a command all the same.
#[test]
fn p09_what_a_shell_would_run_of_a_patch_stays_visible() {
    for (lines, visible) in [
        (" TOKEN=evil12x; rm -rf /data/$TOKEN", "evil12x"),
        (
            " x='\n+token=evil12x\n '; rm -rf \"/data/${x#*=}\"",
            "evil12x",
        ),
        (" xargs rm <<E\n+token=evil12x\nE", "evil12x"),
        ("+TOKEN=a1b2c3;reboot", ";reboot"),
    ] {
        let params = map(json!({"command": format!("*** Begin Patch\n{lines}\n*** End Patch")}));
        let shown = json!(mask_map(&params)).to_string();
        assert!(shown.contains(visible), "{shown}");
    }
}

#[test]
fn p09_what_fills_in_a_password_is_masked() {
    for params in [
        json!({"selector": "#password", "value": "hunter22x"}),
        json!({"selector": "input[type=password]", "text": "hunter22x"}),
        json!({"element": "Password field", "ref": "e3", "text": "hunter22x"}),
        json!({"changes": [{"op": "replace", "path": "/password", "value": "hunter22x"}]}),
    ] {
        let shown = json!(mask_map(&map(params))).to_string();
        assert!(!shown.contains("hunter22x"), "{shown}");
    }
    for params in [
        json!({"selector": "#title", "value": "hunter22x"}),
        json!({"path": "/srv/password_reset.sh", "text": "wipe all of production"}),
    ] {
        let params = map(params);
        assert_eq!(mask_map(&params), params);
    }
}
