//! What comes in, read once and bounded: bodies, queries, durations.

use std::{collections::HashMap, pin::pin, sync::Arc, time::Duration};

use axum::{
    BoxError,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderName, StatusCode, Uri, request::Parts};
use http_body_util::BodyExt as _;
use provost_core::{
    call::exact_numbers,
    gate::Wait,
    glob::Glob,
    time::{Time, parse_duration},
};
use provost_runner::json_error;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::ApiError;
use crate::{admission::Occupied, app::App};

/// A client that does not finish its body in this time is cut off.
const BODY_TIME: Duration = Duration::from_mins(1);
/// So is a stranger in this time: there is little room for them.
const STRANGERS_BODY_TIME: Duration = Duration::from_secs(5);
/// So is one from which nothing comes for so long.
const BETWEEN_PARTS: Duration = Duration::from_secs(10);
/// Small bodies are not worth counting: all that can come at once take little.
const UNCOUNTED: usize = 16 * 1024;

/// A JSON body. An empty one reads as `{}`.
pub(super) struct Body<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let limit = app.live.load().body_limit;
        parse(&read(request, limit).await?).map(Self)
    }
}

/// A JSON object, in bytes that come from anywhere.
pub(super) async fn read_object<T, B>(
    body: B,
    announced: Option<usize>,
    limit: usize,
    occupied: Option<&Occupied>,
) -> Result<T, ApiError>
where
    T: DeserializeOwned,
    B: hyper::body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    parse(&read_bytes(body, announced, limit, occupied).await?)
}

/// The length that a request says its body has.
pub(super) fn announced(headers: &HeaderMap) -> Option<usize> {
    let length = headers.get(http::header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

pub(crate) async fn read(request: Request, limit: usize) -> Result<Bytes, ApiError> {
    let announced = announced(request.headers());
    let occupied = request.extensions().get::<Arc<Occupied>>().cloned();
    read_bytes(request.into_body(), announced, limit, occupied.as_deref()).await
}

async fn read_bytes<B>(
    body: B,
    announced: Option<usize>,
    limit: usize,
    occupied: Option<&Occupied>,
) -> Result<Bytes, ApiError>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let mut reading = pin!(collect(body, limit, occupied));
    // Most bodies come along with their head, and need no clock.
    if let Some(read) = reading.as_mut().now_or_never() {
        return read;
    }
    if let Some(occupied) = occupied {
        occupied.waits_for_body()?;
    }
    tokio::time::timeout(body_time(occupied), reading)
        .await
        .map_err(|_| slow_body())?
}

fn body_time(occupied: Option<&Occupied>) -> Duration {
    if occupied.is_some_and(Occupied::is_of_stranger) {
        STRANGERS_BODY_TIME
    } else {
        BODY_TIME
    }
}

/// All of a body. What it takes is counted while it comes in, and not as it was announced: whoever announces much
/// and sends little holds up nobody.
async fn collect<B>(body: B, limit: usize, occupied: Option<&Occupied>) -> Result<Bytes, ApiError>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut body = pin!(body);
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    let mut counted = UNCOUNTED;
    loop {
        let mut rest_of_body = body.as_mut();
        let mut frame = rest_of_body.frame();
        let next = match (&mut frame).now_or_never() {
            Some(next) => next,
            None => tokio::time::timeout(BETWEEN_PARTS, frame)
                .await
                .map_err(|_| slow_body())?,
        };
        let part = match next {
            None => break,
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(_)) => return Err(ApiError::bad_request("the body broke off")),
        };
        let length = first.len() + rest.len() + part.len();
        if length > limit {
            return Err(too_large(limit));
        }
        if let Some(occupied) = occupied.filter(|_| length > counted) {
            occupied.hold(length - counted)?;
            counted = length;
        }
        if first.is_empty() {
            first = part;
        } else {
            rest.extend_from_slice(&part);
        }
    }
    Ok(if rest.is_empty() {
        first
    } else {
        [first, rest.freeze()].concat().into()
    })
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        format!("the body is larger than {limit} bytes"),
    )
    .help("send less, or raise `limits.body_bytes` in the config")
}

fn slow_body() -> ApiError {
    ApiError::new(
        StatusCode::REQUEST_TIMEOUT,
        "slow_body",
        "the body did not arrive in time",
    )
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let bytes = if bytes.iter().all(u8::is_ascii_whitespace) {
        b"{}".as_slice()
    } else {
        bytes
    };
    // A list of the right length would pass for an object.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(ApiError::bad_request("the body is not a JSON object"));
    }
    serde_json::from_slice(&exact_numbers(bytes)).map_err(|error| {
        let what = if error.is_data() {
            "the body does not fit"
        } else {
            "the body is not JSON"
        };
        ApiError::bad_request(format!("{what}: {}", json_error::told(&error)))
    })
}

/// A part of the address.
pub(super) struct Segment(pub(super) String);

impl FromRequestParts<Arc<App>> for Segment {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        Path::<String>::from_request_parts(parts, app)
            .await
            .ok()
            .filter(|Path(text)| !text.chars().any(char::is_control))
            .map(|Path(text)| Self(text))
            .ok_or_else(|| ApiError::bad_request("the address is not printable text"))
    }
}

/// A query string. Unknown names are an error: a misspelt filter would show too much.
pub(super) struct Params(HashMap<String, String>);

impl FromRequestParts<Arc<App>> for Params {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        Self::of_query(&parts.uri)
    }
}

impl Params {
    pub(super) fn of_query(uri: &Uri) -> Result<Self, ApiError> {
        if uri.query().is_none() {
            return Ok(Self(HashMap::new()));
        }
        Query::try_from_uri(uri)
            .map(|Query(params)| Self(params))
            .map_err(|_| ApiError::bad_request("the query string cannot be read"))
    }

    /// Of arguments that stand for a query.
    pub(super) fn of(arguments: Map<String, Value>) -> Self {
        let text = |value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let params = arguments.into_iter();
        Self(params.map(|(name, value)| (name, text(value))).collect())
    }

    pub(super) fn known(self, names: &[&str]) -> Result<Self, ApiError> {
        if self
            .0
            .values()
            .any(|value| value.chars().any(char::is_control))
        {
            return Err(ApiError::bad_request(
                "a query parameter holds control characters",
            ));
        }
        match self.0.keys().find(|name| !names.contains(&name.as_str())) {
            Some(unknown) => Err(ApiError::bad_request(format!(
                "unknown query parameter `{unknown}`"
            ))
            .help(format!("known are {}", names.join(", ")))),
            None => Ok(self),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|text| !text.is_empty()).cloned()
    }

    fn read<T>(
        &self,
        name: &str,
        what: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        match read(&text) {
            Some(value) => Ok(Some(value)),
            None => Err(ApiError::bad_request(format!(
                "`{name}` is not {what}: `{text}`"
            ))),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, ApiError> {
        self.read(name, "a number", |text| text.parse().ok())
    }

    pub(super) fn time(&self, name: &str) -> Result<Option<Time>, ApiError> {
        self.read(
            name,
            "a time such as 2026-04-10T14:30:00Z or seconds since the epoch",
            Time::parse,
        )
    }

    pub(super) fn duration(&self, name: &str) -> Result<Option<Duration>, ApiError> {
        self.read(name, "a duration such as 30s or 5m", parse_duration)
    }

    pub(super) fn glob(&self, name: &str) -> Result<Option<Glob>, ApiError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        Glob::new(&text)
            .map(Some)
            .map_err(|error| ApiError::bad_request(format!("`{name}` is a bad glob: {error}")))
    }

    pub(super) fn one_of<T>(&self, name: &str, known: &[(&str, T)]) -> Result<Option<T>, ApiError>
    where
        T: Copy,
    {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        if let Some((_, value)) = known.iter().find(|(word, _)| *word == text) {
            return Ok(Some(*value));
        }
        let words: Vec<_> = known.iter().map(|(word, _)| *word).collect();
        Err(ApiError::bad_request(format!(
            "`{name}` is not one of {}: `{text}`",
            words.join(", ")
        )))
    }

    /// At most `most`, and at least one.
    pub(super) fn limit(&self, usual: usize, most: usize) -> Result<usize, ApiError> {
        let limit = self
            .number("limit")?
            .map_or(usual, |limit| usize::try_from(limit).unwrap_or(most));
        Ok(limit.clamp(1, most))
    }
}

/// How long the caller is willing to wait: `?wait=10s`, `Prefer: wait=10` or `Prefer: respond-async`.
pub(super) fn wait(headers: &HeaderMap, params: &Params) -> Result<Wait, ApiError> {
    const PREFER: HeaderName = HeaderName::from_static("prefer");
    if let Some(patience) = params.duration("wait")? {
        return Ok(Wait::AtMost(patience));
    }
    let prefers = headers
        .get_all(&PREFER)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut wait = Wait::UntilDecided;
    for preference in prefers
        .flat_map(|value| value.split([',', ';']))
        .map(str::trim)
    {
        if let Some(seconds) = preference.strip_prefix("wait=") {
            let patience = parse_duration(seconds.trim_matches('"')).ok_or_else(|| {
                ApiError::bad_request(format!("`Prefer: {preference}` is not a number of seconds"))
            })?;
            return Ok(Wait::AtMost(patience));
        }
        if preference.eq_ignore_ascii_case("respond-async") {
            wait = Wait::AtMost(Duration::ZERO);
        }
    }
    Ok(wait)
}
