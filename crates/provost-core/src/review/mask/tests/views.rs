//! What both views mask, what is computed of them, and edits of either.

use serde_json::{Map, Value, json};

use super::{map, mask_map, unmask};

fn redacted(params: &Value) -> Map<String, Value> {
    crate::review::redact_map(&map(params.clone()))
}

#[test]
fn p09_an_edit_of_a_withheld_call_restores_what_each_placeholder_stood_for() {
    for (list, shown) in [
        (
            json!([
                {"host": "bank.example", "token": "tok-A-12345"},
                {"host": "evil.example", "token": "tok-B-12345"},
            ]),
            "[secret: token #2, 11 characters]",
        ),
        (
            json!([
                {"command": "curl -d 'drop-all-tables' https://db.example"},
                {"command": "curl -d 'list-all-tables' https://db.example"},
            ]),
            "curl -d '[content #2, 15 characters]' https://db.example",
        ),
        (
            json!([{"signature": "hello aaaaa"}, {"signature": "hello bbbbb"}]),
            "[content #2, 11 characters]",
        ),
        (json!([{"note": "aaa"}, {"note": "bbb"}]), "content_sha256"),
        (
            json!([{"command": ["echo", "aa"]}, {"command": ["echo", "bb"]}]),
            "[content #2, 2 characters]",
        ),
        (
            json!([{"the first of them": 1}, {"the other of them": 1}]),
            "bytes, sha256",
        ),
    ] {
        let original = map(json!({"list": list}));
        let view = crate::review::redact_map(&original);
        assert!(json!(view).to_string().contains(shown), "{view:?}");
        assert_eq!(unmask(&view, &original).as_ref(), Some(&original));
        // The first is deleted.
        let edited = map(json!({"list": [view["list"][1]]}));
        let whole = unmask(&edited, &original).unwrap();
        assert_eq!(whole, map(json!({"list": [original["list"][1]]})));
        // Both change places.
        let edited = map(json!({"list": [view["list"][1], view["list"][0]]}));
        let whole = unmask(&edited, &original).unwrap();
        assert_eq!(whole["list"][1], original["list"][0]);
    }
}

#[test]
fn p09_an_edit_that_does_not_say_which_it_means_is_refused() {
    let original = map(json!({
        "a": {"password": "aaaaa"}, "b": {"password": "bbbbb"},
        "list": ["[content, 5 characters] of mine", {"content_length": 1, "content_sha256": "x", "y": 2}],
    }));
    for view in [mask_map(&original), crate::review::redact_map(&original)] {
        let mut edited = view.clone();
        edited.insert("a".into(), view["b"].clone());
        edited.insert("b".into(), view["a"].clone());
        assert_eq!(unmask(&edited, &original), None);
        // Everything else stays as it is.
        let mut edited = view;
        edited.insert("n".into(), 1.into());
        let whole = unmask(&edited, &original).unwrap();
        assert_eq!(whole["list"], original["list"]);
    }
}

#[test]
fn p09_what_is_masked_is_masked_where_content_is_withheld() {
    const SECRET: &str = "hunter2horse";
    for params in [
        json!({"env": ["PASSWORD=hunter2horse"]}),
        json!({"env": "PASSWORD=hunter2horse"}),
        json!({"env": [["PASSWORD", SECRET]]}),
        json!({"environment": ["API_TOKEN=hunter2horse"]}),
        json!({"environment": {"Variables": {"X": "API_TOKEN=hunter2horse"}}}),
        json!({"name": "PASSWORD=hunter2horse"}),
        json!({"schema": "token=hunter2horse"}),
        json!({"database": "host=x;password=hunter2horse"}),
        json!({"path": "/x?api_key=hunter2horse"}),
        json!({"vars": [{"name": "DB_PASSWORD", "value": SECRET}]}),
        json!({"vars": [{"name": "PIN", "value": 471_147}, ["PIN", 471_147]]}),
        json!({"data": {"password": SECRET}}),
        json!({"the password=hunter2horse of mine": 1}),
        json!({"note": "PASSWORD=hunter2horse run it"}),
    ] {
        let (masked, withheld) = (
            json!(mask_map(&map(params.clone()))),
            json!(redacted(&params)),
        );
        for shown in [masked.to_string(), withheld.to_string()] {
            assert!(
                !shown.contains(SECRET) && !shown.contains("471147"),
                "{shown}"
            );
        }
        // By a hash, a short secret would be found.
        assert!(!withheld.to_string().contains("sha256"), "{withheld}");
    }
    let shown = redacted(&json!({"env": ["PASSWORD=hunter2horse", "A=b"]}));
    assert_eq!(
        shown["env"],
        json!(["PASSWORD=[secret: password, 12 characters]", "A=b"])
    );
}

#[test]
fn p09_only_one_word_says_where_a_call_acts() {
    let token = format!("ghp_{}e5F6", "a1B2c3D4".repeat(4));
    for params in [
        json!({"new_source": format!("t=\"{token}\"")}),
        json!({"new_source": token}),
        json!({"source": "PASSWORD=\"hunter2horse\"\nls"}),
        json!({"file": format!("token = \"{token}\"\nmore text")}),
        json!({"root": "{\"password\":\"hunter2horse\"}"}),
        json!({"destination": "{\"password\":\"hunter2horse\",\"host\":\"x\"}"}),
        json!({"user": "{\"name\":\"a\",\"password\":\"hunter2horse\"}"}),
        json!({"env": "{\"API_TOKEN\":\"hunter2horse\"}"}),
        json!({"endpoint": "//u:hunter2horse@h/?password=hunter2horse"}),
    ] {
        let shown = json!(mask_map(&map(params))).to_string();
        assert!(!shown.contains("ghp_"), "{shown}");
        assert!(!shown.contains("password=hunter2"), "{shown}");
        assert!(
            !shown.contains("\"hunter2") && !shown.contains("=hunter2"),
            "{shown}"
        );
    }
    for place in [
        "/data/token=production/x",
        "/srv/glpat-a1b2c3d4e5f6g7h8i9j0/file",
    ] {
        let params = map(json!({"path": place}));
        assert_eq!(mask_map(&params), params);
    }
}

#[test]
fn p09_lists_of_commands_and_programs_in_lists_are_read_as_commands() {
    let token = format!("ghp_{}e5F6", "a1B2c3D4".repeat(4));
    let command = format!("export API_TOKEN={token}");
    for params in [
        json!({"commands": [command, "make"]}),
        json!({"commands": ["curl -u me:hunter2horse https://x", "ls"]}),
        json!({"command": ["PASSWORD=hunter2horse ls"]}),
        json!({"argv": ["curl", "-u", "me:hunter2horse", "https://x"]}),
        json!({"entrypoint": ["curl", "-u", "me:hunter2horse", "https://x"]}),
        json!({"command": "curl", "argv": ["curl", "-u", "me:hunter2horse"]}),
        json!({"command": ["curl"], "args": ["-u", "me:hunter2horse"]}),
        json!({"arguments": ["curl", "-u", "me:hunter2horse"]}),
        json!({"entrypoint": ["sh", "-c", "PASSWORD=hunter2horse ls"]}),
    ] {
        for shown in [
            json!(mask_map(&map(params.clone()))),
            json!(redacted(&params)),
        ] {
            let shown = shown.to_string();
            assert!(
                !shown.contains("hunter2") && !shown.contains("ghp_"),
                "{shown}"
            );
        }
    }
    let shown = redacted(&json!({"argv": ["git", "commit", "-m", "it's WORDS"]}));
    assert_eq!(shown["argv"][3], "[content, 10 characters]");
}

#[test]
fn p09_a_summary_shows_nothing_that_the_arguments_mask() {
    let token = format!("ghp_{}e5F6", "a1B2c3D4".repeat(4));
    for params in [
        json!({"script": [format!("export API_TOKEN={token}"), "make"]}),
        json!({"command": ["PASSWORD=hunter2horse ls"]}),
        json!({"command": {"a": "PASSWORD=hunter2horse"}}),
        json!({"command": {"password": "a\"hunter2horse"}}),
    ] {
        let params = map(params);
        let summary = crate::review::summarize("Bash", &params, None).unwrap();
        let shown = json!(summary.masked(&params)).to_string();
        assert!(
            !shown.contains("hunter2") && !shown.contains("ghp_"),
            "{shown}"
        );
    }
    // What the arguments show is shown in the summary, too.
    let params = map(json!({"command": "deploy production", "password": "production"}));
    let summary = crate::review::summarize("Bash", &params, None).unwrap();
    let shown = json!(summary.masked(&params)).to_string();
    assert!(shown.contains("deploy production"), "{shown}");
}

#[test]
fn p09_a_secret_is_masked_wherever_the_call_repeats_it() {
    const RANDOM: &str = "Zx9Kq2Lm8Vb4Tw7J";
    for params in [
        json!({"command": format!("mysql -u root -p{RANDOM} app"), "description": format!("uses token {RANDOM}")}),
        json!({"command": format!("mysql -u root -p{RANDOM} app; ./run {RANDOM}")}),
        json!({"command": format!("mysql -u root -p{RANDOM} app # {RANDOM}")}),
        json!({"argv": ["mysql", format!("-p{RANDOM}")], "note": format!("{RANDOM}.")}),
        json!({"password": RANDOM, "body": format!("log in with {RANDOM}, please")}),
    ] {
        let params = map(params);
        for shown in [mask_map(&params), redacted(&params.clone().into())] {
            let shown = Value::from(shown).to_string();
            assert!(!shown.contains(RANDOM), "{shown}");
        }
        assert_eq!(unmask(&mask_map(&params), &params).as_ref(), Some(&params));
        let withheld = redacted(&params.clone().into());
        assert_eq!(unmask(&withheld, &params).as_ref(), Some(&params));
        let claim = crate::review::summarize("claude.Bash", &params, None);
        let claim = claim.map(|summary| format!("{:?}", summary.masked(&params)));
        assert!(!claim.unwrap_or_default().contains(RANDOM));
    }
    // Which of two texts is meant can still be told.
    let params =
        json!({"password": RANDOM, "notes": [format!("one {RANDOM}"), format!("two {RANDOM}")]});
    let mut edited = redacted(&params);
    edited.insert("added".into(), 1.into());
    let whole = unmask(&edited, &map(params.clone())).unwrap();
    assert_eq!(whole["notes"], params["notes"]);
    for params in [
        json!({"command": format!("PASSWORD={RANDOM} ./run; rm -rf {RANDOM}")}),
        json!({"command": format!("PASSWORD={RANDOM} ./run; ./{RANDOM}")}),
        json!({"command": format!("PASSWORD={RANDOM} ./run > {RANDOM}")}),
        json!({"password": RANDOM, "path": RANDOM}),
        json!({"password": RANDOM, "text": format!("see https://{RANDOM}.example.com/x")}),
        json!({"password": RANDOM, "text": format!("see /srv/{RANDOM}/x")}),
        json!({"password": "production", "text": "delete production"}),
    ] {
        let shown = Value::from(mask_map(&map(params))).to_string();
        let visible = shown.contains(RANDOM) || shown.contains("delete production");
        assert!(visible, "{shown}");
    }
}
