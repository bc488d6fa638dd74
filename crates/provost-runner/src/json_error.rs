//! Why a JSON value does not fit, in words for people: `serde` names the types of Rust (`expected u64`).

pub fn told(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if !error.is_data() {
        return text;
    }
    match text.rsplit_once(" at line ") {
        Some((what, place)) if is_place(place) => format!("{} at line {place}", in_words(what)),
        _ => in_words(&text),
    }
}

fn is_place(text: &str) -> bool {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = text.split_once(" column ");
    parts.is_some_and(|(line, column)| number(line) && number(column))
}

fn in_words(what: &str) -> String {
    if what.starts_with("data did not match any variant") {
        return "it has none of the known forms".to_owned();
    }
    let misfit = ["invalid type: ", "invalid value: ", "invalid "]
        .iter()
        .find_map(|prefix| what.strip_prefix(prefix));
    match misfit.and_then(|misfit| misfit.rsplit_once(", expected ")) {
        Some((found, expected)) => format!("expected {}, got {}", wanted(expected), got(found)),
        None => what.replacen("unknown variant", "unknown value", 1),
    }
}

fn wanted(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number of 0 or more",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "variant identifier" | "field identifier" => "text",
        "a sequence" => "a list",
        "a map" => "an object",
        "unit" => "null",
        _ if expected.starts_with("a nonzero ") => "a whole number above 0",
        _ if expected.starts_with("struct ") || expected.contains(" tagged enum") => "an object",
        _ if expected.starts_with("enum ") => "one of the known values",
        _ if expected.starts_with("tuple ") || expected.starts_with("a tuple ") => "a list",
        // Our own words.
        _ => expected,
    }
}

fn got(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    match kind {
        "integer" => format!("the number {value}"),
        "floating" => format!("the number {}", value.trim_start_matches("point ")),
        "string" => format!("the text {value}"),
        "boolean" => value.to_owned(),
        "length" => format!("a length of {value}"),
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        "unit" => "null".to_owned(),
        _ => found.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Wanted {
        seconds: Option<u64>,
        ratio: Option<f64>,
        name: Option<String>,
        yes: Option<bool>,
        list: Option<Vec<i32>>,
        inner: Option<Box<Wanted>>,
        word: Option<Word>,
        either: Option<Either>,
        some: Option<std::num::NonZeroU32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        Once,
        Always,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only read")]
    enum Either {
        Number(u64),
        List(Vec<u64>),
    }

    #[test]
    fn p18_what_does_not_fit_is_told_without_types_of_rust() {
        for (json, expected) in [
            (
                r#"{"seconds": 180.0}"#,
                "expected a whole number of 0 or more, got the number `180.0`",
            ),
            (
                r#"{"seconds": -1}"#,
                "expected a whole number of 0 or more, got the number `-1`",
            ),
            (
                r#"{"ratio": "x"}"#,
                r#"expected a number, got the text "x""#,
            ),
            (r#"{"name": 5}"#, "expected text, got the number `5`"),
            (
                r#"{"yes": null, "name": true}"#,
                "expected text, got `true`",
            ),
            (r#"{"yes": []}"#, "expected true or false, got a list"),
            (r#"{"list": {}}"#, "expected a list, got an object"),
            (
                r#"{"list": [1.5]}"#,
                "expected a whole number, got the number `1.5`",
            ),
            (
                r#"{"inner": "x"}"#,
                r#"expected an object, got the text "x""#,
            ),
            (
                r#"{"word": "never"}"#,
                "unknown value `never`, expected `once` or `always`",
            ),
            (r#"{"either": "x"}"#, "it has none of the known forms"),
            (
                r#"{"some": 0}"#,
                "expected a whole number above 0, got the number `0`",
            ),
            (
                r#"{"seconds": "9 at line 1, expected x"}"#,
                "expected a whole number of 0 or more, got the text",
            ),
            (r#"{"secs": 1}"#, "unknown field `secs`, expected one of"),
        ] {
            let of_text = serde_json::from_str::<Wanted>(json).unwrap_err();
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            let of_value = serde_json::from_value::<Wanted>(value).unwrap_err();
            for error in [of_text, of_value] {
                let told = told(&error);
                assert!(told.starts_with(expected), "{told}");
            }
        }
        let broken = serde_json::from_str::<Wanted>("{").unwrap_err();
        assert_eq!(told(&broken), broken.to_string());
    }
}
