//! The hosts that the words of a program name. Rather too many than too few: a rule that lists hosts must not
//! overlook one.

use super::url;

const MOST_HOSTS: usize = 64;

/// How a program takes hosts that are written without a scheme.
struct Habit {
    programs: &'static [&'static str],
    hosts: Written,
    /// Flags whose value is the next word, and no host.
    valued: &'static [&'static str],
    /// Flags by which it goes elsewhere than its words say.
    elsewhere: &'static [&'static str],
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
        valued: &[
            "-A",
            "-b",
            "-c",
            "-C",
            "-d",
            "-D",
            "-e",
            "-E",
            "-F",
            "-H",
            "-m",
            "-o",
            "-r",
            "-T",
            "-u",
            "-w",
            "-X",
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
        elsewhere: &[
            "-K",
            "--config",
            "-x",
            "--proxy",
            "--preproxy",
            "--socks",
            "--connect-to",
            "--resolve",
        ],
    },
    Habit {
        programs: &["wget"],
        hosts: Written::Anywhere,
        valued: &[
            "-O",
            "-o",
            "-P",
            "-t",
            "-T",
            "-U",
            "-Q",
            "-w",
            "--output-document",
            "--directory-prefix",
            "--timeout",
            "--tries",
            "--user-agent",
            "--header",
            "--post-data",
        ],
        elsewhere: &["-i", "--input-file", "-e", "--execute", "--config"],
    },
    Habit {
        programs: &["ssh", "mosh"],
        hosts: Written::First,
        valued: &["-p", "-i", "-l", "-b", "-c", "-E", "-m", "-Q"],
        elsewhere: &["-F", "-J", "-o", "-W", "-w", "-D", "-L", "-R"],
    },
    Habit {
        programs: &["scp", "sftp", "rsync", "git"],
        hosts: Written::BeforeColon,
        valued: &[],
        elsewhere: &["-F", "-J", "-o", "-S", "-e", "--rsh"],
    },
    Habit {
        programs: &[
            "http", "https", "aria2c", "axel", "lynx", "nc", "ncat", "netcat", "telnet", "ftp",
            "ping", "dig", "nslookup", "socat",
        ],
        hosts: Written::Anywhere,
        valued: &[],
        elsewhere: &[],
    },
];

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
        match url::parse(address) {
            Some(url) if url.host.is_none() => {}
            found => add(found.and_then(|url| url.host)),
        }
    }
    let Some(habit) = habit else {
        return (hosts, sure);
    };
    for word in bare_words(habit, args) {
        add(bare(word));
    }
    let elsewhere = name != "git" && args.iter().any(|word| is_one_of(word, habit.elsewhere));
    (hosts, sure && !elsewhere)
}

fn is_one_of(word: &str, flags: &[&str]) -> bool {
    flags.iter().any(|flag| word.starts_with(flag))
}

fn bare_words<'a>(habit: &Habit, args: &'a [String]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut skip = false;
    for word in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        skip = habit.valued.contains(&word.as_str());
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
