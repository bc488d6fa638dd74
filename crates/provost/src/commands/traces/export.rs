//! `provost traces export`: every record as JSON lines, with the hashes that prove them.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::{
    client::{Client, Target},
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
    let client = context.client()?;
    if args.out == Path::new("-") {
        copy(&client, BufWriter::new(io::stdout())).await?;
        return Ok(Exit::Ok);
    }
    // A half-written export must not look like a whole one.
    let folder = args
        .out
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut part = tempfile::NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write in `{}`", folder.display()))?;
    let lines = copy(&client, BufWriter::new(part.as_file_mut())).await?;
    part.as_file().sync_all()?;
    let _: File = part
        .persist(&args.out)
        .with_context(|| format!("cannot write `{}`", args.out.display()))?;
    output::note(format_args!(
        "{lines} lines; prove them with `provost traces verify {}`",
        args.out.display()
    ));
    Ok(Exit::Ok)
}

async fn copy(client: &Client, mut out: impl Write) -> anyhow::Result<u64> {
    let mut lines = client.lines(Target::new("/traces/export")).await?;
    let mut count = 0;
    while let Some(line) = lines.next().await? {
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        count += 1;
    }
    out.flush()?;
    Ok(count)
}
