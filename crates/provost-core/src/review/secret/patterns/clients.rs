//! What well-known programs take for a secret: behind a flag, by its place, or as their input.

use super::{Find, Pattern};

pub(super) const PATTERNS: &[Pattern] = &[
    (
        "password",
        Find::Program,
        r#"(?P<program>mysql[a-z]{0,10}|mariadb[a-z-]{0,10}|mycli|7z[a-z]?)["']?,?[ \t](?:[^\n;|&]*?[ \t])??["']?-p"#,
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>sshpass)[ \t]{1,4}(?:-[a-z][ \t]{1,4}){0,3}-p[ \t]{0,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>docker|podman|buildah|skopeo|oras|helm|az|oc|nerdctl|cf|crane)[ \t]{1,4}(?:(?:acr|registry|auth)[ \t]{1,4})?login[ \t](?:[^\n;|&]*?[ \t])??(?:-p|--password)[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>gpg2?)[ \t](?:[^\n;|&]*?[ \t])??--passphrase[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>curl)[ \t](?:[^\n;|&]*?[ \t])??--(?:pass|proxy-pass|oauth2-bearer|(?:proxy-)?tlspassword)[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>kubectl|oc|az|helm|twine|argocd|mongo[a-z]{0,10}|wget|svn|clickhouse-client|redis-cli)[ \t](?:[^\n;|&]*?[ \t])??--(?:(?:http-|ftp-|proxy-|admin-)?password|account-key|sas-token|client-secret)[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>kubectl|oc|firebase|vercel|redis-cli)[ \t](?:[^\n;|&]*?[ \t])??--(?:token|pass)[ \t]{1,4}",
    ),
    (
        "token",
        Find::Program,
        r"(?P<program>cargo)[ \t]{1,4}(?:publish|login|owner|yank)[ \t](?:[^\n;|&]*?[ \t])??--token[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>mongo[a-z]{0,10}|twine|cqlsh|cypher-shell|rabbitmqadmin|ncftp[a-z]{2,3}|rdesktop|elasticsearch-users|useradd|usermod)[ \t](?:[^\n;|&]*?[ \t])??-p[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>sqlcmd|ipmitool|mosquitto_[a-z]{3})[ \t](?:[^\n;|&]*?[ \t])??-P[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>ldap[a-z]{3,8})[ \t](?:[^\n;|&]*?[ \t])??-w[ \t]{1,4}",
    ),
    (
        "token",
        Find::Program,
        r"(?P<program>vault)[ \t]{1,4}login[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>redis-cli)[ \t](?:[^\n;|&]*?[ \t])??-a[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>redis-cli)[ \t](?:[^\n;|&]*?[ \t])??(?i:auth)[ \t]{1,4}(?:[A-Za-z_-]{1,40}[ \t]{1,4})?",
    ),
    (
        "token",
        Find::Program,
        r"(?P<program>cargo)[ \t]{1,4}login[ \t]{1,4}(?:--registry[ \t=]{1,4}\S{1,80}[ \t]{1,4})?",
    ),
    // The password stands behind the user, in the same word.
    (
        "password",
        Find::Program,
        r#"(?P<program>smbclient|smbget|rpcclient|winexe)[ \t](?:[^\n;|&]*?[ \t])??(?:-U|--user)[ \t=]{0,4}["']?[^\s%"']{1,80}%"#,
    ),
    (
        "password",
        Find::Program,
        r#"(?P<program>lftp)[ \t](?:[^\n;|&]*?[ \t])??(?:-u|--user)[ \t=]{0,4}["']?[^\s,"']{1,80},"#,
    ),
    // Before `u` only letters that take no value.
    (
        "password",
        Find::Program,
        r#"(?P<program>curl)[ \t](?:[^\n;|&]*?[ \t])??(?:-[fgGiIjJklLnNOpqRsSvZ]{0,8}[uU]|--user|--proxy-user)[ \t=]{0,4}["']?(?:[^\s:"'=-][^\s:"'=]*)?:"#,
    ),
    // The key is the user: `curl -u KEY: https://…`.
    (
        "key",
        Find::User,
        r#"(?P<program>curl)[ \t](?:[^\n;|&]*?[ \t])??(?:-[fgGiIjJklLnNOpqRsSvZ]{0,8}[uU]|--user)[ \t=]{0,4}["']?(?P<user>[A-Za-z0-9_.-]{12,}):?"#,
    ),
    (
        "password",
        Find::Program,
        r#"(?P<program>https?|xh)[ \t](?:[^\n;|&]*?[ \t])??(?:-a|--auth)[ \t=]{0,4}["']?[^\s:"'=-][^\s:"'=]*:"#,
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>(?:un)?zip)[ \t](?:[^\n;|&]*?[ \t])??-P[ \t]{0,4}",
    ),
    (
        "password",
        Find::After,
        r"\s-(?:pass(?:in|out)?|-(?:ks|key)-pass)[ \t]{1,4}pass:",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>ssh-keygen)[ \t](?:[^\n;|&]*?[ \t])??-[NP][ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>htpasswd)[ \t]{1,4}-[a-mo-zA-Z]*b[a-mo-zA-Z]*[ \t]{1,4}(?:-[a-zA-Z0-9]+[ \t]{1,4}){0,4}(?:[^\s-]\S*[ \t]{1,4}){1,2}",
    ),
    // With `n` there is no file.
    (
        "password",
        Find::Program,
        r"(?P<program>htpasswd)[ \t]{1,4}-[a-zA-Z]*(?:n[a-zA-Z]*b|b[a-zA-Z]*n)[a-zA-Z]*[ \t]{1,4}(?:-[a-zA-Z0-9]+[ \t]{1,4}){0,4}[^\s-]\S*[ \t]{1,4}",
    ),
    (
        "password",
        Find::Whole,
        r#"\b(?:echo|printf)[ \t]{1,4}(?:-[a-z]+[ \t]{1,4})?["']?[A-Za-z0-9_.-]+:([^\s"'\\;|&<>()$`]+)(?:\\n)?["']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4})?chpasswd\b"#,
    ),
    // What the password is for reads none of its input: where no password is asked for, the word would be that.
    (
        "password",
        Find::Input,
        r"sudo[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4}){0,2}(?:-[a-zA-Z]{0,3}S[a-zA-Z]{0,3}|--stdin)[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4}){0,2}(?:-v|apt|apt-get|dnf|yum|pacman|snap|systemctl|service|journalctl|mkdir|chown|chmod|rm|ls|id|whoami|true|reboot)\b",
    ),
    (
        "password",
        Find::Input,
        r"(?:docker|podman|nerdctl|helm|oras|crane|skopeo|buildah|az|oc)[ \t][^\n;|&<]*--password-stdin\b",
    ),
    (
        "token",
        Find::Input,
        r"(?:gh|glab)[ \t]{1,4}auth[ \t]{1,4}login[ \t][^\n;|&<]*--(?:with-token|stdin)\b",
    ),
    ("token", Find::Input, r"(?:cargo|vault)[ \t]{1,4}login\b"),
    (
        "secret",
        Find::Input,
        r"(?:gh[ \t]{1,4}secret[ \t]{1,4}set|wrangler[ \t]{1,4}secret[ \t]{1,4}put|vercel[ \t]{1,4}env[ \t]{1,4}add|firebase[ \t]{1,4}functions:secrets:set|databricks[ \t]{1,4}configure)\b",
    ),
    (
        "secret",
        Find::Input,
        r"(?:(?:docker|podman)[ \t]{1,4}secret[ \t]{1,4}create[ \t][^\n;|&<]*[ \t]-|gcloud[ \t]{1,4}secrets[ \t][^\n;|&<]*--data-file=-)",
    ),
    (
        "password",
        Find::Input,
        r"(?:passwd[ \t][^\n;|&<]*--stdin|gpg2?[ \t][^\n;|&<]*--passphrase-fd[ \t=]{1,4}0)\b",
    ),
    (
        "secret",
        Find::Setting,
        r"(?i)\b(?:(?:config(?:ure)?|secrets?|env|kv)[ \t:]{1,4}(?:set|put)|secret:create|(?:git|poetry|composer|yarn|npm)[ \t]{1,4}config|npm[ \t]{1,4}set|launchctl[ \t]{1,4}setenv|setx|remote[ \t]{1,4}modify|config[ \t]{1,4}create|set[ \t]{1,4}-[a-z]{0,3}x[a-z]{0,3})[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Setting,
        r"\b(?:ssm[ \t]{1,4}put-parameter|secretsmanager[ \t]{1,4}(?:create-secret|put-secret-value|update-secret))[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>airflow|argocd|jf|influx|keytool|jarsigner|supabase|hcloud|circleci|sentry-cli|redis-server|gitlab-runner|tailscale|glab|huggingface-cli|linode-cli|nats|swaks|stripe|nuget|doctl|fastlane|buildkite-agent|superset|netlify|kubeadm)[ \t](?:[^\n;|&]*?[ \t])??--?(?:(?:new-|current-|auth-)?password|(?:auth-|access-|registration-)?token|api-?key|ApiKey|storepass|keypass|requirepass|authkey|auth)[ \t]{1,4}",
    ),
    // Behind `run` the flag would be another program's.
    (
        "secret",
        Find::Program,
        r"(?P<program>uv|poetry|dotnet)[ \t]{1,4}(?:nuget[ \t]{1,4}push|publish)[ \t](?:[^\n;|&]*?[ \t])??--(?:password|token|api-key)[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r#"(?P<program>etcdctl)[ \t](?:[^\n;|&]*?[ \t])??--user[ \t=]{1,4}["']?[^\s:"'=-][^\s:"'=]*:"#,
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>aws)[ \t](?:[^\n;|&]*?[ \t])??--(?:master-user-password|secret-string)[ \t]{1,4}",
    ),
    // What stands at a place where the client takes nothing but a secret.
    (
        "password",
        Find::Program,
        r"(?P<program>rabbitmqctl)[ \t]{1,4}(?:add_user|change_password)[ \t]{1,4}\S+[ \t]{1,4}",
    ),
    (
        "key",
        Find::Program,
        r"(?P<program>mc)[ \t]{1,4}alias[ \t]{1,4}set[ \t]{1,4}(?:\S+[ \t]{1,4}){3}",
    ),
    (
        "token",
        Find::Program,
        r"(?P<program>ngrok|wandb|snyk|grafana-cli)[ \t]{1,4}(?:config[ \t]{1,4}add-authtoken|authtoken|login|auth|admin[ \t]{1,4}reset-admin-password)[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>security)[ \t]{1,4}(?:unlock-keychain|add-(?:generic|internet)-password)[ \t](?:[^\n;|&]*?[ \t])??-[pw][ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>mysqladmin)[ \t](?:[^\n;|&]*?[ \t])??password[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r"(?P<program>openssl)[ \t]{1,4}enc[ \t](?:[^\n;|&]*?[ \t])??-k[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>ansible-vault)[ \t]{1,4}encrypt_string[ \t]{1,4}",
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>composer|poetry)[ \t]{1,4}config[ \t]{1,4}(?:--?[a-z-]+[ \t]{1,4}){0,3}(?:(?:github-oauth|gitlab-token|bearer)\.\S+|http-basic\.\S+[ \t]{1,4}\S+)[ \t]{1,4}",
    ),
    (
        "password",
        Find::Program,
        r#"(?P<program>skopeo|buildah|podman|oras)[ \t](?:[^\n;|&]*?[ \t])??--(?:src-|dest-)?creds[ \t=]{1,4}["']?[^\s:"'=-][^\s:"'=]*:"#,
    ),
    (
        "cookie",
        Find::Program,
        r#"(?P<program>curl)[ \t](?:[^\n;|&]*?[ \t])??(?:-b|--cookie)[ \t=]{1,4}["']?[A-Za-z0-9_.-]+="#,
    ),
    (
        "secret",
        Find::Program,
        r"(?P<program>jq)[ \t](?:[^\n;|&]*?[ \t])??--arg[ \t]{1,4}(?P<name>[A-Za-z0-9_]+)[ \t]{1,4}",
    ),
    (
        "password",
        Find::User,
        r#"(?P<program>sqlplus|expdp|impdp)[ \t]{1,4}(?:-[a-zA-Z]{1,4}[ \t]{1,4}){0,3}["']?[A-Za-z0-9_]+/(?P<user>[^\s@/"']{4,})@"#,
    ),
    // `sed 's/^PASSWORD=.*/PASSWORD=…/'`. With `e` the text would run.
    (
        "secret",
        Find::Replaced,
        r#"(?P<program>sed|perl)[ \t](?:[^\n;|&]*?[ \t])??["']s/[^/\n]*/[^/\n]*?(?P<name>[A-Za-z0-9_.-]+)\\?["']?[ \t]{0,2}[=:][ \t]{0,2}\\?["']?(?P<value>[^/\s"'\\&$;|]{4,})\\?["']?/[gGiIp0-9]{0,3}["']"#,
    ),
    (
        "secret",
        Find::Replaced,
        r#"(?P<program>sed|perl)[ \t](?:[^\n;|&]*?[ \t])??["']s\|[^|\n]*\|[^|\n]*?(?P<name>[A-Za-z0-9_.-]+)\\?["']?[ \t]{0,2}[=:][ \t]{0,2}\\?["']?(?P<value>[^|\s"'\\&$;]{4,})\\?["']?\|[gGiIp0-9]{0,3}["']"#,
    ),
    (
        "secret",
        Find::Replaced,
        r#"(?P<program>sed|perl)[ \t](?:[^\n;|&]*?[ \t])??["']s#[^#\n]*#[^#\n]*?(?P<name>[A-Za-z0-9_.-]+)\\?["']?[ \t]{0,2}[=:][ \t]{0,2}\\?["']?(?P<value>[^#\s"'\\&$;|]{4,})\\?["']?#[gGiIp0-9]{0,3}["']"#,
    ),
    (
        "secret",
        Find::Named,
        r#"\bprintf[ \t]{1,4}["'][^"'\n]*?(?P<name>[A-Za-z0-9_]+)=%s(?:\\n)?["'](?P<op>[ \t]{1,4})"#,
    ),
];
