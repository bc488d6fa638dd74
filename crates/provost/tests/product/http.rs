//! A small HTTP client that can also be rude: it sends what it is told, byte by byte, and hangs up when it
//! is dropped.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// Somebody who calls the gateway.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) addr: SocketAddr,
    headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// Without a key: the agent `anonymous`.
    pub(crate) fn new(addr: SocketAddr) -> Self {
        Self {
            addr,
            headers: Vec::new(),
        }
    }

    pub(crate) fn key(&self, secret: &str) -> Self {
        self.with("authorization", &format!("Bearer {secret}"))
    }

    /// An agent by its word.
    pub(crate) fn agent(&self, name: &str) -> Self {
        self.key(&format!("agent:{name}"))
    }

    /// Another value for a header this client has already replaces it.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client
            .headers
            .retain(|(has, _)| !has.eq_ignore_ascii_case(name));
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.send("GET", target, b"")
    }

    pub(crate) fn delete(&self, target: &str) -> Answer {
        self.send("DELETE", target, b"")
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> Answer {
        self.send("POST", target, body.to_string().as_bytes())
    }

    pub(crate) fn send(&self, method: &str, target: &str, body: &[u8]) -> Answer {
        self.try_send(method, target, body)
            .unwrap_or_else(|error| panic!("{method} {target}: {error}"))
    }

    /// Fails where the answer did not come, or not whole.
    pub(crate) fn try_send(&self, method: &str, target: &str, body: &[u8]) -> io::Result<Answer> {
        let mut stream = self.open(method, target, body)?;
        Answer::read(&mut stream)
    }

    /// Sends a request and leaves the answer for later. Dropping what is returned hangs up.
    pub(crate) fn open(
        &self,
        method: &str,
        target: &str,
        body: &[u8],
    ) -> io::Result<BufReader<TcpStream>> {
        let mut request = self.head(method, target);
        if !body.is_empty() || method == "POST" {
            request.extend(format!("content-length: {}\r\n", body.len()).bytes());
        }
        request.extend(b"\r\n");
        request.extend(body);
        self.open_raw(&request)
    }

    pub(crate) fn open_raw(&self, request: &[u8]) -> io::Result<BufReader<TcpStream>> {
        let mut stream = TcpStream::connect(self.addr)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        match stream.write_all(request) {
            // Whoever refuses a large request may stop reading before it is sent.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
                ) => {}
            sent => sent?,
        }
        Ok(BufReader::new(stream))
    }

    /// The request line and the headers, without the blank line that ends them.
    pub(crate) fn head(&self, method: &str, target: &str) -> Vec<u8> {
        let mut head = format!("{method} {target} HTTP/1.1\r\n");
        let mut add = |name: &str, value: &str| head.extend([name, ": ", value, "\r\n"]);
        if !self.headers.iter().any(|(name, _)| name == "host") {
            add("host", &self.addr.to_string());
        }
        self.headers
            .iter()
            .for_each(|(name, value)| add(name, value));
        head.into_bytes()
    }

    /// A tool called by an agent who waits for the answer.
    pub(crate) fn tool(&self, tool: &str, params: Value) -> Answer {
        self.post(&format!("/tool/{tool}"), &json!({"params": params}))
    }

    /// A tool called by an agent who does not wait for a decision.
    pub(crate) fn tool_async(&self, tool: &str, params: Value) -> Answer {
        self.post(&format!("/tool/{tool}?wait=0s"), &json!({"params": params}))
    }

    /// The same on a thread: the answer comes when somebody has decided.
    pub(crate) fn tool_waiting(&self, tool: &str, params: Value) -> JoinHandle<Answer> {
        let (client, tool) = (self.clone(), tool.to_owned());
        thread::spawn(move || client.tool(&tool, params))
    }

    pub(crate) fn decide(&self, tool: &str, arguments: Value) -> Answer {
        self.post("/decide", &json!({"tool": tool, "arguments": arguments}))
    }

    pub(crate) fn decide_async(&self, tool: &str, arguments: Value) -> Answer {
        self.post(
            "/decide?wait=0s",
            &json!({"tool": tool, "arguments": arguments}),
        )
    }

    pub(crate) fn approve(&self, id: &str) -> Answer {
        self.post(&format!("/approvals/{id}/approve"), &json!({}))
    }

    pub(crate) fn deny(&self, id: &str) -> Answer {
        self.post(&format!("/approvals/{id}/deny"), &json!({}))
    }

    /// The approvals that wait for a decision, oldest first.
    pub(crate) fn pending(&self) -> Vec<Value> {
        let list = self.get("/approvals?status=pending").ok().json();
        list.as_array().unwrap().clone()
    }
}

impl Answer {
    pub(crate) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let (status, headers) = read_head(from)?;
        let find = |wanted: &str| {
            let found = headers.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str())
        };
        let mut body = Vec::new();
        if find("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            Chunks::new(from).read_to_end(&mut body)?;
        } else {
            let length = find("content-length").and_then(|value| value.parse().ok());
            body.resize(length.unwrap_or(0), 0);
            from.read_exact(&mut body)?;
        }
        Ok(Self {
            status,
            headers,
            body,
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(has, _)| has == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {} {}", self.status, self.text()))
    }

    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.is(200)
    }

    /// The status and the code of a refusal, which must be told as all errors are.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        let body = self.json();
        assert_eq!(body["error"]["code"], code, "{body}");
        let message = body["error"]["message"].as_str();
        assert!(message.is_some_and(|text| !text.is_empty()), "{body}");
        assert!(self.header("x-request-id").is_some(), "{body}");
    }

    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        let body = self.json();
        let field = body[name].as_str();
        field
            .unwrap_or_else(|| panic!("no `{name}` in {body}"))
            .to_owned()
    }

    #[track_caller]
    pub(crate) fn trace_id(&self) -> String {
        self.field("trace_id")
    }

    #[track_caller]
    pub(crate) fn approval_id(&self) -> String {
        self.field("approval_id")
    }
}

pub(crate) fn read_head(from: &mut impl BufRead) -> io::Result<(u16, Vec<(String, String)>)> {
    let bad = || io::Error::new(io::ErrorKind::UnexpectedEof, "the answer broke off");
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Err(bad());
        }
        match line.trim_end() {
            "" => break,
            text => lines.push(text.to_owned()),
        }
    }
    let status = lines
        .first()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|status| status.parse().ok())
        .ok_or_else(bad)?;
    let headers = lines.iter().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Ok((status, headers.collect()))
}

/// The body of an answer whose length is not known before.
pub(crate) struct Chunks<R> {
    from: R,
    /// Of the chunk being read; `None` after the last one.
    left: Option<usize>,
}

impl<R: BufRead> Chunks<R> {
    pub(crate) fn new(from: R) -> Self {
        Self {
            from,
            left: Some(0),
        }
    }

    fn next_chunk(&mut self) -> io::Result<()> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16)
            .map_err(|_| io::Error::new(io::ErrorKind::UnexpectedEof, "the answer broke off"))?;
        if length == 0 {
            self.from.read_line(&mut line)?;
        }
        self.left = Some(length).filter(|length| *length > 0);
        Ok(())
    }
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.left == Some(0) {
            self.next_chunk()?;
        }
        let Some(left) = self.left else { return Ok(0) };
        let most = left.min(out.len());
        let read = self.from.read(&mut out[..most])?;
        if read == 0 && most > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left = Some(left - read);
        if left == read {
            self.from.read_line(&mut String::new())?;
        }
        Ok(read)
    }
}
