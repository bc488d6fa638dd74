//! The coding agents of others: how each is started, and told where its model is.

use std::{fs, net::SocketAddr, path::Path};

use serde_json::{Value, json};

use crate::peers;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
    Gemini,
    OpenCode,
    Qwen,
    Goose,
    Kimi,
    Kilo,
    /// An older adapter of Claude Code.
    OlderClaude,
    /// Another adapter of Codex, by another maker.
    OtherCodex,
}

impl Agent {
    /// The agent that its settings and its variables are those of.
    pub(super) fn kind(self) -> Self {
        match self {
            Self::OlderClaude => Self::Claude,
            Self::OtherCodex => Self::Codex,
            agent => agent,
        }
    }

    pub(super) fn command(self) -> Value {
        let node = peers::newer_node();
        let module = peers::node_module;
        match self {
            Self::Claude => {
                let script = "@agentclientprotocol/claude-agent-acp/dist/index.js";
                json!(["node", module(script)])
            }
            Self::Codex => json!([node, module("@agentclientprotocol/codex-acp/dist/index.js")]),
            Self::Gemini => json!([
                node,
                module("@google/gemini-cli/bundle/gemini.js"),
                "--acp",
                "-m",
                "gemini-2.5-pro"
            ]),
            Self::OpenCode => json!([module("opencode-linux-x64-baseline/bin/opencode"), "acp"]),
            Self::Qwen => json!([node, module("@qwen-code/qwen-code/cli.js"), "--acp"]),
            Self::Goose => json!([module("@aaif/goose-binary-linux-x64/bin/goose"), "acp"]),
            Self::Kimi => json!([node, module("@moonshot-ai/kimi-code/dist/main.mjs"), "acp"]),
            Self::Kilo => json!([module("@kilocode/cli-linux-x64/bin/kilo"), "acp"]),
            Self::OlderClaude => {
                let script = "@agentclientprotocol/claude-agent-acp/dist/index.js";
                json!(["node", peers::other_module(script)])
            }
            Self::OtherCodex => {
                let program = "@zed-industries/codex-acp-linux-x64/bin/codex-acp";
                json!([peers::other_module(program)])
            }
        }
    }

    pub(super) fn env(self, home: &Path, model: SocketAddr) -> Value {
        let base = format!("http://{model}");
        match self.kind() {
            Self::Claude => json!({
                "HOME": home, "ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": "x",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
            }),
            Self::Codex => json!({"HOME": home, "SCRIPTED_KEY": "x"}),
            Self::Gemini => json!({
                "HOME": home, "GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": base,
                "GEMINI_TELEMETRY_ENABLED": "false",
            }),
            Self::OpenCode => json!({
                "HOME": home, "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            }),
            Self::Qwen => json!({
                "HOME": home, "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": format!("{base}/v1"),
                "OPENAI_MODEL": "scripted",
            }),
            Self::Goose => json!({
                "HOME": home, "GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "gpt-4o", "OPENAI_HOST": base,
                "OPENAI_API_KEY": "x", "GOOSE_DISABLE_KEYRING": "1",
            }),
            Self::Kimi => json!({ "HOME": home }),
            Self::Kilo => json!({"HOME": home, "KILO_DISABLE_MODELS_FETCH": "1"}),
            Self::OlderClaude | Self::OtherCodex => unreachable!("it is of another kind"),
        }
    }

    /// What its user has in the home: which model, and where.
    pub(super) fn settle(self, home: &Path, model: SocketAddr) {
        let base = format!("http://{model}/v1");
        match self.kind() {
            Self::OpenCode => write(home, ".config/opencode/opencode.json", &open_code(&base)),
            Self::Kilo => write(home, ".config/kilo/kilo.json", &open_code(&base)),
            Self::Codex => write(home, ".codex/config.toml", &codex(&base)),
            Self::Gemini => {
                let auth = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
                write(home, ".gemini/settings.json", &auth.to_string());
            }
            Self::Kimi => write(home, ".kimi-code/config.toml", &kimi(&base)),
            _ => {}
        }
    }
}

pub(super) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn open_code(base: &str) -> String {
    let provider = json!({"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
        "options": {"baseURL": base, "apiKey": "x"}, "models": {"scripted": {"name": "scripted"}}});
    let settings = json!({"provider": {"scripted": provider}, "model": "scripted/scripted",
        "small_model": "scripted/scripted", "autoupdate": false, "share": "disabled"});
    settings.to_string()
}

fn codex(base: &str) -> String {
    format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"Scripted\"\n\
         base_url = \"{base}\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n"
    )
}

fn kimi(base: &str) -> String {
    format!(
        "default_model = \"scripted\"\n\n[providers.scripted]\ntype = \"openai\"\nbase_url = \"{base}\"\n\
         api_key = \"x\"\n\n[models.scripted]\nprovider = \"scripted\"\nmodel = \"scripted\"\n\
         max_context_size = 100000\n"
    )
}
