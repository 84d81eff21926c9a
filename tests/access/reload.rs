//! SIGHUP: the configuration is read again. What can change does, the rest is named, and nothing ends a server.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use stratalog_tests::server::{Connection, Server};
use tempfile::TempDir;

struct Reloaded {
    server: Server,
    file: PathBuf,
    _folder: TempDir,
}

impl Reloaded {
    fn start(text: &str) -> Reloaded {
        let folder = TempDir::new().expect("a folder");
        let file = folder.path().join("server.toml");
        write(&file, text);
        let mut command = Server::command(folder.path(), &[]);
        let server = Server::launch(command.arg("server.toml")).expect("it starts");
        Reloaded { server, file, _folder: folder }
    }

    /// Has the server read this file; waits until it says so.
    async fn read(&self, text: &str, until: &str) -> String {
        write(&self.file, text);
        self.hang_up(until).await
    }

    async fn hang_up(&self, until: &str) -> String {
        let before = self.server.log().len();
        let sent = Command::new("kill").args(["-HUP", &self.server.pid().to_string()]).status();
        assert!(sent.expect("kill runs").success(), "the server is there");
        for _ in 0..1000 {
            let said = self.server.log()[before..].to_owned();
            if said.contains(until) {
                return said;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("`{until}` is not in\n{}", self.server.log());
    }

    async fn reaches(&self, headers: &[(&'static str, &str)]) -> bool {
        self.server.connect_with("/ws", headers).await.is_ok()
    }
}

fn write(file: &Path, text: &str) {
    std::fs::write(file, text).expect("written");
}

async fn endless(connection: &mut Connection) -> u64 {
    let began = std::time::Instant::now();
    let reply = connection.ask(json!({"type": "execute", "program": "?n(X)"})).await;
    assert_eq!(reply["code"], "timeout", "{reply}");
    u64::try_from(began.elapsed().as_millis()).expect("a short time")
}

#[tokio::test]
async fn what_can_change_changes_and_the_rest_is_named() {
    let page = [("origin", "https://app.example")];
    let server = Reloaded::start("[http]\ncors_origins = []\n[limits]\nquery_timeout_ms = 20000\n");
    let mut admin = server.server.log_in().await;
    admin.rows("+many[(1),(2),(3)]\n+n(0)").await;
    admin.rows("+n(Y) <- n(X), Y = X + 1").await;
    assert!(!server.reaches(&page).await);
    assert!(!server.server.log().contains("DEBUG"));
    let text = "[http]\nport = 1\ncors_origins = [\"https://app.example\"]\n[limits]\nquery_timeout_ms = 300\n\
                max_result_rows = 2\nthreads = 1\n[logging]\nlevel = \"debug\"\n";
    let said = server.read(text, "after a restart").await;
    for key in ["http.cors_origins", "limits.query_timeout_ms", "limits.max_result_rows", "logging.level"] {
        assert!(said.lines().any(|line| line.contains("read again") && line.contains(key)), "{key}: {said}");
    }
    assert!(said.contains("restart: limits.threads"), "{said}");
    assert!(server.reaches(&page).await);
    // The connection that is open stays, and its next requests have the new limits.
    let reply = admin.execute("?many(X)").await;
    assert_eq!((&reply["row_count"], &reply["truncated"]), (&json!(2), &json!(true)), "{reply}");
    assert!(endless(&mut admin).await < 15_000);
    server.server.log_in().await;
    // What it logs comes through a pipe.
    for _ in 0..100 {
        if server.server.log().contains("DEBUG") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(server.server.log().contains("DEBUG"), "{}", server.server.log());
    // And back, to a file that says nothing.
    server.read("", "read again").await;
    assert!(!server.reaches(&page).await);
    assert_eq!(admin.execute("?many(X)").await["row_count"], 3);
}

#[tokio::test]
async fn a_faulty_file_changes_nothing_and_ends_nothing() {
    let page = [("origin", "https://app.example")];
    let good = "[http]\ncors_origins = [\"https://app.example\"]\n";
    let mut server = Reloaded::start(good);
    let mut admin = server.server.log_in().await;
    let faulty = [
        ("[http\n", "not valid TOML"),
        ("[http]\ncors_origin = []\n", "did you mean `http.cors_origins`?"),
        ("[http]\ncors_origins = [\"x\"]\n", "is no origin"),
        ("[http.tls]\nkey = \"k\"\n", "must be given with"),
        ("[logging]\naudit = \"none/audit\"\n", "cannot write the audit log"),
    ];
    for (text, why) in faulty {
        let said = server.read(text, why).await;
        assert!(said.contains("ERROR") && said.contains("the configuration stays what it was"), "{said}");
        assert!(server.reaches(&page).await, "{why}");
    }
    std::fs::remove_file(&server.file).expect("removed");
    server.hang_up("cannot read the configuration file").await;
    for _ in 0..20 {
        server.hang_up("stays what it was").await;
    }
    write(&server.file, good);
    server.hang_up("nothing changed").await;
    assert!(server.server.is_running());
    admin.rows(".status").await;
}

#[tokio::test]
async fn a_server_that_stops_is_not_ended_by_a_hangup() {
    let folder = TempDir::new().expect("a folder");
    let mut server = Server::start_in(folder.path(), &[("SERVICE_HTTP__SHUTDOWN_GRACE_MS", "1000")]);
    let mut admin = server.log_in().await;
    admin.rows("+n(0)").await;
    admin.rows("+n(Y) <- n(X), Y = X + 1").await;
    admin.send_json(json!({"type": "execute", "program": "?n(X)"})).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    server.terminate();
    Command::new("kill").args(["-HUP", &server.pid().to_string()]).status().expect("kill runs");
    drop(admin);
    assert_eq!(server.wait(), Some(0));
}
