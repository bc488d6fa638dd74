//! HTTP/1.1 as it is written and read: a request's text, and the head of an answer.

use std::{
    io::{self, Write as _},
    mem::MaybeUninit,
};

use bytes::{Buf as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use httparse::{ParserConfig, Response, Status};

use super::frame::Framing;

/// An answer's head may be so long, and have so many lines.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// So much may be told on the way to an answer.
const MAX_INTERIM: usize = 32;

/// The head of an answer, and how its body is told from what follows.
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) framing: Framing,
    /// Whether another exchange may follow on the connection.
    pub(super) keeps: bool,
}

/// Adds a request's head. How its body is framed is said here, and nowhere else.
pub(super) fn write(request: &Request<Bytes>, out: &mut Vec<u8>) {
    let (method, uri) = (request.method(), request.uri());
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    put(out, &[method.as_str(), " "]);
    if !path.starts_with('/') {
        out.push(b'/');
    }
    put(out, &[path, " HTTP/1.1\r\n"]);
    if !request.headers().contains_key(header::HOST) {
        put(out, &["host: "]);
        write_peer(uri, out);
        put(out, &["\r\n"]);
    }
    for (name, value) in request.headers() {
        if *name != header::CONTENT_LENGTH && *name != header::TRANSFER_ENCODING {
            put(out, &[name.as_str(), ": "]);
            out.extend_from_slice(value.as_bytes());
            put(out, &["\r\n"]);
        }
    }
    let length = request.body().len();
    if length > 0 || matches!(*method, Method::POST | Method::PUT | Method::PATCH) {
        // Writing to memory cannot fail.
        let _ = write!(out, "content-length: {length}\r\n");
    }
    put(out, &["\r\n"]);
}

fn put(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

/// Host and port: the rest of a URL may hold what must not be repeated.
pub(super) fn peer(uri: &Uri) -> String {
    let mut peer = Vec::new();
    write_peer(uri, &mut peer);
    String::from_utf8_lossy(&peer).into_owned()
}

fn write_peer(uri: &Uri, out: &mut Vec<u8>) {
    put(out, &[uri.host().unwrap_or_default()]);
    if let Some(port) = uri.port() {
        put(out, &[":", port.as_str()]);
    }
}

/// Takes the head of an answer to a request of that method, where it is whole. What is told on the way to the
/// answer (status 1xx) is passed over, and counted.
pub(super) fn read(
    inbox: &mut BytesMut,
    method: &Method,
    interim: &mut usize,
) -> io::Result<Option<Head>> {
    while !inbox.is_empty() {
        let Some((length, head)) = parse(inbox, method)? else {
            return Ok(None);
        };
        inbox.advance(length);
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(broken("it answers in another protocol"));
        }
        if !head.status.is_informational() {
            return Ok(Some(head));
        }
        *interim += 1;
        if *interim > MAX_INTERIM {
            return Err(broken("it says too much before it answers"));
        }
    }
    Ok(None)
}

fn parse(inbox: &[u8], method: &Method) -> io::Result<Option<(usize, Head)>> {
    let mut lines = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default()
        .parse_response_with_uninit_headers(&mut response, inbox, &mut lines)
        .map_err(|error| broken(&format!("its answer is not HTTP: {error}")))?;
    let length = match parsed {
        Status::Complete(length) if length <= MAX_HEAD => length,
        Status::Partial if inbox.len() <= MAX_HEAD => return Ok(None),
        _ => return Err(broken("the head of its answer is too long")),
    };
    let status = response.code.unwrap_or_default();
    let status = StatusCode::from_u16(status).map_err(|_| broken("its status is not one"))?;
    let headers = headers(response.headers)?;
    let persistent = response.version == Some(1);
    let framing = framing(method, status, persistent, &headers)?;
    let head = Head {
        keeps: keeps(persistent, &headers) && is_clear(&framing, &headers),
        framing,
        status,
        headers,
    };
    Ok(Some((length, head)))
}

fn headers(lines: &[httparse::Header<'_>]) -> io::Result<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(lines.len());
    for line in lines {
        let name = HeaderName::from_bytes(line.name.as_bytes());
        let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(line.value)) else {
            return Err(broken("a header of its answer is not one"));
        };
        headers.append(name, value);
    }
    Ok(headers)
}

/// As RFC 9112 says, section 6.3.
fn framing(
    method: &Method,
    status: StatusCode,
    persistent: bool,
    headers: &HeaderMap,
) -> io::Result<Framing> {
    let bodiless = status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if bodiless || *method == Method::HEAD {
        return Ok(Framing::Length(0));
    }
    if headers.contains_key(header::TRANSFER_ENCODING) {
        // A body in another coding on top would reach the caller as it is, and pass for the answer.
        return if persistent && has_only(headers, &header::TRANSFER_ENCODING, "chunked") {
            Ok(Framing::chunked())
        } else {
            Err(broken(
                "its answer is in a transfer coding that is not known",
            ))
        };
    }
    let mut lengths = headers.get_all(header::CONTENT_LENGTH).iter();
    let Some(length) = lengths.next() else {
        return Ok(Framing::UntilClosed);
    };
    if lengths.any(|other| other != length) {
        return Err(broken("its answer has two lengths"));
    }
    let digits = length
        .to_str()
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits
        .and_then(|digits| digits.parse().ok())
        .map(Framing::Length)
        .ok_or_else(|| broken("the length of its answer is not a number"))
}

fn keeps(persistent: bool, headers: &HeaderMap) -> bool {
    let says = |word: &str| {
        headers
            .get_all(header::CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|option| option.trim().eq_ignore_ascii_case(word))
    };
    if persistent {
        !says("close")
    } else {
        says("keep-alive")
    }
}

/// Whether nobody could see the end of the answer elsewhere: where it may have no body but says that it has one,
/// or says in two ways how long it is, what follows may be anything.
fn is_clear(framing: &Framing, headers: &HeaderMap) -> bool {
    let coded = headers.contains_key(header::TRANSFER_ENCODING);
    let length = headers.get(header::CONTENT_LENGTH);
    match framing {
        Framing::Length(0) => !coded && length.is_none_or(|length| length == "0"),
        Framing::Chunked(_) => length.is_none(),
        Framing::Length(_) | Framing::UntilClosed => true,
    }
}

fn has_only(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let mut values = headers.get_all(name).iter();
    let first = values.next().and_then(|value| value.to_str().ok());
    first.is_some_and(|value| value.trim().eq_ignore_ascii_case(word)) && values.next().is_none()
}

pub(super) fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(request: Request<Bytes>) -> String {
        let mut out = Vec::new();
        write(&request, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_request_names_its_host_and_its_length_once() {
        let get = Request::get("http://user:secret@example.com:81?q=1")
            .body(Bytes::new())
            .unwrap();
        assert_eq!(
            written(get),
            "GET /?q=1 HTTP/1.1\r\nhost: example.com:81\r\n\r\n"
        );
        let post = Request::post("http://[::1]/a")
            .header("host", "other")
            .header("content-length", "99")
            .header("transfer-encoding", "chunked")
            .body(Bytes::from_static(b"four"))
            .unwrap();
        assert_eq!(
            written(post),
            "POST /a HTTP/1.1\r\nhost: other\r\ncontent-length: 4\r\n\r\n"
        );
        let empty = Request::put("http://[::1]:8/").body(Bytes::new()).unwrap();
        assert_eq!(
            written(empty),
            "PUT / HTTP/1.1\r\nhost: [::1]:8\r\ncontent-length: 0\r\n\r\n"
        );
    }

    fn head(method: Method, text: &str) -> Result<String, String> {
        let mut inbox = BytesMut::from(text);
        match read(&mut inbox, &method, &mut 0) {
            Ok(Some(head)) => Ok(format!(
                "{} {:?} {} {:?}",
                head.status.as_u16(),
                head.framing,
                head.keeps,
                String::from_utf8_lossy(&inbox)
            )),
            Ok(None) => Ok("more".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn heads_are_read_as_the_rfc_says() {
        let chunked = "transfer-encoding: chunked\r\n";
        for (method, text, expected) in [
            (
                "GET",
                "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc".to_owned(),
                r#"200 Length(3) true "abc""#,
            ),
            (
                "HEAD",
                "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n".to_owned(),
                r#"200 Length(0) false """#,
            ),
            (
                "GET",
                "HTTP/1.1 204 No\r\ncontent-length: 3\r\n\r\n".to_owned(),
                r#"204 Length(0) false """#,
            ),
            (
                "GET",
                "HTTP/1.1 304 Not\r\n\r\n".to_owned(),
                r#"304 Length(0) true """#,
            ),
            (
                "GET",
                format!("HTTP/1.1 200 OK\r\n{chunked}\r\n"),
                r#"200 Chunked(Size) true """#,
            ),
            (
                "GET",
                "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 201 OK\r\n\r\n".to_owned(),
                r#"201 UntilClosed true """#,
            ),
            (
                "GET",
                "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 2".to_owned(),
                "more",
            ),
            (
                "GET",
                format!("HTTP/1.1 200 OK\r\n{chunked}content-length: 3\r\n\r\n"),
                r#"200 Chunked(Size) false """#,
            ),
            (
                "GET",
                "HTTP/1.1 200 OK\r\nConnection: x, Close\r\ncontent-length: 0\r\n\r\n".to_owned(),
                r#"200 Length(0) false """#,
            ),
            (
                "GET",
                "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned(),
                r#"200 Length(0) false """#,
            ),
            (
                "GET",
                "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n".to_owned(),
                r#"200 Length(0) true """#,
            ),
            (
                "GET",
                "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 3\r\n\r\n".to_owned(),
                r#"200 Length(3) true """#,
            ),
            ("GET", "HTTP/1.1 200".to_owned(), "more"),
            ("GET", String::new(), "more"),
        ] {
            assert_eq!(
                head(method.parse().unwrap(), &text).as_deref(),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn broken_heads_are_refused() {
        let long = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(MAX_HEAD));
        let many = format!(
            "HTTP/1.1 200 OK\r\n{}\r\n",
            "x: y\r\n".repeat(MAX_HEADERS + 1)
        );
        for text in [
            "SSH-2.0-OpenSSH_9.2\r\n",
            "HTTP/1.1 101 Switching\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: +3\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\na: b\r\n folded\r\n\r\n",
            "HTTP/1.1 099 Low\r\n\r\n",
            &long,
            &many,
        ] {
            let read = head(Method::GET, text);
            assert!(
                read.is_err(),
                "{read:?} of {}",
                text.get(..60).unwrap_or(text)
            );
        }
    }
}
