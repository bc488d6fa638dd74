//! The whole product, through the real binary: `provost serve` in a folder of its own, HTTP from outside,
//! SIGKILL and SIGTERM from above.
//!
//! Everything a test needs is its own (folder, port, backend, database), so tests run side by side. They
//! need python3 with requests, curl, jq, node, chromium, a PostgreSQL server and the programs of `scripts/peers.pins`,
//! which `./test.sh` provides; a test that misses one of them fails.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this is a test: it should fail loudly"
)]

mod bot;
mod chromium;
mod echo;
mod events_feed;
mod fleet;
mod harness;
mod http;
mod mcp_clients;
mod model;
mod peers;
mod receiver;
mod relay;

mod bad_input;
mod browser;
mod calls;
mod claude;
mod connect;
mod console;
mod corrupt;
mod crash;
mod crowds;
mod declared;
mod defects;
mod ending;
mod events;
mod first_minutes;
mod golden_contract;
mod hooks;
mod long;
mod mcp;
mod mcp_bridge;
mod mcp_peers;
mod people;
mod people_test;
mod proxy;
mod record;
mod reload;
mod remembering;
mod replicas;
mod run;
mod run_replay;
mod run_watch;
mod seed;
mod starting;
mod tampering;
mod trust;
mod unsupervised;
mod upstream;
