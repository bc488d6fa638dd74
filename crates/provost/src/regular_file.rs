//! Reading files that others may have put there: a pipe or a device would keep the reader waiting for ever.

use std::{
    fs::{self, File},
    io::{self, Read as _},
    path::Path,
};

/// Its first bytes, up to `most`. What is no file, behind all links, is an error.
pub(crate) fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Before it is opened: that alone may block.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is not a regular file",
        ));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The whole text of a file, if it has no more than `most` bytes.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read_regular(path, most + 1)?;
    if bytes.len() as u64 > most {
        let why = format!("it is larger than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    let text = String::from_utf8(bytes);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p06_only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
        fs::write(&file, "12345").unwrap();
        std::os::unix::fs::symlink(&file, folder.path().join("link")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for (name, expected) in [
            ("file", Some(&b"123"[..])),
            ("link", Some(b"123")),
            ("pipe", None),
            (".", None),
            ("/dev/zero", None),
        ] {
            let read = read_regular(&folder.path().join(name), 3);
            assert_eq!(read.ok().as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn p06_a_text_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for (bytes, most, expected) in [
            (&b"12345"[..], 5, Some("12345")),
            (b"12345", 4, None),
            (b"\xff", 5, None),
        ] {
            fs::write(&file, bytes).unwrap();
            assert_eq!(read_text(&file, most).ok().as_deref(), expected);
        }
        let missing = read_text(&folder.path().join("missing"), 5).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
