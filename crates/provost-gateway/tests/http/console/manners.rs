//! What the console says after a decision, what it keeps of a form that could not be taken, and what it marks.

use serde_json::{Value, json};

use super::{Page, Tab, asked, reading::field};
use crate::app::{TestApp, Who};

async fn decide(tab: &Tab<'_>, id: &str, form: &[(&str, &str)]) -> Page {
    tab.post(&format!("/console/decide/{id}"), form).await
}

#[tokio::test]
async fn p15_the_banner_names_what_was_decided() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let root = Tab::signed_in(&app, "admin-key").await;
    let id = asked(&app, "claude.Bash", json!({"command": "echo '<b>'"})).await;
    let page = decide(&tab, &id, &[("do", "approve")]).await.is(303);
    let said = tab.get(page.goes_to()).await.is(200);
    said.says("Approved.");
    said.says(
        "<span class=\"tool\">claude.Bash</span></a> for claude: <code>echo &#39;&#60;b&#62;&#39;</code>",
    );
    // The word is that of the decision, whatever the address says.
    for done in ["denied", "session", "changed", "counted", "handed_up"] {
        let page = tab.get(&format!("/?done={done}&of={id}")).await.is(200);
        page.says("role=\"status\">\n  <p>Approved. <a");
    }
    // An address that somebody made up says nothing in our name.
    let other = asked(&app, "claude.Bash", json!({"command": "sneaky"})).await;
    for (tab, id) in [(&tab, &other), (&root, &id)] {
        let page = tab.get(&format!("/?done=approved&of={id}")).await.is(200);
        let (_, banner) = page.text.split_once("role=\"status\">\n  <p>").unwrap();
        let banner = banner.split_once("</p>").unwrap().0;
        assert_eq!(banner, "Approved.", "{banner}");
    }
}

#[tokio::test]
async fn p15_the_banner_names_what_was_approved_where_it_was_edited() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    for (tool, asked_for, approved, said) in [
        (
            "pay.run",
            json!({"q": "asked"}),
            r#"{"q": "approved"}"#,
            r#"{"q":"approved"}"#,
        ),
        (
            "claude.Bash",
            json!({"command": "make asked"}),
            r#"{"command": "make approved; ls"}"#,
            "make approved…",
        ),
        (
            "pay.run",
            json!({"path": "/srv/asked", "content": "x"}),
            r#"{"path": "/srv/approved", "content": "x"}"#,
            "/srv/approved",
        ),
    ] {
        let id = asked(&app, tool, asked_for).await;
        let form = [("do", "change"), ("arguments", approved)];
        let page = decide(&tab, &id, &form).await.is(303);
        let page = tab.get(page.goes_to()).await.is(200);
        let said = said.replace('"', "&#34;");
        page.says(&format!("for claude: <code>{said}</code>"));
    }
}

#[tokio::test]
async fn p15_the_end_of_a_permission_is_a_time_that_the_script_can_read() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = asked(&app, "pay.run", json!({"n": 1})).await;
    let to = decide(&tab, &id, &[("do", "always")]).await.is(303);
    let banner = tab.get(to.goes_to()).await.is(200);
    banner.says("Allowed without asking until <time class=\"clock\" datetime=\"");
    let page = tab.get(&format!("/console/approval/{id}")).await.is(200);
    page.says("Remembered until <time class=\"clock\" datetime=\"");
    page.says("provost grants revoke ");
}

#[tokio::test]
async fn p15_a_permission_that_was_just_made_can_be_taken_back() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = asked(&app, "pay.run", json!({"n": 1})).await;
    let page = decide(&tab, &id, &[("do", "always")]).await.is(303);
    let said = tab.get(page.goes_to()).await.is(200);
    let (_, rest) = said.text.split_once("action=\"/console/grants/").unwrap();
    let grant = rest.split('/').next().unwrap();
    said.says("Take the permission back");
    tab.post(&format!("/console/grants/{grant}/revoke"), &[])
        .await
        .is(303);
    tab.get(page.goes_to())
        .await
        .says_not("Take the permission back");
    tab.get("/console/grants")
        .await
        .says("No grant is in force");
    // What others granted is not theirs to revoke.
    let grant = json!({"agent": "claude", "tools": "pay.*", "duration": "1h"});
    let made = app.ask(Who::Admin, "POST", "/grants", grant).await.body;
    let path = format!("/console/grants/{}/revoke", made["id"].as_str().unwrap());
    tab.post(&path, &[]).await.is(403);
    tab.get("/console/grants").await.says_not("Revoke");
}

#[tokio::test]
async fn p15_after_a_decision_the_next_card_has_the_focus() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(asked(&app, "pay.run", json!({"n": n})).await);
    }
    let list = tab.get("/").await;
    let next: Vec<_> = list.text.split("name=\"next\" value=\"").skip(1).collect();
    for (at, expected) in [(0, 1), (1, 2), (2, 1)] {
        assert!(next[at].starts_with(&ids[expected]), "{at}");
    }
    let form = [("do", "deny"), ("next", &*ids[1])];
    let to = decide(&tab, &ids[0], &form).await.is(303);
    assert!(
        to.goes_to().ends_with(&format!("#a-{}", ids[1])),
        "{}",
        to.goes_to()
    );
    // Only an id is put into the address.
    let form = [("do", "deny"), ("next", "x\r\nset-cookie: a=b")];
    let to = decide(&tab, &ids[1], &form).await.is(303);
    assert!(!to.goes_to().contains('#'), "{}", to.goes_to());
    // From the page of one, a link leads on.
    let more = asked(&app, "pay.run", json!({"n": 9})).await;
    let form = [("do", "deny"), ("back", "approval")];
    let to = decide(&tab, &ids[2], &form).await.is(303);
    let page = tab.get(to.goes_to()).await.is(200);
    page.says(&format!(
        "id=\"next\" href=\"/console/approval/{more}\" autofocus"
    ));
}

#[tokio::test]
async fn p15_a_broken_edit_keeps_the_form() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = asked(&app, "claude.Bash", json!({"command": "ls"})).await;
    for (arguments, status, why) in [
        ("{\"command\": \"ls -l\"", 400, "not a JSON object"),
        ("[\"typed\"]", 400, "not a JSON object"),
        ("{\"typed\": 1e400}", 400, "number"),
        ("{\"command\": \"rm -rf typed\"}", 422, "policy denies"),
    ] {
        let form = [
            ("do", "change"),
            ("arguments", arguments),
            ("note", "as I said"),
        ];
        let mut page = decide(&tab, &id, &form).await;
        // What is risky as edited is asked about first.
        if let Some(mark) = field(&page, "confirmed") {
            let form = [form[0], form[1], form[2], ("confirmed", &*mark)];
            page = decide(&tab, &id, &form).await;
        }
        let page = page.is(status);
        page.says("Edit the arguments, then approve");
        page.says(&arguments.replace('"', "&#34;"));
        page.says("as I said</textarea>");
        page.says("aria-invalid=\"true\" aria-describedby=\"wrong\"");
        let (_, wrong) = page.text.split_once("id=\"wrong\">").unwrap();
        let wrong = wrong.split_once("</p>").unwrap().0;
        assert!(wrong.contains(why), "{wrong}");
    }
    let path = format!("/approvals/{id}");
    let found = app.ask(Who::Admin, "GET", &path, Value::Null).await.body;
    assert_eq!(found["status"], "pending");
}

#[tokio::test]
async fn p15_an_edited_call_is_marked_in_traces() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let plain = asked(&app, "claude.Bash", json!({"command": "make plain"})).await;
    let edited = asked(&app, "claude.Bash", json!({"command": "make all"})).await;
    decide(&tab, &plain, &[("do", "approve")]).await.is(303);
    let form = [
        ("do", "change"),
        ("arguments", "{\"command\": \"make -n\"}"),
    ];
    decide(&tab, &edited, &form).await.is(303);
    let list = tab.get("/console/traces").await.is(200);
    assert_eq!(
        list.text.matches("<span class=\"badge edited\">").count(),
        1
    );
    let path = format!("/approvals/{edited}");
    let found = app.ask(Who::Admin, "GET", &path, Value::Null);
    let trace = found.await.body["trace_id"].as_str().unwrap().to_owned();
    let story = tab.get(&format!("/console/trace/{trace}")).await.is(200);
    story.says("<span class=\"badge edited\">edited</span>");
    story.says("What was asked (−) and what ran (+)");
    story.says("<div class=\"removed\"><span class=\"sign\">-</span><span class=\"text\">  &#34;command&#34;: &#34;make all&#34;");
    story.says("<div class=\"added\"><span class=\"sign\">+</span><span class=\"text\">  &#34;command&#34;: &#34;make -n&#34;");
    let view = app
        .ask(Who::Admin, "GET", &format!("/traces/{trace}"), Value::Null)
        .await
        .body;
    assert_eq!(view["edited"], true);
    assert!(
        view["edit"]
            .as_str()
            .unwrap()
            .contains("+  \"command\": \"make -n\"")
    );
    let all = app
        .ask(Who::Admin, "GET", "/traces", Value::Null)
        .await
        .body;
    let marks: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|trace| &trace["edited"])
        .collect();
    assert_eq!(
        marks.iter().filter(|mark| **mark == &json!(true)).count(),
        1
    );
}

#[tokio::test]
async fn p15_times_are_labelled_and_machine_readable() {
    let app = TestApp::new().await;
    let tab = Tab::signed_in(&app, "human-key").await;
    let id = asked(&app, "pay.run", json!({})).await;
    let page = tab.get(&format!("/console/approval/{id}")).await.is(200);
    let (_, asked) = page
        .text
        .split_once("<dt>Asked</dt><dd><time class=\"clock\" datetime=\"")
        .unwrap();
    let (iso, rest) = asked.split_once("\">").unwrap();
    assert!(iso.ends_with('Z'), "{iso}");
    assert!(rest.split_once("</time>").unwrap().0.ends_with(" UTC"));
}
