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

/// Whether nothing is left for whoever would go on.
pub(super) fn used_up(limits: &Limits, spent: &Spent, ran: Duration) -> bool {
    let count = |limit: Option<u64>, spent: u64| limit.is_some_and(|limit| limit <= spent);
    limits.wall.is_some_and(|wall| wall <= ran)
        || count(limits.turns, spent.turns)
        || count(limits.tool_calls, spent.tool_calls)
        || count(limits.tokens, spent.tokens)
        || count(limits.output_bytes, spent.output_bytes)
        || limits.cost.is_some_and(|cost| cost <= spent.cost)
}

/// What was spent, as the configuration of whoever goes on has it.
pub(super) fn spent_before(spent: &Spent, ran: Duration) -> Value {
    let count = |count: u64| (count > 0).then(|| Value::from(count));
    let fields = [
        (
            "wallSeconds",
            Some(ran.as_secs_f64())
                .filter(|ran| *ran > 0.0)
                .map(Value::from),
        ),
        ("turns", count(spent.turns)),
        ("toolCalls", count(spent.tool_calls)),
        ("tokens", count(spent.tokens)),
        (
            "cost",
            Some(spent.cost).filter(|cost| *cost > 0.0).map(Value::from),
        ),
        ("outputBytes", count(spent.output_bytes)),
        ("filesChanged", count(spent.files_changed)),
    ];
    given(fields)
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
    given(fields)
}

fn given<const COUNT: usize>(fields: [(&str, Option<Value>); COUNT]) -> Value {
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
    fn whoever_goes_on_knows_what_was_spent() {
        let limits = Limits {
            turns: Some(10),
            wall: Some(Duration::from_mins(1)),
            cost: Some(2.0),
            ..Limits::default()
        };
        let spent = |turns, cost| Spent {
            turns,
            cost,
            ..Spent::default()
        };
        for (spent, ran, over) in [
            (spent(4, 0.5), 20, false),
            (spent(4, 0.5), 60, true),
            (spent(10, 0.5), 20, true),
            (spent(4, 2.0), 20, true),
        ] {
            let over_now = used_up(&limits, &spent, Duration::from_secs(ran));
            assert_eq!(over_now, over, "{spent:?} {ran}");
        }
        // A configuration takes only what is above 0.
        let before = spent_before(&spent(4, 0.0), Duration::from_secs(20));
        assert_eq!(before, json!({"wallSeconds": 20.0, "turns": 4}));
    }
}
