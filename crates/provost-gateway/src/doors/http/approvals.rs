//! `/approvals`: supervisors and people look, and decide.

mod detail;
mod list;
mod resolve;
mod view;

pub(super) use detail::detail;
pub(super) use list::list;
pub(super) use resolve::{approve, claim, deny, escalate};
pub(super) use view::exposure;
