//! A journal, read back. A run may have been killed in the middle of a line, and a disk may have lost one:
//! what can be read is read, and what cannot is told with its number.

use std::io::{self, BufRead, Read as _};

use serde::Deserialize;
use serde_json::value::RawValue;

/// An agent's longest line, and what the journal writes around it.
const LONGEST: u64 = 80 * 1024 * 1024;

/// One line that could be read, or why it could not.
#[derive(Debug)]
pub enum Read {
    Line(Line),
    /// Skipped.
    Broken {
        number: u64,
        problem: String,
    },
    /// The last line has no end: whoever wrote it was killed.
    CutOff {
        number: u64,
    },
}

#[derive(Debug)]
pub struct Line {
    pub number: u64,
    /// Unix milliseconds.
    pub at: i64,
    pub what: What,
    /// The line itself, without its end.
    pub text: String,
}

/// As [`Entry`](super::Entry), read.
#[derive(Debug)]
pub enum What {
    In(Box<RawValue>),
    Noise(String),
    Err(String),
    Out(Box<RawValue>),
    Report(Box<RawValue>),
    Sent(Box<RawValue>),
    Decision(Box<RawValue>),
    Event(Box<RawValue>),
    /// Written by a later version.
    Other,
}

#[derive(Deserialize)]
struct Members {
    at: i64,
    r#in: Option<Box<RawValue>>,
    noise: Option<String>,
    err: Option<String>,
    out: Option<Box<RawValue>>,
    report: Option<Box<RawValue>>,
    sent: Option<Box<RawValue>>,
    decision: Option<Box<RawValue>>,
    event: Option<Box<RawValue>>,
}

impl Line {
    pub fn parse(number: u64, text: String) -> Result<Self, String> {
        let members: Members = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok(Self {
            number,
            at: members.at,
            what: members.what(),
            text,
        })
    }
}

impl Members {
    fn what(self) -> What {
        let raw = |raw: Option<Box<RawValue>>, what: fn(Box<RawValue>) -> What| raw.map(what);
        let text = |text: Option<String>, what: fn(String) -> What| text.map(what);
        raw(self.r#in, What::In)
            .or_else(|| raw(self.out, What::Out))
            .or_else(|| text(self.noise, What::Noise))
            .or_else(|| text(self.err, What::Err))
            .or_else(|| raw(self.report, What::Report))
            .or_else(|| raw(self.sent, What::Sent))
            .or_else(|| raw(self.decision, What::Decision))
            .or_else(|| raw(self.event, What::Event))
            .unwrap_or(What::Other)
    }
}

/// The lines of a journal, in their order. An error is one of the disk, and the last.
pub struct Lines<R> {
    from: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub fn new(from: R) -> Self {
        Self { from, number: 0 }
    }

    fn read(&mut self) -> io::Result<Option<Read>> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if (&mut self.from)
                .take(LONGEST)
                .read_until(b'\n', &mut bytes)?
                == 0
            {
                return Ok(None);
            }
            self.number += 1;
            if bytes.len() as u64 >= LONGEST && bytes.last() != Some(&b'\n') {
                self.from.skip_until(b'\n')?;
                return Ok(Some(self.broken("it is too long".to_owned())));
            }
            if !bytes.trim_ascii().is_empty() {
                return Ok(Some(self.judge(bytes)));
            }
        }
    }

    fn judge(&self, mut bytes: Vec<u8>) -> Read {
        let number = self.number;
        let ends = bytes.pop_if(|last| *last == b'\n').is_some();
        let text = String::from_utf8(bytes).map_err(|error| error.to_string());
        match text.and_then(|text| Line::parse(number, text)) {
            Ok(line) => Read::Line(line),
            Err(_) if !ends => Read::CutOff { number },
            Err(problem) => self.broken(problem),
        }
    }

    fn broken(&self, problem: String) -> Read {
        Read::Broken {
            number: self.number,
            problem,
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Read>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(journal: &[u8]) -> Vec<String> {
        let lines = Lines::new(journal).map(|line| match line.unwrap() {
            Read::Line(line) => format!("{} {} {:?}", line.number, line.at, line.what),
            Read::Broken { number, .. } => format!("{number} broken"),
            Read::CutOff { number } => format!("{number} cut off"),
        });
        lines.collect()
    }

    #[test]
    fn what_can_be_read_is_read() {
        let journal = b"{\"at\":1,\"in\":{ \"n\": 0.0024000000000000002 }}\n\nodd\n\xff\n{\"at\":2,\"later\":1}\n{\"at\":3,\"err\":\"x\"}\n{\"at\":4,\"ev";
        assert_eq!(
            told(journal),
            [
                "1 1 In(RawValue({ \"n\": 0.0024000000000000002 }))",
                "3 broken",
                "4 broken",
                "5 2 Other",
                "6 3 Err(\"x\")",
                "7 cut off",
            ]
        );
    }

    #[test]
    fn a_last_line_that_is_whole_counts() {
        assert_eq!(told(b"{\"at\":1,\"noise\":\"x\"}"), ["1 1 Noise(\"x\")"]);
        assert_eq!(told(b""), Vec::<String>::new());
    }
}
