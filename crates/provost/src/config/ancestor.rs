//! Keys that the ancestor has and we do not, and sections that a later version will have. What is configured
//! runs: so each of them is refused, or said to have no effect; never passed over.

use super::{fields::Map, reader::Reader};

/// Sections of the design that this build does not have.
pub(super) const LATER: [&str; 3] = ["models", "chain", "conversations"];

impl Reader<'_> {
    pub(super) fn read_ancestor(&mut self, top: &Map<'_>) {
        for (key, message, help) in [
            (
                "storage_path",
                "`storage_path` is not used: approvals and grants are kept in the database",
                "see `data` and `database`",
            ),
            (
                "trace_file",
                "`trace_file` is not written: traces are kept in the database",
                "read them with `provost traces export`",
            ),
            (
                "memory",
                "`memory` is not used: decisions are kept in the database",
                "make grants for what need not be asked again",
            ),
        ] {
            if let Some(field) = top.filled(key) {
                self.warn(
                    top.key_span(key).unwrap_or_else(|| field.span()),
                    message,
                    help,
                );
            }
        }
        if let Some(memory) = top.get("memory") {
            self.cover(memory.node);
        }
        if let Some(field) = top.get("tls") {
            let span = top.key_span("tls").unwrap_or_else(|| field.span());
            self.error(
                span,
                "`tls` is not supported",
                "end TLS in a reverse proxy in front, and remove `tls`",
            );
        }
    }

    pub(super) fn refuse_later(&mut self, top: &Map<'_>) {
        for key in LATER {
            if let (Some(field), Some(span)) = (top.get(key), top.key_span(key)) {
                self.cover(field.node);
                let help = "remove it: what is configured must run";
                self.error(
                    span,
                    format!("`{key}` is not supported by this version"),
                    help,
                );
            }
        }
    }
}
