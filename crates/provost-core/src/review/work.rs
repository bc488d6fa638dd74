//! How much was read to mask a text, so that tests see work that grows faster than the text. Nothing is counted
//! otherwise.

#[cfg(test)]
std::thread_local! {
    static DONE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// So many letters, words or entries were looked at.
#[cfg(not(test))]
pub(super) const fn count(_: usize) {}

#[cfg(test)]
pub(super) fn count(steps: usize) {
    DONE.with(|done| done.set(done.get() + steps));
}

/// How much this takes.
#[cfg(test)]
pub(super) fn of(work: impl FnOnce()) -> usize {
    let before = DONE.with(std::cell::Cell::get);
    work();
    DONE.with(std::cell::Cell::get) - before
}
