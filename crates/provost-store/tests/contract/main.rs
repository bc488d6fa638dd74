//! What a store must hold, told once and run against SQLite and PostgreSQL.
//!
//! PostgreSQL is the server that `PROVOST_TEST_POSTGRES` names; `./test.sh` starts one. Every test has a
//! database of its own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "this is a test: it should fail loudly"
)]

mod approvals;
mod control;
mod deciding;
mod deliveries;
mod events;
mod kept;
mod loss;
mod making;
mod opening;
mod pins;
mod place;
mod processes;
mod proving;
mod pruning;
mod queue;
mod reading;
mod records;
mod recovery;
mod replicas;
mod requests;
mod sign_ins;
mod tampering;
mod traces;

/// Makes a test of each function for either database.
macro_rules! contract {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(&$crate::place::Place::sqlite()).await;
            })*
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let place = $crate::place::Place::postgres().await;
                super::$name(&place).await;
                place.remove().await;
            })*
        }
    };
}
pub(crate) use contract;
