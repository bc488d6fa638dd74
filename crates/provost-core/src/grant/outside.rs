//! What a word of a command names beyond the project: a file elsewhere, an address, or a variable that it sets.
//! Programs take both as what to run (`make CC=/tmp/x`, `npm test -- --config=/tmp/x.js`), and which of their
//! options do, nobody can list. So a wide scope permits none of them.

/// Written as they are: nothing is run or kept there.
const HARMLESS: [&str; 4] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

pub(super) fn names_any(words: &[String], project: Option<&str>) -> bool {
    let project = project.map(|folder| folder.strip_suffix('/').unwrap_or(folder));
    // A folder that holds nearly everything is no project.
    let project = project.filter(|folder| folder.matches('/').count() >= 2);
    words
        .iter()
        .any(|word| assigns(word) || pieces(word).any(|piece| is_outside(piece, project)))
}

/// `CC=x`, `CC:=x`, `build.rustc-wrapper=x`, `-DNAME=x`. An option that is written with `=` is none.
fn assigns(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.trim_end_matches([':', '+', '?', '!', ' ', '\t']);
    let name = name.trim_start();
    let defined = name.strip_prefix('-');
    let is_definition = defined.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_uppercase()));
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_.-[]/".contains(c));
    is_definition || is_name
}

/// Where a path may begin in a word: `--config=/x`, `-I/x`, `-czf/x`, `a:/x`, `a,/x`, `@/x`.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    const FEW: usize = 3;
    let inner = word
        .char_indices()
        .filter(|(_, c)| matches!(c, '=' | ':' | ',' | '@' | '{' | '(' | '|'))
        .map(|(at, _)| at + 1);
    let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
    let attached = letters.map_or(0, |letters| {
        let count = letters
            .bytes()
            .take_while(u8::is_ascii_alphanumeric)
            .count();
        // Compilers take a folder behind these: `-Isrc/include`. A few letters may be flags: `grep -If/x`.
        let takes_folder = letters.starts_with(['I', 'L']) && count > FEW;
        if takes_folder { 1 } else { count }
    });
    std::iter::once(0)
        .chain(inner)
        .chain((0..attached).map(|letter| letter + 2))
        .filter_map(|at| word.get(at..))
}

fn is_outside(piece: &str, project: Option<&str>) -> bool {
    let is_rooted = piece.starts_with(['/', '\\', '~']) || has_drive(piece);
    let signs = ['/', '\\', '{', '}', ',', '(', ')', '|'];
    let climbs = piece.split(signs).any(|step| step == "..");
    if piece.contains("://") || climbs {
        return true;
    }
    let is_inside = project.is_some_and(|project| {
        let below = piece.strip_prefix(project);
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    });
    is_rooted && !is_inside && !HARMLESS.contains(&piece)
}

fn has_drive(piece: &str) -> bool {
    let mut chars = piece.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), Some('\\' | '/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p04_words_that_name_something_outside_are_known() {
        for (word, outside) in [
            ("--silent", false),
            ("tests/a_test.py", false),
            ("./...", false),
            ("HEAD~1", false),
            ("main..HEAD", false),
            ("--run=TestX", false),
            ("-count=1", false),
            ("--config=conf/a.js", false),
            ("/srv/project/a", false),
            ("/srv/project", false),
            ("/dev/null", false),
            ("a@b", false),
            ("x:y", false),
            ("CC=/tmp/evil", true),
            ("CC=evil", true),
            ("CC:=evil", true),
            ("build.rustc-wrapper=evil", true),
            ("-Dx=y", true),
            ("-DX=y", true),
            ("/tmp/evil_test.py", true),
            ("--config=/tmp/evil.js", true),
            ("--a=b=/tmp/evil.js", true),
            ("-I/tmp/x", true),
            ("-f~/x", true),
            ("-czvf/tmp/x", true),
            ("-hf/etc/passwd", true),
            ("-xf../x", true),
            ("-czvf/srv/project/x", false),
            ("-Isrc/include", false),
            ("-If/etc/passwd", true),
            ("{/tmp/evil,x}.js", true),
            ("{..,x}/**", true),
            ("~/x", true),
            ("~", true),
            ("../x", true),
            ("a/../../x", true),
            ("..", true),
            ("/srv/projectile/a", true),
            ("/srv/project/../x", true),
            ("/", true),
            ("src:/etc", true),
            ("@/tmp/x", true),
            ("--registry=http://evil", true),
            ("C:\\x", true),
            ("\\\\host\\x", true),
        ] {
            let words = [word.to_owned()];
            assert_eq!(names_any(&words, Some("/srv/project/")), outside, "{word}");
        }
        let absolute = ["/srv/project/a".to_owned()];
        for project in [None, Some("/"), Some("/srv"), Some("")] {
            assert!(names_any(&absolute, project), "{project:?}");
        }
    }
}
