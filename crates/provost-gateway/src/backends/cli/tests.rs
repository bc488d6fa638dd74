mod running;

use serde_json::json;

use super::{super::testing::params, *};

fn config(name: &str, bin: &str) -> CliToolConfig {
    CliToolConfig {
        name: name.into(),
        bin: bin.into(),
        default_action: None,
        strict: false,
        working_dir: None,
        env: BTreeMap::new(),
        commands: BTreeMap::new(),
        bare: None,
    }
}

fn bare(bin: &str) -> CliToolConfig {
    CliToolConfig {
        bare: Some(CliCommandConfig::default()),
        ..config("t", bin)
    }
}

fn tool(config: CliToolConfig) -> CliTool {
    let (tool, problems) = CliTool::build(config, &Outlets::default());
    assert!(problems.is_empty(), "{problems:?}");
    tool.unwrap()
}

async fn run(
    tool: &CliTool,
    name: &str,
    arguments: Value,
) -> Result<(Value, Option<String>), ForwardError> {
    let arguments = params(&arguments.to_string());
    let forwarded = tool.execute(name, &arguments).await?;
    assert_eq!(forwarded.status_code, 200);
    Ok((
        serde_json::from_str(forwarded.result.get()).unwrap(),
        forwarded.error,
    ))
}

async fn stdout(tool: &CliTool, name: &str, arguments: Value) -> String {
    let (result, _) = run(tool, name, arguments).await.unwrap();
    result["stdout"].as_str().unwrap().to_owned()
}

async fn refusal(tool: &CliTool, name: &str, arguments: Value) -> String {
    match run(tool, name, arguments).await {
        Err(ForwardError::Arguments(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn arguments_flags_and_stdin_reach_the_program() {
    let echo = tool(bare("echo"));
    for (arguments, expected) in [
        (json!({}), "\n"),
        (json!({"args": ["a b", 1, "$HOME *"]}), "a b 1 $HOME *\n"),
        (
            json!({"flags": {"label": "a b", "namespace": 7}}),
            "--label=a b --namespace=7\n",
        ),
        (
            json!({"args": ["x"], "flags": {"all": true, "no": false, "s": true, "to": null}}),
            "x --all -s\n",
        ),
        (
            json!({"args": ["x", "--", "-y"], "flags": {"all": true}}),
            "x --all -- -y\n",
        ),
        (json!({"args": null, "flags": null, "stdin": null}), "\n"),
    ] {
        assert_eq!(
            stdout(&echo, "t.run", arguments.clone()).await,
            expected,
            "{arguments}"
        );
    }
    let payload = "a; b | `c`\n".repeat(20_000);
    let cat = tool(bare("cat"));
    assert_eq!(
        stdout(&cat, "t.run", json!({"stdin": payload})).await,
        payload
    );
    assert_eq!(stdout(&cat, "t.run", json!({})).await, "");
}

#[tokio::test]
async fn what_is_not_understood_is_refused() {
    let echo = tool(bare("echo"));
    for (arguments, expected) in [
        (
            json!({"argz": []}),
            "unknown argument `argz`, did you mean `args`?",
        ),
        (
            json!({"args": "x", "flags": [], "stdin": 1}),
            "`stdin` must be text; `args` must be an array; `flags` must be an object",
        ),
        (
            json!({"args": [["x"], null, true]}),
            "`args` must hold only strings and numbers",
        ),
        (
            json!({"flags": {"-x": 1, "a=b": 1, "o": {}}}),
            "`-x` cannot be the name of a flag; `a=b` cannot be the name of a flag; flag `o` must be a string, a number or a boolean",
        ),
        (
            json!({"command": "x"}),
            "unknown argument `command`: the name of the tool says what runs",
        ),
        (
            json!({"args": ["a\u{0}b"]}),
            "an argument must not hold a NUL byte",
        ),
    ] {
        assert_eq!(
            refusal(&echo, "t.run", arguments.clone()).await,
            expected,
            "{arguments}"
        );
    }
    for text in [
        "a;b", "a&&b", "a||b", "a|b", "`a`", "$(a)", "${a}", "a\nb", "a\rb",
    ] {
        refusal(&echo, "t.run", json!({"args": [text]})).await;
        refusal(&echo, "t.run", json!({"flags": {"name": text}})).await;
    }
    assert_eq!(
        stdout(&echo, "t.run", json!({"args": ["a&b $c"]})).await,
        "a&b $c\n"
    );
}

#[tokio::test]
async fn p01_a_flag_takes_a_list_only_where_the_command_declares_it() {
    let declared = tool(CliToolConfig {
        bare: Some(CliCommandConfig {
            list_args: vec!["--label".into(), "-s".into()],
            ..CliCommandConfig::default()
        }),
        ..bare("echo")
    });
    let flags = json!({"flags": {"label": ["a", 2], "s": ["x"]}});
    assert_eq!(
        stdout(&declared, "t.run", flags).await,
        "--label=a --label=2 -s x\n"
    );
    let undeclared = tool(bare("echo"));
    for flags in [
        json!({"force": [true]}),
        json!({"env": ["prod"]}),
        json!({"env": []}),
        json!({"env": {"x": 1}}),
        json!({"env": [["prod"]]}),
    ] {
        refusal(&undeclared, "t.run", json!({"flags": flags})).await;
        refusal(&declared, "t.run", json!({"flags": flags})).await;
    }
    for list in [json!([true]), json!([["a"]]), json!([null]), json!([{}])] {
        refusal(&declared, "t.run", json!({"flags": {"label": list}})).await;
    }
    assert_eq!(
        stdout(&undeclared, "t.run", json!({"flags": {"force": true}})).await,
        "--force\n"
    );
}

#[tokio::test]
async fn p01_the_value_of_a_flag_is_no_other_flag_and_no_argument() {
    let echo = tool(bare("echo"));
    for (value, expected) in [
        (json!("--env=prod"), "--verbose=--env=prod\n"),
        (json!("prod-db"), "--verbose=prod-db\n"),
        (json!("--"), "--verbose=--\n"),
        (json!(-5), "--verbose=-5\n"),
        (json!(""), "--verbose=\n"),
    ] {
        let flags = json!({"flags": {"verbose": value}});
        assert_eq!(stdout(&echo, "t.run", flags.clone()).await, expected);
        // What a one-letter flag is given would be a word of its own.
        let why = refusal(&echo, "t.run", json!({"flags": {"v": value}})).await;
        assert!(why.contains("`value_args` does not name it"), "{why}");
    }
    let apart = tool(CliToolConfig {
        bare: Some(CliCommandConfig {
            list_args: vec!["--label".into(), "-s".into()],
            value_args: vec!["--indent".into(), "--label".into(), "-w".into()],
            ..CliCommandConfig::default()
        }),
        ..bare("echo")
    });
    let flags =
        json!({"flags": {"indent": 2, "label": ["a", "b"], "other": "x", "s": ["c"], "w": "d"}});
    assert_eq!(
        stdout(&apart, "t.run", flags).await,
        "--indent 2 --label a --label b --other=x -s c -w d\n"
    );
    for flags in [
        json!({"indent": "--env=prod"}),
        json!({"indent": -2}),
        json!({"label": ["a", "-x"]}),
        json!({"s": ["--env=prod"]}),
        json!({"s": "-"}),
        json!({"w": "--"}),
    ] {
        let why = refusal(&apart, "t.run", json!({"flags": flags})).await;
        assert!(why.contains("begins with `-`"), "{flags} {why}");
    }
    refusal(&apart, "t.run", json!({"flags": {"x": "1"}})).await;
}

#[test]
fn p01_a_call_that_passes_fits_the_schema_that_is_shown() {
    let bare = tool(bare("echo"));
    let open = tool(CliToolConfig {
        commands: BTreeMap::from([("get".to_owned(), CliCommandConfig::default())]),
        ..config("k", "echo")
    });
    let mut dispatched = 0;
    for (tool, name) in [(&bare, "t.run"), (&open, "k.get"), (&open, "k.__dispatch")] {
        let shown = tool.tools().into_iter().find(|tool| tool.name == name);
        let schema = crate::backends::Schema::compile(&shown.unwrap().input_schema);
        let schema = schema.unwrap().unwrap();
        for arguments in [
            json!({}),
            json!({"args": ["a", 1], "flags": {"f": true, "env": "x"}, "stdin": "s"}),
            json!({"command": "get"}),
            json!({"command": "other"}),
            json!({"command": ["git", "status"]}),
            json!({"command": "git status"}),
            json!({"command": {"x": 1}}),
            json!({"command": null}),
            json!({"command": 5}),
            json!({"cmd": "git status"}),
            json!({"args": "git"}),
            json!({"flags": {"env": {}}}),
        ] {
            let fits = schema.check(&arguments).is_ok();
            let passes = tool.check(name, &arguments).is_ok();
            assert!(fits || !passes, "{name} {arguments}");
            dispatched += usize::from(passes && arguments.get("command").is_some());
        }
    }
    assert_eq!(dispatched, 1, "only the dispatcher takes `command`");
}

#[tokio::test]
async fn only_allowed_flags_pass() {
    let with = |allowed: &[&str]| {
        let allowed_args = Some(allowed.iter().map(|flag| (*flag).to_owned()).collect());
        tool(CliToolConfig {
            bare: Some(CliCommandConfig {
                allowed_args,
                ..CliCommandConfig::default()
            }),
            ..bare("echo")
        })
    };
    let tools = [with(&["-n", "--name", "-abc"]), with(&["--"]), with(&[])];
    for (which, args, passes) in [
        (
            0,
            json!(["plain", "-n", "--name=x", "--name", "y", "-abc"]),
            true,
        ),
        (0, json!(["-n=x"]), true),
        (0, json!(["--names"]), false),
        (0, json!(["--nam"]), false),
        (0, json!(["-ab"]), false),
        (0, json!(["-na"]), false),
        (0, json!(["-"]), false),
        (0, json!(["--", "-x"]), false),
        (0, json!(["--=name"]), false),
        (1, json!(["--", "-x", "--anything"]), true),
        (1, json!(["-x", "--"]), false),
        (2, json!(["plain"]), true),
        (2, json!(["-n"]), false),
    ] {
        let outcome = run(&tools[which], "t.run", json!({"args": args})).await;
        assert_eq!(outcome.is_ok(), passes, "{which} {args} {outcome:?}");
    }
    let why = refusal(
        &tools[0],
        "t.run",
        json!({"flags": {"x": true, "all": "1", "name": "-y"}}),
    )
    .await;
    assert_eq!(
        why,
        "flag `--all`, `-x` is not allowed (allowed: -n, --name, -abc)"
    );
}

#[tokio::test]
async fn names_run_their_commands() {
    let commands = BTreeMap::from([(
        "apply".to_owned(),
        CliCommandConfig {
            allowed_args: Some(vec!["-f".into()]),
            ..CliCommandConfig::default()
        },
    )]);
    let open = tool(CliToolConfig {
        commands: commands.clone(),
        ..config("k", "echo")
    });
    let strict = tool(CliToolConfig {
        commands,
        strict: true,
        ..config("k", "echo")
    });

    let names = |tool: &CliTool| {
        tool.tools()
            .into_iter()
            .map(|tool| tool.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&open), ["k.apply", "k.__dispatch"]);
    assert_eq!(names(&strict), ["k.apply"]);
    for (name, by_open, by_strict) in [
        ("k.apply", true, true),
        ("k.get-all_2", true, false),
        ("k.__dispatch", true, false),
        ("k.--version", false, false),
        ("k.a.b", false, false),
        ("k.a b", false, false),
        ("k.", false, false),
        ("k", false, false),
        ("kk.apply", false, false),
    ] {
        assert_eq!(
            (open.has(name), strict.has(name)),
            (by_open, by_strict),
            "{name}"
        );
    }
    assert_eq!(
        stdout(&open, "k.get", json!({"args": ["-x"]})).await,
        "get -x\n"
    );
    assert_eq!(
        stdout(
            &open,
            "k.__dispatch",
            json!({"command": "get", "args": ["y"]})
        )
        .await,
        "get y\n"
    );
    assert_eq!(
        stdout(&strict, "k.apply", json!({"args": ["-f", "x"]})).await,
        "apply -f x\n"
    );
    for (tool, name, arguments) in [
        (&open, "k.apply", json!({"args": ["-x"]})),
        (&open, "k.__dispatch", json!({})),
        (
            &open,
            "k.__dispatch",
            json!({"command": "apply", "args": ["-x"]}),
        ),
        (&open, "k.__dispatch", json!({"command": "--version"})),
        (&open, "k.__dispatch", json!({"command": "__dispatch"})),
        (&open, "k.get", json!({"command": "apply"})),
        (&open, "k.get", json!({"command": "get"})),
        (&strict, "k.get", json!({})),
        (&strict, "k.__dispatch", json!({"command": "get"})),
    ] {
        refusal(tool, name, arguments).await;
    }
}

#[test]
fn all_problems_of_a_configuration_are_told_at_once() {
    let wrong = CliToolConfig {
        strict: true,
        working_dir: Some("/does/not/exist".into()),
        env: BTreeMap::from([("A=B".to_owned(), Secret::from("hunter2"))]),
        commands: BTreeMap::from([("-x".to_owned(), CliCommandConfig::default())]),
        ..bare("")
    };
    let (tool, problems) = CliTool::build(wrong, &Outlets::default());
    assert!(tool.is_none());
    assert_eq!(problems.len(), 5, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.fatal));
    assert!(!format!("{problems:?}").contains("hunter2"));
}
