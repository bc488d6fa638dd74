use super::*;

/// Pipelines as lists of commands as lists of words.
fn read(text: &str) -> (Vec<Vec<Vec<String>>>, bool) {
    let script = parse(text);
    let words = |command: &Command| command.words.iter().map(|word| word.text.clone()).collect();
    let pipelines = script.pipelines.iter();
    let pipelines = pipelines.map(|pipeline| pipeline.commands.iter().map(words).collect());
    (pipelines.collect(), script.sound)
}

#[test]
fn commands_are_split_into_pipelines_and_words() {
    let cases: &[(&str, &[&[&[&str]]])] = &[
        ("", &[]),
        ("ls -l", &[&[&["ls", "-l"]]]),
        ("a|b |& c", &[&[&["a"], &["b"], &["c"]]]),
        (
            "a;b&&c||d&e\nf",
            &[
                &[&["a"]],
                &[&["b"]],
                &[&["c"]],
                &[&["d"]],
                &[&["e"]],
                &[&["f"]],
            ],
        ),
        (
            r#"'a b' "c d" e\ f "g\"h" 'i'"j""#,
            &[&[&["a b", "c d", "e f", "g\"h", "ij"]]],
        ),
        (r"r\m 'r'm", &[&[&["rm", "rm"]]]),
        (r"$'\x72\155' $'a\tb'", &[&[&["rm", "a\tb"]]]),
        ("a \\\n b", &[&[&["a", "b"]]]),
        ("a # b; c\nd", &[&[&["a"]], &[&["d"]]]),
        ("a 2>&1 >x 2>>y <z &>w", &[&[&["a"]]]),
        ("a 'x;y|z' \"&&\"", &[&[&["a", "x;y|z", "&&"]]]),
        ("cat <<EOF\nrm -rf /\nEOF\nls", &[&[&["cat"]], &[&["ls"]]]),
        (
            "cat <<-'E F' | sh\nx\n\tE F\nls",
            &[&[&["cat"], &["sh"]], &[&["ls"]]],
        ),
        (
            "a <<X <<Y; b\n1\nX\n2\nY\nc",
            &[&[&["a"]], &[&["b"]], &[&["c"]]],
        ),
        ("a <<<'b c' d", &[&[&["a", "d"]]]),
        ("f() { a; }; f", &[&[&["{", "a"]], &[&["}"]], &[&["f"]]]),
        (
            "echo $((1 + (2 * 3))) ; ((x > 1))",
            &[&[&["echo", "$((1 + (2 * 3)))"]], &[&[]]],
        ),
        (
            "case $x in a|b) c;; *) d;; esac",
            &[
                &[&["case", "$x", "in", "a"], &["b"]],
                &[&["c"]],
                &[&["*"]],
                &[&["d"]],
                &[&["esac"]],
            ],
        ),
    ];
    for (text, expected) in cases {
        let (found, sound) = read(text);
        assert_eq!(found, *expected, "{text}");
        assert!(sound, "{text}");
    }
}

#[test]
fn what_is_not_understood_is_said() {
    for text in [
        "a 'b",
        "a \"b",
        "a `b",
        "a $(b",
        "a ${b",
        "(a",
        "a )",
        "a \\",
        "a >",
        "a b (c)",
        "a ;; b",
        "cat <<EOF\nx",
        "case x in a) b",
        "cat <<E 'a\nE\n'\nls",
        "a <<E\\\nOF\n$(b)\nEOF",
        "a <<-E\\\nOF\n$(b)\nEOF",
        "a <<A <<B\\\nC\nA\nBC\n",
        "a <<E \\\nE\na <<'X'\nE\nb\nX",
        "a <<E|a \\\nE\nb\nE",
        "a <<E 2>&1 \\\nE\nb\nE",
        "a <<E \\\n b\nx\nE",
        "a <<\\\n-E\n\tE\n",
        "a <<$'X'\n$X\nb\nX",
        "a <<$\"X\"\nX\n",
        "a <<X*\nX*\n",
        "a $(b <<E)\nx\nE",
        "a <<E $(b\nE\n)",
        "x$(b) () { a; }",
        "$(b)() { a; }",
        "a b () { c; }",
        "a >x () { c; }",
        "a ${x-'}' b 'c'} # '",
        "{ a } b",
        "a >! b",
        "a b=(c)",
        &format!("{}a{}", "$(".repeat(20), ")".repeat(20)),
    ] {
        assert!(!read(text).1, "{text}");
    }
}

#[test]
fn substitutions_and_groups_are_read() {
    for text in [
        "a $(b c)",
        "a \"x $(b c) y\"",
        "a `b c`",
        "a ${x:-$(b c)}",
        "a <(b c)",
        "a > >(b c)",
        "cat <<E\n$(b c)\nE\n",
        "(b c)",
        "x=(b c)",
        "a \"`echo \\`b c\\``\"",
    ] {
        let script = parse(text);
        assert!(script.sound, "{text}");
        assert!(format!("{script:?}").contains("\"c\""), "{text}");
    }
    let quoted = parse("cat <<'E'\n$(b c)\nE\n");
    assert!(!format!("{quoted:?}").contains("\"c\""));
}

/// Whatever an agent writes, reading it ends soon and within the stack of a small thread.
#[test]
fn p10_hostile_commands_are_read_within_bounds() {
    let read = || {
        for text in [
            format!("{}{}", "(".repeat(30_000), ")".repeat(30_000)),
            format!("(({}{}))", "(1".repeat(20_000), ")".repeat(20_000)),
            format!("{}ls", "! ".repeat(30_000)),
            format!("{}a;{}", "{ ".repeat(15_000), " }".repeat(15_000)),
            "((a;".repeat(15_000),
            "x=(a) ".repeat(10_000),
            "a{ ".repeat(20_000),
            "cat <<E ".repeat(8_000),
            "$(".repeat(30_000),
            "`".repeat(60_001),
            "${x:-".repeat(12_000),
        ] {
            let script = parse(&text);
            assert!(!script.sound, "{}", text.get(..20).unwrap());
        }
    };
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    small.spawn(read).unwrap().join().unwrap();
}
