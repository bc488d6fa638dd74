//! Work on long arguments, such as masking and summarising them. It takes turns and has threads of its own, so that
//! it holds up nothing else: the threads that answer requests are few, and `/health` and `/stop` need them.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::LazyLock,
    thread::available_parallelism,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Semaphore,
    task::block_in_place,
};

/// Work on less is done at once: it takes a millisecond or so, and handing it over would make every call slower.
const LONG: usize = 4 * 1024;
/// Agents are told apart by so many.
const STRIPES: usize = 64;

/// For whom the work is done.
#[derive(Clone, Copy, Debug)]
pub enum Lane<'a> {
    /// Has one piece of work done at a time, so that no agent fills the line.
    Agent(&'a str),
    /// Those who look and decide: they do not wait for agents.
    Deciders,
}

struct Turns {
    stripes: [Semaphore; STRIPES],
    agents: Semaphore,
    deciders: Semaphore,
}

static TURNS: LazyLock<Turns> = LazyLock::new(|| {
    let at_once = available_parallelism().map_or(1, usize::from).div_ceil(2);
    Turns {
        stripes: std::array::from_fn(|_| Semaphore::new(1)),
        agents: Semaphore::new(at_once),
        deciders: Semaphore::new(at_once),
    }
});

/// Does the work: at once if it is on few `bytes`, else when it is its turn, while another thread takes over what
/// this one has to do.
pub async fn run<T>(lane: Lane<'_>, bytes: usize, work: impl FnOnce() -> T) -> T {
    // A runtime of one thread has nobody to take over.
    if bytes <= LONG || Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
        return work();
    }
    // The semaphores are never closed.
    let (_stripe, _turn) = match lane {
        Lane::Agent(agent) => (
            stripe(agent).acquire().await.ok(),
            TURNS.agents.acquire().await.ok(),
        ),
        Lane::Deciders => (None, TURNS.deciders.acquire().await.ok()),
    };
    block_in_place(work)
}

/// Does the work for each of these, in pieces, so that nobody waits for the turn of a whole page.
pub async fn each<T, R>(
    lane: Lane<'_>,
    items: impl IntoIterator<Item = T>,
    bytes: impl Fn(&T) -> usize,
    work: impl Fn(T) -> R,
) -> Vec<R> {
    let (mut done, mut piece, mut size) = (Vec::new(), Vec::new(), 0);
    for item in items {
        size += bytes(&item);
        piece.push(item);
        if size > LONG {
            let piece = std::mem::take(&mut piece);
            let worked = run(lane, size, || {
                piece.into_iter().map(&work).collect::<Vec<_>>()
            });
            done.extend(worked.await);
            size = 0;
        }
    }
    done.extend(piece.into_iter().map(work));
    done
}

fn stripe(agent: &str) -> &'static Semaphore {
    let mut hasher = DefaultHasher::new();
    agent.hash(&mut hasher);
    let at = usize::try_from(hasher.finish() % STRIPES as u64).unwrap_or_default();
    TURNS.stripes.get(at).unwrap_or(&TURNS.agents)
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::mpsc,
        task::{Context, Waker},
        time::Duration,
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Whether another task of the same thread runs while the work waits for it.
    async fn meets_others(lane: Lane<'static>, bytes: usize) -> bool {
        let (send, receive) = mpsc::channel();
        let work = tokio::spawn(async move {
            let other = tokio::spawn(async move { send.send(()) });
            let met = run(lane, bytes, move || receive.recv_timeout(PATIENCE).is_ok()).await;
            drop(other.await);
            met
        });
        work.await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn p10_long_work_holds_up_nothing_else() {
        assert!(meets_others(Lane::Agent("a"), LONG + 1).await);
        assert!(meets_others(Lane::Deciders, LONG + 1).await);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn p10_an_agent_takes_one_turn_and_deciders_wait_for_none() {
        let (begun, has_begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let long = tokio::spawn(run(Lane::Agent("wild"), LONG + 1, move || {
            begun.send(()).unwrap();
            ended.recv_timeout(PATIENCE).unwrap();
        }));
        block_in_place(|| has_begun.recv_timeout(PATIENCE)).unwrap();
        let mut next = pin!(run(Lane::Agent("wild"), LONG + 1, || ()));
        let polled = next.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "one at a time");
        run(Lane::Deciders, LONG + 1, || ()).await;
        run(Lane::Agent("wild"), LONG, || ()).await;
        end.send(()).unwrap();
        long.await.unwrap();
        next.await;
    }

    /// Between two pieces of a page, somebody else has a turn.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn p10_a_page_is_worked_off_in_pieces() {
        let sizes = [LONG + 1, 10, 10, LONG + 1, 10];
        let mut page = pin!(each(Lane::Deciders, sizes, |size| *size, |size| size));
        let turns: Vec<_> = (0..available_parallelism().map_or(1, usize::from))
            .map(|_| TURNS.deciders.try_acquire())
            .collect();
        let polled = page.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending(), "all turns are taken");
        drop(turns);
        assert_eq!(page.await, sizes);
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_does_it_at_once() {
        assert_eq!(run(Lane::Deciders, LONG + 1, || 7).await, 7);
    }
}
