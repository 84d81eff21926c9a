//! What the server's commands do, through the Rust client: each method once, and what it leaves behind.

use stratalog_client::arrow::array::RecordBatch;
use stratalog_client::files::{Column, ColumnType};
use stratalog_client::manage::{KeyTerms, Level, Role};
use stratalog_client::{Client, ClientError, Code, Credentials, ExecuteOptions, Value};
use stratalog_tests::server::{PASSWORD, Server};

fn admin() -> Credentials {
    Credentials::password("admin", PASSWORD)
}

async fn connect(server: &Server) -> Client {
    Client::connect(&server.url(), admin()).await.expect("a connection")
}

async fn run(client: &Client, program: &str) -> Vec<Vec<Value>> {
    let answer = client.execute(program, ExecuteOptions::default()).await;
    answer.unwrap_or_else(|error| panic!("{program}: {error}")).rows
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[tokio::test]
async fn graphs_are_created_used_and_dropped() {
    let server = Server::start();
    let client = connect(&server).await;
    client.graphs().create("lab").await.unwrap();
    assert_eq!(client.graph(), "lab");
    let all = client.graphs().all().await.unwrap();
    let found: Vec<(&str, bool)> = all.iter().map(|graph| (graph.name.as_str(), graph.current)).collect();
    assert_eq!(found, [("default", false), ("lab", true)]);
    client.graphs().switch_to("default").await.unwrap();
    assert_eq!(client.graph(), "default");
    client.graphs().drop("lab").await.unwrap();
    assert_eq!(client.graphs().all().await.unwrap().len(), 1);
    let missing = client.graphs().switch_to("lab").await.unwrap_err();
    assert_eq!(missing.code(), Some(Code::NotFound));
    let invalid = client.graphs().create("a b").await.unwrap_err();
    assert!(matches!(invalid, ClientError::Invalid { .. }), "{invalid}");
}

#[tokio::test]
async fn relations_are_declared_described_and_cleared() {
    let server = Server::start();
    let client = connect(&server).await;
    let column = |name: &str, column_type| Column { name: name.to_owned(), column_type };
    let columns = [column("name", ColumnType::Text), column("people", ColumnType::Int)];
    let relations = client.relations();
    relations.declare("city", &columns).await.unwrap();
    assert_eq!(relations.columns("city").await.unwrap().unwrap(), columns);
    assert_eq!(relations.columns("town").await.unwrap(), None);
    client.insert_rows("city", vec![vec![text("Oslo"), Value::Int(717_710)]]).await.unwrap();
    run(&client, "+large(X) <- city(X, N), N > 1").await;
    let all = relations.all().await.unwrap();
    let found: Vec<_> =
        all.iter().map(|each| (each.name.as_str(), each.tuples, each.kind.as_str())).collect();
    assert_eq!(found, [("city", Some(1), "base"), ("large", None, "derived")]);
    assert_eq!((all[0].arity, all[0].columns.as_str()), (2, "name: string, people: int"));
    assert_eq!(relations.clear_prefix("ci").await.unwrap(), [("city".to_owned(), 1)]);
    assert_eq!(relations.clear_prefix("ci").await.unwrap(), []);
    relations.drop("city").await.unwrap();
    assert_eq!(relations.columns("city").await.unwrap(), None);
    for name in ["x(a: int)\n+y", "a b", ""] {
        let invalid = relations.declare(name, &columns).await.unwrap_err();
        assert!(matches!(invalid, ClientError::Invalid { .. }), "{invalid}");
    }
}

#[tokio::test]
async fn facts_are_deleted_by_their_values_which_are_no_program_text() {
    let server = Server::start();
    let client = connect(&server).await;
    let odd = "a\", \"b\"), (\"c\\";
    let row = |name: &str, n| vec![text(name), Value::Int(n)];
    client.insert_rows("owns", vec![row(odd, 1), row("ada", 2), row("bob", 3)]).await.unwrap();
    let told = client.delete_rows("owns", vec![row(odd, 1), row("eve", 9)]).await.unwrap();
    assert_eq!(told.rows, [[text("deleted 1 fact from owns")]]);
    assert_eq!(run(&client, "?owns(X:asc, N)").await, [row("ada", 2), row("bob", 3)]);
    assert!(client.delete_rows("owns", Vec::new()).await.unwrap().rows.is_empty());
    let invalid = client.delete_rows("owns(1), -x", vec![row("ada", 2)]).await.unwrap_err();
    assert!(matches!(invalid, ClientError::Invalid { .. }), "{invalid}");
    // One that does not fit keeps the others.
    let rows = vec![row("ada", 2), vec![text("bob")]];
    assert_eq!(client.delete_rows("owns", rows).await.unwrap_err().code(), Some(Code::ArityMismatch));
    assert_eq!(run(&client, "?owns(X:asc, N)").await.len(), 2);
}

#[tokio::test]
async fn rules_are_listed_and_dropped() {
    let server = Server::start();
    let client = connect(&server).await;
    run(&client, "+edge[(1, 2), (2, 3)]").await;
    run(&client, "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)").await;
    run(&client, "+leaf(X) <- edge(_, X), !edge(X, _)\n+pair(X) <- edge(X, _)").await;
    let rules = client.rules();
    let all = rules.all().await.unwrap();
    let found: Vec<_> = all.iter().map(|rule| (rule.name.as_str(), rule.clauses)).collect();
    assert_eq!(found, [("leaf", 1), ("pair", 1), ("path", 2)]);
    assert_eq!(
        rules.clauses("path").await.unwrap(),
        ["path(X, Y) <- edge(X, Y)", "path(X, Z) <- path(X, Y), edge(Y, Z)"]
    );
    rules.remove("path", 2).await.unwrap();
    assert_eq!(run(&client, "?path(1, X)").await.len(), 1);
    rules.clear("leaf").await.unwrap();
    assert!(run(&client, "?leaf(X)").await.is_empty());
    rules.drop_prefix("pa").await.unwrap();
    rules.drop("leaf").await.unwrap();
    assert!(rules.all().await.unwrap().is_empty());
    assert!(rules.clauses("path").await.is_err());
}

#[tokio::test]
async fn a_session_has_facts_and_rules_of_its_own() {
    let server = Server::start();
    let client = connect(&server).await;
    run(&client, "seen(1)").await;
    run(&client, "far(X) <- seen(X)").await;
    let all = client.own().all().await.unwrap();
    let found: Vec<_> = all.iter().map(|own| (own.kind.as_str(), own.relation.as_str())).collect();
    assert_eq!(found, [("rule", "far"), ("fact", "seen")]);
    client.own().drop("far").await.unwrap();
    client.own().clear().await.unwrap();
    assert!(client.own().all().await.unwrap().is_empty());
}

#[tokio::test]
async fn users_keys_and_access() {
    let server = Server::start();
    let client = connect(&server).await;
    client.users().create("ada", "analytical", Role::Viewer).await.unwrap();
    client.users().set_role("ada", Role::Editor).await.unwrap();
    client.users().set_password("ada", "engine").await.unwrap();
    let all = client.users().all().await.unwrap();
    let found: Vec<_> = all.iter().map(|user| (user.username.as_str(), user.role)).collect();
    assert_eq!(found, [("ada", Role::Editor), ("admin", Role::Admin)]);
    let ada = Client::connect(&server.url(), Credentials::password("ada", "engine")).await.unwrap();
    assert_eq!(ada.session().role, "editor");
    assert_eq!(ada.users().all().await.unwrap_err().code(), Some(Code::AccessDenied));

    client.graphs().create("lab").await.unwrap();
    assert!(ada.graphs().switch_to("lab").await.is_err());
    client.access().grant("lab", "ada", Level::Viewer).await.unwrap();
    let grants = client.access().of("lab").await.unwrap();
    assert!(grants.iter().any(|grant| (grant.username.as_str(), grant.level) == ("ada", Level::Viewer)));
    ada.graphs().switch_to("lab").await.unwrap();
    client.access().revoke("lab", "ada").await.unwrap();
    assert!(run_refused(&ada, ".rel").await);

    let secret = client.keys().create("nightly").await.unwrap();
    let keyed = Client::connect(&server.url(), Credentials::api_key(&secret)).await.unwrap();
    assert_eq!(keyed.session().role, "admin");
    let keys = client.keys().all().await.unwrap();
    assert_eq!((keys[0].label.as_str(), keys[0].owner.as_str()), ("nightly", "admin"));
    assert!(keys[0].created > 1_700_000_000_000);
    client.keys().revoke("nightly").await.unwrap();
    assert!(client.keys().all().await.unwrap().is_empty());
    let terms =
        KeyTerms { user: Some("ada".into()), expires: Some("30d".into()), scope: Some("read".into()) };
    let secret = client.keys().create_for("reader", &terms).await.unwrap();
    let key = client.keys().all().await.unwrap().remove(0);
    assert_eq!((key.owner.as_str(), key.scope.as_str()), ("ada", "read"));
    assert!(key.expires.is_some_and(|expires| expires - key.created <= 30 * 86_400_000));
    let reader = Client::connect(&server.url(), Credentials::api_key(&secret)).await.unwrap();
    assert!(reader.users().set_own_password("difference").await.is_err(), "a key changes no password");
    ada.users().set_own_password("difference").await.unwrap();
    client.users().drop("ada").await.unwrap();
    assert_eq!(client.users().all().await.unwrap().len(), 1);
    let invalid = client.users().create("eve", "open sesame", Role::Admin).await.unwrap_err().to_string();
    assert!(invalid.contains("password") && !invalid.contains("sesame"), "{invalid}");
}

async fn run_refused(client: &Client, program: &str) -> bool {
    client.execute(program, ExecuteOptions::default()).await.is_err()
}

#[tokio::test]
async fn indexes_are_created_built_and_dropped() {
    let server = Server::start();
    let client = connect(&server).await;
    run(&client, "+doc(id: int, v: vector(2))\n+doc[(1, [1.0, 0.0]), (2, [0.0, 1.0])]").await;
    client.indexes().create("near_docs", "doc", "v", "metric cosine  m 16").await.unwrap();
    client.indexes().create("by_id", "doc", "id", "type sorted").await.unwrap();
    let all = client.indexes().all().await.unwrap();
    let found: Vec<_> =
        all.iter().map(|each| (each.name.as_str(), each.kind.as_str(), each.row_count)).collect();
    assert_eq!(found, [("by_id", "sorted", 2), ("near_docs", "hnsw", 2)]);
    assert_eq!(all[1].metric.as_deref(), Some("cosine"));
    client.indexes().rebuild("near_docs").await.unwrap();
    assert_eq!(client.indexes().state("near_docs").await.unwrap().row_count, 2);
    client.indexes().drop("near_docs").await.unwrap();
    client.indexes().drop("by_id").await.unwrap();
    assert!(client.indexes().all().await.unwrap().is_empty());
}

#[tokio::test]
async fn requests_and_the_server() {
    let server = Server::start();
    let client = connect(&server).await;
    run(&client, "+start(1)").await;
    let other = connect(&server).await;
    let endless = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";
    let running = other.start(endless, ExecuteOptions::default()).await.unwrap();
    let found = loop {
        let all = client.requests().all().await.unwrap();
        if let Some(found) = all.into_iter().find(|request| request.program.starts_with("n(X)")) {
            break found;
        }
    };
    assert_eq!((found.user.as_str(), found.knowledge_graph.as_str()), ("admin", "default"));
    client.requests().kill(found.id).await.unwrap();
    assert_eq!(running.answer().await.unwrap_err().code(), Some(Code::Cancelled));
    let status = client.server().status().await.unwrap();
    assert_eq!((status.knowledge_graph.as_str(), status.relations, status.tuples), ("default", 1, 1));
    client.server().compact().await.unwrap();
    client.server().backup("monday").await.unwrap();
    assert!(client.server().backup("monday").await.is_err());
}

#[tokio::test]
async fn numbers_that_are_not_finite_are_refused_before_anything_is_sent() {
    let server = Server::start();
    let client = connect(&server).await;
    for number in [f64::NAN, f64::INFINITY] {
        let options = ExecuteOptions::default().param("x", number);
        let error = client.execute("+measured($x)", options).await.unwrap_err();
        assert!(error.to_string().contains("the parameter `$x`"), "{error}");
        let rows = vec![vec![Value::Vector(vec![1.0, number])]];
        let error = client.insert_rows("measured", rows).await.unwrap_err();
        assert!(error.to_string().contains("a fact of `measured`"), "{error}");
        let error = client.delete_rows("measured", vec![vec![Value::Float(number)]]).await.unwrap_err();
        assert!(matches!(error, ClientError::Invalid { .. }), "{error}");
    }
    assert!(client.relations().all().await.unwrap().is_empty());
    assert_eq!(client.insert_batches("none", Vec::<RecordBatch>::new()).await.unwrap().inserted, 0);
}

/// A listing is a read, and repeated as any other.
#[tokio::test(flavor = "multi_thread")]
async fn listings_are_repeated_after_a_lost_connection() {
    let folder = tempfile::TempDir::new().unwrap();
    let server = Server::start_in(folder.path(), &[]);
    let port = server.address().rsplit(':').next().unwrap().to_owned();
    let client = connect(&server).await;
    run(&client, "+edge(1, 2)").await;
    drop(server);
    let _server = Server::start_in(folder.path(), &[("SERVICE_HTTP__PORT", &port)]);
    assert_eq!(client.relations().all().await.unwrap().len(), 1);
}
