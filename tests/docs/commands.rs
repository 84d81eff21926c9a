//! `docs/commands.md`: made from what a server tells of its commands. The example of each runs here on that server.
//!
//! `UPDATE_DOCS=1` writes the page.

use std::fs;
use std::path::Path;

use stratalog_tests::server::{Connection, Server};

/// What the examples work on.
const PREPARATION: [&str; 4] = [
    ".kg create lab\n.user create ada lovelace editor\n.kg acl grant lab ada viewer\n.apikey create nightly-import\n\
     .kg use default",
    "+edge[(1, 2), (2, 3)]\n+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)\n.view keep path",
    "far(X) <- path(1, X)",
    "+doc(id: int, v: vector(2))\n.index create near_docs on doc(v)",
];

/// Commands that are refused, with the code: there is no request to stop, no session to end, no cluster and no place of files, and
/// some only say what to do instead.
const REFUSED: [(&str, &str); 9] = [
    (".rule edit NAME NUMBER TEXT", "parse_error"),
    (".load FILE", "parse_error"),
    (".agent", "parse_error"),
    (".query kill ID", "not_found"),
    (".live kill ID", "not_found"),
    (".session kill ID", "not_found"),
    (".rel attach NAME PLACE", "access_denied"),
    (".kg cluster only", "cluster_unavailable"),
    (".cluster QUERY", "cluster_unavailable"),
];

/// A command as the server tells of it.
struct Entry {
    command: String,
    family: String,
    right: String,
    does: String,
    aliases: Option<String>,
    example: String,
}

async fn entries(connection: &mut Connection) -> Vec<Entry> {
    let mut entries = Vec::new();
    for row in table(connection, ".help").await {
        let [command, does, right, family] = row.try_into().expect("four columns");
        let told = table(connection, &format!(".help {}", words(&command).join(" "))).await;
        let about = |what: &str| {
            let row = told.iter().find(|row| row[0] == command && row[1] == what);
            row.map(|row| row[2].clone())
        };
        assert_eq!(about("what it does").as_ref(), Some(&does), "{command}");
        assert_eq!(about("right").as_ref(), Some(&right), "{command}");
        let (aliases, example) = (about("aliases"), about("example").expect("an example"));
        entries.push(Entry { command, family, right, does, aliases, example });
    }
    entries
}

/// The words of a command, without its arguments.
fn words(command: &str) -> Vec<&str> {
    command.split(' ').take_while(|word| word.to_lowercase() == *word).collect()
}

/// The rows of a listing, all of text.
async fn table(connection: &mut Connection, program: &str) -> Vec<Vec<String>> {
    let rows: Vec<Vec<String>> =
        serde_json::from_value(connection.rows(program).await).expect("a listing of texts");
    assert!(!rows.is_empty(), "{program} lists nothing");
    rows
}

#[tokio::test]
async fn the_page_lists_what_the_server_lists() {
    let server = Server::start();
    let page = page(&entries(&mut server.log_in().await).await);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/commands.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("a page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/commands.md is stale: UPDATE_DOCS=1 writes it anew");
}

fn page(entries: &[Entry]) -> String {
    let mut page = String::from(HEADER);
    for family in entries.chunk_by(|a, b| a.family == b.family) {
        page += &format!(
            "\n## {}\n\n| command | right | what it does | example |\n|---|---|---|---|\n",
            family[0].family
        );
        for entry in family {
            let right = entry.right.split_once(' ').map(|(kind, name)| format!("{kind} `{name}`"));
            let right = right.as_ref().unwrap_or(&entry.right);
            let aliases = entry.aliases.iter().flat_map(|aliases| aliases.split(", "));
            let aliases: Vec<String> = aliases.map(|alias| format!("`{alias}`")).collect();
            let aliases =
                if aliases.is_empty() { String::new() } else { format!(" Or {}.", aliases.join(", ")) };
            page += &format!(
                "| `{}` | {right} | {}{aliases} | `{}` |\n",
                entry.command, entry.does, entry.example
            );
        }
    }
    page
}

const HEADER: &str = "\
# Commands

<!-- Made from the lists in engine/src/commands and server/src/admin by `UPDATE_DOCS=1 cargo test -p stratalog-tests --test docs`. -->

A command is a statement that begins with a dot. Its words may be written in any case. After *Or* stands what may take the
place of one of them; after a colon, the columns of what the command lists. `KG` is the name of a graph.

*Right* is what a command asks for on the graph that it concerns, or of the user: [access.md](access.md) explains levels and
roles. The graph `default` may be entered by everybody. `.help` lists the commands, and `.help NAME` shows what is known of
one, or of a [function](functions.md).

[language.md](language.md#commands) shows commands at work, [access.md](access.md) those about people,
[operations.md](operations.md#what-runs) those about requests, [storage.md](storage.md#backup-and-restore) backups. Every example
here is run by `make test`.
";

#[tokio::test]
async fn the_example_of_each_command_runs() {
    let start = || Server::start_with(&[("SERVICE_BACKUP__FOLDER", "archive")]);
    let server = start();
    let entries = entries(&mut server.log_in().await).await;
    for (command, _) in REFUSED {
        assert!(entries.iter().any(|entry| entry.command == command), "there is no `{command}`");
    }
    for entry in entries {
        let given: Vec<&str> = entry.example.split(' ').collect();
        let is_of_it =
            given.starts_with(&words(&entry.command)) && given.len() >= entry.command.split(' ').count();
        assert!(is_of_it, "`{}` is no example of `{}`", entry.example, entry.command);
        // Each begins anew: some examples drop what others need.
        let server = start();
        let mut connection = server.log_in().await;
        for program in PREPARATION {
            let reply = connection.execute(program).await;
            assert_eq!(reply["type"], "result", "{reply}");
        }
        let reply = connection.execute(&entry.example).await;
        let expected = REFUSED.iter().find(|(command, _)| *command == entry.command).map(|(_, code)| *code);
        let refused = (reply["type"] == "error").then(|| reply["code"].as_str().unwrap_or_default());
        assert_eq!(refused, expected, "{}: {reply}", entry.example);
    }
}
