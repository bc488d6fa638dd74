//! Operators, precedence, null, coercion and truth.

use provost_abl::expr::Program;
use serde_json::json;

use crate::{check, compile, params};

#[test]
fn literals_and_paths() {
    check(
        &params(),
        &[
            ("1", json!(1)),
            ("1.50", json!(1.5)),
            ("1e3", json!(1000)),
            ("-2", json!(-2)),
            ("- -2", json!(2)),
            ("'it\\'s'", json!("it's")),
            (r#""a\n\t\\\"\u00e9\u{1f600}""#, json!("a\n\t\\\"é😀")),
            ("TRUE", json!(true)),
            ("false", json!(false)),
            ("null", json!(null)),
            ("always", json!(true)),
            ("[1, 'a', [params.amount]]", json!([1, "a", [250]])),
            ("[]", json!([])),
            ("params.name", json!("Ada")),
            ("params.tags[1]", json!("vip")),
            ("params.rows[1].who", json!("b")),
            ("params[\"my-key\"]", json!("dash")),
            ("params.tags[9]", json!(null)),
            ("params.name.first.letter", json!(null)),
            ("params.nothing.at.all", json!(null)),
            ("nobody.home", json!(null)),
            ("params.tags.length", json!(3)),
            ("params.name.length", json!(3)),
            ("params.none.length", json!(0)),
            ("params.nothing.length", json!(null)),
            ("params.blank.length", json!(null)),
            ("params.length", json!(3)),
            ("SPLIT('a,b', ',')[1]", json!("b")),
            ("[1, 2].length", json!(2)),
            ("(params.rows)[0].id", json!(1)),
            ("params.account", json!(9_007_199_254_740_993_u64)),
        ],
    );
}

#[test]
fn equality() {
    check(
        &params(),
        &[
            ("params.name == 'Ada'", json!(true)),
            ("params.name == 'ada'", json!(false)),
            ("params.amount == '250'", json!(true)),
            ("'250.0' == params.amount", json!(true)),
            ("'' == 0", json!(false)),
            ("'1.0' == '1'", json!(false)),
            ("null == params.unknown", json!(true)),
            ("params.nothing == params.unknown", json!(true)),
            ("params.empty == null", json!(false)),
            ("false == null", json!(false)),
            ("true == 1", json!(false)),
            ("true == 'true'", json!(false)),
            ("params.tags == ['new', 'vip', '7']", json!(true)),
            ("params.tags == ['new', 'vip']", json!(false)),
            (
                "params.rows[0] == OBJECT_MERGE(params.rows[0])",
                json!(true),
            ),
            ("params.rows[0] == params.rows[1]", json!(false)),
            ("params.account == 9007199254740993", json!(true)),
            ("params.account == 9007199254740992", json!(false)),
            ("params.name != 'Bob'", json!(true)),
            ("params.name != 'Ada'", json!(false)),
            ("params.nothing != 5", json!(true)),
            ("5 != params.nothing", json!(true)),
            ("null != null", json!(true)),
        ],
    );
}

#[test]
fn order() {
    check(
        &params(),
        &[
            ("params.amount > 100", json!(true)),
            ("params.amount >= 250", json!(true)),
            ("params.amount < 250", json!(false)),
            ("params.amount <= 250", json!(true)),
            ("params.price < 20", json!(true)),
            ("' 250 ' > 100", json!(true)),
            ("'10' > '9'", json!(true)),
            ("'b' > 'a'", json!(true)),
            ("'Z' < 'a'", json!(true)),
            ("'2026-01-02' < '2026-01-10'", json!(true)),
            ("true > 0", json!(true)),
            ("false >= 0", json!(true)),
            ("params.tags > 2", json!(true)),
            ("params.none < 1", json!(true)),
            ("params.unknown < 1", json!(true)),
            ("params.unknown >= 0", json!(true)),
            ("params.unknown > 0", json!(false)),
            ("'many' > 5", json!(false)),
            ("'many' < 5", json!(false)),
            ("params.blank >= 0", json!(false)),
            ("params.account > 9007199254740992", json!(true)),
        ],
    );
}

#[test]
fn membership_and_text() {
    check(
        &params(),
        &[
            ("params.name IN ['Ada', 'Bob']", json!(true)),
            ("params.name in ['ada']", json!(false)),
            ("'7' IN params.tags", json!(true)),
            ("'id' IN params.rows[0]", json!(true)),
            ("'a' IN 'abc'", json!(false)),
            ("1 IN null", json!(false)),
            ("null IN [null]", json!(true)),
            ("params.name NOT IN ['Ada']", json!(false)),
            ("params.name not in []", json!(true)),
            ("params.tags contains 'vip'", json!(true)),
            ("params.tags CONTAINS 'VIP'", json!(false)),
            ("params.name contains 'da'", json!(true)),
            ("params.name contains 'DA'", json!(false)),
            ("params.amount contains 5", json!(true)),
            ("params.rows[0] contains 'who'", json!(true)),
            ("null contains ''", json!(false)),
            ("'a' contains null", json!(false)),
            ("params.name NOT contains 'x'", json!(true)),
            ("params.name matches '^A'", json!(true)),
            ("params.name matches 'd'", json!(true)),
            ("params.name MATCHES /^a/", json!(false)),
            ("params.name matches /^a/i", json!(true)),
            ("params.path matches /^\\/srv[/]project/", json!(true)),
            (r#""a1" matches "^\w\d$""#, json!(true)),
            (r#""a1" matches "^\\w\\d$""#, json!(true)),
            ("params.amount matches /^\\d+$/", json!(true)),
            ("null matches /.*/", json!(false)),
            ("params.tags matches /.*/", json!(false)),
            ("params.name matches 'A' + 'd'", json!(true)),
            ("params.name matches null", json!(false)),
            ("params.name NOT MATCHES /x/", json!(true)),
            ("tool.name STARTS_WITH 'files.'", json!(true)),
            ("tool.name starts_with 'Files.'", json!(false)),
            ("tool.name ENDS_WITH '.read'", json!(true)),
            ("tool.name ENDS_WITH '.write'", json!(false)),
            ("null STARTS_WITH ''", json!(false)),
            ("null ENDS_WITH ''", json!(false)),
        ],
    );
}

#[test]
fn set_and_empty() {
    check(
        &params(),
        &[
            ("params.empty IS SET", json!(true)),
            ("params.no is set", json!(true)),
            ("params.nothing IS SET", json!(false)),
            ("params.unknown IS NOT SET", json!(true)),
            ("EXISTS params.empty", json!(true)),
            ("exists(params.unknown)", json!(false)),
            ("EMPTY params.empty", json!(true)),
            ("EMPTY params.nothing", json!(true)),
            ("EMPTY params.none", json!(true)),
            ("EMPTY(params.blank)", json!(true)),
            ("EMPTY params.no", json!(false)),
            ("EMPTY 0", json!(false)),
            ("EMPTY params.tags", json!(false)),
        ],
    );
}

#[test]
fn truth() {
    let falsy = [
        "false",
        "0",
        "0.0",
        "''",
        "'false'",
        "null",
        "[]",
        "params.blank",
        "params.x",
    ];
    let truthy = [
        "true",
        "1",
        "-1",
        "'0'",
        "'False'",
        "' '",
        "[0]",
        "params.rows[0]",
    ];
    for (sources, expected) in [(falsy.as_slice(), false), (truthy.as_slice(), true)] {
        for source in sources {
            let negated = format!("NOT {source}");
            check(&params(), &[(&negated, json!(!expected))]);
            check(&params(), &[(&format!("! ({source})"), json!(!expected))]);
            check(
                &params(),
                &[(&format!("{source} AND true"), json!(expected))],
            );
            check(
                &params(),
                &[(&format!("false || {source}"), json!(expected))],
            );
        }
    }
}

#[test]
fn arithmetic() {
    check(
        &params(),
        &[
            ("1 + 2 * 3", json!(7)),
            ("(1 + 2) * 3", json!(9)),
            ("10 - 4 - 3", json!(3)),
            ("12 / 3 / 2", json!(2)),
            ("7 / 2", json!(3.5)),
            ("1 / 0", json!(null)),
            ("-params.amount + 1", json!(-249)),
            ("params.price * 2", json!(39.8)),
            ("true + 1", json!(2)),
            ("'a' + 1 + 2", json!("a12")),
            ("1 + 2 + 'a'", json!("3a")),
            ("'a' + null", json!("a")),
            ("'a' + [1, 'b']", json!("a[1,\"b\"]")),
            ("null + 1", json!(null)),
            ("params.name - 1", json!(null)),
            ("params.tags + 1", json!(null)),
            ("-'x'", json!(null)),
            ("1e308 * 10", json!(null)),
            ("9007199254740993 + 1", json!(9_007_199_254_740_994_u64)),
        ],
    );
}

#[test]
fn precedence() {
    for (source, same) in [
        ("a OR b AND c", "a OR (b AND c)"),
        ("a AND b OR c", "(a AND b) OR c"),
        ("NOT a AND b", "(NOT a) AND b"),
        ("NOT a == b", "(NOT a) == b"),
        ("a + 1 > b * 2 AND c", "((a + 1) > (b * 2)) AND c"),
        ("-a * b", "(-a) * b"),
        ("EMPTY a == b", "(EMPTY a) == b"),
        ("a && b || !c", "(a AND b) OR (NOT c)"),
        ("a not in b or c", "(a NOT IN b) OR c"),
        ("a + b IS SET AND c", "((a + b) IS SET) AND c"),
        ("a - b - c", "(a - b - c)"),
    ] {
        assert_eq!(compile(source).expr(), compile(same).expr(), "{source}");
    }
    for (source, other) in [
        ("a - (b - c)", "a - b - c"),
        ("a AND (b AND c)", "a AND b AND c"),
        ("NOT (a == b)", "NOT a == b"),
    ] {
        assert_ne!(compile(source).expr(), compile(other).expr(), "{source}");
    }
}

#[test]
fn canonical_text() {
    for (source, canonical) in [
        ("a&&b||not c", "a AND b OR NOT c"),
        ("(a and b) and c", "(a AND b) AND c"),
        ("exists a.b", "a.b IS SET"),
        ("a  NOT  Contains 'x'", "a NOT contains \"x\""),
        ("not a == b", "(NOT a) == b"),
        ("lower( a['x y'] )[0]", "LOWER(a[\"x y\"])[0]"),
        ("(1).length", "(1).length"),
        ("a matches /x\\/y/i", "a matches /x\\/y/i"),
        ("a matches \"\\d\"", "a matches \"\\\\d\""),
        ("- (1 + 2) * -3", "-(1 + 2) * -3"),
        ("a.in.NOT", "a.in.NOT"),
    ] {
        assert_eq!(compile(source).expr().to_string(), canonical, "{source}");
    }
}

#[test]
fn roots_are_named_once_with_their_place() {
    let program = compile("params.a > 1 AND (tool.name == 'x' OR LOWER(params.b) == now)");
    let roots: Vec<_> = program.roots().collect();
    assert_eq!(roots, ["params", "tool", "now"]);
    for (name, span) in program.root_spans() {
        assert_eq!(span.text(program.source()), name);
    }
    assert_eq!(program.source().len(), 61);
}

#[test]
fn programs_cross_threads() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Program>();
}
