//! Values behind the name of a secret, in files, in code and in what people write.

use super::{Find, Pattern};

pub(super) const PATTERNS: &[Pattern] = &[
    (
        "password",
        Find::Program,
        r"(?i)(?:(?P<program>machine)[ \t]{1,4}\S+|(?m:^)[ \t]{0,8}default)\s{1,8}(?:login\s{1,8}\S+\s{1,8})?password[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Named,
        r#"(?i)(?P<name>[a-z0-9_.-]*(?:pass|pwd|pw|pswd|psk|secret|token|key|cred|otp|pin|cvv|jwt|bearer|auth|sig|pat|sess|seed|code|sid|senha|wort|woord|contrase[nñ]a|connectionstring|mnemonic)[a-z0-9_.-]*)(?P<close>(?:\\?["'])?\]?)(?:\[[0-9]{0,6}\])?(?P<op>[ \t]{0,4}(?::[ \t]{0,4}&?[a-z][a-z0-9_.]{0,30}\??[ \t]{0,4}=|=>|:=|\?=|<-|\|\||\?\?|=|:|,)[ \t]{0,16})"#,
    ),
    // `- name: DB_PASSWORD` above `value: …`, `{"key": "token", "value": "…"}`, `<add key="token" value="…"/>`.
    (
        "secret",
        Find::Named,
        r#"(?i)\b(?:name|key)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}(?:\\?["'])?(?P<name>[a-z0-9_.-]*(?:pass|pwd|secret|token|key|cred)[a-z0-9_.-]*)\\?["']?[\s,+]{1,80}(?:\#[^\n]{0,120}\n[\s+]{0,80})?(?:\\?["'])?value\\?["']?(?P<op>[ \t]{0,4}[:=][ \t]{0,4})"#,
    ),
    // `variable "db_password" { default = "…" }`.
    (
        "secret",
        Find::Named,
        r#"\bvariable[ \t]{1,4}"(?P<name>[A-Za-z0-9_-]+)"[ \t]{0,4}\{[^{}]{0,200}?\bdefault(?P<op>[ \t]{0,8}=[ \t]{0,8})"#,
    ),
    // `<string name="api_key">…</string>`.
    (
        "secret",
        Find::Named,
        r#"<[a-zA-Z][^<>]{0,80}\b(?:name|key)="(?P<name>[A-Za-z0-9_.-]+)"[^<>]{0,40}(?P<op>>)"#,
    ),
    // `<key>Password</key><string>…</string>`.
    (
        "secret",
        Find::Named,
        r"<key>(?P<name>[A-Za-z0-9_. -]{1,80})</key>\s{0,80}<string(?P<op>>)",
    ),
    // `let password = String::from("…")`.
    (
        "secret",
        Find::Named,
        r"(?i)(?P<name>[a-z0-9_.-]*(?:pass|pwd|secret|token|key|cred)[a-z0-9_.-]*)[ \t]{0,4}(?::[ \t]{0,4}&?[a-z][a-z0-9_.<>]{0,30}[ \t]{0,4}=|=|:)[ \t]{0,4}(?:new[ \t]{1,4})?(?:Some\()?(?:(?:std::)?string(?:::from|::new)?|secret(?:string|str|box)?(?:::from|::new|::from_str)?)(?P<op>\()",
    ),
    // `requirepass …` of a server's settings.
    (
        "password",
        Find::After,
        r"(?m)^[ \t]{0,8}(?:requirepass|masterauth)[ \t]{1,4}",
    ),
    (
        "password",
        Find::Random,
        r#"(?i)\b(?:password|passphrase|passcode|token|secret|api[ _-]?key)[ \t]{1,2}(?:is|was|to|will[ \t]be)(?:[ \t]{1,2}now)?[ \t:]{1,4}["'`]?([^\s"'`,;]{6,})"#,
    ),
    // `.setPassword("…")`.
    (
        "secret",
        Find::Named,
        r"\b(?:set|with)(?P<name>[A-Z][A-Za-z0-9]{2,30})(?P<op>\()",
    ),
    (
        "secret",
        Find::Named,
        r"(?m)^[ \t]{0,8}(?:ENV|ARG)[ \t]{1,4}(?P<name>[A-Za-z0-9_]+)(?P<op>[ \t]{1,4})",
    ),
    (
        "password",
        Find::Quoted,
        r"(?i)\b(?:password|identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,60}[ \t]{1,4})?by)[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Named,
        r"(?i)<(?:[a-z0-9]+:)?(?P<name>[a-z0-9_.-]*(?:pass|pwd|secret|token|key|cred)[a-z0-9_.-]*)(?P<op>>)",
    ),
    (
        "secret",
        Find::Block,
        r#"(?im)^(?P<indent>[ \t+>-]{0,80})["']?(?P<name>[a-z0-9_.-]*(?:pass|pwd|pw|secret|token|key|cred)[a-z0-9_.-]*)["']?:[ \t]{0,4}[|>][0-9+-]{0,2}[ \t]{0,4}\n"#,
    ),
    (
        "secret",
        Find::Flag,
        r#"(?i)(?:^|[\s"'])--?(?P<name>[a-z0-9_-]*(?:pass|pwd|psk|secret|token|key|cred|cookie|auth)[a-z0-9_-]*)[ \t]{1,4}"#,
    ),
];
