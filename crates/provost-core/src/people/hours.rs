//! Working hours: days and times of a week, in a time zone.

use std::{str::FromStr, time::Duration};

use jiff::{
    Span, Zoned,
    civil::{Date, Time as Clock, Weekday},
    tz::{Offset, TimeZone},
};

use crate::time::Time;

const DAYS: [(&str, Weekday); 7] = [
    ("mon", Weekday::Monday),
    ("tue", Weekday::Tuesday),
    ("wed", Weekday::Wednesday),
    ("thu", Weekday::Thursday),
    ("fri", Weekday::Friday),
    ("sat", Weekday::Saturday),
    ("sun", Weekday::Sunday),
];

/// Such as `Mon-Fri 08:00-18:00 Europe/Berlin`. Where they end before they begin, as in `22:00-06:00`, they end
/// on the next day; the days are those on which they begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Hours {
    days: Vec<Weekday>,
    from: Clock,
    to: Clock,
    zone: TimeZone,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHours {
    #[error("hours look like `Mon-Fri 08:00-18:00 Europe/Berlin`")]
    Shape,
    #[error("`{0}` is no day: they are Mon, Tue, Wed, Thu, Fri, Sat, Sun")]
    Day(String),
    #[error("`{0}` is no time such as 08:00")]
    Clock(String),
    #[error("the hours end when they begin: the whole day is `00:00-24:00`")]
    Empty,
    #[error("`{0}` is no time zone such as Europe/Berlin, UTC or +02:00")]
    Zone(String),
}

impl FromStr for Hours {
    type Err = BadHours;

    fn from_str(text: &str) -> Result<Self, BadHours> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (days, times, zone) = match *words {
            [days, times] => (days, times, "UTC"),
            [days, times, zone] => (days, times, zone),
            _ => return Err(BadHours::Shape),
        };
        let (from, to) = times.split_once('-').ok_or(BadHours::Shape)?;
        let (from, to) = (clock(from)?, clock(to)?);
        if to == from {
            return Err(BadHours::Empty);
        }
        Ok(Self {
            days: days_of(days)?,
            from,
            to,
            zone: time_zone(zone)?,
        })
    }
}

impl Hours {
    /// How long until they begin; zero while they last.
    pub fn until_open(&self, now: Time) -> Duration {
        let now = now.timestamp().to_zoned(self.zone.clone());
        // Those of yesterday may last until today.
        for ahead in -1..=7_i64 {
            if let Some((begins, ends)) = self.on(now.date(), ahead)
                && now < ends
            {
                let wait = begins.timestamp().duration_since(now.timestamp());
                return Duration::try_from(wait).unwrap_or_default();
            }
        }
        Duration::ZERO
    }

    /// When those begin and end that begin so many days after a day, if it is one of theirs.
    fn on(&self, day: Date, ahead: i64) -> Option<(Zoned, Zoned)> {
        let days_after = |days: i64| day.checked_add(Span::new().days(days)).ok();
        let first = days_after(ahead)?;
        if !self.days.contains(&first.weekday()) {
            return None;
        }
        let over_midnight = self.to < self.from;
        let last = days_after(ahead + i64::from(over_midnight))?;
        let at = |day: Date, clock| day.to_datetime(clock).to_zoned(self.zone.clone()).ok();
        Some((at(first, self.from)?, at(last, self.to)?))
    }
}

fn days_of(text: &str) -> Result<Vec<Weekday>, BadHours> {
    let mut days = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (day(first)?, day(last)?);
        let span = if first <= last {
            first..=last
        } else {
            first..=last + 7
        };
        let wrapped = span.filter_map(|at| DAYS.get(at % 7));
        days.extend(wrapped.map(|(_, day)| *day));
    }
    Ok(days)
}

fn day(text: &str) -> Result<usize, BadHours> {
    let found = DAYS
        .iter()
        .position(|(name, _)| name.eq_ignore_ascii_case(text));
    found.ok_or_else(|| BadHours::Day(text.to_owned()))
}

fn clock(text: &str) -> Result<Clock, BadHours> {
    let bad = || BadHours::Clock(text.to_owned());
    let (hour, minute) = text.split_once(':').ok_or_else(bad)?;
    if (hour, minute) == ("24", "00") {
        return Ok(Clock::MAX);
    }
    let (hour, minute) = (hour.parse(), minute.parse());
    let (Ok(hour), Ok(minute)) = (hour, minute) else {
        return Err(bad());
    };
    Clock::new(hour, minute, 0, 0).map_err(|_| bad())
}

fn time_zone(text: &str) -> Result<TimeZone, BadHours> {
    if let Some(offset) = offset(text) {
        return Ok(TimeZone::fixed(offset));
    }
    if text.eq_ignore_ascii_case("utc") {
        return Ok(TimeZone::UTC);
    }
    TimeZone::get(text).map_err(|_| BadHours::Zone(text.to_owned()))
}

fn offset(text: &str) -> Option<Offset> {
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    if minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

fn two_digits(text: &str) -> Option<i32> {
    let sound = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    sound.then(|| text.parse().ok()).flatten()
}
