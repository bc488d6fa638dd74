//! Giving up what would let root step around the sandbox. Landlock hides nothing in `/proc` from whoever may
//! trace the machine, and does not stop a kernel module.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::terminals::{Made, Namespaces};

/// What root still needs in order to work on files that are not its own.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Gives up, for this thread and all that it starts, every way to gain privileges and most of those it has.
/// Tells which are left; for anyone but root, these are none.
pub(super) fn give_up(namespaces: Option<Namespaces>) -> std::io::Result<Vec<String>> {
    // First: without it, the next program that root runs would get all of them back.
    rustix::thread::set_no_new_privs(true)?;
    let held = capabilities(None)?;
    // Those of a namespace of its own were for making it.
    let kept = match namespaces.map(|namespaces| namespaces.made) {
        Some(Made::InUserNamespace) => CapabilitySet::empty(),
        Some(Made::AsRoot) | None => KEPT,
    };
    let left = CapabilitySets {
        effective: held.effective & kept,
        permitted: held.permitted & kept,
        inheritable: held.inheritable & kept,
    };
    if left != held {
        set_capabilities(None, left)?;
    }
    let names = left.permitted.iter_names();
    Ok(names.map(|(name, _)| name.to_owned()).collect())
}
