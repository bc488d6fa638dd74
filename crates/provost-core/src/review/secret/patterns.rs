//! How secrets look: by themselves, or by what stands before them.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// What a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// The match itself, or its first group, is the secret.
    Whole,
    /// As [`Find::Whole`], where the letters are in an order that nobody chose. Folders may begin like a token.
    Token,
    /// As [`Find::Whole`], where letters and digits are mixed.
    Random,
    /// The password of a URL.
    Url,
    /// The lines of a private key, after its first.
    Key,
    /// The value after the match.
    After,
    /// The value after the match, if the group `name` is the name of a secret.
    Named,
    /// As [`Find::Named`], for a flag whose value is the next word.
    Flag,
    /// As [`Find::Named`], for the lines below that are indented further.
    Block,
    /// Values of cookies.
    Cookies,
}

/// A kind, how it is found, and the pattern.
type Pattern = (&'static str, Find, &'static str);

const PATTERNS: [Pattern; 41] = [
    (
        "private key",
        Find::Key,
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]{0,10}-----(?:\\r)?(?:\r?\n|\\n)",
    ),
    (
        "aws key",
        Find::Whole,
        r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}\b",
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
        Find::Whole,
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
        Find::Whole,
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
    ("age key", Find::Whole, r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    (
        "jwt",
        Find::Whole,
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    ),
    (
        "password in a url",
        Find::Url,
        r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>$`]*:([^\s"'<>`\\]+)"#,
    ),
    (
        "token in a url",
        Find::Random,
        r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s/:@"'<>$`|;()]{12,})@"#,
    ),
    (
        "bearer token",
        Find::Random,
        r"(?i)\bbearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{8,})",
    ),
    (
        "credentials",
        Find::After,
        r#"(?i)\bauthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:bearer|basic|token|digest|apikey|key|negotiate|ntlm|aws4-hmac-sha256)[ \t]{1,4})?"#,
    ),
    (
        "cookie",
        Find::Cookies,
        r#"(?i)cookie["']?[ \t]{0,4}[:=][ \t]{0,4}["']?"#,
    ),
    (
        "password",
        Find::After,
        r"\b(?:mysql[a-z]{0,10}|mariadb[a-z-]{0,10}|mycli)[ \t](?:[^\n;|&]*?[ \t])?-p",
    ),
    (
        "password",
        Find::After,
        r"\bsshpass[ \t]{1,4}(?:-[a-z][ \t]{1,4}){0,3}-p[ \t]{0,4}",
    ),
    (
        "password",
        Find::After,
        r"\b(?:docker|podman|buildah|skopeo|oras|helm|az|oc|nerdctl|cf|crane)[ \t](?:[^\n;|&]*?[ \t])?login[ \t](?:[^\n;|&]*?[ \t])?-p[ \t]{1,4}",
    ),
    (
        "password",
        Find::After,
        r"\bredis-cli[ \t](?:[^\n;|&]*?[ \t])?-a[ \t]{1,4}",
    ),
    (
        "password",
        Find::After,
        r#"(?:\b(?:curl|wget|https?|xh)|^_)[ \t](?:[^\n;|&]*?[ \t])?(?:-[A-Za-z]{0,8}[uUa]|--user|--proxy-user|--auth)[ \t=]{0,4}["']?[^\s:"'=-][^\s:"'=]*:"#,
    ),
    (
        "password",
        Find::After,
        r"(?:\b(?:un)?zip[ \t](?:[^\n;|&]*?[ \t])?-P[ \t]{0,4}|\s-pass(?:in|out)?[ \t]{1,4}pass:)",
    ),
    (
        "password",
        Find::After,
        r"\bssh-keygen[ \t](?:[^\n;|&]*?[ \t])?-[NP][ \t]{1,4}",
    ),
    (
        "password",
        Find::After,
        r"\bhtpasswd[ \t]{1,4}-[a-zA-Z]*b[a-zA-Z]*[ \t]{1,4}(?:-[a-zA-Z0-9]+[ \t]{1,4}){0,4}(?:[^\s-]\S*[ \t]{1,4}){1,2}",
    ),
    (
        "password",
        Find::Whole,
        r#"\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]+[ \t]{1,4})?["']?[A-Za-z0-9_.-]+:([^\s"'\\;|&<>()$`]+)(?:\\n)?["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd\b"#,
    ),
    (
        "secret",
        Find::Named,
        r"\b(?:config(?:ure)?|secret)[ \t]{1,4}set[ \t]{1,4}(?:-[^\s]+[ \t]{1,4})?(?:[^\s=]*[:/.])?(?P<name>[A-Za-z0-9_-]+)(?P<op>[ \t]{1,4}|=)",
    ),
    (
        "secret",
        Find::After,
        r"\bsecret[ \t]{1,4}set[ \t](?:[^\n;|&]*?[ \t])?(?:--body|-b)(?:=|[ \t]{1,4})",
    ),
    (
        "password",
        Find::After,
        r"(?i)\b(?:machine[ \t]{1,4}\S+|default)\s{1,8}(?:login\s{1,8}\S+\s{1,8})?password[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Named,
        r#"(?i)(?P<name>[a-z0-9_.-]*(?:pass|pwd|pw|secret|token|key|cred|otp|pin|cvv|jwt|bearer|auth|sig)[a-z0-9_.-]*)(?P<close>\\?["']?)(?P<op>[ \t]{0,4}(?:=>|:=|=|:)[ \t]{0,4})"#,
    ),
    (
        "secret",
        Find::Block,
        r#"(?im)^(?P<indent>[ \t+>-]{0,80})["']?(?P<name>[a-z0-9_.-]*(?:pass|pwd|pw|secret|token|key|cred)[a-z0-9_.-]*)["']?:[ \t]{0,4}[|>][0-9+-]{0,2}[ \t]{0,4}\n"#,
    ),
    (
        "secret",
        Find::Flag,
        r#"(?i)(?:^|[\s"'])--?(?P<name>[a-z0-9_-]*(?:pass|pwd|secret|token|key|cred|cookie)[a-z0-9_-]*)[ \t]{1,4}"#,
    ),
];

static SET: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(PATTERNS.iter().map(|(_, _, pattern)| pattern)).ok());
static EACH: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    PATTERNS
        .iter()
        .map(|(_, _, pattern)| Regex::new(pattern).ok())
        .collect()
});

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
}
