//! A key that a command asks with, and where it was found: a key of a data folder belongs to the gateway of that
//! folder.

use provost_gateway::secret::Secret;

#[derive(Clone, Debug)]
pub(crate) struct FoundKey {
    secret: Secret,
    is_of_folder: bool,
}

impl FoundKey {
    /// Somebody named it, or it is no secret at all.
    pub(crate) fn given(secret: impl Into<Secret>) -> Self {
        Self {
            secret: secret.into(),
            is_of_folder: false,
        }
    }

    /// It lies in the data folder of a gateway.
    pub(crate) fn of_folder(secret: impl Into<Secret>) -> Self {
        Self {
            secret: secret.into(),
            is_of_folder: true,
        }
    }

    pub(crate) fn expose(&self) -> &str {
        self.secret.expose()
    }

    pub(crate) fn is_of_folder(&self) -> bool {
        self.is_of_folder
    }
}
