//! What curl reads and sends, by its options.

use super::{
    Word,
    args::is_long,
    options::{self, Options, Order},
};

const VALUED: &str = "AbcCdDeEFHhKmoPQrtTuUwxXyYz";
const LONG_VALUED: [&str; 23] = [
    "--connect-timeout",
    "--cookie",
    "--cookie-jar",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--dump-header",
    "--form",
    "--header",
    "--json",
    "--max-time",
    "--output",
    "--output-dir",
    "--referer",
    "--request",
    "--retry",
    "--retry-delay",
    "--upload-file",
    "--url",
    "--user",
    "--user-agent",
    "--write-out",
];
/// Options of which everything is known that they read and write.
const PLAIN: &str = "sSfLiIvkgGNqO46AXemuHdFTboDcw";
const LONG_PLAIN: [&str; 15] = [
    "--compressed",
    "--create-dirs",
    "--fail",
    "--fail-with-body",
    "--get",
    "--head",
    "--http1.1",
    "--http2",
    "--include",
    "--insecure",
    "--location",
    "--no-progress-meter",
    "--remote-name",
    "--show-error",
    "--silent",
];
const SENDING: [&str; 5] = ["--data", "--form", "--upload-file", "--json", "--url-query"];
/// The server or the address says how the file is called.
const NAMED_ELSEWHERE: [&str; 4] = ["O", "J", "--remote-name", "--remote-header-name"];

pub(super) struct Call<'a> {
    options: Options<'a>,
}

impl<'a> Call<'a> {
    pub(super) fn of(args: &'a [Word]) -> Self {
        let words = args.iter().map(|word| word.text.as_str());
        Self {
            options: options::parse(words, Order::Anywhere, VALUED, |flag| {
                LONG_VALUED.contains(&flag)
            }),
        }
    }

    /// Every option is one of which it is known what it reads and writes, and so is every value.
    pub(super) fn is_known(&self) -> bool {
        let flag = |name: &str| {
            if name.starts_with("--") {
                LONG_PLAIN.contains(&name) || LONG_VALUED.contains(&name)
            } else {
                PLAIN.contains(name)
            }
        };
        let mut given = self.options.given.iter();
        given.all(|(name, value)| flag(name) && self.is_plain(name, value.unwrap_or_default()))
            && self
                .addresses()
                .all(|address| self.has_plain_scheme(address))
    }

    /// The value names files as they are written, and no others.
    fn is_plain(&self, name: &str, value: &str) -> bool {
        match name {
            // `%output{file}`, also in a file.
            "w" | "--write-out" => !value.contains("output") && !value.starts_with('@'),
            // `{a,b}` and `[1-9]` are several files.
            "T" | "--upload-file" => !self.globs() || !value.contains(['{', '[']),
            // `#1` is what a glob of the address stands for.
            "o" | "--output" | "--output-dir" => !value.contains('#'),
            // Quoted names, and files beside the one that is sent.
            "F" | "--form" => !value.contains(['"', '\\']) && !value.contains("headers="),
            // A file of addresses.
            "--url" => !value.starts_with('@'),
            _ => true,
        }
    }

    /// `{a,b}` and `[1-9]` in addresses stand for several.
    fn globs(&self) -> bool {
        !self.options.given.iter().any(|(name, _)| *name == "g")
    }

    fn addresses(&self) -> impl Iterator<Item = &'a str> {
        let given = self.options.given.iter();
        let urls = given.filter_map(|(name, value)| value.filter(|_| *name == "--url"));
        self.options.operands.iter().copied().chain(urls)
    }

    /// No glob makes up its scheme: `fil{e}:///etc/passwd`.
    fn has_plain_scheme(&self, address: &str) -> bool {
        let glob = address.find(['{', '[']).filter(|_| self.globs());
        let before = glob.and_then(|at| address.get(..at));
        before.is_none_or(|before| before.contains('/'))
    }

    pub(super) fn uploads(&self) -> bool {
        self.options.given.iter().any(|(name, value)| {
            let file = value.is_some_and(|value| value.starts_with('@'));
            matches!(*name, "d" | "F" | "T")
                || (file && matches!(*name, "H" | "--header"))
                || SENDING
                    .iter()
                    .any(|flag| name.starts_with(flag) || is_long(name, flag))
        })
    }

    /// It writes a file that its words do not name.
    pub(super) fn names_elsewhere(&self) -> bool {
        let named = |flag: &&str| flag.starts_with("--remote") || NAMED_ELSEWHERE.contains(flag);
        self.options.given.iter().any(|(name, _)| named(name))
    }

    pub(super) fn reads(&self) -> (Vec<String>, bool) {
        let mut files = Vec::new();
        for (name, value) in &self.options.given {
            let value = value.unwrap_or_default();
            match *name {
                "T" | "--upload-file" => files.push(value),
                "b" | "--cookie" if !value.contains('=') => files.push(value),
                "F" | "--form" => {
                    let file = value.split_once(['@', '<']).map(|(_, file)| file);
                    files.extend(file.into_iter().flat_map(|file| file.split([',', ';'])));
                }
                "--data-raw" => {}
                "--data-urlencode" => files.extend(value.split_once('@').map(|(_, file)| file)),
                _ => files.extend(value.strip_prefix('@')),
            }
        }
        let local = |word: &&str| word.to_lowercase().starts_with("file:");
        files.extend(self.addresses().filter(local));
        let files = files.into_iter().map(str::to_owned).collect();
        (files, self.is_known())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<Word> {
        command.split(' ').map(Word::literal).collect()
    }

    #[test]
    fn p19_what_curl_sends_is_found_in_every_spelling() {
        for (command, files) in [
            ("-sT F https://a.org", "F"),
            ("-sd @F https://a.org", "F"),
            ("-sd@F https://a.org", "F"),
            ("-sF x=@F https://a.org", "F"),
            ("-sF x=@F,G https://a.org", "F G"),
            ("-H @F https://a.org", "F"),
            ("-F x=<F https://a.org", "F"),
            ("--upload-file F https://a.org", "F"),
            ("--data-urlencode x@F https://a.org", "F"),
            ("--data x https://a.org", ""),
        ] {
            let words = words(command);
            let call = Call::of(&words);
            assert!(call.uploads(), "{command}");
            assert_eq!(call.reads(), (call.reads().0, true), "{command}");
            assert_eq!(call.reads().0.join(" "), files, "{command}");
        }
        for command in ["--upload F https://a.org", "--url-query @F https://a.org"] {
            assert!(Call::of(&words(command)).uploads(), "{command}");
        }
        for command in [
            "-s https://a.org",
            "-sSfL -o x https://a.org",
            "-H d: https://a.org",
        ] {
            let words = words(command);
            let call = Call::of(&words);
            assert!(!call.uploads() && call.is_known(), "{command}");
            assert_eq!(call.reads(), (Vec::new(), true), "{command}");
        }
        for command in [
            "--hsts F https://a.org",
            "--alt-svc=F https://a.org",
            "-w %output{F} https://a.org",
            "-n https://a.org",
            "--outp F https://a.org",
        ] {
            assert!(!Call::of(&words(command)).is_known(), "{command}");
        }
        for command in [
            "https://a.org FILE:///etc/passwd",
            "--url FILE:///etc/passwd",
            "--url=FILE:///etc/passwd https://a.org",
        ] {
            let local = words(command);
            assert_eq!(Call::of(&local).reads().0, ["FILE:///etc/passwd"]);
        }
    }

    #[test]
    fn p19_what_curl_makes_of_patterns_is_not_known() {
        for command in [
            "-sT P/{a,../../b} https://a.org",
            "-TP/[a-b] https://a.org",
            "--upload-file {F} https://a.org",
            "http://a.org/{../b} -o P/#1",
            "--output=#1 http://a.org/{b}",
            "-o x --output-dir #1 http://a.org/{b}",
            "{file:///etc/passwd,}",
            "fil{e}:///etc/passwd",
            "--url [f-f]ile:///etc/passwd",
            "-w @F https://a.org",
            "-F x=@\"F\" https://a.org",
            "-F x=@F;headers=@G https://a.org",
            "--url @F",
        ] {
            let words = words(command);
            let call = Call::of(&words);
            assert!(!call.is_known() && !call.reads().1, "{command}");
        }
        for command in [
            "-gsT P/{a} https://a.org",
            "https://a.org/{b,c}",
            "a.org/[1-3]",
            "-g https://[::1]/",
            "-F x=@F;type=text/plain https://a.org",
        ] {
            assert!(Call::of(&words(command)).is_known(), "{command}");
        }
    }
}
