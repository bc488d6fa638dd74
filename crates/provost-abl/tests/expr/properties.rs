//! What must hold for every source and every value.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::string::string_regex;
use provost_abl::expr::{
    EvalError, Function, JsonScope, Program, Seen, Typing, Value, lints, parse, starts_with, within,
};
use serde_json::{Value as Json, json};

use crate::{noon, params};

/// Sources built by the grammar, small at the leaves, so that most of them parse.
fn source() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("always".to_owned()),
        any::<bool>().prop_map(|truth| truth.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        (0.0..1e30_f64).prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| quoted(&text)),
        "(params|tool|x)(\\.(amount|name|tags|length|in|rows)|\\[[0-9]\\]|\\[\"a b\"\\]){0,3}",
    ];
    leaf.prop_recursive(5, 60, 4, |inner| {
        let arithmetic = prop_oneof![Just("+"), Just("-"), Just("*"), Just("/")];
        let compare = prop::sample::select(vec![
            "==",
            "!=",
            "<",
            "<=",
            ">",
            ">=",
            "IN",
            "NOT IN",
            "contains",
            "not contains",
            "matches",
            "starts_with",
            "ENDS_WITH",
            "WITHIN",
            "NOT WITHIN",
        ]);
        let prefix = prop::sample::select(vec!["NOT ", "! ", "-", "EMPTY ", "EXISTS "]);
        let postfix =
            prop::sample::select(vec![" IS SET", " is not set", ".length", "[0]", "[\"k\"]"]);
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            (pair.clone(), arithmetic).prop_map(|((a, b), op)| format!("({a}) {op} ({b})")),
            (pair.clone(), compare).prop_map(|((a, b), op)| format!("({a}) {op} ({b})")),
            (prefix, inner.clone()).prop_map(|(op, a)| format!("{op}({a})")),
            (inner.clone(), postfix).prop_map(|(a, op)| format!("({a}){op}")),
            (pair.clone(), inner.clone()).prop_map(|((a, b), c)| format!("{a} AND ({b} || {c})")),
            (
                pair.clone(),
                prop::sample::select(vec!["ALL", "any", "NONE"])
            )
                .prop_map(|((a, b), word)| format!("{word} m IN ({a}) SATISFY (({b}) == m)")),
            pair.prop_map(|(a, b)| format!("{a} + {b}")),
            (inner.clone(), "[a-z/.*]{0,5}")
                .prop_map(|(a, p)| format!("({a}) matches {}", quoted(&p))),
            inner
                .clone()
                .prop_map(|a| format!("({a}) matches /^a\\/[/]+/i")),
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|xs| format!("[{}]", xs.join(", "))),
            (
                prop::sample::select(Function::ALL),
                prop::collection::vec(inner, 3)
            )
                .prop_map(|(function, args)| call(function, &args)),
        ]
    })
}

fn call(function: Function, args: &[String]) -> String {
    let count = (0..=3)
        .rev()
        .find(|count| function.accepts(*count))
        .unwrap_or(0);
    let args: Vec<&str> = args.iter().take(count).map(String::as_str).collect();
    format!("{}({})", function.name(), args.join(", "))
}

fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// Characters that mean something, in any order.
fn noise() -> impl Strategy<Value = String> {
    string_regex(
        "([a-c]|[0-9]|[ .,()\\[\\]'\"/\\\\=!<>&|+*-]| (AND|NOT|IN|IS|SET|matches|LOWER\\() ){0,40}",
    )
    .unwrap()
}

/// Every way in which systems differ, often enough to meet each other.
fn path() -> impl Strategy<Value = String> {
    "(/|//|\\\\|\\\\\\\\|[cC]:[/\\\\]|[cC]:|~|~a/|)((a|a|ab|b|a\\\\b|a\\. |\\.|\\.\\.|)(/|/|\\\\|//)){0,6}(a|b|\\.\\.|b |)"
}

/// What a path comes to: what it hangs from, and its parts. `None` if it leaves its start.
type Normal = Option<(String, Vec<String>)>;

/// A second, slower opinion, as POSIX has it.
fn posix(path: &str) -> Normal {
    if let Some(rest) = path.strip_prefix('/') {
        let names = rest.split('/');
        return Some(("/".to_owned(), climb(names, false, 0)?));
    }
    let mut names = path.split('/');
    let anchor = if path.starts_with('~') {
        names.next().unwrap_or_default()
    } else {
        ""
    };
    Some((anchor.to_owned(), climb(names, true, 0)?))
}

/// And as Windows does, which cleans up names.
fn windows(path: &str) -> Normal {
    let path = path.replace('\\', "/");
    let tidy = |rest: &str, relative, floor| {
        let names = rest.split('/').map(|name| match name {
            "." | ".." => name,
            _ => name.trim_end_matches(['.', ' ']),
        });
        climb(names, relative, floor)
    };
    let bytes = path.as_bytes();
    if bytes.get(1) == Some(&b':') {
        let drive = path[..2].to_lowercase();
        let rooted = bytes.get(2) == Some(&b'/');
        let anchor = format!("{drive}{}", if rooted { "/" } else { "" });
        Some((anchor, tidy(&path[2..], !rooted, 0)?))
    } else if let Some(device) = path.strip_prefix("//./") {
        Some(("//./".to_owned(), tidy(device, false, 0)?))
    } else if path.starts_with("//") {
        Some(("//".to_owned(), tidy(&path, false, 2)?))
    } else if path.starts_with('/') {
        Some(("/".to_owned(), tidy(&path, false, 0)?))
    } else if path.starts_with('~') {
        let (home, rest) = path.split_once('/').unwrap_or((&path, ""));
        Some((home.to_owned(), tidy(rest, true, 0)?))
    } else {
        Some((String::new(), tidy(&path, true, 0)?))
    }
}

fn climb<'n>(
    names: impl Iterator<Item = &'n str>,
    relative: bool,
    floor: usize,
) -> Option<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    for name in names {
        match name {
            ".." if parts.len() > floor => drop(parts.pop()),
            ".." if relative => return None,
            "" | "." | ".." => {}
            name => parts.push(name.to_owned()),
        }
    }
    Some(parts)
}

fn inside(system: fn(&str) -> Normal, path: &str, folder: &str) -> bool {
    match (system(path), system(folder)) {
        (Some((anchor, parts)), Some((other, above))) => {
            anchor == other && parts.starts_with(&above)
        }
        _ => false,
    }
}

/// A folder that exists on Windows only, for which POSIX has no say.
fn is_of_windows(folder: &str) -> bool {
    folder.starts_with("\\\\") || matches!(folder.as_bytes(), [_, b':', b'/' | b'\\', ..])
}

/// A value of any kind, some of them containing what a rule looks for.
fn anything() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|truth| json!(truth)),
        any::<i32>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        "[0-9]{0,4}|[0-9],[0-9]|/etc/a|rm -rf|\\PC{0,6}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| json!(items)),
            inner.prop_map(|value| json!({"x": value})),
        ]
    })
}

static ROOTS: LazyLock<Json> = LazyLock::new(|| {
    let mut roots = params();
    if let Some(map) = roots.as_object_mut() {
        map.insert("x".into(), json!("/a/../b"));
    }
    roots
});

proptest! {
    #[test]
    fn parsing_never_panics(source in any::<String>()) {
        let parsed = parse(&source);
        prop_assert!(parsed.expr.is_some() || !parsed.errors.is_empty());
    }

    #[test]
    fn errors_lie_within_the_source(source in noise()) {
        let parsed = parse(&source);
        for error in &parsed.errors {
            prop_assert!(source.get(error.span.start..error.span.end).is_some(), "{error:?}");
        }
        if let Some(expr) = parsed.expr {
            expr.walk(&mut |node| {
                assert!(source.get(node.span.start..node.span.end).is_some(), "{node:?}");
            });
        }
    }

    #[test]
    fn display_reads_back_as_the_same_tree(source in source()) {
        if let Ok(program) = Program::compile(&source) {
            let text = program.expr().to_string();
            let again = Program::compile(&text);
            prop_assert!(again.is_ok_and(|again| again.expr() == program.expr()), "{text}");
        }
    }

    #[test]
    fn evaluation_never_panics_and_agrees_with_itself(source in source()) {
        let scope = JsonScope::new(&ROOTS, noon());
        match Program::compile(&source) {
            Ok(program) => {
                for program in [program.clone(), program.strict()] {
                    let value = program.eval(&scope);
                    let truth = program.test(&scope);
                    match value {
                        Ok(Value::Bool(_) | Value::Null) | Err(_) => {
                            prop_assert_eq!(value.map(|value| value.is_truthy()), truth.clone());
                        }
                        Ok(value) if program.typing() == Typing::Lenient => {
                            prop_assert_eq!(Ok(value.is_truthy()), truth.clone());
                        }
                        Ok(_) => prop_assert!(truth.is_err()),
                    }
                    let explanation = program.explain(&scope);
                    prop_assert_eq!(&truth, &explanation.outcome);
                    let failed = matches!(explanation.reason.seen, Seen::Error(_));
                    prop_assert_eq!(truth.is_err(), failed, "{}", explanation);
                    lints(program.expr());
                }
            }
            Err(errors) => {
                // What a random mix of these may rightly be refused for; anything else is a
                // source of the grammar that does not parse.
                let known = ["pattern", "do not chain", "binds tighter", "two ways", "already names"];
                let rightly = |message: &str| known.iter().any(|part| message.contains(part));
                prop_assert!(errors.iter().all(|error| rightly(&error.message)), "{errors:?}");
            }
        }
    }

    #[test]
    fn noise_that_compiles_evaluates(source in noise()) {
        if let Ok(program) = Program::compile(&source) {
            let scope = JsonScope::new(&ROOTS, noon());
            let _ = program.eval(&scope);
            let _ = program.explain(&scope).to_string();
        }
    }

    #[test]
    fn within_is_what_both_systems_say_or_an_error(path in path(), folder in path()) {
        if path.is_empty() || folder.is_empty() {
            return Ok(());
        }
        let (posix, windows) = (inside(posix, &path, &folder), inside(windows, &path, &folder));
        match within(&path, &folder) {
            Ok(true) => {
                prop_assert!(windows);
                let climbs = format!("{path}/{folder}").split('/').any(|name| name == "..");
                prop_assert!(posix || (is_of_windows(&folder) && !climbs));
            }
            Ok(false) => prop_assert!(!posix && !windows),
            Err(_) => {}
        }
    }

    #[test]
    fn an_ordinary_path_always_has_an_answer(
        path in "/?((a|ab|b|\\.|\\.\\.)//?){0,6}(a|b)",
        folder in "/?((a|ab|b|\\.|\\.\\.)//?){0,3}(a|b)",
    ) {
        prop_assert_eq!(within(&path, &folder), Ok(inside(posix, &path, &folder)));
        prop_assert!(starts_with(&path, &folder).is_ok());
    }

    #[test]
    fn what_is_appended_below_stays_within(folder in "(/[a-z]{1,3}){1,4}", below in "(/[a-z]{1,3}){0,4}") {
        let path = format!("{folder}{below}");
        prop_assert_eq!(within(&path, &folder), Ok(true), "{}", path);
        prop_assert_eq!(starts_with(&path, &folder), Ok(true));
        let escaped = format!("{folder}/..{below}x");
        prop_assert_eq!(within(&escaped, &folder), Ok(inside(posix, &escaped, &folder)));
    }

    #[test]
    fn a_strict_program_has_no_answer_about_a_value_of_the_wrong_type(value in anything()) {
        let roots = json!({"x": value});
        let scope = JsonScope::new(&roots, noon());
        let strict = |source: &str| Program::compile(source).unwrap().strict().test(&scope);
        let refused = |source: &str| matches!(strict(source), Err(EvalError::WrongType { .. }));
        for text in ["x matches /rm/", "x WITHIN '/etc'", "x STARTS_WITH '/etc'", "x ENDS_WITH 'f'"] {
            let wrong = !value.is_string() && !value.is_null();
            prop_assert_eq!(refused(text), wrong, "{}", text);
            prop_assert_eq!(refused(&format!("NOT ({text})")), wrong, "{}", text);
        }
        let scalar = value.is_string() || value.is_number() || value.is_null();
        for order in ["<", "<=", ">", ">="] {
            for source in [format!("x {order} 100"), format!("100 {order} x")] {
                prop_assert!(refused(&source) || scalar, "{}", source);
                prop_assert!(!refused(&source) || !(value.is_number() || value.is_null()));
                prop_assert!(!value.is_null() || strict(&source) == Ok(false), "{}", source);
            }
        }
        // A number is on exactly one side of a limit; nothing else that has an answer is on both.
        if let (Ok(below), Ok(above)) = (strict("x < 100"), strict("x >= 100")) {
            prop_assert_eq!(below != above, !value.is_null());
        }
    }
}
