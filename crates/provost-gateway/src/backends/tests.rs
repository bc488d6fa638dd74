use std::collections::BTreeMap;

use serde_json::json;

use super::{
    testing::{Loopback, ok, params},
    *,
};

fn http_tool(name: &str, url: &str) -> HttpToolConfig {
    HttpToolConfig {
        name: name.into(),
        url: url.into(),
        method: "POST".into(),
        headers: Vec::new(),
        timeout: None,
        description: String::new(),
        input_schema: Value::Null,
    }
}

fn cli_tool(name: &str, bin: &str, commands: &[&str]) -> CliToolConfig {
    CliToolConfig {
        name: name.into(),
        bin: bin.into(),
        default_action: Some("allow".into()),
        strict: false,
        working_dir: None,
        env: BTreeMap::new(),
        commands: commands
            .iter()
            .map(|name| ((*name).to_owned(), CliCommandConfig::default()))
            .collect(),
        bare: None,
    }
}

fn document(text: &str) -> (tempfile::NamedTempFile, OpenApiConfig) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let config = OpenApiConfig {
        source: OpenApiSource::File(file.path().to_owned()),
        backend_url: Some("http://127.0.0.1:1".into()),
        headers: Vec::new(),
        name: None,
        timeout: None,
    };
    (file, config)
}

#[tokio::test]
async fn tools_of_all_kinds_are_found_by_name() {
    let (_file, pets) = document("openapi: 3.0.0\npaths: {/pets: {get: {operationId: listPets}}}");
    let backends = Backends::build(BackendsConfig {
        http_tools: vec![
            http_tool("zebra", "http://127.0.0.1:1/"),
            http_tool("echo", "http://127.0.0.1:1/"),
        ],
        openapi: vec![pets],
        cli_tools: vec![cli_tool("gh", "echo", &["pr"])],
        mcp_servers: Vec::new(),
        max_answer: None,
        ..BackendsConfig::default()
    })
    .await
    .unwrap();
    let names: Vec<_> = backends
        .tools()
        .into_iter()
        .map(|tool| (tool.name, tool.source))
        .collect();
    let expected = [
        ("echo", "http"),
        ("gh.__dispatch", "cli"),
        ("gh.pr", "cli"),
        ("list_pets", "openapi"),
        ("zebra", "http"),
    ];
    assert_eq!(
        names,
        expected.map(|(name, source)| (name.to_owned(), source))
    );
    for (name, found) in [
        ("echo", true),
        ("list_pets", true),
        ("gh.pr", true),
        ("gh.issue", true),
        ("gh.a.b", false),
        ("gh", false),
        ("hg.pr", false),
        ("nothing", false),
    ] {
        assert_eq!(backends.find(name).is_some(), found, "{name}");
    }
    assert!(!backends.is_empty() && backends.warnings().is_empty());
    assert!(Backends::default().is_empty());
}

#[tokio::test]
async fn every_problem_of_every_backend_is_told() {
    let (_file, broken) = document("openapi: 4.0.0\npaths: {}");
    let (_other, pets) = document("openapi: 3.0.0\npaths: {/e: {get: {operationId: echo}}}");
    let problems = Backends::build(BackendsConfig {
        http_tools: vec![
            http_tool("echo", "http://h/"),
            http_tool("echo", "http://h/"),
            http_tool("bad", "nowhere"),
        ],
        openapi: vec![broken, pets],
        cli_tools: vec![
            cli_tool("gh", "no-such-program-here", &[]),
            cli_tool("gh", "echo", &[]),
        ],
        mcp_servers: Vec::new(),
        max_answer: None,
        ..BackendsConfig::default()
    })
    .await
    .unwrap_err();
    let told: Vec<_> = problems
        .iter()
        .map(|problem| (problem.to_string(), problem.fatal))
        .collect();
    let expects = |text: &str, fatal: bool| {
        told.iter()
            .filter(|told| told.0.contains(text) && told.1 == fatal)
            .count()
    };
    assert_eq!(
        expects(
            "`echo`: this name is taken by another tool (of kind http)",
            true
        ),
        2,
        "{told:#?}"
    );
    assert_eq!(expects("`bad`: the URL must begin", true), 1, "{told:#?}");
    assert_eq!(expects("version `4.0.0`", true), 1, "{told:#?}");
    assert_eq!(expects("no-such-program-here", false), 1, "{told:#?}");
    assert_eq!(
        expects("`gh.__dispatch`: this name is taken", true),
        1,
        "{told:#?}"
    );
    assert_eq!(told.len(), 6, "{told:#?}");
}

#[tokio::test]
async fn what_may_heal_does_not_keep_the_rest_from_serving() {
    let server = Loopback::start(|_| testing::answer(500, "text/plain", "no")).await;
    let unavailable = OpenApiConfig {
        source: OpenApiSource::Url(server.url("/openapi.json?key=hunter2")),
        backend_url: None,
        headers: Vec::new(),
        name: None,
        timeout: None,
    };
    let backends = Backends::build(BackendsConfig {
        http_tools: vec![http_tool("echo", "http://127.0.0.1:1/")],
        openapi: vec![unavailable],
        cli_tools: vec![cli_tool("gh", "no-such-program-here", &[])],
        mcp_servers: Vec::new(),
        max_answer: None,
        ..BackendsConfig::default()
    })
    .await
    .unwrap();
    assert!(backends.find("echo").is_some() && backends.find("gh.pr").is_some());
    assert_eq!(backends.warnings().len(), 2, "{:?}", backends.warnings());
    assert!(!format!("{:?}", backends.warnings()).contains("hunter2"));
}

#[tokio::test]
async fn p19_a_dispatched_command_is_judged_under_its_own_name() {
    let strict = CliToolConfig {
        strict: true,
        ..cli_tool("k", "echo", &["get"])
    };
    let cli_tools = vec![cli_tool("gh", "echo", &["pr"]), strict];
    let backends = Backends::build(BackendsConfig {
        cli_tools,
        mcp_servers: Vec::new(),
        ..BackendsConfig::default()
    })
    .await
    .unwrap();
    for (tool, arguments, expected) in [
        ("gh.__dispatch", json!({"command": "pr"}), "gh.pr"),
        ("gh.__dispatch", json!({"command": "auth"}), "gh.auth"),
        (
            "gh.__dispatch",
            json!({"command": "--version"}),
            "gh.__dispatch",
        ),
        ("gh.__dispatch", json!({"command": 1}), "gh.__dispatch"),
        (
            "gh.__dispatch",
            json!({"command": "__dispatch"}),
            "gh.__dispatch",
        ),
        ("gh.__dispatch", json!({}), "gh.__dispatch"),
        ("gh.pr", json!({"command": "auth"}), "gh.pr"),
        ("k.__dispatch", json!({"command": "get"}), "k.__dispatch"),
        ("echo", json!({"command": "pr"}), "echo"),
    ] {
        let mut given = params(&arguments.to_string());
        assert_eq!(
            backends.judged(tool, &mut given),
            expected,
            "{tool} {arguments}"
        );
        // People and rules would take it for a command line.
        let kept = expected == tool && arguments.get("command").is_some();
        assert_eq!(given.contains_key("command"), kept, "{tool} {arguments}");
    }
}

#[tokio::test]
async fn a_backend_of_another_kind_can_be_added() {
    let server = Loopback::start(ok).await;
    let mut backends = Backends::default();
    let tool = || {
        Arc::new(
            HttpTool::build(http_tool("later", &server.url("/")), &Web::new(1))
                .ok()
                .unwrap(),
        )
    };
    backends.add(tool()).unwrap();
    assert!(backends.find("later").is_some());
    assert_eq!(backends.add(tool()).unwrap_err().len(), 1);
    let unnamed = HttpTool::build(http_tool("", &server.url("/")), &Web::new(1))
        .ok()
        .unwrap();
    assert_eq!(backends.add(Arc::new(unnamed)).unwrap_err().len(), 1);
}

#[tokio::test]
async fn an_mcp_server_has_its_prefix_for_itself() {
    let server = |name: &str| McpServerConfig {
        name: name.into(),
        transport: McpTransport::Stdio {
            command: "true".into(),
            args: Vec::new(),
            env: Vec::new(),
        },
        timeout: None,
    };
    let config = |names: &[&str]| BackendsConfig {
        http_tools: vec![http_tool("echo.run", "http://127.0.0.1:1/")],
        cli_tools: vec![cli_tool("gh", "echo", &["pr"])],
        mcp_servers: names.iter().map(|name| server(name)).collect(),
        ..BackendsConfig::default()
    };
    let names = ["echo", "gh", "a.b", "mesh", "", "twice", "twice", "fine"];
    let problems = Backends::build(config(&names)).await.unwrap_err();
    let blamed: Vec<_> = problems.iter().map(|problem| &*problem.backend).collect();
    assert_eq!(blamed, ["a.b", "mesh", "", "twice", "echo", "gh"]);
    let backends = Backends::build(config(&["fine"])).await.unwrap();
    assert!(
        backends.find("fine.tool").is_none(),
        "it has not been asked"
    );
    assert!(backends.find("echo.run").is_some());
}
