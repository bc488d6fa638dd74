//! Styles, as far as they say that something is not seen as it stands.

/// The declarations of a `style` attribute or of a rule, in lower case.
pub(super) struct Style<'s>(pub(super) &'s str);

impl<'s> Style<'s> {
    pub(super) fn value(&self, name: &str) -> Option<&'s str> {
        let mut all = self.0.split(';').filter_map(|one| one.split_once(':'));
        let found = all.find(|(known, _)| known.trim() == name);
        found.map(|(_, value)| value.trim().trim_end_matches("!important").trim())
    }

    /// Programs hide texts for readers of another kind so.
    pub(super) fn hides(&self) -> bool {
        self.value("display") == Some("none")
            || self.value("visibility") == Some("hidden")
            || self.value("mso-hide") == Some("all")
    }

    pub(super) fn floats(&self) -> bool {
        self.value("float")
            .is_some_and(|side| matches!(side, "left" | "right"))
    }

    /// No line begins or ends with it.
    pub(super) fn stands_beside(&self) -> bool {
        let display = self.value("display").unwrap_or_default();
        self.floats() || display.starts_with("inline") || display == "table-cell"
    }

    /// What it holds stands side by side.
    pub(super) fn is_row(&self) -> bool {
        let display = self.value("display").unwrap_or_default();
        let direction = self.value("flex-direction").unwrap_or_default();
        matches!(
            display,
            "flex" | "inline-flex" | "grid" | "inline-grid" | "table-row"
        ) && !direction.starts_with("column")
    }

    /// Crossed out, or so small, low or clear that it may not be seen.
    pub(super) fn makes_doubtful(&self) -> bool {
        let below = |name: &str, least: f32| {
            let size = self.value(name).and_then(size);
            size.is_some_and(|size| size < least)
        };
        let struck = ["text-decoration", "text-decoration-line"]
            .iter()
            .any(|name| {
                self.value(name)
                    .is_some_and(|it| it.contains("line-through"))
            });
        let away = ["text-indent", "left", "top", "margin-left"]
            .iter()
            .any(|name| below(name, -200.0));
        struck
            || away
            || below("font-size", 3.0)
            || below("opacity", 0.3)
            || below("max-height", 1.0)
            || below("height", 0.01)
            || below("max-width", 1.0)
            || self.value("color") == Some("transparent")
            || self.is_camouflaged()
    }

    /// Written in the colour of its ground.
    fn is_camouflaged(&self) -> bool {
        let ground = self.value("background-color").or(self.value("background"));
        ground.is_some() && self.value("color") == ground
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
    let sheet = without_conditions(&sheet.to_ascii_lowercase());
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
