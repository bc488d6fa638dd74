//! The journal as a feed. A place in it is a number of bytes, so that going on from there costs nothing.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use serde_json::value::RawValue;

/// Read at once; a longer line is read alone.
const CHUNK: u64 = 256 * 1024;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the next one begins.
    pub id: u64,
    /// As the journal calls it: `in`, `out`, `event`, `decision`…
    pub kind: String,
    /// A JSON object in one line.
    pub line: String,
}

/// The whole lines after a place, some of them, and where they end.
pub(super) fn read(journal: &Path, after: u64) -> io::Result<(Vec<Entry>, u64)> {
    let mut entries = Vec::new();
    let end = lines(journal, after, CHUNK, |line, id| {
        let shown = std::str::from_utf8(line).ok();
        let shown = shown.and_then(|line| Some((kind(line)?, line)));
        if let Some((kind, line)) = shown.filter(|(kind, line)| !is_secret(kind, line)) {
            let line = line.to_owned();
            entries.push(Entry { id, kind, line });
        }
    })?;
    Ok((entries, end))
}

/// Calls with whole lines from a place on, until so many bytes were read, and tells where they end.
pub(super) fn lines(
    journal: &Path,
    after: u64,
    most: u64,
    mut each: impl FnMut(&[u8], u64),
) -> io::Result<u64> {
    let mut file = match File::open(journal) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(after),
        Err(error) => return Err(error),
    };
    let length = file.metadata()?.len();
    let mut at = after.min(length);
    // A place within a line is nobody's: what is left of it is passed over.
    let mut within = false;
    if at > 0 {
        file.seek(SeekFrom::Start(at - 1))?;
        let mut before = [0];
        file.read_exact(&mut before)?;
        within = before != *b"\n";
    }
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let until = at.saturating_add(most);
    while at < until {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            break;
        }
        at += read as u64;
        if !std::mem::take(&mut within) {
            each(&line, at);
        }
    }
    Ok(at)
}

fn kind(line: &str) -> Option<String> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(line).ok()?;
    fields.into_keys().find(|name| name != "at")
}

/// What the agent was told of its MCP servers, whose addresses and environments are secrets.
fn is_secret(kind: &str, line: &str) -> bool {
    kind == "out" && line.contains("\"mcpServers\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_goes_on_where_it_was_left() {
        let place = tempfile::tempdir().unwrap();
        let journal = place.path().join("journal.jsonl");
        assert_eq!(read(&journal, 0).unwrap(), (Vec::new(), 0));
        let first = r#"{"at":1,"event":{}}"#;
        let secret = r#"{"at":2,"out":{"params":{"mcpServers":["s"]}}}"#;
        let second = r#"{"at":3,"in":{}}"#;
        let text = format!("{first}\n{secret}\nno json\n{second}\n{{\"at\":4,");
        std::fs::write(&journal, &text).unwrap();
        let (all, end) = read(&journal, 0).unwrap();
        let kinds: Vec<_> = all.iter().map(|entry| &*entry.kind).collect();
        assert_eq!(kinds, ["event", "in"]);
        assert_eq!(end as usize, text.rfind("{\"at\":4").unwrap());
        let place = all.first().unwrap().id;
        assert_eq!(place as usize, first.len() + 1);
        let (rest, _) = read(&journal, place).unwrap();
        assert_eq!(rest.len(), 1);
        assert_eq!(rest.first().unwrap().line, second);
        // From within a line, from the next one on.
        assert_eq!(read(&journal, 3).unwrap().0.len(), 1);
        assert_eq!(read(&journal, u64::MAX).unwrap().0, []);
    }
}
