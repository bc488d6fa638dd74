//! Against a server that answers each connection as the test says, and keeps what it was told.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use provost_gateway::instance::proof;
use provost_runner::{config, permission::Gateway, web::Connector};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};

use crate::client::{Client, ClientError, Feed, Key, Target};

const ADMIN_KEY: &str = "pvk_admin";
const EMPTY: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

/// What a connection does with a challenge.
#[derive(Clone, Copy)]
enum Kind {
    /// Proves itself, and answers so many requests more before it hangs up.
    Gateway(usize),
    /// Says yes to everything.
    Thief,
    /// Says the right thing, and then something that nobody asked for.
    Hasty,
    /// Says the right thing, and that it is the last.
    Leaving,
    /// Takes the connection and says nothing.
    Silent,
}

struct Server {
    addr: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Each connection is of the next kind; those after the last are of the last.
    async fn start(kinds: &'static [Kind]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let shared = heard.clone();
        tokio::spawn(async move {
            for at in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let kind = *kinds.get(at).or(kinds.last()).unwrap();
                serve(stream, addr, kind, &shared).await;
            }
        });
        Self { addr, heard }
    }

    fn client(&self) -> Client {
        let url = format!("http://{}", self.addr);
        let key = Key::new("pvk_agent").unwrap();
        Client::proven_by("/data".as_ref(), &ADMIN_KEY.into(), &url, key).unwrap()
    }

    /// On which of the connections so far a key was sent, request by request.
    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: tokio::net::TcpStream,
    addr: SocketAddr,
    kind: Kind,
    heard: &Mutex<Vec<String>>,
) {
    let (read, mut write) = stream.split();
    let mut lines = BufReader::new(read).lines();
    let mut asked = 0;
    while let Ok(Some(line)) = lines.next_line().await {
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut has_key = false;
        while let Ok(Some(line)) = lines.next_line().await {
            has_key |= line.to_ascii_lowercase().starts_with("authorization");
            if line.is_empty() {
                break;
            }
        }
        let (path, challenge) = path.split_once("?challenge=").unwrap_or((&path, ""));
        let key = if has_key { " with a key" } else { "" };
        heard.lock().unwrap().push(format!("{path}{key}"));
        if matches!(kind, Kind::Silent) {
            continue;
        }
        let body = match kind {
            Kind::Thief => "{\"proof\":\"yes\"}".to_owned(),
            _ => format!("{{\"proof\":\"{}\"}}", proof(ADMIN_KEY, challenge, addr)),
        };
        let (close, more) = match kind {
            Kind::Hasty => ("", EMPTY),
            Kind::Leaving => ("connection: close\r\n", ""),
            Kind::Gateway(_) | Kind::Thief | Kind::Silent => ("", ""),
        };
        let answer = if challenge.is_empty() {
            EMPTY.to_owned()
        } else {
            let length = body.len();
            format!("HTTP/1.1 200 OK\r\n{close}content-length: {length}\r\n\r\n{body}{more}")
        };
        write.write_all(answer.as_bytes()).await.unwrap();
        let is_over = matches!(kind, Kind::Gateway(most) if asked == most);
        if is_over {
            return;
        }
        asked += 1;
    }
}

#[tokio::test]
async fn p06_a_connection_is_proven_once_and_the_next_one_again() {
    let server = Server::start(&[Kind::Gateway(2), Kind::Gateway(1)]).await;
    let client = server.client();
    for _ in 0..3 {
        client.get(Target::new("/a")).await.unwrap();
    }
    let (proof, request) = ("/instance", "/a with a key");
    assert_eq!(server.heard(), [proof, request, request, proof, request]);
}

#[tokio::test]
async fn p06_who_takes_the_port_of_a_gateway_that_ended_gets_no_key() {
    let server = Server::start(&[Kind::Gateway(1), Kind::Thief]).await;
    let client = server.client();
    client.get(Target::new("/a")).await.unwrap();
    for _ in 0..2 {
        let error = client.get(Target::new("/a")).await.unwrap_err();
        assert!(matches!(error, ClientError::NotTheOne { .. }), "{error:?}");
        // Nor does a large request change what it is.
        let large = "x".repeat(200_000).into();
        let error = client.post(Target::new("/a"), &large).await.unwrap_err();
        assert!(matches!(error, ClientError::NotTheOne { .. }), "{error:?}");
    }
    let heard = server.heard();
    let keys = heard.iter().filter(|line| line.contains("key")).count();
    assert_eq!(keys, 1, "{heard:?}");
}

/// The same for a run, which asks for hours.
#[tokio::test]
async fn p06_a_runner_has_each_connection_proven() {
    let server = Server::start(&[Kind::Gateway(1), Kind::Thief]).await;
    let gateway = Gateway::new(&config::Gateway {
        url: format!("http://{}", server.addr),
        key: Some(config::Secret::new("pvk_agent".to_owned())),
        connector: Some(Connector::new(server.client().connector())),
    });
    let gateway = gateway.unwrap();
    assert!(gateway.standing(None).await.is_ok());
    assert!(gateway.standing(None).await.is_err());
    let heard = server.heard();
    assert_eq!(heard, ["/instance", "/v1/standing with a key", "/instance"]);
}

#[tokio::test]
async fn p06_a_connection_that_cannot_be_used_after_its_proof_is_not() {
    for kinds in [&[Kind::Hasty], &[Kind::Leaving]] {
        let server = Server::start(kinds).await;
        let error = server.client().get(Target::new("/a")).await.unwrap_err();
        assert!(error.is_unreachable(), "{error:?}");
        assert_eq!(server.heard(), ["/instance"]);
    }
}

/// A gateway that is overloaded runs: nobody is told to start it.
#[tokio::test(start_paused = true)]
async fn p10_a_gateway_that_takes_the_connection_and_says_nothing_is_overloaded() {
    let server = Server::start(&[Kind::Silent]).await;
    let error = server.client().get(Target::new("/a")).await.unwrap_err();
    assert!(matches!(error, ClientError::Silent { .. }), "{error:?}");
    assert!(error.is_unreachable() && error.is_outage());
    assert!(error.to_string().contains("did not answer within 30s"));
    let help = error.help().unwrap();
    assert!(
        help.contains("overloaded") && !help.contains("serve"),
        "{help}"
    );
    assert_eq!(server.heard(), ["/instance"]);
}

/// Time passes by itself where everybody waits.
#[tokio::test(start_paused = true)]
async fn p06_who_ends_every_stream_at_once_is_asked_less_and_less() {
    let server = Server::start(&[Kind::Thief]).await;
    let url = format!("http://{}", server.addr);
    let client = Client::new(&url, Key::new("pvk_agent")).unwrap();
    let mut feed = Feed::open(client).await.unwrap();
    let minute = std::time::Duration::from_mins(1);
    let watching = async { while feed.next().await.unwrap().is_none() {} };
    assert!(tokio::time::timeout(minute, watching).await.is_err());
    let asked = server.heard().len();
    assert!((8..=16).contains(&asked), "{asked}");
}
