//! Long arguments: what is computed of them holds up nobody else.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread::available_parallelism,
    time::{Duration, Instant},
};

use provost_core::{
    control::Scope,
    gate::{Ask, Decided, Wait},
    heavy::{self, Lane},
    review::{Review, mask_map},
};
use serde_json::{Value, json};

use crate::bench::Bench;

/// Long enough that what is computed of it takes a while.
fn long_command(n: usize) -> Value {
    let steps: Vec<_> = (0..1500)
        .map(|step| format!("echo 'step {step} of {n}' password=hunter{step}horse"))
        .collect();
    json!({"command": steps.join("\n")})
}

/// The longest time that another task of the same thread had to wait while these were asked about.
async fn longest_pause(bench: &Bench, asks: Vec<Ask>) -> Duration {
    let done = Arc::new(AtomicBool::new(false));
    let looking = done.clone();
    let watch = tokio::spawn(async move {
        let mut longest = Duration::ZERO;
        while !looking.load(Ordering::Relaxed) {
            let began = Instant::now();
            tokio::task::yield_now().await;
            longest = longest.max(began.elapsed());
        }
        longest
    });
    let gate = &bench.gate;
    let asks = asks.into_iter().map(|ask| {
        let gate = gate.clone();
        tokio::spawn(async move { gate.decide(ask).await })
    });
    for asked in asks.collect::<Vec<_>>() {
        let decided = asked.await.unwrap().unwrap();
        assert!(matches!(decided, Decided::Waiting(_)), "{decided:?}");
    }
    done.store(true, Ordering::Relaxed);
    watch.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn p10_long_arguments_hold_up_nobody_else() {
    let bench = Bench::new().await;
    let asks = (0..4).map(|n| Ask {
        wait: Wait::AtMost(Duration::ZERO),
        ..bench.ask("l2.shell", long_command(n))
    });
    let asks: Vec<_> = asks.collect();
    // As long as it takes at the least, on this machine and now.
    let began = Instant::now();
    let call = &asks[0].call;
    Review::of(&call.tool, &call.params, None);
    mask_map(&call.params);
    let at_least = began.elapsed();
    let longest = longest_pause(&bench, asks).await;
    assert!(longest < at_least / 2, "{longest:?} of {at_least:?}");
}

/// Everybody who may look at once does, and a stop is answered all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn p10_a_stop_does_not_wait_for_those_who_look() {
    const PATIENCE: Duration = Duration::from_secs(20);
    let bench = Bench::new().await;
    bench
        .ask_and_leave(bench.ask("l2.shell", long_command(0)))
        .await;
    let looking = available_parallelism().map_or(1, usize::from);
    let (begun, has_begun) = mpsc::channel();
    let lookers = (0..looking).map(|_| {
        let (end, ended) = mpsc::channel::<()>();
        let begun = begun.clone();
        let look = move || {
            begun.send(()).unwrap();
            ended.recv_timeout(PATIENCE).unwrap();
        };
        (end, tokio::spawn(heavy::run(Lane::Deciders, 1 << 20, look)))
    });
    let lookers: Vec<_> = lookers.collect();
    tokio::task::block_in_place(|| has_begun.recv_timeout(PATIENCE)).unwrap();
    let scope = Scope::Agent("bot".into());
    let stopped = bench.gate.stop(scope, "admin:root", None).await;
    assert_eq!(stopped.unwrap(), 1);
    let (ends, looks): (Vec<_>, Vec<_>) = lookers.into_iter().unzip();
    for end in ends {
        end.send(()).unwrap();
    }
    for look in looks {
        look.await.unwrap();
    }
}
