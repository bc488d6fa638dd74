use super::*;
use std::path::Path;

use crate::sandbox::toolchain;

const SEED: &str = r#"{"runId": "r", "taskId": "t", "sandboxId": "s", "callbackUrl": "https://example.com/cb?x=1",
    "token": "tok", "promptId": "p", "prompt": "do it"}"#;

fn problems(text: &str) -> Vec<String> {
    read(text, Path::new("/work"), Missing::Nothing)
        .unwrap_err()
        .0
}

#[test]
fn the_usual_agent_is_the_one_that_the_table_was_measured_with() {
    let claude = crate::agents::named("claude").unwrap();
    let pinned = format!("npx -y {}@{}", claude.package, claude.version);
    assert_eq!(crate::config::DEFAULT_COMMAND, pinned);
}

#[test]
fn the_seeds_own_file_is_enough() {
    let config = read(SEED, Path::new("/work"), Missing::Nothing).unwrap();
    assert_eq!(config.identity.run_id, "r");
    assert_eq!(config.repo, Path::new("/work"));
    assert_eq!(config.permissions.by, By::Auto);
    assert_eq!(config.limits, Limits::default());
    assert!(!format!("{config:?}").contains("tok\""), "{config:?}");
}

#[test]
fn everything_wrong_is_told_at_once() {
    let text = r#"{"runId": "", "taskId": 7, "callbackUrl": "ftp://x", "token": "a\nb", "promptId": null,
        "prompt": " ", "mcpServers": {}, "permissions": {"by": "gateway", "timeOut": 3}, "limits": {"walSeconds": 3, "turns": 0},
        "sandbox": "yes", "extra": 1}"#;
    assert_eq!(
        problems(text),
        [
            "`runId` is empty",
            "`taskId` is a text",
            "`sandboxId` is missing",
            "`promptId` is missing",
            "`callbackUrl` is an address that begins with http:// or https://, without a user in it",
            "`token` goes into a header: printable ASCII only",
            "`prompt` is a text, or a list of content blocks",
            "`permissions.timeOut` is not known here",
            "`permissions` are the gateway's, and no `gateway` is named",
            "`mcpServers` is a list of servers, as ACP writes them",
            "`limits.turns` is a whole number above 0",
            "`limits.walSeconds` is not known here",
            "`sandbox` is true, false, \"best-effort\" or an object",
            "`extra` is not known here",
        ]
    );
}

#[test]
fn what_cannot_be_read_does_not_repeat_the_token() {
    let told = problems(r#"{"token": "very-secret" "x"}"#).join("\n");
    assert_eq!(told, "line 1, column 25: this is not one JSON object");
}

#[test]
fn what_is_for_the_agent_stays_as_it_is_written() {
    let text = SEED.replace(
        "\"do it\"",
        r#"[{"type": "text",  "text": "a", "n": 0.0024000000000000002}], "mcpServers": [ {"name": "x"} ]"#,
    );
    let config = read(&text, Path::new("/work"), Missing::Nothing).unwrap();
    let Some(Prompt::Blocks(blocks)) = config.prompt else {
        panic!()
    };
    assert_eq!(
        blocks.get(),
        r#"[{"type": "text",  "text": "a", "n": 0.0024000000000000002}]"#
    );
    assert_eq!(config.mcp_servers.unwrap().get(), r#"[ {"name": "x"} ]"#);
}

#[test]
fn a_gateway_is_asked_where_there_is_one() {
    let text = SEED.replace(
        "\"do it\"",
        r#""do it", "gateway": {"url": "http://127.0.0.1:9090", "key": "k"}, "command": "node 'my agent.js'""#,
    );
    let config = read(&text, Path::new("/work"), Missing::Nothing).unwrap();
    assert_eq!(config.permissions.by, By::Gateway);
    assert_eq!(config.command.unwrap(), ["node", "my agent.js"]);
}

#[test]
fn a_run_of_ones_own_needs_nobody_to_report_to() {
    let text = r#"{"runId": "r", "taskId": "t", "sandboxId": "s", "promptId": "p", "prompt": "x"}"#;
    let config = read(text, Path::new("/work"), Missing::Callback).unwrap();
    assert!(config.callback.is_none());
    assert_eq!(
        problems(text),
        ["`callbackUrl` is missing", "`token` is missing"]
    );
}

#[test]
fn a_sandbox_can_be_wider_by_name() {
    let detail =
        r#""do it", "sandbox": {"bestEffort": true, "readWrite": ["/srv/cache"], "ports": [443]}"#;
    let text = SEED.replace("\"do it\"", detail);
    let sandbox = read(&text, Path::new("/work"), Missing::Nothing)
        .unwrap()
        .sandbox;
    assert_eq!(sandbox.confine, Confine::BestEffort);
    assert_eq!(sandbox.read_write, [Path::new("/srv/cache")]);
    assert_eq!(sandbox.ports, Some(vec![443]));
    let text = SEED.replace(
        "\"do it\"",
        r#""do it", "sandbox": {"readOnly": ["x"], "ports": [70000], "wide": 1}"#,
    );
    assert_eq!(
        problems(&text),
        [
            "`sandbox.readOnly` is a list of paths that begin with /",
            "`sandbox.ports` is a list of port numbers",
            "`sandbox.wide` is not known here",
        ]
    );
}

#[test]
fn a_sandbox_says_whose_home_and_which_toolchains() {
    let with =
        |detail: &str| SEED.replace("\"do it\"", &format!("\"do it\", \"sandbox\": {detail}"));
    let sandbox = |detail: &str| {
        let config = read(&with(detail), Path::new("/work"), Missing::Nothing);
        config.unwrap().sandbox
    };
    let usual = sandbox("true");
    assert_eq!((usual.home, usual.toolchains), (Home::Own, None));
    assert_eq!(usual.unix_sockets, UnixSockets::Deny);
    let wide = sandbox(r#"{"home": "operator", "toolchains": ["rust"], "unixSockets": "allow"}"#);
    assert_eq!(wide.home, Home::Operator);
    assert_eq!(wide.toolchains, Some(vec![toolchain("rust").unwrap()]));
    assert_eq!(wide.unix_sockets, UnixSockets::Allow);
    assert_eq!(
        sandbox(r#"{"home": "/srv/h"}"#).home,
        Home::At("/srv/h".into())
    );
    let wrong = r#"{"home": "mine", "toolchains": ["cobol"], "unixSockets": true}"#;
    assert_eq!(
        problems(&with(wrong)),
        [
            "`sandbox.home` is own, operator, or a path that begins with /",
            "`sandbox.toolchains` are among rust, python, node, go, bun, deno, java, ruby, mise",
            "`sandbox.unixSockets` is a text",
        ]
    );
}

#[test]
fn an_end_that_takes_for_ever_is_none() {
    let with = |seconds: u32| {
        let limits = format!(r#""do it", "limits": {{"graceSeconds": {seconds}}}"#);
        SEED.replace("\"do it\"", &limits)
    };
    let config = read(&with(120), Path::new("/work"), Missing::Nothing).unwrap();
    assert_eq!(config.limits.grace.unwrap().as_secs(), 120);
    assert_eq!(
        problems(&with(121)),
        ["`limits.graceSeconds` is longer than two minutes"]
    );
}

#[test]
fn p06_a_program_that_is_a_path_is_not_looked_for_elsewhere() {
    for (program, expected) in [
        ("./agent", "/here/./agent"),
        ("bin/agent", "/here/bin/agent"),
        ("/opt/agent", "/opt/agent"),
        ("agent", "agent"),
    ] {
        let words = vec![program.to_owned(), "a b/c".to_owned()];
        let words = anchored(words, Path::new("/here"));
        assert_eq!(words, [expected, "a b/c"]);
        let line = format!("{program} 'a b/c'");
        let line = anchored_line(&line, Path::new("/here")).unwrap();
        assert_eq!(split(&line), Some(words));
    }
}
