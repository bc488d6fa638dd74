//! Whether a line looks like what was asked, so that it may take its place. A remark may begin with the name of a
//! program as well: "5 git repos would be affected by this".

use std::collections::HashSet;

use provost_core::{approval::Question, menu, review::Facts};
use serde_json::{Map, Value};

use super::{InLine, replaced};

/// Programs that are no words of any sentence, for requests that name none.
const PROGRAMS: &str = "\
    ansible apt apt-get awk aws az bash bun bundle bunx bzip2 cargo cd chmod chown cmake composer conda cp crontab curl \
    deno df diff dig dnf docker docker-compose dotnet du eslint ffmpeg flutter gcc gcloud gem gh git glab gofmt gradle \
    gradlew grep gunzip gzip head heroku helm helmfile htop ip java javac jest journalctl jq kubectl ln ls lsof mkdir mv \
    mvn mypy mysql nginx node npm npx nslookup openssl pg_dump php pip pip3 pipenv pnpm poetry prettier ps psql pulumi \
    pytest python python3 rails rake rclone redis-cli rg rm rmdir rspec rsync ruby ruff rustc rustup scp sed sh sqlite3 \
    ssh sudo supervisorctl svn systemctl tar terraform tofu tox traceroute tsc ufw unzip uv uvx vagrant vault vim vite \
    vitest wget xargs yarn yq zip zsh";
/// Between these stand the commands of a line.
const OPERATORS: [&str; 5] = [";", "&&", "||", "|", "&"];

/// What was asked, as far as a line is compared with it.
pub(super) struct Asked {
    /// What a line may begin with.
    begins: HashSet<String>,
    /// The words of it.
    words: HashSet<String>,
}

impl Asked {
    /// `None` where no text takes the place of the call.
    pub(super) fn call(tool: &str, params: &Map<String, Value>) -> Option<Self> {
        let command = params.get(replaced(params)?)?.as_str()?;
        let parts = Facts::of(tool, params).command.map(|command| command.parts);
        let programs = parts.into_iter().flatten().map(|part| part.program);
        let first = command.split_whitespace().next().map(str::to_owned);
        Some(Self {
            begins: programs.chain(first).collect(),
            words: words(command).map(str::to_owned).collect(),
        })
    }

    /// Programs that its words name may begin a line, and so may the common ones.
    pub(super) fn in_words(question: &Question) -> Self {
        let request = question.request.as_deref();
        let said = request.map(|request| format!("{} {}", request.title, request.preview));
        let payload = Value::Object(question.params.clone()).to_string();
        let all = format!("{} {payload}", said.unwrap_or_default());
        let programs = PROGRAMS.split_whitespace().map(str::to_owned);
        // Where a command may begin: at the start of a line, behind a quote or a colon, between commands.
        let starts = all.split(['\n', '`', '"', '\'', ':', '$', '|', ';', '&']);
        let named = starts.filter_map(|start| words(start).next());
        let named = named.filter(|word| is_program_name(word));
        Self {
            begins: programs.chain(named.map(str::to_owned)).collect(),
            words: words(&all).map(str::to_owned).collect(),
        }
    }

    /// Every line begins as what was asked does, or with a path, and goes on as commands do. Behind a separator more is
    /// clear: what is said to be done, and commands with new words.
    pub(super) fn is_replaced_by(&self, line: &InLine) -> bool {
        let mut lines = line.text.lines().filter(|line| !line.trim().is_empty());
        if line.apart {
            menu::is_instruction(&line.text) || lines.all(|line| self.is_command(line))
        } else {
            lines.all(|line| self.begins_like(line) && self.goes_on_like(line))
        }
    }

    /// It begins with a program that is known, or its words are such as only commands have, and no bare word of it is
    /// one of a sentence. "nächste Woche" is nothing of this, in whatever language it is said.
    fn is_command(&self, line: &str) -> bool {
        let Some(bare) = unquoted(line) else {
            return false;
        };
        let words: Vec<&str> = bare.split_whitespace().collect();
        let first = words.first().copied().unwrap_or_default();
        let is_known = self.begins_like(line) || is_common(first);
        let is_named =
            || is_program_name(first) && words.iter().any(|word| is_flag(word) || is_path(word));
        // Programs have arguments such as `a`.
        let is_said =
            |word: &&str| word.chars().count() > 1 && is_bare(word) && menu::is_everyday_word(word);
        let rest = words.get(1..).unwrap_or_default();
        let is_sentence = rest.iter().any(|word| is_said(word) || ends_clause(word));
        (is_known || is_assignment(first) || is_named()) && !is_sentence
    }

    fn begins_like(&self, line: &str) -> bool {
        let first = line.split_whitespace().next().unwrap_or_default();
        is_path(first) || self.begins.contains(first)
    }

    /// A bare word that what was asked does not have stands right behind the program only: "npm test", and not "npm
    /// install errors". It is no word of a sentence and not counted, and no sentence is built.
    fn goes_on_like(&self, line: &str) -> bool {
        let Some(bare) = unquoted(line) else {
            return false;
        };
        // Where in its command the next word stands.
        let mut place = 0;
        for (at, word) in bare.split_whitespace().enumerate() {
            if OPERATORS.contains(&word) {
                place = 0;
                continue;
            }
            let is_new =
                at > 0 && is_bare(word) && !self.words.contains(word.trim_end_matches(';'));
            if at > 0 && ends_clause(word) || is_new && !is_subcommand(word, place) {
                return false;
            }
            place = if word.ends_with(';') { 0 } else { place + 1 };
        }
        true
    }
}

/// Whether a word that is new may be what a program is to do.
fn is_subcommand(word: &str, place: usize) -> bool {
    let word = word.trim_end_matches(';');
    place == 1 && word.is_ascii() && !menu::is_everyday_word(word) && !is_plural(word)
}

/// The words of a text, without the signs around them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || "\"'`,;:|&(){}[]<>=".contains(c))
        .map(|word| word.trim_end_matches(['.', '!', '?']))
        .filter(|word| !word.is_empty())
}

fn is_program_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.+/".contains(&b))
        && !menu::is_everyday_word(word)
        && !is_plural(word)
}

/// Whether a word is a program that is no word of any sentence.
fn is_common(word: &str) -> bool {
    PROGRAMS.split_whitespace().any(|program| program == word)
}

/// `--all`, `-rf`. "-Bob" signs.
fn is_flag(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase()) && name.is_ascii() && !name.is_empty()
    };
    let short = word.strip_prefix('-').filter(|short| short.len() <= 2);
    word.strip_prefix("--").is_some_and(is_name)
        || short.is_some_and(|short| {
            short.bytes().all(|b| b.is_ascii_alphanumeric()) && !short.is_empty()
        })
}

/// `CI=1`, `$HOME/bin/check`
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    let name = name.or_else(|| word.strip_prefix('$'));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

fn is_path(word: &str) -> bool {
    let below = ["/", "./", "../", "~/"]
        .iter()
        .find_map(|root| word.strip_prefix(root));
    below.is_some_and(|below| below.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
}

/// Letters, and hyphens between them, as the words of a sentence have.
fn is_bare(word: &str) -> bool {
    let word = word.trim_matches(['(', ')', ';']);
    let sound = |c: char| c.is_alphabetic() || matches!(c, '’' | '-');
    word.starts_with(char::is_alphabetic) && word.chars().all(sound)
}

/// "please,", "review."
fn ends_clause(word: &str) -> bool {
    let letters = word.trim_end_matches([',', '.', '!', '?', ':', '…', '。', '，', '、']);
    letters.len() < word.len() && !letters.is_empty() && is_bare(letters)
}

/// "repos" behind "git" is counted; "status" and "logs" are commands.
fn is_plural(word: &str) -> bool {
    let ends = |ending: &&str| word.ends_with(ending);
    word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(ends) && word != "logs"
}

/// A line without what stands in quotes. `None` where a quote is left open: that may be an apostrophe.
fn unquoted(line: &str) -> Option<String> {
    let mut quote = None;
    let mut kept = String::with_capacity(line.len());
    for c in line.chars() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                kept.push('"');
            }
            Some(_) => {}
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None => kept.push(c),
        }
    }
    quote.is_none().then_some(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn clear(tool: &str, params: &Value, text: &str) -> bool {
        let asked = Asked::call(tool, params.as_object().unwrap()).unwrap();
        asked.is_replaced_by(&in_line(text))
    }

    fn in_line(text: &str) -> InLine {
        InLine {
            text: text.to_owned(),
            apart: false,
        }
    }

    fn apart(text: &str) -> InLine {
        InLine {
            apart: true,
            ..in_line(text)
        }
    }

    fn command(command: &str, text: &str) -> bool {
        clear("shell.run", &json!({"command": command}), text)
    }

    #[test]
    fn p13_a_remark_takes_the_place_of_no_command() {
        let asked = "rm -rf ./build && npm run build";
        for text in [
            "npm test",
            "rm -r ./build",
            "/usr/bin/make all",
            "./run.sh --dry",
            "npm ci\nnpm test",
            "npm run build --if-present",
            "rm -rf ./build; npm ci",
            "npm run \"would be better\"",
        ] {
            assert!(command(asked, text), "{text}");
        }
        for text in [
            "tables would be dropped by this",
            "minuutjes",
            "stelle",
            "make all",
            "- npm test",
            "npm test\nis that fine with you",
            "/ no",
            "the npm test",
            "rm calls like that need a review",
            "npm packages would break",
            "npm don't",
        ] {
            assert!(!command(asked, text), "{text}");
        }
        let path = json!({"path": "/tmp/x"});
        assert!(clear("files.delete", &path, "/tmp/y"));
        assert!(!clear("files.delete", &path, "others please"));
        let wordy = json!({"text": "Hello all"});
        assert!(clear("chat.post", &wordy, "Hello Bob"));
        assert!(!clear("chat.post", &wordy, "people read that"));
    }

    #[test]
    fn p13_a_remark_that_begins_with_the_program_is_none_either() {
        for (asked, text) in [
            (
                "git push origin main",
                "git repos would be affected by this",
            ),
            (
                "git push origin main",
                "git branches would be lost, please wait",
            ),
            (
                "docker rm -f web",
                "docker containers still run on that host",
            ),
            ("make deploy", "make sure Anna has seen it first"),
            ("go build ./...", "go services depend on it"),
            (
                "node server.js",
                "node servers are in production, please wait",
            ),
            (
                "find . -delete",
                "find another way please, this deletes too much",
            ),
            (
                "kubectl delete ns dev",
                "kubectl contexts point to prod, wait",
            ),
            ("psql -c x", "psql sessions hold a lock"),
            ("test -f x", "test users have data in it"),
            ("helm upgrade app .", "helm releases would restart"),
            ("cp a b", "cp ja nicht"),
            ("/usr/bin/make all", "/etc is not ours to touch"),
            ("ls", "~/.ssh must stay as it is, no"),
            ("go build ./...", "go ahead please"),
            ("git push", "git репозитории сломаются"),
            ("npm install", "npm install errors"),
            ("npm run build", "npm run errors"),
            ("npm install", "npm audit warnings"),
            ("git push origin main", "git push attempts failed"),
            ("git push origin main", "git push origin main attempts"),
            ("git push origin main", "git push re-tries"),
            ("terraform apply", "terraform apply runs failed"),
            ("git log | head", "git head failed"),
            ("npm test", "npm test 2 failures"),
        ] {
            assert!(!command(asked, text), "{text}");
        }
    }

    #[test]
    fn p13_a_request_is_replaced_by_commands_alone() {
        let asked = Asked {
            begins: PROGRAMS.split_whitespace().map(str::to_owned).collect(),
            words: words("Run command: npm test").map(str::to_owned).collect(),
        };
        for text in [
            "npm test",
            "npm ci && npm test",
            "ls -la",
            "git status",
            "rm -rf /tmp/a",
            "cargo build --release",
        ] {
            assert!(asked.is_replaced_by(&in_line(text)), "{text}");
        }
        for text in [
            "stelle",
            "ore",
            "make sure Anna has seen it first",
            "git repos affected",
            "npm run lint",
            "docker pull requests",
            "node servers down",
            "point réunions",
        ] {
            assert!(!asked.is_replaced_by(&in_line(text)), "{text}");
        }
    }

    #[test]
    fn p13_behind_a_separator_a_remark_is_no_command_either() {
        let params = json!({"command": "rm -rf ./build && npm run build"});
        let call = Asked::call("shell.run", params.as_object().unwrap()).unwrap();
        for text in [
            "npm test",
            "npm run lint",
            "npm ci\nnpm test",
            "dry-run only",
            "use staging",
            "rm -r ./build/old",
            "git push --no-verify",
            "go test ./...",
            "mytool --all",
            "CI=1 make test",
            "cp a b",
            "git commit -m 'not now, please'",
            "./run.sh",
        ] {
            assert!(call.is_replaced_by(&apart(text)), "{text}");
        }
        for text in [
            "nächste Woche",
            "ce soir",
            "end of day",
            "pasado mañana",
            "dans deux heures",
            "abbrechen",
            "取消",
            "let's discuss",
            "next sprint",
            "thanks",
            "npm test\nthanks",
            "npm test\nabbrechen",
            "npm test, thanks",
            "npm is not the problem here",
            "head of ops must agree",
            "git repos would be affected by this",
            "make sure Anna agrees",
            "übermorgen -Bob",
            "ok",
        ] {
            assert!(!call.is_replaced_by(&apart(text)), "{text}");
        }
    }
}
