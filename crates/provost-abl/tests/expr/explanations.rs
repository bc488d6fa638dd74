//! Explanations: only what decided, with the values it saw.

use provost_abl::expr::{JsonScope, Seen};
use serde_json::{Value as Json, json};

use crate::{compile, noon, params};

fn explain(source: &str, roots: &Json) -> String {
    let scope = JsonScope::new(roots, noon());
    compile(source).explain(&scope).to_string()
}

#[test]
fn the_first_false_operand_decides_an_and() {
    insta::assert_snapshot!(
        explain("params.name == 'Ada' AND params.amount < 100 AND tool.name == 'x'", &params()),
        @"
    `params.name == 'Ada' AND params.amount < 100 AND tool.name == 'x'` was false because
      `params.amount < 100` was false because
        `params.amount` is 250
    "
    );
}

#[test]
fn all_operands_decide_a_true_and() {
    insta::assert_snapshot!(
        explain("params.name == 'Ada' AND NOT (params.amount < 100 OR params.unknown IS SET)", &params()),
        @r#"
    `params.name == 'Ada' AND NOT (params.amount < 100 OR params.unknown IS SET)` was true because
      `params.name == 'Ada'` was true because
        `params.name` is "Ada"
      `NOT (params.amount < 100 OR params.unknown IS SET)` was true because
        `params.amount < 100 OR params.unknown IS SET` was false because
          `params.amount < 100` was false because
            `params.amount` is 250
          `params.unknown IS SET` was false because
            `params.unknown` is not set
    "#
    );
}

#[test]
fn computations_show_what_they_worked_on() {
    insta::assert_snapshot!(
        explain("LOWER(params.name) + '!' == 'bob!' OR params.amount * 2 > params.limit", &params()),
        @"
    `LOWER(params.name) + '!' == 'bob!' OR params.amount * 2 > params.limit` was true because
      `params.amount * 2 > params.limit` was true because
        `params.amount * 2` is 500 because
          `params.amount` is 250
        `params.limit` is not set
    "
    );
}

#[test]
fn long_values_are_cut() {
    let roots = json!({"params": {"body": "x".repeat(500), "list": vec!["item"; 100]}});
    insta::assert_snapshot!(explain("params.body contains 'y' OR EMPTY params.list", &roots), @r#"
    `params.body contains 'y' OR EMPTY params.list` was false because
      `params.body contains 'y'` was false because
        `params.body` is "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      `EMPTY params.list` was false because
        `params.list` is ["item","item","item","item","item","item","item","item","item","item","item","…
    "#);
    let scope = JsonScope::new(&roots, noon());
    let program = compile("params.body == params.list");
    for reason in program.explain(&scope).reason.because {
        let Seen::Value(value) = reason.seen else {
            panic!("{:?}", reason.seen)
        };
        assert_eq!(value.chars().count(), 80);
    }
}

#[test]
fn errors_are_shown_where_they_happen() {
    insta::assert_snapshot!(
        explain("params.amount > 1 AND REPEAT(params.name, 1000000) == ''", &params()),
        @r#"
    `params.amount > 1 AND REPEAT(params.name, 1000000) == ''` failed: the result is longer than 100000 characters because
      `REPEAT(params.name, 1000000) == ''` failed: the result is longer than 100000 characters because
        `REPEAT(params.name, 1000000)` failed: the result is longer than 100000 characters because
          `params.name` is "Ada"
    "#
    );
}

#[test]
fn outcome_and_spans_agree_with_the_test() {
    let roots = params();
    let scope = JsonScope::new(&roots, noon());
    for source in [
        "params.amount > 100",
        "params.tags",
        "null",
        "params.amount < 1 OR false",
    ] {
        let program = compile(source);
        let explanation = program.explain(&scope);
        assert_eq!(explanation.outcome, program.test(&scope), "{source}");
        for reason in &explanation.reason.because {
            assert_eq!(reason.span.text(source), reason.expression);
        }
    }
}
