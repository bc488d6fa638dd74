//! The address at which a question can be answered, and who is not heard there.

use hmac::{Hmac, KeyInit as _, Mac as _};
use provost_runner::report::Clock;
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    permissions::chosen,
    script::{asks, step, turn},
    trial::{TOKEN, Trial},
};

const ID: &str = "prompt:permission:1";

/// An answer as it is sent.
struct Post {
    url: String,
    body: String,
    token: &'static str,
    millis: i64,
    nonce: &'static str,
}

impl Post {
    fn signature(&self) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.token.as_bytes()).unwrap();
        mac.update(format!("{}.{}.{}", self.millis, self.nonce, self.body).as_bytes());
        let bytes = mac.finalize().into_bytes();
        let hex: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256={}", hex.concat())
    }

    async fn send(&self) -> u16 {
        self.send_signed(&self.signature()).await
    }

    async fn send_signed(&self, signature: &str) -> u16 {
        let rest = self.url.strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        let head = format!(
            "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\
             x-supervisor-timestamp: {}\r\nx-supervisor-nonce: {}\r\nx-supervisor-signature: {signature}\r\n\r\n",
            self.body.len(),
            self.millis,
            self.nonce,
        );
        let mut stream = TcpStream::connect(host).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(self.body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

/// As the answers to reports have it, and without its wrapping.
#[tokio::test]
async fn the_object_of_the_answers_to_reports_is_taken_at_the_address() {
    let answer = json!({"permissionId": ID, "kind": "allow_once"});
    for body in [json!({ "permission": answer }), answer] {
        let by = json!({"by": "callback", "listen": "127.0.0.1:0", "timeoutSeconds": 30});
        let trial = Trial::new().await.set("permissions", by);
        let trial = trial.prompt(turn(&[asks("a"), step("answers", 1)]));
        let running = trial.start();
        trial.taken(|reports| !reports.is_empty()).await;
        let url = trial.receiver.taken()[0]["answerUrl"].clone();
        let post = Post {
            url: url.as_str().unwrap().to_owned(),
            body: body.to_string(),
            token: TOKEN,
            millis: Clock::system().millis(),
            nonce: "n",
        };
        assert_eq!(post.send().await, 200, "{body}");
        let done = trial.end(running).await;
        assert_eq!(chosen(done.answer("a")).1, "yes");
    }
}

#[tokio::test]
async fn only_a_signed_fresh_and_first_answer_counts() {
    let trial = Trial::new().await;
    let by = json!({"by": "callback", "listen": "127.0.0.1:0", "timeoutSeconds": 30});
    let steps = [
        asks("a"),
        step("answers", 1),
        crate::script::file(&trial.at("go")),
    ];
    let trial = trial.set("permissions", by).prompt(turn(&steps));
    let running = trial.start();
    trial.taken(|reports| !reports.is_empty()).await;
    let url = trial.receiver.taken()[0]["answerUrl"]
        .as_str()
        .unwrap()
        .to_owned();
    let now = Clock::system().millis();
    let says = |what: &Value, nonce| Post {
        url: url.clone(),
        body: what.to_string(),
        token: TOKEN,
        millis: now,
        nonce,
    };
    let no = json!({"permissionId": ID, "optionId": "no"});
    let yes = json!({"permissionId": ID, "optionId": "yes"});

    let stranger = Post {
        token: "guess",
        ..says(&no, "n1")
    };
    assert_eq!(stranger.send().await, 401);
    assert_eq!(says(&no, "n2").send_signed("sha256=00").await, 401);
    assert_eq!(says(&no, "n3").send_signed("nothing").await, 401);
    let other = says(&yes, "n4").signature();
    assert_eq!(says(&no, "n4").send_signed(&other).await, 401);
    for off in [-301_000, 301_000] {
        let stale = Post {
            millis: now + off,
            ..says(&no, "n5")
        };
        assert_eq!(stale.send().await, 401);
    }
    let stale = Post {
        millis: i64::MIN,
        ..says(&no, "n5")
    };
    assert_eq!(stale.send().await, 401);
    assert_eq!(says(&json!({"permissionId": ID}), "n6").send().await, 422);
    assert_eq!(says(&json!([1]), "n7").send().await, 422);
    let unknown = json!({"permissionId": "prompt:permission:9", "optionId": "yes"});
    assert_eq!(says(&unknown, "n8").send().await, 409);
    // A nonce is good once, whatever it brought.
    assert_eq!(says(&yes, "n8").send().await, 401);
    let elsewhere = Post {
        url: url.replace("/permissions", "/other"),
        ..says(&no, "n9")
    };
    assert_eq!(elsewhere.send().await, 404);

    assert_eq!(says(&yes, "n10").send().await, 200);
    assert_eq!(says(&yes, "n10").send().await, 401);
    assert_eq!(says(&no, "n11").send().await, 409);
    std::fs::write(trial.at("go"), "").unwrap();
    let done = trial.end(running).await;
    done.complete("end_turn");
    assert_eq!(
        chosen(done.answer("a")),
        (&json!("selected"), &json!("yes"))
    );
    done.no_journal_of(TOKEN);
}
