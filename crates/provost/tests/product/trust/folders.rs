//! Which data folders a gateway starts with.

use super::*;

/// Tries to start a gateway in a folder, and says what it answered. `None`: it serves.
fn refused_start(site: &Site, folder: &Path, arguments: &[&str]) -> Option<String> {
    let serve = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
    refused(site.command(&serve), folder)
}

fn refused(mut command: Command, folder: &Path) -> Option<String> {
    let command = command.current_dir(folder).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    let mut said = String::new();
    for line in BufReader::new(child.0.stderr.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.contains("listens on ") {
            return None;
        }
        said.push_str(&line);
    }
    Some(said)
}

#[test]
fn p06_serve_does_not_adopt_a_data_folder_that_nobody_named() {
    let (site, stranger) = (Site::empty(), Site::empty());
    let repository = TempDir::new().unwrap();
    let repository = repository.path();
    let data = repository.join("provost-data");
    let key = data.join("admin.key");
    let put_key = |mode: u32| {
        fs::create_dir_all(&data).unwrap();
        fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
        fs::write(&key, PLANTED).unwrap();
        fs::set_permissions(&key, Permissions::from_mode(mode)).unwrap();
    };
    // A key alone, as a repository or an archive brings it along.
    put_key(0o600);
    let said = refused_start(&site, repository, &[]).unwrap();
    assert!(said.contains("an admin key and no record"), "{said}");
    put_key(0o644);
    let named = ["--data", "provost-data"];
    let said = refused_start(&site, repository, &named).unwrap();
    assert!(said.contains("others may read"), "{said}");
    fs::remove_dir_all(&data).unwrap();
    // A whole folder, of somebody else's gateway.
    assert_eq!(refused_start(&stranger, repository, &[]), None);
    let said = refused_start(&site, repository, &[]).unwrap();
    assert!(said.contains("a record that you have not begun"), "{said}");
    assert!(said.contains("provost serve --data provost-data"), "{said}");
    // Whose it is goes on, and so does who says that it is theirs, once.
    assert_eq!(refused_start(&stranger, repository, &[]), None);
    assert_eq!(refused_start(&site, repository, &named), None);
    assert_eq!(refused_start(&site, repository, &[]), None);
    // A file that was named counts as well.
    let another = Site::empty();
    fs::write(repository.join("own.yaml"), "").unwrap();
    let named = ["--config", "own.yaml"];
    assert_eq!(refused_start(&another, repository, &named), None);
}

/// Nothing was kept of any record then, so every one may be somebody else's.
#[test]
fn p06_serve_adopts_no_folder_for_a_user_without_a_home() {
    let site = Site::empty();
    let repository = TempDir::new().unwrap();
    let start = |arguments: &[&str]| {
        let serve = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = site.command(&serve);
        for variable in ["HOME", "XDG_STATE_HOME", "PROVOST_STATE"] {
            command.env_remove(variable);
        }
        refused(command, repository.path())
    };
    assert_eq!(start(&[]), None, "a new folder is its own");
    let said = start(&[]).unwrap();
    assert!(said.contains("without HOME or PROVOST_STATE"), "{said}");
    assert!(said.contains("provost serve --data provost-data"), "{said}");
    assert_eq!(start(&["--data", "provost-data"]), None);
}

/// However `provost.yaml` of the same folder writes it.
#[test]
fn p06_a_planted_file_does_not_name_the_folder_beside_it() {
    let (site, stranger) = (Site::empty(), Site::empty());
    let repository = TempDir::new().unwrap();
    let repository = repository.path();
    assert_eq!(refused_start(&stranger, repository, &[]), None);
    let whole = repository.join("provost-data");
    for data in ["provost-data", "./provost-data", whole.to_str().unwrap()] {
        let text = format!("data: {data}\n");
        fs::write(repository.join("provost.yaml"), text).unwrap();
        let said = refused_start(&site, repository, &[]).unwrap();
        assert!(said.contains("a record that you have not begun"), "{said}");
    }
}
