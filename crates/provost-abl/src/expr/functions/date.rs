//! Dates: read from ISO text or milliseconds since 1970, written by a pattern. Always UTC, since
//! the time zone of a reader is nothing an expression can know.

use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::text::read;
use super::{Args, Meter, TooLong, Value};

const PATTERN: &str = "YYYY-MM-DD";
/// Longer than any sensible pattern, short enough that its output stays small.
const LONGEST_PATTERN: usize = 256;

/// Longest first: what stands in a pattern, and the directive it stands for.
const TOKENS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("MMMM", "%B"),
    ("dddd", "%A"),
    ("MMM", "%b"),
    ("ddd", "%a"),
    ("SSS", "%3f"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH", "%H"),
    ("hh", "%I"),
    ("mm", "%M"),
    ("ss", "%S"),
    ("M", "%-m"),
    ("D", "%-d"),
    ("H", "%-H"),
    ("h", "%-I"),
    ("m", "%-M"),
    ("s", "%-S"),
    ("A", "%p"),
    ("a", "%P"),
    ("Z", "%:z"),
];

/// What is no date is `""`. A pattern with a `%` is read as strftime, any other as `YYYY-MM-DD`,
/// with `[…]` around text to be kept.
pub(super) fn format<'a>(mut args: Args<'a>, meter: &Meter) -> Result<Value<'a>, TooLong> {
    let Some(date) = date(&args.next()) else {
        return Ok(Value::empty_text());
    };
    let pattern = match args.given() {
        Some(pattern) => read(pattern, meter)?,
        None => PATTERN.into(),
    };
    if pattern.len() > LONGEST_PATTERN {
        return Err(TooLong);
    }
    let directives = if pattern.contains('%') {
        pattern.into_owned()
    } else {
        directives(&pattern)
    };
    let mut output = meter.output();
    output.push(&strtime::format(&directives, &date).unwrap_or_default())?;
    Ok(Value::text(output.finish()))
}

fn date(value: &Value<'_>) -> Option<Zoned> {
    let timestamp = match value {
        Value::Number(number) => {
            let milliseconds = number.as_f64().trunc() as i64;
            Timestamp::from_millisecond(milliseconds).ok()?
        }
        Value::Text(text) => {
            let text = text.trim();
            match text.parse::<Timestamp>() {
                Ok(timestamp) => timestamp,
                Err(_) => TimeZone::UTC
                    .to_timestamp(text.parse::<DateTime>().ok()?)
                    .ok()?,
            }
        }
        _ => return None,
    };
    Some(timestamp.to_zoned(TimeZone::UTC))
}

fn directives(pattern: &str) -> String {
    let mut directives = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        if let Some((kept, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            directives.push_str(kept);
            rest = after;
        } else if let Some((token, directive)) =
            TOKENS.iter().find(|(token, _)| rest.starts_with(token))
        {
            directives.push_str(directive);
            rest = rest.get(token.len()..).unwrap_or_default();
        } else {
            directives.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    directives
}
