//! The audit log as a log of its own: who did what to people, rights and graphs, from where, and what came of it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};
use stratalog_tests::server::{PASSWORD, Server};
use tempfile::TempDir;

/// The password of every user but `admin`.
const LACE: &str = "lace-1815";

/// The entries of an audit log.
fn entries(file: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(file).expect("the audit log is there");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// The entries as `action outcome who: what`.
fn told(file: &Path) -> Vec<String> {
    let text = |value: &Json| value.as_str().unwrap_or("-").to_owned();
    let entry = |entry: &Json| {
        let [action, outcome, who, what] =
            ["action", "outcome", "who", "what"].map(|name| text(&entry[name]));
        format!("{action} {outcome} {who}: {what}")
    };
    entries(file).iter().map(entry).collect()
}

#[tokio::test]
async fn what_happens_to_people_rights_and_graphs_is_written_and_no_secret_is() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("audit.jsonl");
    let server = Server::start_in(folder.path(), &[("SERVICE_LOGGING__AUDIT", "audit.jsonl")]);
    let mut admin = server.log_in().await;
    admin
        .rows(&format!(".user create eve {LACE} viewer\n.kg create lab\n.kg acl grant lab eve editor"))
        .await;
    let reply = admin.execute(".apikey create ci for eve expires 30d read").await;
    let key = reply["rows"][0][0].as_str().expect("a key").to_owned();
    let mut stranger = server.connect().await;
    assert_eq!(stranger.log_in_as("eve", "wrong-guess").await["type"], "auth_error");
    // A password in the place of a name.
    assert_eq!(stranger.log_in_as(LACE, "eve").await["type"], "auth_error");
    assert_eq!(stranger.authenticate("0123456789abcdef").await["type"], "auth_error");
    let mut robot = server.connect().await;
    robot.authenticate(&key).await;
    assert_eq!(robot.execute(".user list").await["code"], "access_denied");
    admin
        .rows(".backup monday\n.apikey revoke ci\n.user password eve another-1\n.user role eve editor")
        .await;
    assert_eq!(admin.execute(".user drop nobody").await["code"], "not_found");
    assert_eq!(admin.execute(".backup monday").await["type"], "error");
    admin.rows(".kg acl revoke lab eve\n.kg use default\n.kg drop lab\n.user drop eve").await;
    let expected = [
        "login ok admin: logs in",
        "user.create ok admin: user eve created as viewer",
        "graph.create ok admin: knowledge graph lab created by admin",
        "access.grant ok admin: user eve is editor of knowledge graph lab now",
        "login refused eve: logs in",
        "login refused -: logs in",
        "login refused -: logs in",
        "login ok eve: logs in",
        "denied refused eve: role admin",
        "backup ok admin: backup monday",
        "key.revoke ok admin: API key ci revoked",
        "user.password ok admin: password of user eve changed",
        "user.role ok admin: user eve is editor now",
        "user.drop refused admin: nothing was changed",
        "backup refused admin: backup monday",
        "access.revoke ok admin: user eve has no entry for knowledge graph lab any more",
        "graph.drop ok admin: knowledge graph lab dropped",
        "user.drop ok admin: user eve dropped",
    ];
    let mut found = told(&file);
    let created = found.iter().position(|line| line.starts_with("key.create")).expect("the key");
    let created = found.remove(created);
    assert!(
        created.starts_with("key.create ok admin: API key ci created for eve, scope read, expires 2"),
        "{created}"
    );
    assert_eq!(found, expected);
    for entry in entries(&file) {
        assert_eq!(entry["from"], "127.0.0.1", "{entry}");
        let time = entry["time"].as_str().expect("a time");
        assert!(time.starts_with('2') && time.ends_with('Z') && time.len() == 24, "{entry}");
        assert_eq!(entry["reason"].is_string(), entry["outcome"] == "refused", "{entry}");
    }
    let of_key = entries(&file).into_iter().find(|entry| entry["action"] == "denied").expect("a refusal");
    assert_eq!(of_key["key"], json!("ci"));
    let text = std::fs::read_to_string(&file).expect("the audit log") + &server.log();
    for secret in [LACE, PASSWORD, "another-1", "wrong-guess", "0123456789abcdef", &key] {
        assert!(!text.contains(secret), "{secret} is in\n{text}");
    }
    let mode = std::fs::metadata(&file).expect("the audit log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!server.log().contains("stratalog_server::audit"), "a log of its own");
}

#[tokio::test]
async fn what_is_done_without_a_server_is_written_too() {
    let folder = TempDir::new().expect("a folder");
    Server::start_in(folder.path(), &[]).log_in().await.rows("+edge(1, 2)").await;
    let act = |arguments: &[&str]| {
        let mut command = Server::command(folder.path(), &[("SERVICE_LOGGING__AUDIT", "audit.jsonl")]);
        command.args(arguments).output().expect("it runs").status.success()
    };
    assert!(act(&["backup", "copy"]));
    assert!(act(&["export", "default", "out"]));
    assert!(act(&["import", "other", "out"]));
    assert!(!act(&["restore", "copy"]), "there are data already");
    assert!(act(&["restore", "copy", "--data-dir", "elsewhere"]));
    let file = folder.path().join("audit.jsonl");
    assert_eq!(
        told(&file),
        [
            "backup ok -: backup to copy",
            "export ok -: knowledge graph default to out",
            "import ok -: knowledge graph other from out",
            "restore refused -: restored from copy",
            "restore ok -: restored from copy",
        ]
    );
}

#[tokio::test]
async fn a_hangup_opens_the_file_anew() {
    let folder = TempDir::new().expect("a folder");
    let (file, old) = (folder.path().join("audit.jsonl"), folder.path().join("audit.1"));
    let server = Server::start_in(folder.path(), &[("SERVICE_LOGGING__AUDIT", "audit.jsonl")]);
    let mut admin = server.log_in().await;
    std::fs::rename(&file, &old).expect("renamed");
    admin.rows(&format!(".user create eve {LACE} viewer")).await;
    assert_eq!(told(&old).len(), 2);
    let sent = Command::new("kill").args(["-HUP", &server.pid().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    for _ in 0..1000 {
        if file.exists() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    admin.rows(".user drop eve").await;
    assert_eq!(told(&file), ["user.drop ok admin: user eve dropped"]);
    assert_eq!(told(&old).len(), 2);
}

#[test]
fn a_server_without_its_audit_log_does_not_start() {
    let folder = TempDir::new().expect("a folder");
    let mut command = Server::command(folder.path(), &[("SERVICE_LOGGING__AUDIT", "none/audit.jsonl")]);
    let refusal = Server::launch(&mut command).expect_err("there is no such folder");
    assert_eq!(refusal.code, Some(1));
    assert!(refusal.log.contains("cannot write the audit log none/audit.jsonl"), "{}", refusal.log);
}
