//! A listener to `GET /events`.

use std::{
    io::{BufRead, BufReader, Read as _},
    net::TcpStream,
};

use serde_json::Value;

use crate::http::{Chunks, Client, read_head};

pub(crate) struct Feed {
    lines: BufReader<Chunks<BufReader<TcpStream>>>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Feed {
    pub(crate) fn open(client: &Client, target: &str, last_event_id: Option<u64>) -> Self {
        let client = match last_event_id {
            Some(id) => client.with("last-event-id", &id.to_string()),
            None => client.clone(),
        };
        let mut stream = client.open("GET", target, b"").unwrap();
        let (status, headers) = read_head(&mut stream).unwrap();
        assert_eq!(status, 200);
        let kind = headers.iter().find(|(name, _)| name == "content-type");
        assert_eq!(kind.unwrap().1, "text/event-stream");
        Self {
            lines: BufReader::new(Chunks::new(stream)),
        }
    }

    /// What is told until it ends, which it must.
    pub(crate) fn rest(&mut self) -> String {
        let mut told = String::new();
        self.lines.read_to_string(&mut told).unwrap();
        told
    }

    /// The next event, which must come.
    pub(crate) fn next(&mut self) -> Event {
        let mut event = Event {
            id: 0,
            name: String::new(),
            data: Value::Null,
        };
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).unwrap();
            assert!(read > 0, "the feed ended");
            match line.trim_end().split_once(": ") {
                Some(("id", id)) => event.id = id.parse().unwrap(),
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ if event.id > 0 => return event,
                _ => {}
            }
        }
    }
}
