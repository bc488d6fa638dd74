//! Every function: what it gives, and what it makes of null and of the wrong kind of value.

use provost_abl::expr::{Function, JsonScope, Program};
use serde_json::json;

use crate::{check, compile, noon, params};

#[test]
fn numbers() {
    check(
        &params(),
        &[
            ("ABS(-3)", json!(3)),
            ("abs('-2.5')", json!(2.5)),
            ("ABS(null)", json!(null)),
            ("ADD(1, 2, '3')", json!(6)),
            ("ADD(1, null)", json!(null)),
            ("SUB(5, 7)", json!(-2)),
            ("MUL(2, 3, 4)", json!(24)),
            ("DIV(9, 3)", json!(3)),
            ("DIV(1, 0)", json!(null)),
            ("DIV('x', 2)", json!(null)),
            ("MAX(3, 9, 4)", json!(9)),
            ("MIN(3, 9, 4)", json!(3)),
            ("MAX([3, 9, 4])", json!(9)),
            ("MAX([])", json!(null)),
            ("MIN('a', 1)", json!(null)),
            ("ROUND(2.5)", json!(3)),
            ("ROUND(-2.5)", json!(-3)),
            ("ROUND(2.346, 2)", json!(2.35)),
            ("ROUND(1234, -2)", json!(1200)),
            ("ROUND(params.account)", json!(9_007_199_254_740_993_u64)),
            ("ROUND('x')", json!(null)),
            ("TO_NUMBER(' 12.50 ')", json!(12.5)),
            ("TO_NUMBER(true)", json!(1)),
            ("TO_NUMBER('0x10')", json!(null)),
            ("TO_NUMBER([])", json!(null)),
        ],
    );
}

#[test]
fn text() {
    check(
        &params(),
        &[
            ("JOIN(params.tags)", json!("new,vip,7")),
            ("JOIN(params.tags, ' / ')", json!("new / vip / 7")),
            ("JOIN([1, null, 2], '-')", json!("1--2")),
            ("JOIN(null, '-')", json!("")),
            ("JOIN('x', '-')", json!("x")),
            ("LOWER('ÄB')", json!("äb")),
            ("UPPER('straße')", json!("STRASSE")),
            ("UPPER(null)", json!("")),
            ("PAD_START(7, 3, '0')", json!("007")),
            ("PAD_START('abc', 2)", json!("abc")),
            ("PAD_END('a', 6, 'xyz')", json!("axyzxy")),
            ("PAD_END('a', 3)", json!("a  ")),
            ("PAD_END('a', 3, '')", json!("a")),
            ("PAD_START(null, 2, 'x')", json!("xx")),
            ("REPEAT('ab', 3)", json!("ababab")),
            ("REPEAT('ab', -1)", json!("")),
            ("REPEAT(null, 5)", json!("")),
            ("REPEAT('', 1e18)", json!("")),
            ("REPLACE('a.b.c', '.', '-')", json!("a-b-c")),
            ("REPLACE('abc', '', '-')", json!("abc")),
            ("REPLACE('abc', 'b', null)", json!("ac")),
            ("SPLIT('a, b', ', ')", json!(["a", "b"])),
            ("SPLIT('a,b')", json!(["a", "b"])),
            ("SPLIT('äb', '')", json!(["ä", "b"])),
            ("SPLIT(LOWER('A-B'), '-')", json!(["a", "b"])),
            ("SPLIT('', ',')", json!([""])),
            ("SPLIT(null, ',')", json!([])),
            ("SUBSTRING('hello', 1, 3)", json!("el")),
            ("SUBSTRING('hello', 3, 1)", json!("el")),
            ("SUBSTRING('hello', 2)", json!("llo")),
            ("SUBSTRING('hello', -5, 2)", json!("he")),
            ("SUBSTRING('hello', 9)", json!("")),
            ("SUBSTRING('äöü', 1, 2)", json!("ö")),
            ("SUBSTRING(UPPER('äöü'), 1, 2)", json!("Ö")),
            ("SUBSTRING(null, 1)", json!("")),
            ("TRIM('  a ')", json!("a")),
            ("TRIM(null)", json!("")),
            ("TO_STRING(1.50)", json!("1.5")),
            ("TO_STRING(true)", json!("true")),
            ("TO_STRING(null)", json!("")),
            (
                "TO_STRING(params.rows[0])",
                json!("{\"id\":1,\"who\":\"a\"}"),
            ),
            ("TO_STRING(['a\"\\n', null])", json!("[\"a\\\"\\n\",null]")),
            (
                "TO_STRING(OBJECT_MERGE(params.rows[0]))",
                json!("{\"id\":1,\"who\":\"a\"}"),
            ),
        ],
    );
}

#[test]
fn formats() {
    check(
        &params(),
        &[
            ("FORMAT_CURRENCY(1234.5, 'USD')", json!("$1,234.50")),
            ("FORMAT_CURRENCY(1234567, 'eur')", json!("€1,234,567.00")),
            ("FORMAT_CURRENCY(-5)", json!("-$5.00")),
            ("FORMAT_CURRENCY(-0.001)", json!("$0.00")),
            ("FORMAT_CURRENCY(1500.7, 'JPY')", json!("¥1,501")),
            ("FORMAT_CURRENCY(1500, 'JPY')", json!("¥1,500")),
            ("FORMAT_CURRENCY('99.9', 'CHF')", json!("CHF 99.90")),
            ("FORMAT_CURRENCY(null, 'USD')", json!("")),
            ("FORMAT_CURRENCY('much', 'USD')", json!("")),
            ("FORMAT_DATE('2026-03-01T12:05:09Z')", json!("2026-03-01")),
            (
                "FORMAT_DATE('2026-03-01T23:00:00-05:00', 'YYYY-MM-DD HH:mm')",
                json!("2026-03-02 04:00"),
            ),
            (
                "FORMAT_DATE('2026-03-01', 'D MMM YYYY')",
                json!("1 Mar 2026"),
            ),
            (
                "FORMAT_DATE('2026-03-01 15:04:05', 'dddd, h:mm A')",
                json!("Sunday, 3:04 PM"),
            ),
            (
                "FORMAT_DATE('2026-03-01', '[Day] DD/MM/YY')",
                json!("Day 01/03/26"),
            ),
            (
                "FORMAT_DATE('2026-03-01T12:05:09.250Z', 'HH:mm:ss.SSS Z')",
                json!("12:05:09.250 +00:00"),
            ),
            ("FORMAT_DATE(0, '%Y/%m')", json!("1970/01")),
            ("FORMAT_DATE(0, '%!')", json!("")),
            ("FORMAT_DATE(1e300)", json!("")),
            ("FORMAT_DATE(NOW(), 'YYYY')", json!("2026")),
            ("FORMAT_DATE('soon', 'YYYY')", json!("")),
            ("FORMAT_DATE(null)", json!("")),
            ("MASK('4111111111111111')", json!("************1111")),
            ("MASK('abcdef', 2)", json!("****ef")),
            ("MASK('abcdef', 2, '#')", json!("####ef")),
            ("MASK('abcdef', 0)", json!("******")),
            ("MASK('abcd', 4)", json!("****")),
            ("MASK(null)", json!("")),
            ("ORDINAL(1)", json!("1st")),
            ("ORDINAL(2)", json!("2nd")),
            ("ORDINAL(3)", json!("3rd")),
            ("ORDINAL(4)", json!("4th")),
            ("ORDINAL(11)", json!("11th")),
            ("ORDINAL(112)", json!("112th")),
            ("ORDINAL(121)", json!("121st")),
            ("ORDINAL(1.5)", json!("1.5")),
            ("ORDINAL(null)", json!("")),
        ],
    );
}

#[test]
fn kinds() {
    check(
        &params(),
        &[
            ("IS_ARRAY(params.tags)", json!(true)),
            ("IS_ARRAY('a')", json!(false)),
            ("IS_NUMBER(1)", json!(true)),
            ("IS_NUMBER('1')", json!(false)),
            ("IS_STRING('1')", json!(true)),
            ("IS_STRING(null)", json!(false)),
        ],
    );
}

#[test]
fn collections() {
    check(
        &params(),
        &[
            ("ARRAY_FIND(params.rows, 'id', 2).who", json!("b")),
            ("ARRAY_FIND(params.rows, 'id', 9)", json!(null)),
            ("ARRAY_FIND(params.tags, 'vip')", json!("vip")),
            ("ARRAY_FIND(null, 'id', 1)", json!(null)),
            ("ARRAY_FIND_INDEX(params.rows, 'who', 'b')", json!(1)),
            ("ARRAY_FIND_INDEX(params.tags, 7)", json!(2)),
            ("ARRAY_FIND_INDEX(params.tags, 8)", json!(-1)),
            ("ARRAY_FIND_INDEX('x', 8)", json!(-1)),
            ("LENGTH(params.tags)", json!(3)),
            ("LENGTH('äöü')", json!(3)),
            ("LENGTH(params.rows[0])", json!(2)),
            ("LENGTH(null)", json!(0)),
            ("LENGTH(5)", json!(null)),
            ("OBJECT_KEYS(params.rows[0])", json!(["id", "who"])),
            ("OBJECT_VALUES(params.rows[0])", json!([1, "a"])),
            ("OBJECT_KEYS(null)", json!([])),
            ("OBJECT_VALUES([1])", json!([])),
            (
                "OBJECT_MERGE(params.rows[0], params.rows[1], null, tool)",
                json!({"id": "2", "who": "b", "name": "files.read"}),
            ),
            ("OBJECT_MERGE(params.rows[0]).who", json!("a")),
            ("OBJECT_KEYS(OBJECT_MERGE(tool))", json!(["name"])),
            ("COALESCE(params.nothing, params.unknown, 'x')", json!("x")),
            ("COALESCE(params.empty, 'x')", json!("")),
            ("COALESCE(null)", json!(null)),
            ("NOW()", json!("2026-03-01T12:00:00Z")),
        ],
    );
}

#[test]
fn ids_are_fresh() {
    let roots = json!({});
    let scope = JsonScope::new(&roots, noon());
    let program = compile("[UNIQUE_ID(), unique_id()]");
    let ids = program.eval(&scope).unwrap().to_json();
    assert!(ids.get(0).is_some_and(serde_json::Value::is_string));
    assert_ne!(ids.get(0), ids.get(1));
}

#[test]
fn every_function_is_found_by_its_name_in_any_case() {
    for function in Function::ALL {
        assert_eq!(Function::named(function.name()), Some(*function));
        assert_eq!(
            Function::named(&function.name().to_lowercase()),
            Some(*function)
        );
    }
    assert_eq!(Function::ALL.len(), 36);
}

#[test]
fn too_many_arguments_are_refused() {
    for function in Function::ALL {
        let wrong = (0..6).find(|count| !function.accepts(*count)).unwrap_or(0);
        let source = format!("{}({})", function.name(), vec!["1"; wrong].join(", "));
        assert_eq!(
            Program::compile(&source).is_err(),
            !function.accepts(wrong),
            "{source}"
        );
    }
    let many = format!("COALESCE({})", vec!["null"; 300].join(","));
    assert!(Program::compile(&many).is_ok());
}
