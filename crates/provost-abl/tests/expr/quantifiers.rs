//! `ALL`, `ANY` and `NONE`: conditions on the members of a list, complete or known in part.

use jiff::Timestamp;
use provost_abl::expr::{
    EvalError, JsonScope, Known, Limits, Program, Scope, Standing, Value, lints, parse,
};
use serde_json::json;

use crate::{compile, noon};

fn strict(source: &str, roots: &serde_json::Value) -> Result<bool, EvalError> {
    compile(source)
        .strict()
        .test(&JsonScope::new(roots, noon()))
}

#[test]
fn p19_quantifiers_over_lists() {
    let roots = json!({
        "to": ["a@us", "b@us"], "mixed": ["a@us", "c@them"], "none": [], "null": null,
        "rows": [{"id": 1, "tags": ["x"]}, {"id": 2, "tags": ["x", "y"]}], "all": 5, "any": 5,
    });
    for (source, expected) in [
        ("ALL x IN to SATISFY (x ENDS_WITH '@us')", true),
        ("ALL x IN mixed SATISFY (x ENDS_WITH '@us')", false),
        ("ANY x IN mixed SATISFY (x ENDS_WITH '@them')", true),
        ("ANY x IN to SATISFY (x ENDS_WITH '@them')", false),
        ("NONE x IN to SATISFY (x ENDS_WITH '@them')", true),
        ("NONE x IN mixed SATISFY (x ENDS_WITH '@them')", false),
        ("any x in mixed satisfies (x == 'a@us')", true),
        ("ALL x IN ['a', 'b'] SATISFY (x IN ['a', 'b', 'c'])", true),
        ("ALL r IN rows SATISFY (r.id < 3 AND 'x' IN r.tags)", true),
        (
            "ANY r IN rows SATISFY (ANY t IN r.tags SATISFY (t == 'y' AND r.id == 2))",
            true,
        ),
        (
            "ALL r IN rows SATISFY (ANY t IN r.tags SATISFY (t == 'y'))",
            false,
        ),
        ("NOT ALL x IN mixed SATISFY (x ENDS_WITH '@us')", true),
        ("(ALL x IN to SATISFY (x ENDS_WITH '@us')) == true", true),
        ("ALL x IN to SATISFY (x ENDS_WITH '@us') AND all == 5", true),
        // Of nothing none of them holds, and a negation does not either.
        ("ALL x IN none SATISFY (x == 1)", false),
        ("ANY x IN none SATISFY (x == 1)", false),
        ("NONE x IN none SATISFY (x == 1)", false),
        ("NOT (ANY x IN none SATISFY (x == 1))", false),
        ("NOT (ALL x IN missing SATISFY (x == 1))", false),
        ("NONE x IN null SATISFY (x == 1)", false),
        ("NOT (NONE x IN null SATISFY (x == 1))", false),
        // These words are still names.
        ("all == 5 AND any IN [5] AND none IS NOT SET == false", true),
    ] {
        let source = source.replace("none IS NOT SET == false", "none IS SET");
        assert_eq!(strict(&source, &roots), Ok(expected), "{source}");
    }
    for source in [
        "ALL x IN all SATISFY (x == 1)",
        "ANY x IN rows SATISFY (x == 'a')",
        "ALL r IN rows SATISFY (r.id == ['1'])",
        "ALL r IN rows SATISFY (r.id.deep == 1)",
        "NONE r IN rows SATISFY (r.tags == 'x')",
    ] {
        assert!(strict(source, &roots).is_err(), "{source}");
    }
}

#[test]
fn p19_what_settles_a_quantifier_settles_it_beside_what_cannot_be_judged() {
    let roots = json!({"xs": [["a"], "b"]});
    for (source, expected) in [
        ("ANY x IN xs SATISFY (x == 'b')", Some(true)),
        ("NONE x IN xs SATISFY (x == 'b')", Some(false)),
        ("ALL x IN xs SATISFY (x == 'c')", Some(false)),
        ("ALL x IN xs SATISFY (x == 'b')", None),
        ("ANY x IN xs SATISFY (x == 'c')", None),
    ] {
        assert_eq!(strict(source, &roots).ok(), expected, "{source}");
    }
}

#[test]
fn p19_quantifiers_read_back_and_name_their_roots() {
    for source in [
        "ALL part IN command.parts SATISFY (part.program == \"git\" AND part.words[1] IN [\"status\"])",
        "NOT ANY x IN a + b SATISFY (x == 1 OR NONE y IN x.ys SATISFY (y == x.z))",
        "(ALL x IN xs SATISFY (x)) == true",
    ] {
        let program = compile(source);
        let text = program.expr().to_string();
        assert_eq!(compile(&text).expr(), program.expr(), "{text}");
    }
    let program = compile("ALL x IN a.b SATISFY (x.c == d AND ANY y IN x.e SATISFY (y == x))");
    assert_eq!(program.roots().collect::<Vec<_>>(), ["a", "d"]);
}

#[test]
fn p19_mistakes_are_told_with_their_place() {
    for (source, at, message) in [
        (
            "ALL command.parts SATISFY (x == 1)",
            ".",
            "expected `IN`, found `.`",
        ),
        (
            "ALL x IN xs.ys (x == 1)",
            "(",
            "expected `SATISFY`, found `(`",
        ),
        ("ALL x IN xs SATISFY x == 1", "x", "expected `(`, found `x`"),
        ("ALL x IN xs SATISFY (x == 1", "(", "`(` is not closed"),
        (
            "EVERY x IN xs SATISFY (x == 1)",
            "EVERY",
            "unknown quantifier `EVERY`",
        ),
        (
            "ALL x IN xs SATISFY (ANY x IN x.ys SATISFY (x == 1))",
            "x",
            "`x` already names the members of a list around this one",
        ),
    ] {
        let errors = parse(source).errors;
        let error = errors.first().unwrap_or_else(|| panic!("{source}"));
        assert_eq!(error.message, message, "{source}");
        assert_eq!(error.span.text(source), at, "{source}");
        assert!(Program::compile(source).is_err());
    }
    let unused = compile("ALL x IN xs SATISFY (y == 1)");
    let found = lints(unused.expr());
    assert_eq!(found[0].message, "the condition says nothing about `x`");
}

#[test]
fn p19_quantifiers_are_bounded() {
    let roots = json!({"xs": vec![1; 200]});
    let nested = "ALL a IN xs SATISFY (ALL b IN xs SATISFY (a == b))";
    let outcome = strict(nested, &roots);
    assert!(
        matches!(outcome, Err(EvalError::TooMany { .. })),
        "{outcome:?}"
    );
    let limits = Limits {
        members: 50_000,
        ..Limits::default()
    };
    let program = compile(nested).strict().with_limits(limits);
    assert_eq!(program.test(&JsonScope::new(&roots, noon())), Ok(true));
}

/// `parts` and `risks` are known in part, `sure` wholly; `url` could not be read; `change` is not there.
struct Computed(Known, Known, Known);

impl Computed {
    fn new() -> Self {
        let part = |program: &str, words: &[&str], complete| {
            Known::Object(vec![
                ("program", Known::text(program)),
                ("words", Known::texts(words.iter().copied(), complete)),
            ])
        };
        let parts = [
            part("git", &["git", "log"], false),
            part("rm", &["rm", "x"], true),
        ];
        let sure = [part("git", &["git", "status"], true)];
        Self(
            Known::Object(vec![
                ("parts", Known::list(parts, false)),
                ("sure", Known::list(sure, true)),
            ]),
            Known::texts(["deletes"], false),
            Known::Bool(true),
        )
    }
}

impl Scope for Computed {
    fn root(&self, name: &str) -> Option<Value<'_>> {
        match name {
            "command" => Some(Value::from(&self.0)),
            "risks" => Some(Value::from(&self.1)),
            "unreadable" => Some(Value::from(&self.2)),
            _ => None,
        }
    }

    fn standing(&self, name: &str) -> Standing {
        match name {
            "url" => Standing::Unreadable,
            "change" => Standing::Absent,
            _ => Standing::Given,
        }
    }

    fn now(&self) -> Timestamp {
        noon()
    }

    fn unique_id(&self) -> String {
        String::new()
    }
}

#[test]
fn p19_what_is_known_in_part_settles_what_it_can() {
    const YES: Option<bool> = Some(true);
    const NO: Option<bool> = Some(false);
    for (source, expected) in [
        ("'deletes' IN risks", YES),
        ("'deletes' NOT IN risks", NO),
        ("risks CONTAINS 'deletes'", YES),
        ("'network' IN risks", None),
        ("'network' NOT IN risks", None),
        ("NOT (risks CONTAINS 'network')", None),
        ("EMPTY risks", None),
        ("risks", None),
        ("LENGTH(risks) == 1", None),
        ("risks.length == 1", None),
        ("risks == ['deletes']", None),
        ("risks IN [['deletes']]", None),
        ("JOIN(risks) == 'deletes'", None),
        ("risks[0] == 'deletes'", YES),
        ("risks[1] == 'network'", None),
        ("risks[1] IS NOT SET", None),
        ("risks IS SET", YES),
        ("command IS SET", YES),
        ("unreadable", YES),
        (
            "ALL p IN command.parts SATISFY (p.program IN ['git', 'rm'])",
            None,
        ),
        ("ALL p IN command.parts SATISFY (p.program == 'git')", NO),
        ("ANY p IN command.parts SATISFY (p.program == 'rm')", YES),
        ("ANY p IN command.parts SATISFY (p.program == 'curl')", None),
        (
            "NONE p IN command.parts SATISFY (p.program == 'curl')",
            None,
        ),
        ("NONE p IN command.parts SATISFY (p.program == 'rm')", NO),
        (
            "ANY p IN command.parts SATISFY (p.words == ['rm', 'x'])",
            YES,
        ),
        ("ANY p IN command.parts SATISFY (p.words[1] == 'log')", YES),
        ("ANY p IN command.parts SATISFY (p.words[2] == '-p')", None),
        (
            "ALL p IN command.sure SATISFY (p.words[1] IN ['status', 'log'])",
            YES,
        ),
        ("ALL p IN command.sure SATISFY (p.words[5] IS NOT SET)", YES),
        ("LENGTH(command.parts) == 2", None),
        ("LENGTH(OBJECT_VALUES(command)) == 2", None),
        ("command.parts[0].words[1] == 'log'", YES),
        // Another operand settles it.
        ("'network' IN risks AND command IS NOT SET", NO),
        ("'network' IN risks AND command IS SET", None),
        ("'network' IN risks OR command IS SET", YES),
        ("NOT ('network' IN risks AND command IS NOT SET)", YES),
        (
            "ALL p IN command.parts SATISFY (p.words == ['git'] AND p.program == 'rm')",
            NO,
        ),
        ("url.host == 'a'", None),
        ("url IS SET", YES),
        ("url.host IS SET", None),
        // What is not there: neither it nor its negation.
        ("change.paths CONTAINS 'a'", NO),
        ("NOT (change.paths CONTAINS 'a')", NO),
        ("'a' NOT IN change.paths", NO),
        ("change.x != 1", NO),
        ("NOT (change.x == 1)", NO),
        ("NONE p IN change.paths SATISFY (p == 'a')", NO),
        ("NOT (NONE p IN change.paths SATISFY (p == 'a'))", NO),
        ("EMPTY change.paths", NO),
        ("NOT change", NO),
        ("COALESCE(change.x, 1) == 1", NO),
        ("change IS SET", NO),
        ("change IS NOT SET", YES),
        ("NOT (change IS SET)", YES),
        ("change IS SET AND change.x == 1", NO),
        ("NOT (change IS SET AND change.x == 1)", YES),
        ("change.x == 1 OR 'deletes' IN risks", YES),
        ("NOT (change.x == 1 OR 'deletes' NOT IN risks)", NO),
    ] {
        let program = compile(source).strict();
        let program = program.with_computed(&["command", "risks", "unreadable", "url", "change"]);
        let scope = Computed::new();
        let outcome = program.test(&scope);
        assert_eq!(outcome.clone().ok(), expected, "{source}: {outcome:?}");
        let explanation = program.explain(&scope);
        assert_eq!(explanation.outcome, outcome, "{source}");
        let text = explanation.to_string();
        assert_eq!(
            expected.is_none(),
            text.lines().next().unwrap().contains("failed"),
            "{text}"
        );
    }
}

#[test]
fn p19_an_explanation_shows_the_member_that_settled_it() {
    let program = compile("ALL p IN command.parts SATISFY (p.program == 'git')")
        .strict()
        .with_computed(&["command"]);
    let text = program.explain(&Computed::new()).to_string();
    for part in [
        "SATISFY (p.program == 'git')` was false because",
        "`p` is {\"program\":\"rm\",\"words\":[\"rm\",\"x\"]} because",
        "`p.program == 'git'` was false because",
        "`p.program` is \"rm\"",
        "and what could not be read",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
