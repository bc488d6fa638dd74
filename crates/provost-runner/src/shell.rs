//! Which programs are shells: a line that one is given is what runs.

/// Those of the system. A program of the repository may have any name.
const SHELLS: [&str; 9] = [
    "sh",
    "bash",
    "zsh",
    "/bin/sh",
    "/bin/bash",
    "/bin/zsh",
    "/usr/bin/sh",
    "/usr/bin/bash",
    "/usr/bin/zsh",
];

pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// The line that these arguments have a shell run.
pub(crate) fn line_in<'a, S: AsRef<str>>(program: &str, arguments: &'a [S]) -> Option<&'a S> {
    match arguments {
        [flag, line] if is_shell(program) && matches!(flag.as_ref(), "-c" | "-lc") => Some(line),
        _ => None,
    }
}
