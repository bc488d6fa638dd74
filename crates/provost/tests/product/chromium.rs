//! A real browser: Chromium without a window, driven by its DevTools protocol over a pipe. It clicks where
//! things are and types what it is told, as a person does.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::eventually;

const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// What was asked led to another page, or the page was left meanwhile: nothing is known of it.
const LEFT: &str = "Inspected target navigated or closed";
const PATIENCE: Duration = Duration::from_mins(1);

/// A browser with one page. It dies with this value.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    answers: mpsc::Receiver<Value>,
    /// What the page complained about, and what it asked.
    complaints: Arc<Mutex<Vec<String>>>,
    session: Option<String>,
    count: u64,
    _profile: TempDir,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let profile = TempDir::new().unwrap();
        let mut child = launch(profile.path());
        let to = child.stdin.take().unwrap();
        let from = BufReader::new(child.stdout.take().unwrap());
        let complaints = Arc::<Mutex<Vec<String>>>::default();
        let (told, answers) = mpsc::channel();
        let heard = complaints.clone();
        thread::spawn(move || {
            for message in from.split(0).map_while(Result::ok) {
                let message: Value = serde_json::from_slice(&message).unwrap();
                if message.get("id").is_some() {
                    let _ = told.send(message);
                } else if let Some(complaint) = complaint(&message) {
                    heard.lock().unwrap().push(complaint);
                }
            }
        });
        let mut browser = Self {
            child,
            to,
            answers,
            complaints,
            session: None,
            count: 0,
            _profile: profile,
        };
        browser.open_page();
        browser
    }

    fn open_page(&mut self) {
        let target = self.send("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.send("Target.attachToTarget", attach);
        self.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            self.send(&format!("{domain}.enable"), json!({}));
        }
    }

    fn send(&mut self, method: &str, params: Value) -> Value {
        self.count += 1;
        let mut message = json!({"id": self.count, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        self.to.flush().unwrap();
        loop {
            let answer = self
                .answers
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|error| panic!("{method}: {error}"));
            if answer["id"] == self.count {
                if answer["error"]["message"] == LEFT {
                    return Value::Null;
                }
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// As large as a phone or a desk, light or dark.
    pub(crate) fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.send("Emulation.setDeviceMetricsOverride", metrics);
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.send("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    pub(crate) fn go(&mut self, url: &str) {
        let went = self.send("Page.navigate", json!({"url": url}));
        assert!(went.get("errorText").is_none(), "{url}: {went}");
        // The page that is left may be asked once more, and is complete as well.
        eventually("the page", || {
            let tree = self.send("Page.getFrameTree", json!({}));
            (tree["frameTree"]["frame"]["loaderId"] == went["loaderId"]).then_some(())
        });
        self.until("the page", "document.readyState === 'complete'");
    }

    /// The value of an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.send("Runtime.evaluate", params);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, expression: &str) {
        // While a page is left, there is none to ask.
        let guarded = format!("Boolean({expression})");
        eventually(what, || {
            let params = json!({"expression": guarded, "returnByValue": true});
            let result = self.send("Runtime.evaluate", params);
            (result["result"]["value"] == true).then_some(())
        });
    }

    /// Presses the middle of an element, which must be there to be seen.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        // Before a page is painted, Chromium drops what is pressed.
        self.until(
            "a painted page",
            "document.readyState === 'complete' && performance.getEntriesByType('paint').length > 0",
        );
        let place = format!(
            "(() => {{ const e = document.querySelector({selector:?}); if (!e) return null;
             e.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = e.getBoundingClientRect();
             const [x, y] = [r.x + r.width / 2, r.y + r.height / 2];
             const top = document.elementFromPoint(x, y);
             return e === top || e.contains(top) || top?.contains(e) ? [x, y] : null; }})()"
        );
        let place = self.eval(&place);
        assert!(place.is_array(), "`{selector}` cannot be pressed");
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1});
            self.send("Input.dispatchMouseEvent", event);
        }
    }

    /// Into whatever has the focus.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.send("Input.insertText", json!({"text": text}));
    }

    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let name = if key == "\r" { "Enter" } else { key };
            let event = json!({"type": kind, "key": name, "text": key});
            self.send("Input.dispatchKeyEvent", event);
        }
    }

    pub(crate) fn press_with_control(&mut self, key: &str) {
        const CONTROL: u8 = 2;
        for kind in ["rawKeyDown", "keyUp"] {
            let name = if key == "\r" { "Enter" } else { key };
            let event = json!({"type": kind, "key": name, "modifiers": CONTROL});
            self.send("Input.dispatchKeyEvent", event);
        }
    }

    /// A key that was down before goes on, and is let go.
    pub(crate) fn hold(&mut self, key: &str) {
        let name = if key == "\r" { "Enter" } else { key };
        for kind in ["keyDown", "keyDown", "keyUp"] {
            let event =
                json!({"type": kind, "key": name, "text": key, "autoRepeat": kind == "keyDown"});
            self.send("Input.dispatchKeyEvent", event);
        }
    }

    /// As if the reader were there.
    pub(crate) fn zone(&mut self, zone: &str) {
        self.send("Emulation.setTimezoneOverride", json!({"timezoneId": zone}));
    }

    pub(crate) fn without_script(&mut self, without: bool) {
        let params = json!({"value": without});
        self.send("Emulation.setScriptExecutionDisabled", params);
    }

    pub(crate) fn screenshot(&mut self, path: &Path) {
        let params = json!({"format": "png", "captureBeyondViewport": true});
        let shot = self.send("Page.captureScreenshot", params);
        let bytes = STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Whatever the page complained about or asked since it was last looked at.
    pub(crate) fn complaints(&self) -> Vec<String> {
        std::mem::take(&mut *self.complaints.lock().unwrap())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The browser reads its orders from the descriptor 3 and writes to 4.
fn launch(profile: &Path) -> Child {
    let program = PROGRAMS
        .into_iter()
        .find(|program| {
            let found = Command::new(program).arg("--version").output();
            found.is_ok_and(|output| output.status.success())
        })
        .expect("this test needs chromium: run ./test.sh, which installs it");
    let command = format!(
        "exec {program} --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
         --disable-background-networking --disable-component-update --hide-scrollbars \
         --remote-debugging-pipe --user-data-dir=\"$0\" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1"
    );
    Command::new("sh")
        .args(["-c", &command])
        .arg(profile)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn complaint(message: &Value) -> Option<String> {
    let params = &message["params"];
    match message["method"].as_str()? {
        "Page.javascriptDialogOpening" => Some(format!("a dialog: {params}")),
        "Runtime.exceptionThrown" => Some(format!("an exception: {params}")),
        // Answers other than 2xx are the test's to judge, and what a browser merely mentions is no complaint.
        "Log.entryAdded"
            if params["entry"]["source"] != "network" && params["entry"]["level"] != "info" =>
        {
            Some(format!("a message: {params}"))
        }
        _ => None,
    }
}
