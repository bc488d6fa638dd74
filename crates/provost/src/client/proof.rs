//! Before a key goes out on a connection to an address that nobody gave: whoever answers on that very connection
//! must know the admin key of the data folder that is meant. The next connection to the same address may end at
//! another program, and is asked again.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Uri, Version, header};
use http_body_util::{BodyExt as _, Collected, Empty, Limited};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use provost_core::{
    ids::{hex, random_bytes},
    time::format_duration,
};
use provost_gateway::{instance, secret::Secret};
use serde_json::Value;
use tokio::net::TcpStream;
use tower::BoxError;

use super::Target;

/// A gateway proves itself without asking anybody.
const PATIENCE: Duration = Duration::from_secs(30);
/// Of bytes: a proof is a short line.
const LARGEST: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Proof {
    data: PathBuf,
    admin_key: Secret,
}

/// What answers on a connection is not the gateway of this data folder.
#[derive(Debug, thiserror::Error)]
#[error("what answers there is not the gateway of `{}`; it was sent no key", data.display())]
pub(super) struct NotProven {
    pub(super) data: PathBuf,
}

/// Nothing answers on a connection that was taken.
#[derive(Debug, thiserror::Error)]
#[error("nothing answered within {}", format_duration(*patience))]
pub(super) struct NoProof {
    pub(super) patience: Duration,
}

impl Proof {
    pub(super) fn new(data: PathBuf, admin_key: Secret) -> Self {
        Self { data, admin_key }
    }

    /// The same connection, with nothing on it but what was asked and answered.
    pub(super) async fn ask(
        &self,
        stream: TokioIo<TcpStream>,
        uri: &Uri,
    ) -> Result<TokioIo<TcpStream>, BoxError> {
        let asked = tokio::time::timeout(PATIENCE, self.exchange(stream, uri)).await;
        asked.map_err(|_| NoProof { patience: PATIENCE })?
    }

    async fn exchange(
        &self,
        stream: TokioIo<TcpStream>,
        uri: &Uri,
    ) -> Result<TokioIo<TcpStream>, BoxError> {
        let peer = stream.inner().peer_addr()?;
        let challenge = hex(&random_bytes::<32>());
        let (sender, connection) = handshake(stream).await?;
        // The sender goes with its answer, which ends this use of the connection and leaves it open.
        let answer = answer(sender, uri, &challenge);
        let (given, back) = tokio::join!(answer, connection.without_shutdown());
        let given = given?;
        let key = self.admin_key.expose();
        let is_it = |listen| given.proof == instance::proof(key, &challenge, listen);
        if !listening(peer).into_iter().any(is_it) {
            return Err(self.not_proven());
        }
        let back = back?;
        if !back.read_buf.is_empty() {
            return Err(self.not_proven());
        }
        if given.ends_connection {
            let why = "it closed the connection after its proof";
            return Err(io::Error::new(io::ErrorKind::ConnectionAborted, why).into());
        }
        Ok(back.io)
    }

    fn not_proven(&self) -> BoxError {
        Box::new(NotProven {
            data: self.data.clone(),
        })
    }
}

/// What was said to a challenge.
struct Given {
    /// Empty if it was something else.
    proof: String,
    /// No other request is taken on the connection.
    ends_connection: bool,
}

async fn answer(
    mut sender: SendRequest<Empty<Bytes>>,
    uri: &Uri,
    challenge: &str,
) -> Result<Given, BoxError> {
    let target = Target::new("/instance").query("challenge", challenge);
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::get(target.to_string())
        .header(header::HOST, host)
        .body(Empty::new())?;
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = Limited::new(body, LARGEST).collect().await;
    let body = body.map(Collected::to_bytes).unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let proof = body.get("proof").and_then(Value::as_str);
    let last = head.headers.get(header::CONNECTION);
    let is_last = last.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"));
    Ok(Given {
        proof: proof.unwrap_or_default().to_owned(),
        ends_connection: is_last || head.version != Version::HTTP_11,
    })
}

/// What a gateway may listen on that is reached there.
fn listening(peer: SocketAddr) -> [SocketAddr; 2] {
    let ip = peer.ip().to_canonical();
    let every = match ip {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    [ip, every].map(|ip| SocketAddr::new(ip, peer.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p06_a_proof_is_of_the_address_that_is_connected_to() {
        for (peer, expected) in [
            ("127.0.0.1:9090", ["127.0.0.1:9090", "0.0.0.0:9090"]),
            ("[::1]:9090", ["[::1]:9090", "[::]:9090"]),
            ("[::ffff:127.0.0.1]:1", ["127.0.0.1:1", "0.0.0.0:1"]),
            ("10.0.0.1:80", ["10.0.0.1:80", "0.0.0.0:80"]),
        ] {
            let expected = expected.map(|at| at.parse().unwrap());
            assert_eq!(listening(peer.parse().unwrap()), expected, "{peer}");
        }
    }
}
