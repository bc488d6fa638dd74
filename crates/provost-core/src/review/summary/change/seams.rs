//! Where an edit meets the rest of its file. If only one of its texts ends in a line break, the next line of the file is
//! joined to the last one of the edit or cut off from it, which the lines of the edit do not show. Its start likewise.

const JOINED_BEFORE: &str = "The line before this edit is joined to its first line";
const CUT_BEFORE: &str = "The line before this edit ends here";
const JOINED_AFTER: &str = "What follows in the file is joined to the last line of this edit";
const CUT_AFTER: &str = "What follows in the file begins a new line";

/// What is joined or cut at the ends of an edit.
pub(super) fn seams(old: &str, new: &str) -> Vec<&'static str> {
    match (old.is_empty(), new.is_empty()) {
        (true, _) => Vec::new(),
        // Of the two breaks around a line, one goes with it.
        (false, true) => Vec::from_iter((starts(old) && ends(old)).then_some(JOINED_AFTER)),
        (false, false) => {
            let before = seam(starts(old), starts(new), JOINED_BEFORE, CUT_BEFORE);
            let after = seam(ends(old), ends(new), JOINED_AFTER, CUT_AFTER);
            before.into_iter().chain(after).collect()
        }
    }
}

fn seam(
    had_break: bool,
    has_break: bool,
    joined: &'static str,
    cut: &'static str,
) -> Option<&'static str> {
    match (had_break, has_break) {
        (true, false) => Some(joined),
        (false, true) => Some(cut),
        _ => None,
    }
}

fn starts(text: &str) -> bool {
    text.starts_with('\n') || text.starts_with("\r\n")
}

fn ends(text: &str) -> bool {
    text.ends_with('\n')
}
