//! One moment, in milliseconds since the epoch: small to store, cheap to compare, printed as RFC 3339.

use std::{fmt, time::Duration};

use jiff::tz::Offset;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(i64);

impl Time {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    pub fn plus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    pub fn minus(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Time from `earlier` until now; zero when the clock went backwards.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// RFC 3339, or seconds since the epoch.
    pub fn parse(text: &str) -> Option<Self> {
        if let Ok(seconds) = text.parse::<i64>() {
            return seconds.checked_mul(1000).map(Self);
        }
        text.parse::<jiff::Timestamp>()
            .ok()
            .map(|t| Self(t.as_millisecond()))
    }

    pub fn timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or_default()
    }

    /// RFC 3339, digit by digit: every record and every row of a list holds times. `None` before the
    /// year 0, for which there are no four digits.
    pub(crate) fn text(self) -> Option<[u8; 24]> {
        let at = Offset::UTC.to_datetime(self.timestamp());
        let year = u16::try_from(at.year()).ok()?;
        let millis = at.millisecond().unsigned_abs();
        let mut text = *b"0000-00-00T00:00:00.000Z";
        for (place, number) in [
            (0, year / 100),
            (2, year % 100),
            (5, at.month().unsigned_abs().into()),
            (8, at.day().unsigned_abs().into()),
            (11, at.hour().unsigned_abs().into()),
            (14, at.minute().unsigned_abs().into()),
            (17, at.second().unsigned_abs().into()),
            (20, millis / 10),
        ] {
            if let Some(two) = text.get_mut(place..place + 2) {
                two.copy_from_slice(&[digit(number / 10), digit(number)]);
            }
        }
        if let Some(last) = text.get_mut(22) {
            *last = digit(millis);
        }
        Some(text)
    }

    /// Appends what [`fmt::Display`] prints, without its machinery.
    pub fn write(self, out: &mut Vec<u8>) {
        match self.text() {
            Some(text) => out.extend_from_slice(&text),
            None => out.extend_from_slice(self.to_string().as_bytes()),
        }
    }
}

/// The last digit of a number.
const fn digit(number: u16) -> u8 {
    b'0' + (number % 10) as u8
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => f.write_str(text),
            _ => write!(f, "{:.3}", self.timestamp()),
        }
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => serializer.serialize_str(text),
            _ => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom("not a time in RFC 3339"))
    }
}

/// A duration as people write it: `30s`, `5m`, `1h30m`, `2d`, `250ms`, or bare seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let number: u64 = number.parse().ok()?;
        let part = match unit {
            "ms" => Duration::from_millis(number),
            "s" => Duration::from_secs(number),
            "m" => Duration::from_secs(number.checked_mul(60)?),
            "h" => Duration::from_secs(number.checked_mul(3600)?),
            "d" => Duration::from_secs(number.checked_mul(86_400)?),
            _ => return None,
        };
        total = total.checked_add(part)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

/// The short form of the protocol: `4m30s`, `30m0s`, `2h0m0s`.
pub fn format_duration(duration: Duration) -> String {
    let mut text = Vec::new();
    write_duration(duration, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Appends what [`format_duration`] returns.
pub fn write_duration(duration: Duration, out: &mut Vec<u8>) {
    let seconds = duration.as_secs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        write_number(hours, out);
        out.push(b'h');
    }
    if hours > 0 || minutes > 0 {
        write_number(minutes, out);
        out.push(b'm');
    }
    write_number(rest, out);
    out.push(b's');
}

fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, seconds) in [
            ("30s", Some(30)),
            ("5m", Some(300)),
            ("1h30m", Some(5400)),
            ("2d", Some(172_800)),
            ("45", Some(45)),
            ("", None),
            ("5x", None),
            ("m", None),
            ("-5s", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(
                parse_duration(text),
                seconds.map(Duration::from_secs),
                "{text}"
            );
        }
    }

    #[test]
    fn durations_are_written_as_the_protocol_writes_them() {
        for (seconds, text) in [
            (0, "0s"),
            (30, "30s"),
            (270, "4m30s"),
            (1800, "30m0s"),
            (7200, "2h0m0s"),
            (3_723_000, "1034h10m0s"),
        ] {
            assert_eq!(format_duration(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn times_are_read_and_written() {
        let time = Time::parse("2026-04-10T14:30:00Z").unwrap();
        assert_eq!(time.to_string(), "2026-04-10T14:30:00.000Z");
        assert_eq!(Time::parse("1775831400"), Some(time));
        for millis in [
            -62_200_000_000_000,
            -62_167_219_200_000,
            -1,
            0,
            951_782_399_999,
            1_775_831_400_007,
            253_402_300_799_999,
        ] {
            let time = Time::from_millis(millis);
            let text = format!("{:.3}", time.timestamp());
            assert_eq!(time.to_string(), text);
            let mut written = Vec::new();
            time.write(&mut written);
            assert_eq!(written, text.as_bytes());
        }
        assert_eq!(Time::parse("yesterday"), None);
    }
}
