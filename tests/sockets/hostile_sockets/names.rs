//! Names that are meant to be paths, or to be mistaken for something else.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;
use stratalog_tests::server::Server;
use tempfile::TempDir;

/// Every file and folder below this one.
fn tree(folder: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            all.insert(entry.strip_prefix(folder).expect("below").display().to_string());
            if entry.is_dir() {
                left.push(entry);
            }
        }
    }
    all
}

#[tokio::test]
async fn no_name_leads_out_of_the_data_folder() {
    let outside = TempDir::new().expect("a folder");
    let home = outside.path().join("home");
    std::fs::create_dir(&home).expect("a folder");
    let mut server = Server::start_in(&home, &[]);
    let mut admin = server.log_in().await;
    admin.rows("+edge(1, 2)").await;
    let long = "x".repeat(300);
    let names = [
        "../evil",
        "..",
        ".",
        "/evil",
        "a/../../evil",
        "a/b",
        "\\\\evil",
        "..\\evil",
        "~",
        "$HOME",
        "evil\u{0}",
        "\u{0}",
        "%2e%2e%2fevil",
        "CON",
        "_internal",
        "system",
        "-rf",
        "a b",
        "\u{202e}evil",
        "\u{feff}",
        "é",
        "\n",
        "*",
        "\"\"",
        &long,
    ];
    let before: BTreeSet<_> =
        tree(outside.path()).into_iter().filter(|path| !path.starts_with("home/")).collect();
    for name in names {
        for program in [
            format!(".kg create {name}"),
            format!(".kg use {name}"),
            format!(".kg drop {name}"),
            format!(".backup {name}"),
            format!(".kg acl grant {name} admin owner"),
            format!(".user create {name} pw viewer"),
            format!(".apikey create {name}"),
            format!(".load {name}"),
            format!(".rel drop {name}"),
            format!(".clear prefix {name}"),
            ".kg use default".to_owned(),
        ] {
            let reply = admin.execute(&program).await;
            assert!(reply["type"] == "result" || reply["type"] == "error", "{program:?}: {reply}");
            assert_ne!(reply["code"], "internal", "{program:?}: {reply}");
            let shown = reply.to_string();
            assert!(
                !shown.contains(&home.display().to_string()),
                "{program:?} tells where the data is: {reply}"
            );
        }
        let insert = json!({"type": "insert", "relation": name, "rows": [[1]]});
        assert_ne!(admin.ask(insert).await["code"], "internal", "{name:?}");
    }
    let after: BTreeSet<_> =
        tree(outside.path()).into_iter().filter(|path| !path.starts_with("home/")).collect();
    assert_eq!(after, before);
    let inside: BTreeSet<_> = std::fs::read_dir(&home)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(inside.iter().all(|name| name == "data" || name == "backups"), "{inside:?}");
    assert!(server.is_running() && !server.log().contains("panicked"), "{}", server.log());
    // What was accepted is still there after a restart.
    let graphs = admin.rows(".kg list").await;
    drop((admin, server));
    let again = Server::start_in(&home, &[]);
    assert_eq!(again.log_in().await.rows(".kg list").await, graphs);
}

#[tokio::test]
async fn paths_and_parameters_of_requests_are_only_looked_up() {
    let server = Server::start();
    let key = server.log_in().await.new_key("ops").await;
    let bearer = format!("Authorization: Bearer {key}\r\n");
    let long = "a".repeat(7_000);
    for path in [
        "/../../etc/passwd",
        "/v1/../health",
        "//health",
        "/health%00",
        "/%2e%2e/health",
        "/sessions/../ws",
        "/sessions/..%2f../ws",
        "/sessions//ws",
        "/sessions/%00/ws",
        "/v1/v1/health",
        "/%ff",
        "/;",
        &format!("/{long}"),
    ] {
        let (status, _, body) = server.get_with(path, &bearer);
        assert!([400, 404].contains(&status), "{path}: {status}");
        assert!(body.contains("\"success\":false"), "{path}: {body}");
    }
    for query in ["kg=../x", "kg=%00", "kg=%2e%2e%2fx", &format!("kg={long}"), "kg=_internal", "kg=%ff"] {
        let mut connection = server.connect_to(&format!("/ws?{query}")).await.expect("a socket");
        let reply = connection.log_in(stratalog_tests::server::PASSWORD).await;
        assert_eq!(
            (&reply["type"], &reply["code"]),
            (&json!("error"), &json!("not_found")),
            "{query}: {reply}"
        );
        assert_eq!(connection.closed(&[]).await, Some(1008), "{query}");
    }
}
