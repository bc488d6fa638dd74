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

/// The classes, ids and elements of which a style sheet says that they are not seen as they stand.
pub(super) fn doubtful_selectors(sheet: &str) -> Vec<String> {
    let sheet = sheet.to_ascii_lowercase();
    let mut found = Vec::new();
    for rule in sheet.split('}') {
        // In a media query a rule has two openings.
        let Some((selectors, body)) = rule.rsplit_once('{') else {
            continue;
        };
        let style = Style(body);
        if !(style.hides() || style.makes_doubtful()) {
            continue;
        }
        let selectors = selectors.rsplit(['{', ';']).next().unwrap_or_default();
        for selector in selectors.split(',') {
            found.extend(last_name(selector));
        }
    }
    found
}

/// Of `div.a .b:hover` it is `.b`.
fn last_name(selector: &str) -> Option<String> {
    let mut names = selector.split(|c: char| c.is_whitespace() || matches!(c, '>' | '+' | '~'));
    let last = names.rfind(|name| !name.is_empty())?;
    let last = last.split(':').next().unwrap_or_default();
    if last.contains('[') {
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
        let sheet =
            "p{margin:0} .x, div.y > .z:hover {display:none} @media print { #q{opacity:0} }";
        assert_eq!(doubtful_selectors(sheet), [".x", ".z", "#q"]);
    }
}
