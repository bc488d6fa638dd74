//! All that the core asks of the outside: a store, backends, channels, a clock.

mod backend;
mod channel;
mod clock;
mod rows;
mod store;

pub use backend::{Backend, ForwardError, Forwarded, ToolInfo};
pub use channel::{Channel, Undelivered};
pub use clock::{Clock, ManualClock, SystemClock};
pub use rows::*;
pub use store::*;
