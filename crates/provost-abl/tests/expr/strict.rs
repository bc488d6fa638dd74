//! Strict programs: values of the wrong type that a lenient one converts or takes for a no.

use provost_abl::expr::{EvalError, JsonScope};
use serde_json::{Value as Json, json};

use crate::{compile, noon, params};

fn strict(source: &str, roots: &Json) -> Result<bool, EvalError> {
    compile(source)
        .strict()
        .test(&JsonScope::new(roots, noon()))
}

#[test]
fn a_value_of_the_wrong_type_is_an_error_with_its_place() {
    let roots = json!({
        "list": ["rm -rf", "/"], "one": ["/etc"], "big": [1000], "object": {"x": "/etc"},
        "yes": true, "n": 5, "huge": 1e307, "t": "text", "comma": "1,000", "wide": "１０００",
    });
    for (source, at, message) in [
        (
            "list matches /rm -rf/",
            "list",
            "expected text, found a list",
        ),
        (
            "NOT (list matches /rm/)",
            "list",
            "expected text, found a list",
        ),
        (
            "list matches 'r' + 'm'",
            "list",
            "expected text, found a list",
        ),
        ("t matches one", "one", "expected text, found a list"),
        (
            "object matches /x/",
            "object",
            "expected text, found an object",
        ),
        ("n matches /5/", "n", "expected text, found a number"),
        ("yes matches /true/", "yes", "expected text, found a bool"),
        (
            "one STARTS_WITH '/etc'",
            "one",
            "expected text, found a list",
        ),
        ("t STARTS_WITH n", "n", "expected text, found a number"),
        ("one ENDS_WITH 'c'", "one", "expected text, found a list"),
        ("one WITHIN '/etc'", "one", "expected text, found a list"),
        (
            "one NOT WITHIN ['/etc']",
            "one",
            "expected text, found a list",
        ),
        ("t WITHIN big", "big", "expected text, found a list"),
        ("t WITHIN ['/a', n]", "n", "expected text, found a number"),
        ("yes contains 'r'", "yes", "expected text, found a bool"),
        ("t contains one", "one", "expected text, found a list"),
        ("big < 100", "big", "expected a number, found a list"),
        ("100 > big", "big", "expected a number, found a list"),
        (
            "object >= 0",
            "object",
            "expected a number, found an object",
        ),
        ("yes < 100", "yes", "expected a number, found a bool"),
        ("comma > 100", "comma", "expected a number, found text"),
        ("100 < wide", "wide", "expected a number, found text"),
        (
            "one[0].x matches /x/",
            "one[0].x",
            "expected an object, found text",
        ),
        ("t[0] matches /t/", "t[0]", "expected a list, found text"),
        (
            "object[0] WITHIN '/'",
            "object[0]",
            "expected a list, found an object",
        ),
        ("one.x < 5", "one.x", "expected an object, found a list"),
        (
            "LOWER(list) matches /rm -rf/",
            "list",
            "expected text, found a list",
        ),
        (
            "TRIM(object.x.y) WITHIN '/'",
            "object.x.y",
            "expected an object, found text",
        ),
        ("ABS(yes) < 5", "yes", "expected a number, found a bool"),
        (
            "TO_NUMBER(big) < 5",
            "big",
            "expected a number, found a list",
        ),
        ("yes + 0 < 5", "yes", "expected a number, found a bool"),
        ("-big < 5", "big", "expected a number, found a list"),
        (
            "huge * 100 > 5",
            "huge * 100",
            "expected a number, found a result that is none",
        ),
        (
            "comma * 1 > 5",
            "comma * 1",
            "expected a number, found a result that is none",
        ),
        (
            "DIV(n, 0) > 5",
            "DIV(n, 0)",
            "expected a number, found a result that is none",
        ),
        (
            "MAX(list) > 5",
            "MAX(list)",
            "expected a number, found a result that is none",
        ),
        ("MAX([yes]) > 5", "[yes]", "expected a number, found a list"),
    ] {
        let error = strict(source, &roots).expect_err(source);
        assert_eq!(error.to_string(), message, "{source}");
        assert_eq!(error.span().text(source), at, "{source}");
        let lenient = compile(source);
        let scope = JsonScope::new(&roots, noon());
        assert!(lenient.test(&scope).is_ok(), "{source}");
        let explanation = lenient.strict().explain(&scope);
        assert_eq!(explanation.outcome, Err(error), "{source}");
        assert!(explanation.to_string().contains(message), "{explanation}");
    }
}

#[test]
fn what_is_not_set_matches_nothing() {
    for missing in [
        "params.unknown",
        "params.nothing",
        "params.nothing.deep[3]",
        "nobody",
    ] {
        for comparison in [
            "< 100",
            "<= 0",
            "> -1",
            ">= 0",
            "+ 1 < 100",
            "matches /.*/",
            "STARTS_WITH ''",
            "STARTS_WITH '/'",
            "ENDS_WITH ''",
            "WITHIN '/'",
            "WITHIN ['/', '.']",
            "contains ''",
        ] {
            let source = format!("{missing} {comparison}");
            assert_eq!(strict(&source, &params()), Ok(false), "{source}");
        }
        for order in ["<", "<=", ">", ">="] {
            let source = format!("0 {order} {missing}");
            assert_eq!(strict(&source, &params()), Ok(false), "{source}");
        }
        let source = format!("{missing} != 5");
        assert_eq!(strict(&source, &params()), Ok(true), "{source}");
    }
}

#[test]
fn values_of_the_right_type_are_judged_as_ever() {
    for (source, expected) in [
        ("params.amount > 100", true),
        ("params.price < 20", true),
        ("'10' > '9'", true),
        ("'2026-01-02' < '2026-01-10'", true),
        ("params.tags.length > 2", true),
        ("params.name.length < 5", true),
        ("LENGTH(params.tags) <= 3", true),
        ("MAX([1, params.amount]) >= 250", true),
        ("params.tags contains 'vip'", true),
        ("params.rows[0] contains 'who'", true),
        ("params.name contains 'da'", true),
        ("params.amount contains 5", true),
        ("params.amount == '250'", true),
        ("params.tags == 5", false),
        ("params.tags IN ['x']", false),
        ("'7' IN params.tags", true),
        ("LOWER(params.name) == 'ada'", true),
        ("UPPER(params.amount) == '250'", true),
        ("params.tags[0] matches /new/", true),
        ("params.path WITHIN SPLIT('/tmp,/srv', ',')", true),
        ("params.path WITHIN ['/tmp', null]", false),
        ("params.name matches null", false),
        ("IS_STRING(params.tags) AND params.tags matches /x/", false),
        ("params.yes", true),
    ] {
        assert_eq!(strict(source, &params()), Ok(expected), "{source}");
    }
}
