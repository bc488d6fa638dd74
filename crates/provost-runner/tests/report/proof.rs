//! What a careful receiver checks of each request, written from the contract and not from the reporter.

use std::collections::{HashMap, HashSet};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, value::RawValue};
use sha2::Sha256;

pub(crate) type Headers = HashMap<String, String>;

const WINDOW_MILLIS: i64 = 5 * 60 * 1000;

/// What it remembers of the requests before.
pub(crate) struct Proof {
    token: String,
    hook_key: Vec<u8>,
    nonces: HashSet<String>,
    /// What was sent under each, in short.
    hook_ids: HashMap<String, Vec<u8>>,
    /// By prompt: each has numbers of its own.
    last: HashMap<String, u64>,
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

fn now() -> i64 {
    provost_runner::report::Clock::system().millis()
}

impl Proof {
    pub(crate) fn new(token: &str, hook_key: &[u8]) -> Self {
        Self {
            token: token.to_owned(),
            hook_key: hook_key.to_vec(),
            nonces: HashSet::new(),
            hook_ids: HashMap::new(),
            last: HashMap::new(),
        }
    }

    /// What is wrong with the request, if anything is.
    pub(crate) fn check(&mut self, headers: &Headers, body: &[u8]) -> Result<Value, String> {
        self.supervisor(headers, body)?;
        self.hook(headers, body)?;
        let json = read(body)?;
        self.order(headers, &json)?;
        Ok(json)
    }

    fn supervisor(&mut self, headers: &Headers, body: &[u8]) -> Result<(), String> {
        let get = |name: &str| headers.get(name).ok_or_else(|| format!("no {name}"));
        let bearer = format!("Bearer {}", self.token);
        if *get("authorization")? != bearer {
            return Err("another bearer".to_owned());
        }
        let (time, nonce) = (get("x-supervisor-timestamp")?, get("x-supervisor-nonce")?);
        let millis: i64 = time.parse().map_err(|_| "no timestamp")?;
        if (now() - millis).abs() > WINDOW_MILLIS {
            return Err(format!("too old: {millis}"));
        }
        if !self.nonces.insert(nonce.clone()) {
            return Err(format!("a nonce again: {nonce}"));
        }
        let parts = [time.as_bytes(), b".", nonce.as_bytes(), b".", body];
        let hex: String = mac(self.token.as_bytes(), &parts)
            .iter()
            .fold("sha256=".to_owned(), |text, byte| {
                format!("{text}{byte:02x}")
            });
        if *get("x-supervisor-signature")? != hex {
            return Err("the supervisor's signature is wrong".to_owned());
        }
        Ok(())
    }

    fn hook(&mut self, headers: &Headers, body: &[u8]) -> Result<(), String> {
        let get = |name: &str| headers.get(name).ok_or_else(|| format!("no {name}"));
        let (id, time) = (get("webhook-id")?, get("webhook-timestamp")?);
        let parts = [id.as_bytes(), b".", time.as_bytes(), b".", body];
        let signature = format!("v1,{}", STANDARD.encode(mac(&self.hook_key, &parts)));
        if *get("webhook-signature")? != signature {
            return Err("the webhook's signature is wrong".to_owned());
        }
        let digest = mac(b"", &[body]);
        let known = self
            .hook_ids
            .entry(id.clone())
            .or_insert_with(|| digest.clone());
        if *known != digest {
            return Err(format!("{id} again with another body"));
        }
        Ok(())
    }

    fn order(&mut self, headers: &Headers, json: &Value) -> Result<(), String> {
        let sequence = json["sequence"].as_u64().ok_or("no sequence")?;
        let prompt = json["promptId"].as_str().ok_or("no prompt")?;
        if json["kind"] == "heartbeat" {
            let id = headers.get("webhook-id").map(String::as_str);
            let named = id.is_some_and(|id| id.starts_with(&format!("{prompt}:heartbeat:")));
            return if sequence == 0 && named {
                Ok(())
            } else {
                Err("a heartbeat takes a number".to_owned())
            };
        }
        if headers.get("webhook-id") != Some(&format!("{prompt}:{sequence}")) {
            return Err("named otherwise".to_owned());
        }
        let last = self.last.entry(prompt.to_owned()).or_default();
        if sequence != *last && sequence != *last + 1 {
            return Err(format!("{sequence} after {last}"));
        }
        *last = sequence;
        Ok(())
    }
}

/// An agent may write what few readers take: numbers out of all bounds, lists in lists in lists. A member that
/// is one of these is left out, and the others are read.
fn read(body: &[u8]) -> Result<Value, String> {
    if let Ok(json) = serde_json::from_slice(body) {
        return Ok(json);
    }
    let members: HashMap<String, &RawValue> =
        serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let members = members.into_iter();
    Ok(members
        .map(|(name, raw)| {
            (
                name,
                serde_json::from_str::<Value>(raw.get()).unwrap_or_default(),
            )
        })
        .collect())
}
