//! A secret is masked whole or not at all, and quickly.

use super::*;

#[test]
fn p09_large_texts_cost_little() {
    let began = std::time::Instant::now();
    for text in [
        "a".repeat(1 << 20),
        "token=".repeat(50_000),
        "key: ".repeat(50_000),
        "\"'".repeat(200_000),
        "token:".repeat(50_000),
        "P='a' password=\"x\" ".repeat(5_000),
        "cookie: a=b; ".repeat(20_000),
        "mysql -p".repeat(20_000),
        "config set token ".repeat(20_000),
        "config set token x1y2z3w4 --a b\n".repeat(5_000),
        "sed 's/token=a/token=".repeat(10_000),
        "insert into a (token) values (".repeat(10_000),
        "TOKEN=Tr7k&9QwXz2b\n".repeat(10_000),
        "PASSWORD=${A:-".repeat(20_000),
        format!("*** Begin Patch\n{}", "+TOKEN=x1y2z3w4\n".repeat(10_000)),
        format!("{{{}}}", r#""password":"correcthorse7","#.repeat(20_000)),
    ] {
        let _ = mask_text(&text);
    }
    assert!(
        began.elapsed() < std::time::Duration::from_secs(30),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn p09_secrets_are_masked_whole_or_not_at_all() {
    for (text, expected) in [
        (
            "PASSWORD=a\\ pw ls",
            "PASSWORD=[secret: password, 5 characters] ls",
        ),
        (
            "echo a#b\\c; PASSWORD='a b pw' ls",
            "echo a#b\\c; PASSWORD='[secret: password, 6 characters]' ls",
        ),
        (
            "PASSWORD=a,b ls",
            "PASSWORD=[secret: password, 3 characters] ls",
        ),
        ("x --password=a\\ pw", "x --password=a\\ pw"),
        ("x --password a,b", "x --password a,b"),
        (
            "curl -sSu ann:pw x",
            "curl -sSu ann:[secret: password, 2 characters] x",
        ),
        (
            "http -a ann:pw x",
            "http -a ann:[secret: password, 2 characters] x",
        ),
        (
            "htpasswd -b f ann pw",
            "htpasswd -b f ann [secret: password, 2 characters]",
        ),
        (
            "echo 'root:pw' | chpasswd",
            "echo 'root:[secret: password, 2 characters]' | chpasswd",
        ),
        (
            "ssh-keygen -t x -N pw",
            "ssh-keygen -t x -N [secret: password, 2 characters]",
        ),
        (
            "aws configure set aws_secret_access_key pw",
            "aws configure set aws_secret_access_key [secret: key, 2 characters]",
        ),
        (
            "gh secret set X --body pw",
            "gh secret set X --body [secret: secret, 2 characters]",
        ),
        (
            "npm config set //r.org/:_authToken pw",
            "npm config set //r.org/:_authToken [secret: token, 2 characters]",
        ),
        (
            "curl 'https://x/?sig=abc&a=1'",
            "curl 'https://x/?sig=[secret: secret, 3 characters]&a=1'",
        ),
    ] {
        assert_eq!(mask_command(text), expected);
    }
    for (text, expected) in [
        (
            "postgres://u:a$pw@h/d",
            "postgres://u:[secret: password in a url, 4 characters]@h/d",
        ),
        (
            "postgres://u:p@pw@h",
            "postgres://u:[secret: password in a url, 4 characters]@h",
        ),
        (
            "machine x login ann password pw",
            "machine x login ann password [secret: password, 2 characters]",
        ),
        (
            "password: |\n  hunterhunter\nother: x",
            "password: |\n  [secret: password, 12 characters]\nother: x",
        ),
        (
            "password = \"\"\"hunter\"\"\"\nx = 1",
            "password = \"\"\"[secret: password, 6 characters]\"\"\"\nx = 1",
        ),
        (
            "user: x\npassword2: hunterhunter\n",
            "user: x\npassword2: [secret: password, 12 characters]\n",
        ),
    ] {
        assert_eq!(mask_text(text), expected);
    }
}
