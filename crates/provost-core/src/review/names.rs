//! What an argument is for, as far as its name tells: a secret, a command, structure. Names are read in any
//! spelling (`apiKey`, `API_KEY`, `api-key`), by their words.

mod lists;

use lists::{
    ABOUT, CHOICES, CONTENT, KEYS, LAST_WORDS, LONG_WORDS, NAMING_FLAGS, OTHER_ENDS, OTHER_KEYS,
    OTHER_TOKENS, PLACES, QUALIFIERS, RANDOM_WORDS, REFERRING, SECRET_ENDS, SECRET_PARTS,
    SECRET_WORDS, SWITCHING,
};

/// Whether what stands under this name is a secret: one of its words says so, and none after it says that it is
/// only about one.
pub(super) fn is_secret(name: &str) -> bool {
    let words = words(name);
    let asks = |pair: &[String]| matches!(pair, [ask, pass] if ask == "ask" && pass == "pass");
    if words.iter().any(|word| names_scripts(word)) || words.windows(2).any(asks) {
        return false;
    }
    if switches(&words) || refers(&words, &["existing", "pull"]) {
        return false;
    }
    let words = without_qualifiers(&words);
    let Some(last) = words.last() else {
        return false;
    };
    // `webhook_secret` is one, and `secret_hook` runs.
    if ABOUT.contains(&&**last) || runs(last) {
        return false;
    }
    let is_last = |at: usize| at + 1 == words.len();
    (0..words.len()).any(|at| is_secret_word(words, at, is_last(at)))
}

/// `ALLOW_EMPTY_PASSWORD`, `--no-password`: what stands under the name switches something on or off.
fn switches(words: &[String]) -> bool {
    let before = words.split_last().map_or(&[][..], |(_, before)| before);
    before.iter().any(|word| SWITCHING.contains(&&**word))
}

/// `auth.existingSecret`, `imagePullSecret`: which secret, and not the secret itself. `by`: the words that say so.
fn refers(words: &[String], by: &[&str]) -> bool {
    let is = |word: &String, of: &[&str]| of.contains(&&**word);
    let before = match words {
        [before @ .., secret, key] if is(secret, &["secret"]) && is(key, &["key", "keys"]) => {
            before
        }
        [before @ .., last] if is(last, &["secret", "secrets", "key", "keys"]) => before,
        _ => return false,
    };
    before.last().is_some_and(|word| is(word, by))
}

/// Whether a flag of this name says what is done with which secret: `--set-secrets`, `--export-secret-key`.
pub(super) fn is_reference(flag: &str) -> bool {
    refers(&words(flag), &REFERRING)
}

/// Whether a flag of this name may say which secret or key is meant: `--secret=prod-db`, `--ssh-key=laptop`.
pub(super) fn may_name_secret(flag: &str) -> bool {
    flag.starts_with('-') && NAMING_FLAGS.contains(&&*words(flag).join("_"))
}

/// Whether the secret's word is the last of the name. A longer name may be a setting's beside a secret:
/// `secret.image`, `CREDENTIAL_PROVIDERS`.
pub(super) fn ends_as_secret(name: &str) -> bool {
    is_secret(name) && {
        let words = words(name);
        let words = without_qualifiers(&words);
        let last = words.last().map_or("", String::as_str);
        let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
        let singular = last.strip_suffix('s').unwrap_or(last);
        let ends = |part: &&str| last.ends_with(*part) || singular.ends_with(*part);
        let holds_part = SECRET_PARTS.iter().any(|part| last.contains(part));
        is_secret_word(words, words.len().saturating_sub(1), true)
            && (!holds_part || SECRET_PARTS.iter().any(ends))
    }
}

/// The words of a name without those behind them that do not change what it is.
fn without_qualifiers(mut words: &[String]) -> &[String] {
    while let [rest @ .., last] = words {
        if is_number(last) || QUALIFIERS.contains(&&**last) {
            words = rest;
        } else {
            break;
        }
    }
    words
}

fn is_secret_word(words: &[String], at: usize, is_last: bool) -> bool {
    let word = words.get(at).map_or("", String::as_str);
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    let before = before.map_or("", String::as_str);
    if matches!(word, "token" | "tokens") {
        let after = words.get(at + 1).map_or("", String::as_str);
        return !OTHER_TOKENS.contains(&before) && !OTHER_TOKENS.contains(&after);
    }
    if matches!(word, "key" | "keys") {
        return KEYS.contains(&before) && is_last;
    }
    if word == "word" && before == "pass" {
        return true;
    }
    SECRET_PARTS.iter().any(|part| word.contains(part))
        || (is_last && LAST_WORDS.contains(&word))
        || (SECRET_WORDS.contains(&word) && (is_last || LONG_WORDS.contains(&word)))
        || (word.len() > 6 && word.ends_with("token"))
        || (is_last && ends_in_secret(word))
}

/// `SSHPASS`, `dbpwd`: the last part of the word says so.
fn ends_in_secret(word: &str) -> bool {
    SECRET_ENDS.iter().any(|end| word.ends_with(end)) && !OTHER_ENDS.contains(&word)
}

/// `passwordeval`, `credential_process`, `GIT_ASKPASS`: what stands under a name that ends so runs.
fn runs(word: &str) -> bool {
    let ends = [
        "eval", "command", "cmd", "program", "process", "exec", "helper", "hook", "askpass",
    ];
    ends.iter().any(|end| word.ends_with(end))
}

/// `alias.token`, `scripts.token`: everything below such a name runs.
fn names_scripts(word: &str) -> bool {
    matches!(word, "alias" | "aliases" | "script" | "scripts")
}

/// Whether all that stands below this name is secret. `auth` may hold a user and a method as well.
pub(super) fn is_secret_object(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    is_secret(name) && !LAST_WORDS.contains(&last)
}

/// Whether nothing but a password stands under this name.
pub(super) fn is_password(name: &str) -> bool {
    let name = name.to_lowercase();
    is_secret(&name) && (name.contains("pass") || name.contains("pwd"))
}

/// Whether a number under this name is one, too: `max_tokens` is none, nor is the pin of a board; a PIN is.
pub(super) fn is_secret_number(name: &str, digits: usize) -> bool {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    let shortest = match last {
        "tokens" => return false,
        _ if last.ends_with("token") => 6,
        _ => SHORTEST_NUMBER,
    };
    is_secret(name) && digits >= shortest
}

/// Fewer digits are a count, or a place.
pub(super) const SHORTEST_NUMBER: usize = 4;

/// Whether only some of what stands under this name is a secret: a mail has a `signature`, a board has a `pin`.
pub(super) fn is_unsure(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    last == "pin" || LAST_WORDS.contains(&last)
}

/// Whether it is the number of a pin, on a board or of a person.
pub(super) fn is_pin(name: &str) -> bool {
    words(name).last().is_some_and(|last| last == "pin")
}

/// Whether a random text under this name is a key: `OPENAI_KEY`, `APP_KEY`, `GITHUB_PAT`, `ADMINPW`.
pub(super) fn is_key_name(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    let is_random = RANDOM_WORDS.contains(&last) || (last.len() > 4 && last.ends_with("pw"));
    let is_key = match words.as_slice() {
        [.., before, last] if last == "code" || last == "codes" => before == "recovery",
        [.., key, last] if last == "data" => key == "key",
        [.., before, last] => {
            matches!(last.as_str(), "key" | "keys") && !OTHER_KEYS.contains(&before.as_str())
        }
        _ => false,
    };
    is_random || is_key
}

/// Whether the text under this name is one word that says where a call acts, or on what. However it looks, it is no
/// secret.
pub(super) fn is_place_name(name: &str, text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "/\\._-~@:+,%*#!^".contains(c);
    // `/data/year=2024`, and not `/x?key=…`.
    let is_path = text.contains('/') && text.chars().all(|c| plain(c) || c == '=');
    let is_word = !text.contains("//") && (text.chars().all(plain) || is_path);
    is_word && is_structure(name, text)
}

/// Whether a text under this name is structure: it says where, which or how, and not what is written or said.
pub(super) fn is_structure(name: &str, text: &str) -> bool {
    const LONGEST: usize = 256;
    let words = words(name);
    let mut words = words.iter().rev().skip_while(|word| is_number(word));
    let Some(last) = words.next() else {
        return false;
    };
    let last = last.trim_end_matches(|c: char| c.is_ascii_digit());
    // `new_source` is the text of a cell.
    if last == "source" && (words.next().is_some() || text.contains(char::is_whitespace)) {
        return false;
    }
    let fits = text.len() <= LONGEST && !text.chars().any(char::is_control);
    let is_place = PLACES.contains(&last) && text.split_whitespace().count() <= 4;
    fits && (is_place || (CHOICES.contains(&last) && !text.contains(char::is_whitespace)))
}

/// Whether an object under this name is content with its names: a row, a document, a body.
pub(super) fn holds_content(name: &str) -> bool {
    let words = words(name);
    let last = words.last().map_or("", String::as_str);
    CONTENT.contains(&last)
}

/// Whether a name is one that a program would have, and not a sentence.
pub(super) fn is_name(name: &str) -> bool {
    const LONGEST: usize = 64;
    !name.is_empty()
        && name.len() <= LONGEST
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.$@:/".contains(c))
        && words(name).len() <= 6
}

/// Whether a shell may read the text under this name.
pub(super) fn is_shell_text(name: &str) -> bool {
    is_command(name)
        || matches!(
            words(name).join("_").as_str(),
            "script" | "bash_command" | "bash" | "shell"
        )
}

/// Whether a program reads the text under this name as its input.
pub(super) fn is_input(name: &str) -> bool {
    matches!(words(name).join("_").as_str(), "stdin" | "input")
}

/// Whether a list under this name is the words of a command, or some commands.
pub(super) fn holds_words(name: &str) -> bool {
    begins_with_program(name) || matches!(words(name).join("_").as_str(), "args" | "arguments")
}

/// Whether the first word of a list under this name is the program.
pub(super) fn begins_with_program(name: &str) -> bool {
    is_command(name) || matches!(words(name).join("_").as_str(), "argv" | "entrypoint")
}

/// Whether each item of a list under this name is a command.
pub(super) fn holds_commands(name: &str) -> bool {
    words(name).join("_") == "commands"
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
mod tests;
