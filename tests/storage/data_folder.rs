//! The real executable on a real folder: who may use it, what the probes say while it is opened, and that people and
//! rights are as durable as facts.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;
use stratalog_tests::server::{Connection, PASSWORD, Server};
use stratalog_tests::times::PATIENCE;
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

#[tokio::test]
async fn a_second_server_on_the_same_folder_does_not_start() {
    let folder = folder();
    let first = Server::start_in(folder.path(), &[]);
    first.log_in().await.rows("+a(1)").await;
    let refusal = Server::launch(&mut Server::command(folder.path(), &[])).expect_err("the folder is taken");
    assert_eq!(refusal.code, Some(1), "{}", refusal.log);
    for part in ["data/system.redb is in use by another server", "storage.data_dir"] {
        assert!(refusal.log.contains(part), "{}", refusal.log);
    }
    assert_eq!(first.log_in().await.rows("?a(X)").await, json!([[1]]));
    drop(first);
    assert_eq!(Server::start_in(folder.path(), &[]).log_in().await.rows("?a(X)").await, json!([[1]]));
}

/// Root may write everywhere, so the server runs as somebody who may not.
fn as_somebody(folder: &Path, settings: &[(&str, &str)]) -> Command {
    let command = Server::command(folder, settings);
    if !is_root() {
        return command;
    }
    // Whoever it is may not read the folder of this project.
    let executable = folder.join("stratalog-server");
    if !executable.exists() {
        fs::copy(command.get_program(), &executable).expect("the executable can be copied");
    }
    let mut other = Command::new(executable);
    other.args(command.get_args()).current_dir(folder).uid(NOBODY).gid(NOBODY);
    for (name, value) in command.get_envs() {
        other.env(name, value.expect("variables are set, not removed"));
    }
    other
}

const NOBODY: u32 = 65534;

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("the state of this process");
    status.lines().any(|line| line.starts_with("Uid:\t0\t"))
}

fn allow(folder: &Path, mode: u32) {
    fs::set_permissions(folder, Permissions::from_mode(mode)).expect("permissions can be set");
}

#[tokio::test]
async fn a_folder_without_permission_is_a_clear_error_and_writes_resume_with_it() {
    let folder = folder();
    allow(folder.path(), 0o755);
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("a folder");
    allow(&data, 0o555);
    if is_root() {
        std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).expect("root gives folders away");
    }
    let mut command = as_somebody(folder.path(), &[]);
    let refusal = Server::launch(&mut command).expect_err("nothing can be created there");
    assert_eq!(refusal.code, Some(1), "{}", refusal.log);
    for part in ["data/", "Permission denied"] {
        assert!(refusal.log.contains(part), "{}", refusal.log);
    }

    allow(&data, 0o755);
    let server = Server::launch(&mut command).expect("now it starts");
    let mut connection = server.log_in().await;
    connection.rows("+a(1)").await;
    allow(&data.join("graphs"), 0o555);
    let reply = connection.execute(".kg create lab").await;
    assert_eq!(reply["code"], "storage_unavailable", "{reply}");
    assert!(reply["message"].as_str().is_some_and(|text| text.contains("data/graphs/")), "{reply}");
    assert!(reply["help"].is_string(), "{reply}");
    // Nobody else is concerned, and nothing of it is there.
    assert_eq!(connection.rows("+a(2)\n?a(X:asc)").await, json!([[1], [2]]));
    assert_eq!(connection.rows(".kg list").await, json!([["default", true]]));
    allow(&data.join("graphs"), 0o755);
    connection.rows(".kg create lab\n+b(1)").await;
    drop(server);
    let server = Server::launch(&mut command).expect("it starts again");
    assert_eq!(server.log_in().await.rows(".kg use lab\n?b(X)").await, json!([[1]]));
}

#[tokio::test]
async fn probes_tell_that_the_data_is_being_opened() {
    let folder = folder();
    {
        let server = Server::start_in(folder.path(), &[]);
        let mut connection = server.log_in().await;
        for first in 0..8 {
            let rows: Vec<String> = (0..50_000).map(|i| format!("({first}, {i}, \"text of {i}\")")).collect();
            connection.rows(&format!("+fact[{}]", rows.join(","))).await;
        }
    }
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = port.expect("a free port").port();
    let mut command = Server::command(folder.path(), &[("SERVICE_HTTP__PORT", &port.to_string())]);
    let starting = std::thread::spawn(move || Server::launch(&mut command).expect("the server starts"));
    let mut seen = Vec::new();
    let started = Instant::now();
    while seen.last() != Some(&(200, 200, 200)) {
        assert!(started.elapsed() < PATIENCE, "{seen:?}");
        let status = |path| try_get(port, path);
        if let (Some(ready), Some(live), Some(other)) = (status("/ready"), status("/live"), status("/health"))
        {
            seen.push((ready, live, other));
        }
    }
    let server = starting.join().expect("the thread does not panic");
    assert_eq!(seen.first(), Some(&(503, 200, 503)), "{seen:?}");
    assert!(seen.iter().all(|(_, live, _)| *live == 200), "{seen:?}");
    let count = server.log_in().await.rows("?count<I> <- fact(_, I, _)").await;
    assert_eq!(count, json!([[400_000]]));
}

/// The status of one HTTP GET, if somebody answers.
fn try_get(port: u16, path: &str) -> Option<u16> {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply).ok()?;
    reply.split(' ').nth(1)?.parse().ok()
}

#[tokio::test]
async fn people_keys_and_rights_survive_a_kill() {
    let folder = folder();
    let server = Server::start_in(folder.path(), &[]);
    let mut admin = server.log_in().await;
    admin
        .rows(".user create ada lace editor\n.user create bob bobby viewer\n.user create eve evil admin")
        .await;
    admin.rows(".kg create lab\n+a(1)\n.kg acl grant lab bob editor\n.kg acl grant lab ada viewer").await;
    let keys = admin.rows(".apikey create ci").await;
    let key = keys[0][0].as_str().expect("a key").to_owned();
    admin.rows(".apikey create gone\n.apikey revoke gone\n.user drop eve\n.user role bob editor").await;
    admin.rows(".user password ada lace2\n.kg acl revoke lab ada\n.user password admin mine").await;
    let state = async |admin: &mut Connection| {
        let mut state = Vec::new();
        for program in [".user list", ".apikey list", ".kg acl list lab", ".kg list"] {
            state.push(admin.rows(program).await);
        }
        state
    };
    let before = state(&mut admin).await;
    // `kill -9`: a server in a test ends no other way.
    drop((admin, server));

    // A password for the first start has no say in later ones.
    let server = Server::start_in(folder.path(), &[("SERVICE_ADMIN_PASSWORD", "another")]);
    for (name, password) in [("admin", "another"), ("admin", PASSWORD), ("ada", "lace"), ("eve", "evil")] {
        let reply = server.connect().await.log_in_as(name, password).await;
        assert_eq!(reply["type"], "auth_error", "{name} {password}: {reply}");
    }
    let mut admin = server.log_in_as("admin", "mine").await;
    admin.rows(".kg use lab").await;
    assert_eq!(state(&mut admin).await, before);
    server.log_in_as("ada", "lace2").await;
    server.log_in_as("bob", "bobby").await.rows(".kg use lab\n+a(2)").await;
    let mut program = server.connect().await;
    let reply = program.ask(json!({"type": "authenticate", "api_key": key})).await;
    assert_eq!(reply["type"], "authenticated", "{reply}");
}

/// A library that lets every sync of a process fail while a file is there.
const NO_SYNC: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
static int sync_with(const char *name, int fd) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    if (access(getenv("NO_SYNC"), F_OK) == 0) { errno = EIO; return -1; }
    return real(fd);
}
int fsync(int fd) { return sync_with("fsync", fd); }
int fdatasync(int fd) { return sync_with("fdatasync", fd); }
"#;

#[tokio::test]
async fn a_disk_that_does_not_sync_is_told_by_probes_and_writes_come_back_by_themselves() {
    let folder = folder();
    let (source, library) = (folder.path().join("no_sync.c"), folder.path().join("no_sync.so"));
    fs::write(&source, NO_SYNC).expect("written");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(compiled.expect("a C compiler").success());
    let fails = folder.path().join("fails");
    let mut command = Server::command(folder.path(), &[]);
    command.env("LD_PRELOAD", &library).env("NO_SYNC", &fails);
    let server = Server::launch(&mut command).expect("the server starts");
    let mut connection = server.log_in().await;
    connection.rows("+a(1)").await;
    assert_eq!((server.get("/ready").0, server.get("/health").0), (200, 200));

    fs::write(&fails, "").expect("written");
    assert_eq!(connection.execute("+a(2)").await["code"], "outcome_unknown");
    let reply = connection.execute("+a(3)").await;
    assert_eq!(reply["code"], "storage_unavailable", "{reply}");
    assert!(reply["message"].as_str().is_some_and(|text| text.contains("data/graphs/default-")), "{reply}");
    // No file comes of a sync that fails, and so no graph and no user.
    assert_eq!(connection.execute(".user create ada lace editor").await["code"], "outcome_unknown");
    assert_eq!(connection.execute(".kg create lab").await["code"], "storage_unavailable");
    assert_eq!(connection.rows("?a(X)").await, json!([[1]]));
    assert_eq!(connection.rows(".user list").await, json!([["admin", "admin"]]));
    for path in ["/ready", "/health"] {
        let (status, _, body) = server.get(path);
        assert_eq!(status, 503, "{path}");
        assert!(body.contains(r#""unwritable":["*","default"]"#), "{path}: {body}");
    }
    assert_eq!(server.get("/live").0, 200);

    fs::remove_file(&fails).expect("removed");
    let began = Instant::now();
    while server.get("/ready").0 != 200 {
        assert!(began.elapsed() < PATIENCE, "it does not come back by itself");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(server.get("/health").0, 200);
    connection.rows(".user create bob builder viewer\n+a(4)").await;
    drop((connection, server));
    let server = Server::start_in(folder.path(), &[]);
    let mut connection = server.log_in().await;
    assert_eq!(connection.rows("?a(X:asc)").await, json!([[1], [4]]));
    assert_eq!(connection.rows(".user list").await, json!([["admin", "admin"], ["bob", "viewer"]]));
}

/// What others than the owner may do with anything in a folder, the folder among it.
fn open_to_others(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mode = fs::metadata(folder).expect("it is there").permissions().mode() & 0o777;
    let expected = if folder.is_dir() { 0o700 } else { 0o600 };
    if mode != expected {
        found.push(format!("{} has {mode:o}", folder.display()));
    }
    if folder.is_dir() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            found.append(&mut open_to_others(&entry.path()));
        }
    }
    found
}

/// The command, with this umask.
fn with_umask(command: &Command, umask: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("umask {umask}; exec \"$0\" \"$@\"")).arg(command.get_program());
    shell.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        shell.env(name, value.expect("variables are set, not removed"));
    }
    shell
}

#[tokio::test]
async fn whatever_the_umask_nobody_else_reads_what_the_server_writes() {
    let folder = folder();
    // Of an earlier start, or made by hand; and what a crash has left.
    let data = folder.path().join("data");
    fs::create_dir(&data).expect("a folder");
    fs::set_permissions(&data, Permissions::from_mode(0o755)).expect("rights can be set");
    let leftover = data.join("system.redb.unfinished");
    fs::write(&leftover, "x").expect("written");
    fs::set_permissions(&leftover, Permissions::from_mode(0o666)).expect("rights can be set");
    let mut server =
        Server::launch(&mut with_umask(&Server::command(folder.path(), &[]), "000")).expect("it starts");
    let mut admin = server.log_in().await;
    assert!(server.log().contains("was open to others (mode 755)"), "{}", server.log());
    admin.rows("+edge[(1,2),(2,3)]\n.kg create lab\n+a(1)\n.compact\n.backup monday").await;
    drop(admin);
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    let act = |arguments: &[&str]| {
        let mut command = Server::command(folder.path(), &[]);
        command.args(arguments);
        let output = with_umask(&command, "000").output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    act(&["backup", "copy"]);
    act(&["export", "lab", "out"]);
    act(&["restore", "backups/monday", "--data-dir", "again"]);
    for made in ["data", "backups", "copy", "out", "again"] {
        assert_eq!(open_to_others(&folder.path().join(made)), Vec::<String>::new());
    }
}
