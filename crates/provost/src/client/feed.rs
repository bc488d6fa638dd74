//! `GET /events`: what happens, as it happens. A lost connection is taken up where it broke.

use std::time::Duration;

use http::{HeaderValue, Method};
use hyper::body::Incoming;

use super::{Client, ClientError, Lines, Target};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// One event as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

pub(crate) struct Feed {
    client: Client,
    lines: Lines,
    parser: Parser,
    last: Option<String>,
    /// Before the next attempt to connect.
    pause: Duration,
}

impl Feed {
    /// Listens from now on.
    pub(crate) async fn open(client: Client) -> Result<Self, ClientError> {
        let lines = connect(&client, None).await?;
        Ok(Self {
            client,
            lines,
            parser: Parser::default(),
            last: None,
            pause: FIRST_PAUSE,
        })
    }

    /// The next event. `None`: the connection broke before the first one and is up again, so what happened
    /// meanwhile must be looked up. An error is a refusal.
    pub(crate) async fn next(&mut self) -> Result<Option<Message>, ClientError> {
        loop {
            let Ok(Some(line)) = self.lines.next().await else {
                self.reconnect().await?;
                if self.last.is_none() {
                    return Ok(None);
                }
                continue;
            };
            let message = self.parser.take(&String::from_utf8_lossy(&line));
            // The gateway also sends comments while nothing happens.
            if message.is_some() || line.starts_with(b":") {
                self.pause = FIRST_PAUSE;
            }
            if let Some(message) = message {
                self.last = message.id.clone().or_else(|| self.last.take());
                return Ok(Some(message));
            }
        }
    }

    async fn reconnect(&mut self) -> Result<(), ClientError> {
        crate::output::note("the connection to the gateway was lost; trying again");
        loop {
            tokio::time::sleep(self.pause).await;
            // Also after a success: a server that takes every connection and sends nothing is asked less often.
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            match connect(&self.client, self.last.as_deref()).await {
                Ok(lines) => {
                    crate::output::note("connected again");
                    (self.lines, self.parser) = (lines, Parser::default());
                    return Ok(());
                }
                Err(error) if error.exit() == crate::exit::Exit::Unreachable => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A stream of events that is not taken up again when it breaks: only what they carry.
pub(crate) struct Events {
    lines: Lines,
    parser: Parser,
}

impl Events {
    pub(crate) fn new(body: Incoming) -> Self {
        Self {
            lines: Lines::new(body),
            parser: Parser::default(),
        }
    }

    pub(crate) async fn next(&mut self) -> Option<String> {
        Some(self.message().await?.data)
    }

    pub(crate) async fn message(&mut self) -> Option<Message> {
        loop {
            let line = self.lines.next().await.ok()??;
            if let Some(message) = self.parser.take(&String::from_utf8_lossy(&line)) {
                return Some(message);
            }
        }
    }
}

async fn connect(client: &Client, last: Option<&str>) -> Result<Lines, ClientError> {
    let headers: Vec<_> = last
        .and_then(|id| HeaderValue::from_str(id).ok())
        .map(|id| ("last-event-id", id))
        .into_iter()
        .collect();
    let response = client
        .send(Method::GET, Target::new("/events"), &headers, None)
        .await?;
    Ok(Lines::new(response.into_body()))
}

/// Server-sent events, as far as the gateway speaks them.
#[derive(Default)]
struct Parser {
    id: Option<String>,
    data: String,
}

impl Parser {
    fn take(&mut self, line: &str) -> Option<Message> {
        if line.is_empty() {
            let (id, data) = (self.id.take(), std::mem::take(&mut self.data));
            return (!data.is_empty()).then_some(Message { id, data });
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.id = Some(value.to_owned()),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // Comments keep the connection alive; the type stands in the data too.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_from_their_lines() {
        let mut parser = Parser::default();
        let lines = [
            ":keep-alive",
            "",
            "id: 7",
            "event: stop",
            "data: {\"a\":",
            "data: 1}",
            "",
            "data:x",
            "",
        ];
        let found: Vec<_> = lines.iter().filter_map(|line| parser.take(line)).collect();
        let expected = [
            Message {
                id: Some("7".into()),
                data: "{\"a\":\n1}".into(),
            },
            Message {
                id: None,
                data: "x".into(),
            },
        ];
        assert_eq!(found, expected);
    }
}
