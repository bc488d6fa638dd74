//! All that the core asks of the outside: a store, backends, channels, a clock.

mod backend;
mod channel;
mod clock;
mod leases;
mod rows;
mod sign_ins;
mod store;

pub use backend::{Backend, ForwardError, Forwarded, ToolInfo};
pub use channel::{Channel, Undelivered};
pub use clock::{Clock, ManualClock, SystemClock};
pub use leases::Leases;
pub use rows::*;
pub use sign_ins::SignIns;
pub use store::*;
