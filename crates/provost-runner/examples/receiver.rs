//! A receiver of a run's reports that checks what it must and prints what it gets.
//!
//! `CALLBACK_TOKEN=… cargo run --example receiver 127.0.0.1:8099`

use std::{
    collections::{HashMap, HashSet},
    env,
    io::{self, BufRead as _, BufReader, Write},
    net::{TcpListener, TcpStream},
    time::{Duration, SystemTime},
};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;

/// No report is larger: one notification of the agent, and a snapshot.
const LARGEST: usize = 64 * 1024 * 1024;
const WINDOW: Duration = Duration::from_mins(5);

fn main() -> io::Result<()> {
    let address = env::args().nth(1).unwrap_or("127.0.0.1:0".to_owned());
    let token = env::var("CALLBACK_TOKEN").map_err(io::Error::other)?;
    serve(&TcpListener::bind(address)?, &token, &mut io::stdout())
}

/// What was seen of one prompt.
#[derive(Default)]
struct Seen {
    /// In a real receiver: those of the last ten minutes, they are too old afterwards.
    nonces: HashSet<String>,
    last_sequence: u64,
}

pub(crate) fn serve(listener: &TcpListener, token: &str, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "listening on http://{}/", listener.local_addr()?)?;
    let mut seen = Seen::default();
    for stream in listener.incoming() {
        // A client that breaks off is tried again by itself.
        let _ = exchange(stream?, token, &mut seen, out);
    }
    Ok(())
}

fn exchange(
    mut stream: TcpStream,
    token: &str,
    seen: &mut Seen,
    out: &mut impl Write,
) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let (headers, body) = read(&mut BufReader::new(&mut stream))?;
    let status = match check(&headers, &body, token, seen) {
        Ok(()) => take(&body, seen, out)?,
        Err(status) => status,
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

fn read(from: &mut impl io::BufRead) -> io::Result<(HashMap<String, String>, Vec<u8>)> {
    let mut headers = HashMap::new();
    for line in from.by_ref().lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let length = headers.get("content-length").map(|text| text.parse());
    let Some(Ok(length @ 0..=LARGEST)) = length else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok((headers, body))
}

/// 401 says that the token is wrong: the run stops. 400 only refuses this report.
fn check(
    headers: &HashMap<String, String>,
    body: &[u8],
    token: &str,
    seen: &mut Seen,
) -> Result<(), &'static str> {
    let get = |name| headers.get(name).map_or("", String::as_str);
    let (time, nonce) = (get("x-supervisor-timestamp"), get("x-supervisor-nonce"));
    let mut mac = Hmac::<Sha256>::new_from_slice(token.as_bytes()).map_err(|_| "500 Key")?;
    mac.update(format!("{time}.{nonce}.").as_bytes());
    mac.update(body);
    let signature = get("x-supervisor-signature").strip_prefix("sha256=");
    let signature = signature.and_then(bytes).ok_or("401 Unauthorized")?;
    mac.verify_slice(&signature)
        .map_err(|_| "401 Unauthorized")?;
    let sent = Duration::from_millis(time.parse().map_err(|_| "400 Bad Request")?);
    if now().abs_diff(sent) > WINDOW || !seen.nonces.insert(nonce.to_owned()) {
        return Err("400 Bad Request");
    }
    Ok(())
}

fn take(body: &[u8], seen: &mut Seen, out: &mut impl Write) -> io::Result<&'static str> {
    let Ok(report) = serde_json::from_slice::<Value>(body) else {
        return Ok("400 Bad Request");
    };
    let field = |name| report.get(name).unwrap_or(&Value::Null);
    let kind = field("kind").as_str().unwrap_or_default();
    let sequence = field("sequence").as_u64().unwrap_or_default();
    // A heartbeat is outside of the order; a report that was seen is a retry whose answer was lost.
    if kind != "heartbeat" {
        if sequence <= seen.last_sequence {
            return Ok("200 OK");
        }
        seen.last_sequence = sequence;
    }
    let notifications = field("notifications").as_array().map_or(0, Vec::len);
    writeln!(out, "{sequence} {kind} {notifications}")?;
    out.flush()?;
    Ok("200 OK")
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    hex.as_bytes().chunks(2).map(digits).collect()
}

#[expect(clippy::disallowed_methods, reason = "an example has no other clock")]
fn now() -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default()
}
