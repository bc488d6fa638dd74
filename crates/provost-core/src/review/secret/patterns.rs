//! How secrets look: by themselves, or by what stands before them.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::review::with_ascii_words;

/// What a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// The match itself, or its first group, is the secret.
    Whole,
    /// As [`Find::Whole`], where the letters are in an order that nobody chose. Folders may begin like a token.
    Token,
    /// As [`Find::Whole`], where letters and digits are mixed.
    Random,
    /// As [`Find::Whole`], where the first part of the token can be read.
    Jwt,
    /// The password of a URL.
    Url,
    /// The lines of a private key, after its first.
    Key,
    /// The value after the match.
    After,
    /// As [`Find::After`], behind the program of a command, which is the group `program`.
    Program,
    /// As [`Find::Program`], where the group `user` is one that nobody chose.
    User,
    /// The value after the match, if the group `name` is the name of a secret.
    Named,
    /// As [`Find::Named`], for a flag whose value is the next word.
    Flag,
    /// The value after the match, if it is in quotes.
    Quoted,
    /// As [`Find::Named`], for the lines below that are indented further.
    Block,
    /// The one word that a program reads which takes a secret there: `echo … | PROGRAM`, `PROGRAM <<< …`.
    Input,
    /// Values of cookies.
    Cookies,
}

/// A kind, how it is found, and the pattern.
type Pattern = (&'static str, Find, &'static str);

const PATTERNS: [Pattern; 73] = [
    (
        "private key",
        Find::Key,
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]{0,10}-----(?:\\r)?(?:\r?\n|\\n)",
    ),
    (
        "aws key",
        Find::Whole,
        r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z2-7]{16}\b",
    ),
    (
        "github token",
        Find::Token,
        r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{22,}",
    ),
    (
        "gitlab token",
        Find::Token,
        r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.-]{16,}",
    ),
    (
        "slack token",
        Find::Token,
        r"\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}",
    ),
    (
        "slack webhook",
        Find::Random,
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{10,})",
    ),
    (
        "stripe key",
        Find::Token,
        r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{16,}",
    ),
    ("anthropic key", Find::Token, r"\bsk-ant-[A-Za-z0-9_-]{10,}"),
    (
        "openai key",
        Find::Token,
        r"\bsk-(?:proj-|svcacct-|admin-|or-)?[A-Za-z0-9_-]{20,}",
    ),
    (
        "google key",
        Find::Token,
        r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}",
    ),
    ("npm token", Find::Token, r"\bnpm_[A-Za-z0-9]{30,}"),
    ("pypi token", Find::Token, r"\bpypi-[A-Za-z0-9_-]{16,}"),
    ("hugging face token", Find::Token, r"\bhf_[A-Za-z0-9]{30,}"),
    (
        "sendgrid key",
        Find::Token,
        r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    (
        "telegram token",
        Find::Token,
        r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b",
    ),
    (
        "digitalocean token",
        Find::Token,
        r"\bdo[opr]_v1_[a-f0-9]{32,}",
    ),
    (
        "shopify token",
        Find::Token,
        r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    ),
    ("provost key", Find::Token, r"\bpvk_[a-f0-9]{16,}"),
    ("vault token", Find::Token, r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    (
        "access token",
        Find::Token,
        r"\b(?:gsk_|dckr_[po]at_|glsa_|lin_api_|rubygems_|r8_|xai-|sbp_|ntn_|tskey-[a-z]{1,12}-|ATATT3x|dapi|sq0atp-|sq0csp-|fm2_)[A-Za-z0-9_=+/-]{16,}|\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}",
    ),
    ("age key", Find::Whole, r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    (
        "jwt",
        Find::Jwt,
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    ),
    (
        "password in a url",
        Find::Url,
        r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/?\#\\:@"'<>$`]*:([^\s"'<>`\\]+)"#,
    ),
    (
        "token in a url",
        Find::Token,
        r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s/?\#\\:@"'<>$`|;()]{12,})(?::[^\s/?\#\\@"'<>$`|;()]*)?@"#,
    ),
    (
        "bearer token",
        Find::Random,
        r"(?i)\bbearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,})",
    ),
    (
        "credentials",
        Find::After,
        r#"(?i)\b(?P<name>authorization)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:[a-z][a-z_-]{1,15}|aws4-hmac-sha256)[ \t]{1,4})?"#,
    ),
    (
        "cookie",
        Find::Cookies,
        r#"(?i)(?P<name>cookie)["']?[ \t]{0,4}[:=][ \t]{0,4}["']?"#,
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>mysql[a-z]{0,10}|mariadb[a-z-]{0,10}|mycli)[ \t](?:[^\n;|&]*?[ \t])?-p",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>sshpass)[ \t]{1,4}(?:-[a-z][ \t]{1,4}){0,3}-p[ \t]{0,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>docker|podman|buildah|skopeo|oras|helm|az|oc|nerdctl|cf|crane)[ \t]{1,4}(?:(?:acr|registry|auth)[ \t]{1,4})?login[ \t](?:[^\n;|&]*?[ \t])?(?:-p|--password)[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>gpg2?|curl|kubectl|oc|az|helm|twine|argocd|mongo[a-z]{0,10}|aws|wget|svn|clickhouse-client|redis-cli|cargo|firebase|vercel)[ \t](?:[^\n;|&]*?[ \t])?--(?:passphrase|pass|proxy-pass|oauth2-bearer|token|password|account-key|sas-token|client-secret)[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>mongo[a-z]{0,10}|twine)[ \t](?:[^\n;|&]*?[ \t])?-p[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>sqlcmd|mosquitto_[a-z]{3})[ \t](?:[^\n;|&]*?[ \t])?-P[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>ldap[a-z]{3,8})[ \t](?:[^\n;|&]*?[ \t])?-w[ \t]{1,4}",
    ),
    (
        "token",
        Find::Program,
        r"(?P<program>vault)[ \t]{1,4}login[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>redis-cli)[ \t](?:[^\n;|&]*?[ \t])?-a[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>redis-cli)[ \t](?:[^\n;|&]*?[ \t])?(?i:auth)[ \t]{1,4}(?:[A-Za-z_-]{1,40}[ \t]{1,4})?",
    ),
    (
        "token",
        Find::Program,
        r"(?P<program>cargo)[ \t]{1,4}login[ \t]{1,4}(?:--registry[ \t=]{1,4}\S{1,80}[ \t]{1,4})?",
    ),
    // The password stands behind the user, in the same word.
    (
        "password",
        Find::Program,
        r#"(?P<program>smbclient|smbget|rpcclient|winexe)[ \t](?:[^\n;|&]*?[ \t])?(?:-U|--user)[ \t=]{0,4}["']?[^\s%"']{1,80}%"#,
    ),
    (
        "password",
        Find::Program,
        r#"(?P<program>lftp)[ \t](?:[^\n;|&]*?[ \t])?(?:-u|--user)[ \t=]{0,4}["']?[^\s,"']{1,80},"#,
    ),
    // Before `u` only letters that take no value.
    (
        "password",
        Find::Program,
        r#"(?P<program>curl)[ \t](?:[^\n;|&]*?[ \t])?(?:-[fgGiIjJklLnNOpqRsSvZ]{0,8}[uU]|--user|--proxy-user)[ \t=]{0,4}["']?(?:[^\s:"'=-][^\s:"'=]*)?:"#,
    ),
    // The key is the user: `curl -u KEY: https://…`.
    (
        "key",
        Find::User,
        r#"(?P<program>curl)[ \t](?:[^\n;|&]*?[ \t])?(?:-[fgGiIjJklLnNOpqRsSvZ]{0,8}[uU]|--user)[ \t=]{0,4}["']?(?P<user>[A-Za-z0-9_.-]{12,}):?"#,
    ),
    (
        "password",
        Find::Program,
        r#"(?P<program>https?|xh)[ \t](?:[^\n;|&]*?[ \t])?(?:-a|--auth)[ \t=]{0,4}["']?[^\s:"'=-][^\s:"'=]*:"#,
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>(?:un)?zip)[ \t](?:[^\n;|&]*?[ \t])?-P[ \t]{0,4}",
    ),
    (
        "password",
        Find::After,
        r"\s-pass(?:in|out)?[ \t]{1,4}pass:",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>ssh-keygen)[ \t](?:[^\n;|&]*?[ \t])?-[NP][ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>htpasswd)[ \t]{1,4}-[a-mo-zA-Z]*b[a-mo-zA-Z]*[ \t]{1,4}(?:-[a-zA-Z0-9]+[ \t]{1,4}){0,4}(?:[^\s-]\S*[ \t]{1,4}){1,2}",
    ),
    // With `n` there is no file.
    (
        "password",
        Find::Program,
        r"(?P<program>htpasswd)[ \t]{1,4}-[a-zA-Z]*(?:n[a-zA-Z]*b|b[a-zA-Z]*n)[a-zA-Z]*[ \t]{1,4}(?:-[a-zA-Z0-9]+[ \t]{1,4}){0,4}[^\s-]\S*[ \t]{1,4}",
    ),
    (
        "password",
        Find::Whole,
        r#"\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]+[ \t]{1,4})?["']?[A-Za-z0-9_.-]+:([^\s"'\\;|&<>()$`]+)(?:\\n)?["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd\b"#,
    ),
    // What the password is for reads none of its input: where no password is asked for, the word would be that.
    (
        "password",
        Find::Input,
        r"sudo[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4}){0,2}(?:-[a-zA-Z]{0,3}S[a-zA-Z]{0,3}|--stdin)[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4}){0,2}(?:-v|apt|apt-get|dnf|yum|pacman|snap|systemctl|service|journalctl|mkdir|chown|chmod|rm|ls|id|whoami|true|reboot)\b",
    ),
    (
        "password",
        Find::Input,
        r"(?:docker|podman|nerdctl|helm|oras|crane|skopeo|buildah|az|oc)[ \t][^\n;|&<]*--password-stdin\b",
    ),
    (
        "token",
        Find::Input,
        r"(?:gh|glab)[ \t]{1,4}auth[ \t]{1,4}login[ \t][^\n;|&<]*--(?:with-token|stdin)\b",
    ),
    ("token", Find::Input, r"(?:cargo|vault)[ \t]{1,4}login\b"),
    (
        "secret",
        Find::Input,
        r"(?:gh[ \t]{1,4}secret[ \t]{1,4}set|wrangler[ \t]{1,4}secret[ \t]{1,4}put|vercel[ \t]{1,4}env[ \t]{1,4}add)\b",
    ),
    (
        "secret",
        Find::Input,
        r"(?:(?:docker|podman)[ \t]{1,4}secret[ \t]{1,4}create[ \t][^\n;|&<]*[ \t]-|gcloud[ \t]{1,4}secrets[ \t][^\n;|&<]*--data-file=-)",
    ),
    (
        "password",
        Find::Input,
        r"(?:passwd[ \t][^\n;|&<]*--stdin|gpg2?[ \t][^\n;|&<]*--passphrase-fd[ \t=]{1,4}0)\b",
    ),
    (
        "secret",
        Find::Named,
        r"\b(?:config(?:ure)?|secret)[ \t]{1,4}set[ \t]{1,4}(?:-[^\s]+[ \t]{1,4})?(?P<name>[^\s=]+)(?P<op>[ \t]{1,4}|=)",
    ),
    (
        "secret",
        Find::After,
        r"\bsecret[ \t]{1,4}set[ \t](?:[^\n;|&]*?[ \t])?(?:--body|-b)(?:=|[ \t]{1,4})",
    ),
    (
        "password",
        Find::Program,
        r"(?i)(?:(?P<program>machine)[ \t]{1,4}\S+|(?m:^)[ \t]{0,8}default)\s{1,8}(?:login\s{1,8}\S+\s{1,8})?password[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Named,
        r#"(?i)(?P<name>[a-z0-9_.-]*(?:pass|pwd|pw|pswd|psk|secret|token|key|cred|otp|pin|cvv|jwt|bearer|auth|sig|pat|sess|seed|code|sid|senha|wort|woord|contrase[nñ]a|connectionstring|mnemonic)[a-z0-9_.-]*)(?P<close>(?:\\?["'])?\]?)(?P<op>[ \t]{0,4}(?::[ \t]{0,4}&?[a-z][a-z0-9_.]{0,30}\??[ \t]{0,4}=|=>|:=|\?=|<-|\|\||\?\?|=|:|,)[ \t]{0,4})"#,
    ),
    // `- name: DB_PASSWORD` above `value: …`, `{"key": "token", "value": "…"}`, `<add key="token" value="…"/>`.
    (
        "secret",
        Find::Named,
        r#"(?i)\b(?:name|key)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}(?:\\?["'])?(?P<name>[a-z0-9_.-]*(?:pass|pwd|secret|token|key|cred)[a-z0-9_.-]*)\\?["']?[\s,]{1,80}(?:\\?["'])?value\\?["']?(?P<op>[ \t]{0,4}[:=][ \t]{0,4})"#,
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
        r#"(?i)\b(?:password|passphrase|passcode|token|secret|api[ _-]?key)[ \t]{1,2}(?:is|was|will[ \t]be)(?:[ \t]{1,2}now)?[ \t:]{1,4}["'`]?([^\s"'`,;]{6,})"#,
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
        r"(?i)\b(?:password|identified[ \t]{1,4}by)[ \t]{1,4}",
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
        r#"(?i)(?:^|[\s"'])--?(?P<name>[a-z0-9_-]*(?:pass|pwd|psk|secret|token|key|cred|cookie)[a-z0-9_-]*)[ \t]{1,4}"#,
    ),
];

/// Where the program of a command may stand: at any word. Which program takes a word, the reader of commands says.
const BEGINS: &str = r#"(?m)(?:^|[\s;&|(`"'{/])"#;
/// A word that is written into a pipe.
const SAID: &str = r#"\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]+[ \t]{1,4})?(?:["']?%s(?:\\n)?["']?[ \t]{1,4})?["']?([^\s"'\\;|&<>()$`]+)(?:\\n)?["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?"#;
/// A word that is the input of what stands before it.
const HERE_STRING: &str = r#"[^\n;|&<]*<<<[ \t]{0,4}["']?([^\s"'\\;|&<>()$`]+)"#;

static SET: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(sources()).ok());
static EACH: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| sources().map(|source| Regex::new(&source).ok()).collect());

fn sources() -> impl Iterator<Item = String> {
    let sources = PATTERNS.iter().map(|(_, find, pattern)| match find {
        Find::Program | Find::User => format!("{BEGINS}{pattern}"),
        Find::Input => format!("{SAID}{pattern}|{BEGINS}{pattern}{HERE_STRING}"),
        _ => (*pattern).to_owned(),
    });
    sources.map(|source| with_ascii_words(&source))
}

/// The patterns that occur in a text; all of them, should the set be unusable.
pub(super) fn occurring(text: &str) -> Vec<(&'static str, Find, &'static Regex)> {
    let matched = SET.as_ref().map(|set| set.matches(text));
    PATTERNS
        .iter()
        .zip(EACH.iter())
        .enumerate()
        .filter(|(at, _)| matched.as_ref().is_none_or(|matched| matched.matched(*at)))
        .filter_map(|(_, ((kind, find, _), regex))| Some((*kind, *find, regex.as_ref()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_all_patterns_compile() {
        assert!(SET.is_some());
        assert!(EACH.iter().all(Option::is_some));
    }

    #[test]
    fn p10_words_end_as_in_ascii() {
        let rest = sources().map(|source| source.replace(r"(?-u:\b)", ""));
        assert!(rest.into_iter().all(|source| !source.contains(r"\b")));
    }
}
