//! To whom the keys of a data folder go, and which keys an agent is given.

use provost_core::ids::hex;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::harness::{ALICE, Gateway};

/// A gateway of this user's on loopback, with its data in `data`.
fn started(site: &Site) -> Gateway {
    site.start_with(&["serve", "--listen", "127.0.0.1:0", "--data", "data"])
}

/// The arguments of `provost mcp` often stand in a file of the repository.
#[test]
fn p06_mcp_gives_an_agent_no_key_that_decides() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start();
    fs::write(site.path("admin-key"), &gateway.admin_key).unwrap();
    fs::write(site.path("human-key"), ALICE).unwrap();
    let data = site.data().join("admin").display().to_string();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}}});
    for arguments in [
        &["mcp", "--agent", "../admin"][..],
        &["mcp", "--agent", &data],
        &["mcp", "--agent", "../admin", "--", "cat"],
        &["mcp", "--key-file", "admin-key"],
        &["mcp", "--key-file", "human-key"],
        &["mcp", "--key", ALICE],
    ] {
        let output = site.provost_reading(arguments, &format!("{hello}\n"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {said}");
        assert_eq!(output.stdout, b"", "{arguments:?}");
    }
    let output = site.provost_reading(&["mcp", "--key", AGENT], &format!("{hello}\n"));
    assert!(output.status.success(), "{output:?}");
}

/// `data:` of a planted file names the real folder, and somebody else answers at the address that was named.
#[test]
fn p06_checking_a_planted_file_gives_its_gateways_key_to_nobody_else() {
    let site = Site::empty();
    let gateway = started(&site);
    let thief = Thief::start();
    let repository = TempDir::new().unwrap();
    let at = |name: &str| repository.path().join(name);
    let text = format!("data: {}\n", site.data().display());
    fs::create_dir(at("sub")).unwrap();
    fs::write(at("provost.yaml"), &text).unwrap();
    fs::write(at("sub/x.yaml"), &text).unwrap();
    fs::create_dir(at("linked")).unwrap();
    std::os::unix::fs::symlink(site.data(), at("linked/provost-data")).unwrap();
    fs::write(at("linked/provost.yaml"), "{}\n").unwrap();
    for (folder, arguments) in [
        (".", &["check"][..]),
        (".", &["check", "sub/x.yaml"]),
        ("linked", &["check"]),
    ] {
        let mut command = site.command(arguments);
        command.current_dir(at(folder));
        command.env("PROVOST_URL", format!("http://{}", thief.addr));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?} {output:?}");
    }
    let heard = thief.heard();
    assert!(heard.contains("/instance?challenge="), "{heard}");
    assert!(!heard.to_lowercase().contains("authorization"), "{heard}");
    assert!(!heard.contains(&gateway.admin_key), "{heard}");
}

/// On the port of the gateway, but on another address of this machine, to which `localhost` leads as well.
#[test]
fn p06_a_relay_on_the_gateways_port_gets_no_key() {
    let site = Site::empty();
    let gateway = started(&site);
    let port = gateway.addr.port();
    // 127.0.0.2 is for machines without IPv6.
    let relays: Vec<_> = ["::1", "127.0.0.2"]
        .into_iter()
        .filter_map(|ip| {
            let ip: std::net::IpAddr = ip.parse().unwrap();
            let listener = TcpListener::bind((ip, port)).ok()?;
            Some(Thief::at(listener, Some(gateway.addr)))
        })
        .collect();
    assert!(!relays.is_empty());
    let localhost = format!("http://localhost:{port}");
    let output = site.provost(&["keys", "list", "--url", &localhost]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    // And where the registry does not help: the proof is of one address.
    fs::rename(site.path("state/gateways"), site.path("state/away")).unwrap();
    for relay in &relays {
        let text = format!("listen: '{}'\ndata: data\n", relay.addr);
        fs::write(site.path("named.yaml"), text).unwrap();
        let output = site.provost(&["keys", "list", "--config", "named.yaml"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let heard = relay.heard();
        assert!(heard.contains("/instance?challenge="), "{heard}");
        assert!(!heard.to_lowercase().contains("authorization"), "{heard}");
    }
}

/// Whoever planted a data folder knows its key. Nobody is asked about it.
#[test]
fn p06_a_data_folder_that_nobody_registered_is_read_from_the_disk() {
    let site = Site::empty();
    let gateway = started(&site);
    gateway
        .client()
        .agent("demo")
        .decide_async("files.delete", json!({}))
        .is(202);
    drop(gateway);
    let stranger = Site::empty();
    for (arguments, code) in [
        (&["traces", "verify"][..], 0),
        (&["traces", "export"], 0),
        (&["keys", "list"], 3),
        (&["approvals", "list"], 3),
    ] {
        let mut command = stranger.command(arguments);
        command.arg("--data").arg(site.data());
        command.env("PROVOST_KEY", SECRET);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {said}");
        // Nothing was sent to the usual address.
        assert!(!said.contains("9090"), "{said}");
    }
}

#[test]
fn p06_the_doctor_takes_no_planted_file_for_the_gateways() {
    let site = Site::empty();
    let gateway = started(&site);
    let stranger = Site::empty();
    let repository = TempDir::new().unwrap();
    let text = "auth: {open: true}\nretention: {traces: 77d}\n";
    fs::write(repository.path().join("provost.yaml"), text).unwrap();
    for owner in [&site, &stranger] {
        let mut command = owner.command(&["doctor", "--url", &gateway.url()]);
        let output = command.current_dir(repository.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let config = said.lines().find(|line| line.contains("config")).unwrap();
        assert!(config.contains("not known"), "{said}");
        for planted in ["77 days", "whoever is on this machine"] {
            assert!(!said.contains(planted), "{planted}: {said}");
        }
    }
}

#[test]
fn p06_the_key_for_one_path_of_a_host_is_not_sent_to_another() {
    let thief = Thief::start();
    let site = Site::empty();
    let remote = site.path("state/remote");
    let url = format!("http://{}", thief.addr);
    let hook = |path: &str| {
        let url = format!("{url}{path}");
        let mut command = site.command(&["hook", "codex", "--url", &url]);
        command.env_remove("PROVOST_KEY");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(bash().as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap();
    };
    // As connecting would leave them: a key in the folder of one address.
    let place = format!("127.0.0.1_{}", hex(&Sha256::digest(&url)));
    fs::create_dir_all(remote.join(&place).join("agents")).unwrap();
    fs::write(remote.join(place).join("agents/codex.key"), SECRET).unwrap();
    for path in ["/a", "/b"] {
        hook(path);
        assert!(!thief.heard().contains(SECRET), "{path}");
    }
    hook("");
    assert!(thief.heard().contains(SECRET));
}

/// A project may set `PROVOST_URL`, while the folder is the user's own.
#[test]
fn p06_an_address_of_the_environment_gets_no_key_of_a_folder_without_a_proof() {
    let site = Site::empty();
    let gateway = started(&site);
    let connect = ["connect", "claude-code", "--hooks", "command", "--yes"];
    let output = site.provost_of_owner(&connect);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let thieves = [Thief::start(), Thief::before(gateway.addr)];
    for thief in &thieves {
        let url = format!("http://{}", thief.addr);
        for words in [
            "approvals list",
            "hook claude-code",
            "mcp --agent claude-code",
        ] {
            let words: Vec<_> = words.split(' ').collect();
            let mut command = site.command(&words);
            fs::write(site.path("event"), bash()).unwrap();
            command.stdin(fs::File::open(site.path("event")).unwrap());
            command
                .env("PROVOST_URL", &url)
                .env("PROVOST_DATA", site.data());
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(!said.contains("allow"), "{words:?}: {said}");
        }
        let mut command = site.command(&["approvals", "list", "--url", &url]);
        command.env("PROVOST_DATA", site.data());
        assert_eq!(command.output().unwrap().status.code(), Some(3));
        let heard = thief.heard().to_lowercase();
        assert!(heard.contains("/instance"), "{heard}");
        assert!(!heard.contains("authorization"), "{heard}");
    }
    // Who types both says that they belong together.
    let url = format!("http://{}", thieves[0].addr);
    let data = site.data().display().to_string();
    site.provost(&["approvals", "list", "--url", &url, "--data", &data]);
    assert!(thieves[0].heard().to_lowercase().contains("authorization"));
    // The user's own gateway is reached by both variables.
    let mut command = site.command(&["approvals", "list"]);
    command.env("PROVOST_URL", gateway.url());
    command.env("PROVOST_DATA", &data);
    assert_eq!(command.output().unwrap().status.code(), Some(0));
}
