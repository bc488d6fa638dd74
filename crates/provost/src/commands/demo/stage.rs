//! What the demo needs: a folder, the tools, a gateway with a policy, and keys for those who decide.

use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;
use tempfile::TempDir;

use super::{
    actors::{AGENT, SUPERVISOR, Supervisor},
    echo::Echo,
};
use crate::{
    client::{Client, Key, Target},
    commands::view::text,
    config::{self, Config},
    gateway::{self, Lifetime, Running},
};

/// Longer than anybody thinks about a demo.
const PATIENCE: Duration = Duration::from_mins(10);

/// As it stands in a configuration file.
pub(super) const RULES: &str = r"policies:
  - name: demo
    agent: '*'
    rules:
      - {tools: [files.read],    action: allow}
      - {tools: [files.delete],  action: deny}
      - {tools: [files.write],   action: supervisor}
      - {tools: [payments.send], action: human_approval}
";

const TOOLS: [&str; 4] = ["files.read", "files.delete", "files.write", "payments.send"];

pub(super) struct Stage {
    /// Acts, and may not decide.
    pub(super) agent: Client,
    /// You.
    pub(super) person: Client,
    /// Decides where you do not.
    pub(super) stand_in: Client,
    pub(super) url: String,
    supervisor: Supervisor,
    running: Running,
    _echo: Echo,
    folder: TempDir,
}

impl Stage {
    pub(super) async fn set() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("provost-demo-")
            .tempdir()
            .context("cannot make a temporary folder")?;
        let echo = Echo::start().await.context("cannot listen on loopback")?;
        let config = configuration(&folder, &echo)?;
        let running =
            gateway::start(config, "the demo".to_owned(), None, Lifetime::Passing).await?;
        let url = format!("http://{}", running.addr);
        let admin = client(&url, &running.admin_key)?;
        let supervisor =
            Supervisor::start(new_client(&admin, &url, SUPERVISOR, "supervisor").await?);
        let person = new_client(&admin, &url, "you", "human").await?;
        let stand_in = new_client(&admin, &url, "demo", "human").await?;
        let agent = client(&url, &format!("agent:{AGENT}"))?;
        Ok(Self {
            agent,
            person,
            stand_in,
            url,
            supervisor,
            running,
            _echo: echo,
            folder,
        })
    }

    /// Ends everything, and leaves nothing behind.
    pub(super) async fn strike(self) {
        self.supervisor.stop();
        self.running.stop().await;
        // A folder of the system's temporary files that cannot be removed is no reason to fail.
        let _ = self.folder.close();
    }
}

fn client(url: &str, secret: &str) -> anyhow::Result<Client> {
    let key = Key::new(secret).context("the key cannot be used")?;
    Ok(Client::new(url, Some(key))?.patient(PATIENCE))
}

async fn new_client(admin: &Client, url: &str, name: &str, role: &str) -> anyhow::Result<Client> {
    let made = admin
        .post(Target::new("/keys"), &json!({"name": name, "role": role}))
        .await?
        .body;
    client(url, text(&made, "key"))
}

fn configuration(folder: &TempDir, echo: &Echo) -> anyhow::Result<Config> {
    let tools: Vec<_> = TOOLS
        .iter()
        .map(|name| {
            format!(
                "  - {{name: {name}, url: 'http://{}/{name}', method: POST}}\n",
                echo.addr
            )
        })
        .collect();
    let text = format!(
        "listen: 127.0.0.1:0\ndata: data\n{RULES}http_tools:\n{}",
        tools.concat()
    );
    let path = folder.path().join("provost.yaml");
    std::fs::write(&path, text).context("cannot write to the temporary folder")?;
    let loaded = config::load(&path);
    let problems = config::render(&loaded.problems, false);
    loaded
        .config
        .with_context(|| format!("the demo's own configuration is wrong:\n{problems}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_demos_configuration_has_no_problems() {
        let folder = tempfile::tempdir().unwrap();
        let echo = Echo::start().await.unwrap();
        configuration(&folder, &echo).unwrap();
        let loaded = config::load(&folder.path().join("provost.yaml"));
        assert!(
            loaded.problems.is_empty(),
            "{}",
            config::render(&loaded.problems, false)
        );
    }
}
