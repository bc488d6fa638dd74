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
