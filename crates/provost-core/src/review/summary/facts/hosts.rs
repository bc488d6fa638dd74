//! The hosts that the words of a program name. Rather too many than too few: a rule that lists hosts must not
//! overlook one.

use super::url;

const MOST_HOSTS: usize = 64;

/// How a program takes hosts that are written without a scheme.
struct Habit {
    programs: &'static [&'static str],
    hosts: Written,
    /// Letters whose value is glued on or the next word, and no host.
    valued: &'static str,
    /// Letters by which it goes elsewhere than its words say.
    elsewhere: &'static str,
    /// Long flags of either kind, which may be cut short.
    long_valued: &'static [&'static str],
    long_elsewhere: &'static [&'static str],
}

enum Written {
    /// Every word that is no flag.
    Anywhere,
    First,
    /// `host:path`
    BeforeColon,
}

const HABITS: [Habit; 5] = [
    Habit {
        programs: &["curl"],
        hosts: Written::Anywhere,
        valued: "AbcCdDeEFHmorTuUwXyYztQ",
        elsewhere: "KxPh",
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
        long_elsewhere: &[
            "--config",
            "--proxy",
            "--preproxy",
            "--proxy1.0",
            "--socks4",
            "--socks4a",
            "--socks5",
            "--socks5-hostname",
            "--connect-to",
            "--resolve",
            "--doh-url",
            "--dns-servers",
            "--unix-socket",
            "--abstract-unix-socket",
            "--ftp-port",
            "--interface",
        ],
    },
    Habit {
        programs: &["wget"],
        hosts: Written::Anywhere,
        valued: "OoPtTUQwaADRIXlB",
        elsewhere: "ie",
        long_valued: &[
            "--output-document",
            "--directory-prefix",
            "--timeout",
            "--tries",
            "--user-agent",
            "--header",
            "--post-data",
        ],
        long_elsewhere: &[
            "--input-file",
            "--execute",
            "--config",
            "--base",
            "--use-askpass",
        ],
    },
    Habit {
        programs: &["ssh", "mosh"],
        hosts: Written::First,
        valued: "BbcEeIilmOpQS",
        elsewhere: "FJoWwDLRP",
        long_valued: &[],
        long_elsewhere: &["--ssh"],
    },
    Habit {
        programs: &["scp", "sftp", "rsync", "git"],
        hosts: Written::BeforeColon,
        valued: "cilPXBfMT",
        elsewhere: "FJoSeD",
        long_valued: &[],
        long_elsewhere: &["--rsh", "--rsync-path", "--files-from"],
    },
    Habit {
        programs: &[
            "http", "https", "aria2c", "axel", "lynx", "nc", "ncat", "netcat", "telnet", "ftp",
            "ping", "dig", "nslookup", "socat",
        ],
        hosts: Written::Anywhere,
        valued: "",
        elsewhere: "",
        long_valued: &[],
        long_elsewhere: &["--proxy", "--input-file"],
    },
];

/// What a flag says about the words around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Plain,
    /// The next word is its value.
    TakesNext,
    /// It goes elsewhere.
    Elsewhere,
}

impl Habit {
    fn flag(&self, word: &str) -> Flag {
        if word.starts_with("--") {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            let is = |flags: &[&str]| {
                let cut = |flag: &&str| name.len() > 3 && flag.starts_with(name);
                flags.iter().any(cut)
            };
            return match () {
                // Cut short it may be either.
                () if is(self.long_elsewhere) && !self.long_valued.contains(&name) => {
                    Flag::Elsewhere
                }
                () if self.long_valued.contains(&word) => Flag::TakesNext,
                () => Flag::Plain,
            };
        }
        let letters = word.strip_prefix('-').unwrap_or_default();
        for (at, letter) in letters.char_indices() {
            if self.elsewhere.contains(letter) {
                return Flag::Elsewhere;
            }
            if self.valued.contains(letter) {
                let last = at + letter.len_utf8() == letters.len();
                return if last { Flag::TakesNext } else { Flag::Plain };
            }
        }
        Flag::Plain
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
    for word in bare_words(habit, args) {
        add(bare(word));
    }
    let elsewhere = name != "git" && args.iter().any(|word| habit.flag(word) == Flag::Elsewhere);
    (hosts, sure && !elsewhere)
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

fn bare_words<'a>(habit: &Habit, args: &'a [String]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut skip = false;
    for word in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        skip = habit.flag(word) == Flag::TakesNext;
        if !word.starts_with('-') && !word.contains("://") {
            words.push(word.as_str());
        }
    }
    match habit.hosts {
        Written::Anywhere => {}
        Written::First => words.truncate(1),
        Written::BeforeColon => words.retain(|word| {
            let host = word.split_once(':').map_or("", |(host, _)| host);
            !host.is_empty() && !host.contains('/')
        }),
    }
    words
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
