//! Secrets as they are in real life: whatever letters chance gave them, they are masked.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{keys::KEYS, mask_command, mask_text};

/// Bytes that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    fn base64(&mut self, length: usize) -> String {
        let bytes = (0..length).map(|_| {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 56) as u8
        });
        STANDARD.encode(bytes.collect::<Vec<u8>>())
    }
}

fn key(kind: &str, body: &str) -> String {
    let space = if kind.is_empty() { "" } else { " " };
    format!(
        "-----BEGIN {kind}{space}PRIVATE KEY-----\n{body}\n-----END {kind}{space}PRIVATE KEY-----\nafter"
    )
}

/// No line of the body is shown, however the key is written.
fn check_key(kind: &str, body: &str) {
    let key = key(kind, body);
    for text in [
        key.clone(),
        key.replace('\n', "\r\n"),
        key.replace('\n', "\\n"),
        format!("+{}", key.replace('\n', "\n+")),
        format!("cat <<'E' > k\n{key}\nE"),
        format!("a: |\n  {}", key.replace('\n', "\n  ")),
    ] {
        let command = text.starts_with("cat ").then(|| mask_command(&text));
        for shown in command.into_iter().chain([mask_text(&text).into_owned()]) {
            for line in body
                .lines()
                .filter(|line| !line.contains(':') && !line.is_empty())
            {
                assert!(!shown.contains(line), "{line} of {text} in {shown}");
            }
            assert!(shown.contains("after"), "{shown}");
        }
    }
}

#[test]
fn p09_private_keys_of_all_kinds_are_masked() {
    for (kind, body) in KEYS {
        check_key(kind, body);
    }
}

#[test]
fn p09_private_keys_are_masked_whatever_their_letters() {
    let mut chance = Chance(1);
    for length in [48, 96, 121, 500, 1192] {
        for _ in 0..20 {
            let letters = chance.base64(length);
            let lines: Vec<&str> = letters
                .as_bytes()
                .chunks(64)
                .map(|line| std::str::from_utf8(line).unwrap())
                .collect();
            check_key("", &lines.join("\n"));
        }
    }
}

#[test]
fn p09_access_keys_are_masked_whatever_their_letters() {
    let mut chance = Chance(2);
    for _ in 0..1000 {
        let secret = chance.base64(30);
        for text in [
            format!("AWS_SECRET_ACCESS_KEY={secret} aws s3 ls"),
            format!("export AWS_SECRET_ACCESS_KEY={secret}; aws s3 ls"),
        ] {
            assert!(!mask_command(&text).contains(&secret), "{text}");
        }
        // Behind a flag, a word needs digits to be told from a name.
        if secret.bytes().filter(u8::is_ascii_digit).count() >= 2 {
            let text = format!("./x --secret-key {secret}");
            assert!(!mask_command(&text).contains(&secret), "{text}");
        }
        for text in [
            format!("[default]\naws_secret_access_key = {secret}\n"),
            format!("{{\"secretAccessKey\":\"{secret}\"}}"),
        ] {
            assert!(!mask_text(&text).contains(&secret), "{text}");
        }
    }
}

#[test]
fn p09_what_only_begins_like_a_key_stays_visible() {
    let line = "a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8a1B2c3D4e5F6g7H8";
    for (body, visible) in [
        (
            "/usr/local/bin/wipeeverythingnow".to_owned(),
            "wipeeverythingnow",
        ),
        (
            format!("{line}\nwipeeverythingnow\n{line}"),
            "wipeeverythingnow",
        ),
        (
            format!(
                "{line}\n/usr/local/share/applications/tools/bin/wipeeverythingatoncenow1\n{line}"
            ),
            "wipeeverythingatoncenow1",
        ),
        (
            format!("{line}\nComment: rm -rf folder\n{line}"),
            "rm -rf folder",
        ),
        (format!("Comment: rm -rf folder\n{line}"), "rm -rf folder"),
    ] {
        for shown in [
            mask_text(&key("", &body)).into_owned(),
            mask_command(&key("", &body)),
        ] {
            assert!(shown.contains(visible), "{body} is shown as {shown}");
        }
    }
}
