//! The expression language of ABL conditions, policies and templates.
//!
//! `lexer` → `parser` → `ast` → `eval`: parsing never fails outright, it returns a tree and all
//! the errors it saw; evaluation is pure, with clock and ids as parameters of the [`Scope`].
//! Nothing here touches the file system, the network or a global.
//!
//! ```
//! use provost_abl::expr::{JsonScope, Program};
//!
//! let program = Program::compile("params.path WITHIN '/srv' AND params.size < 100").unwrap();
//! let roots = serde_json::json!({"params": {"path": "/srv/../etc/passwd", "size": 5}});
//! let scope = JsonScope::new(&roots, "2026-03-01T12:00:00Z".parse().unwrap());
//! assert_eq!(program.test(&scope), Ok(false));
//! println!("{}", program.explain(&scope));
//! ```

mod ast;
mod display;
mod error;
mod eval;
mod explain;
mod functions;
mod lexer;
mod lint;
mod parser;
mod path;
mod pattern;
mod program;
mod scope;
mod suggest;
mod value;

pub use ast::{ArithmeticOp, CompareOp, Expr, ExprKind, Quantifier, Step};
pub use error::{EvalError, ExprError, Span};
pub use explain::{Explanation, Reason, Seen};
pub use functions::Function;
pub use lint::{Lint, Type, Types, lints, lints_beside, never_holds, strict_lints};
pub use parser::{MAX_DEPTH, MAX_SOURCE, Parsed, parse};
pub use path::{Ambiguous, starts_with, within};
pub use pattern::Pattern;
pub use program::{Limits, Program, Typing};
pub use scope::{JsonScope, Scope, Standing};
pub use suggest::nearest;
pub use value::{Known, KnownList, List, Number, Object, Value, same, twin};
