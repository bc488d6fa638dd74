//! Exports made here, and what happens when a byte of them changes.

use provost_core::trace::RecordKind;
use serde_json::{Value, json};

use super::*;

/// An export of one chain, pruned up to `anchor`.
fn export(name: &str, anchor: u64, bodies: &[&str]) -> Vec<String> {
    let mut hash = if anchor == 0 {
        chain::genesis(name)
    } else {
        [7; 32]
    };
    let anchor_hash = chain::text(&hash);
    let mut lines = Vec::new();
    for (seq, body) in (anchor + 1..).zip(bodies) {
        let kind = if body.contains(r#""note""#) {
            RecordKind::Note
        } else {
            RecordKind::Decision
        };
        hash = chain::next(&hash, seq, kind, body);
        let (hash, kind) = (chain::text(&hash), kind.as_str());
        lines.push(format!(
            r#"{{"chain":"{name}","seq":{seq},"hash":"{hash}","kind":"{kind}","record":{body}}}"#
        ));
    }
    let head_seq = anchor + bodies.len() as u64;
    let ends = json!({"chain": name, "anchor_seq": anchor, "anchor_hash": anchor_hash,
                      "head_seq": head_seq, "head_hash": chain::text(&hash)});
    lines.insert(0, ends.to_string());
    lines
}

fn store_note(text: &str, detail: &Value) -> String {
    json!({"trace_id": "n1", "note": text, "by": "store", "detail": detail,
           "timestamp": "2026-01-01T00:00:00.000Z"})
    .to_string()
}

fn pruned(name: &str, upto: u64, anchor: chain::Hash) -> String {
    let detail = json!({"chain": name, "upto_seq": upto, "anchor_hash": chain::text(&anchor)});
    store_note("pruned", &detail)
}

const BODIES: [&str; 3] = [
    r#"{"trace_id":"t1","verdict":"allow","params":{"b":1.0,"a":"é"}}"#,
    r#"{"trace_id":"t2","verdict":"deny"}"#,
    r#"{"trace_id":"t3","verdict":"allow","anchor_seq":1}"#,
];

fn prove(lines: &[String], head: Option<&str>) -> Result<(Vec<ChainReport>, Option<bool>), String> {
    let mut prover = Prover::new(head);
    for line in lines {
        prover
            .take(line.as_bytes())
            .map_err(|bad| bad.to_string())?;
    }
    Ok(prover.finish())
}

/// Where the only chain breaks.
fn broken(lines: &[String]) -> Option<(u64, Option<String>, String)> {
    let (mut reports, _) = prove(lines, None).unwrap();
    reports
        .remove(0)
        .broken
        .map(|found| (found.seq, found.trace_id, found.problem))
}

#[test]
fn whole_exports_are_proved() {
    let pruned = pruned("other", 5, [7; 32]);
    let mut lines = export("main", 0, &BODIES);
    lines.extend(export("other", 5, &[&pruned]));
    lines.extend(export("empty", 0, &[]));
    let (reports, found) = prove(&lines, None).unwrap();
    let shown: Vec<_> = reports
        .iter()
        .map(|r| (r.chain.as_str(), r.records, r.pruned, r.head_seq))
        .collect();
    assert_eq!(
        shown,
        [("empty", 0, 0, 0), ("main", 3, 0, 3), ("other", 1, 5, 6)]
    );
    assert!(reports.iter().all(|report| report.broken.is_none()));
    assert_eq!(found, None);
}

#[test]
fn the_first_changed_record_is_found() {
    let change = |at: usize, from: &str, to: &str| {
        let mut lines = export("main", 0, &BODIES);
        assert!(lines[at].contains(from));
        lines[at] = lines[at].replace(from, to);
        broken(&lines)
    };
    let changed = |seq: u64, id: &str| {
        Some((
            seq,
            Some(id.to_owned()),
            "the record was changed: its hash does not fit".to_owned(),
        ))
    };
    assert_eq!(change(2, "deny", "allow"), changed(2, "t2"));
    // The same value in other words is another record.
    assert_eq!(change(1, "1.0", "1"), changed(1, "t1"));
    assert_eq!(change(1, r#","params""#, r#", "params""#), changed(1, "t1"));
    assert_eq!(
        change(3, r#""kind":"decision""#, r#""kind":"note""#),
        changed(3, "t3")
    );
    assert_eq!(change(2, r#""hash":""#, r#""hash":"x"#), changed(2, "t2"));
    assert_eq!(
        change(0, r#""anchor_seq":0"#, r#""anchor_seq":1"#)
            .unwrap()
            .0,
        2
    );
}

#[test]
fn missing_records_are_found() {
    let mut lines = export("main", 0, &BODIES);
    lines.remove(2);
    assert_eq!(broken(&lines).unwrap().2, "record 2 is missing");
    let mut lines = export("main", 0, &BODIES);
    lines.pop();
    assert_eq!(
        broken(&lines).unwrap().2,
        "the chain ends at record 2 but its head is record 3"
    );
    let mut lines = export("main", 0, &BODIES);
    lines.swap(1, 2);
    assert_eq!(broken(&lines).unwrap().0, 1);
}

#[test]
fn a_beginning_that_no_pruning_took_is_missed() {
    let told = pruned("main", 5, [7; 32]);
    assert_eq!(broken(&export("main", 5, &[&told])), None);
    for other in [
        BODIES[1],
        &pruned("main", 4, [7; 32]),
        &pruned("main", 5, [8; 32]),
        &pruned("other", 5, [7; 32]),
    ] {
        let (seq, _, problem) = broken(&export("main", 5, &[other])).expect(other);
        assert_eq!(seq, 5);
        assert!(problem.contains("no note says"), "{problem}");
    }
}

#[test]
fn a_chain_that_vanished_is_missed() {
    let heads = |seq: u64| {
        let heads = json!({"heads": [{"chain": "gone", "head_seq": seq, "head_hash": "00"}]});
        store_note("chain opened", &heads)
    };
    let seen = export("main", 0, &[&heads(2)]);
    let (reports, _) = prove(&seen, None).unwrap();
    assert!(reports[0].broken.is_none());
    let gone = reports[1].broken.as_ref().unwrap();
    assert_eq!(reports[1].chain, "gone");
    assert!(gone.problem.contains("the chain is gone"), "{gone:?}");
    // There, but shorter than it was.
    for (records, whole) in [(3, true), (2, true), (1, false)] {
        let lines = [seen.clone(), export("gone", 0, &BODIES[..records])].concat();
        let (reports, _) = prove(&lines, None).unwrap();
        assert_eq!(reports.len(), 2);
        assert_eq!(reports.iter().all(|r| r.broken.is_none()), whole);
    }
}

#[test]
fn a_chain_that_confesses_is_not_whole() {
    let note = store_note("chain head differs from its last record", &Value::Null);
    let lines = export("main", 0, &[BODIES[0], &note, BODIES[1]]);
    let (seq, trace, problem) = broken(&lines).unwrap();
    assert_eq!((seq, trace.as_deref()), (2, Some("n1")));
    assert!(problem.contains("was changed while it was closed"));
    // What the records show by themselves comes first.
    let mut cut = lines.clone();
    cut.pop();
    assert_eq!(broken(&cut).unwrap().0, 3);
    // Anybody else may write what they like.
    let other = note.replace(r#""by":"store""#, r#""by":"human:alice""#);
    assert_eq!(broken(&export("main", 0, &[&other])), None);
}

#[test]
fn a_head_noted_earlier_is_looked_for() {
    let lines = export("main", 0, &BODIES);
    let noted: Value = serde_json::from_str(&lines[2]).unwrap();
    let noted = noted["hash"].as_str().unwrap().to_owned();
    for (head, found) in [
        (&*noted, true),
        (&noted[..16], true),
        (&noted.to_uppercase(), true),
        ("00ff00ff00ff00ff", false),
    ] {
        assert_eq!(prove(&lines, Some(head)).unwrap().1, Some(found), "{head}");
    }
    // A chain that was written anew proves itself, but no longer holds what was noted.
    let anew = export("main", 0, &BODIES[1..]);
    assert_eq!(prove(&anew, Some(&noted)).unwrap().1, Some(false));
}

#[test]
fn what_is_no_export_is_refused() {
    let lines = export("main", 0, &BODIES);
    for (given, problem) in [
        (vec!["{}".to_owned()], "line 1 is not a line of an export"),
        (vec!["x".to_owned()], "line 1 is not a line of an export"),
        (
            vec![lines[0].replacen('{', r#"{"approved":true,"#, 1)],
            "line 1 is not a line of an export",
        ),
        (
            vec![
                lines[0].clone(),
                lines[1].replacen('{', r#"{"approved":true,"#, 1),
            ],
            "line 2 is not a line of an export",
        ),
        (
            lines[1..].to_vec(),
            "line 1 is a record of a chain whose ends are not told before it",
        ),
        (
            [&lines[..], &lines[..1]].concat(),
            "line 5 begins a chain for the second time",
        ),
    ] {
        assert_eq!(prove(&given, None).unwrap_err(), problem);
    }
}
