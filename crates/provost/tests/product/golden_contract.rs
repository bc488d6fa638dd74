//! The golden contract of the approval gate, row by row, over HTTP; and what its first implementation got wrong.

use serde_json::{Value, json};

use crate::{
    harness::{Gateway, Site, eventually},
    http::{Answer, Client},
};

const CONFIG: &str = "listen: 127.0.0.1:0
data: data
auth:
  keys:
    - {name: keyed, role: agent, key: agent-secret-0123456789}
    - {name: other, role: agent, key: other-secret-0123456789}
    - {name: forwarder, role: inbox, key: inbox-secret-0123456789}
    - {name: alice, role: human, key: alice-secret-0123456789}
channels:
  telegram: {token: '1:abc', api_url: 'http://127.0.0.1:9', allow: [42]}
  email: {smtp: 'smtp://127.0.0.1:9', from: 'Provost <gate@example.org>'}
";
const AGENT: &str = "agent-secret-0123456789";
const OTHER: &str = "other-secret-0123456789";
const INBOX: &str = "inbox-secret-0123456789";
const TARGET: &str = "you@domain.com";

struct Gate {
    gateway: Gateway,
    site: Site,
}

impl Gate {
    fn open() -> Self {
        let site = Site::empty();
        site.configure(CONFIG);
        Self {
            gateway: site.start(),
            site,
        }
    }

    fn agent(&self) -> Client {
        self.gateway.client().key(AGENT)
    }

    fn create(&self, changes: Value) -> Answer {
        self.agent().post("/v1/approvals", &request(changes))
    }

    /// Creates one that waits.
    #[track_caller]
    fn pending(&self, changes: Value) -> String {
        let made = self.create(changes).ok().json();
        assert_eq!(made["status"], "pending", "{made}");
        made["approval_id"].as_str().unwrap().to_owned()
    }

    fn reply(&self, id: &str, body: &str) -> Answer {
        let mail = json!({"subject": format!("Run command [{id}]"), "body": body});
        let forwarder = self.gateway.client().key(INBOX);
        forwarder.post("/v1/inbox/email-reply", &mail)
    }

    fn status(&self, id: &str) -> Value {
        self.agent().get(&format!("/v1/approvals/{id}")).ok().json()
    }
}

/// Each with a title of its own, so that no two are the same request.
fn request(changes: Value) -> Value {
    let mut request = json!({
        "session_id": "sess_123",
        "action_type": "exec_cmd",
        "title": "Run command",
        "preview": "rm -rf ./build && npm run build",
        "channel": "email",
        "target": {"email_to": TARGET},
        "expires_in_sec": 600,
    });
    for (name, value) in changes.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

#[test]
fn missing_or_bad_key_is_401() {
    let gate = Gate::open();
    let body = request(json!({}));
    let nobody = gate.gateway.client();
    for caller in [&nobody, &nobody.key("wrong"), &nobody.agent("claude")] {
        caller
            .post("/v1/approvals", &body)
            .refused(401, "unauthorized");
        caller
            .get("/v1/approvals/appr_1")
            .refused(401, "unauthorized");
        caller
            .delete("/v1/allow-rules/1")
            .refused(401, "unauthorized");
        caller
            .post("/v1/inbox/email-reply", &json!({}))
            .refused(401, "unauthorized");
    }
}

#[test]
fn create_answers_200_with_the_shape_of_the_seed() {
    let gate = Gate::open();
    let made = gate.create(json!({})).ok().json();
    let id = made["approval_id"].as_str().unwrap();
    let digits = id.strip_prefix("appr_").unwrap();
    assert!(
        digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        "{id}"
    );
    assert_eq!(made["auto"], false);
    assert_eq!(made["decision"], Value::Null, "absent fields are null");
    assert!(made.as_object().unwrap().contains_key("decision"));
    assert!(made["expires_at"].as_i64().unwrap() > 1_700_000_000);

    let status = gate.status(id);
    assert_eq!(status["status"], "pending");
    assert_eq!(status["expires_at"], made["expires_at"]);
    assert_eq!(status["session_id"], "sess_123");
    assert_eq!(status["action_type"], "exec_cmd");

    let usual = gate
        .create(json!({"title": "b", "expires_in_sec": null}))
        .ok()
        .json();
    let lasts = usual["expires_at"].as_i64().unwrap() - usual["created_at"].as_i64().unwrap();
    assert_eq!(lasts, 3600);
}

#[test]
fn another_clients_approval_is_404_and_another_clients_reply_is_403() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    let other = gate.gateway.client().key(OTHER);
    other
        .get(&format!("/v1/approvals/{id}"))
        .refused(404, "not_found");
    gate.agent()
        .get("/v1/approvals/appr_nobody")
        .refused(404, "not_found");
    let mail = json!({"subject": format!("[{id}]"), "body": "1"});
    for agent in [other, gate.agent()] {
        agent
            .post("/v1/inbox/email-reply", &mail)
            .refused(403, "forbidden");
    }
    assert_eq!(
        gate.status(&id)["status"],
        "pending",
        "the requester never approves"
    );
}

#[test]
fn each_code_decides_as_the_menu_says() {
    let gate = Gate::open();
    for (at, (body, status, code, note, over)) in [
        ("1", "approved", "1", Value::Null, Value::Null),
        ("2", "approved", "2", Value::Null, Value::Null),
        ("3", "denied", "3", Value::Null, Value::Null),
        (
            "3 too risky",
            "denied",
            "3",
            json!("too risky"),
            Value::Null,
        ),
        (
            "4 add logs\n\nOn Tue, Jan 1 Bob wrote:\n> 5 rm",
            "approved",
            "4",
            json!("add logs"),
            Value::Null,
        ),
        (
            "5 npm test",
            "approved",
            "5",
            Value::Null,
            json!("npm test"),
        ),
        ("6", "approved", "6", Value::Null, Value::Null),
    ]
    .into_iter()
    .enumerate()
    {
        let own = json!({"action_type": format!("custom:{at}"), "session_id": format!("s{at}")});
        let id = gate.pending(own);
        gate.reply(&id, body).ok();
        let seen = gate.status(&id);
        assert_eq!(seen["status"], status, "{body}");
        assert_eq!(seen["decision"]["code"], code, "{body}");
        assert_eq!(seen["decision"]["note"], note, "{body}");
        assert_eq!(seen["decision"]["override"], over, "{body}");
        assert_eq!(seen["auto"], false, "{body}");
        assert_eq!(
            seen["decision"]["decided_by"],
            format!("human:email:{TARGET}")
        );
    }
}

#[test]
fn unclear_replies_are_422_and_change_nothing() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    for (body, code, message) in [
        ("4", "payload_required", "payload required"),
        ("5  ", "payload_required", "payload required"),
        ("9", "invalid_code", "invalid code"),
        ("yes please", "invalid_code", "invalid code"),
        ("", "invalid_code", "invalid code"),
        ("> 1", "invalid_code", "invalid code"),
    ] {
        let answer = gate.reply(&id, body);
        answer.refused(422, code);
        assert!(
            String::from_utf8_lossy(&answer.body).contains(message),
            "{body}"
        );
    }
    let forwarder = gate.gateway.client().key(INBOX);
    let lost = json!({"subject": "Re: hello", "body": "1"});
    let answer = forwarder.post("/v1/inbox/email-reply", &lost);
    answer.refused(422, "approval_id_not_found");
    assert_eq!(gate.status(&id)["status"], "pending");
}

/// A narrowing of the seed, on purpose: text behind 1, 2 and 6 was a note.
#[test]
fn p13_a_sentence_that_begins_with_a_number_is_422_and_changes_nothing() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    for body in [
        "6 PM would be better",
        "2 minutes please",
        "1 question first: what does it delete?",
        "1 but not on prod",
        "4 PM would be better",
        "5 Nov",
        "4 days?",
        "5 % of them",
        "1\n3",
        "1\n\n> quoted\n\n3 no",
        "1 Anhang",
        "3 Anhänge",
        "3 Nov 2026",
        "3 de noviembre de\n2026 a las 10:00, Gate <gate@example.org>\nescribió:\n1",
        "CAUTION: external e-mail\n\n6 PM would be better",
    ] {
        gate.reply(&id, body).refused(422, "invalid_code");
    }
    gate.reply(&id, "5 npm ci\nnpm test")
        .refused(422, "payload_required");
    for body in [
        "4: übermorgen",
        "4: 取消",
        "4: let's discuss",
        "4 add risk",
        "1\nI changed my mind, take 3 please, thank you",
        "1\nNovember 2026 10:00, Gate <gate@example.org>:\nhello",
    ] {
        gate.reply(&id, body).refused(422, "invalid_code");
    }
    for body in ["5: nächste Woche", "5 - end of day", "5: abbrechen"] {
        let answer = gate.reply(&id, body);
        answer.refused(422, "unfit");
        let said = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(said.contains("send `5 yes: "), "{said}");
    }
    assert_eq!(gate.status(&id)["status"], "pending");
    let address = "4 keep the logs\nBob Smith\nACME\n5 Main Street";
    gate.reply(&id, address).refused(422, "invalid_code");
    let absent = json!({"subject": format!("Automatic reply: x [{id}]"), "body": "3 weeks off"});
    let forwarder = gate.gateway.client().key(INBOX);
    forwarder
        .post("/v1/inbox/email-reply", &absent)
        .refused(422, "automatic_reply");
    let banner = "CAUTION: external e-mail\n\n4 keep the logs\nBob Smith\nACME\n-- \n5 Main Street";
    gate.reply(&id, banner).ok();
    assert_eq!(gate.status(&id)["decision"]["note"], "keep the logs");
}

#[test]
fn p13_a_yes_before_the_text_makes_it_clear() {
    let gate = Gate::open();
    for (body, code, text) in [
        ("4: use staging", "4", "use staging"),
        ("4 yes: Logs behalten", "4", "Logs behalten"),
        ("5: npm run lint", "5", "npm run lint"),
        ("5: dry-run only", "5", "dry-run only"),
        ("5 yes: nur der Test", "5", "nur der Test"),
    ] {
        let id = gate.pending(json!({}));
        gate.reply(&id, body).ok();
        let decision = &gate.status(&id)["decision"];
        let field = if code == "4" { "note" } else { "override" };
        assert_eq!(decision["code"], code, "{body}");
        assert_eq!(decision[field], text, "{body}");
    }
}

#[test]
fn p13_addresses_compare_without_case() {
    let gate = Gate::open();
    let id = gate.pending(json!({"target": {"email_to": "You.There@Domain.com"}}));
    let mail = json!({"subject": format!("[{id}]"), "body": "1", "from": "you.there@DOMAIN.COM"});
    let forwarder = gate.gateway.client().key(INBOX);
    forwarder.post("/v1/inbox/email-reply", &mail).ok();
    let seen = gate.status(&id);
    assert_eq!(
        seen["decision"]["decided_by"],
        "human:email:you.there@domain.com"
    );
}

/// Who sent it is read as in a mail, and the approval is named whole.
#[test]
fn a_forwarded_reply_is_from_whom_it_was_sent_to() {
    let gate = Gate::open();
    let long = "a.name.that.is.quite.a.bit.longer@domain.com";
    let id = gate.pending(json!({"target": {"email_to": long}}));
    let reply = |id: &str, from: &str| {
        let mail = json!({"subject": format!("[{id}]"), "body": "1", "from": from});
        let forwarder = gate.gateway.client().key(INBOX);
        forwarder.post("/v1/inbox/email-reply", &mail)
    };
    for from in [
        "",
        TARGET,
        "\"a.name.that.is.quite.a.bit.longer@domain.com\" <me@evil.example>",
        "a.name.that.is.quite.a.bit.longer@domain.com, me@evil.example",
    ] {
        reply(&id, from).refused(403, "forbidden");
    }
    let (beginning, _) = id.split_at(id.len() - 2);
    reply(beginning, long).refused(404, "not_found");
    assert_eq!(gate.status(&id)["status"], "pending");
    reply(&id, &format!("Somebody <{long}>")).ok();
}

#[test]
fn a_second_decision_is_409_with_the_first() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    gate.reply(&id, "1").ok();
    let answer = gate.reply(&id, "3");
    answer.refused(409, "already_resolved");
    assert_eq!(answer.json()["decision"]["code"], "1");
    assert_eq!(gate.status(&id)["status"], "approved");
}

#[test]
fn a_decision_after_expiry_is_410_and_then_it_is_expired() {
    let gate = Gate::open();
    let id = gate.pending(json!({"expires_in_sec": 1}));
    let seen = gate
        .agent()
        .get(&format!("/v1/approvals/{id}?wait=30s"))
        .ok()
        .json();
    assert_eq!(seen["status"], "expired");
    gate.reply(&id, "1").refused(410, "expired");
    assert_eq!(gate.status(&id)["status"], "expired");
    assert_eq!(gate.status(&id)["decision"], Value::Null);
}

#[test]
fn session_allows_and_rules_answer_at_once_until_they_are_revoked() {
    let gate = Gate::open();
    for (code, list, same, other) in [
        (
            "2",
            "session-allows",
            json!({"title": "again"}),
            json!({"session_id": "else"}),
        ),
        (
            "6",
            "allow-rules",
            json!({"session_id": "else"}),
            json!({"action_type": "write_file"}),
        ),
    ] {
        let kind = json!({"action_type": format!("custom:{code}")});
        let with = |more: &Value| {
            let mut all = kind.clone();
            all.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            all
        };
        let waiting = gate.pending(with(&json!({"title": "waits already"})));
        let id = gate.pending(with(&json!({})));
        let decided = gate.reply(&id, code).ok().json();
        let rule = decided["decision"]["rule_id"].as_str().unwrap().to_owned();
        let released = eventually("what waited and matches", || {
            Some(gate.status(&waiting)).filter(|seen| seen["status"] == "approved")
        });
        assert_eq!(released["auto"], true);

        let auto = gate.create(with(&same)).ok().json();
        assert_eq!(
            (&auto["status"], &auto["auto"]),
            (&json!("approved"), &json!(true))
        );
        assert_eq!(auto["decision"]["code"], code);
        assert_eq!(auto["allow_rule_applied"], rule);
        let seen = gate.status(auto["approval_id"].as_str().unwrap());
        assert_eq!(
            (&seen["status"], &seen["auto"]),
            (&json!("approved"), &json!(true))
        );
        assert_eq!(gate.create(with(&other)).ok().json()["status"], "pending");

        let path = format!("/v1/{list}");
        let rules = gate.agent().get(&path).ok().json();
        let found = rules
            .as_array()
            .unwrap()
            .iter()
            .find(|found| found["rule_id"] == rule);
        let found = found.unwrap_or_else(|| panic!("{rules}"));
        assert_eq!(found["action_type"], kind["action_type"]);
        assert_eq!(found["client_id"].as_str().unwrap().len(), 12);
        let foreign = gate.gateway.client().key(OTHER);
        assert_eq!(foreign.get(&path).ok().json(), json!([]));
        foreign
            .delete(&format!("{path}/{rule}"))
            .refused(404, "not_found");
        gate.agent().delete(&format!("{path}/{rule}")).ok();
        gate.agent()
            .delete(&format!("{path}/{rule}"))
            .refused(404, "not_found");
        assert_eq!(gate.create(with(&same)).ok().json()["status"], "pending");
    }
    gate.agent()
        .delete("/v1/allow-rules/nobody")
        .refused(404, "not_found");
}

#[test]
fn what_does_not_make_sense_is_422() {
    let gate = Gate::open();
    for (changes, code) in [
        (json!({"channel": "pigeon"}), "bad_channel"),
        (json!({"channel": null}), "missing_field"),
        (json!({"target": null}), "missing_target"),
        (json!({"target": {}}), "missing_target"),
        (
            json!({"target": {"email_to": "a@b.c\r\nBcc: d@e.f"}}),
            "missing_target",
        ),
        (json!({"channel": "telegram"}), "missing_target"),
        (json!({"expires_in_sec": 0}), "bad_expiry"),
        (json!({"expires_in_sec": -5}), "bad_expiry"),
        (json!({"expires_in_sec": "soon"}), "bad_expiry"),
        (json!({"title": 7}), "wrong_type"),
        (json!({"action_type": ""}), "bad_name"),
        (json!({"action_type": null}), "missing_field"),
        (
            json!({"callback_url": "ftp://example.org"}),
            "bad_callback_url",
        ),
    ] {
        let answer = gate.create(changes.clone());
        assert_eq!(
            answer.status,
            422,
            "{changes}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        answer.refused(422, code);
    }
    for target in [json!(123_456_789), json!("123456789")] {
        let telegram = json!({"channel": "telegram", "target": {"tg_chat_id": target}});
        assert_eq!(gate.create(telegram).ok().json()["status"], "pending");
    }
    assert!(
        gate.gateway.alice().pending().len() == 1,
        "the same request asks once"
    );
}

#[test]
fn a_channel_that_is_not_configured_is_422_and_says_so() {
    let site = Site::empty();
    site.configure(CONFIG.split("channels:").next().unwrap());
    let gateway = site.start();
    let answer = gateway
        .client()
        .key(AGENT)
        .post("/v1/approvals", &request(json!({})));
    answer.refused(422, "channel_not_configured");
    assert!(String::from_utf8_lossy(&answer.body).contains("channels.email"));
}

#[test]
fn one_idempotency_key_is_one_approval() {
    let gate = Gate::open();
    let agent = gate.agent().with("idempotency-key", "k1");
    let first = agent.post("/v1/approvals", &request(json!({}))).ok().json();
    let again = agent.post("/v1/approvals", &request(json!({}))).ok().json();
    assert_eq!(first["approval_id"], again["approval_id"]);
    let id = first["approval_id"].as_str().unwrap();
    gate.reply(id, "1").ok();
    let later = agent.post("/v1/approvals", &request(json!({}))).ok().json();
    assert_eq!(
        later["approval_id"], first["approval_id"],
        "also once it is decided"
    );
    assert_eq!(later["status"], "approved");
    agent
        .post("/v1/approvals", &request(json!({"preview": "other"})))
        .refused(422, "idempotency_key_reused");
}

#[test]
fn the_same_request_is_asked_once_and_a_denial_is_not_forgotten() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    let again = gate.create(json!({})).ok().json();
    assert_eq!(again["approval_id"], id);
    assert_eq!(again["asked"], 2);
    gate.reply(&id, "3").ok();
    let next = gate.pending(json!({}));
    assert_ne!(next, id);
    let shown = gate
        .gateway
        .alice()
        .get(&format!("/approvals/{next}"))
        .ok()
        .json();
    assert!(
        shown["denied_before"].is_string() || shown["denied_before"].is_number(),
        "{shown}"
    );
}

#[test]
fn an_approval_is_seen_and_decided_among_all_others() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    let shown = gate.gateway.one_pending();
    assert_eq!(shown["id"], id);
    assert_eq!(
        (&shown["kind"], &shown["level"]),
        (&json!("permission"), &json!("human"))
    );
    gate.gateway.alice().approve(&id).ok();
    let seen = gate.status(&id);
    assert_eq!(seen["status"], "approved");
    assert_eq!(seen["decision"]["code"], "1");
    assert_eq!(seen["decision"]["decided_by"], "human:alice");
    gate.reply(&id, "3").refused(409, "already_resolved");
}

#[test]
fn a_mail_from_somebody_else_decides_nothing() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    let forwarder = gate.gateway.client().key(INBOX);
    let mail = |more: Value| {
        let mut mail = json!({"subject": format!("[{id}]"), "body": "1"});
        mail.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        forwarder.post("/v1/inbox/email-reply", &mail)
    };
    for wrong in [
        json!({"from": "mallory@domain.com"}),
        json!({"from": TARGET, "message_id": "<somebody@elsewhere>"}),
        json!({"from": "you@domain.com <mallory@domain.com>"}),
    ] {
        mail(wrong.clone()).refused(403, "forbidden");
    }
    assert_eq!(gate.status(&id)["status"], "pending");
    let telegram = json!({"channel": "telegram", "target": {"tg_chat_id": 42}});
    let elsewhere = gate.pending(telegram);
    gate.reply(&elsewhere, "1").refused(403, "forbidden");
    mail(json!({"from": "The Boss <you@DOMAIN.com>"})).ok();
    assert_eq!(gate.status(&id)["status"], "approved");
}

#[test]
fn a_forwarder_may_do_nothing_else() {
    let gate = Gate::open();
    let id = gate.pending(json!({}));
    let forwarder = gate.gateway.client().key(INBOX);
    for answer in [
        forwarder.get("/approvals"),
        forwarder.approve(&id),
        forwarder.get(&format!("/v1/approvals/{id}")),
        forwarder.post("/v1/approvals", &request(json!({}))),
        forwarder.get("/v1/allow-rules"),
        forwarder.get("/tools"),
        forwarder.get("/grants"),
        forwarder.tool("any.tool", json!({})),
    ] {
        answer.refused(403, "forbidden");
    }
}

#[test]
fn a_forwarders_key_is_made_by_a_command() {
    let gate = Gate::open();
    let (site, url) = (&gate.site, gate.gateway.url());
    let help = site.provost(&["keys", "create", "--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("- inbox:"));
    let create = [
        "keys", "create", "--role", "inbox", "service", "--url", &url,
    ];
    let made = site.provost(&create);
    assert!(made.status.success(), "{made:?}");
    let key = String::from_utf8(made.stdout).unwrap();
    let id = gate.pending(json!({}));
    let mail = json!({"subject": format!("[{id}]"), "body": "1", "from": TARGET});
    let service = gate.gateway.client().key(key.trim());
    service.get("/approvals").refused(403, "forbidden");
    service.post("/v1/inbox/email-reply", &mail).ok();
    assert_eq!(gate.status(&id)["status"], "approved");
}
