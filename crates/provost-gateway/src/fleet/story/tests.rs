use super::*;

fn told(lines: &[&str]) -> Story {
    let mut story = Story::default();
    for line in lines {
        story.hear(line.as_bytes(), 0);
    }
    story
}

#[test]
fn a_journal_tells_where_a_run_stands() {
    const STARTED: [&str; 4] = [
        r#"{"at":1,"event":{"queued":{}}}"#,
        r#"{"at":2,"event":{"starting":{"attempt":1}}}"#,
        r#"{"at":3,"event":{"started":{"pid":7,"command":["a"]}}}"#,
        r#"{"at":4,"event":{"agent":{"name":"x"},"resumes":true}}"#,
    ];
    for (more, state) in [
        (&[][..], State::Starting),
        (
            &[r#"{"at":5,"event":{"state":"running","spent":{"turns":1}}}"#],
            State::Running,
        ),
        (
            &[r#"{"at":5,"event":{"state":"waiting_permission"}}"#],
            State::WaitingPermission,
        ),
        // The end is told once, whole.
        (&[r#"{"at":5,"event":{"state":"done"}}"#], State::Starting),
        (
            &[r#"{"at":5,"event":{"ended":{"state":"done","stopReason":"end_turn"}}}"#],
            State::Done,
        ),
        (
            &[r#"{"at":5,"event":{"ended":{"state":"done","stopReason":"cancelled"}}}"#],
            State::Cancelled,
        ),
        (
            &[r#"{"at":5,"event":{"ended":{"state":"failed","reason":"stopped","message":"m"}}}"#],
            State::Cancelled,
        ),
        (
            &[
                r#"{"at":5,"event":{"ended":{"state":"failed","reason":"lost","message":"m"}}}"#,
                r#"{"at":6,"event":{"starting":{}}}"#,
            ],
            State::Failed,
        ),
        // An agent's words about events are its words.
        (
            &[r#"{"at":5,"in":{"event":{"ended":{"state":"done"}}}}"#],
            State::Starting,
        ),
        (&["", "{", "[]", r#"{"event":7}"#], State::Starting),
    ] {
        let story = told(&[&STARTED[..], more].concat());
        assert_eq!(story.state, state, "{more:?}");
        assert_eq!((story.pid, story.resumes), (Some(7), true));
    }
}

#[test]
fn the_prompts_of_a_session_are_followed() {
    let lines = [
        r#"{"at":1,"event":{"starting":{}}}"#,
        r#"{"at":2,"event":{"prompt":{"number":1,"promptId":"r","state":"running"}}}"#,
        r#"{"at":3,"event":{"prompt":{"number":2,"promptId":"r-p2","state":"queued"}}}"#,
        r#"{"at":4,"event":{"prompt":{"number":1,"promptId":"r","state":"done","stopReason":"end_turn"}}}"#,
        r#"{"at":4,"event":{"prompt":{"number":3,"promptId":"r-p3","state":"queued"}}}"#,
        r#"{"at":5,"event":{"state":"idle"}}"#,
    ];
    let story = told(&lines);
    assert_eq!((story.state, story.waiting()), (State::Idle, 2));
    let more = [
        r#"{"at":6,"event":{"prompt":{"number":2,"promptId":"r-p2","state":"running"},"state":"running"}}"#,
        r#"{"at":6,"event":{"prompt":{"number":2,"cancelledBy":"human:a"}}}"#,
    ];
    let story = told(&[&lines[..], &more].concat());
    assert_eq!(story.running().map(|prompt| prompt.number), Some(2));
    let end = [
        r#"{"at":7,"event":{"prompt":{"number":2,"promptId":"r-p2","state":"done","stopReason":"cancelled"}}}"#,
        r#"{"at":8,"event":{"ended":{"state":"failed","reason":"lost","message":"m"}}}"#,
    ];
    let story = told(&[&lines[..], &more, &end].concat());
    let states: Vec<_> = story.prompts.iter().map(|prompt| prompt.state).collect();
    assert_eq!(states, [State::Done, State::Cancelled, State::Failed]);
    let last = story.prompts.last().unwrap();
    assert_eq!(last.error.as_ref().unwrap().reason, "lost");
}

#[test]
fn another_runner_is_another_process() {
    let story = told(&[
        r#"{"at":1,"event":{"starting":{}}}"#,
        r#"{"at":2,"event":{"started":{"pid":7}}}"#,
        r#"{"at":3,"event":{"session":"s"}}"#,
        r#"{"at":4,"event":{"resumed":{}}}"#,
        r#"{"at":5,"event":{"starting":{}}}"#,
    ]);
    assert_eq!((story.pid, story.began, story.resumed), (None, false, 1));
    assert_eq!(story.session_id.as_deref(), Some("s"));
    assert_eq!(story.started_at, Some(1));
}

#[test]
fn what_was_set_is_known_and_what_became_of_the_reports_is_told_after_the_end() {
    let mut story = told(&[
        r#"{"at":1,"event":{"set":{"mode":"plan"}}}"#,
        r#"{"at":2,"event":{"set":{"modelId":"m1"}}}"#,
        r#"{"at":3,"event":{"set":{"modelId":"m2"}}}"#,
        r#"{"at":4,"event":{"set":{"options":{"thought":"high"}}}}"#,
        r#"{"at":5,"event":{"warning":"w"}}"#,
        r#"{"at":6,"event":{"ended":{"state":"done","stopReason":"end_turn"}}}"#,
    ]);
    let set = Value::Object(story.set.written());
    let expected = json!({"mode": "plan", "modelId": "m2", "options": {"thought": "high"}});
    assert_eq!(set, expected);
    assert_eq!((story.warnings.len(), story.reported), (1, false));
    story.hear(
        br#"{"at":7,"event":{"reported":{"warning":"r","over":true}}}"#,
        0,
    );
    assert_eq!(
        (story.warnings, story.reported),
        (vec!["w".to_owned(), "r".to_owned()], true)
    );
}

#[test]
fn a_session_that_was_resumed_and_had_no_prompt_ends_as_its_last_prompt() {
    let story = told(&[
        r#"{"at":1,"event":{"prompt":{"number":1,"promptId":"r","state":"done","stopReason":"max_tokens"}}}"#,
        r#"{"at":2,"event":{"ended":{"state":"done","stopReason":"idle"}}}"#,
    ]);
    assert_eq!(story.stop_reason.as_deref(), Some("max_tokens"));
    assert_eq!((story.state, story.ended_at), (State::Done, Some(2)));
}
