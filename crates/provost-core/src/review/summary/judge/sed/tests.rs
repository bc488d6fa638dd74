use super::*;

fn sed(words: &[&str]) -> Sed {
    let words: Vec<Word> = words.iter().map(|word| Word::literal(word)).collect();
    read(&words)
}

#[test]
fn p19_only_scripts_that_are_read_to_their_end_are_plain() {
    for words in [
        &["s/a/b/g", "x"][..],
        &["-n", "1,5p", "x"],
        &["s/one/three/", "x"],
        &["-i", "s/a/e/", "x"],
        &["-i", "", "s/a/b/", "x"],
        &["-ne", "/re/I,/[x]y/{=;p}", "x"],
        &["--expr=s|a|b|", "x"],
        &["-E", "s/(a|b)/[\\1]/2;y/ab/cd/;$!N;ba", "x"],
        &["/x/a some text; e evil", "x"],
        &["1~2d;\\,x,d", "x"],
        &["/^$/d", "x"],
        &["a foo\\\ne evil", "x"],
    ] {
        let found = sed(words);
        assert!(
            found.risks.is_empty() && found.writes.is_empty(),
            "{words:?} {found:?}"
        );
    }
    for words in [
        &["1e", "x"][..],
        &["s/a/b/e", "x"],
        &["-e", "s/a/b/ge", "x"],
        &["/x/e evil", "x"],
        &["1~2e evil", "x"],
        &["\\,x,e", "x"],
        &["--exp=e evil", "x"],
        &["-n", "p", "-e", "e evil"],
        &["e evil", "-n", "x"],
        &["-i", "", "e evil", "x"],
        &["{;e evil\n}", "x"],
        &["a foo\\\\\ne evil", "x"],
    ] {
        assert!(sed(words).risks.contains(&Risk::RunsText), "{words:?}");
    }
    for words in [
        &["-f", "x"][..],
        &["-nf", "x"],
        &["--file=x"],
        &["--what", "p"],
        &["-l", "p", "e evil", "x"],
        &["--line-length", "p", "e evil", "x"],
        &["s/a/b", "x"],
        &["v;p", "x"],
        &["s/[/]/b/;e evil #/", "x"],
    ] {
        assert!(sed(words).risks.contains(&Risk::Unreadable), "{words:?}");
    }
    // Two readings: to GNU's sed the script is a file here.
    for words in [&["a\\", "-e", "e evil"][..], &["e evil", "-e", "a\\"]] {
        assert!(sed(words).risks.contains(&Risk::RunsText), "{words:?}");
    }
    for words in [
        &["s/x/y/w/etc/x"][..],
        &["w /etc/x"],
        &["-n", "p", "-e", "w/etc/x"],
    ] {
        assert_eq!(sed(words).writes, ["/etc/x"], "{words:?}");
    }
}

#[test]
fn p19_an_empty_word_behind_in_place_is_the_script_of_gnu_sed() {
    for (words, files) in [
        (&["-i", "", "a.txt"][..], "a.txt"),
        (&["-i", "", "a.txt", "b.txt"], "a.txt b.txt"),
        (&["-i", "", "notes.txt", "b.txt"], "notes.txt b.txt"),
        (&["-i", "", "/foo/d", "b.txt"], "b.txt"),
        (&["-i", "", "s/a/b/", "b.txt"], "b.txt"),
        (&["-i", "", "1d", "b.txt"], "b.txt"),
        (&["-i", "", "/etc/x"], "/etc/x"),
        (&["-n", "", "a.txt"], ""),
    ] {
        assert_eq!(sed(words).in_place.join(" "), files, "{words:?}");
    }
}

#[test]
fn p19_flags_behind_files_change_them_in_place() {
    for (words, files) in [
        (&["-i", "s/x/y/", "a.py", "-E"][..], "a.py -E"),
        (&["d", "a.py", "-i"], "a.py"),
        (&["d", "a.py", "--in-place"], "a.py"),
        (&["-e", "s/x/y/", "a.py", "-i.bak"], "a.py.bak a.py"),
        (&["s/x/y/", "-i", "a.py"], "a.py"),
        (&["-n", "1,5p", "a.py", "-i", "-e", "d"], "1,5p a.py"),
        (&["-i", "", "-e", "s/x/y/", "a.py"], "a.py"),
        (&["-i", "", "s/x/y/", "a.py"], "a.py"),
        (&["-i", ".bashrc", "-e", "s/x/y/"], ".bashrc"),
        (&["-i", ".bak", "s/x/y/", "a.py"], "a.py a.py.bak"),
    ] {
        let found = sed(words);
        assert_eq!(found.in_place.join(" "), files, "{words:?}");
        let sure = !found.risks.contains(&Risk::Unreadable);
        assert!(sure, "{words:?} {found:?}");
    }
}
