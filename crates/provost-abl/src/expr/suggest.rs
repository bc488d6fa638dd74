//! "Did you mean": the nearest of a set of known names.

/// The candidate nearest to `name`, if any is near enough to be a likely slip of the keyboard.
/// Case does not count.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    const LONGEST: usize = 64;
    let wanted: Vec<char> = name.to_lowercase().chars().take(LONGEST).collect();
    let tolerance = (wanted.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, candidate), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits, insertions, deletions and swaps of neighbours.
fn distance(wanted: &[char], candidate: &str) -> usize {
    let candidate: Vec<char> = candidate.to_lowercase().chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=candidate.len()).collect();
    let mut previous = None;
    for (row, &letter) in wanted.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, &other) in candidate.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let mut cost = (at(&above, column) + usize::from(letter != other))
                .min(at(&above, column + 1) + 1)
                .min(at(&current, column) + 1);
            let swapped =
                column > 0 && previous == Some(other) && candidate.get(column - 1) == Some(&letter);
            if swapped && !before.is_empty() {
                cost = cost.min(at(&before, column - 1) + 1);
            }
            current.push(cost);
        }
        previous = Some(letter);
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_nothing_else() {
        let names = ["params", "agent", "session", "tool", "now"];
        for (name, expected) in [
            ("parms", Some("params")),
            ("PARAMS", Some("params")),
            ("aegnt", Some("agent")),
            ("sesion", Some("session")),
            ("weather", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
    }
}
