//! Variables of the environment that act on a hook or on `provost` itself: by which it finds its gateway and its key,
//! which program, library or shell is started in its place, and who reads what it sends. A project's settings may not
//! set them beside the hooks.

const NAMES: [&str; 25] = [
    // Where the gateways of the user, and the settings of the agent, are found.
    "HOME",
    "XDG_STATE_HOME",
    "CLAUDE_CONFIG_DIR",
    // What is started.
    "PATH",
    "SHELL",
    "CLAUDE_CODE_SHELL",
    "CLAUDE_CODE_SHELL_PREFIX",
    // What shells and programs load first.
    "ENV",
    "BASH_ENV",
    "ZDOTDIR",
    "SHELLOPTS",
    "BASHOPTS",
    "NODE_OPTIONS",
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    // Whom a hook over HTTP reaches.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];
const PREFIXES: [&str; 4] = ["PROVOST_", "LD_", "DYLD_", "BASH_FUNC_"];

/// In whatever case: programs read some of them in both.
pub(super) fn acts_on_hooks(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAMES.contains(&&*name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p06_variables_that_act_on_hooks_are_known() {
        for name in [
            "PROVOST_URL",
            "PROVOST_KEY",
            "HOME",
            "PATH",
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "BASH_FUNC_provost%%",
            "http_proxy",
        ] {
            assert!(acts_on_hooks(name), "{name}");
        }
        for name in ["A", "NODE_ENV", "MY_PATH", "HOMEPAGE", "ANTHROPIC_MODEL"] {
            assert!(!acts_on_hooks(name), "{name}");
        }
    }
}
