//! What upstream tools said of themselves when they were first seen, or accepted: a tool that changes its
//! meaning afterwards must be accepted by a person.

use serde_json::json;

use super::{Gate, GateError, control::note};
use crate::{
    call::Digest,
    ports::{Pinned, ToolPin},
};

impl Gate {
    pub async fn tool_pins(&self, server: &str) -> Result<Vec<ToolPin>, GateError> {
        Ok(self.store.tool_pins(server).await?)
    }

    /// Remembers tools that were never seen before. Those another replica has remembered stay as they are.
    pub async fn remember_tools(&self, server: &str, pins: Vec<ToolPin>) -> Result<(), GateError> {
        let tools: Vec<_> = pins
            .iter()
            .map(|pin| json!({"tool": pin.tool, "digest": pin.digest}))
            .collect();
        let detail = json!({"server": server, "tools": tools});
        let note = note("tools first seen", "gateway", detail, self.now());
        self.store.pin_tools(pins, note).await?;
        Ok(())
    }

    /// A person accepts what a tool says of itself now, instead of what was pinned.
    pub async fn trust_tool(
        &self,
        pin: ToolPin,
        instead_of: Digest,
        by: &str,
    ) -> Result<Pinned, GateError> {
        let detail = json!({
            "server": pin.server,
            "tool": pin.tool,
            "digest": pin.digest,
            "instead_of": instead_of,
        });
        let note = note("tool trusted", by, detail, self.now());
        Ok(self.store.trust_tool(pin, instead_of, note).await?)
    }
}
