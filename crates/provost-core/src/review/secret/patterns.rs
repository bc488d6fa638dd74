//! How secrets look: by themselves, or by what stands before them.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// What a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Find {
    /// The match itself, or its first group, is the secret.
    Whole,
    /// As [`Find::Whole`], where the letters look as if nobody had chosen them.
    Random,
    /// The rest of the word after the match.
    After,
    /// The rest of the word, if the group `name` is the name of a secret.
    Named,
    /// As [`Find::Named`], for a flag whose value is the next word.
    Flag,
    /// Values of cookies.
    Cookies,
}

/// A kind, how it is found, and the pattern.
type Pattern = (&'static str, Find, &'static str);

const PATTERNS: [Pattern; 34] = [
    (
        "private key",
        Find::Whole,
        concat!(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]{0,10}-----",
            r"(?:(?:\\[nr]|[\s+>])*(?:Proc-Type|DEK-Info|Comment|Version): [A-Za-z0-9,. -]*)*",
            r"(?:(?:\\[nr]|[\s+>])*[A-Za-z0-9+/=]{20,})*",
            r"(?:(?:\\[nr]|[\s+>])*[A-Za-z0-9+/=]*(?:\\[nr]|[\s+>])*-----END [A-Z0-9 ]*-----)?",
        ),
    ),
    (
        "aws key",
        Find::Whole,
        r"\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}\b",
    ),
    (
        "github token",
        Find::Whole,
        r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{22,}",
    ),
    (
        "gitlab token",
        Find::Whole,
        r"\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.-]{16,}",
    ),
    (
        "slack token",
        Find::Whole,
        r"\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}",
    ),
    (
        "slack webhook",
        Find::Whole,
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/-]{10,})",
    ),
    (
        "stripe key",
        Find::Whole,
        r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{16,}",
    ),
    ("anthropic key", Find::Whole, r"\bsk-ant-[A-Za-z0-9_-]{10,}"),
    (
        "openai key",
        Find::Whole,
        r"\bsk-(?:proj-|svcacct-|admin-|or-)?[A-Za-z0-9_-]{20,}",
    ),
    (
        "google key",
        Find::Whole,
        r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}",
    ),
    ("npm token", Find::Whole, r"\bnpm_[A-Za-z0-9]{30,}"),
    ("pypi token", Find::Whole, r"\bpypi-[A-Za-z0-9_-]{16,}"),
    ("hugging face token", Find::Whole, r"\bhf_[A-Za-z0-9]{30,}"),
    (
        "sendgrid key",
        Find::Whole,
        r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    (
        "telegram token",
        Find::Whole,
        r"\b[0-9]{8,10}:[A-Za-z0-9_-]{35}\b",
    ),
    (
        "digitalocean token",
        Find::Whole,
        r"\bdo[opr]_v1_[a-f0-9]{32,}",
    ),
    (
        "shopify token",
        Find::Whole,
        r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    ),
    ("provost key", Find::Whole, r"\bpvk_[a-f0-9]{16,}"),
    ("vault token", Find::Whole, r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    ("age key", Find::Whole, r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    (
        "jwt",
        Find::Whole,
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
    ),
    (
        "password in a url",
        Find::Whole,
        r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'<>$`]*:([^\s/@"'<>$`|;()]{1,})@"#,
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
        r"\blogin[ \t](?:[^\n;|&]*?[ \t])?-p[ \t]{1,4}",
    ),
    (
        "password",
        Find::After,
        r"\bredis-cli[ \t](?:[^\n;|&]*?[ \t])?-a[ \t]{1,4}",
    ),
    (
        "password",
        Find::After,
        r#"\b(?:curl|wget|https?|xh)[ \t](?:[^\n;|&]*?[ \t])?(?:-u|-U|--user|--proxy-user)[ \t=]{0,4}["']?[^\s:"']*:"#,
    ),
    (
        "password",
        Find::After,
        r"(?:\b(?:un)?zip[ \t](?:[^\n;|&]*?[ \t])?-P[ \t]{0,4}|\s-pass(?:in|out)?[ \t]{1,4}pass:)",
    ),
    (
        "secret",
        Find::Named,
        r#"(?i)(?P<name>[a-z0-9_.-]*(?:pass|pwd|pw|secret|token|key|cred|otp|pin|cvv|jwt|bearer)[a-z0-9_.-]*)(?P<close>\\?["']?)(?P<op>[ \t]{0,4}(?:=>|:=|=|:)[ \t]{0,4})"#,
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
