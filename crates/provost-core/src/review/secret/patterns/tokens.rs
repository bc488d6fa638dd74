//! Tokens and keys that are known by their looks, wherever they stand.

use super::{Find, Pattern};

pub(super) const PATTERNS: &[Pattern] = &[
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
        "discord webhook",
        Find::Random,
        r"discord(?:app)?\.com/api/webhooks/[0-9]{5,20}/([A-Za-z0-9_-]{20,})",
    ),
    (
        "key in a url",
        Find::Token,
        r"[?&]key=([A-Za-z0-9_~%-]{12,})",
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
        r"(?:\b|\bbot)([0-9]{8,10}:[A-Za-z0-9_-]{35})\b",
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
];
