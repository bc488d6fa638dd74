//! Telegram's HTML: a few marks, well nested, and four entities.

const MARKS: [&str; 3] = ["b", "code", "pre"];

/// What is left when the marks are taken away.
pub(crate) fn shown(html: &str) -> Result<String, String> {
    let mut shown = String::new();
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&', '>']) {
        let (before, special) = rest.split_at(at);
        shown.push_str(before);
        rest = match special.as_bytes()[0] {
            b'<' => mark(special, &mut open)?,
            b'&' => entity(special, &mut shown)?,
            _ => return Err("can't parse entities: a bare >".into()),
        };
    }
    shown.push_str(rest);
    if let Some(unclosed) = open.pop() {
        return Err(format!(
            "can't parse entities: can't find end tag of {unclosed}"
        ));
    }
    Ok(shown)
}

fn mark<'a>(text: &'a str, open: &mut Vec<&'a str>) -> Result<&'a str, String> {
    let unsupported = || format!("can't parse entities: unsupported mark at {text:.20}");
    let (mark, rest) = text[1..].split_once('>').ok_or_else(unsupported)?;
    if let Some(ended) = mark.strip_prefix('/') {
        return match open.pop() {
            Some(opened) if opened == ended => Ok(rest),
            _ => Err(format!("can't parse entities: unexpected end tag {ended}")),
        };
    }
    let (name, class) = mark.split_once(' ').unwrap_or((mark, ""));
    let coloured = name == "code" && open.last() == Some(&"pre");
    let language = class.strip_prefix("class=\"language-");
    let class_ok = class.is_empty() || (coloured && language.is_some_and(|it| it.ends_with('"')));
    // Code holds no other marks, but for a language within a block.
    let nested_ok = !open.iter().any(|mark| matches!(*mark, "code" | "pre")) || coloured;
    if !MARKS.contains(&name) || !class_ok || !nested_ok {
        return Err(unsupported());
    }
    open.push(name);
    Ok(rest)
}

fn entity<'a>(text: &'a str, shown: &mut String) -> Result<&'a str, String> {
    for (entity, c) in [
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&amp;", '&'),
        ("&quot;", '"'),
    ] {
        if let Some(rest) = text.strip_prefix(entity) {
            shown.push(c);
            return Ok(rest);
        }
    }
    Err("can't parse entities: unknown entity".into())
}
