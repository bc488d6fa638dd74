//! Encrypted connections. The certificate of the tests is trusted by the machine only where `SSL_CERT_FILE`
//! names it, which must be so before a process begins: the test runs itself once more.

use std::{process::Command, sync::Arc};

use provost_core::{
    menu::{Code, Reply},
    ports::{Channel as _, Undelivered},
};
use provost_gateway::channels::email::Email;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::{
    desk::{MemoryDesk, card},
    post::{Imap, Smtp, eventually},
    site::{YOU, settings},
};

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/email/tls/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/email/tls/key.pem");
const TRUSTED: &str = "PROVOST_TEST_CERTIFICATE_IS_TRUSTED";

/// Speaks TLS to whoever comes, and passes on to a plain server what they say.
async fn encrypt(port: u16) -> u16 {
    let certificate = CertificateDer::from_pem_file(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_file(KEY).unwrap();
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
        loop {
            let (client, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut client = acceptor.accept(client).await?;
                let mut server = TcpStream::connect(("127.0.0.1", port)).await?;
                copy_bidirectional(&mut client, &mut server).await
            });
        }
    });
    own
}

async fn send(url: &str) -> Result<(), Undelivered> {
    let desk = Arc::new(MemoryDesk::default());
    let email = Email::new(settings(url, None), desk.clone()).await.unwrap();
    let delivery = desk.deliver(YOU);
    email.show(&delivery, &card(&delivery.approval_id)).await?;
    Ok(())
}

/// `None` in the process that the test starts for itself.
fn once_more_with_trust(name: &str) -> Option<bool> {
    if std::env::var_os(TRUSTED).is_some() {
        return None;
    }
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(TRUSTED, "1")
        .env("SSL_CERT_FILE", CERTIFICATE)
        .status();
    Some(status.unwrap().success())
}

#[tokio::test]
async fn mails_are_sent_encrypted_to_servers_that_are_trusted() {
    let name = "encrypted::mails_are_sent_encrypted_to_servers_that_are_trusted";
    let smtp = Smtp::start_with(&[CERTIFICATE, KEY]);
    let wrapped = encrypt(smtp.port).await;
    let urls = [
        format!(
            "smtp://gate:pass%3A%2Fword@localhost:{}?tls=required",
            smtp.port
        ),
        format!("smtps://gate:pass%3A%2Fword@localhost:{wrapped}"),
    ];
    let Some(went_well) = once_more_with_trust(name) else {
        for url in &urls {
            send(url).await.unwrap();
        }
        assert_eq!(smtp.mails().len(), 2);
        return;
    };
    assert!(went_well);
    for url in &urls {
        let error = send(url).await.unwrap_err();
        assert!(matches!(error, Undelivered::Later { .. }), "{error:?}");
    }
    assert!(smtp.mails().is_empty());
}

#[tokio::test]
async fn replies_are_read_encrypted() {
    let name = "encrypted::replies_are_read_encrypted";
    if let Some(went_well) = once_more_with_trust(name) {
        assert!(went_well);
        return;
    }
    let (smtp, imap) = (Smtp::start(), Imap::start().await);
    let url = format!(
        "imaps://gate:hunter2@localhost:{}",
        encrypt(imap.port).await
    );
    let desk = Arc::new(MemoryDesk::default());
    let email = Email::new(settings(&smtp.url(), Some(&url)), desk.clone());
    let email = Arc::new(email.await.unwrap());
    let stop = CancellationToken::new();
    let reading = tokio::spawn({
        let (email, stop) = (email.clone(), stop.clone());
        async move { email.receive(stop).await }
    });
    let delivery = desk.deliver(YOU);
    email
        .show(&delivery, &card(&delivery.approval_id))
        .await
        .unwrap();
    let mail = smtp.mails().pop().unwrap();
    imap.put(mail.reply(YOU, "\n3\n")).await;
    let (_, reply) = eventually("a decision", async || desk.decision(&delivery)).await;
    assert_eq!(reply, Reply::bare(Code::Deny));
    stop.cancel();
    reading.await.unwrap();
}
