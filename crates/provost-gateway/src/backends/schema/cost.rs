//! How much work it is to hold arguments against a schema, so that neither can keep the gateway busy. The
//! validator follows references without end and takes every branch; here that is counted first.

use regex::RegexBuilder;
use serde_json::{Map, Value};

use super::keywords::{LISTS, NAMED, ONE};

/// Steps that one check may take. A step is the look of one schema at one value.
const MOST_STEPS: u64 = 500_000;
/// A schema that takes more than this for every value is counted with the arguments at hand.
const HEAVY: u64 = 2_000;
/// Schemas inside each other, references included, at most: the validator recurses.
const DEEPEST: usize = 300;
/// Regular expressions in one schema, and how large one may become.
const MOST_PATTERNS: usize = 32;
const LARGEST_PATTERN: usize = 64 * 1024;

pub(super) struct Cost {
    /// The steps for one value at most, if that is not too much or without end.
    weight: Option<u64>,
    root: Value,
    patterns: usize,
}

impl Cost {
    /// The error says why the schema cannot be used.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let patterns = patterns(schema)?;
        let mut count = Count::new(schema, HEAVY);
        let bounded = count.all(schema, 0);
        if let Some(why) = count.unusable {
            return Err(why);
        }
        let cost = Self {
            weight: bounded.then_some(count.steps),
            root: schema.clone(),
            patterns,
        };
        // A schema that is too much even for no arguments at all refers to itself.
        cost.allows(&Value::Object(Map::new()))
            .map_err(|_| "it refers to itself without end, or is too large".to_owned())?;
        Ok(cost)
    }

    pub(super) fn patterns(&self) -> usize {
        self.patterns
    }

    /// Whether these arguments can be checked in reasonable time.
    pub(super) fn allows(&self, arguments: &Value) -> Result<(), String> {
        let cheap = self.weight.is_some_and(|weight| {
            let mut left = MOST_STEPS / weight.max(1);
            fits_in(arguments, &mut left)
        });
        if cheap || Count::new(&self.root, MOST_STEPS).apply(&self.root, arguments, 0) {
            return Ok(());
        }
        let why = "they are too large or too deep to be held against the schema of the tool";
        Err(why.to_owned())
    }
}

/// Whether a value has no more parts than that; a long text counts as several.
fn fits_in(value: &Value, left: &mut u64) -> bool {
    let own = match value {
        Value::String(text) => weight_of(text),
        _ => 1,
    };
    let Some(rest) = left.checked_sub(own) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits_in(item, left)),
        Value::Object(map) => map
            .iter()
            .all(|(name, value)| *left > weight_of(name) && fits_in(value, left)),
        _ => true,
    }
}

fn weight_of(text: &str) -> u64 {
    1 + text.len() as u64 / 256
}

struct Count<'s> {
    root: &'s Value,
    steps: u64,
    most: u64,
    unusable: Option<String>,
}

impl<'s> Count<'s> {
    fn new(root: &'s Value, most: u64) -> Self {
        Self {
            root,
            steps: 0,
            most,
            unusable: None,
        }
    }

    /// Counts a schema and all below it, as if one value were held against each of them. False: too much.
    fn all(&mut self, schema: &'s Value, depth: usize) -> bool {
        let Some(keywords) = schema.as_object() else {
            return self.step(1);
        };
        if depth > DEEPEST / 3 || !self.step(own_weight(keywords)) || !self.usable(keywords, depth)
        {
            return false;
        }
        let referenced = match keywords.get("$ref").map(|place| self.target(place)) {
            Some(None) => return false,
            referenced => referenced.flatten(),
        };
        let one = ONE.iter().filter_map(|name| keywords.get(*name));
        let lists = LISTS
            .iter()
            .filter_map(|name| keywords.get(*name)?.as_array());
        let named = NAMED
            .iter()
            .filter_map(|name| keywords.get(*name)?.as_object());
        referenced
            .into_iter()
            .chain(one)
            .chain(lists.flatten())
            .chain(named.flat_map(Map::values))
            .all(|inner| !inner.is_object() || self.all(inner, depth + 1))
    }

    /// Counts the looks at one value and what is in it. False: too much.
    fn apply(&mut self, schema: &'s Value, value: &Value, depth: usize) -> bool {
        let Some(keywords) = schema.as_object() else {
            return self.step(1);
        };
        let reads = keywords.contains_key("pattern") || keywords.contains_key("format");
        let text = value.as_str().filter(|_| reads).map_or(0, weight_of);
        if depth > DEEPEST || !self.step(own_weight(keywords) + text) {
            return false;
        }
        if let Some(reference) = keywords.get("$ref") {
            let Some(target) = self.target(reference) else {
                return false;
            };
            if !self.apply(target, value, depth + 1) {
                return false;
            }
        }
        let one = ["not", "if", "then", "else", "contentSchema"];
        let one = one.iter().filter_map(|name| keywords.get(*name));
        let lists = ["allOf", "anyOf", "oneOf"];
        let lists = lists
            .iter()
            .filter_map(|name| keywords.get(*name)?.as_array());
        let named = ["dependentSchemas", "dependencies"];
        let named = named
            .iter()
            .filter_map(|name| keywords.get(*name)?.as_object());
        one.chain(lists.flatten())
            .chain(named.flat_map(Map::values))
            .all(|inner| self.apply(inner, value, depth + 1))
            && match value {
                Value::Array(items) => self.apply_items(keywords, items, depth + 1),
                Value::Object(members) => self.apply_members(keywords, members, depth + 1),
                _ => true,
            }
    }

    fn apply_items(
        &mut self,
        keywords: &'s Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> bool {
        let each = ["items", "additionalItems", "unevaluatedItems", "contains"];
        let each: Vec<&Value> = each.iter().filter_map(|name| keywords.get(*name)).collect();
        let by_place = ["prefixItems", "items"];
        let by_place: Vec<&Vec<Value>> = by_place
            .iter()
            .filter_map(|name| keywords.get(*name)?.as_array())
            .collect();
        items.iter().enumerate().all(|(at, item)| {
            let placed = by_place.iter().filter_map(|schemas| schemas.get(at));
            let all = each.iter().copied().filter(|schema| !schema.is_array());
            all.chain(placed)
                .all(|schema| self.apply(schema, item, depth))
        })
    }

    fn apply_members(
        &mut self,
        keywords: &'s Map<String, Value>,
        members: &Map<String, Value>,
        depth: usize,
    ) -> bool {
        let named = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let others = ["additionalProperties", "unevaluatedProperties"];
        let others: Vec<&Value> = others
            .iter()
            .filter_map(|name| keywords.get(*name))
            .collect();
        members.iter().all(|(name, member)| {
            let own = named.and_then(|named| named.get(name));
            let others = others.iter().copied().filter(|_| own.is_none());
            let patterns = patterns.into_iter().flat_map(Map::values);
            self.step(weight_of(name))
                && own
                    .into_iter()
                    .chain(patterns)
                    .chain(others)
                    .all(|schema| self.apply(schema, member, depth))
        })
    }

    fn step(&mut self, steps: u64) -> bool {
        self.steps += steps;
        self.steps <= self.most
    }

    /// Notes what this count does not follow, and so what cannot be used.
    fn usable(&mut self, keywords: &Map<String, Value>, depth: usize) -> bool {
        let own_base = depth > 0 && (is_text(keywords, "$id") || is_text(keywords, "id"));
        let moves = ["$dynamicRef", "$recursiveRef"];
        let moves = moves.iter().find(|name| keywords.contains_key(**name));
        if let Some(keyword) = moves.copied().or(own_base.then_some("$id")) {
            self.unusable = Some(format!("`{keyword}` inside it is not supported"));
            return false;
        }
        true
    }

    fn target(&mut self, reference: &Value) -> Option<&'s Value> {
        let place = reference.as_str().and_then(|text| text.strip_prefix('#'));
        let target = place.and_then(|place| self.root.pointer(&decoded(place)));
        if target.is_none() {
            let shown: String = reference.to_string().chars().take(100).collect();
            self.unusable = Some(format!(
                "`$ref` {shown} leads nowhere inside it, and nothing else is looked up"
            ));
        }
        target
    }
}

fn is_text(keywords: &Map<String, Value>, name: &str) -> bool {
    keywords.get(name).is_some_and(Value::is_string)
}

fn decoded(place: &str) -> String {
    percent_encoding::percent_decode_str(place)
        .decode_utf8_lossy()
        .into_owned()
}

/// One look, and what of it grows with the schema itself.
fn own_weight(keywords: &Map<String, Value>) -> u64 {
    let lists = ["enum", "required"];
    let lists = lists
        .iter()
        .filter_map(|name| keywords.get(*name)?.as_array());
    1 + lists.map(|list| list.len() as u64 / 8).sum::<u64>()
}

/// How many regular expressions there are. They are built here once with a bound, which the validator has not.
fn patterns(schema: &Value) -> Result<usize, String> {
    let mut found = 0;
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(map) => {
                let named = map.get("patternProperties").and_then(Value::as_object);
                let own = map.get("pattern").and_then(Value::as_str);
                let named = named.into_iter().flat_map(Map::keys).map(String::as_str);
                for pattern in own.into_iter().chain(named) {
                    found += 1;
                    if found > MOST_PATTERNS {
                        return Err(format!("it has more than {MOST_PATTERNS} patterns"));
                    }
                    bounded(pattern)?;
                }
                rest.extend(map.values());
            }
            _ => {}
        }
    }
    Ok(found)
}

fn bounded(pattern: &str) -> Result<(), String> {
    // As JSON schema means them: of ASCII alone, and far smaller.
    let plain = pattern
        .replace("\\w", "[A-Za-z0-9_]")
        .replace("\\d", "[0-9]");
    let built = RegexBuilder::new(&plain)
        .size_limit(LARGEST_PATTERN)
        .build();
    built.map(|_| ()).map_err(|_| {
        let shown: String = pattern.chars().take(100).collect();
        format!("the pattern '{shown}' is too large, or one that is not supported")
    })
}
