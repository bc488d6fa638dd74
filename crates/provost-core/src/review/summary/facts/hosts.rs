//! The hosts that the words of a program name. Rather too many than too few: a rule that lists hosts must not
//! overlook one.

use super::url;

const MOST_HOSTS: usize = 64;

/// How a program takes hosts that are written without a scheme.
struct Habit {
    programs: &'static [&'static str],
    hosts: Written,
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
    /// Every word that is no flag.
    Anywhere,
    First,
    /// `host:path`
    BeforeColon,
}

const HABITS: [Habit; 8] = [
    Habit {
        programs: &["curl"],
        hosts: Written::Anywhere,
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
        plain: "46AaCfGgKkMNnqsTtVvXxYy",
        long: Some(""),
        valued: "BbcEeIilmOpQ",
        long_valued: &[],
    },
    Habit {
        programs: &["sftp"],
        hosts: Written::First,
        plain: "46AaCfNpqrv",
        long: Some(""),
        valued: "BbcilPRsX",
        long_valued: &[],
    },
    Habit {
        programs: &["scp"],
        hosts: Written::BeforeColon,
        plain: "346ABCOpqRrTv",
        long: Some(""),
        valued: "cilPX",
        long_valued: &[],
    },
    Habit {
        programs: &["rsync"],
        hosts: Written::BeforeColon,
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
        plain: "",
        long: None,
        valued: "",
        long_valued: &[],
    },
    Habit {
        programs: &[
            "http", "https", "aria2c", "axel", "lynx", "nc", "ncat", "netcat", "telnet", "ftp",
            "ping", "dig", "nslookup", "socat",
        ],
        hosts: Written::Anywhere,
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
            false if known && (name == word || word.contains("://")) => Flag::Plain,
            false => Flag::Elsewhere,
        }
    }
}

/// The hosts, and whether all that are named could be told.
pub(in crate::review::summary) fn named(name: &str, args: &[String]) -> (Vec<String>, bool) {
    let habit = HABITS.iter().find(|habit| habit.programs.contains(&name));
    let mut hosts: Vec<String> = Vec::new();
    let mut sure = true;
    let mut add = |host: Option<String>| match host {
        Some(host) if hosts.contains(&host) => {}
        Some(host) if hosts.len() < MOST_HOSTS => hosts.push(host),
        _ => sure = false,
    };
    for word in args.iter().filter(|word| word.contains("://")) {
        // `--url=https://…`, and `of=ssh://…`.
        let start = word.find("://").unwrap_or_default();
        let from = word.get(..start).and_then(|before| before.rfind('='));
        let address = word.get(from.map_or(0, |at| at + 1)..).unwrap_or(word);
        // `file:///…` has no host, and whose file it is is not said.
        add(url::parse(address).and_then(|url| url.host));
    }
    let Some(habit) = habit else {
        return (hosts, sure);
    };
    let (words, known) = bare_words(habit, args);
    for word in words {
        add(bare(word));
    }
    (hosts, sure && known)
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

/// The words that may be hosts, and whether every flag is known.
fn bare_words<'a>(habit: &Habit, args: &'a [String]) -> (Vec<&'a str>, bool) {
    let (mut words, mut known) = (Vec::new(), true);
    let mut skip = false;
    for word in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        let flag = habit.flag(word);
        skip = flag == Flag::TakesNext;
        known &= flag != Flag::Elsewhere;
        if !word.starts_with('-') {
            words.push(word.as_str());
        }
        // What follows is a command for the host.
        if habit.hosts == Written::First && words.len() > 1 {
            break;
        }
    }
    if habit.hosts == Written::First {
        words.truncate(1);
    }
    words.retain(|word| !word.contains("://"));
    if habit.hosts == Written::BeforeColon {
        words.retain(|word| {
            let host = word.split_once(':').map_or("", |(host, _)| host);
            !host.is_empty() && !host.contains('/')
        });
    }
    (words, known)
}

/// `user@host:path`, `host:port`, `host/path`.
fn bare(word: &str) -> Option<String> {
    let word = word.split(['/', '?', '#']).next().unwrap_or_default();
    let word = word.rsplit_once('@').map_or(word, |(_, host)| host);
    let name = word.split(':').next().unwrap_or_default();
    url::host(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p19_hosts_are_found_in_words() {
        for (words, expected, sure) in [
            ("curl https://good.org/x -o out.txt", "good.org", true),
            ("curl https://good.org evil.com", "good.org evil.com", true),
            ("curl good.org:8080/x", "good.org", true),
            ("curl https://a@evil.com", "evil.com", true),
            ("curl --url=https://evil.com", "evil.com", true),
            ("curl --url=evil.com", "", false),
            ("wget -r good.org", "good.org", false),
            ("ssh -S ctl good.org", "ctl", false),
            ("curl http://{a,b}.com", "", false),
            (
                "curl -x evil.com https://good.org",
                "evil.com good.org",
                false,
            ),
            ("curl -K f https://good.org", "f good.org", false),
            ("curl -sxevil.com good.org", "good.org", false),
            ("curl -sKcfg https://good.org", "good.org", false),
            ("curl --prox evil.com good.org", "evil.com good.org", false),
            (
                "curl --socks5 evil.com good.org",
                "evil.com good.org",
                false,
            ),
            (
                "curl https://good.org file:///etc/passwd",
                "good.org",
                false,
            ),
            ("curl -so out.txt good.org", "good.org", true),
            ("curl -HX:x good.org", "good.org", true),
            ("wget -qi list good.org", "good.org list", false),
            ("ssh -vJ evil.com good.org", "evil.com", false),
            ("rsync -ae evil a good.org:b", "good.org", false),
            ("wget -O - good.org", "good.org", true),
            ("ssh -p 22 ann@good.org rm -rf x", "good.org", true),
            ("ssh -J evil.com good.org", "evil.com", false),
            ("scp a good.org:b", "good.org", true),
            ("git clone git@good.org:a/b", "good.org", true),
            (
                "git push https://good.org/x main:dev",
                "good.org main",
                true,
            ),
            ("cat a b", "", true),
            ("sftp -b good.org:batch evil.com", "evil.com", true),
            ("sftp -P 22 ann@good.org:x", "good.org", true),
            ("sftp -D evil good.org", "evil", false),
            ("sftp good.org:x y", "good.org", true),
            ("scp -r a good.org:b", "good.org", true),
            ("scp -Y a good.org:b", "good.org", false),
            ("curl --what good.org", "good.org", false),
            ("curl -sSfL --retry 3 good.org", "good.org", true),
            ("wget --what good.org", "good.org", false),
            ("rsync -av --exclude x a good.org:b", "good.org", true),
            ("rsync -av --what a good.org:b", "good.org", false),
            ("nc -X connect good.org 80", "connect good.org", false),
            ("python x.py https://good.org", "good.org", true),
        ] {
            let mut words = words.split(' ').map(str::to_owned);
            let name = words.next().unwrap();
            let (mut hosts, certain) = named(&name, &words.collect::<Vec<_>>());
            hosts.sort();
            let mut expected: Vec<&str> = expected
                .split(' ')
                .filter(|host| !host.is_empty())
                .collect();
            expected.sort_unstable();
            assert_eq!(
                (hosts, certain),
                (expected.iter().map(|&host| host.to_owned()).collect(), sure),
                "{name}"
            );
        }
    }
}
