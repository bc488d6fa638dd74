//! From JSON, with every problem at once.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Map, Value, value::RawValue};

use super::{
    By, Callback, Config, Confine, Gateway, Home, Identity, Keep, Limits, Permissions, Prompt,
    Sandbox, Secret, SpentBefore, Unsupervised, fields::Reader,
};
use crate::agents::{self, Offers, Profile};
use crate::sandbox::{TOOLCHAINS, Toolchain, UnixSockets, toolchain};

const SPOOL_BYTES: u64 = 256 * 1024 * 1024;
/// A session that nobody writes to ends.
const KEEP_IDLE: Duration = Duration::from_mins(10);
const LONGEST_GRACE: Duration = Duration::from_mins(2);

/// What may be missing: a run of this machine's own needs nobody to report to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Nothing,
    Callback,
    /// And where there is one, it is not used.
    AnyCallback,
}

/// Everything that is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub struct Problems(pub Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

/// Relative paths are taken from `folder`.
pub fn read(text: &str, folder: &Path, missing: Missing) -> Result<Config, Problems> {
    let fields: Map<String, Value> = match serde_json::from_str(text) {
        Ok(fields) => fields,
        // The error's own words may repeat what is there, and that may be the token.
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let problem = format!("line {line}, column {column}: this is not one JSON object");
            return Err(Problems(vec![problem]));
        }
    };
    // What is passed on to the agent is passed on as it is written.
    let raw: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).unwrap_or_default();
    let mut reader = Reader {
        at: String::new(),
        fields,
        problems: Vec::new(),
    };
    let config = reader.config(raw, folder, missing);
    reader.nothing_else();
    match config {
        Some(config) if reader.problems.is_empty() => Ok(config),
        _ => Err(Problems(reader.problems)),
    }
}

impl Reader {
    fn config(
        &mut self,
        mut raw: BTreeMap<String, Box<RawValue>>,
        folder: &Path,
        missing: Missing,
    ) -> Option<Config> {
        let identity = self.identity();
        let callback = self.callback(missing);
        let keep = self.keep(folder);
        let prompt = self.prompt(raw.remove("prompt"), keep.is_some());
        let gateway = self.gateway();
        let permissions = self.permissions(gateway.is_some(), callback.is_some());
        let path = |text: String| folder.join(text);
        let config = Config {
            session: self.text("sessionId"),
            model: self.text("modelId"),
            mode: self.text("mode"),
            options: self.texts("options"),
            mcp_servers: self.mcp_servers(raw.remove("mcpServers")),
            repo: self
                .text("repoDir")
                .map_or_else(|| folder.to_owned(), PathBuf::from),
            command: self.command(),
            env: self.env(),
            agent: self.agent(),
            offers: self.offers(),
            unknown_agent: self.choice("unknownAgent", ["refuse", "allow"]) == Some(1),
            unsupervised: self
                .choice("unsupervised", Unsupervised::ALL.map(Unsupervised::name))
                .and_then(|index| Unsupervised::ALL.get(index).copied())
                .unwrap_or_default(),
            limits: self.limits(),
            spent: self.spent(),
            sandbox: self.sandbox(),
            journal: self.text("journal").map(path),
            spool: self.text("spoolDir").map(path),
            spool_bytes: self.count("spoolBytes").unwrap_or(SPOOL_BYTES),
            identity: identity?,
            callback,
            prompt,
            keep,
            permissions: permissions?,
            gateway,
        };
        Some(config)
    }

    fn identity(&mut self) -> Option<Identity> {
        let [run_id, task_id, sandbox_id, prompt_id] =
            ["runId", "taskId", "sandboxId", "promptId"].map(|name| self.required(name));
        Some(Identity {
            run_id: run_id?,
            task_id: task_id?,
            sandbox_id: sandbox_id?,
            prompt_id: prompt_id?,
        })
    }

    fn callback(&mut self, missing: Missing) -> Option<Callback> {
        let absent = !self.has("callbackUrl") && !self.has("token");
        if missing == Missing::Callback && absent {
            return None;
        }
        if missing == Missing::AnyCallback {
            for name in ["callbackUrl", "token", "signingSecret"] {
                self.fields.remove(name);
            }
            return None;
        }
        let url = self.required("callbackUrl");
        let url = url.and_then(|url| self.web_address("callbackUrl", url));
        let token = self.required("token").and_then(|token| {
            let fits = token.bytes().all(|byte| (0x20..0x7f).contains(&byte));
            if !fits {
                self.problem("token", "goes into a header: printable ASCII only");
            }
            fits.then(|| Secret::new(token))
        });
        let signing_secret = self.text("signingSecret").map(Secret::new);
        Some(Callback {
            url: url?,
            token: token?,
            signing_secret,
        })
    }

    /// A session that stays may begin without one.
    fn prompt(&mut self, raw: Option<Box<RawValue>>, keeps: bool) -> Option<Prompt> {
        match self.fields.remove("prompt") {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(Prompt::Text(text)),
            Some(Value::Array(blocks))
                if !blocks.is_empty() && blocks.iter().all(Value::is_object) =>
            {
                raw.map(Prompt::Blocks)
            }
            None if keeps => None,
            Some(_) => {
                self.problem("prompt", "is a text, or a list of content blocks");
                None
            }
            None => {
                self.problem("prompt", "is missing");
                None
            }
        }
    }

    fn keep(&mut self, folder: &Path) -> Option<Keep> {
        let mut fields = self.object("keep")?;
        let prompts = fields.required("promptsDir");
        let taken = fields.count("taken").unwrap_or(1);
        let idle = fields.seconds("idleSeconds").unwrap_or(KEEP_IDLE);
        self.close(fields);
        Some(Keep {
            prompts: folder.join(prompts?),
            taken,
            idle,
        })
    }

    fn mcp_servers(&mut self, raw: Option<Box<RawValue>>) -> Option<Box<RawValue>> {
        match self.fields.remove("mcpServers")? {
            Value::Array(servers) if servers.iter().all(Value::is_object) => raw,
            Value::Null => None,
            _ => {
                self.problem("mcpServers", "is a list of servers, as ACP writes them");
                None
            }
        }
    }

    fn command(&mut self) -> Option<Vec<String>> {
        match self.fields.remove("command")? {
            Value::Array(words) => {
                let texts = words.iter().map(|word| word.as_str().map(str::to_owned));
                let words: Option<Vec<String>> = texts.collect();
                if words.as_ref().is_none_or(Vec::is_empty) {
                    self.problem("command", "is a list of a program and its arguments");
                }
                words
            }
            Value::String(line) => {
                let words = split(&line);
                if words.is_none() {
                    self.problem("command", "cannot be split into words: look at its quotes");
                }
                words
            }
            _ => {
                self.problem("command", "is a command line, or a list of words");
                None
            }
        }
    }

    fn env(&mut self) -> BTreeMap<String, String> {
        let env = self.texts("env");
        for (name, value) in &env {
            if name.contains(['=', '\0']) || value.contains('\0') {
                let problem = "is no text that an environment can have";
                self.problem(&format!("env.{name}"), problem);
            }
        }
        env
    }

    fn texts(&mut self, name: &str) -> BTreeMap<String, String> {
        let Some(mut fields) = self.object(name) else {
            return BTreeMap::new();
        };
        let mut texts = BTreeMap::new();
        for (name, value) in std::mem::take(&mut fields.fields) {
            match value {
                Value::String(value) => {
                    texts.insert(name, value);
                }
                _ => fields.problem(&name, "is no text"),
            }
        }
        self.problems.append(&mut fields.problems);
        texts
    }

    fn agent(&mut self) -> Option<&'static Profile> {
        let name = self.text("agent")?;
        let profile = agents::named(&name);
        if profile.is_none() {
            let known = agents::KNOWN.map(|profile| profile.name).join(", ");
            self.problem("agent", &format!("is one of {known}"));
        }
        profile
    }

    fn offers(&mut self) -> Option<Offers> {
        let mut fields = self.object("clientCapabilities")?;
        let offers = Offers {
            read: fields.flag_or("readTextFile", true),
            write: fields.flag_or("writeTextFile", true),
            terminal: fields.flag_or("terminal", true),
        };
        self.close(fields);
        Some(offers)
    }

    fn gateway(&mut self) -> Option<Gateway> {
        if let Some(Value::String(url)) = self.fields.get("gateway").cloned() {
            self.fields.remove("gateway");
            let url = self.web_address("gateway", url)?;
            return Some(Gateway {
                url,
                key: None,
                connector: None,
            });
        }
        let mut fields = self.object("gateway")?;
        let url = fields.required("url");
        let url = url.and_then(|url| fields.web_address("url", url));
        let key = fields.text("key").map(Secret::new);
        self.close(fields);
        Some(Gateway {
            url: url?,
            key,
            connector: None,
        })
    }

    fn permissions(&mut self, gateway: bool, callback: bool) -> Option<Permissions> {
        let mut permissions = Permissions::default();
        if gateway {
            permissions.by = By::Gateway;
        }
        if let Some(Value::String(name)) = self.fields.get("permissions").cloned() {
            self.fields.remove("permissions");
            permissions.by = self.by("permissions", &name)?;
        } else if let Some(mut fields) = self.object("permissions") {
            if let Some(name) = fields.text("by") {
                permissions.by = fields.by("by", &name).unwrap_or(permissions.by);
            }
            if let Some(timeout) = fields.seconds("timeoutSeconds") {
                permissions.timeout = timeout;
            }
            if let Some(listen) = fields.text("listen") {
                permissions.listen = listen.parse().ok();
                if permissions.listen.is_none() {
                    fields.problem("listen", "is an address with a port, such as 127.0.0.1:0");
                }
            }
            self.close(fields);
        }
        match permissions.by {
            By::Gateway if !gateway => {
                self.problem(
                    "permissions",
                    "are the gateway's, and no `gateway` is named",
                );
            }
            By::Callback if !callback => {
                let problem = "are the callback's, and no `callbackUrl` is named";
                self.problem("permissions", problem);
            }
            _ => {}
        }
        Some(permissions)
    }

    fn by(&mut self, name: &str, given: &str) -> Option<By> {
        let by = By::parse(given);
        if by.is_none() {
            let known = By::ALL.map(By::name).join(", ");
            self.problem(name, &format!("is one of {known}"));
        }
        by
    }

    fn limits(&mut self) -> Limits {
        let Some(mut fields) = self.object("limits") else {
            return Limits::default();
        };
        let limits = Limits {
            wall: fields.seconds("wallSeconds"),
            idle: fields.seconds("idleSeconds"),
            turns: fields.count("turns"),
            tool_calls: fields.count("toolCalls"),
            tokens: fields.count("tokens"),
            cost: fields.number("cost"),
            output_bytes: fields.count("outputBytes"),
            files_changed: fields.count("filesChanged"),
            grace: fields.grace(),
            strict: fields.flag_or("strict", false),
        };
        self.close(fields);
        limits
    }

    fn spent(&mut self) -> SpentBefore {
        let Some(mut fields) = self.object("spent") else {
            return SpentBefore::default();
        };
        let spent = SpentBefore {
            wall: fields.seconds("wallSeconds").unwrap_or_default(),
            turns: fields.count("turns").unwrap_or_default(),
            tool_calls: fields.count("toolCalls").unwrap_or_default(),
            tokens: fields.count("tokens").unwrap_or_default(),
            cost: fields.number("cost").unwrap_or_default(),
            output_bytes: fields.count("outputBytes").unwrap_or_default(),
            files_changed: fields.count("filesChanged").unwrap_or_default(),
        };
        self.close(fields);
        spent
    }

    /// Ending has several steps: whoever wants it to end does not wait for an hour.
    fn grace(&mut self) -> Option<Duration> {
        let grace = self.seconds("graceSeconds")?;
        if grace > LONGEST_GRACE {
            self.problem("graceSeconds", "is longer than two minutes");
            return None;
        }
        Some(grace)
    }

    fn sandbox(&mut self) -> Sandbox {
        let confined = |confine| Sandbox {
            confine,
            ..Sandbox::default()
        };
        match self.fields.get("sandbox").cloned() {
            Some(Value::Object(_)) => self.sandbox_in_detail(),
            given => {
                self.fields.remove("sandbox");
                match given {
                    None | Some(Value::Null | Value::Bool(false)) => Sandbox::default(),
                    Some(Value::Bool(true)) => confined(Confine::Required),
                    Some(Value::String(text)) if text == "best-effort" => {
                        confined(Confine::BestEffort)
                    }
                    Some(_) => {
                        self.problem("sandbox", "is true, false, \"best-effort\" or an object");
                        confined(Confine::Required)
                    }
                }
            }
        }
    }

    fn sandbox_in_detail(&mut self) -> Sandbox {
        let Some(mut fields) = self.object("sandbox") else {
            return Sandbox::default();
        };
        let confine = match fields.fields.remove("bestEffort") {
            None | Some(Value::Bool(false)) => Confine::Required,
            Some(Value::Bool(true)) => Confine::BestEffort,
            Some(_) => {
                fields.problem("bestEffort", "is true or false");
                Confine::Required
            }
        };
        let paths = |texts: Vec<String>| texts.into_iter().map(PathBuf::from).collect();
        let sandbox = Sandbox {
            confine,
            read_write: fields.absolute("readWrite").map(paths).unwrap_or_default(),
            read_only: fields.absolute("readOnly").map(paths).unwrap_or_default(),
            ports: fields.ports(),
            home: fields.home(),
            toolchains: fields.toolchains(),
            unix_sockets: match fields.choice("unixSockets", ["deny", "allow"]) {
                Some(1) => UnixSockets::Allow,
                _ => UnixSockets::Deny,
            },
        };
        self.close(fields);
        sandbox
    }

    fn home(&mut self) -> Home {
        match self.text("home").as_deref() {
            None | Some("own") => Home::Own,
            Some("operator") => Home::Operator,
            Some(path) if Path::new(path).is_absolute() => Home::At(path.into()),
            Some(_) => {
                self.problem("home", "is own, operator, or a path that begins with /");
                Home::Own
            }
        }
    }

    fn toolchains(&mut self) -> Option<Vec<&'static Toolchain>> {
        let value = self.fields.remove("toolchains");
        let value = value.filter(|value| !value.is_null())?;
        let names: Vec<String> = serde_json::from_value(value).ok().unwrap_or_else(|| {
            self.problem("toolchains", "is a list of names");
            Vec::new()
        });
        let found: Option<Vec<_>> = names.iter().map(|name| toolchain(name)).collect();
        if found.is_none() {
            let known = TOOLCHAINS.each_ref().map(|toolchain| toolchain.name);
            self.problem("toolchains", &format!("are among {}", known.join(", ")));
        }
        Some(found.unwrap_or_default())
    }
}

/// A command line in words, as a shell would split it; nothing in it is expanded.
pub fn split(line: &str) -> Option<Vec<String>> {
    shlex::split(line).filter(|words| !words.is_empty())
}

/// The same words, where a program that is a relative path is below `folder`. Other programs are found by `PATH`.
pub fn anchored(mut words: Vec<String>, folder: &Path) -> Vec<String> {
    if let Some(program) = words.first_mut()
        && program.contains('/')
        && Path::new(program).is_relative()
    {
        *program = folder.join(&program).to_string_lossy().into_owned();
    }
    words
}

/// The same for a command line.
pub fn anchored_line(line: &str, folder: &Path) -> Option<String> {
    let words = split(line)?;
    let anchored = anchored(words.clone(), folder);
    if anchored == words {
        return Some(line.to_owned());
    }
    shlex::try_join(anchored.iter().map(String::as_str)).ok()
}
