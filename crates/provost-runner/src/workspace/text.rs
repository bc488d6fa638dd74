//! Text files of the workspace: read whole or by lines, written in one stroke. Everything here blocks.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, openat, renameat,
    unlinkat,
};
use rustix::io::Errno;

use super::gate::Old;
use super::place::Place;
use crate::acp::RpcError;

/// Which lines are asked for: from the first one (counted from 1), and how many.
#[derive(Clone, Copy, Default)]
pub(super) struct Lines {
    pub(super) first: Option<u32>,
    pub(super) count: Option<u32>,
}

/// What tells that a file is still the one that was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    file: (u64, u64, i64),
    modified: (i64, i64),
    touched: (i64, i64),
}

impl Seen {
    #[expect(
        clippy::useless_conversion,
        clippy::unnecessary_cast,
        reason = "the widths of these fields differ by platform"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            file: (stat.st_dev.into(), stat.st_ino.into(), stat.st_size as i64),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            touched: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

/// The text at a place, at most `most` bytes of it.
pub(super) fn read(place: &Place, lines: Lines, most: usize) -> Result<String, RpcError> {
    let (file, stat) = open(place)?;
    let bytes = if lines.first.is_none() && lines.count.is_none() {
        if stat.st_size as u64 > most as u64 {
            return Err(too_large(place, most));
        }
        take(BufReader::new(file), most)
    } else {
        take_lines(BufReader::new(file), lines, most)
    };
    let bytes = bytes
        .map_err(|error| failed(place, "read", &error))?
        .ok_or_else(|| too_large(place, most))?;
    String::from_utf8(bytes).map_err(|_| {
        RpcError::invalid(format!(
            "`{}` is not UTF-8 text, so it cannot be read as text",
            place.path.display()
        ))
    })
}

/// What a write to this place would replace, and how to know it again.
pub(super) fn old(place: &Place, most: usize) -> Result<(Old, Option<Seen>), RpcError> {
    let Some(stat) = &place.stat else {
        return Ok((Old::Missing, None));
    };
    regular(place)?;
    if stat.st_mode & 0o222 == 0 {
        return Err(RpcError::invalid(format!(
            "`{}` is read-only",
            place.path.display()
        )));
    }
    let old = match read(place, Lines::default(), most) {
        Ok(text) => Old::Text(text),
        Err(_) => Old::Opaque {
            bytes: stat.st_size as u64,
        },
    };
    Ok((old, Some(Seen::of(stat))))
}

/// What a place holds now, without looking into it.
pub(super) fn seen(place: &Place) -> Option<Seen> {
    place.stat.as_ref().map(Seen::of)
}

/// Puts `content` there in one stroke: whoever reads meanwhile sees all of the old or all of the new.
pub(super) fn write(place: Place, content: &str) -> Result<(), RpcError> {
    let path = place.path.clone();
    let said = |error: &std::io::Error| {
        RpcError::internal(format!("cannot write `{}`: {error}", path.display()))
    };
    let name = place
        .name
        .clone()
        .ok_or_else(|| RpcError::invalid(format!("`{}` is a folder", path.display())))?;
    let old = place.stat;
    let folder = place.make_folder().map_err(|error| said(&error.into()))?;
    let draft = draft_name().map_err(|error| said(&error))?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&folder, &draft, flags, Mode::from_raw_mode(0o666))
        .map_err(|error| said(&error.into()))?;
    fill(file.into(), content, old.as_ref())
        .and_then(|()| Ok(renameat(&folder, &draft, &folder, &name)?))
        .inspect_err(|_| {
            let _ = unlinkat(&folder, &draft, AtFlags::empty());
        })
        .map_err(|error| said(&error))
}

fn fill(mut file: File, content: &str, old: Option<&Stat>) -> std::io::Result<()> {
    if let Some(old) = old {
        // Only root may give a file away; for anyone else the owner is already the right one, or the
        // folder's permissions made them the one who replaces it.
        let _ = fchown(
            &file,
            Some(Uid::from_raw(old.st_uid)),
            Some(Gid::from_raw(old.st_gid)),
        );
        // As with any write, the set-id bits do not outlive it.
        fchmod(&file, Mode::from_raw_mode(old.st_mode & 0o777))?;
    }
    file.write_all(content.as_bytes())?;
    file.sync_all()
}

fn draft_name() -> std::io::Result<String> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    Ok(format!(".provost-{:016x}.tmp", u64::from_ne_bytes(random)))
}

/// Opens what is there for reading, if it is a plain file: a pipe would block and a device would act.
fn open(place: &Place) -> Result<(File, Stat), RpcError> {
    regular(place)?;
    let (Some(folder), Some(name)) = (place.folder(), &place.name) else {
        return Err(RpcError::file_not_found(&place.path));
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(folder, name, flags | OFlags::NOCTTY, Mode::empty())
        .and_then(|file| fstat(&file).map(|stat| (file, stat)));
    match opened {
        // Looked at again, through the handle: the name may lead elsewhere by now.
        Ok((_, stat)) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
            Err(not_a_file(place))
        }
        Ok((file, stat)) => Ok((file.into(), stat)),
        Err(Errno::NOENT) => Err(RpcError::file_not_found(&place.path)),
        Err(error) => Err(failed(place, "read", &error.into())),
    }
}

fn regular(place: &Place) -> Result<(), RpcError> {
    match &place.stat {
        None => Err(RpcError::file_not_found(&place.path)),
        Some(_) if place.is(FileType::RegularFile) => Ok(()),
        Some(_) => Err(not_a_file(place)),
    }
}

fn not_a_file(place: &Place) -> RpcError {
    RpcError::invalid(format!("`{}` is not a regular file", place.path.display()))
}

fn too_large(place: &Place, most: usize) -> RpcError {
    RpcError::invalid(format!(
        "`{}` is more than {most} bytes; ask for fewer lines with `line` and `limit`",
        place.path.display()
    ))
}

fn failed(place: &Place, what: &str, error: &std::io::Error) -> RpcError {
    RpcError::internal(format!("cannot {what} `{}`: {error}", place.path.display()))
}

/// All there is, or None when that is more than `most`: a file may grow while it is read.
fn take(source: impl Read, most: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= most).then_some(bytes))
}

fn take_lines(
    mut source: impl BufRead,
    lines: Lines,
    most: usize,
) -> std::io::Result<Option<Vec<u8>>> {
    for _ in 1..lines.first.unwrap_or(1) {
        if source.skip_until(b'\n')? == 0 {
            return Ok(Some(Vec::new()));
        }
    }
    let Some(count) = lines.count else {
        return take(source, most);
    };
    let mut bytes = Vec::new();
    let mut source = source.take(most as u64 + 1);
    for _ in 0..count {
        if source.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
    }
    Ok((bytes.len() <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one_and_keep_their_ends() {
        let text = "one\ntwo\nthree";
        let cases = [
            (None, Some(1), "one\n"),
            (Some(0), Some(1), "one\n"),
            (Some(1), Some(2), "one\ntwo\n"),
            (Some(2), None, "two\nthree"),
            (Some(3), Some(9), "three"),
            (Some(4), None, ""),
            (Some(1), Some(0), ""),
        ];
        for (first, count, expected) in cases {
            let bytes = take_lines(text.as_bytes(), Lines { first, count }, 100).unwrap();
            assert_eq!(bytes.unwrap(), expected.as_bytes(), "{first:?} {count:?}");
        }
    }

    #[test]
    fn more_than_the_most_is_nothing() {
        assert_eq!(take(&b"12345"[..], 4).unwrap(), None);
        assert_eq!(take(&b"1234"[..], 4).unwrap().unwrap(), b"1234");
        let lines = Lines {
            first: Some(2),
            count: Some(1),
        };
        assert_eq!(take_lines(&b"1\n12345\n"[..], lines, 4).unwrap(), None);
    }
}
