//! A gateway with servers behind it, and ways to reach it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use serde_json::{Value, json};

use crate::{
    echo::Echo,
    harness::{AGENT, Gateway, PROVOST, Site, eventually},
    mcp_clients::{Client, Place, Sdk},
    peers::{self, EVERYTHING, FILES},
};

const POLICY: &str = "policies:
  - name: mcp
    agent: keyed
    rules:
      - {tools: ['files.read_text_file'], when: 'params.path CONTAINS \"secret\"', action: deny}
      - {tools: ['files.write_file'], action: human_approval}
      - {tools: ['files.create_directory'], action: deny}
      - {tools: ['files.*', 'everything.*', 'http.*', 'sse.*'], action: allow}
";

/// How a client reaches the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Http,
    Stdio,
}

pub(super) const EVERYBODY: [(Sdk, Way); 4] = [
    (Sdk::Python, Way::Http),
    (Sdk::Python, Way::Stdio),
    (Sdk::Rust, Way::Http),
    (Sdk::Rust, Way::Stdio),
];

pub(super) struct Desk {
    pub(super) site: Site,
    pub(super) gateway: Gateway,
    /// What the file server serves.
    pub(super) folder: PathBuf,
}

impl Desk {
    /// `files` and `everything` over stdio.
    pub(super) fn new() -> Self {
        let module = peers::node_module(EVERYTHING);
        Self::with_everything(|_| json!({"command": "node", "args": [module, "stdio"]}))
    }

    /// The same; what the gateway says to `everything` is written down on its way.
    pub(super) fn listening() -> Self {
        let module = peers::node_module(EVERYTHING);
        Self::with_everything(|site| {
            let listen = "tee \"$0\" | node \"$1\" stdio";
            json!({"command": "sh", "args": ["-c", listen, site.path("said"), module]})
        })
    }

    fn with_everything(everything: impl FnOnce(&Site) -> Value) -> Self {
        let site = Site::new(&Echo::start(), POLICY);
        // The server compares real paths.
        let folder = fs::canonicalize(site.path("")).unwrap().join("files");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a"), "hello").unwrap();
        let mut everything = everything(&site);
        everything["name"] = "everything".into();
        let files = json!({"name": "files", "command": "node",
            "args": [peers::node_module(FILES), folder]});
        Self::with(site, folder, &json!([files, everything]))
    }

    /// With these servers.
    pub(super) fn of(servers: &Value) -> Self {
        let site = Site::new(&Echo::start(), POLICY);
        let folder = site.path("");
        Self::with(site, folder, servers)
    }

    fn with(site: Site, folder: PathBuf, servers: &Value) -> Self {
        fs::write(site.path("agent.key"), AGENT).unwrap();
        let config = fs::read_to_string(site.path("provost.yaml")).unwrap();
        site.configure(&format!("{config}\nmcp_servers: {servers}\n"));
        let gateway = site.start();
        let desk = Self {
            site,
            gateway,
            folder,
        };
        for server in servers.as_array().unwrap() {
            desk.until(server["name"].as_str().unwrap(), "up");
        }
        desk
    }

    pub(super) fn client(&self, sdk: Sdk, way: Way, mode: &str) -> Client {
        Client::start(sdk, mode, &self.place(way))
    }

    fn place(&self, way: Way) -> Place {
        let url = self.gateway.url();
        match way {
            Way::Http => Place::Url {
                url: format!("{url}/mcp"),
                key: Some(AGENT.to_owned()),
            },
            Way::Stdio => {
                let key = self.site.path("agent.key");
                let key = key.to_str().unwrap();
                Place::command([PROVOST, "mcp", "--url", &url, "--key-file", key])
            }
        }
    }

    /// What the gateway said to `everything`.
    pub(super) fn said(&self) -> String {
        fs::read_to_string(self.site.path("said")).unwrap()
    }

    pub(super) fn server(&self, name: &str) -> Value {
        let servers = self.gateway.admin().get("/mcp-servers").ok().json();
        let mut servers = servers.as_array().unwrap().iter();
        servers.find(|one| one["name"] == name).unwrap().clone()
    }

    #[track_caller]
    pub(super) fn until(&self, name: &str, status: &str) -> Value {
        eventually(&format!("`{name}` {status}"), || {
            Some(self.server(name)).filter(|server| server["status"] == status)
        })
    }

    pub(super) fn approve(&self, approval: &Value) {
        let id = approval["id"].as_str().unwrap();
        self.gateway.alice().approve(id).ok();
    }

    pub(super) fn file(&self, name: &str) -> Value {
        json!({"path": self.folder.join(name)})
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // Not all servers end when their gateway is killed: it is to end them, as it does in earnest.
        let servers = children(self.gateway.pid());
        self.gateway.terminate();
        self.gateway.ended();
        if !thread::panicking() {
            eventually("the end of the servers", || {
                servers.iter().all(|pid| !is_alive(*pid)).then_some(())
            });
        }
    }
}

/// The processes that this one has started.
pub(super) fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    parent.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// SIGKILL: it cannot tell anybody.
pub(super) fn kill(pid: u32) {
    let status = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}
