//! `provost traces export`: every record as JSON lines, with the hashes that prove them. From the gateway that
//! runs; where none does, from the data folder, which is opened for reading only.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context as _;
use provost_core::{ports::Store, trace::export::Exporter};

use crate::{
    client::{Client, ClientError, Target},
    context::Context,
    exit::Exit,
    output,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where to; `-` is stdout
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
    let lines = record.copy(BufWriter::new(part.as_file_mut())).await?;
    part.as_file().sync_all()?;
    let _: File = part
        .persist(out)
        .with_context(|| format!("cannot write `{}`", out.display()))?;
    output::note(format_args!(
        "{lines} lines; prove them with `provost traces verify {}`",
        out.display()
    ));
    Ok(())
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

    /// Tells how many lines there were.
    async fn copy(&self, mut out: impl Write) -> anyhow::Result<u64> {
        let mut count = 0;
        match self {
            Self::Gateway(client) => {
                let mut lines = client.lines(Target::new("/traces/export")).await?;
                while let Some(line) = lines.next().await? {
                    out.write_all(&line)?;
                    out.write_all(b"\n")?;
                    count += 1;
                }
            }
            Self::Store(store) => {
                let mut exporter = Exporter::new(store.clone()).await?;
                while let Some(lines) = exporter.next_lines().await? {
                    out.write_all(lines.as_bytes())?;
                    count += lines.lines().count() as u64;
                }
            }
        }
        out.flush()?;
        Ok(count)
    }

    async fn close(self) {
        if let Self::Store(store) = self {
            store.close().await;
        }
    }
}
