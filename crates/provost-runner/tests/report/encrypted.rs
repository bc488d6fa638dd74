//! Encrypted callbacks. The certificate of the tests is trusted by the machine only where `SSL_CERT_FILE` names
//! it, which must be so before a process begins: the test runs itself once more.

use std::{env, net::SocketAddr, process::Command, sync::Arc};

use provost_runner::report::{Counts, Reporter};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use crate::{
    receiver::Receiver,
    setup::{LONG, complete, proof, settings},
};

const FOLDER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../provost-gateway/tests/email/tls"
);
const TRUSTED: &str = "PROVOST_TEST_CERTIFICATE_IS_TRUSTED";

/// Speaks TLS to whoever comes, and passes on to a plain receiver what they say.
async fn encrypt(plain: SocketAddr) -> u16 {
    let certificate = CertificateDer::from_pem_file(format!("{FOLDER}/cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{FOLDER}/key.pem")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut client = acceptor.accept(client).await?;
                let mut server = TcpStream::connect(plain).await?;
                copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    own
}

async fn start() -> (Receiver, Reporter) {
    let receiver = Receiver::start(proof(), []).await;
    let port = encrypt(receiver.address).await;
    let mut settings = settings(format!("https://localhost:{port}/callback?x=1"));
    // Reading the machine's certificates is part of the first exchange.
    settings.deadline = LONG;
    let reporter = Reporter::start(settings).unwrap();
    reporter.end(complete());
    (receiver, reporter)
}

#[tokio::test]
async fn reports_go_encrypted_to_whom_is_trusted_and_to_nobody_else() {
    let (receiver, reporter) = start().await;
    if env::var_os(TRUSTED).is_some() {
        assert_eq!(reporter.drained(LONG).await.left, 0);
        assert_eq!(receiver.taken()[0]["kind"], "prompt_complete");
        return;
    }
    while reporter.counts().retries < 2 {
        tokio::task::yield_now().await;
    }
    let Counts { delivered, .. } = reporter.counts();
    assert_eq!(
        (delivered, receiver.attempts(), receiver.beats()),
        (0, 0, 0)
    );

    let name = "encrypted::reports_go_encrypted_to_whom_is_trusted_and_to_nobody_else";
    let trusting = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(TRUSTED, "1")
        .env("SSL_CERT_FILE", format!("{FOLDER}/cert.pem"))
        .status();
    assert!(trusting.unwrap().success());
}
