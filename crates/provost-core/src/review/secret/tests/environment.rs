//! Words such as `env` and `source` in what a command is about, and in what it writes.

use super::*;

#[test]
fn p09_a_command_about_environments_hides_its_passwords() {
    for command in [
        "DB_PASSWORD=hunter22x .venv/bin/python manage.py migrate",
        "source venv/bin/activate && DB_PASSWORD=hunter22x python manage.py migrate",
        "curl -u ann:hunter22x https://x/environments",
        "mysql -u root -phunter22x environment_db",
        "docker login -u ann -p hunter22x registry.env.example.com",
        "curl -X POST https://api.example.com/environments -d '{\"password\":\"hunter22x\"}'",
        "kubectl create secret generic db --from-literal=password=hunter22x -n env-prod",
        "PGPASSWORD=hunter22x psql -c 'select now()'",
        "PGPASSWORD=hunter22x psql -c 'select history from source'",
        "DB_PASSWORD=hunter22x ./run && awk '{print $1}' log",
        "printf '%s' x; ls env; DB_PASSWORD=hunter22x ./run",
        "cat > docker-compose.yml <<'EOF'\nenvironment:\n  POSTGRES_PASSWORD: \"hunter22x\"\nEOF",
        "cat > dep.yml <<'EOF'\nenv:\n- name: DB_PASSWORD\n  value: \"hunter22x\"\nEOF",
        "cat > .env <<'EOF'\nAPP_ENV=local\nDB_PASSWORD=hunter22x\nEOF",
        "cat > .env <<'EOF'\nAPP_X=local\nDB_PASSWORD=hunter22x\nEOF",
        "cat > Dockerfile <<'EOF'\nFROM x\nENV DB_PASSWORD=hunter22x\nEOF",
        "cat > run.sh <<'EOF'\n#!/usr/bin/env bash\nexport DB_PASSWORD=hunter22x\nEOF",
        "cat > a.py <<'EOF'\ndef main():\n    pass\npassword = \"hunter22x\"\nEOF",
    ] {
        let shown = mask_command(command);
        assert!(!shown.contains("hunter22x"), "{shown}");
    }
}

#[test]
fn p09_what_reads_all_variables_or_words_shows_them() {
    for command in [
        "export TOKEN=production; sudo env | cut -d= -f2 | xargs rm -rf",
        "export TOKEN=production; e''nv | cut -d= -f2 | xargs rm -rf",
        "export TOKEN=production; declare -p | cut -d= -f2 | xargs rm -rf",
        "export TOKEN=production; printenv | xargs rm -rf",
        "export TOKEN=production; awk 'BEGIN{system(ENVIRON[\"TO\" \"KEN\"])}'",
        "export TOKEN=production; jq -rn 'env|values[]' | xargs rm",
        "export TOKEN=production; ruby -e 'system(ENV.values.last)'",
        "export TOKEN=production; ./run \"$(cat /pr''oc/self/environ)\"",
        "say --token=production; history | cut -d= -f2 | xargs rm",
        "sh -c 'rm -rf \"/data/${1#*=}\"' _ --token=production",
        "f() { rm -rf \"/data/${1#*=}\"; }\nf --token=production",
        "cat > run.sh <<'E'\nenv | cut -d= -f2 | xargs rm\nE\nTOKEN=production sh run.sh",
        "TOKEN=production sh <<'E'\nenv | cut -d= -f2 | xargs rm\nE",
    ] {
        let shown = mask_command(command);
        assert!(
            shown.contains("production"),
            "{command} is shown as {shown}"
        );
    }
}
