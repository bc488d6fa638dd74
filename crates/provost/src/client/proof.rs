//! Before a key goes to an address that nobody gave: whoever answers there must know the admin key of the
//! data folder that is meant.

use std::path::PathBuf;

use provost_core::ids::{hex, random_bytes};
use provost_gateway::{instance, secret::Secret};
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Client, ClientError, Target};
use crate::locate::port;

#[derive(Debug)]
pub(super) struct Proof {
    data: PathBuf,
    admin_key: Secret,
    given: OnceCell<()>,
}

impl Proof {
    pub(super) fn new(data: PathBuf, admin_key: Secret) -> Self {
        Self {
            data,
            admin_key,
            given: OnceCell::new(),
        }
    }

    /// Asked for once; `keyless` has no key to lose.
    pub(super) async fn ensure(&self, keyless: &Client) -> Result<(), ClientError> {
        self.given.get_or_try_init(|| self.ask(keyless)).await?;
        Ok(())
    }

    async fn ask(&self, keyless: &Client) -> Result<(), ClientError> {
        let challenge = hex(&random_bytes::<32>());
        let target = Target::new("/instance").query("challenge", &challenge);
        let answer = match keyless.get(target).await {
            Ok(answer) => answer.body,
            Err(error) if error.is_unreachable() => return Err(error),
            Err(_) => Value::Null,
        };
        let expected = port(keyless.url())
            .map(|port| instance::proof(self.admin_key.expose(), &challenge, port));
        let given = answer.get("proof").and_then(Value::as_str);
        if given.is_some() && given == expected.as_deref() {
            return Ok(());
        }
        Err(ClientError::NotTheOne {
            url: keyless.url().to_owned(),
            data: self.data.clone(),
        })
    }
}
