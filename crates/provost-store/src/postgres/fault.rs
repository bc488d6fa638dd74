//! What can go wrong with PostgreSQL, and what the core is told of it.

use provost_core::ports::StoreError;
use tokio_postgres::error::SqlState;

use crate::codec::Garbled;

#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("{}", describe(.0))]
    Sql(#[from] tokio_postgres::Error),
    #[error(transparent)]
    Garbled(#[from] Garbled),
    #[error("it did not answer in time")]
    Silent,
    #[error("cannot connect: {0}")]
    Connect(String),
    /// Another replica took this process for dead and has closed its chain: its calls were recorded as
    /// lost, so nothing more may be let through.
    #[error("another replica closed this process's chain of traces; restart this process")]
    Ended,
    /// An older state of the database was restored under this process.
    #[error(
        "the database was put back to an older state while the gateway ran, so nothing is decided: stop the \
         gateway, put the newest state back, start it again"
    )]
    PutBack,
    /// Somebody else wrote to this process's chain, or an earlier commit was in doubt and did happen.
    #[error("the chain of traces moved; the next write goes on from where it is now")]
    Moved,
}

impl Fault {
    /// Where the ends of the record are read, a table that is missing or a column of another kind is no moment's
    /// trouble: we did not make that.
    pub(super) fn of_record(self) -> Self {
        match self {
            Self::Sql(error) if is_of_schema(&error) => {
                Garbled::new("ends of the record", describe(&error)).into()
            }
            other => other,
        }
    }

    /// Whether the others of a batch may succeed where this one failed.
    pub(super) fn concerns_one(&self) -> bool {
        match self {
            Self::Garbled(_) => true,
            Self::Silent | Self::Connect(_) | Self::Ended | Self::PutBack | Self::Moved => false,
            Self::Sql(error) => error.code().is_some_and(|code| {
                // By class: data, integrity, lost deadlocks, syntax and access, limits.
                ["22", "23", "40", "42", "54"]
                    .iter()
                    .any(|class| code.code().starts_with(class))
            }),
        }
    }

    /// Whether writes like this one will fail again, though the connection is sound: the server refuses them or
    /// cannot make them, whatever they are about.
    pub(super) fn is_of_server(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        error.code().is_some_and(|code| {
            // By class: transaction state, access, resources, locks, intervention, system, triggers, internal.
            ["25", "42", "53", "55", "57", "58", "P0", "XX"]
                .iter()
                .any(|class| code.code().starts_with(class))
        })
    }

    /// Whether the connection must not be used any more.
    pub(super) fn broke_the_link(&self) -> bool {
        match self {
            Self::Garbled(_) | Self::Ended | Self::PutBack => false,
            Self::Silent | Self::Connect(_) | Self::Moved => true,
            Self::Sql(error) => error.code().is_none(),
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Garbled(garbled) => garbled.into(),
            Fault::PutBack => Self::Lost(fault.to_string().into()),
            Fault::Sql(error) if is_corruption(&error) => Self::Corrupt(describe(&error).into()),
            other => Self::Failed(other.to_string().into()),
        }
    }
}

/// The server does not know what is asked for, or the driver does not know what it answers.
fn is_of_schema(error: &tokio_postgres::Error) -> bool {
    use std::error::Error as _;
    let Some(code) = error.code() else {
        let of_driver = error.source().is_some_and(|source| {
            source.is::<tokio_postgres::types::WrongType>()
                || source.is::<tokio_postgres::types::WasNull>()
        });
        return of_driver;
    };
    // Syntax and access rules; a kind of result that a prepared query did not have.
    ["42", "0A"]
        .iter()
        .any(|class| code.code().starts_with(class))
}

fn is_corruption(error: &tokio_postgres::Error) -> bool {
    matches!(
        error.code(),
        Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED)
    )
}

/// Says what the server said. Neither it nor the driver repeats the password.
pub(super) fn describe(error: &tokio_postgres::Error) -> String {
    use std::error::Error as _;
    match (error.as_db_error(), error.source()) {
        (Some(said), _) => format!("{} ({})", said.message(), said.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
