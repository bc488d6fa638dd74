//! What an answer to a report means, and how long to wait before the same report goes out again.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};

use crate::web;

/// A receiver that asks for more is asked again after this: a wrong date must not silence a run for a day.
const LONGEST_WAIT: Duration = Duration::from_mins(15);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Delivered,
    /// The token is not (or no longer) good: nothing is posted any more.
    Unauthorized,
    /// This report is not wanted; the next may be.
    Refused(StatusCode),
    /// Try again, not before the receiver's own time where it gave one.
    Again(Option<Duration>),
}

impl Outcome {
    pub(super) fn of(answer: &Result<web::Answer, web::Error>, now: i64) -> Self {
        match answer {
            Ok(answer) => Self::judge(answer.status, Some(&answer.headers), now),
            // Whoever said 200 has it, even if the rest of the answer was lost.
            Err(error) => error
                .status()
                .map_or(Self::Again(None), |status| Self::judge(status, None, now)),
        }
    }

    fn judge(status: StatusCode, headers: Option<&HeaderMap>, now: i64) -> Self {
        match status.as_u16() {
            200..=299 => Self::Delivered,
            401 => Self::Unauthorized,
            408 | 425 | 429 | 500..=599 => {
                Self::Again(headers.and_then(|headers| retry_after(headers, now)))
            }
            _ => Self::Refused(status),
        }
    }
}

/// Waits that double up to a bound.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
        }
    }
}

impl Backoff {
    /// Between half and all of the step: many runners that lost one receiver do not come back as one.
    pub(super) fn wait(&self, failures: u32, asked: Option<Duration>) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
        let step = self.first.saturating_mul(doubled).min(self.longest);
        let share = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
        let wait = step.mul_f64(0.5 + share / 2.0);
        asked.map_or(wait, |asked| asked.max(wait))
    }
}

fn retry_after(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if let Ok(seconds) = text.parse() {
        Duration::from_secs(seconds)
    } else {
        let millis = http_date(text)?.checked_mul(1000)?.checked_sub(now)?;
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    };
    Some(wait.min(LONGEST_WAIT))
}

/// Unix seconds of `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that may still be sent (RFC 9110, 5.6.7).
fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<i64>);
    let mut next = || clock.next().and_then(Result::ok);
    let (hour, minute, second) = (next()?, next()?, next()?);
    let sound = (1970..=9999).contains(&year)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    (sound && words.next() == Some("GMT"))
        .then(|| days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// Days since 1970, counted in years that begin in March, so that a leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let leaps = year / 4 - year / 100 + year / 400;
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const NOW: i64 = 784_111_777_000;

    fn answered(status: u16, retry: Option<&str>) -> Outcome {
        let mut headers = HeaderMap::new();
        if let Some(retry) = retry {
            headers.insert(header::RETRY_AFTER, retry.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        let body = Bytes::new();
        let answer = web::Answer {
            status,
            headers,
            body,
        };
        Outcome::of(&Ok(answer), NOW)
    }

    #[test]
    fn statuses_are_judged() {
        for status in [200, 201, 202, 204] {
            assert_eq!(answered(status, None), Outcome::Delivered);
        }
        assert_eq!(answered(401, None), Outcome::Unauthorized);
        for status in [408, 425, 429, 500, 502, 503, 504] {
            assert_eq!(answered(status, None), Outcome::Again(None), "{status}");
        }
        for status in [301, 302, 307, 400, 403, 404, 409, 410, 413, 422] {
            let refused = Outcome::Refused(StatusCode::from_u16(status).unwrap());
            assert_eq!(answered(status, None), refused);
        }
        let lost = Err(web::Error::BrokeOff(StatusCode::OK));
        assert_eq!(Outcome::of(&lost, NOW), Outcome::Delivered);
        let slow = Err(web::Error::Slow(Duration::ZERO));
        assert_eq!(Outcome::of(&slow, NOW), Outcome::Again(None));
    }

    #[test]
    fn the_receivers_own_time_is_honoured() {
        for (text, wait) in [
            ("7", Some(7)),
            ("0", Some(0)),
            ("99999999", Some(900)),
            ("Sun, 06 Nov 1994 08:49:57 GMT", Some(20)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0)),
            ("Tue, 29 Feb 2028 00:00:00 GMT", Some(900)),
            ("Sun, 06 Foo 1994 08:49:57 GMT", None),
            ("Sun, 06 Nov 99999999999999 08:49:57 GMT", None),
            ("soon", None),
            ("-3", None),
        ] {
            let wait = Outcome::Again(wait.map(Duration::from_secs));
            assert_eq!(answered(429, Some(text)), wait, "{text}");
            assert_eq!(answered(503, Some(text)), wait, "{text}");
        }
        assert_eq!(
            http_date("Tue, 29 Feb 2028 00:00:00 GMT"),
            Some(1_835_395_200)
        );
    }

    #[test]
    fn waits_double_up_to_a_bound() {
        let backoff = Backoff::default();
        for (failures, step) in [
            (1, 500),
            (2, 1_000),
            (4, 4_000),
            (7, 30_000),
            (4_000, 30_000),
        ] {
            let wait = backoff.wait(failures, None).as_millis();
            assert!((step / 2..=step).contains(&wait), "{failures}: {wait}");
        }
        let asked = Duration::from_mins(2);
        assert_eq!(backoff.wait(1, Some(asked)), asked);
        assert!(backoff.wait(9, Some(Duration::ZERO)) >= Duration::from_secs(15));
    }
}
