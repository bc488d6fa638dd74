//! `/approvals`: supervisors and people look, and decide.

mod detail;
mod list;
mod resolve;
mod view;

pub(super) use detail::{detail, remember, whole};
pub(super) use list::{list, queue};
pub(super) use resolve::{ResolveBody, approve, claim, deny, escalate, hand_up, resolve};
pub(super) use view::exposure;
