//! How the console behaves at hand: focus, keys, zones, arrivals, and asking once more.

use serde_json::{Value, json};

use super::{ASK, sign_in};
use crate::{
    chromium::Browser,
    echo::Echo,
    harness::{ALICE, Gateway, Site},
};

fn scene(rest: impl FnOnce(&Gateway, &mut Browser)) {
    let echo = Echo::start();
    let site = Site::new(
        &echo,
        &format!("{ASK}approval: {{max_pending_per_agent: 200}}\n"),
    );
    let gateway = site.start();
    let mut browser = Browser::start();
    browser.look(1280, 800, "light");
    rest(&gateway, &mut browser);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

fn ask(gateway: &Gateway, tool: &str, arguments: Value) -> String {
    gateway.agent().tool_async(tool, arguments).approval_id()
}

fn status(gateway: &Gateway, id: &str) -> String {
    let found = gateway.admin().get(&format!("/approvals/{id}")).ok().json();
    found["status"].as_str().unwrap().to_owned()
}

#[test]
fn p15_after_a_decision_the_next_card_has_the_focus_and_the_banner_names_the_last() {
    scene(|gateway, browser| {
        let ids: Vec<_> = (0..3)
            .map(|n| ask(gateway, "gmail.send", json!({"n": n})))
            .collect();
        sign_in(browser, gateway, ALICE);
        let icon = "document.querySelector('link[rel=icon]').href";
        browser.until(
            "the badge",
            &format!("decodeURIComponent({icon}).includes('>3<')"),
        );
        browser.click(&format!("#a-{} button.no", ids[0]));
        browser.until("the banner", "document.querySelector('.banner')");
        let focused = "document.activeElement.dataset.id";
        browser.until("the focus", &format!("{focused} === '{}'", ids[1]));
        let said = browser.text("document.querySelector('.banner').innerText");
        assert!(said.contains("Denied. gmail.send for claude"), "{said}");
        assert!(said.contains("{\"n\":0}"), "{said}");
        browser.until(
            "the badge",
            &format!("decodeURIComponent({icon}).includes('>2<')"),
        );
        assert!(browser.text("document.title").starts_with("(2) "));
        // Said once: a reload is a new page.
        browser.eval("location.reload()");
        browser.until(
            "the page anew",
            "document.readyState === 'complete' && !document.querySelector('.banner')",
        );
        // From the page of one, a link leads on and has the focus.
        browser.go(&format!("{}/console/approval/{}", gateway.url(), ids[1]));
        browser.click("button.no");
        browser.until("the link", "document.activeElement.id === 'next'");
        let next = browser.text("document.activeElement.href");
        assert!(next.ends_with(&ids[2]), "{next}");
    });
}

#[test]
fn p15_control_and_enter_send_the_form_that_one_is_in() {
    scene(|gateway, browser| {
        let id = ask(gateway, "gmail.send", json!({"n": 1}));
        sign_in(browser, gateway, ALICE);
        browser.click("article .decide summary");
        browser.click("article textarea");
        browser.type_text("go on");
        // The note does not say which of the choices is meant.
        for _ in 0..2 {
            browser.press_with_control("\r");
            browser.until("the choices", "document.activeElement.value === 'approve'");
        }
        // Nor does Enter that is still down when Control is not.
        browser.eval("window.sent = 0; addEventListener('submit', () => window.sent++)");
        browser.hold("\r");
        assert_eq!(browser.eval("window.sent"), json!(0));
        assert_eq!(status(gateway, &id), "pending");
        browser.press("\r");
        browser.until("the banner", "document.querySelector('.banner')");
        let found = gateway.admin().get(&format!("/approvals/{id}")).ok().json();
        assert_eq!(found["status"], "approved");
        assert_eq!(found["reasoning"], "go on");
        // An edit that is broken keeps what was typed, and the field has the focus.
        let id = ask(gateway, "gmail.send", json!({"n": 2}));
        browser.go(&format!("{}/console/approval/{id}", gateway.url()));
        browser.click("#arguments");
        browser.type_text("broken ");
        browser.press_with_control("\r");
        browser.until("the reason", "document.querySelector('#wrong')");
        browser.until("the field", "document.activeElement.id === 'arguments'");
        assert!(
            browser
                .text("document.querySelector('#arguments').value")
                .contains("broken ")
        );
        assert_eq!(status(gateway, &id), "pending");
    });
}

#[test]
fn p15_times_are_in_the_zone_of_the_reader() {
    scene(|gateway, browser| {
        let id = ask(gateway, "gmail.send", json!({"n": 1}));
        browser.zone("Asia/Tokyo");
        sign_in(browser, gateway, ALICE);
        browser.go(&format!("{}/console/approval/{id}", gateway.url()));
        let same = "(() => { const at = document.querySelector('time.clock'); const time = new Date(at.getAttribute('datetime'));
            const tokyo = new Intl.DateTimeFormat(undefined, {dateStyle: 'medium', timeStyle: 'medium', timeZone: 'Asia/Tokyo'});
            return at.textContent === tokyo.format(time) && at.title.endsWith(' UTC)'); })()";
        browser.until("the zone", same);
        // What is filtered by is meant in that zone, too.
        browser.go(&format!(
            "{}/console/traces?since=2026-01-01T00%3A00%3A00",
            gateway.url()
        ));
        let since = "document.querySelector('[name=since]')";
        browser.until(
            "the filter",
            &format!("{since}.value.startsWith('2026-01-01T09:00')"),
        );
        browser.eval(&format!("{since}.form.requestSubmit()"));
        browser.until(
            "the address",
            "location.search.includes('since=2026-01-01T00%3A00%3A00')",
        );
        browser.without_script(true);
        browser.go(&format!("{}/console/approval/{id}", gateway.url()));
        browser.without_script(false);
        assert!(
            browser
                .text("document.querySelector('time.clock').textContent")
                .ends_with(" UTC")
        );
    });
}

#[test]
fn p15_new_arrivals_are_noticed_by_those_who_want_it() {
    scene(|gateway, browser| {
        sign_in(browser, gateway, ALICE);
        let stub = "window.notes = []; window.tones = 0;
            window.Notification = class { constructor(title) { notes.push(title); } close() {}
                static permission = 'granted'; static requestPermission() { return Promise.resolve('granted'); } };
            const node = () => ({connect: node, frequency: {}, gain: {setValueAtTime() {}, exponentialRampToValueAtTime() {}}, start() { tones += 1; }, stop() {}});
            window.AudioContext = class { currentTime = 0; destination = null; resume() {} createOscillator() { return node(); } createGain() { return node(); } };
            Object.defineProperty(document, 'hidden', {get: () => true});";
        browser.eval(stub);
        browser.until("the feed", "document.body.dataset.live");
        ask(gateway, "gmail.send", json!({"n": 1}));
        browser.until(
            "one",
            "document.querySelectorAll('#list article').length === 1",
        );
        assert_eq!(
            browser.eval("notes.length + tones"),
            0,
            "nobody asked for it"
        );
        browser.click(".notices summary");
        browser.click("#sound");
        browser.click("#notify");
        browser.until(
            "the wish",
            "localStorage.getItem('provost.notify') === 'yes'",
        );
        assert_eq!(browser.text("localStorage.getItem('provost.sound')"), "yes");
        let tones = browser.eval("tones").as_u64().unwrap();
        ask(gateway, "gmail.send", json!({"n": 2}));
        browser.until("a notification", "notes.length === 1");
        assert_eq!(browser.text("notes[0]"), "gmail.send for claude");
        assert!(browser.eval("tones").as_u64().unwrap() > tones);
        browser.eval("location.reload()");
        browser.until(
            "what was remembered",
            "document.readyState === 'complete' && document.querySelector('#sound').checked",
        );
    });
}

#[test]
fn p15_the_pages_fit_in_one_row_on_a_phone() {
    scene(|gateway, browser| {
        for n in 0..120 {
            ask(gateway, "gmail.send", json!({"n": n}));
        }
        sign_in(browser, gateway, &gateway.admin_key);
        for width in [320, 360, 390] {
            browser.look(width, 740, "light");
            for path in ["/", "/console/agents"] {
                browser.go(&format!("{}{path}", gateway.url()));
                let rows = "new Set(Array.from(document.querySelectorAll('header nav > *')).filter(e => e.checkVisibility())
                    .map(e => Math.round(e.getBoundingClientRect().top))).size";
                assert_eq!(browser.eval(rows), 1, "{width} {path}");
                let inside = "Array.from(document.querySelectorAll('header nav > *')).every(e => e.getBoundingClientRect().right <= innerWidth)
                    && document.documentElement.scrollWidth <= innerWidth";
                assert_eq!(browser.eval(inside), true, "{width} {path}");
                // The rest is behind a menu.
                browser.click("nav .others summary");
                let menu = "Array.from(document.querySelectorAll('nav .others a')).every(e => { const r = e.getBoundingClientRect();
                    return e.checkVisibility() && r.left >= 0 && r.right <= innerWidth && r.height >= 40; })";
                assert_eq!(browser.eval(menu), true, "{width} {path}");
            }
        }
    });
}

#[test]
fn p15_a_command_is_reached_and_scrolled_by_the_keyboard() {
    scene(|gateway, browser| {
        let steps: Vec<_> = (0..60).map(|n| format!("echo {n}")).collect();
        let id = ask(gateway, "held.call", json!({"command": steps.join("\n")}));
        sign_in(browser, gateway, ALICE);
        for path in ["/".to_owned(), format!("/console/approval/{id}?whole=1")] {
            browser.go(&format!("{}{path}", gateway.url()));
            let boxes = "Array.from(document.querySelectorAll('main *')).filter(e => e.scrollHeight > e.clientHeight + 1
                && ['auto', 'scroll'].includes(getComputedStyle(e).overflowY) && e.localName !== 'textarea').length";
            assert_eq!(
                browser.eval(boxes),
                0,
                "nothing hides its end in a box: {path}"
            );
            assert_eq!(browser.eval("document.querySelector('.steps').tabIndex"), 0);
            let name = browser.text("document.querySelector('.steps').getAttribute('aria-label')");
            assert!(!name.is_empty());
            browser.eval("document.querySelector('.steps').focus({focusVisible: true})");
            assert_ne!(
                browser.text("getComputedStyle(document.activeElement).outlineStyle"),
                "none"
            );
        }
    });
}

#[test]
fn p14_without_a_script_folds_open_and_what_is_risky_is_asked_once_more() {
    scene(|gateway, browser| {
        let command = format!("{}rm -rf /srv/x", "echo y\n".repeat(30));
        let id = ask(gateway, "held.call", json!({"command": command}));
        sign_in(browser, gateway, ALICE);
        browser.without_script(true);
        browser.go(&format!("{}/", gateway.url()));
        let shown = "Array.from(document.querySelectorAll('article .command li')).filter(e => e.checkVisibility()).length";
        let before = browser.eval(shown).as_u64().unwrap();
        assert!(before < 12, "{before}");
        let risky = "document.querySelector('article .risky').checkVisibility()";
        assert_eq!(browser.eval(risky), true);
        browser.click("article .fold summary");
        assert_eq!(browser.eval(shown).as_u64().unwrap(), 31);
        browser.click("article button.yes");
        browser.until(
            "the question",
            "document.body.innerText.includes('Nothing is decided yet')",
        );
        assert_eq!(status(gateway, &id), "pending");
        browser.click("button.yes");
        browser.until("the banner", "document.querySelector('.banner')");
        assert_eq!(status(gateway, &id), "approved");
    });
}

#[test]
fn p15_who_is_asked_once_more_is_at_the_head_of_the_page() {
    scene(|gateway, browser| {
        for n in 0..2 {
            ask(gateway, "held.call", json!({"command": "rm -rf x", "n": n}));
        }
        sign_in(browser, gateway, ALICE);
        for act in [
            "document.querySelector('article button.yes').click()",
            "for (const tick of document.querySelectorAll('#list input[type=checkbox]')) tick.click(); document.querySelector('#bulk button[value=approve]').click()",
        ] {
            browser.go(&format!("{}/", gateway.url()));
            browser.eval(act);
            browser.until("the question", "document.querySelector('.said.warn')");
            browser.until("the focus", "document.activeElement.localName === 'h1'");
        }
    });
}

#[test]
fn p15_the_end_of_a_permission_is_in_the_zone_of_the_reader() {
    scene(|gateway, browser| {
        ask(gateway, "gmail.send", json!({"n": 1}));
        browser.zone("America/New_York");
        sign_in(browser, gateway, ALICE);
        browser.click("article .decide summary");
        browser.click("article button[value=always]");
        let same = |place: &str| {
            format!("(() => {{ const at = document.querySelector('{place} time.clock'); const time = new Date(at.getAttribute('datetime'));
                const there = new Intl.DateTimeFormat(undefined, {{dateStyle: 'medium', timeStyle: 'medium', timeZone: 'America/New_York'}});
                return at.textContent === there.format(time); }})()")
        };
        browser.until("the banner", "document.querySelector('.banner time')");
        browser.until("the zone", &same(".banner"));
        browser.click(".banner a");
        browser.until("the end", "document.querySelector('.end time.clock')");
        browser.until("the zone", &same(".end"));
    });
}
