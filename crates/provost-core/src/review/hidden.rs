//! Characters that a reader does not see, or sees elsewhere than they stand. Everything that shows people what
//! agents wrote asks here, so that what hides in one place hides in none.

/// Without width, or changing what stands around it.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// What must be written out to be seen: also control characters, blanks that are letters to a program (the spaces
/// of Unicode), and ends of line that only some programs know. The mark that makes a sign an emoji is seen.
pub fn hides(c: char) -> bool {
    c.is_control()
        || (is_invisible(c) && c != '\u{fe0f}')
        || (c.is_whitespace() && !c.is_ascii())
        || matches!(c,
            '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}')
}

/// Whether words are drawn in another order than they stand: behind a letter that is written from right to left, what
/// follows a blank or a sign is drawn on its left, up to the next letter of the other direction. `mv א ב` looks like
/// `mv ב א`.
pub(super) fn reorders(text: &str) -> bool {
    let (mut behind, mut gap) = (false, false);
    for c in text.chars() {
        let is_right_to_left = is_right_to_left(c);
        if behind && gap && (is_right_to_left || c.is_numeric()) {
            return true;
        }
        if is_right_to_left {
            (behind, gap) = (true, false);
        } else if c.is_alphabetic() || c == '\n' {
            behind = false;
        } else {
            gap |= !c.is_numeric();
        }
    }
    false
}

fn is_right_to_left(c: char) -> bool {
    matches!(c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p14_words_that_are_drawn_in_another_order_are_found() {
        for text in [
            "mv \u{5d0} \u{5d1}",
            "cp \u{5d0}/1 \u{5d1}/2",
            "mv \u{627} 1",
            "rm \u{5d0}/\u{5d1}",
        ] {
            assert!(reorders(text), "{text}");
        }
        for text in [
            "mv a b",
            "rm \u{5d0}",
            "rm 1 \u{5d0}",
            "mv \u{5d0} to \u{5d1}",
            "rm \u{5d0}\nrm \u{5d1}",
            "echo \u{5e9}\u{5dc}\u{5d5}\u{5dd}1",
        ] {
            assert!(!reorders(text), "{text}");
        }
    }
}
