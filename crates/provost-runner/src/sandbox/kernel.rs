//! What the running kernel can deny, and having it denied.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, RestrictSelf, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    Scope,
};
use serde::Serialize;

use super::{ClosedBy, Enforced, Level, Refused, Spec, Terminals, UnixSockets};
use super::{
    calls::{self, Refuse},
    privileges, terminals,
};

/// The newest version that is made use of.
const NEWEST: ABI = ABI::V9;

/// What a strict sandbox cannot do without. Before version 3, files outside could be emptied; before
/// version 4, no port could be closed.
const PATHS_NEED: ABI = ABI::V3;
const PORTS_NEED: ABI = ABI::V4;

/// The first version that closes sockets by their path.
const SOCKETS_NEED: u32 = ABI::V9 as u32;

/// What a filter of system calls denies, as it is told beside Landlock's kinds.
const OTHER_LIMITS: &str = "process:Limits";
const KEYS: &str = "process:Keys";
const SHARED_MEMORY: &str = "process:SharedMemory";
const HIDDEN_TCP: &str = "network:OtherThanTcp";

/// What of a kernel is made use of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Support {
    /// The version of its Landlock; 0 for none.
    pub abi: u32,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
}

impl Support {
    fn closes_sockets(self, spec: &Spec) -> ClosedBy {
        match spec.unix_sockets {
            UnixSockets::Deny if self.abi >= SOCKETS_NEED => ClosedBy::Landlock,
            UnixSockets::Deny if self.seccomp => ClosedBy::Seccomp,
            UnixSockets::Deny | UnixSockets::Allow => ClosedBy::Nothing,
        }
    }

    /// Whether connecting can be limited to ports, however it is done.
    pub fn closes_ports(self) -> bool {
        self.abi >= PORTS_NEED as u32 && self.seccomp
    }
}

/// What the running kernel can do.
pub fn support() -> Support {
    // With nothing asked, this applies nothing: it only tells the status, which the crate shows no other way.
    let status = RestrictSelf::default().no_new_privs(false).apply();
    Support {
        abi: match status.map(|status| status.landlock) {
            Ok(LandlockStatus::Available { effective_abi, .. }) => effective_abi as u32,
            _ => 0,
        },
        // Known to every process of a kernel that was built with it.
        seccomp: calls::KNOWN_HERE && Path::new("/proc/sys/kernel/seccomp/actions_avail").exists(),
    }
}

/// Confines this thread, and all that it starts, for good.
pub fn confine(spec: &Spec) -> Result<Enforced, Refused> {
    confine_on(support(), spec)
}

/// As [`confine`], making use of no more than what `support` says.
pub fn confine_on(support: Support, spec: &Spec) -> Result<Enforced, Refused> {
    let abi = ABI::from(i32::try_from(support.abi).unwrap_or(i32::MAX));
    let closed_by = support.closes_sockets(spec);
    let asked = Kinds::of(NEWEST, spec);
    let kinds = Kinds::of(abi, spec);
    let mut lacking = asked.without(&kinds);
    if closed_by == ClosedBy::Seccomp {
        lacking = lacking.without(&Kinds::of_sockets());
    }
    let mut lacking = lacking.names();
    if spec.network.is_some() && !support.seccomp {
        lacking.push(HIDDEN_TCP.to_owned());
    }
    let sockets_open = spec.unix_sockets == UnixSockets::Deny && closed_by == ClosedBy::Nothing;
    let ports_open = spec.network.is_some() && !support.closes_ports();
    if spec.strict && (abi < PATHS_NEED || ports_open || sockets_open) {
        return Err(Refused::Unsupported {
            abi: support.abi,
            lacking: lacking.join(", "),
        });
    }
    let mut paths = spec.read_write.clone();
    let mut namespaces = None;
    if spec.terminals == Terminals::Own {
        namespaces = Some(terminals::make_own().map_err(Refused::Terminals)?);
        paths.extend(terminals::paths());
    }
    let refuse = Refuse {
        unix_sockets: closed_by == ClosedBy::Seccomp,
        hidden_tcp: spec.network.is_some(),
        shared_memory: !namespaces.is_some_and(|own| own.own_memory),
    };
    let mut what = kinds.names();
    if support.seccomp {
        what.extend(filtered(refuse));
    } else {
        lacking.extend([OTHER_LIMITS, KEYS].map(str::to_owned));
        lacking.extend(refuse.shared_memory.then(|| SHARED_MEMORY.to_owned()));
    }
    let mut enforced = Enforced {
        enforced: if lacking.is_empty() {
            Level::Full
        } else {
            Level::Part
        },
        abi: support.abi,
        what,
        lacking,
        read_write: Vec::new(),
        read_only: Vec::new(),
        missing: Vec::new(),
        unix_sockets: closed_by,
        terminals: spec.terminals,
        no_new_privs: true,
        capabilities: privileges::give_up(namespaces).map_err(Refused::Privileges)?,
    };
    if abi == ABI::Unsupported {
        enforced.enforced = Level::None;
    } else {
        let rules = Rules {
            ruleset: kinds.ruleset()?,
            missing: &mut enforced.missing,
        };
        let read = AccessFs::from_read(abi);
        let write = to_write(abi) & kinds.files;
        let rules = rules.paths(&spec.read_only, read, &mut enforced.read_only)?;
        let rules = rules.paths(&paths, write, &mut enforced.read_write)?;
        let status = rules.ports(spec)?.restrict_self()?;
        enforced.no_new_privs = status.no_new_privs;
    }
    if support.seccomp {
        calls::refuse(refuse)?;
    }
    Ok(enforced)
}

/// What the filter of system calls denies. Memory in a namespace of its own is denied, too: that of others.
fn filtered(refuse: Refuse) -> impl Iterator<Item = String> {
    let always = [OTHER_LIMITS, KEYS, SHARED_MEMORY];
    let network = refuse.hidden_tcp.then_some(HIDDEN_TCP);
    always.into_iter().chain(network).map(str::to_owned)
}

/// Everything but making devices.
fn to_write(abi: ABI) -> BitFlags<AccessFs> {
    AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

/// The kinds of access that are denied unless a rule allows them.
struct Kinds {
    files: BitFlags<AccessFs>,
    network: BitFlags<AccessNet>,
    scope: BitFlags<Scope>,
}

impl Kinds {
    fn of(abi: ABI, spec: &Spec) -> Self {
        let connect = BitFlags::from(AccessNet::ConnectTcp) & AccessNet::from_all(abi);
        let all = Self {
            files: AccessFs::from_all(abi),
            network: match spec.network {
                Some(_) => connect,
                None => BitFlags::empty(),
            },
            scope: Scope::from_all(abi),
        };
        match spec.unix_sockets {
            UnixSockets::Deny => all,
            UnixSockets::Allow => all.without(&Self::of_sockets()),
        }
    }

    /// Connecting to the sockets of others.
    fn of_sockets() -> Self {
        Self {
            files: AccessFs::ResolveUnix.into(),
            network: BitFlags::empty(),
            scope: Scope::AbstractUnixSocket.into(),
        }
    }

    fn without(&self, other: &Self) -> Self {
        Self {
            files: self.files & !other.files,
            network: self.network & !other.network,
            scope: self.scope & !other.scope,
        }
    }

    fn names(&self) -> Vec<String> {
        let files = self.files.iter().map(|kind| format!("file:{kind:?}"));
        let network = self.network.iter().map(|kind| format!("network:{kind:?}"));
        let scope = self.scope.iter().map(|kind| format!("scope:{kind:?}"));
        files.chain(network).chain(scope).collect()
    }

    /// Hard requirements: the version was asked for, so a kernel that refuses a kind now is in error.
    fn ruleset(&self) -> Result<RulesetCreated, Refused> {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(self.files)?;
        if !self.network.is_empty() {
            ruleset = ruleset.handle_access(self.network)?;
        }
        if !self.scope.is_empty() {
            ruleset = ruleset.scope(self.scope)?;
        }
        Ok(ruleset.create()?)
    }
}

struct Rules<'a> {
    ruleset: RulesetCreated,
    missing: &'a mut Vec<PathBuf>,
}

impl Rules<'_> {
    fn paths(
        mut self,
        paths: &[PathBuf],
        access: BitFlags<AccessFs>,
        opened: &mut Vec<PathBuf>,
    ) -> Result<Self, Refused> {
        for path in paths {
            let Ok(handle) = PathFd::new(path) else {
                self.missing.push(path.clone());
                continue;
            };
            let rule = PathBeneath::new(handle, meaningful(path, access));
            self.ruleset = self.ruleset.add_rule(rule)?;
            opened.push(path.clone());
        }
        Ok(self)
    }

    fn ports(self, spec: &Spec) -> Result<RulesetCreated, Refused> {
        let mut ruleset = self.ruleset;
        for port in spec.network.iter().flatten() {
            ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
        Ok(ruleset)
    }
}

/// The kernel takes no rights about folders for what is not one.
fn meaningful(path: &Path, access: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(NEWEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(strict: bool, network: Option<Vec<u16>>) -> Spec {
        Spec {
            strict,
            network,
            ..Spec::default()
        }
    }

    #[test]
    fn a_kernel_that_is_too_old_is_refused_when_strict() {
        let cases = [
            (0, None, "file:Execute"),
            (2, None, "file:Truncate"),
            (3, Some(vec![443]), "network:ConnectTcp"),
        ];
        for (abi, network, expected) in cases {
            match confine_on(Support { abi, seccomp: true }, &spec(true, network)) {
                Err(Refused::Unsupported { abi: told, lacking }) => {
                    assert_eq!(told, abi);
                    assert!(lacking.contains(expected), "{lacking}");
                }
                other => panic!("version {abi}: {other:?}"),
            }
        }
    }

    #[test]
    fn sockets_that_cannot_be_closed_are_refused_when_strict() {
        let old = Support {
            abi: 8,
            seccomp: false,
        };
        match confine_on(old, &spec(true, None)) {
            Err(Refused::Unsupported { abi: 8, lacking }) => {
                assert_eq!(lacking, "file:ResolveUnix");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn sockets_are_closed_by_the_best_that_a_kernel_has() {
        let allowed = Spec {
            unix_sockets: UnixSockets::Allow,
            ..Spec::default()
        };
        for (abi, seccomp, spec, expected) in [
            (9, true, Spec::default(), ClosedBy::Landlock),
            (8, true, Spec::default(), ClosedBy::Seccomp),
            (8, false, Spec::default(), ClosedBy::Nothing),
            (9, true, allowed, ClosedBy::Nothing),
        ] {
            let support = Support { abi, seccomp };
            assert_eq!(support.closes_sockets(&spec), expected, "{support:?}");
        }
    }

    #[test]
    fn without_landlock_the_report_says_none() {
        // On a thread of its own: privileges that are given up do not come back.
        let confined = std::thread::spawn(|| {
            confine_on(
                Support {
                    abi: 0,
                    seccomp: false,
                },
                &spec(false, None),
            )
        });
        let enforced = confined.join().unwrap().unwrap();
        let told = serde_json::to_value(&enforced).unwrap();
        assert_eq!(told["enforced"], "none");
        assert_eq!(told["abi"], 0);
        assert_eq!(told["what"], serde_json::json!([]));
        assert_eq!(told["noNewPrivs"], true);
        assert!(enforced.lacking.contains(&"file:WriteFile".to_owned()));
    }

    /// On a thread of its own, which stays confined until it ends.
    #[test]
    fn an_old_kernel_confines_as_far_as_it_can() {
        let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [inside, outside] = dirs.each_ref().map(|dir| dir.path().join("file"));
        let spec = Spec {
            read_write: vec![dirs[0].path().to_owned()],
            read_only: vec!["/".into()],
            network: Some(vec![]),
            ..Spec::default()
        };
        let confined = std::thread::spawn(move || {
            let enforced = confine_on(
                Support {
                    abi: 1,
                    seccomp: true,
                },
                &spec,
            )
            .unwrap();
            let written = [inside, outside].map(|path| std::fs::write(path, "x").is_ok());
            (enforced, written)
        });
        let (enforced, written) = confined.join().unwrap();
        assert_eq!(written, [true, false]);
        assert_eq!(enforced.enforced, Level::Part);
        assert!(enforced.lacking.contains(&"network:ConnectTcp".to_owned()));
    }

    #[test]
    fn what_is_lacking_is_what_newer_kernels_deny() {
        let spec = spec(false, Some(vec![]));
        let lacking = |abi| {
            Kinds::of(NEWEST, &spec)
                .without(&Kinds::of(abi, &spec))
                .names()
        };
        assert_eq!(lacking(NEWEST), Vec::<String>::new());
        assert_eq!(lacking(ABI::V7), ["file:ResolveUnix"]);
        assert_eq!(
            lacking(ABI::V4),
            [
                "file:IoctlDev",
                "file:ResolveUnix",
                "scope:AbstractUnixSocket",
                "scope:Signal"
            ]
        );
    }
}
