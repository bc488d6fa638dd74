//! What can go wrong inside SQLite, and what the core is told of it.

use provost_core::ports::StoreError;
use rusqlite::ErrorCode;

use crate::codec::Garbled;

#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Garbled(#[from] Garbled),
}

impl Fault {
    /// What was found in the files of the database, and not in one row: nothing that is read can be trusted.
    pub(super) fn is_damage(&self) -> bool {
        matches!(self, Self::Sql(error) if is_corruption(error))
    }

    pub(super) fn is_corruption(&self) -> bool {
        match self {
            Self::Sql(error) => is_corruption(error),
            Self::Garbled(_) => true,
        }
    }

    /// Where the ends of the record are read, a row or a table that is missing or holds something else is no moment's
    /// trouble: we did not write that.
    pub(super) fn of_record(self) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType,
            QueryReturnedNoRows,
        };
        match self {
            Self::Sql(
                error @ (QueryReturnedNoRows
                | InvalidColumnType(..)
                | FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)),
            ) => Garbled::new("ends of the record", error).into(),
            // No such table or column.
            Self::Sql(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
                Garbled::new("ends of the record", error).into()
            }
            other => other,
        }
    }

    /// Whether any other operation would meet it as well: the file or the disk is at fault, or somebody else
    /// holds the lock.
    pub(super) fn meets_all(&self) -> bool {
        let Self::Sql(error) = self else {
            return false;
        };
        matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::DiskFull
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::ReadOnly
                    | ErrorCode::CannotOpen
                    | ErrorCode::OutOfMemory
            )
        )
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Garbled(garbled) => garbled.into(),
            Fault::Sql(error) if is_corruption(&error) => Self::Corrupt(
                format!("the database file is damaged ({error}): restore it from a backup").into(),
            ),
            Fault::Sql(error) => Self::Failed(error.to_string().into()),
        }
    }
}

fn is_corruption(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}
