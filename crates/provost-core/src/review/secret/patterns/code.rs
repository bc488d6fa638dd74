//! Secrets in code, SQL, documents and the files of single programs.

use super::{Find, Pattern};

pub(super) const PATTERNS: &[Pattern] = &[
    // `.password("…")` of a builder.
    (
        "secret",
        Find::Named,
        r"\.(?P<name>[a-z][A-Za-z0-9_]{2,30})(?P<op>\()",
    ),
    // The address of a database in Go: `user:password@tcp(host)/name`.
    (
        "password",
        Find::Whole,
        r#"\b[A-Za-z0-9_.-]{1,40}:([^\s@"'`/]{1,80})@(?:tcp|unix)\("#,
    ),
    // `#define API_KEY "…"`, `storePassword "…"`.
    (
        "secret",
        Find::Quoted,
        r"(?m)^[ \t+]*(?:#[ \t]*define[ \t]+(?P<name>[A-Za-z0-9_]+)|(?:store|key)Password)[ \t]+",
    ),
    // `public string ApiKey { get; set; } = "…"`.
    (
        "secret",
        Find::Quoted,
        r"\b(?P<name>[A-Za-z0-9_]+)[ \t]{0,4}\{[ \t]{0,4}get;[^{}\n]*\}[ \t]{0,4}=[ \t]{0,4}",
    ),
    // `${DB_PASSWORD:-…}`, and `PASSWORD=${1:-…}`.
    (
        "secret",
        Find::Named,
        r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]+):?(?P<op>[-=])",
    ),
    (
        "secret",
        Find::Named,
        r#"(?P<name>[A-Za-z_][A-Za-z0-9_]+)=["']?\$\{[0-9]{1,2}:?(?P<op>[-=])"#,
    ),
    // `auth=("ann", "…")`, `SetBasicAuth("ann", "…")`, `.bearer_auth("…")`.
    (
        "password",
        Find::Random,
        r#"(?i)(?:\bauth[ \t]{0,2}=[ \t]{0,2}[a-z_.]{0,30}|basic_?auth|networkcredential|username_pw_set|create_?(?:super_?)?user|change_?user_?password|\.login)\([ \t]{0,4}(?:["'][^"'\n]*["'][ \t]{0,4},[ \t]{0,4}){1,2}(?:some\()?["']([^"'\s]{6,})["']"#,
    ),
    (
        "bearer token",
        Find::Random,
        r#"(?i)bearer_?(?:auth|token)\([ \t]{0,4}["']([^"'\s]{6,})["']"#,
    ),
    // `page.fill("#password", "…")`, `getByLabel("Password").fill("…")`.
    (
        "password",
        Find::Random,
        r#"(?i)["'][^"'\n]*passw[^"'\n]*["'][ \t]{0,2}(?:,[ \t]{0,4}|\)\.(?:fill|type|send_?keys|press_?sequentially)\([ \t]{0,2})["'`]([^"'`\s]{4,})["'`][ \t]{0,2}\)"#,
    ),
    // SQL.
    (
        "password",
        Find::Quoted,
        r"(?i)\bset[ \t]{1,4}password[ \t]{1,4}for[ \t]{1,4}\S+[ \t]{0,4}=[ \t]{0,4}(?:password\()?",
    ),
    (
        "secret",
        Find::Columns,
        r"(?i)\binsert[ \t]{1,4}into[ \t]{1,4}\S+?\s*\((?P<columns>[^()]+)\)\s*values\s*\(",
    ),
    (
        "secret",
        Find::Random,
        r"(?i)\bvalue[ \t]{0,4}=[ \t]{0,4}'([^'\s]{4,})'[ \t]{1,4}where[ \t]{1,4}[a-z_.]+[ \t]{0,4}=[ \t]{0,4}'(?P<name>[^']+)'",
    ),
    // `type = "SecureString"` above `value = "…"`.
    (
        "secret",
        Find::Quoted,
        r#""SecureString"[^{}]*?\bvalue[ \t]{0,8}=[ \t]{0,8}"#,
    ),
    // `**Password:** …` and `| password | … |`.
    (
        "secret",
        Find::Named,
        r"(?i)\*\*(?P<name>[a-z0-9_ -]*(?:pass|pwd|secret|token|key|cred)[a-z0-9_-]*)(?:(?P<op>:)\*\*|\*\*:)[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Named,
        r"(?im)^[ \t+]{0,8}\|[ \t]*[*`]{0,2}(?P<name>[a-z0-9_ -]*(?:pass|pwd|secret|token|key|cred)[a-z0-9_-]*)[*`]{0,2}[ \t]*(?P<op>\|)[ \t]*",
    ),
    // `Use the API key: …`, `log in with password …`.
    (
        "secret",
        Find::Token,
        r#"(?i)\b(?:password|passphrase|api[ _-]key)(?:[ \t]{1,2}|:[ \t]{1,4})["'`]?([A-Za-z0-9_+/=-]{12,})"#,
    ),
    // The lines of `.pgpass`, `.htpasswd` and `userlist.txt`.
    (
        "password",
        Find::Random,
        r#"(?m)(?:^|["'+])[^\s:\#/"'+]+:(?:[0-9]{1,5}|\*):[^\s:"']+:[^\s:"']+:([^\s:"']{4,})["']?$"#,
    ),
    (
        "password hash",
        Find::Whole,
        r"(?m)^[ \t+]{0,8}[A-Za-z0-9_.@-]+:(\$(?:apr1|2[aby]|5|6|y)\$[^\s:]{8,}|\{SHA\}[A-Za-z0-9+/=]{8,})",
    ),
    (
        "password hash",
        Find::Whole,
        r#"(?m)^[ \t+]{0,8}"[^"\s]+"[ \t]{1,4}"(md5[0-9a-f]{32}|SCRAM-SHA-256\$[^"\s]{8,})""#,
    ),
];
