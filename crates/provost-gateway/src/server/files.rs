//! The files that this process may have open, and some that are kept back for newcomers.

use std::{fs::File, io};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::admission::MOST_FILES;

/// Raises the limit as far as the system lets us, up to what is of use, and says how many there are.
pub fn raise_open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let now = limit.current.unwrap_or(u64::MAX);
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(MOST_FILES);
    if wanted <= now {
        return now;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(_) => now,
    }
}

pub(super) fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

/// Files that are open for nothing, and closed when a connection could not be accepted otherwise: a person comes
/// in even when backends and programs have taken all others.
pub(super) struct Reserve {
    files: Vec<File>,
    most: usize,
    /// One was closed for the connection that is accepted next.
    is_given: bool,
}

impl Reserve {
    pub(super) fn new(most: usize) -> Self {
        let mut reserve = Self {
            files: Vec::new(),
            most: most.min(64),
            is_given: false,
        };
        while reserve.fill() {}
        reserve
    }

    /// Opens one more, where one is missing. What was just given is not taken back before somebody could use it.
    pub(super) fn fill(&mut self) -> bool {
        if std::mem::take(&mut self.is_given) || self.files.len() >= self.most {
            return false;
        }
        let opened = File::open("/dev/null").ok();
        let is_open = opened.is_some();
        self.files.extend(opened);
        is_open
    }

    /// Closes one. `false`: there is none.
    pub(super) fn give(&mut self) -> bool {
        self.is_given = self.files.pop().is_some();
        self.is_given
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p10_a_file_that_was_given_is_left_for_the_next_connection() {
        let mut reserve = Reserve::new(2);
        assert!(!reserve.fill(), "all are there");
        assert!(reserve.give());
        assert!(!reserve.fill(), "it is for the connection that comes now");
        assert!(reserve.fill(), "and one more once that has come");
        assert!(reserve.give() && reserve.give() && !reserve.give());
    }
}
