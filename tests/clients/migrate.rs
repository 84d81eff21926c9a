//! `stratalog migrate`: a folder of declarations and rules against a graph, as people use it.

use std::path::Path;

use serde_json::json;
use stratalog_tests::cli::{self, Done};
use stratalog_tests::server::Server;
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    write(folder.path(), files);
    folder
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(path, text).expect("the file is written");
    }
}

fn migrate(server: &Server, folder: &TempDir, arguments: &[&str]) -> Done {
    let path = folder.path().to_str().expect("a path that is text");
    cli::run(cli::at(server), &[&["migrate", path], arguments].concat(), "")
}

const SCHEMA: &str = "% who owns what\n+person(id: int, name: string)\n+owns(person: int, company: string)\n";
const RULES: &str = "+owner(Name, C) <- person(Id, Name), owns(Id, C)\n";

#[tokio::test]
async fn a_plan_is_shown_then_made_and_then_there_is_nothing_to_do() {
    let server = Server::start();
    let files = folder(&[("1_schema.dl", SCHEMA), ("rules/owner.dl", RULES), ("notes.txt", "no program")]);
    let plan = "+ relation owns(person: int, company: string)\n\
        + relation person(id: int, name: string)\n\
        + rules of owner\n    + owner(Name, C) <- person(Id, Name), owns(Id, C)\n";
    let shown = migrate(&server, &files, &[]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(0), plan), "{shown:?}");
    assert!(shown.err.contains("3 changes; --apply makes them"), "{shown:?}");
    assert_eq!(migrate(&server, &files, &["--check"]).code, Some(1));
    let mut admin = server.log_in().await;
    assert_eq!(admin.execute("?person(X, Y)").await["code"], "unknown_relation", "it was shown, not made");
    let made = migrate(&server, &files, &["--apply"]);
    assert_eq!((made.code, made.out.as_str()), (Some(0), plan), "{made:?}");
    for arguments in [&["--check"][..], &["--apply"], &[]] {
        let again = migrate(&server, &files, arguments);
        assert_eq!((again.code, again.out.as_str()), (Some(0), ""), "{again:?}");
        assert!(again.err.contains("nothing to change"), "{again:?}");
    }
}

#[tokio::test]
async fn columns_are_renamed_and_added_where_there_are_facts_and_rules_follow() {
    let server = Server::start();
    let files = folder(&[("schema.dl", SCHEMA), ("rules.dl", RULES)]);
    assert_eq!(migrate(&server, &files, &["--apply"]).code, Some(0));
    let mut admin = server.log_in().await;
    admin.rows("+person[(1, \"Ann\"), (2, \"Bob\")]\n+owns[(1, \"acme\"), (2, \"bolt\")]").await;
    write(
        files.path(),
        &[
            (
                "schema.dl",
                "+person(id: int, full_name: string, age: int)\n+owns(person: int, company: string)\n\
             +doc(id: int, v: vector(2))\n.index create near on doc(v) metric l2\n",
            ),
            (
                "rules.dl",
                "+owner(Name, C) <- person(Id, Name, _), owns(Id, C)\n+old(N) <- person(_, N, A), A > 60\n",
            ),
        ],
    );
    let made = migrate(&server, &files, &["--apply"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_eq!(
        made.out,
        "+ relation doc(id: int, v: vector(2))\n\
         ~ relation person: name is called full_name\n\
         ~ relation person: a further column age: int, null in the rows there are\n\
         + rules of old\n    + old(N) <- person(_, N, A), A > 60\n\
         ~ rules of owner\n    - owner(Name, C) <- person(Id, Name), owns(Id, C)\n    \
         + owner(Name, C) <- person(Id, Name, _), owns(Id, C)\n\
         + index create near on doc(v) metric l2\n"
    );
    assert_eq!(admin.rows("?owner(N:asc, C)").await, json!([["Ann", "acme"], ["Bob", "bolt"]]));
    assert_eq!(admin.rows("?person(1, N, A)").await, json!([[1, "Ann", null]]));
    assert_eq!(migrate(&server, &files, &["--check"]).code, Some(0));
}

#[tokio::test]
async fn all_of_it_is_made_or_nothing() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows("+person(id: int, name: string)\n+person(1, \"Ann\")\n+named(N) <- person(_, N)").await;
    // The last of the rules negates itself.
    let files = folder(&[(
        "all.dl",
        "+person(id: int, name: string, age: int)\n+named(N) <- person(_, N, _)\n+odd(N) <- person(_, N, _), !odd(N)\n",
    )]);
    let refused = migrate(&server, &files, &["--apply"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("unstratifiable") && refused.err.contains("!odd(N)"), "{refused:?}");
    assert_eq!(admin.rows("?named(N)").await, json!([["Ann"]]));
    assert_eq!(admin.rows("?person(X, Y)").await, json!([[1, "Ann"]]));
}

#[tokio::test]
async fn what_the_folder_does_not_know_stays_unless_it_is_pruned() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows("+person(id: int, name: string)\n+person(1, \"Ann\")\n+mine(N) <- person(_, N)").await;
    let files = folder(&[("all.dl", "+person(id: int, name: string)\n+first(N) <- person(1, N)\n")]);
    let made = migrate(&server, &files, &["--apply"]);
    assert!(made.code == Some(0) && made.err.contains("mine has rules"), "{made:?}");
    assert_eq!(admin.rows("?mine(N)").await, json!([["Ann"]]));
    // It reads a relation that is to have another column.
    write(files.path(), &[("all.dl", "+person(id: int, name: string, age: int)\n")]);
    let refused = migrate(&server, &files, &["--apply"]);
    assert!(
        refused.code == Some(1) && refused.err.contains("write them into it, or drop them"),
        "{refused:?}"
    );
    let made = migrate(&server, &files, &["--apply", "--prune"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.out.contains("- rules of first\n") && made.out.contains("- rules of mine\n"), "{made:?}");
    assert_eq!(admin.execute("?mine(N)").await["code"], "unknown_relation");
    assert_eq!(admin.rows("?person(X, Y, Z)").await, json!([[1, "Ann", null]]));
}

#[tokio::test]
async fn what_no_migration_does_is_said() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows("+p(a: int, b: int)\n+p(1, 2)").await;
    for (program, problem) in [
        ("+p(a: int)", "no migration drops columns (b)"),
        ("+p(b: int, a: int)", "in another order"),
        ("+p(a: int, b: string)", "holds values of type int in the column `b`"),
    ] {
        let files = folder(&[("all.dl", program)]);
        let refused = migrate(&server, &files, &["--apply"]);
        assert!(refused.code == Some(1) && refused.err.contains(problem), "{program}: {refused:?}");
    }
    for (program, problem) in [
        ("+p(1, 2)", "all.dl:1:1: a migration is made of declarations"),
        ("p(X) <- q(X)", "all.dl:1:1: what belongs to a session alone"),
        ("+q(X) <- \n+r(X <- p(X)", "all.dl:2:"),
        ("+r(a: int)\n+r(a: string)", "all.dl:2:1: r is declared twice"),
    ] {
        let files = folder(&[("all.dl", program)]);
        let refused = migrate(&server, &files, &[]);
        assert!(refused.code == Some(2) && refused.err.contains(problem), "{program}: {refused:?}");
    }
    let empty = folder(&[]);
    let refused = migrate(&server, &empty, &[]);
    assert!(refused.code == Some(2) && refused.err.contains("no files that end in .dl"), "{refused:?}");
    assert_eq!(admin.rows("?p(X, Y)").await, json!([[1, 2]]));
}

#[tokio::test]
async fn other_columns_survive_a_kill() {
    let data = TempDir::new().expect("a temporary folder");
    let server = Server::start_in(data.path(), &[]);
    let mut admin = server.log_in().await;
    admin
        .rows("+doc(id: int, v: vector(2))\n+doc[(1, [0, 1]), (2, [1, 0])]\n.index create near on doc(v)")
        .await;
    admin.rows(".rel add doc title string \"untitled\"").await;
    admin.rows(".rel rename doc id number").await;
    admin.rows("+doc(3, [1, 1], \"third\")").await;
    // To drop a server kills it.
    drop(server);
    let server = Server::start_in(data.path(), &[]);
    let mut admin = server.log_in().await;
    assert_eq!(
        admin.rows("?doc(N, _, T)").await,
        json!([[1, [0.0, 1.0], "untitled"], [2, [1.0, 0.0], "untitled"], [3, [1.0, 1.0], "third"]])
    );
    assert_eq!(
        admin.rows("?hnsw_nearest(\"near\", [0, 1], 1, Id, _), doc(Id, _, T)").await,
        json!([[1, "untitled"]])
    );
    assert_eq!(admin.rows(".rel describe doc").await[0], json!(["number", "int"]));
}

#[tokio::test]
async fn what_would_be_refused_is_found_by_the_plan_with_its_place() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    admin.rows("+person(id: int, name: string)\n+person(1, \"Ann\")\n+named(N) <- person(_, N)").await;
    let files = folder(&[
        ("empty.dl", ""),
        ("notes.dl", "% nothing yet\n"),
        ("schema.dl", "+person(id: string, name: string)\n+fine(x: int)\n"),
        ("rules.dl", "+named(N) <- person(_, N)\n+odd(N) <- person(_, N), !odd(N)\n+few(X) <- person(X)\n"),
    ]);
    for arguments in [&[][..], &["--check"], &["--apply"]] {
        let refused = migrate(&server, &files, arguments);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for (place, problem) in [
            ("schema.dl:1:1", "holds values of type int"),
            ("rules.dl:2:1", "recursion through negation"),
            ("rules.dl:3:1", "`person` has 2 columns, found 1"),
        ] {
            let has = |line: &&str| line.contains(place) && line.contains(problem);
            assert!(refused.err.lines().any(|line| has(&line)), "{place}: {refused:?}");
        }
    }
    assert_eq!(admin.execute("?fine(X)").await["code"], "unknown_relation", "nothing was made");
    write(
        files.path(),
        &[("schema.dl", "+person(id: int, name: string)\n"), ("rules.dl", "+named(N) <- person(_, N)\n")],
    );
    assert_eq!(migrate(&server, &files, &["--apply"]).code, Some(0), "files without statements are none");
}
