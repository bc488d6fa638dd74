//! Styles, as far as they say that something is not seen as it stands.

/// The declarations of a `style` attribute or of a rule, in lower case.
pub(super) struct Style<'s>(pub(super) &'s str);

impl<'s> Style<'s> {
    /// What it says of a property. Which of several values holds depends on what a program understands, so each of
    /// them counts.
    fn values(&self, name: &str) -> impl Iterator<Item = &'s str> {
        let all = self.0.split(';').filter_map(|one| one.split_once(':'));
        all.filter(move |(known, _)| known.trim() == name)
            .map(|(_, value)| value.trim().trim_end_matches("!important").trim())
    }

    pub(super) fn has(&self, name: &str, holds: impl Fn(&str) -> bool) -> bool {
        self.values(name).any(holds)
    }

    /// Programs hide texts for readers of another kind so.
    pub(super) fn hides(&self) -> bool {
        HIDING.iter().any(|(name, value)| {
            let mut values = self.values(name).peekable();
            values.peek().is_some() && values.all(|it| it == *value)
        })
    }

    pub(super) fn floats(&self) -> bool {
        self.has("float", |side| matches!(side, "left" | "right"))
    }

    /// No line begins or ends with it: it floats, or is shown in any other way than those that are known to begin one.
    pub(super) fn stands_beside(&self) -> bool {
        self.floats() || self.has("display", |display| !is_block(display))
    }

    /// What it holds stands side by side.
    pub(super) fn is_row(&self) -> bool {
        const ROWS: [&str; 5] = ["flex", "inline-flex", "grid", "inline-grid", "table-row"];
        self.has("display", |display| ROWS.contains(&display))
            && !self.has("flex-direction", |it| it.starts_with("column"))
    }

    /// Crossed out, moved, or so small, low or clear that it may not be seen.
    pub(super) fn makes_doubtful(&self) -> bool {
        let below = |name: &str, least: f32| {
            self.has(name, |value| size(value).is_some_and(|size| size < least))
        };
        let may_hide = HIDING
            .iter()
            .any(|(name, value)| self.has(name, |it| it == *value));
        let struck = ["text-decoration", "text-decoration-line"]
            .iter()
            .any(|name| self.has(name, |it| it.contains("line-through")));
        let away = ["text-indent", "left", "top", "margin-left"]
            .iter()
            .any(|name| below(name, -200.0));
        (may_hide && !self.hides())
            || struck
            || away
            || below("font-size", 3.0)
            || self.has("font", has_tiny_size)
            || below("opacity", 0.3)
            || below("max-height", 1.0)
            || below("height", 0.01)
            || below("max-width", 1.0)
            || self.is_moved()
            || self.is_camouflaged()
    }

    /// It may be seen elsewhere than it stands, in part, or not at all.
    fn is_moved(&self) -> bool {
        let offset = || ["left", "right", "top", "bottom"].map(|side| self.has(side, |_| true));
        MOVING
            .iter()
            .any(|name| self.has(name, |it| !NOT_MOVING.contains(&it)))
            || self.has("display", |it| it == "inline-table")
            || self.has("unicode-bidi", |it| it.ends_with("override"))
            || self.has("position", |it| match it {
                "static" | "inherit" | "initial" => false,
                "relative" => offset().contains(&true),
                _ => true,
            })
    }

    /// Written in the colour of its ground, or in none.
    fn is_camouflaged(&self) -> bool {
        let grounds: Vec<Colour> = ["background-color", "background"]
            .iter()
            .flat_map(|name| self.values(name))
            .flat_map(colours)
            .collect();
        let inks = ["color", "-webkit-text-fill-color"];
        let mut inks = inks.iter().flat_map(|name| self.values(name));
        inks.any(|ink| colours(ink).any(|ink| ink == Colour::None || grounds.contains(&ink)))
    }
}

/// Whether a value of `display` makes a block, or nothing that is seen.
fn is_block(display: &str) -> bool {
    const BLOCKS: [&str; 10] = [
        "block",
        "none",
        "flex",
        "grid",
        "table",
        "list-item",
        "flow-root",
        "inherit",
        "table-row",
        "table-caption",
    ];
    let of_one_program = display.starts_with('-') && !display.contains("inline");
    BLOCKS.contains(&display) || display.ends_with("-group") || of_one_program
}

const HIDING: [(&str, &str); 3] = [
    ("display", "none"),
    ("visibility", "hidden"),
    ("mso-hide", "all"),
];

const MOVING: [&str; 13] = [
    "clip",
    "clip-path",
    "transform",
    "scale",
    "rotate",
    "translate",
    "zoom",
    "filter",
    "mask",
    "columns",
    "column-count",
    "column-width",
    "writing-mode",
];
const NOT_MOVING: [&str; 8] = [
    "none",
    "auto",
    "normal",
    "initial",
    "inherit",
    "1",
    "100%",
    "horizontal-tb",
];

/// As in `font: 0px Arial` and `font: 0/0 a`.
fn has_tiny_size(font: &str) -> bool {
    let mut parts = font
        .split_whitespace()
        .filter_map(|part| part.split('/').next());
    parts.any(|part| size(part).is_some_and(|size| size < 3.0))
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Colour {
    /// Nothing of it is seen.
    None,
    Rgb([u8; 3]),
    Named(String),
}

/// The colours in a value, and its other words as names of some.
fn colours(value: &str) -> impl Iterator<Item = Colour> {
    let mut depth = 0_u32;
    let one_word = value.chars().map(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 && c.is_whitespace() {
            ','
        } else {
            c
        }
    });
    let words: String = one_word.collect();
    let words: Vec<Colour> = words.split_whitespace().map(colour).collect();
    words.into_iter()
}

fn colour(word: &str) -> Colour {
    let numbers: Vec<f32> = match (word.strip_prefix('#'), word.split_once('(')) {
        (Some(digits), _) => {
            let width = if digits.len() < 5 { 1 } else { 2 };
            let of = |at: usize| {
                let digits = digits.get(at..at + width)?;
                let value = u8::from_str_radix(digits, 16).ok()?;
                Some(f32::from(if width == 1 { value * 17 } else { value }))
            };
            let mut numbers: Vec<f32> = (0..digits.len()).step_by(width).map_while(of).collect();
            if let Some(alpha) = numbers.get_mut(3) {
                *alpha /= 255.0;
            }
            numbers
        }
        (None, Some((kind, numbers))) if kind.starts_with("rgb") => numbers
            .split([',', '/', ')'])
            .filter_map(|number| number.parse().ok())
            .collect(),
        _ => match word {
            "white" => vec![255.0; 3],
            "black" => vec![0.0; 3],
            "transparent" => return Colour::None,
            _ => Vec::new(),
        },
    };
    match *numbers {
        [_, _, _, alpha] if alpha < 0.3 => Colour::None,
        [red, green, blue, ..] => Colour::Rgb([red, green, blue].map(|part| part as u8)),
        _ => Colour::Named(word.to_owned()),
    }
}

/// In points, about. `None` for words such as `small`.
fn size(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    let (number, unit) = value.split_at_checked(end.unwrap_or(value.len()))?;
    let number: f32 = number.parse().ok()?;
    let relative = unit.trim().ends_with("em");
    Some(if relative { number * 12.0 } else { number })
}

/// What a style sheet may say of an element.
#[derive(Clone, Copy)]
pub(super) enum Says {
    /// It is not seen as it stands.
    Doubtful,
    /// It stands beside others.
    Beside,
}

/// The classes, ids and elements of which a style sheet says something. What it says for small screens and for
/// paper only is left out: what the sender saw is another.
pub(super) fn selectors(sheet: &str, says: Says) -> Vec<String> {
    let sheet = without_comments(&sheet.to_ascii_lowercase());
    let sheet = without_conditions(&sheet);
    let mut found = Vec::new();
    for rule in sheet.split('}') {
        // In a media query a rule has two openings.
        let Some((selectors, body)) = rule.rsplit_once('{') else {
            continue;
        };
        let style = Style(body);
        let said = match says {
            Says::Doubtful => style.hides() || style.makes_doubtful(),
            Says::Beside => style.stands_beside(),
        };
        if !said {
            continue;
        }
        let selectors = selectors.rsplit(['{', ';']).next().unwrap_or_default();
        for selector in selectors.split(',') {
            found.extend(last_name(selector));
        }
    }
    found
}

/// A style sheet without its comments, and without the marks that hide it from the oldest readers.
fn without_comments(sheet: &str) -> String {
    let sheet = sheet.replace("<!--", " ").replace("-->", " ");
    let mut kept = String::with_capacity(sheet.len());
    let mut rest = sheet.as_str();
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept + rest
}

/// A style sheet without what holds for small screens and for paper.
fn without_conditions(sheet: &str) -> String {
    let mut kept = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some((before, query)) = rest.split_once("@media") {
        kept.push_str(before);
        let (condition, body) = query.split_once('{').unwrap_or((query, ""));
        let (inside, after) = block(body);
        if !["max-", "print"]
            .iter()
            .any(|part| condition.contains(part))
        {
            kept.push_str(inside);
        }
        rest = after;
    }
    kept + rest
}

/// Up to the `}` that closes what was opened before, and what follows it.
fn block(text: &str) -> (&str, &str) {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                let inside = text.get(..at).unwrap_or_default();
                return (inside, text.get(at + 1..).unwrap_or_default());
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    (text, "")
}

/// Of `div.a .b:hover` it is `.b`, of `img[class=c]` it is `img`.
fn last_name(selector: &str) -> Option<String> {
    let mut names = selector.split(|c: char| c.is_whitespace() || matches!(c, '>' | '+' | '~'));
    let last = names.rfind(|name| !name.is_empty())?;
    let last = last.split(':').next().unwrap_or_default();
    let (last, has_attribute) = match last.split_once('[') {
        Some((last, _)) => (last, true),
        None => (last, false),
    };
    if last.is_empty() && has_attribute {
        return Some("*".to_owned());
    }
    let at = last.rfind(['.', '#']).unwrap_or_default();
    let name = last.get(at..)?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p13_styles_that_hide_are_found() {
        for style in [
            "font-size:0",
            "font-size: 0px",
            "font-size:.1em",
            "opacity:0",
            "max-height:0;overflow:hidden",
            "text-decoration: line-through",
            "color:transparent",
            "text-indent:-9999px",
            "text-decoration:underline;text-decoration:line-through",
            "text-decoration:none;text-decoration:line-through",
            "display:block;display:none",
            "color:#fff;background:white",
            "color:rgb(255, 255, 255);background:#ffffff url(x)",
            "color:#0000",
            "color:rgba(0, 0, 0, 0)",
            "font:0px Arial",
            "font:0/0 a",
            "clip:rect(0,0,0,0)",
            "transform:scale(0)",
            "position:absolute",
            "position:relative;left:9px",
            "column-count:2",
            "display:inline-table",
        ] {
            assert!(Style(style).makes_doubtful(), "{style}");
        }
        for style in [
            "font-size:11pt",
            "font-size:0.8em",
            "font-size:small",
            "opacity:1",
            "height:1px",
            "margin-left:-5px",
            "font:normal 400 13px/20px arial",
            "color:#1f497d;background:white",
            "color:black;background-color:rgb(255,255,255)",
            "position:relative",
            "transform:none",
            "display:none",
            "text-transform:none",
        ] {
            assert!(!Style(style).makes_doubtful(), "{style}");
        }
        let sheet = "p{margin:0} .x, div.y > .z:hover {display:none} @media screen { #q{opacity:0} } [a=b]{opacity:0}";
        let found = selectors(sheet, Says::Doubtful);
        assert_eq!(found, [".x", ".z", "#q", "*"]);
        let sheet = "@media only screen and (max-width:480px){.hide{display:none!important} p{margin:0}} \
             @media print{.b{display:none}} img[class=hide]{display:none} .c{float:left}";
        assert_eq!(selectors(sheet, Says::Doubtful), ["img"]);
        assert_eq!(selectors(sheet, Says::Beside), [".c"]);
    }
}
