//! The thirteen defects of the protocol's ancestor, each by its number, as they would show from outside.
//! Some are also proved closer to the code; here each is proved to the user.

mod approvals;
mod policy;
mod queue;
mod review;
