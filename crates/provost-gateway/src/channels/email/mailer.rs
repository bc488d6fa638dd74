//! Sending by SMTP, over few connections that are kept for a while.

use std::{error::Error as _, time::Duration};

use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    transport::smtp::{
        Error, PoolConfig,
        authentication::Credentials,
        client::{Tls as SmtpTls, TlsParameters},
        extension::ClientId,
    },
};
use provost_core::ports::Undelivered;
use tokio::sync::Semaphore;

use super::{
    settings::{Smtp, Tls},
    visible,
};
use crate::channels::Problem;

/// For each command.
const TIMEOUT: Duration = Duration::from_secs(30);
const WHOLE: Duration = Duration::from_mins(2);
const CONNECTIONS: u32 = 4;
const IDLE: Duration = Duration::from_mins(1);
const LONGEST_REASON: usize = 300;
/// Not logged in, or not well enough: that is for an administrator to mend, and the mail can wait.
const LOGIN: [u16; 5] = [454, 530, 534, 535, 538];

pub(super) struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    /// The pool bounds what it keeps, not what it opens.
    sending: Semaphore,
}

impl Mailer {
    /// Needs a tokio runtime around it. Loads the machine's root certificates where there is TLS.
    pub(super) fn new(smtp: &Smtp, domain: &str) -> Result<Self, String> {
        let server = &smtp.server;
        let parameters = || {
            TlsParameters::builder(server.host.clone())
                .build_rustls()
                .map_err(|why| format!("cannot prepare TLS: {}", reason(&why)))
        };
        let tls = match smtp.tls {
            Tls::Wrapped => SmtpTls::Wrapper(parameters()?),
            Tls::Starttls => SmtpTls::Required(parameters()?),
            Tls::Plain => SmtpTls::None,
        };
        let pool = PoolConfig::new()
            .min_idle(0)
            .max_size(CONNECTIONS)
            .idle_timeout(IDLE);
        let mut builder =
            AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(server.host.clone())
                .port(server.port)
                .hello_name(ClientId::Domain(domain.to_owned()))
                .timeout(Some(TIMEOUT))
                .tls(tls)
                .pool_config(pool);
        if let Some(login) = &server.login {
            let password = login.password.expose().to_owned();
            builder = builder.credentials(Credentials::new(login.user.clone(), password));
        }
        Ok(Self {
            transport: builder.build(),
            sending: Semaphore::new(CONNECTIONS as usize),
        })
    }

    pub(super) async fn send(&self, message: Message) -> Result<(), Undelivered> {
        let _turn = self.sending.acquire().await;
        match tokio::time::timeout(WHOLE, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(undelivered(&error)),
            Err(_) => Err(Undelivered::Later {
                why: "the mail server was too slow".into(),
                after: None,
            }),
        }
    }
}

impl Mailer {
    /// Connects and logs in, and sends nothing.
    pub(super) async fn check(&self) -> Result<(), Problem> {
        let unusable = |why: String| {
            let help = "check the host, the port and the encryption in `channels.email.smtp`";
            Problem::of_channel(format!("mails cannot be sent: {why}"), help)
        };
        match self.transport.test_connection().await {
            Ok(true) => Ok(()),
            Ok(false) => Err(unusable("the mail server hung up".to_owned())),
            Err(error) if is_about_login(&error) => Err(Problem::of_channel(
                format!("the SMTP server refuses the login: {}", reason(&error)),
                "check the user and the password in `channels.email.smtp`; many providers want a password made \
                 for one app",
            )),
            Err(error) => Err(unusable(reason(&error))),
        }
    }
}

fn is_about_login(error: &Error) -> bool {
    let code = error.status().map(u16::from);
    code.is_some_and(|code| LOGIN.contains(&code))
}

fn undelivered(error: &Error) -> Undelivered {
    let why = format!("the mail server did not take it: {}", reason(error));
    if error.is_permanent() && !is_about_login(error) {
        Undelivered::Never { why }
    } else {
        Undelivered::Later { why, after: None }
    }
}

/// The error and what caused it, in one line.
fn reason(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    visible::line(&text, LONGEST_REASON)
}
