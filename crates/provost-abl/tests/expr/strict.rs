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
fn p01_text_that_is_a_number_is_added_as_one() {
    let limit = "price + fee > 1000";
    for (source, roots, expected) in [
        (limit, json!({"price": -1, "fee": 9999}), Some(true)),
        (limit, json!({"price": "-1", "fee": 9999}), Some(true)),
        (limit, json!({"price": "-1", "fee": "9999"}), Some(true)),
        (limit, json!({"price": 9999, "fee": "-1"}), Some(true)),
        (limit, json!({"price": "1", "fee": "2"}), Some(false)),
        (limit, json!({"price": "x", "fee": 9999}), None),
        (limit, json!({"price": "-", "fee": 9999}), None),
        (limit, json!({"price": "-", "fee": "9999"}), None),
        (limit, json!({"price": "1e-", "fee": "9"}), None),
        (limit, json!({"price": "", "fee": 9999}), None),
        (limit, json!({"price": "", "fee": "9999"}), None),
        (limit, json!({"price": "x", "fee": "9999"}), None),
        (limit, json!({"fee": "9999"}), Some(true)),
        (
            "0 + price + fee > 1000",
            json!({"price": "-", "fee": "9"}),
            None,
        ),
        (
            "price + fee == 46",
            json!({"price": "12", "fee": "34"}),
            Some(true),
        ),
        ("'v' + tag == 'v1.x'", json!({"tag": "1.x"}), Some(true)),
        ("'v' + tag == 'v1'", json!({"tag": "1"}), Some(true)),
        ("'v' + tag == 'v1'", json!({"tag": 1}), None),
        (
            "'v' + TO_STRING(tag) == 'v1'",
            json!({"tag": 1}),
            Some(true),
        ),
        ("'v' + tag == 'v'", json!({}), Some(true)),
    ] {
        let judged = strict(source, &roots);
        assert_eq!(judged.as_ref().ok(), expected.as_ref(), "{source} {roots}");
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
        ("params.name contains 'da'", true),
        ("params.amount contains 5", true),
        ("params.amount == '250'", true),
        ("params.tags == ['new', 'x']", false),
        ("params.tags IN [['x'], params.tags]", true),
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

#[test]
fn p01_values_of_different_kinds_cannot_be_judged() {
    let odd = [
        json!(["prod"]),
        json!([["prod"]]),
        json!([]),
        json!({"x": "prod"}),
        json!({}),
        json!(true),
        json!(false),
    ];
    for value in odd {
        let roots = json!({"env": value, "envs": ["dev", value], "other": "dev"});
        for source in [
            "env == 'prod'",
            "'prod' == env",
            "env != 'prod'",
            "env == 5",
            "env == '5'",
            "env IN ['dev', 'prod']",
            "env NOT IN ['dev', 'prod']",
            "env IN SPLIT('dev,prod')",
            "'prod' IN envs",
            "'prod' NOT IN envs",
            "envs contains 'prod'",
            "envs == ['dev', 'prod']",
            "env < 5",
            "LOWER(env) == 'prod'",
            "JOIN(envs) contains 'prod'",
            "ARRAY_FIND(envs, 'prod') IS SET",
            "COALESCE(env, 'dev') == 'prod'",
            "NOT (env == 'prod')",
            "env == 'prod' OR other == 'dev'",
            "other == 'dev' AND env != 'prod'",
            "(env == 'prod') == true",
        ] {
            let outcome = strict(source, &roots);
            assert!(outcome.is_err(), "{source} {value}: {outcome:?}");
            let lenient = compile(source).test(&JsonScope::new(&roots, noon()));
            assert!(lenient.is_ok(), "{source} {value}: {lenient:?}");
        }
    }
}

#[test]
fn p01_a_value_of_another_shape_is_not_a_missing_one() {
    let roots = json!({
        "text": "prod", "list": [{"force": true}], "map": {"0": "prod"}, "n": 5, "yes": true,
        "blank": [""], "hollow": {"a": [null]}, "rows": [{"env": ["prod"]}], "word": "true",
    });
    for source in [
        "text[0] == 'prod'",
        "map[0] == 'prod'",
        "text.env == 'prod'",
        "list.force IS SET",
        "list.force IS NOT SET",
        "EMPTY list.force",
        "list.force == true",
        "'prod' IN text",
        "'prod' IN map",
        "map contains 'prod'",
        "word",
        "n",
        "NOT n",
        "list",
        "map OR yes",
        "yes AND text",
        "word == true",
        "yes == 'true'",
        "yes == 1",
        "EMPTY n",
        "EMPTY yes",
        "EMPTY blank",
        "NOT EMPTY hollow",
        "TO_STRING(list) == 'prod'",
        "JOIN(text) == 'prod'",
        "OBJECT_KEYS(list) contains 'force'",
        "LENGTH(n) < 5",
        "ARRAY_FIND(rows, 'env', 'prod') IS SET",
        "ARRAY_FIND(text, 'prod') IS SET",
        "'1,000' > '100'",
    ] {
        let outcome = strict(source, &roots);
        assert!(outcome.is_err(), "{source}: {outcome:?}");
    }
}

#[test]
fn p01_numbers_in_texts_and_missing_values_keep_their_meaning() {
    let roots = json!({"n": 5, "t": "5", "word": "five", "none": null, "tags": ["a", "7"]});
    for (source, expected) in [
        ("n == '5'", true),
        ("t == 5", true),
        ("t == 5.0", true),
        ("word == 5", false),
        ("word != 5", true),
        ("t IN [4, 5]", true),
        ("n IN ['a', '5']", true),
        ("7 IN tags", true),
        ("none == 'prod'", false),
        ("none != 'prod'", true),
        ("missing == 'prod'", false),
        ("missing == null", true),
        ("missing.deep[0] == 'prod'", false),
        ("missing IN ['prod']", false),
        ("missing NOT IN ['prod']", true),
        ("'prod' IN missing", false),
        ("missing contains 'prod'", false),
        ("missing", false),
        ("NOT missing", true),
        ("EMPTY missing", true),
        ("EMPTY ''", true),
        ("EMPTY tags", false),
        ("tags == ['a', 7]", true),
        ("tags == ['a']", false),
        ("tags != ['b', ['x']]", true),
        ("IS_STRING(tags) AND tags == 'a'", false),
    ] {
        assert_eq!(strict(source, &roots), Ok(expected), "{source}");
    }
}

#[test]
fn p02_strict_comparisons_are_exact() {
    for (arguments, source, expected) in [
        (r#"{"n": 9007199254740992}"#, "n == 9007199254740993", false),
        (r#"{"n": 9007199254740993}"#, "n == 9007199254740993", true),
        (
            r#"{"n": "9007199254740993.0"}"#,
            "n == 9007199254740993",
            true,
        ),
        (
            r#"{"n": "9007199254740992.5"}"#,
            "n <= 9007199254740992",
            false,
        ),
        (
            r#"{"n": 9223372036854775807}"#,
            "n < 9223372036854775808",
            true,
        ),
        (
            r#"{"n": 18446744073709551615}"#,
            "n > 18446744073709551614",
            true,
        ),
        (
            r#"{"n": "18446744073709551616"}"#,
            "n > 18446744073709551615",
            true,
        ),
        (
            r#"{"n": "18446744073709551617"}"#,
            "n == 18446744073709551616",
            false,
        ),
        (r#"{"n": 0.1}"#, "n + 0.2 == 0.3", true),
        (r#"{"n": "1e3"}"#, "n == 1000", true),
        (r#"{"n": -0.0}"#, "n == 0", true),
        (r#"{"n": "-0"}"#, "n < 0", false),
        (
            r#"{"n": -9223372036854775808}"#,
            "n == -9223372036854775808",
            true,
        ),
        (
            r#"{"n": -9223372036854775808}"#,
            "n > -9223372036854775809",
            true,
        ),
    ] {
        let roots: Json = serde_json::from_str(arguments).unwrap();
        assert_eq!(strict(source, &roots), Ok(expected), "{arguments} {source}");
    }
}
