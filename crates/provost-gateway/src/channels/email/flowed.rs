//! Text of the kind `format=flowed` (RFC 3676): a space at the end of a line says that the paragraph goes on.

/// One line for each paragraph. Quoted ones keep a mark. `delsp` drops the space at the end of a line.
pub(super) fn unflow(text: &str, delsp: bool) -> String {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let depth = line.bytes().take_while(|b| *b == b'>').count();
        let content = line.get(depth..).unwrap_or_default();
        let content = content.strip_prefix(' ').unwrap_or(content);
        let flows = content.ends_with(' ') && content != "-- ";
        let content = match content.strip_suffix(' ') {
            Some(shorter) if flows && delsp => shorter,
            _ => content,
        };
        match out.last_mut() {
            Some((above, paragraph)) if goes_on && *above == depth && content != "-- " => {
                paragraph.push_str(content);
            }
            _ => out.push((depth, content.to_owned())),
        }
        goes_on = flows;
    }
    let lines = out.into_iter().map(|(depth, line)| match depth {
        0 => line,
        depth => format!("{} {line}", ">".repeat(depth)),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_become_lines() {
        for (text, delsp, expected) in [
            ("5 npm run \nbuild\n", false, "5 npm run build"),
            ("5 npm run\nbuild", false, "5 npm run\nbuild"),
            ("日本 \n語", true, "日本語"),
            ("1\n-- \nBob", false, "1\n-- \nBob"),
            ("> a \n> b\n1", false, "> a b\n1"),
            ("> a \n1", false, "> a \n1"),
            (" > not quoted\n From x", false, "> not quoted\nFrom x"),
        ] {
            assert_eq!(unflow(text, delsp), expected, "{text:?}");
        }
    }
}
