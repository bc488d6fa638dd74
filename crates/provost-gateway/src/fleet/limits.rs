//! How far a run may go: as far as is configured, or less.

use std::time::Duration;

use provost_runner::config::Limits;
use serde_json::{Map, Value, json};

use super::story::Spent;

/// What was asked for, and the usual for the rest. An error names what would go further than is allowed.
pub(super) fn tightened(usual: &Limits, asked: &Limits) -> Result<Limits, Vec<String>> {
    let mut wider = Vec::new();
    let limits = Limits {
        wall: tighter("wallSeconds", usual.wall, asked.wall, &mut wider),
        idle: tighter("idleSeconds", usual.idle, asked.idle, &mut wider),
        turns: tighter("turns", usual.turns, asked.turns, &mut wider),
        tool_calls: tighter("toolCalls", usual.tool_calls, asked.tool_calls, &mut wider),
        tokens: tighter("tokens", usual.tokens, asked.tokens, &mut wider),
        cost: tighter("cost", usual.cost, asked.cost, &mut wider),
        output_bytes: tighter(
            "outputBytes",
            usual.output_bytes,
            asked.output_bytes,
            &mut wider,
        ),
        files_changed: tighter(
            "filesChanged",
            usual.files_changed,
            asked.files_changed,
            &mut wider,
        ),
        grace: tighter("graceSeconds", usual.grace, asked.grace, &mut wider),
        strict: usual.strict || asked.strict,
    };
    if wider.is_empty() {
        Ok(limits)
    } else {
        Err(wider)
    }
}

fn tighter<T: PartialOrd + Copy>(
    name: &str,
    usual: Option<T>,
    asked: Option<T>,
    wider: &mut Vec<String>,
) -> Option<T> {
    if let (Some(usual), Some(asked)) = (usual, asked)
        && asked > usual
    {
        wider.push(format!("`limits.{name}` is more than this gateway allows"));
    }
    asked.or(usual)
}

/// What is left for whoever goes on. `None`: nothing is.
pub(super) fn left(limits: &Limits, spent: &Spent, ran: Duration) -> Option<Limits> {
    let count = |limit: Option<u64>, spent: u64| match limit {
        Some(limit) => limit.checked_sub(spent).filter(|left| *left > 0).map(Some),
        None => Some(None),
    };
    Some(Limits {
        wall: match limits.wall {
            Some(wall) => Some(wall.checked_sub(ran).filter(|left| !left.is_zero())?),
            None => None,
        },
        turns: count(limits.turns, spent.turns)?,
        tool_calls: count(limits.tool_calls, spent.tool_calls)?,
        output_bytes: count(limits.output_bytes, spent.output_bytes)?,
        // Tokens and cost are told by the agent for its session, and go on with it.
        ..limits.clone()
    })
}

/// As the configuration of a run has them.
pub(super) fn written(limits: &Limits) -> Value {
    let seconds = |time: Option<Duration>| time.map(|time| json!(time.as_secs_f64()));
    let count = |count: Option<u64>| count.map(Value::from);
    let fields = [
        ("wallSeconds", seconds(limits.wall)),
        ("idleSeconds", seconds(limits.idle)),
        ("turns", count(limits.turns)),
        ("toolCalls", count(limits.tool_calls)),
        ("tokens", count(limits.tokens)),
        ("cost", limits.cost.map(Value::from)),
        ("outputBytes", count(limits.output_bytes)),
        ("filesChanged", count(limits.files_changed)),
        ("graceSeconds", seconds(limits.grace)),
        ("strict", limits.strict.then_some(Value::Bool(true))),
    ];
    let given = fields.into_iter();
    let given = given.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_only_tightened() {
        let usual = Limits {
            turns: Some(10),
            wall: Some(Duration::from_mins(1)),
            ..Limits::default()
        };
        let ask = |turns, cost| Limits {
            turns,
            cost,
            ..Limits::default()
        };
        let fewer = tightened(&usual, &ask(Some(3), Some(1.5))).unwrap();
        assert_eq!(
            (fewer.turns, fewer.cost, fewer.wall),
            (Some(3), Some(1.5), usual.wall)
        );
        assert_eq!(tightened(&usual, &ask(None, None)).unwrap(), usual);
        let wider = tightened(&usual, &ask(Some(11), None)).unwrap_err();
        assert_eq!(wider, ["`limits.turns` is more than this gateway allows"]);
        let strict = Limits {
            strict: true,
            ..usual.clone()
        };
        let asked = tightened(&strict, &ask(None, None)).unwrap();
        assert_eq!(written(&asked)["strict"], true);
        assert_eq!(written(&usual).get("strict"), None);
    }

    #[test]
    fn whoever_goes_on_has_what_is_left() {
        let limits = Limits {
            turns: Some(10),
            wall: Some(Duration::from_mins(1)),
            cost: Some(2.0),
            ..Limits::default()
        };
        let spent = Spent {
            turns: 4,
            ..Spent::default()
        };
        let rest = left(&limits, &spent, Duration::from_secs(20)).unwrap();
        assert_eq!(rest.turns, Some(6));
        assert_eq!(rest.wall, Some(Duration::from_secs(40)));
        assert_eq!(rest.cost, Some(2.0));
        assert!(left(&limits, &spent, Duration::from_mins(2)).is_none());
        let all = Spent {
            turns: 10,
            ..Spent::default()
        };
        assert!(left(&limits, &all, Duration::ZERO).is_none());
    }
}
