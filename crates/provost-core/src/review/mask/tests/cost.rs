//! What a view costs grows with the arguments, and not with their square: one call must not keep a thread busy.

use serde_json::{Map, Value};

use crate::review::{hides_secret, mask_map, redact_map, summarize, work};

/// How a text goes on, by the number of the piece, and what stands before and after it.
type Shape = (
    &'static str,
    &'static str,
    fn(usize) -> String,
    &'static str,
);

const SHAPES: [Shape; 10] = [
    ("command", "", |i| format!("PASSWORD{i}=x1y2z{i};"), ""),
    ("command", "", |i| format!("PASSWORD=x1y2z{i} a;"), ""),
    (
        "command",
        "",
        |i| format!("PASSWORD{i}=x1y2z{i} run && {};", "a".repeat(90)),
        "",
    ),
    ("command", "run ", |i| format!("--password=x1y2z{i} "), ""),
    (
        "command",
        "run ",
        |i| format!("--password=x1y2z{i} {}", "b ".repeat(20)),
        "",
    ),
    (
        "command",
        "run '",
        |i| format!("--password=x1y2z{i} {}", "b ".repeat(40)),
        "'",
    ),
    (
        "command",
        "cat > x <<'E'\n",
        |i| format!("password{i}: \"x1y2z{i}\"\n{}\n", "c ".repeat(40)),
        "E\n",
    ),
    (
        "command",
        "",
        |i| format!("TOKEN{i}=xK9qL2mN8vB4zT7wJ{i};"),
        "",
    ),
    ("body", "", |i| format!("\"password\":\"x1y2z{i}\","), ""),
    ("body", "", |i| format!("PASSWORD{i}=x1y2z{i}\n"), ""),
];

fn arguments(shape: &Shape, length: usize) -> Map<String, Value> {
    let (name, before, piece, after) = shape;
    let mut text = String::from(*before);
    let mut number = 0;
    while text.len() < length {
        text.push_str(&piece(number));
        number += 1;
    }
    text.push_str(after);
    Map::from_iter([((*name).to_owned(), text.into())])
}

fn cost(params: &Map<String, Value>) -> usize {
    work::of(|| {
        hides_secret(params);
        mask_map(params);
        redact_map(params);
        let summary = summarize("claude.Bash", params, None);
        summary.map(|summary| summary.masked(params));
    })
}

#[test]
fn p10_twice_as_much_costs_twice_as_much() {
    for shape in &SHAPES {
        let short = cost(&arguments(shape, 2_500));
        let long = cost(&arguments(shape, 10_000));
        let piece = shape.2(0);
        assert!(short > 0, "{piece}");
        assert!(long < short * 5, "{piece}: {short} and {long}");
        assert!(long < 10_000 * 250, "{piece}: {long} in all");
    }
}
