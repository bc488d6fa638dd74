//! The client: keep-alive HTTP/1.1 written by hand, so that it costs the machine as little as it can.

use std::{
    net::SocketAddr,
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
};

/// Enough that some callers work while others wait for the disk, as in a busy gateway. With few, the time
/// of one write to the disk is all that is measured: some hundred decisions are under way in the 4 ms that it takes.
pub(crate) const CONNECTIONS: usize = 512;

/// Twelve digits in a request, replaced by a new number every time.
const NUMBER: &str = "############";

static NEXT: AtomicU64 = AtomicU64::new(1);

pub(crate) struct Connection {
    stream: TcpStream,
    inbox: Vec<u8>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A request as bytes. [`NUMBER`] in its body makes every sending another call.
#[derive(Clone)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    number_at: Option<usize>,
}

/// What one round of load came to.
pub(crate) struct Round {
    pub(crate) answered: f64,
    pub(crate) per_second: f64,
}

impl Request {
    /// `headers` are whole lines, each with its end.
    pub(crate) fn post(path: &str, headers: &str, body: &str) -> Self {
        let text = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}content-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let number_at = text.find(NUMBER);
        Self {
            bytes: text.into_bytes(),
            number_at,
        }
    }

    pub(crate) fn get(path: &str, headers: &str) -> Self {
        let text = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}\r\n");
        Self {
            bytes: text.into_bytes(),
            number_at: None,
        }
    }

    fn renew(&mut self) {
        let Some(digits) = self
            .number_at
            .and_then(|at| self.bytes.get_mut(at..at + NUMBER.len()))
        else {
            return;
        };
        let mut number = NEXT.fetch_add(1, Ordering::Relaxed);
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
}

impl Connection {
    pub(crate) async fn open(addr: SocketAddr) -> anyhow::Result<Self> {
        Self::over(TcpSocket::new_v4()?, addr).await
    }

    /// From another address of this machine, where the ports of the usual one would not suffice.
    pub(crate) async fn open_from(from: SocketAddr, addr: SocketAddr) -> anyhow::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(from)?;
        Self::over(socket, addr).await
    }

    async fn over(socket: TcpSocket, addr: SocketAddr) -> anyhow::Result<Self> {
        let stream = socket.connect(addr).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            inbox: Vec::new(),
        })
    }

    pub(crate) async fn send(&mut self, request: &mut Request) -> anyhow::Result<()> {
        request.renew();
        Ok(self.stream.write_all(&request.bytes).await?)
    }

    /// Sends and reads the answer into the inbox; its status, and where its body begins.
    async fn exchange(&mut self, request: &mut Request) -> anyhow::Result<(u16, usize)> {
        self.send(request).await?;
        self.inbox.clear();
        let mut head = None;
        loop {
            let read = self.stream.read_buf(&mut self.inbox).await?;
            anyhow::ensure!(read > 0, "the server hung up");
            if head.is_none() {
                head = Head::read(&self.inbox)?;
            }
            if let Some(head) = &head
                && self.inbox.len() >= head.length + head.body_length
            {
                return Ok((head.status, head.length));
            }
        }
    }

    pub(crate) async fn ask(&mut self, request: &mut Request) -> anyhow::Result<Answer> {
        let (status, body_at) = self.exchange(request).await?;
        let body = self.inbox.get(body_at..).unwrap_or_default().to_vec();
        Ok(Answer { status, body })
    }

    pub(crate) async fn get(&mut self, path: &str, headers: &str) -> anyhow::Result<Answer> {
        self.ask(&mut Request::get(path, headers)).await
    }

    /// The time of one exchange.
    pub(crate) async fn time(&mut self, request: &mut Request) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let (status, _) = self.exchange(request).await?;
        anyhow::ensure!(status == 200, "the answer is {status}");
        Ok(began.elapsed())
    }
}

struct Head {
    status: u16,
    length: usize,
    body_length: usize,
}

impl Head {
    fn read(bytes: &[u8]) -> anyhow::Result<Option<Self>> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = std::str::from_utf8(bytes.get(..end).unwrap_or_default())?;
        let status = text.get(9..12).and_then(|status| status.parse().ok());
        let body_length = text
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.parse().ok());
        Ok(Some(Self {
            status: status.context("an answer without a status")?,
            length: end + 4,
            body_length: body_length.context("an answer without a length")?,
        }))
    }
}

/// Sends each of `requests` over a connection of its own, again as soon as it is answered, for that time.
pub(crate) async fn run(
    addr: SocketAddr,
    requests: Vec<Request>,
    duration: Duration,
) -> anyhow::Result<Round> {
    let mut connections = Vec::new();
    for request in requests {
        connections.push((Connection::open(addr).await?, request));
    }
    let answered = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|(connection, request)| {
            let answered = answered.clone();
            tokio::spawn(repeat(connection, request, began + duration, answered))
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let answered = answered.load(Ordering::Relaxed) as f64;
    Ok(Round {
        answered,
        per_second: answered / began.elapsed().as_secs_f64(),
    })
}

async fn repeat(
    mut connection: Connection,
    mut request: Request,
    until: Instant,
    answered: Arc<AtomicU64>,
) -> anyhow::Result<()> {
    while Instant::now() < until {
        let (status, _) = connection.exchange(&mut request).await?;
        anyhow::ensure!(status == 200, "an answer of the load is {status}");
        answered.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
