//! Whether arguments fit the JSON schema of a tool. A schema is compiled once, when the tool is registered.
//!
//! Schemas come from servers that are not trusted: they refer to nothing outside themselves, and both reading
//! one and holding arguments against it costs a bounded amount of work.

mod cost;
pub(super) mod keywords;
mod large;
mod misfit;

use std::{error::Error, fmt};

use boon::{Compiler, SchemaIndex, Schemas, UrlLoader};
use serde_json::Value;

use cost::Cost;
use large::Large;

const PLACE: &str = "tool:/schema.json";

/// A compiled schema.
pub struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
    cost: Cost,
    large: Large,
}

struct Nowhere;

impl UrlLoader for Nowhere {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("`{url}` is not looked up").into())
    }
}

impl Schema {
    /// `None`: the tool says nothing of its arguments. The error says why the schema cannot be read.
    pub fn compile(schema: &Value) -> Result<Option<Self>, String> {
        if schema.is_null() {
            return Ok(None);
        }
        let cost = Cost::of(schema)?;
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.use_loader(Box::new(Nowhere));
        compiler
            .add_resource(PLACE, schema.clone())
            .map_err(|why| one_line(&why))?;
        let index = compiler
            .compile(PLACE, &mut schemas)
            .map_err(|why| one_line(&why))?;
        Ok(Some(Self {
            schemas,
            index,
            cost,
            large: Large::of(schema),
        }))
    }

    /// What does not fit, with its place. The error never repeats a value: it may be a secret.
    pub fn check(&self, arguments: &Value) -> Result<(), String> {
        self.cost.allows(arguments)?;
        let checked = self.schemas.validate(arguments, self.index);
        checked.map_err(|error| misfit::told(&error))?;
        self.large.allows(arguments)
    }

    /// How many regular expressions it has: they take room.
    pub(super) fn patterns(&self) -> usize {
        self.cost.patterns()
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Schema")
    }
}

/// The causes of an error, shortened: it may repeat what a server wrote.
fn one_line(error: &dyn fmt::Display) -> String {
    let text = format!("{error}");
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(300).collect()
}

#[cfg(test)]
mod tests;
