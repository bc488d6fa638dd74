//! The agent's side of ACP, as lines: what it writes is kept as it was written.
//!
//! The typed crate of the protocol drops fields it does not know and rewrites numbers. What is reported must
//! be what the agent wrote, so messages are only taken apart as far as they must be understood.

mod lines;
mod message;
pub(crate) mod raw;
mod update;

pub use lines::{Line, Lines, TooLong};
pub use message::{Message, RpcError};
pub(crate) use message::{notification, request, response};
pub use update::{
    Chunk, SessionUpdate, Status, Tokens, ToolUpdate, Update, Usage, call_id, is_act, option,
};

/// The one version that is spoken. In the drafts of the next one, a prompt's answer means something else.
pub const PROTOCOL: u64 = 1;
