//! Somebody who is called back: keeps what was said, and may fail a few times first.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Instant,
};

use crate::harness::eventually;

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) addr: SocketAddr,
    told: Arc<Mutex<Vec<Told>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// When all of it was there.
    pub(crate) at: Instant,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Receiver {
    /// The first `failures` are answered 503.
    pub(crate) fn start(failures: usize) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        Self::on(listener, failures)
    }

    /// At an address at which nobody was until now.
    pub(crate) fn at(addr: SocketAddr) -> Self {
        Self::on(TcpListener::bind(addr).unwrap(), 0)
    }

    fn on(listener: TcpListener, failures: usize) -> Self {
        let addr = listener.local_addr().unwrap();
        let told = Arc::<Mutex<Vec<Told>>>::default();
        let shared = told.clone();
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let told = shared.clone();
                thread::spawn(move || serve(&stream, &told, failures));
            }
        });
        Self { addr, told }
    }

    /// What was said, once so much was.
    #[track_caller]
    pub(crate) fn told(&self, count: usize) -> Vec<Told> {
        eventually("being told", || {
            Some(self.told.lock().unwrap().clone()).filter(|told| told.len() >= count)
        })
    }
}

impl Told {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map_or("", |(_, value)| value)
    }

    /// As Standard Webhooks say, computed by somebody else's program.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        const SCRIPT: &str = "import base64,hashlib,hmac,sys\n\
            key=base64.b64decode(sys.argv[1].removeprefix('whsec_'))\n\
            print('v1,'+base64.b64encode(hmac.new(key,sys.stdin.buffer.read(),hashlib.sha256).digest()).decode())";
        let mut python = Command::new("python3")
            .args(["-c", SCRIPT, secret])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (id, at) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        let signed = format!("{id}.{at}.{}", self.body);
        let mut stdin = python.stdin.take().unwrap();
        stdin.write_all(signed.as_bytes()).unwrap();
        drop(stdin);
        let output = python.wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim() == self.header("webhook-signature")
    }
}

fn serve(stream: &TcpStream, told: &Mutex<Vec<Told>>, failures: usize) {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let mut told = told.lock().unwrap();
        told.push(request);
        let status = if told.len() <= failures {
            "503 Later"
        } else {
            "200 OK"
        };
        drop(told);
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        let mut stream = stream;
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Told> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?;
    let mut body = vec![0; length.1.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1)?.split('?').next()?.to_owned();
    Some(Told {
        at: Instant::now(),
        path,
        headers,
        body: String::from_utf8(body).ok()?,
    })
}

/// Somebody with one answer.
pub(crate) fn answering(status: &'static str) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || while answer(&stream, status).is_some() {});
        }
    });
    addr
}

fn answer(mut stream: &TcpStream, status: &str) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
    stream.write_all(answer.as_bytes()).ok()
}
