//! What an argument is for, as far as its name tells: content, a secret, a command. Names are read in any
//! spelling (`apiKey`, `API_KEY`, `api-key`), by their words.

/// Words that make a name a secret's, alone or as part of a longer word: `PGPASSWORD`.
const SECRET_PARTS: [&str; 9] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "credential",
    "apikey",
    "privatekey",
    "accesskey",
];
/// Words that do so alone.
const SECRET_WORDS: [&str; 13] = [
    "pwd",
    "pass",
    "pw",
    "token",
    "tokens",
    "cookie",
    "cookies",
    "bearer",
    "jwt",
    "otp",
    "pin",
    "cvv",
    "authorization",
];
/// `key` is a secret's after one of these.
const KEYS: [&str; 13] = [
    "api",
    "access",
    "private",
    "secret",
    "signing",
    "encryption",
    "ssh",
    "account",
    "master",
    "service",
    "client",
    "auth",
    "deploy",
];
/// What may follow without changing what it is.
const QUALIFIERS: [&str; 13] = [
    "value",
    "values",
    "text",
    "string",
    "base64",
    "b64",
    "raw",
    "plain",
    "plaintext",
    "hex",
    "new",
    "old",
    "confirm",
];
/// A token after one of these is a count, or a place in a list.
const OTHER_TOKENS: [&str; 17] = [
    "max",
    "min",
    "num",
    "n",
    "total",
    "prompt",
    "completion",
    "input",
    "output",
    "budget",
    "used",
    "page",
    "next",
    "continuation",
    "sync",
    "stop",
    "start",
];

const CONTENT: [&str; 34] = [
    "content",
    "contents",
    "body",
    "data",
    "text",
    "texts",
    "preview",
    "string",
    "str",
    "stdin",
    "input",
    "patch",
    "diff",
    "code",
    "html",
    "markdown",
    "xml",
    "message",
    "messages",
    "prompt",
    "payload",
    "snippet",
    "document",
    "comment",
    "notes",
    "base64",
    "blob",
    "bytes",
    "replacement",
    "description",
    "transcript",
    "caption",
    "old",
    "new",
];

/// Whether what stands under this name is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let words = words(name);
    let mut words = words.as_slice();
    while let [rest @ .., last] = words {
        if is_number(last) || QUALIFIERS.contains(&&**last) {
            words = rest;
        } else {
            break;
        }
    }
    let Some((last, before)) = words.split_last() else {
        return false;
    };
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = before.last().map_or("", String::as_str);
    if matches!(last, "token" | "tokens") {
        return !OTHER_TOKENS.contains(&before);
    }
    if matches!(last, "key" | "keys") {
        return KEYS.contains(&before);
    }
    SECRET_PARTS.iter().any(|part| last.contains(part))
        || SECRET_WORDS.contains(&last)
        || (last.len() > 6 && last.ends_with("token"))
}

/// Whether a number under this name is one, too: `max_tokens` is none, a PIN is.
pub(super) fn is_secret_number(name: &str) -> bool {
    is_secret(name) && !name.to_lowercase().contains("token")
}

/// Whether what stands under this name is content: what is written, sent or said.
pub(super) fn is_content(name: &str) -> bool {
    let words = words(name);
    let mut words = words.iter().rev().skip_while(|word| is_number(word));
    let (last, before) = (words.next(), words.next());
    let Some(last) = last.map(|last| last.trim_end_matches(|c: char| c.is_ascii_digit())) else {
        return false;
    };
    CONTENT.contains(&last)
        || (last == "source"
            && before.is_some_and(|word| matches!(&**word, "new" | "old" | "cell" | "file")))
}

/// Whether what stands under this name is a command for a shell.
pub(super) fn is_command(name: &str) -> bool {
    matches!(
        words(name).join("_").as_str(),
        "command" | "cmd" | "command_line" | "commandline" | "shell_command" | "commands"
    )
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a name in lower case.
fn words(name: &str) -> Vec<String> {
    /// Names are short: what is longer is none.
    const LONGEST: usize = 200;
    let mut words: Vec<String> = Vec::new();
    let mut begins = true;
    let letters: Vec<char> = name.chars().take(LONGEST).collect();
    for (at, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            begins = true;
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(at + 1);
        let is_lower = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_lowercase());
        let is_upper = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_uppercase());
        // `apiKey`, and the `K` of `APIKey`.
        let humps = letter.is_uppercase()
            && (is_lower(before)
                || before.is_some_and(char::is_ascii_digit)
                || (is_upper(before) && is_lower(after)));
        if begins || humps {
            words.push(String::new());
        }
        begins = false;
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p09_names_of_secrets_are_known_in_any_spelling() {
        for name in [
            "password",
            "Password",
            "PASSWORD",
            "db_password",
            "dbPassword",
            "PGPASSWORD",
            "MYSQL_PWD",
            "api_key",
            "apiKey",
            "API-KEY",
            "x-api-key",
            "APIKey",
            "apikey",
            "access_token",
            "accessToken",
            "token",
            "auth-token",
            "GITHUB_TOKEN",
            "client_secret",
            "secretKey",
            "AWS_SECRET_ACCESS_KEY",
            "private_key",
            "privateKey",
            "Authorization",
            "cookie",
            "Set-Cookie",
            "credential",
            "credentials",
            "passphrase",
            "password_value",
            "newPassword2",
            "password_confirm",
            "DB_PASS",
            "sessionToken",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "path",
            "key",
            "keys",
            "max_tokens",
            "maxTokens",
            "prompt_tokens",
            "nextPageToken",
            "page_token",
            "password_file",
            "secret_name",
            "token_type",
            "password-stdin",
            "pass-through",
            "passenger",
            "compass",
            "author",
            "authority",
            "keyboard",
            "primary_key",
            "tokenizer",
            "",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn p09_names_of_content_are_known() {
        for name in [
            "content",
            "old_string",
            "newString",
            "old_str",
            "new_str",
            "stdin",
            "input",
            "file_content",
            "fileText",
            "new_source",
            "commit-message",
            "Body",
            "html_body",
            "patch",
            "text1",
            "text_2",
            "newText",
            "prompt",
            "description",
        ] {
            assert!(is_content(name), "{name}");
        }
        for name in [
            "path",
            "content_type",
            "message_id",
            "source",
            "command",
            "database",
            "context",
            "n",
        ] {
            assert!(!is_content(name), "{name}");
        }
    }
}
