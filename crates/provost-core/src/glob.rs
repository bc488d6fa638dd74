//! Globs over names of agents and tools, in the syntax the protocol's clients know (Go's `path.Match`:
//! `*` and `?` do not cross `/`, `[a-z]` and `[^a-z]` are classes, `\` escapes), and an index of many.
//!
//! Our own, because a glob library reads `**`, `{a,b}` and `[!a]` differently: the same file would
//! grant different things here and there.

mod index;
mod pattern;

pub use index::{GlobIndex, Matches};
pub use pattern::{Glob, GlobError};
