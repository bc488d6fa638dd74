//! Values behind the name of a secret, in the words of a command. `token:x` may be an image or a branch, and `token=x` a
//! label that a program looks for: it is a secret's value only where the program is known to take one there.

use super::{find::Found, looks::is_random, reading::Reading, seat::Seat, token::program};
use crate::review::{
    names::{is_reference, is_secret},
    summary::{Outline, Role, Spot},
    work,
};

/// Programs, and their flags that a name and its value follow.
const CARRIERS: [(&[&str], &[&str]); 7] = [
    (
        &["gcloud"],
        &[
            "--set-env-vars",
            "--update-env-vars",
            "--set-build-env-vars",
        ],
    ),
    (
        &["docker", "podman", "nerdctl", "docker-compose"],
        &["-e", "--env", "--build-arg"],
    ),
    (&["kubectl", "oc"], &["--from-literal", "--env"]),
    (&["helm"], &["--set", "--set-string"]),
    (&["ansible", "ansible-playbook"], &["-e", "--extra-vars"]),
    (&["terraform", "tofu"], &["-var", "--var"]),
    (
        &SENDING,
        &[
            "-d",
            "-F",
            "-H",
            "--data",
            "--data-raw",
            "--data-ascii",
            "--data-binary",
            "--data-urlencode",
            "--form",
            "--form-string",
            "--header",
            "--post-data",
            "--body-data",
        ],
    ),
];
const SENDING: [&str; 5] = ["curl", "wget", "http", "https", "xh"];
const BUILDING: [&str; 4] = ["docker", "podman", "nerdctl", "buildah"];

/// Programs whose operands are names.
const NAMING: [&str; 7] = [
    "git", "docker", "podman", "nerdctl", "kubectl", "oc", "helm",
];

/// What a shell runs by itself: it says, keeps or compares its words, and another command may use them.
const BUILTINS: [&str; 17] = [
    "set",
    ":",
    "true",
    "false",
    "echo",
    "printf",
    "print",
    "read",
    "mapfile",
    "readarray",
    "let",
    "test",
    "[",
    "[[",
    "shift",
    "getopts",
    "builtin",
];
/// Programs that make something else of their input.
const FILTERS: [&str; 14] = [
    "xargs", "parallel", "sed", "awk", "gawk", "mawk", "grep", "cut", "tr", "sort", "head", "tail",
    "while", "done",
];

/// Whether the word goes to a program, and what that program writes goes to no other command.
pub(super) fn is_given(value: &Found, outline: &Outline, at: usize) -> bool {
    let Some(spot) = outline.spots.get(at) else {
        return false;
    };
    let command = || {
        work::count(outline.spots.len());
        let spots = outline.spots.iter();
        spots.filter(|it| it.command == spot.command)
    };
    if spot.role == Role::Here {
        let name = |it: &Spot| it.text.rsplit('/').next().map(str::to_lowercase);
        let program = command().find(|it| it.role == Role::Program).and_then(name);
        let takes = |it: &str| !BUILTINS.contains(&it) && !FILTERS.contains(&it);
        let is_document = spot.text.contains('\n');
        return is_document && !spot.feeds && program.is_some_and(|it| takes(&it));
    }
    // The items of a loop.
    let is_loop = |it: &Spot| {
        matches!(it.role, Role::Keyword | Role::Program)
            && matches!(&*it.text, "for" | "select" | "case")
    };
    if command().any(is_loop) {
        return false;
    }
    if value.program.is_some() {
        return true;
    }
    let first = outline.before(at).next().map_or("", |it| it.text.as_str());
    let is_builtin = |name: &str| BUILTINS.contains(&name);
    !spot.feeds
        && !first.is_empty()
        && !is_builtin(first)
        && !program(outline, at).is_some_and(is_builtin)
        && !is_read_again(outline, at)
}

/// What the command writes into a file, another command of the script may read.
fn is_read_again(outline: &Outline, at: usize) -> bool {
    let command = outline.spots.get(at).map(|spot| spot.command);
    let is_its = |spot: &&Spot| Some(spot.command) == command;
    let mut files = outline.spots.iter().filter(is_its);
    let writes = files.any(|spot| spot.role == Role::File);
    writes && !outline.spots.iter().all(|spot| is_its(&spot))
}

/// Whether the value is one that its program takes for a secret.
pub(super) fn is_carried(value: &Found, reading: &Reading<'_>, at: usize, literal: &str) -> bool {
    let outline = &reading.outline;
    let Some(word) = outline.spots.get(at).map(|spot| spot.text.as_str()) else {
        return false;
    };
    let before = word.split_once(literal).map_or("", |(before, _)| before);
    let program = program(outline, at).unwrap_or_default();
    let previous = outline.before(at).next_back().map_or("", |spot| &spot.text);
    if names_file(program, previous, before, literal) {
        return false;
    }
    if value.name.is_empty() || word.contains(char::is_whitespace) {
        return true;
    }
    if before.contains(['"', '\'']) {
        return true;
    }
    if before.is_empty() {
        // `config set token x` and `--token x`, but not `token: x`.
        return !previous.ends_with([':', '=']);
    }
    // `-H X-Api-Key:…`, and `http X-Api-Key:…`.
    if before.ends_with(':') && SENDING.contains(&program) {
        let is_header = |flag: &str| flag.starts_with("-H") || flag.starts_with("--header");
        let takes_headers = matches!(program, "http" | "https" | "xh");
        return !before.contains('/')
            && (takes_headers || is_header(previous) || is_header(before));
    }
    let Some(name) = before.strip_suffix('=') else {
        return false;
    };
    let field = name.rsplit(['?', '&']).next().unwrap_or_default();
    let is_query = name.contains("://") && field.len() < name.len();
    let flag = name.split('=').next().unwrap_or_default();
    let takes = is_secret(flag) && !is_reference(flag);
    let is_flag = flag.starts_with('-') && (takes || carries(program, flag));
    is_query
        || is_flag
        || writes(outline, at, program)
        || carries(program, previous)
        || (takes_fields(program, outline, at) && !literal.starts_with('@'))
        || reading
            .seat(at)
            .is_some_and(|seat| sets_variable(seat, name))
        || (is_random(literal) && !is_operand(program, previous))
}

/// `echo NAME=x >> .env`: the line of a file.
fn writes(outline: &Outline, at: usize, program: &str) -> bool {
    let command = outline.spots.get(at).map(|spot| spot.command);
    let is_file = |spot: &Spot| Some(spot.command) == command && spot.role == Role::File;
    if !matches!(program, "echo" | "printf") {
        return false;
    }
    work::count(outline.spots.len());
    outline.spots.iter().any(is_file)
}

/// A branch, an image or a unit may have any name.
fn is_operand(program: &str, previous: &str) -> bool {
    NAMING.contains(&program) && !matches!(previous, "-c" | "-m" | "--message")
}

/// The value says where the secret is, or what is sent: `curl -F token=@file`, `docker build --secret=src=file`.
fn names_file(program: &str, previous: &str, before: &str, literal: &str) -> bool {
    let sends = literal.starts_with(['@', '<']) || before.ends_with(['@', '<']);
    let describes = previous == "--secret" || before.starts_with("--secret=");
    (SENDING.contains(&program) && sends) || (BUILDING.contains(&program) && describes)
}

/// `http POST https://x password=…`, `vault kv put x password=…`.
fn takes_fields(program: &str, outline: &Outline, at: usize) -> bool {
    let puts = || {
        let mut words = outline.before(at).take(4);
        words.any(|spot| matches!(&*spot.text, "put" | "patch" | "write"))
    };
    matches!(program, "http" | "https" | "xh") || (program == "vault" && puts())
}

/// `-e` and `-eNAME`.
fn carries(program: &str, flag: &str) -> bool {
    let known = CARRIERS
        .iter()
        .find(|(programs, _)| programs.contains(&program));
    let is_glued = |known: &str| known.len() == 2 && flag.starts_with(known);
    known.is_some_and(|(_, flags)| flags.iter().any(|known| *known == flag || is_glued(known)))
}

/// The variable of a program that is started, or a setting: `env NAME=x run`, `make NAME=x`, `npm config set name=x`.
fn sets_variable(seat: &Seat, name: &str) -> bool {
    let is_upper = |c: u8| c.is_ascii_uppercase() || c == b'_' || c.is_ascii_digit();
    let is_started = seat.behind_starters || seat.behind_env;
    is_started || seat.behind_set || (seat.may_set && name.bytes().all(is_upper))
}
