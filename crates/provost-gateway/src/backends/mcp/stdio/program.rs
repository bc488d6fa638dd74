//! The program itself: started with a clean environment, watched, and ended with all it has started.

use std::{
    ffi::OsStr,
    path::Path,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    sync::watch,
    time::timeout,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{backends::mcp::trouble::one_line, secret::Secret};

/// What is kept of a line on standard error.
const MAX_LINE: usize = 1024;
/// Lines that speak of an error, of which the end of a program is told.
const MAX_ERRORS: usize = 3;
/// Lines that the log takes of a server in a while.
const MAX_LINES: usize = 200;
const WHILE: Duration = Duration::from_mins(1);
/// How long a program may take to end when its input is closed, and again when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// Of our own environment, what a program gets: never our secrets.
const INHERITED: [&str; 8] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LANG",
];
/// How programs reach the network through a proxy, and whom they trust there: `npx` and `uvx` fetch what they
/// run. In lower case; both spellings are passed on.
const NETWORK: [&str; 24] = [
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "node_extra_ca_certs",
    "node_use_env_proxy",
    "ssl_cert_file",
    "ssl_cert_dir",
    "requests_ca_bundle",
    "curl_ca_bundle",
    "pip_cert",
    "pip_index_url",
    "uv_default_index",
    "uv_index_url",
    "uv_native_tls",
    "uv_system_certs",
    "npm_config_registry",
    "npm_config_proxy",
    "npm_config_http_proxy",
    "npm_config_https_proxy",
    "npm_config_noproxy",
    "npm_config_cafile",
    "npm_config_ca",
    "npm_config_strict_ssl",
];

/// How a program is started.
pub(in crate::backends::mcp) struct Launch {
    pub(in crate::backends::mcp) server: Arc<str>,
    pub(in crate::backends::mcp) command: String,
    pub(in crate::backends::mcp) args: Vec<String>,
    pub(in crate::backends::mcp) env: Vec<(String, Secret)>,
    /// What must not get into a log.
    pub(in crate::backends::mcp) secrets: Arc<[Secret]>,
    /// Those who see to its end.
    pub(in crate::backends::mcp) watchers: TaskTracker,
}

impl Launch {
    /// Programs that download what they run fail slowly and silently without a network.
    pub(in crate::backends::mcp) fn with_network_hint(&self, error: String) -> String {
        let program = Path::new(&self.command).file_stem();
        let program = program.and_then(OsStr::to_str).unwrap_or_default();
        let variables = match program {
            "npx" | "npm" | "pnpm" | "yarn" | "bunx" => {
                "`NODE_EXTRA_CA_CERTS` and `npm_config_registry`"
            }
            "uvx" | "uv" | "pipx" => "`SSL_CERT_FILE` and `UV_DEFAULT_INDEX`",
            _ => return error,
        };
        format!(
            "{error}; `{program}` downloads packages: check that this machine reaches the network, or set \
             `HTTPS_PROXY`, {variables} for the gateway"
        )
    }
}

pub(super) struct Program {
    server: Arc<str>,
    ended: watch::Receiver<Option<String>>,
    blame: Blame,
    end: CancellationToken,
    _end_on_drop: DropGuard,
}

/// How a program ended, once it has.
pub(in crate::backends::mcp) struct Ended {
    how: watch::Receiver<Option<String>>,
    blame: Blame,
}

/// What is wrong with it.
#[derive(Clone, Default)]
struct Blame(Arc<Mutex<Troubles>>);

#[derive(Default)]
struct Troubles {
    /// The first lines that speak of an error: the last line is often about a log.
    errors: Vec<String>,
    /// What it said last.
    said: Option<String>,
    /// What we found, which made us end it.
    found: Option<String>,
}

impl Program {
    pub(super) fn start(launch: &Launch) -> Result<(Self, ChildStdin, ChildStdout), String> {
        let mut child = command(launch)
            .spawn()
            .map_err(|error| format!("`{}` cannot be started: {error}", launch.command))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err("the program has no standard input and output".to_owned());
        };
        let blame = Blame::default();
        let log = child.stderr.take().map(|stderr| {
            let (server, secrets) = (launch.server.clone(), launch.secrets.clone());
            tokio::spawn(log(stderr, server, secrets, blame.clone()))
        });
        let (told, ended) = watch::channel(None);
        let end = CancellationToken::new();
        let watched = watch(child, end.clone());
        let why = blame.clone();
        launch.watchers.spawn(async move {
            let how = watched.await;
            // What it said last may still be on its way.
            if let Some(log) = log {
                let _ = timeout(GRACE, log).await;
            }
            told.send_replace(Some(why.told(how)));
        });
        let program = Self {
            server: launch.server.clone(),
            ended,
            blame,
            _end_on_drop: end.clone().drop_guard(),
            end,
        };
        Ok((program, stdin, stdout))
    }

    pub(super) fn name(&self) -> &str {
        &self.server
    }

    pub(super) fn ended(&self) -> Ended {
        Ended {
            how: self.ended.clone(),
            blame: self.blame.clone(),
        }
    }

    pub(super) fn blame(&self, why: &str) {
        self.blame.troubles().found = Some(why.to_owned());
    }

    pub(super) async fn end(&mut self) {
        self.end.cancel();
        let _ = self.ended.wait_for(Option::is_some).await;
    }
}

impl Blame {
    fn troubles(&self) -> MutexGuard<'_, Troubles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, how: String) -> String {
        match &*self.troubles() {
            Troubles {
                found: Some(found), ..
            } => found.clone(),
            Troubles { errors, .. } if !errors.is_empty() => {
                format!("{how}; it said: {}", errors.join("; "))
            }
            Troubles {
                said: Some(said), ..
            } => format!("{how}; it said last: {said}"),
            _ => how,
        }
    }

    fn hear(&self, text: String) {
        let mut troubles = self.troubles();
        let is_error = text.to_ascii_lowercase().contains("error");
        if is_error && troubles.errors.len() < MAX_ERRORS {
            troubles.errors.push(text.clone());
        }
        troubles.said = Some(text);
    }
}

impl Ended {
    /// Waits for it, but not for long.
    pub(in crate::backends::mcp) async fn how(mut self) -> Option<String> {
        let ended = self.how.wait_for(Option::is_some);
        timeout(3 * GRACE, ended).await.ok()?.ok()?.clone()
    }

    /// What is wrong with it, with what it said until now.
    pub(in crate::backends::mcp) fn so_far(&self, what: String) -> String {
        self.blame.told(what)
    }
}

/// Whether a variable of our environment is passed on. Tokens of registries (`npm_config_//host/:_authToken`) are
/// not: whoever needs one writes it into `env`.
fn is_inherited(name: &str) -> bool {
    let small = name.to_ascii_lowercase();
    let scoped = small.starts_with("npm_config_@") && small.ends_with(":registry");
    INHERITED.contains(&name) || NETWORK.contains(&&*small) || scoped
}

/// The names and passwords in addresses of proxies and registries that programs are given.
pub(in crate::backends::mcp) fn inherited_secrets() -> Vec<Secret> {
    let values = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited));
    let credentials = values.filter_map(|(_, value)| {
        let (_, rest) = value.to_str()?.split_once("://")?;
        let (credentials, _) = rest.split('/').next()?.rsplit_once('@')?;
        Some(Secret::new(credentials))
    });
    credentials.collect()
}

fn command(launch: &Launch) -> Command {
    let inherited = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_inherited));
    let mut command = Command::new(&launch.command);
    command
        .args(&launch.args)
        .env_clear()
        .envs(inherited)
        .envs(
            launch
                .env
                .iter()
                .map(|(name, value)| (name, value.expose())),
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// Waits for the program's end, or brings it about; then ends what it left behind, and says how it was.
async fn watch(mut child: Child, end: CancellationToken) -> String {
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let signal = |signal| {
        if let Some(group) = group {
            // It fails when nothing of the group is left, which is what is wanted.
            let _ = kill_process_group(group, signal);
        }
    };
    let mut status = tokio::select! {
        status = child.wait() => Some(status),
        () = end.cancelled() => None,
    };
    for next in [Signal::TERM, Signal::KILL] {
        if status.is_some() {
            break;
        }
        status = timeout(GRACE, child.wait()).await.ok();
        if status.is_none() {
            signal(next);
        }
    }
    let status = match status {
        Some(status) => status,
        None => child.wait().await,
    };
    signal(Signal::KILL);
    status.map_or_else(|error| format!("the program was lost: {error}"), how)
}

fn how(status: ExitStatus) -> String {
    status.code().map_or_else(
        || format!("the program was ended ({status})"),
        |code| format!("the program ended with exit code {code}"),
    )
}

/// How many lines of a server the log takes in a while; the rest is not kept.
#[derive(Default)]
struct Lines {
    since: Option<Instant>,
    count: usize,
}

impl Lines {
    fn has_room(&mut self, now: Instant) -> bool {
        if self.since.is_none_or(|since| now - since >= WHILE) {
            (self.since, self.count) = (Some(now), 0);
        }
        self.count += 1;
        self.count <= MAX_LINES
    }
}

/// Every line to the log, as far as it is worth it.
async fn log(stderr: ChildStderr, server: Arc<str>, secrets: Arc<[Secret]>, blame: Blame) {
    let mut lines = Lines::default();
    let mut told = |line: &[u8]| {
        let text = one_line(&String::from_utf8_lossy(line), &secrets);
        if !text.is_empty() {
            if lines.has_room(Instant::now()) {
                tracing::info!(mcp.server = &*server, "{text}");
            }
            blame.hear(text);
        }
    };
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    while let Ok(read) = stderr.fill_buf().await
        && !read.is_empty()
    {
        let end = read.iter().position(|byte| *byte == b'\n');
        let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
        let room = MAX_LINE.saturating_sub(line.len());
        line.extend(part.iter().take(room));
        let used = part.len() + usize::from(end.is_some());
        stderr.consume(used);
        if end.is_some() {
            told(&std::mem::take(&mut line));
        }
    }
    told(&line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p18_programs_get_what_they_need_to_reach_the_network_and_no_secrets() {
        for name in [
            "PATH",
            "HTTP_PROXY",
            "https_proxy",
            "NO_PROXY",
            "ALL_PROXY",
            "NODE_EXTRA_CA_CERTS",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "npm_config_registry",
            "NPM_CONFIG_REGISTRY",
            "npm_config_https_proxy",
            "npm_config_@acme:registry",
            "UV_DEFAULT_INDEX",
            "REQUESTS_CA_BUNDLE",
        ] {
            assert!(is_inherited(name), "{name}");
        }
        for name in [
            "PROVOST_KEY",
            "npm_config_//registry.npmjs.org/:_authToken",
            "NPM_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "path",
            "LD_PRELOAD",
            "NODE_OPTIONS",
        ] {
            assert!(!is_inherited(name), "{name}");
        }
    }

    #[test]
    fn p18_a_download_that_takes_too_long_names_the_network_and_its_variables() {
        let told = |command: &str| {
            let launch = Launch {
                server: "s".into(),
                command: command.to_owned(),
                args: Vec::new(),
                env: Vec::new(),
                secrets: Arc::default(),
                watchers: TaskTracker::new(),
            };
            launch.with_network_hint("late".to_owned())
        };
        for (command, variable) in [
            ("npx", "NODE_EXTRA_CA_CERTS"),
            ("/usr/bin/npx", "npm_config_registry"),
            ("uvx", "SSL_CERT_FILE"),
        ] {
            let told = told(command);
            assert!(
                told.starts_with("late; ") && told.contains("network"),
                "{told}"
            );
            assert!(
                told.contains("HTTPS_PROXY") && told.contains(variable),
                "{told}"
            );
        }
        assert_eq!(told("python3"), "late");
    }

    #[test]
    fn p18_the_end_of_a_program_is_told_with_its_errors() {
        for (lines, told) in [
            (&[][..], "it ended"),
            (&["a", "b"], "it ended; it said last: b"),
            (
                &[
                    "npm error code E404",
                    "npm error 404 Not Found - GET https://registry.example.org/x",
                    "npm warn old",
                    "A complete log of this run can be found in: /x",
                ],
                "it ended; it said: npm error code E404; npm error 404 Not Found - GET \
                 https://registry.example.org/x",
            ),
        ] {
            let blame = Blame::default();
            for line in lines {
                blame.hear((*line).to_owned());
            }
            assert_eq!(blame.told("it ended".to_owned()), told);
        }
    }

    #[test]
    fn a_server_that_talks_too_much_is_not_logged_for_a_while() {
        let (mut lines, began) = (Lines::default(), Instant::now());
        let taken = (0..MAX_LINES * 2).filter(|_| lines.has_room(began)).count();
        assert_eq!(taken, MAX_LINES);
        assert!(lines.has_room(began + WHILE));
    }
}
