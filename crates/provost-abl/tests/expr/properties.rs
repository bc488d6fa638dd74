//! What must hold for every source and every value.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::string::string_regex;
use provost_abl::expr::{Function, JsonScope, Program, lints, parse, starts_with, within};
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

fn path() -> impl Strategy<Value = String> {
    "(/|\\\\|[cC]:\\\\|~|)((a|ab|b|\\.|\\.\\.|)(/|\\\\|//)){0,6}(a|b|)"
}

/// A second, slower opinion on what a path comes to: `None` if it leaves its start.
fn normal(path: &str) -> Option<(String, Vec<String>)> {
    let path = path.replace('\\', "/");
    let (anchor, rest) = match path.split_once(":/") {
        Some((drive, rest)) => (drive.to_lowercase(), rest.to_owned()),
        None if path.starts_with('/') => ("/".to_owned(), path),
        None => (String::new(), path),
    };
    let mut parts: Vec<String> = Vec::new();
    for part in rest.split('/') {
        match part {
            ".." if parts.pop().is_none() && anchor.is_empty() => return None,
            "" | "." | ".." => {}
            part => parts.push(part.to_owned()),
        }
    }
    Some((anchor, parts))
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
                let value = program.eval(&scope);
                let truth = value.map(|value| value.is_truthy());
                prop_assert_eq!(&truth, &program.test(&scope));
                prop_assert_eq!(&truth, &program.explain(&scope).outcome);
                lints(program.expr());
            }
            Err(errors) => {
                // What a random mix of these may rightly be refused for; anything else is a
                // source of the grammar that does not parse.
                let known = ["pattern", "do not chain", "binds tighter"];
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
    fn nothing_outside_is_within(path in path(), folder in path()) {
        if within(&path, &folder) {
            let (path, folder) = (normal(&path), normal(&folder));
            prop_assert!(path.is_some() && folder.is_some());
            let ((anchor, parts), (other, above)) = (path.unwrap(), folder.unwrap());
            prop_assert_eq!(anchor, other);
            prop_assert!(parts.starts_with(&above));
        }
    }

    #[test]
    fn what_is_appended_below_stays_within(folder in "(/[a-z]{1,3}){1,4}", below in "(/[a-z]{1,3}){0,4}") {
        let path = format!("{folder}{below}");
        prop_assert!(within(&path, &folder), "{}", path);
        prop_assert!(starts_with(&path, &folder));
        let escaped = format!("{folder}/..{below}x");
        prop_assert_eq!(within(&escaped, &folder), normal(&escaped).unwrap().1.starts_with(&normal(&folder).unwrap().1));
    }
}
