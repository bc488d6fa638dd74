//! What is folded away on a page: long lists of plain lines, behind a native `<details>` that says how many they
//! are. Lines that deserve a look are never among them.

/// Fewer lines are not worth a click.
const SHORTEST_FOLD: usize = 4;

/// How much stands open.
#[derive(Clone, Copy, Debug)]
pub(super) enum Folding {
    /// In a list of many: so many lines, and the rest folded.
    After(usize),
    /// On a page of its own.
    Open,
}

/// Neighbours that are all open, or all folded.
#[derive(Debug, PartialEq)]
pub(super) struct Run<T> {
    pub(super) folded: bool,
    /// How many lines they are.
    pub(super) lines: usize,
    pub(super) items: Vec<T>,
}

/// `lines` says how many lines an item has, `stays` whether it must be seen.
pub(super) fn fold<T>(
    items: Vec<T>,
    folding: Folding,
    lines: impl Fn(&T) -> usize,
    stays: impl Fn(&T) -> bool,
) -> Vec<Run<T>> {
    let mut runs: Vec<Run<T>> = Vec::new();
    let mut before = 0;
    for item in items {
        let high = lines(&item);
        let folded = match folding {
            Folding::After(most) => before + high > most && before > 0 && !stays(&item),
            Folding::Open => false,
        };
        before += high;
        match runs.last_mut().filter(|run| run.folded == folded) {
            Some(run) => {
                run.lines += high;
                run.items.push(item);
            }
            None => runs.push(Run {
                folded,
                lines: high,
                items: vec![item],
            }),
        }
    }
    for run in &mut runs {
        run.folded &= run.lines >= SHORTEST_FOLD;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p14_plain_lines_are_folded_and_risky_ones_never() {
        let told = |count: usize, risky: &[usize], folding| {
            let runs = fold(
                (0..count).collect(),
                folding,
                |_| 1,
                |at| risky.contains(at),
            );
            let told = runs.iter().map(|run| (run.folded, run.lines));
            told.collect::<Vec<_>>()
        };
        let after = Folding::After(8);
        assert_eq!(told(0, &[], after), []);
        assert_eq!(told(8, &[], after), [(false, 8)]);
        assert_eq!(told(11, &[], after), [(false, 8), (false, 3)]);
        assert_eq!(told(30, &[], after), [(false, 8), (true, 22)]);
        assert_eq!(
            told(40, &[20, 39], after),
            [(false, 8), (true, 12), (false, 1), (true, 18), (false, 1)]
        );
        assert_eq!(told(400, &[], Folding::Open), [(false, 400)]);
    }

    #[test]
    fn p14_one_very_high_item_stands_open() {
        let runs = fold(vec![50, 50], Folding::After(8), |high| *high, |_| false);
        assert_eq!((runs[0].folded, runs[1].folded), (false, true));
    }
}
