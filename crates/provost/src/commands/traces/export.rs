//! `provost traces export`: every record as JSON lines, with the hashes that prove them. From the gateway that
//! runs; where none does, from the data folder, which is opened for reading only.

use std::{
    fmt::{self, Display},
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use provost_core::{
    ports::Store,
    trace::export::{EndsLine, Exporter},
};

use crate::{
    client::{Client, ClientError, Target},
    context::Context,
    exit::Exit,
    output::{self, counted},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to write; `-` is stdout
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
}

pub(super) async fn run(context: &Context, args: &Args) -> anyhow::Result<Exit> {
    let record = Record::open(context).await?;
    let copied = write(&record, &args.out).await;
    record.close().await;
    copied.map(|()| Exit::Ok)
}

async fn write(record: &Record, out: &Path) -> anyhow::Result<()> {
    if out == Path::new("-") {
        record.copy(BufWriter::new(io::stdout())).await?;
        return Ok(());
    }
    // A half-written export must not look like a whole one.
    let folder = out
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut part = tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write in `{}`", folder.display()))?;
    let written = record.copy(BufWriter::new(part.as_file_mut())).await?;
    part.as_file().sync_all()?;
    let _: File = part
        .persist(out)
        .with_context(|| format!("cannot write `{}`", out.display()))?;
    output::note(format_args!(
        "{written}; prove them with `provost traces verify {}`",
        out.display()
    ));
    Ok(())
}

/// What was written.
#[derive(Debug, Default, PartialEq)]
struct Written {
    records: u64,
    /// Each has a first line that tells its ends.
    chains: u64,
}

impl Written {
    fn count(&mut self, line: &[u8]) {
        if serde_json::from_slice::<EndsLine>(line).is_ok() {
            self.chains += 1;
        } else {
            self.records += 1;
        }
    }
}

impl Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = counted(self.records, "record");
        match self.chains {
            1 => write!(f, "{records}, and a line with the ends of their chain"),
            chains => write!(
                f,
                "{records}, and {chains} lines with the ends of their chains"
            ),
        }
    }
}

/// Where the records are read.
enum Record {
    Gateway(Box<Client>),
    Store(Arc<dyn Store>),
}

impl Record {
    async fn open(context: &Context) -> anyhow::Result<Self> {
        let client = match context.client() {
            Ok(client) => client,
            Err(error) => {
                let error = error.downcast::<ClientError>()?;
                if !matches!(error, ClientError::NotRunning) {
                    return Err(error.into());
                }
                return Ok(Self::Store(super::open_folder(context, error).await?));
            }
        };
        match client.get(Target::new("/health")).await {
            Err(error) if error.is_unreachable() && context.global.url.is_none() => {
                Ok(Self::Store(super::open_folder(context, error).await?))
            }
            // Whatever it answers, it is there.
            _ => Ok(Self::Gateway(Box::new(client))),
        }
    }

    async fn copy(&self, mut out: impl Write) -> anyhow::Result<Written> {
        let mut written = Written::default();
        match self {
            Self::Gateway(client) => {
                let mut lines = client.lines(Target::new("/traces/export")).await?;
                while let Some(line) = lines.next().await? {
                    out.write_all(&line)?;
                    out.write_all(b"\n")?;
                    written.count(&line);
                }
            }
            Self::Store(store) => {
                let mut exporter = Exporter::new(store.clone()).await?;
                while let Some(lines) = exporter.next_lines().await? {
                    out.write_all(lines.as_bytes())?;
                    for line in lines.lines() {
                        written.count(line.as_bytes());
                    }
                }
            }
        }
        out.flush()?;
        Ok(written)
    }

    async fn close(self) {
        if let Self::Store(store) = self {
            store.close().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p17_an_export_tells_records_from_the_ends_of_chains() {
        let mut written = Written::default();
        written.count(
            br#"{"chain":"a","anchor_seq":0,"anchor_hash":"","head_seq":2,"head_hash":"x"}"#,
        );
        for seq in 1..=2 {
            let record =
                r#"{"chain":"a","anchor_seq":0,"anchor_hash":"","head_seq":2,"head_hash":"x"}"#;
            let line = format!(
                r#"{{"chain":"a","seq":{seq},"hash":"x","kind":"decision","record":{record}}}"#
            );
            written.count(line.as_bytes());
        }
        assert_eq!(
            written.to_string(),
            "2 records, and a line with the ends of their chain"
        );
    }
}
