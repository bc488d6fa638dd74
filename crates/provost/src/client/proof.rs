//! Before a key goes to an address that nobody gave: whoever answers there must know the admin key of the
//! data folder that is meant.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};

use http::Uri;
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
        let given = answer.get("proof").and_then(Value::as_str);
        let key = self.admin_key.expose();
        let is_it = |listen| given == Some(&*instance::proof(key, &challenge, listen));
        if listening(keyless.url()).into_iter().flatten().any(is_it) {
            return Ok(());
        }
        Err(ClientError::NotTheOne {
            url: keyless.url().to_owned(),
            data: self.data.clone(),
        })
    }
}

/// What a gateway may listen on that is reached there. A name may lead to several addresses, of which somebody else
/// may hold one: it proves nothing.
fn listening(url: &str) -> Option<[SocketAddr; 2]> {
    let uri = url.parse::<Uri>().ok()?;
    let host = uri.host()?;
    let ip: IpAddr = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse().ok()?,
        None => host.parse().ok()?,
    };
    let ip = ip.to_canonical();
    let every = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let port = port(url)?;
    Some([ip, every].map(|ip| SocketAddr::new(ip, port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p06_a_proof_is_of_the_address_that_is_connected_to() {
        for (url, expected) in [
            (
                "http://127.0.0.1:9090",
                Some(["127.0.0.1:9090", "0.0.0.0:9090"]),
            ),
            ("http://[::1]:9090/", Some(["[::1]:9090", "[::]:9090"])),
            (
                "http://[::ffff:127.0.0.1]:1",
                Some(["127.0.0.1:1", "0.0.0.0:1"]),
            ),
            ("http://10.0.0.1", Some(["10.0.0.1:80", "0.0.0.0:80"])),
            ("http://localhost:9090", None),
            ("http://gate.example.org", None),
        ] {
            let expected = expected.map(|both| both.map(|at| at.parse().unwrap()));
            assert_eq!(listening(url), expected, "{url}");
        }
    }
}
