//! The time of one evaluation, in this process on one thread, as the number of rules grows.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use provost_abl::expr::Program;
use provost_core::{
    call::Call,
    policy::{Policy, PolicySet, Rule, Verdict, scope::CallScope},
    time::Time,
};
use serde_json::{Map, Value, json};

use super::median;
use crate::{
    Effort,
    report::{Report, Row, Target, Unit},
};

const WHEN: &str = r#"params.path STARTS_WITH "/srv/" AND params.amount < 100"#;
const BATCHES: usize = 9;
const RULES: [usize; 4] = [10, 100, 1_000, 10_000];

pub(crate) fn measure(report: &mut Report, effort: Effort) -> anyhow::Result<()> {
    let batch = effort.round / 50;
    let now = Time::from_millis(1_800_000_000_000);
    let mut few = None;
    for rules in RULES {
        let set = set(rules)?;
        let call = call(rules / 2)?;
        let ruling = set.evaluate(&call, now);
        anyhow::ensure!(ruling.verdict == Verdict::Allow, "{}", ruling.reason);
        let time = time(batch, || set.evaluate(black_box(&call), now));
        let target = match few {
            None => Target::AtMost(1000.0),
            Some(_) => Target::RatioAtMost(2.0),
        };
        let name = format!("policy evaluation, {rules} rules");
        report.add(Row::new(name, Unit::Nanoseconds, time, few, Some(target)));
        few = few.or(Some(time));
    }
    let program = Program::compile(WHEN).map_err(|errors| anyhow::anyhow!("{errors:?}"))?;
    let call = call(0)?;
    let time = time(batch, || {
        program.test(&CallScope::new(black_box(&call), now))
    });
    let name = "the expression of the rule alone";
    report.add(Row::new(name, Unit::Nanoseconds, time, None, None));
    Ok(())
}

/// Every rule for another tool.
fn set(rules: usize) -> anyhow::Result<PolicySet> {
    let rules = (0..rules).map(|at| Rule {
        tools: vec![tool(at)],
        action: Verdict::Allow,
        when: Some(WHEN.to_owned()),
        condition: None,
    });
    let policy = Policy {
        name: "bench".into(),
        agent: "worker-*".to_owned(),
        rate_limit: None,
        rules: rules.collect(),
    };
    PolicySet::compile(vec![policy]).map_err(|errors| anyhow::anyhow!("{errors:?}"))
}

fn tool(at: usize) -> String {
    format!("service-{}.operation-{at}", at % 37)
}

fn call(at: usize) -> anyhow::Result<Call> {
    let params: Map<String, Value> = serde_json::from_value(json!({
        "path": "/srv/project/src/main.rs", "amount": 42, "reason": "look at the failing test",
    }))?;
    Ok(Call {
        agent: "worker-01".into(),
        session: Some("session-01".into()),
        tool: tool(at).into(),
        params,
    })
}

/// Nanoseconds of one run: the median over batches of that length.
fn time<T>(batch: Duration, mut work: impl FnMut() -> T) -> f64 {
    let mut runs = 64_u32;
    loop {
        let took = repeat(runs, &mut work);
        if took >= batch {
            break;
        }
        runs = runs.saturating_mul(2);
    }
    median(
        (0..BATCHES)
            .map(|_| repeat(runs, &mut work).as_nanos() as f64 / f64::from(runs))
            .collect(),
    )
}

fn repeat<T>(runs: u32, work: &mut impl FnMut() -> T) -> Duration {
    let began = Instant::now();
    for _ in 0..runs {
        black_box(work());
    }
    began.elapsed()
}
