//! Many globs, found by name in time that hardly depends on how many there are.
//!
//! Each glob waits in a bucket under the characters before its first wildcard. A name is looked up
//! once per distinct bucket length, and only the few globs found there are matched.

use std::collections::HashMap;

use super::Glob;

#[derive(Clone, Debug, Default)]
pub struct GlobIndex {
    buckets: HashMap<Box<str>, Vec<Entry>>,
    /// The distinct lengths of the keys of `buckets`, ascending.
    lengths: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Entry {
    rank: u32,
    glob: Glob,
}

impl GlobIndex {
    /// Ranks must not descend from one call to the next: they are the order of matching.
    pub fn insert(&mut self, glob: Glob, rank: u32) {
        let prefix = glob.prefix();
        if let Err(at) = self.lengths.binary_search(&prefix.len()) {
            self.lengths.insert(at, prefix.len());
        }
        self.buckets
            .entry(prefix.into())
            .or_default()
            .push(Entry { rank, glob });
    }

    /// The ranks whose globs match `name`, ascending, each once.
    pub fn matches<'a>(&'a self, name: &'a str) -> Matches<'a> {
        let mut queues = Vec::new();
        for length in self.lengths.iter().take_while(|l| **l <= name.len()) {
            if let Some(bucket) = name
                .get(..*length)
                .and_then(|prefix| self.buckets.get(prefix))
            {
                queues.push(bucket.as_slice());
            }
        }
        Matches {
            queues,
            name,
            last: None,
        }
    }
}

pub struct Matches<'a> {
    queues: Vec<&'a [Entry]>,
    name: &'a str,
    last: Option<u32>,
}

impl Iterator for Matches<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let next = self
                .queues
                .iter_mut()
                .filter(|queue| !queue.is_empty())
                .min_by_key(|queue| rank(queue))?;
            let (entry, rest) = next.split_first()?;
            *next = rest;
            if self.last != Some(entry.rank) && entry.glob.matches(self.name) {
                self.last = Some(entry.rank);
                return Some(entry.rank);
            }
        }
    }
}

fn rank(queue: &[Entry]) -> u32 {
    queue.first().map_or(u32::MAX, |entry| entry.rank)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranks_come_in_order_and_once() {
        let mut index = GlobIndex::default();
        for (rank, glob) in ["fs.read_*", "fs.*", "*", "fs.read_file", "fs.r*"]
            .iter()
            .enumerate()
        {
            index.insert(Glob::new(glob).unwrap(), rank as u32);
        }
        index.insert(Glob::new("fs.read_???e").unwrap(), 4);
        assert_eq!(
            index.matches("fs.read_file").collect::<Vec<_>>(),
            [0, 1, 2, 3, 4]
        );
        assert_eq!(index.matches("fs.write").collect::<Vec<_>>(), [1, 2]);
        assert_eq!(index.matches("web").collect::<Vec<_>>(), [2]);
    }

    proptest! {
        #[test]
        fn agrees_with_trying_every_glob(globs in prop::collection::vec("[ab.*?]{1,5}", 1..40), name in "[ab.]{0,6}") {
            let mut index = GlobIndex::default();
            for (rank, glob) in globs.iter().enumerate() {
                index.insert(Glob::new(glob).unwrap(), rank as u32);
            }
            let expected: Vec<u32> = globs
                .iter()
                .enumerate()
                .filter(|(_, glob)| Glob::new(glob).unwrap().matches(&name))
                .map(|(rank, _)| rank as u32)
                .collect();
            prop_assert_eq!(index.matches(&name).collect::<Vec<_>>(), expected);
        }
    }
}
