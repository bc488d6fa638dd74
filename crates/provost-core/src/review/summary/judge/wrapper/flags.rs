//! The flags of programs that run another one: which of them take a value, so that the program behind them is
//! found.

pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Letters without a value.
    pub(super) plain: &'static str,
    /// Letters with a value, glued on or in the next word.
    pub(super) valued: &'static str,
    /// Long flags without a value, or with one behind `=` only; separated by spaces.
    pub(super) long: &'static str,
    /// Long flags with a value.
    pub(super) long_valued: &'static str,
    /// How many words come before the program.
    pub(super) before: usize,
}

const fn wrapper(
    name: &'static str,
    short: [&'static str; 2],
    long: [&'static str; 2],
    before: usize,
) -> Wrapper {
    let [plain, valued] = short;
    let [long, long_valued] = long;
    Wrapper {
        name,
        plain,
        valued,
        long,
        long_valued,
        before,
    }
}

pub(super) const WRAPPERS: [Wrapper; 50] = [
    wrapper(
        "sudo",
        ["AbBEeHiKklNnPSsVv", "CDghpRrTtUu"],
        [
            "askpass background bell preserve-env edit set-home login list non-interactive no-update preserve-groups stdin shell reset-timestamp remove-timestamp validate version",
            "close-from chdir group host prompt chroot role type command-timeout other-user user",
        ],
        0,
    ),
    wrapper("doas", ["Lns", "Cu"], ["", ""], 0),
    wrapper(
        "pkexec",
        ["", ""],
        ["disable-internal-agent keep-cwd", "user"],
        0,
    ),
    wrapper(
        "runuser",
        ["lfmpP", "cugGsTw"],
        [
            "login fast preserve-environment pty",
            "user command session-command group supp-group shell",
        ],
        0,
    ),
    wrapper(
        "env",
        ["i0v", "uCSa"],
        [
            "ignore-environment null debug default-signal ignore-signal block-signal list-signal-handling",
            "unset chdir split-string argv0",
        ],
        0,
    ),
    wrapper("nohup", ["", ""], ["", ""], 0),
    wrapper("noglob", ["", ""], ["", ""], 0),
    wrapper("nocorrect", ["", ""], ["", ""], 0),
    wrapper("-", ["", ""], ["", ""], 0),
    wrapper("repeat", ["", ""], ["", ""], 1),
    wrapper(
        "time",
        ["pavqV", "fo"],
        ["portability append verbose quiet", "format output"],
        0,
    ),
    wrapper("command", ["pvV", ""], ["", ""], 0),
    wrapper("builtin", ["", ""], ["", ""], 0),
    wrapper("exec", ["cl", "a"], ["", ""], 0),
    wrapper("coproc", ["", ""], ["", ""], 0),
    wrapper("nice", ["0123456789", "n"], ["", "adjustment"], 0),
    wrapper(
        "ionice",
        ["t", "cnpPu"],
        ["ignore", "class classdata pid pgid uid"],
        0,
    ),
    wrapper(
        "chrt",
        ["abdefiormRv", "pTPD"],
        [
            "all-tasks batch deadline fifo idle other rr reset-on-fork verbose max",
            "pid sched-runtime sched-deadline sched-period",
        ],
        1,
    ),
    wrapper("taskset", ["acp", ""], ["all-tasks pid cpu-list", ""], 1),
    wrapper(
        "timeout",
        ["fpv", "ks"],
        ["foreground preserve-status verbose", "kill-after signal"],
        1,
    ),
    wrapper("stdbuf", ["", "ioe"], ["", "input output error"], 0),
    wrapper("setsid", ["cfw", ""], ["ctty fork wait", ""], 0),
    wrapper("unbuffer", ["p", ""], ["", ""], 0),
    wrapper("caffeinate", ["disum", "tw"], ["", ""], 0),
    wrapper("chroot", ["", ""], ["skip-chdir", "groups userspec"], 1),
    wrapper(
        "unshare",
        ["fimnprUuCcT", "SGRw"],
        [
            "fork mount uts ipc net pid user cgroup time map-root-user map-current-user map-auto keep-caps mount-proc kill-child",
            "root wd setuid setgid map-user map-group map-users map-groups propagation setgroups monotonic boottime",
        ],
        0,
    ),
    wrapper(
        "nsenter",
        ["amuinpUCTFrwk", "tSG"],
        [
            "all mount uts ipc net pid user cgroup time no-fork preserve-credentials root wd",
            "target setuid setgid",
        ],
        0,
    ),
    wrapper(
        "flock",
        ["sxenuoFv", "wEc"],
        [
            "shared exclusive nonblock nb unlock close no-fork verbose",
            "timeout wait conflict-exit-code command",
        ],
        1,
    ),
    wrapper(
        "script",
        ["adefkpqr", "cEIOBTmot"],
        [
            "append return flush force quiet",
            "command echo log-in log-out log-io log-timing logging-format output-limit",
        ],
        1,
    ),
    wrapper(
        "strace",
        ["cCDfFhiknqrtTvVwxyYzZd", "eopuEsXaIPSbO"],
        ["", ""],
        0,
    ),
    wrapper(
        "systemd-run",
        ["dGPqrtSC", "puEHM"],
        [
            "user system scope pty pipe quiet wait collect same-dir no-block shell no-ask-password remain-after-exit",
            "unit description property slice uid gid nice working-directory setenv service-type machine host",
        ],
        0,
    ),
    wrapper("busybox", ["", ""], ["", ""], 0),
    wrapper("toybox", ["", ""], ["", ""], 0),
    wrapper(
        "xargs",
        ["0oprtx", "IELnPsadRJ"],
        [
            "null no-run-if-empty verbose interactive open-tty exit show-limits replace max-lines eof",
            "arg-file delimiter max-args max-procs max-chars process-slot-var",
        ],
        0,
    ),
    wrapper("parallel", ["0kmuXtqv", "jIna"], ["", "jobs"], 0),
    wrapper(
        "ssh",
        ["46AaCfGgKkMNnqsTtVvXxYy", "BbcDEeFIiJLlmOopPQRSWw"],
        ["", ""],
        1,
    ),
    wrapper(
        "watch",
        ["bcdegtpwx", "nqs"],
        [
            "beep color differences errexit chgexit no-title precise no-wrap exec",
            "interval equexit",
        ],
        0,
    ),
    wrapper("valgrind", ["qv", ""], ["", ""], 0),
    wrapper("ltrace", ["cCfhiLrStTV", "eopunsaAlFxX"], ["", ""], 0),
    wrapper("firejail", ["", ""], ["", ""], 0),
    wrapper("setpriv", ["", ""], ["", ""], 0),
    wrapper("prlimit", ["", ""], ["", ""], 0),
    wrapper("setarch", ["", ""], ["", ""], 1),
    wrapper(
        "xvfb-run",
        ["al", "efnpsw"],
        [
            "auto-servernum listen-tcp",
            "auth-file error-file server-args server-num wait",
        ],
        0,
    ),
    wrapper("proxychains", ["q", "f"], ["", ""], 0),
    wrapper("proxychains4", ["q", "f"], ["", ""], 0),
    wrapper("torsocks", ["i", ""], ["", ""], 0),
    wrapper("chronic", ["ev", ""], ["", ""], 0),
    wrapper("entr", ["acdnprsz", ""], ["", ""], 0),
    wrapper(
        "dbus-run-session",
        ["", ""],
        ["", "config-file dbus-daemon"],
        0,
    ),
];
