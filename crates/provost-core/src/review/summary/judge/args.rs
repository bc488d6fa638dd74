//! Arguments of a program: flags in their spellings, and the rest.

use super::Word;

pub(super) fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// The flags, up to a `--` that ends them. One behind a flag may be that flag's value: `git push -o -- -f`.
pub(super) fn flags(args: &[Word]) -> impl Iterator<Item = &str> {
    let mut before = "";
    args.iter()
        .map(|word| word.text.as_str())
        .take_while(move |word| {
            let may_take_it =
                is_flag(before) && !(before.starts_with("--") && before.contains('='));
            before = word;
            *word != "--" || may_take_it
        })
        .filter(|word| is_flag(word) && *word != "--")
}

/// One of these letters, alone or among others: `-rf`.
pub(super) fn has_short(args: &[Word], letters: &str) -> bool {
    flags(args)
        .filter_map(|flag| flag.strip_prefix('-'))
        .any(|flag| !flag.starts_with('-') && flag.contains(|c| letters.contains(c)))
}

/// The long flag, with a value or without, or cut short as GNU programs let it be.
pub(super) fn has_long(args: &[Word], long: &str) -> bool {
    flags(args).any(|flag| {
        let name = flag.split_once('=').map_or(flag, |(name, _)| name);
        is_long(name, long)
    })
}

/// The flag, without its value, or cut short. A flag with one dash is never cut.
pub(super) fn is_long(name: &str, long: &str) -> bool {
    name == long || (name.len() > 2 && name.starts_with("--") && long.starts_with(name))
}

/// The words that are no flags, and every word behind `--`.
pub(super) fn operands(args: &[Word]) -> impl Iterator<Item = &Word> {
    let mut ended = false;
    args.iter().filter(move |word| {
        let ends = word.text == "--" && !ended;
        ended |= ends;
        !ends && (ended || !is_flag(&word.text))
    })
}

pub(super) fn first_operand(args: &[Word]) -> &str {
    operands(args).next().map_or("", |word| &word.text)
}

pub(super) fn has(args: &[Word], texts: &[&str]) -> bool {
    args.iter().any(|word| texts.contains(&word.text.as_str()))
}
