//! What an expression may not do: nest without end, grow without end, take the machine with it.

use provost_abl::expr::{EvalError, JsonScope, Limits, MAX_DEPTH, MAX_SOURCE, Program, parse};
use serde_json::json;

use crate::{compile, noon, try_eval};

fn message(source: &str) -> String {
    let errors = parse(source).errors;
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.first().unwrap().message.clone()
}

#[test]
fn nesting_ends_at_the_limit() {
    for (open, close) in [
        ("(", ")"),
        ("ABS(", ")"),
        ("[", "]"),
        ("NOT ", ""),
        ("-", ""),
    ] {
        let nested = |depth| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(Program::compile(&nested(MAX_DEPTH)).is_ok(), "{open}");
        assert_eq!(
            message(&nested(MAX_DEPTH + 1)),
            "nested deeper than 32 levels"
        );
        assert!(parse(&nested(10_000)).expr.is_none());
    }
}

#[test]
fn long_sources_are_refused_unread() {
    assert_eq!(
        message(&"(".repeat(1 << 20)),
        "the expression is longer than 65536 bytes"
    );
}

#[test]
fn long_chains_are_flat() {
    let roots = json!({"a": 1});
    for link in ["a+", "a*", "a AND ", "a OR ", "a == a AND ", "a.b.c["] {
        let mut source = link.repeat(MAX_SOURCE / link.len() - 4);
        source.push('a');
        let _ = parse(&source);
        if let Ok(program) = Program::compile(&source) {
            program.test(&JsonScope::new(&roots, noon())).unwrap();
            let _ = program.expr().to_string();
        }
    }
    for link in [
        "a<",
        "a IS SET ",
        "a=",
        "a.",
        "a,",
        "' ",
        "= ",
        "a ",
        ")",
        "%",
    ] {
        let parsed = parse(&link.repeat(MAX_SOURCE / link.len()));
        assert!((1..=20).contains(&parsed.errors.len()), "{link}");
    }
}

#[test]
fn output_is_capped_before_it_is_made() {
    let long = "x".repeat(60_000);
    let roots = json!({"long": long, "list": vec!["abc"; 40_000], "wide": vec![0; 200_000]});
    for source in [
        "REPEAT('x', 100001)",
        "REPEAT('x', 1e18)",
        "REPEAT('xyz', 18446744073709551615)",
        "PAD_START('x', 1e12)",
        "PAD_END('x', 18446744073709551615, 'ab')",
        "JOIN(list, ',')",
        "long + long",
        "'' + wide",
        "TO_STRING(wide)",
        "REPLACE(long, 'x', 'yyy')",
        "SPLIT(long + '', '').length + SPLIT(REPEAT('ab', 50000) + 'c', '').length",
        "MASK(TO_STRING(wide))",
        "UPPER(REPEAT('ß', 60000))",
    ] {
        let error = try_eval(source, &roots).unwrap_err();
        assert!(
            matches!(error, EvalError::TooLong { limit: 100_000, .. }),
            "{source}"
        );
    }
    for source in ["REPEAT('ß', 100000)", "long + ''", "UPPER(long)"] {
        assert!(try_eval(source, &roots).is_ok(), "{source}");
    }
}

#[test]
fn many_results_are_capped_together() {
    let each = "REPEAT('x', 90000)";
    let source = format!("[{}]", vec![each; 100].join(","));
    assert!(try_eval(&source, &json!({})).is_err());
}

#[test]
fn long_input_is_no_output() {
    let roots = json!({"body": "y".repeat(1_000_000) + "needle"});
    for source in [
        "body contains 'needle'",
        "body matches /needle$/",
        "TRIM(body) ENDS_WITH 'needle'",
        "SUBSTRING(body, 999999) == 'yneedle'",
        "body.length == 1000006",
    ] {
        assert_eq!(try_eval(source, &roots), Ok(json!(true)), "{source}");
    }
}

#[test]
fn limits_are_the_hosts() {
    let roots = json!({});
    let scope = JsonScope::new(&roots, noon());
    let program = compile("REPEAT('x', 11) == ''").with_limits(Limits {
        output_chars: 10,
        ..Limits::default()
    });
    let error = program.test(&scope).unwrap_err();
    assert_eq!(error.to_string(), "the result is longer than 10 characters");
    assert_eq!(error.span().text(program.source()), "REPEAT('x', 11)");
}

#[test]
fn patterns_are_counted() {
    let source = |count| vec!["a matches /x/"; count].join(" OR ");
    assert!(Program::compile(&source(64)).is_ok());
    assert_eq!(
        message(&source(65)),
        "more than 64 patterns in one expression"
    );
}

#[test]
fn patterns_known_only_at_run_time_fail_without_harm() {
    let roots = json!({"p": "(", "big": "(\\w{500}){500}"});
    for source in ["'x' matches p", "'x' matches big"] {
        let error = try_eval(source, &roots).unwrap_err();
        assert!(matches!(error, EvalError::Pattern { .. }), "{source}");
    }
}
