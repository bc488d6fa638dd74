//! Secrets in files, code and documents, and in commands that write them.

use super::*;

const RANDOM: &str = "xK9qL2mN8vB4zT7wJ3hF6p";

fn assert_hidden(texts: &[&str], shown: fn(&str) -> String) {
    for text in texts {
        let shown = shown(&text.replace("R!", RANDOM));
        assert!(!shown.contains(RANDOM), "{shown}");
        assert!(!shown.contains("hunter22x"), "{shown}");
    }
}

fn as_text(text: &str) -> String {
    mask_text(text).into_owned()
}

#[test]
fn p09_passwords_with_signs_are_masked_whole_in_files() {
    for sign in [
        "!", "@", "$", "%", "^", "&", "*", "(", ")", "[", "{", "|", ";", ",", "<", ">", "?",
    ] {
        for secret in [
            format!("Tr7kLm{sign}9QwXz2b"),
            format!("P4s{sign}w0rd{sign}Lm9"),
        ] {
            for text in [
                format!("DB_PASSWORD={secret}\nPORT=1\n"),
                format!("db:\n  password: {secret}\n"),
                format!("[db]\npassword = {secret}\n"),
                format!("spring.datasource.password={secret}\n"),
                format!("environment:\n  - POSTGRES_PASSWORD={secret} # main\n"),
                format!("+export DB_PASSWORD={secret}\n"),
            ] {
                let shown = mask_text(&text);
                let rest = secret.rsplit(sign).next().unwrap_or_default();
                assert!(!shown.contains(&secret) && !shown.contains(rest), "{shown}");
            }
        }
        for first in ["%", ".", "~"] {
            let secret = format!("{first}Tr7kLm9QwXz2b");
            for text in [
                format!("{{\"password\":\"{secret}\"}}"),
                format!("PASSWORD = \"{secret}\"\n"),
                format!("password: '{secret}'\n"),
            ] {
                let shown = mask_text(&text);
                assert!(!shown.contains(&secret), "{shown}");
            }
        }
    }
    let document = "cat > .env <<'EOF'\nDB_PASSWORD=Tr7kLm&9QwXz2b\nEOF";
    assert!(!mask_command(document).contains("9QwXz2b"));
}

#[test]
fn p09_what_a_script_runs_behind_a_value_stays_visible() {
    for (text, visible) in [
        ("#!/bin/sh\nTOKEN=abc123;reboot\n", ";reboot"),
        ("TOKEN=abc123;reboot2\n", ";reboot2"),
        ("TOKEN=abc123&shutdown\n", "&shutdown"),
        ("TOKEN=a1b2c3|evil_x1\nPORT=1\n", "|evil_x1"),
        ("TOKEN=a1b2c3;rm -rf /srv\n", ";rm -rf /srv"),
        ("TOKEN=a1b2$(reboot)c3d4\n", "$(reboot)"),
        ("TOKEN=a1b2`reboot`c3d4\n", "`reboot`"),
        ("TOKEN=`reboot2now`\n", "`reboot2now`"),
        ("token: getToken2(request),\n", "getToken2(request)"),
        ("token: tokens[0].value1,\n", "tokens[0].value1"),
        ("password=${DB_PASSWORD1}\n", "${DB_PASSWORD1}"),
        ("password=$DB_PASSWORD1\n", "$DB_PASSWORD1"),
        ("password: {{db_pass1}}\n", "{{db_pass1}}"),
        ("password: ~/secrets/db2024\n", "~/secrets/db2024"),
        ("password: ./secrets/db2024\n", "./secrets/db2024"),
        ("password = os.getenv(\"DB_PASSWORD\")", "DB_PASSWORD"),
        ("password = input(\"Your p4ssword: \")", "Your p4ssword"),
    ] {
        let shown = mask_text(text);
        assert!(shown.contains(visible), "{text} is shown as {shown}");
    }
    for (command, visible) in [
        ("TOKEN=Tr7kLm&9QwXz2b", "&9QwXz2b"),
        ("TOKEN=Tr7kLm;Ev1lX2;ls", ";Ev1lX2;ls"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_literals_of_code_are_masked_in_their_constructors() {
    assert_hidden(
        &[
            "const token = `R!`;\n",
            "app.secret_key = b\"R!\"\n",
            "TOKEN = f\"R!\"\n",
            "var jwtSecret = []byte(\"R!\")\n",
            "password = (\n    \"R!\"\n)\n",
            "password: SecretStr = SecretStr(\"R!\")\n",
            "    password: str = field(default=\"R!\")\n",
            "public string ApiKey { get; set; } = \"R!\";\n",
            "#define WIFI_PASSWORD \"hunter22x\"\n",
            "char password[] = \"R!\";\n",
            "storePassword \"hunter22x\"\n",
            "define('AUTH_KEY',         'R!');\n",
            "requests.get(u, auth=(\"admin\", \"hunter22x\"))\n",
            "req.SetBasicAuth(\"admin\", \"R!\")\n",
            ".bearer_auth(\"R!\")\n",
            "await page.type(\"input[name=password]\", \"hunter22x\");\n",
            "await page.getByLabel(\"Password\").fill(\"hunter22x\");\n",
            "DB_PASSWORD=\"${DB_PASSWORD:-R!}\"\n",
            "PASSWORD=${1:-R!}\n",
            "users:\n- user:\n    client-key-data: R!\n",
            "env:\n  - name: API_TOKEN\n    # the key\n    value: R!\n",
            "  name  = \"/db/main\"\n  type  = \"SecureString\"\n  value = \"R!\"\n",
            "https://discord.com/api/webhooks/123456789012345678/R!R!",
            "healthcheck:\n  test: [\"CMD\", \"mysqladmin\", \"ping\", \"-uroot\", \"-pR!\"]\n",
        ],
        as_text,
    );
}

#[test]
fn p09_documents_and_password_files_hide_their_secrets() {
    assert_hidden(
        &[
            "- **Password:** hunter22x\n",
            "- Password: `hunter22x`\n",
            "| password | hunter22x |\n",
            "Use API key: R! for the requests",
            "Log in as ann with password R!, then deploy",
            "db.internal:5432:app:app:hunter22x\n",
            "ann:$apr1$R!$hunter22x\n",
            "SET PASSWORD FOR 'a'@'h' = 'hunter22x';\n",
            "CREATE USER a IDENTIFIED WITH mysql_native_password BY 'hunter22x';\n",
            "INSERT INTO users (email, password) VALUES ('a@b.c', 'hunter22x'), ('b', 'R!');\n",
            "UPDATE settings SET value='hunter22x' WHERE key='api_key';\n",
        ],
        as_text,
    );
    for text in [
        "| password policy | twelve characters |\n",
        "INSERT INTO users (email, name) VALUES ('a@b.c', 'main2024x');\n",
        "UPDATE settings SET value='main2024x' WHERE key='theme';\n",
        "the token production-server-backups is gone",
        "kubectl delete secret db-token-a1b2c3d4e5f6",
        "see the password documentation-for-administrators",
    ] {
        assert_eq!(mask_text(text), text);
    }
}

#[test]
fn p09_commands_that_write_a_secret_hide_it() {
    assert_hidden(
        &[
            "sed -i 's/^DB_PASSWORD=.*/DB_PASSWORD=hunter22x/' .env",
            "sed -i \"s|password: .*|password: R!|\" config.yml",
            "printf 'API_KEY=%s\\n' 'R!' >> .env",
            "echo \"DB_PASSWORD=hunter22x\" >> .env",
            "export DB_PASSWORD=\"${DB_PASSWORD:-R!}\"",
            "jq --arg pw 'R!' '.db.password = $pw' c.json",
            "psql -c \"INSERT INTO users (email, password) VALUES ('a@b.c', 'R!')\"",
            "curl -b \"session=R!\" https://example.com/me",
            "curl \"https://maps.example.com/geocode?address=Berlin&key=R!\"",
            "7z a -pR! out.7z docs/",
            "skopeo copy --dest-creds me:hunter22x docker://a docker://b",
            "rabbitmqctl add_user app hunter22x",
            "mc alias set minio http://localhost:9000 admin hunter22x",
            "ngrok config add-authtoken R!",
            "keytool -list -keystore ks.jks -storepass hunter22x",
            "poetry publish --username __token__ --password hunter22x",
            "aws rds modify-db-instance --db-instance-identifier prod --master-user-password hunter22x",
            "wandb login R!",
            "vault kv put secret/app password=hunter22x",
            "http POST https://x/login user=ann password=hunter22x",
            "gcloud run deploy web --set-env-vars DB_PASSWORD=hunter22x",
            "TOKEN=\"k9Xq/Lm02+Vb7TzP4wQ8rY/R!=\"\ncurl -H \"Authorization: Bearer $TOKEN\" https://x",
            "TOKEN=hunter22x; curl -H \"Authorization: Bearer $TOKEN\" https://x",
        ],
        mask_command,
    );
    for (command, visible) in [
        ("sed -i 's/token=a/token=evil2x/e' f", "evil2x"),
        ("sed -i 's/image: .*/image: evil2x/' f", "evil2x"),
        ("7z a out2024x.7z -p docs", "out2024x.7z"),
        (
            "skopeo copy docker://a1b2c3 docker://prod2024x",
            "docker://prod2024x",
        ),
        ("vault kv put secret/app password=@id_rsa1", "@id_rsa1"),
        (
            "TOKEN=evil2x/y; curl https://$TOKEN@good.example/",
            "evil2x/y",
        ),
        ("sqlplus system/R!@evil2x:1521/XE", "@evil2x:1521/XE"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
    let shown =
        mask_command("TOKEN=correcthorse; curl -H \"Authorization: Bearer $TOKEN\" https://x");
    assert!(!shown.contains("correcthorse"), "{shown}");
}
