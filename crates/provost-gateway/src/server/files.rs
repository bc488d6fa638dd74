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
}

impl Reserve {
    pub(super) fn new(most: usize) -> Self {
        let mut reserve = Self {
            files: Vec::new(),
            most: most.min(64),
        };
        while reserve.fill() {}
        reserve
    }

    /// Opens one more, where one is missing.
    pub(super) fn fill(&mut self) -> bool {
        if self.files.len() >= self.most {
            return false;
        }
        let opened = File::open("/dev/null").ok();
        let is_open = opened.is_some();
        self.files.extend(opened);
        is_open
    }

    /// Closes one. `false`: there is none.
    pub(super) fn give(&mut self) -> bool {
        self.files.pop().is_some()
    }
}
