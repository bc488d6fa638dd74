//! What people read when they wrote something wrong, or something they may not mean.

use std::fmt::Write as _;

use provost_abl::expr::{Span, lints, parse};

use crate::compile;

fn show(source: &str, rows: impl Iterator<Item = (Span, String, Option<String>)>) -> String {
    let mut text = format!("{source}\n");
    for (span, message, help) in rows {
        let before = source.get(..span.start).unwrap().chars().count();
        let width = span.text(source).chars().count().max(1);
        let _ = writeln!(text, "{:before$}{} {message}", "", "^".repeat(width));
        if let Some(help) = help {
            let _ = writeln!(text, "{:before$}{:width$} help: {help}", "", "");
        }
    }
    text
}

fn errors(source: &str) -> String {
    let errors = parse(source).errors;
    show(
        source,
        errors
            .into_iter()
            .map(|error| (error.span, error.message, error.help)),
    )
}

fn remarks(source: &str) -> String {
    let lints = lints(compile(source).expr());
    show(
        source,
        lints
            .into_iter()
            .map(|lint| (lint.span, lint.message, lint.help)),
    )
}

#[test]
fn several_errors_in_one_pass() {
    insta::assert_snapshot!(errors("params.a = 5 AND UPPR(x) == 'a' OR ROUND() > AND b <> \"x"), @r#"
    params.a = 5 AND UPPR(x) == 'a' OR ROUND() > AND b <> "x
             ^ unknown operator `=`
               help: `=` is not an operator, try `==`
                     ^^^^ unknown function `UPPR`
                          help: did you mean `UPPER`?
                                       ^^^^^^^ `ROUND` takes 1 or 2 arguments, found 0
                                               help: write `ROUND(number, digits = 0)`
                                                 ^^^ expected a value, found `AND`
                                                     help: `AND` goes between two values
                                                       ^^ unknown operator `<>`
                                                          help: `<>` is not an operator, try `!=`
                                                          ^^ the text is not closed
                                                             help: add a closing `"`
    "#);
}

#[test]
fn operators_of_other_languages() {
    insta::assert_snapshot!(errors("a === 1 & b =< 2 | c startswith 'x'"), @"
    a === 1 & b =< 2 | c startswith 'x'
      ^^^ unknown operator `===`
          help: `===` is not an operator, try `==`
            ^ unknown operator `&`
              help: `&` is not an operator, try `AND`
                ^^ unknown operator `=<`
                   help: `=<` is not an operator, try `<=`
                     ^ unknown operator `|`
                       help: `|` is not an operator, try `OR`
                         ^^^^^^^^^^ expected an operator, found `startswith`
                                    help: `startswith` is not an operator, try `STARTS_WITH`
    ");
    insta::assert_snapshot!(errors("a equals 5 AND b IS 'x' AND c is not empty"), @"
    a equals 5 AND b IS 'x' AND c is not empty
      ^^^^^^ expected an operator, found `equals`
             help: `equals` is not an operator, try `==`
                     ^^ expected `SET`, found `'x'`
                        help: write `IS SET` or `IS NOT SET`, or try `==`
                                  ^^^^^^ expected `SET`, found `empty`
                                         help: write `IS SET` or `IS NOT SET`, or try `EMPTY x`
    ");
    insta::assert_snapshot!(errors("contains(a, 'x') AND 1 < b < 3"), @"
    contains(a, 'x') AND 1 < b < 3
    ^^^^^^^^ expected a value, found `contains`
             help: `contains` goes between two values
                               ^ comparisons do not chain
                                 help: join them with `AND`
    ");
}

#[test]
fn brackets_that_do_not_match() {
    insta::assert_snapshot!(errors("(a AND [1, 2"), @"
    (a AND [1, 2
    ^ `(` is not closed
      help: add a `)`
           ^ `[` is not closed
             help: add a `]`
    ");
    insta::assert_snapshot!(errors("a) AND b] == 1"), @"
    a) AND b] == 1
     ^ unmatched `)`
            ^ unmatched `]`
    ");
    insta::assert_snapshot!(errors("MAX(1 2, 3"), @"
    MAX(1 2, 3
       ^ `(` is not closed
         help: add a `)`
          ^ expected `,`, found `2`
    ");
    insta::assert_snapshot!(errors("a[b] == a.0 AND a[-1]"), @r#"
    a[b] == a.0 AND a[-1]
      ^ expected a position or a quoted key, found `b`
        help: write `[0]` or `["key"]`
              ^ expected a name after `.`, found `0`
                help: write `[0]` for a position in a list
                      ^ expected a position or a quoted key, found `-`
                        help: write `[0]` or `["key"]`
    "#);
}

#[test]
fn text_and_patterns() {
    insta::assert_snapshot!(errors(r#"a == "\d" AND b matches /(/ AND c matches "[z-a]" AND d matches /x/q"#), @r#"
    a == "\d" AND b matches /(/ AND c matches "[z-a]" AND d matches /x/q
          ^^ unknown escape `\d`
             help: write `\\d` for a backslash
                            ^^^ the pattern does not compile: unclosed group
                                              ^^^^^^^ the pattern does not compile: invalid character class range, the start must be <= the end
                                                                    ^^^^ the pattern does not compile: unknown flag `q`
    "#);
    insta::assert_snapshot!(errors("a == “x” AND 12ab > 1e"), @"
    a == “x” AND 12ab > 1e
         ^^^ unexpected character `“`
             help: write text in straight quotes
                 ^^^^ `12ab` is not a number
                        ^^ `1e` is not a number
    ");
    insta::assert_snapshot!(errors("a matches /(\\w{500}){500}/"), @r"
    a matches /(\w{500}){500}/
              ^^^^^^^^^^^^^^^^ the pattern does not compile: it is too large
    ");
    insta::assert_snapshot!(errors("a matches /x"), @"
    a matches /x
              ^^ the pattern is not closed
                 help: add a closing `/`
    ");
}

#[test]
fn a_bare_not_before_a_comparison() {
    insta::assert_snapshot!(errors("NOT params.path WITHIN '/srv' OR NOT x IS SET OR NOT a < 3"), @"
    NOT params.path WITHIN '/srv' OR NOT x IS SET OR NOT a < 3
    ^^^^^^^^^^^^^^^^^^^^^^ `NOT` binds tighter than `WITHIN`
                           help: write `… NOT WITHIN …`, or `NOT (… WITHIN …)`
                                     ^^^^^^^^ `NOT` binds tighter than `IS SET`
                                              help: write `… IS NOT SET`
                                                     ^^^^^^^ `NOT` binds tighter than `<`
                                                             help: write `NOT (… < …)`
    ");
}

#[test]
fn prose_and_nothing() {
    insta::assert_snapshot!(errors("the customer sounds angry"), @"
    the customer sounds angry
        ^^^^^^^^ expected an operator, found `customer`
    ");
    insta::assert_snapshot!(errors("   "), @"
       
    ^^^ the expression is empty
    ");
    insta::assert_snapshot!(errors("a ==\nAND"), @"
    a ==
    AND
         ^^^ expected a value, found `AND`
             help: `AND` goes between two values
            ^ expected a value, found the end
    ");
}

#[test]
fn lints_about_values_that_are_not_set() {
    insta::assert_snapshot!(remarks("params.status != 'open' AND params.amount > 100"), @"
    params.status != 'open' AND params.amount > 100
    ^^^^^^^^^^^^^ `!=` is true when `params.status` is not set
                  help: add `params.status IS SET AND`, or write `NOT (… == …)` if that is meant
                                ^^^^^^^^^^^^^ `params.amount` counts as 0 in `>` when it is not set; in a policy it is then false
                                              help: add `params.amount IS SET AND`
    ");
    insta::assert_snapshot!(remarks("a == null OR null != b"), @"
    a == null OR null != b
    ^^^^^^^^^ `a` is compared with null
              help: write `a IS NOT SET`
                 ^^^^^^^^^ `!= null` is always true
                           help: write `b IS SET`
    ");
    insta::assert_snapshot!(remarks("NOT a == b"), @"
    NOT a == b
    ^^^^^^^^^^ `NOT` binds tighter than `==`
               help: write `NOT (… == …)`, or `(NOT a) == …` if that is meant
    ");
    insta::assert_snapshot!(remarks("DIV(a, 2) >= items.length"), @"
    DIV(a, 2) >= items.length
    ^^^^^^^^^ `DIV(a, 2)` counts as 0 in `>=` when it is not set; in a policy it is then false
              help: add `DIV(a, 2) IS SET AND`
                 ^^^^^^^^^^^^ `items.length` counts as 0 in `>=` when it is not set; in a policy it is then false
                              help: add `items.length IS SET AND`
    ");
}

#[test]
fn lints_about_negations_that_hold_when_the_parameter_is_missing() {
    insta::assert_snapshot!(remarks("NOT (params.path WITHIN '/etc') AND LOWER(params.c) NOT IN ['rm']"), @"
    NOT (params.path WITHIN '/etc') AND LOWER(params.c) NOT IN ['rm']
         ^^^^^^^^^^^ `NOT … WITHIN` is true when `params.path` is not set
                     help: add `params.path IS SET AND`
                                              ^^^^^^^^ `NOT … IN` is true when `params.c` is not set
                                                       help: add `params.c IS SET AND`
    ");
    insta::assert_snapshot!(remarks("NOT (tool == 'x' OR params.c MATCHES /rm/)"), @"
    NOT (tool == 'x' OR params.c MATCHES /rm/)
                        ^^^^^^^^ `NOT … matches` is true when `params.c` is not set
                                 help: add `params.c IS SET AND`
    ");
}

#[test]
fn folders_that_no_path_could_be_judged_by() {
    insta::assert_snapshot!(errors(r#"p WITHIN "/srv\\x" OR p NOT WITHIN ['/a', '//b'] OR p STARTS_WITH "..\\a""#), @r#"
    p WITHIN "/srv\\x" OR p NOT WITHIN ['/a', '//b'] OR p STARTS_WITH "..\\a"
             ^^^^^^^^^ the path can be read in two ways
                       help: write one `/` between folders, or start with a drive
                                              ^^^^^ the path can be read in two ways
                                                    help: write one `/` between folders, or start with a drive
                                                                      ^^^^^^^ the path can be read in two ways
                                                                              help: write one `/` between folders, or `matches` if it is no path
    "#);
    for source in [
        r#"p WITHIN "C:\\proj""#,
        r#"p WITHIN "C:/proj""#,
        r#"p STARTS_WITH "\\\\server\\share""#,
        r#"p STARTS_WITH "a\\b""#,
        "p ENDS_WITH '//'",
        "p WITHIN '/srv/v1.'",
    ] {
        assert_eq!(parse(source).errors, [], "{source}");
    }
}

#[test]
fn lints_are_silent_where_the_question_is_settled() {
    for source in [
        "params.status IS SET AND params.status != 'open'",
        "EXISTS a AND (b == 1 OR a > 5)",
        "a IS NOT SET OR a < 3",
        "COALESCE(params.amount, 0) > 100",
        "a == 'x' AND b IN [1, 2]",
        "LENGTH(items) > 3",
        "items IS SET AND items.length > 3",
        "IS_NUMBER(params.amount) AND params.amount > 100",
        "(NOT a) == b",
        "a IS SET AND NOT (a WITHIN '/srv')",
        "a IS SET AND (b == 1 OR a NOT IN ['x'])",
        "a IS NOT SET OR NOT (a matches /x/)",
        "NOT (a NOT IN ['x'])",
        "NOT (NOT (a WITHIN '/srv'))",
        "NOT (a == 'x')",
        "COALESCE(a, '') NOT IN ['x']",
        "a IN ['x'] AND b WITHIN '/srv'",
    ] {
        assert_eq!(lints(compile(source).expr()), [], "{source}");
    }
    for source in [
        "a IS SET OR a > 5",
        "a IS NOT SET AND a > 5",
        "a IS SET AND b > 5",
        "a IS SET OR a NOT IN ['x']",
        "b IS SET AND NOT (a WITHIN '/srv')",
        "NOT (a contains 'x')",
        "a NOT STARTS_WITH 'x'",
        "NOT (a ENDS_WITH 'x' OR EMPTY b)",
        "NOT (NOT (NOT (a IN ['x'])))",
    ] {
        assert_eq!(lints(compile(source).expr()).len(), 1, "{source}");
    }
}
