//! Long arguments: lists and pages of them stay short, whole, and answered.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    app::{Answer, TestApp, Who},
    console::Tab,
};

const LONG: usize = 1_000_000;
const PASSWORD: &str = "password: hunter2horse";

fn long(n: usize) -> Value {
    json!({"path": format!("/srv/{n}"), "content": format!("{n} {}", "x".repeat(LONG))})
}

async fn get(app: &TestApp, who: Who, path: &str) -> Answer {
    let answer = app.ask(who, "GET", path, Value::Null).await;
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
    answer
}

fn ids(answer: &Answer) -> Vec<&str> {
    let rows = answer.body.as_array().unwrap().iter();
    rows.map(|row| row["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn p10_long_questions_are_cut_in_the_list_and_hide_no_other() {
    let app = TestApp::new().await;
    let mut asked = Vec::new();
    for n in 0..18 {
        asked.push(app.pending("pay.run", long(n)).await);
    }
    asked.push(app.pending("pay.run", json!({"amount": 5})).await);
    let list = get(&app, Who::Human, "/approvals?status=pending").await;
    assert_eq!(ids(&list), asked);
    assert!(!list.headers.contains_key("x-next-after"));
    let (first, last) = (&list.body[0], &list.body[18]);
    assert_eq!(first["params"]["path"], "/srv/0");
    assert_eq!(first["params"]["content"]["content_length"], LONG + 2);
    assert_eq!(first["cut"]["whole"], format!("/approvals/{}", asked[0]));
    assert!(first["cut"]["bytes"].as_u64().unwrap() > LONG as u64);
    assert_eq!(
        (&last["params"]["amount"], last.get("cut")),
        (&json!(5), None)
    );
    let whole = first["cut"]["whole"].as_str().unwrap();
    let whole = get(&app, Who::Human, whole).await.body;
    assert_eq!(whole["params"], long(0));
    assert_eq!(whole.get("cut"), None);
}

#[tokio::test]
async fn p10_a_question_that_is_cut_shows_no_more_than_a_whole_one() {
    let app = TestApp::new().await;
    let content = format!("{PASSWORD}\n{}", "x".repeat(LONG / 10));
    let params = json!({"path": "/srv/a", "content": content, "note": PASSWORD});
    app.pending("fs.run", params).await;
    for (who, query) in [
        (Who::Human, ""),
        (Who::Human, "?content=structure"),
        (Who::Supervisor, ""),
    ] {
        let list = get(&app, who, &format!("/approvals{query}")).await.body;
        assert!(list[0]["cut"].is_object(), "{list}");
        assert_eq!(list[0]["params"]["path"], "/srv/a");
        let text = list.to_string();
        assert!(!text.contains("hunter2horse"), "{text}");
        assert_eq!(list[0].get("digest"), None, "{who:?} {query}");
    }
}

#[tokio::test]
async fn p10_pages_of_long_traces_follow_one_another() {
    let app = TestApp::new().await;
    for n in 0..9 {
        // A denied call is recorded whole, too.
        let body = json!({"params": long(n)});
        let answer = app.ask(Who::Agent, "POST", "/tool/hidden.run", body).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
    }
    let (mut found, mut pages) = (Vec::new(), 0);
    let mut path = "/traces?limit=1000".to_owned();
    loop {
        let page = get(&app, Who::Human, &path).await;
        assert!(page.body.to_string().len() < 6 << 20);
        let rows = page.body.as_array().unwrap().iter();
        found.extend(rows.map(|row| row["params"]["path"].as_str().unwrap().to_owned()));
        pages += 1;
        let Some(before) = page.headers.get("x-next-before") else {
            break;
        };
        path = format!("/traces?limit=1000&before={}", before.to_str().unwrap());
    }
    let expected: Vec<_> = (0..9).rev().map(|n| format!("/srv/{n}")).collect();
    assert_eq!(found, expected);
    assert!(pages > 1);
}

#[tokio::test]
async fn p10_the_inbox_shows_a_long_act_in_part_and_all_others() {
    let app = TestApp::new().await;
    let mut asked = Vec::new();
    for n in 0..6 {
        asked.push(app.pending("pay.run", long(n)).await);
    }
    let blob = json!({"blob": "x".repeat(LONG)});
    asked.push(app.pending("pay.run", blob).await);
    asked.push(app.pending("pay.run", json!({"amount": 5})).await);
    let tab = Tab::signed_in(&app, "human-key").await;
    let list = tab.get("/").await;
    assert_eq!(list.status, StatusCode::OK);
    assert!(list.text.len() < 200_000, "{} bytes", list.text.len());
    for id in &asked {
        assert!(
            list.text.contains(&format!("/console/approval/{id}")),
            "{id}"
        );
    }
    assert_eq!(list.text.matches("read all of it").count(), 7);
    let part = "This is a part of a long call: read all of it";
    assert_eq!(list.text.matches(part).count(), 1);
    // Who approves it there is asked once more, with all of it.
    let path = format!("/console/decide/{}", asked[0]);
    let again = tab.post(&path, &[("do", "approve")]).await;
    assert!(
        again.text.contains("Nothing is decided yet"),
        "{}",
        again.status
    );
    let agents = tab.get("/console/agents").await;
    assert_eq!(agents.status, StatusCode::OK);
}
