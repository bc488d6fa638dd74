//! What the kernel of this machine can keep a confined agent from, in plain words.

use anyhow::Context as _;
use provost_runner::sandbox::{self, Possible, Terminals};

use super::findings::Findings;

const NEWER: &str = "use Linux 6.2 or newer, with `landlock` in the list of the boot option `lsm=`";

pub(super) async fn kernel(findings: &mut Findings) -> anyhow::Result<()> {
    let this = std::env::current_exe().context("this program cannot be found")?;
    let possible = sandbox::probe(&this).await?;
    tell(&possible, findings);
    Ok(())
}

fn tell(possible: &Possible, findings: &mut Findings) {
    let support = possible.support;
    let abi = support.abi;
    match abi {
        0 => findings.fail("landlock", "the kernel has no Landlock, so `sandbox: true` is refused", NEWER),
        1 | 2 => findings.fail(
            "landlock",
            format!("version {abi} cannot keep files outside from being emptied, so `sandbox: true` is refused"),
            NEWER,
        ),
        _ => findings.ok("landlock", format!("version {abi}")),
    }
    if abi >= 3 {
        findings.ok(
            "files",
            "an agent reads and writes nothing outside its folders; the kernel does not keep it from changing the \
             modes, owners, times and attributes of your files there, nor from seeing the command lines of processes",
        );
    }
    if support.closes_ports() {
        findings.ok("ports", "an agent can be limited to TCP ports (`ports`)");
    } else {
        findings.warn(
            "ports",
            "TCP ports cannot be limited",
            "use Linux 6.7 or newer, with seccomp",
        );
    }
    sockets(possible, findings);
    match possible.terminals {
        Terminals::Own => findings.ok("terminals", "an agent has terminals (PTYs) of its own"),
        Terminals::None => {
            let problem = possible.problem.as_deref().unwrap_or("not tried");
            let problem = problem.trim_start_matches("error: ");
            findings.warn(
                "terminals",
                format!("an agent has no terminals (PTYs): {problem}"),
                "allow user namespaces (`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu \
                 `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), or in a container give CAP_SYS_ADMIN",
            );
        }
    }
    if abi >= 6 && support.seccomp {
        findings.ok(
            "processes",
            "an agent can signal only its own processes, and change the limits of no others",
        );
    } else if abi > 0 {
        findings.warn(
            "processes",
            "an agent can end processes of this user",
            "use Linux 6.12 or newer, with seccomp",
        );
    }
}

fn sockets(possible: &Possible, findings: &mut Findings) {
    const NAME: &str = "sockets";
    let support = possible.support;
    if support.abi >= 9 {
        findings.ok(
            NAME,
            "Unix sockets outside an agent's folders are out of reach (Landlock)",
        );
    } else if support.seccomp {
        findings.ok(
            NAME,
            "Unix sockets are out of reach (seccomp); an agent can make none of its own either, except pairs",
        );
    } else {
        findings.fail(
            NAME,
            "Unix sockets cannot be closed, so `sandbox: true` is refused",
            "use a kernel with seccomp, or set `sandbox: {unixSockets: allow}` if nothing listens here",
        );
    }
}

#[cfg(test)]
mod tests {
    use provost_runner::sandbox::Support;

    use super::*;

    fn told(abi: u32, seccomp: bool, terminals: Terminals) -> String {
        let mut findings = Findings::default();
        let possible = Possible {
            support: Support { abi, seccomp },
            terminals,
            problem: Some("error: not permitted".to_owned()),
        };
        tell(&possible, &mut findings);
        findings.to_string()
    }

    #[test]
    fn what_is_missing_is_told_with_what_to_do() {
        let whole = told(9, true, Terminals::Own);
        assert!(!whole.contains('→'), "{whole}");
        let old = told(2, false, Terminals::None);
        for expected in [
            "fail  landlock",
            "→ use Linux 6.2 or newer",
            "warn  ports",
            "fail  sockets",
            "warn  terminals",
            "not permitted",
            "warn  processes",
        ] {
            assert!(old.contains(expected), "{old}");
        }
        assert!(told(8, true, Terminals::Own).contains("seccomp"));
        // Landlock alone sees neither other names of TCP nor limits.
        let alone = told(9, false, Terminals::Own);
        assert!(alone.contains("warn  ports"), "{alone}");
        assert!(alone.contains("warn  processes"), "{alone}");
    }
}
