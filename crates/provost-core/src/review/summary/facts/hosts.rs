//! The hosts that the words of a program name. Rather too many than too few: a rule that lists hosts must not
//! overlook one.

use super::url;

const MOST_HOSTS: usize = 64;

/// How a program takes hosts that are written without a scheme.
struct Habit {
    programs: &'static [&'static str],
    hosts: Written,
    /// The only one that it knows; to it any other is a part of a host's name. `None` if it knows several.
    scheme: Option<&'static str>,
    /// Letters without a value.
    plain: &'static str,
    /// Letters whose value is glued on or the next word, and no host.
    valued: &'static str,
    /// Long flags without a value, written out, separated by spaces. `None` if others decide about them.
    long: Option<&'static str>,
    /// Long flags whose value is behind `=` or the next word, and no host. By any other flag the program may go
    /// elsewhere than its words say.
    long_valued: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Every word that is no flag is an address, with a scheme or without: `user@host:port/path`.
    Anywhere,
    /// The first word: `user@host`.
    First,
    /// The first word: `user@host:path`.
    FirstBeforeColon,
    /// Any word with a colon: `user@host:path`.
    BeforeColon,
}

const HABITS: [Habit; 8] = [
    Habit {
        programs: &["curl"],
        hosts: Written::Anywhere,
        scheme: None,
        plain: "sSfLiIvkgGNqOJ0123456789#aBjlMnpRZV",
        long: Some(
            "--compressed --create-dirs --fail --fail-with-body --get --head --http1.1 --http2 --include \
             --insecure --location --no-progress-meter --remote-name --remote-name-all --remote-header-name \
             --show-error --silent --verbose --url --no-buffer --globoff --progress-bar --retry-all-errors \
             --tlsv1.2 --tlsv1.3 --ipv4 --ipv6 --fail-early --parallel --version --help",
        ),
        valued: "AbcCdDeEFHmorTuUwXyYztQ",
        long_valued: &[
            "--output",
            "--output-dir",
            "--header",
            "--data",
            "--data-raw",
            "--data-binary",
            "--data-urlencode",
            "--form",
            "--request",
            "--user",
            "--user-agent",
            "--cookie",
            "--cookie-jar",
            "--max-time",
            "--connect-timeout",
            "--retry",
            "--retry-delay",
            "--upload-file",
            "--referer",
            "--write-out",
            "--json",
            "--cacert",
            "--range",
            "--limit-rate",
        ],
    },
    Habit {
        programs: &["wget"],
        hosts: Written::Anywhere,
        scheme: None,
        plain: "qvbcdnNkKESVx46h0123456789",
        long: Some(
            "--quiet --verbose --no-verbose --continue --timestamping --spider --server-response \
             --no-check-certificate --no-parent --convert-links --show-progress --no-clobber \
             --content-disposition --version --help",
        ),
        valued: "OoPtTUQwaADRIXlB",
        long_valued: &[
            "--output-document",
            "--directory-prefix",
            "--timeout",
            "--tries",
            "--user-agent",
            "--header",
            "--post-data",
        ],
    },
    Habit {
        programs: &["ssh", "mosh"],
        hosts: Written::First,
        scheme: Some("ssh://"),
        plain: "46AaCfGgKkMNnqsTtVvXxYy",
        long: Some(""),
        valued: "BbcEeIilmOpQ",
        long_valued: &[],
    },
    Habit {
        programs: &["sftp"],
        hosts: Written::FirstBeforeColon,
        scheme: Some("sftp://"),
        plain: "46AaCfNpqrv",
        long: Some(""),
        valued: "BbcilPRsX",
        long_valued: &[],
    },
    Habit {
        programs: &["scp"],
        hosts: Written::BeforeColon,
        scheme: Some("scp://"),
        plain: "346ABCOpqRrTv",
        long: Some(""),
        valued: "cilPX",
        long_valued: &[],
    },
    Habit {
        programs: &["rsync"],
        hosts: Written::BeforeColon,
        scheme: Some("rsync://"),
        plain: "046abcCdDEghHiIJkKlLmnNoOpPqrRsStuUvVWxXyzA",
        long: Some(
            "--archive --verbose --quiet --checksum --recursive --relative --update --inplace --append --links \
             --copy-links --perms --owner --group --times --dry-run --whole-file --existing --ignore-existing \
             --remove-source-files --delete --delete-after --delete-before --delete-during --delete-excluded \
             --force --partial --prune-empty-dirs --compress --stats --human-readable --progress \
             --itemize-changes --list-only --numeric-ids --version --help",
        ),
        valued: "BfMT",
        long_valued: &[
            "--exclude",
            "--include",
            "--filter",
            "--max-size",
            "--min-size",
            "--bwlimit",
            "--timeout",
        ],
    },
    // Its flags are judged with its subcommands.
    Habit {
        programs: &["git"],
        hosts: Written::BeforeColon,
        scheme: None,
        plain: "",
        long: None,
        valued: "",
        long_valued: &[],
    },
    Habit {
        programs: &[
            "http", "https", "aria2c", "axel", "lynx", "nc", "ncat", "netcat", "telnet", "ftp",
            "ping", "dig", "nslookup",
        ],
        hosts: Written::Anywhere,
        scheme: None,
        plain: "",
        long: Some(""),
        valued: "",
        long_valued: &[],
    },
];

/// What a flag says about the words around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Plain,
    /// The next word is its value.
    TakesNext,
    /// It goes elsewhere, or may do so.
    Elsewhere,
}

impl Habit {
    fn flag(&self, word: &str) -> Flag {
        let Some(long) = self.long else {
            return Flag::Plain;
        };
        if word.starts_with("--") {
            return self.long_flag(word, long);
        }
        let letters = word.strip_prefix('-').unwrap_or_default();
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                let last = at + letter.len_utf8() == letters.len();
                return if last { Flag::TakesNext } else { Flag::Plain };
            }
            if !self.plain.contains(letter) {
                return Flag::Elsewhere;
            }
        }
        Flag::Plain
    }

    /// Cut short it may be any.
    fn long_flag(&self, word: &str, plain: &str) -> Flag {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        let known = name == "--" || plain.split_ascii_whitespace().any(|it| it == name);
        match self.long_valued.contains(&name) {
            true if name == word => Flag::TakesNext,
            true => Flag::Plain,
            // `--url=host` names one that is not looked for here.
            false if known && (name == word || address_of(word).is_some()) => Flag::Plain,
            false => Flag::Elsewhere,
        }
    }
}

/// The hosts that were found, and whether these are all.
struct Found {
    hosts: Vec<String>,
    sure: bool,
}

impl Found {
    fn add(&mut self, host: Option<String>) {
        match host {
            Some(host) if self.hosts.contains(&host) => {}
            Some(host) if self.hosts.len() < MOST_HOSTS => self.hosts.push(host),
            _ => self.sure = false,
        }
    }

    /// An address anywhere in a word, which may be something else than that.
    fn add_inside(&mut self, word: &str) {
        let start = word.find("://").unwrap_or_default();
        let before = word.get(..start).unwrap_or_default();
        let from = before.rfind('=').map_or(0, |at| at + 1);
        self.add(word.get(from..).and_then(host_of));
    }

    /// A word that is no flag and no flag's value.
    fn add_word(&mut self, habit: &Habit, word: &str) {
        let has_scheme = match habit.scheme {
            Some(scheme) => word.starts_with(scheme),
            None => begins_with_scheme(word),
        };
        if has_scheme {
            return self.add(host_of(word));
        }
        if habit.may_be_bare(word) {
            self.add(habit.bare(word));
        }
        // Where another address stands in it, it is not certain which of them is meant.
        if word.contains("://") {
            self.add_inside(word);
            self.sure = false;
        }
    }
}

/// Whether it is known how the program takes hosts. Any other may have flags and settings of its own for them.
pub(in crate::review::summary) fn are_told(name: &str) -> bool {
    HABITS.iter().any(|habit| habit.programs.contains(&name))
}

/// The hosts, and whether all that are named could be told.
pub(in crate::review::summary) fn named(name: &str, args: &[String]) -> (Vec<String>, bool) {
    let mut found = Found {
        hosts: Vec::new(),
        sure: true,
    };
    let Some(habit) = HABITS.iter().find(|habit| habit.programs.contains(&name)) else {
        for word in args.iter().filter(|word| word.contains("://")) {
            if let Some(address) = address_of(word) {
                found.add(host_of(address));
            } else {
                found.add_inside(word);
                found.sure = false;
            }
        }
        return (found.hosts, found.sure);
    };
    let words = Words::of(habit, args);
    for word in words.others.iter().filter(|word| word.contains("://")) {
        match address_of(word) {
            Some(address) => found.add(host_of(address)),
            None => found.add_inside(word),
        }
    }
    for word in words.bare {
        found.add_word(habit, word);
    }
    (found.hosts, found.sure && words.known)
}

/// `file:///…` has no host, and whose file it is is not said.
fn host_of(address: &str) -> Option<String> {
    let url = url::parse(address)?;
    // To rsync this colon ends the host.
    let authority = address.split('/').nth(2).unwrap_or_default();
    let user = authority.split_once('@').map_or("", |(user, _)| user);
    url.host
        .filter(|_| url.scheme != "rsync" || !user.contains(':'))
}

/// The address that a word is, alone or behind `--flag=` or `name=`: `--url=https://…`, `of=ssh://…`.
fn address_of(word: &str) -> Option<&str> {
    if begins_with_scheme(word) {
        return Some(word);
    }
    let (name, value) = word.split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (begins_with_scheme(value) && !name.is_empty() && name.chars().all(is_name)).then_some(value)
}

/// Nothing but a scheme stands before `://`.
fn begins_with_scheme(word: &str) -> bool {
    let scheme = word.split_once("://").map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// The host of `/dev/tcp/host/port`, which a shell connects to where it would open a file.
pub(in crate::review::summary) fn of_device(path: &str) -> (Vec<String>, bool) {
    let address = ["/dev/tcp/", "/dev/udp/"]
        .iter()
        .find_map(|device| path.strip_prefix(device));
    let Some(address) = address else {
        return (Vec::new(), true);
    };
    let host = address.split('/').next().and_then(url::host);
    let sure = host.is_some();
    (host.into_iter().collect(), sure)
}

/// The words of a program that has a habit.
struct Words<'a> {
    /// Those that may be hosts.
    bare: Vec<&'a str>,
    /// Flags, their values, and what is for the host to run.
    others: Vec<&'a str>,
    /// Every flag is known.
    known: bool,
}

impl<'a> Words<'a> {
    fn of(habit: &Habit, args: &'a [String]) -> Self {
        let mut found = Self {
            bare: Vec::new(),
            others: Vec::new(),
            known: true,
        };
        let one = matches!(habit.hosts, Written::First | Written::FirstBeforeColon);
        let (mut is_value, mut ended) = (false, false);
        for word in args {
            if std::mem::take(&mut is_value) || ended {
                found.others.push(word);
                continue;
            }
            let flag = habit.flag(word);
            is_value = flag == Flag::TakesNext;
            // What follows a second word is a command for the host.
            ended = one && !word.starts_with('-') && !found.bare.is_empty();
            found.known &= flag != Flag::Elsewhere;
            if word.starts_with('-') || ended {
                found.others.push(word);
            } else {
                found.bare.push(word);
            }
        }
        found
    }
}

impl Habit {
    /// Whether a word without a scheme may name a host, and no file.
    fn may_be_bare(&self, word: &str) -> bool {
        let host = word.split_once(':').map_or("", |(host, _)| host);
        self.hosts != Written::BeforeColon || (!host.is_empty() && !host.contains('/'))
    }

    /// The host of a word without a scheme.
    fn bare(&self, word: &str) -> Option<String> {
        let host = match self.hosts {
            Written::Anywhere => return bare_address(word),
            Written::First => word,
            Written::FirstBeforeColon | Written::BeforeColon => {
                word.split(':').next().unwrap_or_default()
            }
        };
        // The user's name may hold anything: `good.org/@evil.org`.
        url::host(host.rsplit_once('@').map_or(host, |(_, host)| host))
    }
}

/// Read as an address of the web is. `http:/host` is one to curl, and `@file` a list of them.
fn bare_address(word: &str) -> Option<String> {
    let authority = word.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.ends_with(':') || word.starts_with('@') {
        return None;
    }
    url::parse(&format!("http://{word}"))?.host
}

#[cfg(test)]
mod tests;
