//! The console in a real browser.

mod heights;
mod manners;
pub(crate) mod pages;

use serde_json::json;

use crate::{
    chromium::Browser,
    echo::Echo,
    harness::{ALICE, Gateway, Site, eventually},
};

/// People are asked about everything.
const ASK: &str = "policies:
  - name: all
    agent: '*'
    rules:
      - {tools: [notes.add], action: allow}
      - {tools: [filesystem.delete_file], action: deny}
      - {tools: ['*'], action: human_approval}
";

pub(crate) fn sign_in(browser: &mut Browser, gateway: &Gateway, key: &str) {
    browser.go(&format!("{}/", gateway.url()));
    assert!(
        browser
            .text("location.pathname")
            .ends_with("/console/login")
    );
    browser.click("#key");
    browser.type_text(key);
    browser.click("button.primary");
    browser.until("the inbox", "document.querySelector('#list')");
}

#[test]
fn a_person_reads_a_diff_and_approves_with_a_note() {
    let echo = Echo::start();
    let site = Site::new(&echo, ASK);
    let gateway = site.start();
    let mut browser = Browser::start();
    browser.look(390, 844, "light");
    sign_in(&mut browser, &gateway, ALICE);
    assert!(
        browser
            .text("document.querySelector('#empty').innerText")
            .contains("provost connect")
    );
    browser.until("the feed", "document.body.dataset.live");
    browser.eval("window.marker = 'not reloaded'");

    let change = json!({"id": "edit", "path": "/srv/app/config.toml", "old_string": "retries = 1\n", "new_string": "retries = 5\n"});
    let call = gateway
        .agent()
        .tool_waiting("filesystem.write_file", change);
    browser.until("the approval", "document.querySelector('#list article')");
    assert_eq!(browser.text("window.marker"), "not reloaded");
    assert!(browser.text("document.title").starts_with("(1) "));
    let added = "document.querySelector('.diff .added').innerText";
    let removed = "document.querySelector('.diff .removed').innerText";
    let squeezed = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeezed(browser.text(added)), "+ retries = 5");
    assert_eq!(squeezed(browser.text(removed)), "- retries = 1");

    browser.click("article summary");
    browser.click("article textarea");
    browser.type_text("five is enough");
    // What comes meanwhile takes neither the focus nor what was typed.
    let other = gateway
        .agent()
        .tool_waiting("gmail.send", json!({"to": "bob@example.com"}));
    browser.until(
        "the other",
        "document.querySelectorAll('#list article').length === 2",
    );
    assert_eq!(
        browser.text("document.activeElement.value"),
        "five is enough"
    );
    browser.click("article button.yes");
    let answer = call.join().unwrap().ok();
    assert_eq!(echo.executions("edit"), 1);
    let trace = gateway.trace(&answer.trace_id());
    assert_eq!(trace["approved_by"], "human:alice");
    assert_eq!(trace["supervisor_reasoning"], "five is enough");
    browser.until(
        "the word",
        "document.querySelector('.said')?.innerText.startsWith('Approved. filesystem.write_file for claude: /srv/app/config.toml')",
    );

    browser.until("the feed", "document.body.dataset.live");
    // What somebody else decides says so where it stood.
    let id = gateway.one_pending()["id"].as_str().unwrap().to_owned();
    gateway.admin().deny(&id).ok();
    browser.until(
        "its end",
        "document.querySelector('.gone')?.innerText.includes('denied by admin:')",
    );
    assert_eq!(other.join().unwrap().status, 403);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn whatever_an_agent_writes_is_text() {
    let echo = Echo::start();
    let site = Site::new(&echo, ASK);
    let gateway = site.start();
    let mut browser = Browser::start();
    browser.look(1280, 900, "dark");
    sign_in(&mut browser, &gateway, ALICE);
    let hostile = "</textarea></pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}\"' onfocus=alert(3) autofocus x='";
    let arguments = json!({"id": hostile, hostile: [hostile], "command": format!("rm -rf / # {hostile}"), "description": hostile});
    let agent = gateway.client().agent("<b>&lt;agent");
    let first = agent.tool_waiting("gmail.send", arguments.clone());
    browser.until("one", "document.querySelector('#list article')");
    let second = agent.tool_waiting(
        "payments.send",
        json!({"path": "/x", "old_string": hostile, "new_string": arguments.to_string()}),
    );
    browser.until(
        "both",
        "document.querySelectorAll('#list article').length === 2",
    );
    let ids: Vec<_> = gateway.alice().pending();
    let id = ids[0]["id"].as_str().unwrap();
    let made = "document.querySelectorAll('main img, main script, main b, main [onfocus], main [onerror]').length";
    for path in [
        "/".to_owned(),
        format!("/console/approval/{id}?content=full"),
        "/console/agents".to_owned(),
    ] {
        browser.go(&format!("{}{path}", gateway.url()));
        assert_eq!(browser.eval(made), 0, "{path}");
        assert!(
            browser
                .text("document.body.innerText")
                .contains("<b>&lt;agent"),
            "{path}"
        );
    }
    browser.go(&format!("{}/", gateway.url()));
    assert!(
        browser
            .text("document.body.innerText")
            .contains("<script>alert(1)</script>")
    );
    assert!(
        browser
            .text("document.body.innerText")
            .contains("\\u{202e}")
    );
    // By the keys alone.
    for decided in ["a", "d"] {
        // A key that was meant for the last card does not count for the next.
        browser.until("an open ear", "!document.body.dataset.settling");
        browser.press("j");
        browser.press(decided);
        let said = if decided == "a" {
            // What is risky is asked once more.
            browser.until("the question", "document.querySelector('.said.warn')");
            assert_eq!(browser.eval(made), 0);
            browser.click("button.yes");
            "Approved."
        } else {
            "Denied."
        };
        browser.until(
            "the word",
            &format!("document.querySelector('.banner')?.innerText.startsWith('{said}')"),
        );
    }
    let ends = [first.join().unwrap().ok(), second.join().unwrap().is(403)];
    for answer in ends {
        let id = answer.trace_id();
        browser.go(&format!("{}/console/trace/{id}", gateway.url()));
        assert_eq!(browser.eval(made), 0);
        assert!(
            browser
                .text("document.body.innerText")
                .contains("<script>alert(1)</script>")
        );
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_first_start_prints_a_link_that_signs_in_once() {
    let echo = Echo::start();
    let site = Site::new(&echo, ASK);
    let gateway = site.start();
    let printed = |text: &str| {
        let mut words = text.split_whitespace();
        words
            .find(|word| word.contains("/console/login?token="))
            .map(str::to_owned)
    };
    let first = eventually("the link", || printed(&gateway.log()));
    let another = site.provost(&["console", "--url", &gateway.url()]);
    let another = printed(&String::from_utf8_lossy(&another.stdout)).unwrap();
    let mut browser = Browser::start();
    for link in [&first, &another] {
        browser.go(link);
        browser.click("button.primary");
        browser.until("the inbox", "document.querySelector('#list')");
        assert!(!browser.text("location.href").contains("token"));
        browser.click(".who form button");
        browser.until("the sign-in", "document.querySelector('#key')");
    }
    browser.go(&first);
    browser.click("button.primary");
    browser.until(
        "the refusal",
        "document.querySelector('[role=alert]')?.innerText.includes('used already')",
    );
    drop(gateway);
    // Later starts print none where nobody looks.
    let gateway = site.start();
    assert_eq!(printed(&gateway.log()), None);
}

#[test]
fn a_tick_alone_decides_nothing_and_a_lost_gateway_is_told() {
    let echo = Echo::start();
    let site = Site::new(&echo, ASK);
    let gateway = site.start();
    for n in 0..3 {
        gateway.agent().tool_async("gmail.send", json!({"n": n}));
    }
    let mut browser = Browser::start();
    browser.look(1280, 900, "light");
    sign_in(&mut browser, &gateway, ALICE);
    browser.until("the feed", "document.body.dataset.live");
    for card in ["article:nth-of-type(1)", "article:nth-of-type(3)"] {
        browser.click(&format!("{card} .tick input"));
        browser.press("\r");
    }
    assert_eq!(
        browser.text("document.querySelector('#ticked').innerText"),
        "2 ticked:"
    );
    assert_eq!(gateway.alice().pending().len(), 3);
    browser.click("#bulk button[value=deny]");
    browser.until(
        "the word",
        "document.querySelector('.said')?.innerText.startsWith('Denied: 2.')",
    );
    assert_eq!(gateway.alice().pending().len(), 1);
    browser.until("the feed", "document.body.dataset.live");
    gateway.kill();
    browser.until(
        "the note",
        "document.querySelector('#offline').checkVisibility()",
    );
    let shown = browser.eval("document.querySelectorAll('#list article').length");
    assert_eq!(shown, 1);
}

#[test]
fn it_works_without_script() {
    let echo = Echo::start();
    let site = Site::new(&echo, ASK);
    let gateway = site.start();
    let mut browser = Browser::start();
    browser.look(390, 844, "dark");
    sign_in(&mut browser, &gateway, ALICE);
    browser.without_script(true);
    let call = gateway
        .agent()
        .tool_waiting("gmail.send", json!({"id": "plain"}));
    gateway.one_pending();
    browser.go(&format!("{}/", gateway.url()));
    browser.click("article .tick input");
    browser.press("\r");
    browser.until(
        "the refusal",
        "document.body.innerText.includes('Nothing was chosen')",
    );
    browser.go(&format!("{}/", gateway.url()));
    browser.click("article button.yes");
    call.join().unwrap().ok();
    assert_eq!(echo.executions("plain"), 1);
}
