//! All that the core asks of the outside: a store, backends, a clock.

mod backend;
mod clock;
mod rows;
mod store;

pub use backend::{Backend, ForwardError, Forwarded, ToolInfo};
pub use clock::{Clock, ManualClock, SystemClock};
pub use rows::*;
pub use store::*;
