//! Digits of other scripts.

/// The digit of our script for one of a keyboard that has its own: full-width, Arabic, Persian, Hindi. These
/// decide.
pub fn plain_digit(c: char) -> char {
    let zero = match c {
        '０'..='９' => '０',
        '\u{660}'..='\u{669}' => '\u{660}',
        '\u{6f0}'..='\u{6f9}' => '\u{6f0}',
        '\u{966}'..='\u{96f}' => '\u{966}',
        _ => return c,
    };
    from(zero, c).unwrap_or(c)
}

/// The zeros of the scripts that have ten digits in a row (Unicode, general category Nd), and what stands before
/// the ones in circles.
const ZEROS: &str = "\
    \u{7c0}\u{9e6}\u{a66}\u{ae6}\u{b66}\u{be6}\u{c66}\u{ce6}\u{d66}\u{de6}\u{e50}\u{ed0}\u{f20}\u{1040}\u{1090}\u{17e0}\
    \u{1810}\u{1946}\u{19d0}\u{1a80}\u{1a90}\u{1b50}\u{1bb0}\u{1c40}\u{1c50}\u{a620}\u{a8d0}\u{a900}\u{a9d0}\u{a9f0}\u{aa50}\
    \u{abf0}\u{24f4}\u{2775}\u{277f}\u{2789}";

/// The same for every script and for digits in circles: nobody types these by chance. They decide nothing, and
/// contradict.
pub(super) fn any_digit(c: char) -> char {
    let own = plain_digit(c);
    if own.is_ascii() {
        return own;
    }
    let digit = ZEROS.chars().find_map(|zero| from(zero, c));
    digit.unwrap_or(c)
}

fn from(zero: char, c: char) -> Option<char> {
    let value = u32::from(c).checked_sub(u32::from(zero))?;
    char::from_digit(value, 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p13_digits_have_one_value_in_every_script() {
        for c in "3３٣۳३৩๓៣᠓❸➂➌⓷".chars() {
            assert_eq!(any_digit(c), '3', "{c}");
        }
        for c in "aé三✂❶".chars().take(4) {
            assert_eq!(any_digit(c), c, "{c}");
        }
        assert_eq!((plain_digit('३'), plain_digit('৩')), ('3', '৩'));
    }
}
