//! `WITHIN` and the path form of `STARTS_WITH`: the ways out that must be closed.

use provost_abl::expr::{starts_with, within};
use serde_json::json;

use crate::{check, params};

#[test]
fn within_is_by_component() {
    for (path, folder, expected) in [
        ("/proj", "/proj", true),
        ("/proj/", "/proj", true),
        ("/proj/a/b", "/proj/", true),
        ("//proj//a", "/proj", true),
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
        ("/proj/\0/../../etc", "/proj", false),
        ("/proj/a", "/proj\0", false),
        ("/proj\\..\\..\\etc", "/proj", false),
        ("/proj/..\\etc", "/proj", false),
        ("\\proj\\a", "/proj", true),
        ("C:\\proj\\a", "c:/proj", true),
        ("c:/proj/../etc", "C:\\proj", false),
        ("D:\\proj", "C:\\proj", false),
        ("C:proj\\a", "C:\\proj", false),
        ("C:..\\a", "C:", false),
        ("/proj", "C:\\proj", false),
        ("\\\\server\\share\\a", "\\\\server\\share", true),
        ("\\\\server\\share\\..\\other", "\\\\server\\share", false),
        ("\\\\srv\\project", "/srv/project", false),
        ("~/proj/a", "~/proj", true),
        ("~/../proj", "~", false),
        ("~root/x", "~", false),
        ("~/x", ".", false),
        ("file:///proj/a", "/proj", false),
    ] {
        assert_eq!(within(path, folder), expected, "{path:?} WITHIN {folder:?}");
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
        ("/proj\0/a", "/proj", false),
        ("files.read", "files.", true),
        ("project-evil", "proj", true),
        ("C: drive", "C:", true),
        ("...", ".", true),
        ("anything", "", true),
    ] {
        assert_eq!(
            starts_with(text, start),
            expected,
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
