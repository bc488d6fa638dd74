//! `WITHIN` and the path form of `STARTS_WITH`: the ways out that must be closed.

use provost_abl::expr::{Ambiguous, EvalError, Span, starts_with, within};
use serde_json::json;

use crate::{check, params, try_eval};

#[test]
fn within_is_by_component() {
    for (path, folder, expected) in [
        ("/proj", "/proj", true),
        ("/proj/", "/proj", true),
        ("/proj/a/b", "/proj/", true),
        ("/proj/./a", "/./proj", true),
        ("/proj/a/../b", "/proj", true),
        ("/proj/a", "/", true),
        ("/proj/../etc", "/proj", false),
        ("/proj/a/../../etc", "/proj", false),
        ("/project-evil", "/proj", false),
        ("/projx/a", "/proj", false),
        ("/../../proj/a", "/proj", true),
        ("/Proj/a", "/proj", false),
        ("/proj/%2e%2e/etc", "/proj", true),
        ("/a", "/proj/../a", true),
        ("proj/a", "proj", true),
        ("./proj/a", "proj", true),
        ("proj/a", "./", true),
        ("proj/a", ".", true),
        ("proj/a", "/proj", false),
        ("/proj/a", "proj", false),
        ("../proj/a", "proj", false),
        ("proj/../../x", ".", false),
        ("../a", "..", false),
        ("a", "..", false),
        ("", ".", false),
        ("a", "", false),
        ("C:\\proj\\a", "c:/proj", true),
        ("c:/proj/../etc", "C:\\proj", false),
        ("D:\\proj", "C:\\proj", false),
        ("C:proj\\a", "C:\\proj", false),
        ("C:..\\a", "C:", false),
        ("/proj", "C:\\proj", false),
        ("\\\\server\\share\\a", "\\\\server\\share", true),
        ("\\\\srv\\project", "/srv/project", false),
        ("~/proj/a", "~/proj", true),
        ("~/../proj", "~", false),
        ("~root/x", "~", false),
        ("~/x", ".", false),
        ("file:///proj/a", "/proj", false),
    ] {
        assert_eq!(
            within(path, folder),
            Ok(expected),
            "{path:?} WITHIN {folder:?}"
        );
    }
}

#[test]
fn starts_with_is_by_component_only_for_paths() {
    for (text, start, expected) in [
        ("/proj/a", "/proj/", true),
        ("/proj/a", "/proj", true),
        ("/proj", "/proj/", true),
        ("/proj/../etc", "/proj", false),
        ("/proj/../etc", "/proj/", false),
        ("/project-evil", "/proj", false),
        ("/anything", "/", true),
        ("a/b", "./", true),
        ("./a", "./", true),
        ("../a", "./", false),
        ("a/../../b", "./", false),
        ("../a", "../", true),
        ("../../a", "..", true),
        ("x/../../a", "../", true),
        ("a", "../", false),
        ("../shared/a", "../shared", true),
        ("../shared/../../etc", "../shared", false),
        ("../../shared/a", "../shared", false),
        ("~/proj/a", "~/proj", true),
        ("~/proj/../../x", "~/", false),
        ("c:\\proj\\a", "C:/proj", true),
        ("c:\\proj-evil", "C:/proj", false),
        ("\\\\server\\share-evil", "\\\\server\\share", false),
        ("proj/a", "/proj", false),
        ("files.read", "files.", true),
        ("project-evil", "proj", true),
        ("C: drive", "C:", true),
        ("...", ".", true),
        ("anything", "", true),
    ] {
        assert_eq!(
            starts_with(text, start),
            Ok(expected),
            "{text:?} STARTS_WITH {start:?}"
        );
    }
}

#[test]
fn operators_use_them() {
    check(
        &params(),
        &[
            ("params.path WITHIN '/srv/project'", json!(true)),
            ("params.path within '/srv/pro'", json!(false)),
            ("params.path WITHIN ['/tmp', '/srv']", json!(true)),
            ("params.path WITHIN ['/tmp', null, 5]", json!(false)),
            ("params.path WITHIN []", json!(false)),
            ("params.path WITHIN SPLIT('/tmp,/srv', ',')", json!(true)),
            ("params.path NOT WITHIN '/tmp'", json!(true)),
            ("params.nothing WITHIN '/srv'", json!(false)),
            ("params.amount WITHIN '.'", json!(false)),
            ("params.tags WITHIN '.'", json!(false)),
            ("params.path WITHIN null", json!(false)),
            ("params.path STARTS_WITH '/srv/project/'", json!(true)),
            (
                "'/srv/project/../x' STARTS_WITH '/srv/project/'",
                json!(false),
            ),
            ("params.path STARTS_WITH '/srv/pro'", json!(false)),
            ("params.path ENDS_WITH '.rs'", json!(true)),
        ],
    );
}

#[test]
fn paths_that_hide_dots_behind_backslashes_have_no_answer() {
    for (path, folder) in [
        ("/srv/p/q\\r\\s\\t/../../../etc/passwd", "/srv/p"),
        ("/srv/p/q\\r\\s\\t/../../../etc/passwd", "/etc"),
        ("/srv\\x/../etc/passwd", "/etc"),
        ("/proj\\..\\..\\etc", "/etc"),
        ("/proj/..\\etc", "/proj"),
        ("/proj/a\\..\\..\\x", "/proj"),
        ("\\proj\\a", "/proj"),
        ("/proj\\a", "/proj"),
        ("proj\\a", "proj"),
        ("..\\a", "."),
        ("a\\b/../../c", "."),
        ("/a/b", "/a\\b"),
        ("~\\x", "~"),
        // A drive in one system, a folder in the other.
        ("C:\\x", "."),
        ("C:/../etc", "."),
        ("c:/proj/x", "./C:\\proj/.."),
        ("C:\\proj\\a\\b\\c/../../x", "C:\\proj"),
        ("C:/proj/../../proj/x", "C:\\proj"),
        // A share in one, the root in the other.
        ("//proj//a", "/proj"),
        ("//evil/share/x", "/"),
        ("//./proj/x", "/proj"),
        ("\\\\server\\share\\..\\other", "\\\\server\\share"),
        // Cut off at the NUL by some.
        ("/etc/passwd\0.txt", "/etc"),
        ("/proj/\0/../../etc", "/proj"),
        ("/proj/a", "/proj\0"),
        // Windows drops the dots and spaces that end a name.
        ("/proj./a", "/proj"),
        ("/proj /a", "/proj"),
        ("C:\\Windows. .\\x", "C:\\Windows"),
        ("/proj/a/.. /.. /x", "/proj"),
        ("/proj/.../../x", "/proj"),
    ] {
        assert_eq!(
            within(path, folder),
            Err(Ambiguous),
            "{path:?} WITHIN {folder:?}"
        );
    }
    for (text, start) in [
        ("/srv/p/q\\r\\s\\t/../../../etc/passwd", "/srv/p/"),
        ("/srv\\x/../etc/passwd", "/etc"),
        ("..\\a", "../"),
        ("..\\a", "./"),
        ("/proj\0/a", "/proj"),
    ] {
        assert_eq!(
            starts_with(text, start),
            Err(Ambiguous),
            "{text:?} STARTS_WITH {start:?}"
        );
    }
}

#[test]
fn odd_paths_on_which_all_systems_agree_have_one() {
    for (path, folder, expected) in [
        ("/proj/a\\b", "/proj", true),
        ("/other/a\\b", "/proj", false),
        ("/proj\\..\\..\\etc", "/proj", false),
        ("src\\main.rs", ".", true),
        ("//other/x", "/proj", false),
        ("C:\\etc\\x", "/etc", false),
        ("C:/proj/a/../b", "C:/proj", true),
        ("\\\\?\\C:\\Windows\\x", "C:\\Windows", true),
        ("\\??\\c:\\Windows\\x", "C:\\Windows", true),
        ("\\\\.\\PhysicalDrive0", "C:\\", false),
        ("\\\\?\\UNC\\server\\share\\a", "\\\\server\\share", true),
        ("./...", ".", true),
        ("/proj/v1./a b /c", "/proj", true),
        // Names like others, which look like separators to people only.
        ("/proj\u{2215}..\u{2215}etc", "/proj", false),
        ("/proj/a\u{ff0f}..\u{ff0f}..\u{ff0f}x", "/proj", true),
        ("/proj/%2e%2e%2fetc", "/proj", true),
        ("/PROJ/a", "/proj", false),
    ] {
        assert_eq!(
            within(path, folder),
            Ok(expected),
            "{path:?} WITHIN {folder:?}"
        );
    }
}

#[test]
fn an_ambiguous_path_is_an_error_with_its_place() {
    let roots = json!({"p": "/srv\\x/../etc/passwd", "folders": ["/tmp", "/etc"]});
    for source in [
        "p WITHIN '/etc'",
        "p NOT WITHIN '/etc'",
        "p WITHIN ['/tmp', '/etc']",
        "p WITHIN folders",
        "p STARTS_WITH '/etc'",
    ] {
        let span = Span::new(0, 1);
        assert_eq!(
            try_eval(source, &roots),
            Err(EvalError::Ambiguous { span }),
            "{source}"
        );
    }
}
