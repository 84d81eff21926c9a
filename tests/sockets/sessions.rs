//! What a session has for itself: seen by nobody else, gone with the session, and said of every row.

use std::time::Duration;

use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, PASSWORD, Server};

/// Two sessions of the same user on a server of their own.
async fn two() -> (Server, Connection, Connection) {
    let server = Server::start();
    let (one, two) = (server.log_in().await, server.log_in().await);
    (server, one, two)
}

fn code(reply: &Json) -> &str {
    reply["code"].as_str().unwrap_or_default()
}

/// The rows of a reply with the origin of each.
fn origins(reply: &Json) -> Vec<(&Json, &str)> {
    let rows = reply["rows"].as_array().expect("a result");
    let origins = reply["row_provenance"].as_array().expect("a dirty session tells origins");
    assert_eq!(rows.len(), origins.len(), "{reply}");
    rows.iter().zip(origins.iter().map(|origin| origin.as_str().unwrap_or_default())).collect()
}

// Nothing leaks.

#[tokio::test]
async fn facts_of_a_session_are_its_own() {
    let (_server, mut one, mut two) = two().await;
    one.rows("+edge(1, 2)").await;
    one.rows("edge(2, 3)").await;
    one.rows("mine(7)").await;
    assert_eq!(one.rows("?edge(X:asc, Y)").await, json!([[1, 2], [2, 3]]));
    assert_eq!(two.rows("?edge(X, Y)").await, json!([[1, 2]]));
    assert_eq!(code(&two.execute("?mine(X)").await), "unknown_relation");
    assert_eq!(two.rows("?edge(2, Y)").await, json!([]));
    assert_eq!(two.rows("?count<X> <- edge(X, _)").await, json!([[1]]));
    assert_eq!(two.rows(".rel").await.as_array().map(Vec::len), Some(1));
    // The same fact in two sessions: dropping one leaves the other.
    two.rows("edge(2, 3)").await;
    one.rows(".session clear").await;
    assert_eq!(one.rows("?edge(X, Y)").await, json!([[1, 2]]));
    assert_eq!(two.rows("?edge(X:asc, Y)").await, json!([[1, 2], [2, 3]]));
}

#[tokio::test]
async fn rules_of_a_session_are_its_own() {
    let (_server, mut one, mut two) = two().await;
    one.rows("+edge[(1, 2), (2, 3)]").await;
    one.rows("+reach(X) <- edge(1, X)").await;
    one.rows("reach(Y) <- reach(X), edge(X, Y)").await;
    one.rows("own(X) <- reach(X)").await;
    // Clauses of the session and of the graph are united, for this session.
    assert_eq!(one.rows("?reach(X:asc)").await, json!([[2], [3]]));
    assert_eq!(two.rows("?reach(X)").await, json!([[2]]));
    assert_eq!(code(&two.execute("?own(X)").await), "unknown_relation");
    assert_eq!(two.rows(".rule").await, json!([["reach", 1]]));
    assert_eq!(two.rows(".session").await, json!([]));
    // What the other session registers for everybody meets what this one has for itself.
    two.rows("+reach(X) <- edge(X, 2)").await;
    assert_eq!(one.rows("?reach(X:asc)").await, json!([[1], [2], [3]]));
    assert_eq!(two.rows("?reach(X:asc)").await, json!([[1], [2]]));
}

#[tokio::test]
async fn what_a_session_inserts_by_message_is_its_own_too() {
    let (_server, mut one, mut two) = two().await;
    let insert = json!({"type": "insert", "relation": "n", "scope": "session", "rows": [[1], [2]]});
    let reply = one.ask(insert).await;
    assert_eq!(reply["rows"], json!([["n", 2, 0]]), "{reply}");
    assert_eq!(one.rows("?n(X:asc)").await, json!([[1], [2]]));
    assert_eq!(code(&two.execute("?n(X)").await), "unknown_relation");
}

#[tokio::test]
async fn schemas_of_a_session_are_its_own() {
    let (_server, mut one, mut two) = two().await;
    one.rows("mine(who: string)").await;
    assert_eq!(code(&one.execute("mine(1)").await), "type_mismatch");
    two.rows("mine(1)").await;
    assert_eq!(two.rows("?mine(X)").await, json!([[1]]));
    assert_eq!(one.execute("?mine(X)").await["columns"], json!(["who"]));
}

#[tokio::test]
async fn persistent_statements_do_not_read_the_session() {
    let (_server, mut one, mut two) = two().await;
    one.rows("+n[1, 2, 3]").await;
    one.rows("odd(1)").await;
    one.rows("n(9)").await;
    assert_eq!(code(&one.execute("-n(X) <- odd(X)").await), "unknown_relation");
    one.rows("-n(X) <- n(X), X > 2").await;
    one.rows("-n(9)").await;
    assert_eq!(one.rows("?n(X:asc)").await, json!([[1], [2], [9]]));
    assert_eq!(two.rows("?n(X:asc)").await, json!([[1], [2]]));
}

// Nothing survives.

#[tokio::test]
async fn nothing_survives_the_connection() {
    let server = Server::start();
    for abrupt in [false, true] {
        let mut connection = server.log_in().await;
        connection.rows("+edge(1, 2)").await;
        connection.rows("edge(2, 3)").await;
        connection.rows("own(X) <- edge(X, _)").await;
        if abrupt {
            // The socket goes without a word.
            drop(connection);
        } else {
            connection.send(tokio_tungstenite::tungstenite::Message::Close(None)).await;
            connection.closed(&[]).await;
        }
        let mut next = server.log_in().await;
        assert_eq!(next.rows("?edge(X, Y)").await, json!([[1, 2]]), "abrupt: {abrupt}");
        assert_eq!(code(&next.execute("?own(X)").await), "unknown_relation", "abrupt: {abrupt}");
        assert_eq!(next.rows(".session").await, json!([]));
    }
}

#[tokio::test]
async fn nothing_survives_a_switch_to_another_graph() {
    let server = Server::start();
    let mut connection = server.log_in().await;
    connection.rows("own(1)").await;
    connection.rows("rule(X) <- own(X)").await;
    let reply = connection.execute(".kg create other").await;
    assert_eq!(reply["switched_kg"], "other", "{reply}");
    assert_eq!(connection.rows(".session").await, json!([]));
    connection.rows("own(2)").await;
    assert_eq!(connection.execute(".kg use default").await["switched_kg"], "default");
    assert_eq!(connection.rows(".session").await, json!([]));
    assert_eq!(code(&connection.execute("?own(X)").await), "unknown_relation");
    // A refused switch leaves everything as it was.
    connection.rows("own(3)").await;
    assert_eq!(code(&connection.execute(".kg use nowhere").await), "not_found");
    assert_eq!(connection.rows("?own(X)").await, json!([[3]]));
}

#[tokio::test]
async fn a_session_on_a_dropped_graph_is_told() {
    let (_server, mut one, mut two) = two().await;
    one.rows(".kg create lab").await;
    one.rows("own(1)").await;
    two.rows(".kg drop lab").await;
    assert_eq!(code(&one.execute("?own(X)").await), "not_found");
    assert_eq!(one.ask(json!({"type": "ping"})).await["type"], "pong");
    one.rows(".kg use default").await;
    assert_eq!(code(&one.execute("?own(X)").await), "unknown_relation");
}

#[tokio::test]
async fn programs_of_several_statements_keep_their_session_facts_to_themselves() {
    let server = Server::start();
    let mut connection = server.log_in().await;
    connection.rows("own(1)").await;
    let program = "own(2)\nguess(X) <- own(X)\n?guess(X:asc)";
    let reply = connection.execute(program).await;
    assert_eq!(reply["rows"], json!([[1], [2]]), "{reply}");
    assert_eq!(reply["metadata"]["ephemeral_sources"], json!(["own"]));
    assert_eq!(code(&connection.execute("?guess(X)").await), "unknown_relation");
    assert_eq!(connection.rows("?own(X)").await, json!([[1]]));
    // Persistent statements of such a program stay.
    connection.rows("own(3)\n+kept(4)\n?own(X), kept(Y)").await;
    assert_eq!(connection.rows("?kept(X)").await, json!([[4]]));
    // A program that fails leaves nothing of its session part either.
    assert_eq!(code(&connection.execute("own(5)\n?nothing(X)").await), "unknown_relation");
    assert_eq!(connection.rows("?own(X)").await, json!([[1]]));
}

// Every row says where it is from.

#[tokio::test]
async fn rows_say_whether_they_need_the_session() {
    let server = Server::start();
    let mut connection = server.log_in().await;
    connection.rows("+edge[(1, 2), (2, 3)]").await;
    connection.rows("+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)").await;
    // A clean session has no metadata.
    let clean = connection.execute("?path(1, X:asc)").await;
    assert_eq!(clean["metadata"], Json::Null, "{clean}");
    connection.rows("edge(3, 4)").await;
    let dirty = connection.execute("?path(1, X:asc)").await;
    assert_eq!(
        origins(&dirty),
        [(&json!([1, 2]), "persistent"), (&json!([1, 3]), "persistent"), (&json!([1, 4]), "ephemeral")]
    );
    // In the order of the rows, after order and limit.
    let reply = connection.execute("?path(1, X:desc), limit(2)").await;
    assert_eq!(origins(&reply), [(&json!([1, 4]), "ephemeral"), (&json!([1, 3]), "persistent")]);
    // An aggregate that takes in a fact of the session; one that comes out as without.
    let reply = connection.execute("?count<X> <- edge(X, _)").await;
    assert_eq!(origins(&reply), [(&json!([3]), "ephemeral")]);
    let reply = connection.execute("?min<X> <- edge(X, _)").await;
    assert_eq!(origins(&reply), [(&json!([1]), "persistent")]);
    // What negation takes away is no row.
    connection.rows("+node[1, 2, 3, 4]").await;
    let reply = connection.execute("?node(X:asc), !edge(X, _)").await;
    assert_eq!(origins(&reply), [(&json!([4]), "persistent")]);
    // A stored fact that the session states again is the graph's.
    connection.rows("edge(1, 2)").await;
    let reply = connection.execute("?edge(1, X)").await;
    assert_eq!(origins(&reply), [(&json!([1, 2]), "persistent")]);
}

#[tokio::test]
async fn metadata_name_the_session_s_relations_sorted_and_carry_warnings() {
    let server = Server::start();
    let mut connection = server.log_in().await;
    connection.rows("+stored(1)").await;
    let metadata = |reply: &Json| reply["metadata"].clone();
    for fact in ["zeta(1)", "alpha(1)", "mid(1)"] {
        connection.rows(fact).await;
    }
    // Also for a query that touches nothing of it.
    let reply = connection.execute("?stored(X)").await;
    assert_eq!(
        metadata(&reply),
        json!({"has_ephemeral": true, "ephemeral_sources": ["alpha", "mid", "zeta"]})
    );
    // Rules are no sources: with nothing but rules the list is left out.
    connection.rows(".session clear").await;
    connection.rows("r(X) <- stored(X)").await;
    let reply = connection.execute("?r(X)").await;
    assert_eq!(metadata(&reply), json!({"has_ephemeral": true}));
    // With warnings; a clean session has only these.
    let reply = connection.execute("?r(X), stored(Y)").await;
    assert_eq!(metadata(&reply)["has_ephemeral"], true);
    let warned = |reply: &Json| reply["metadata"]["warnings"][0].to_string();
    assert!(warned(&reply).contains("share no variable"), "{reply}");
    connection.rows(".session clear").await;
    let reply = connection.execute("?stored(X), stored(Y)").await;
    assert!(warned(&reply).contains("share no variable"), "{reply}");
    assert_ne!(reply["metadata"]["has_ephemeral"], true, "{reply}");
    assert_eq!(reply["metadata"]["ephemeral_sources"], Json::Null);
}

#[tokio::test]
async fn a_session_is_dirty_with_its_first_fact_or_rule_and_clean_without_its_last() {
    let server = Server::start();
    let mut connection = server.log_in().await;
    connection.rows("+e(1)").await;
    let steps: &[(&str, bool)] = &[
        ("e(2)", true),
        ("e(3)", true),
        (".session clear", false),
        ("r(X) <- e(X)", true),
        (".session drop r", false),
        ("r(X) <- e(X)", true),
        ("r(X) <- e(X), X > 1", true),
        (".session drop 2", true),
        (".session drop 1", false),
        ("r(X) <- e(X)", true),
        (".session remove r 1", false),
        // Facts that the program keeps to itself; facts that are refused; a rule that is refused.
        ("e(4)\n+e(1)", false),
    ];
    for (program, dirty) in steps {
        connection.rows(program).await;
        let reply = connection.execute("?e(1)").await;
        assert_eq!(reply["metadata"]["has_ephemeral"].as_bool().unwrap_or(false), *dirty, "after {program}");
    }
    for refused in ["e(1, 2)", "r(X, Y) <- e(X)", "r(X) <- e(X), !r(X)"] {
        assert_eq!(connection.execute(refused).await["type"], "error", "{refused}");
        assert_eq!(connection.execute("?e(1)").await["metadata"], Json::Null, "after {refused}");
    }
}

// Several sessions at once.

#[tokio::test]
async fn writes_of_others_are_seen_at_once() {
    let (_server, mut one, mut two) = two().await;
    one.rows("+n(0)").await;
    one.rows("n(1000)").await;
    one.rows("big(X) <- n(X), X >= 20").await;
    for i in 1..=50 {
        two.rows(&format!("+n({i})")).await;
        let rows = one.rows("?count<X> <- n(X)").await;
        assert_eq!(rows, json!([[i + 2]]), "after the write of {i}");
    }
    assert_eq!(one.rows("?count<X> <- big(X)").await, json!([[32]]));
    two.rows("-n(X) <- n(X), X > 0").await;
    assert_eq!(one.rows("?n(X:asc)").await, json!([[0], [1000]]));
}

/// Each of sixteen sessions has facts and a rule of its own under the same names, while the graph changes; none sees a
/// row of another.
#[tokio::test]
async fn sixteen_sessions_at_once_never_see_each_other() {
    const SESSIONS: i64 = 16;
    const ROUNDS: i64 = 25;
    let server = Server::start();
    let mut first = server.log_in().await;
    first.rows("+fact(0, 0)\n+seen(X, Y) <- fact(X, Y), Y >= 0").await;
    let mut connections = Vec::new();
    for _ in 0..SESSIONS {
        connections.push(server.log_in().await);
    }
    let tasks = connections.into_iter().zip(1..).map(|(mut connection, me): (Connection, i64)| {
        tokio::spawn(async move {
            connection.rows(&format!("seen(X, 0 - 1) <- fact(X, _), X = {me}")).await;
            for round in 1..=ROUNDS {
                connection.rows(&format!("fact[({me}, {round}), ({me}, {})]", round + 1000)).await;
                // Everybody's, too: the graph changes under all of them.
                connection.rows(&format!("+shared({me}, {round})")).await;
                let reply = connection.execute("?seen(X, Y)").await;
                assert_eq!(reply["type"], "result", "{reply}");
                let mut own = 0;
                for (row, origin) in origins(&reply) {
                    let whose = row[0].as_i64();
                    assert!(whose == Some(0) || whose == Some(me), "session {me} sees {row}");
                    assert_eq!(origin, if whose == Some(0) { "persistent" } else { "ephemeral" });
                    own += i64::from(whose == Some(me));
                }
                assert_eq!(own, 2 * round + 1, "session {me}, round {round}");
            }
            let mine = connection.rows(&format!("?count<N> <- shared({me}, N)")).await;
            assert_eq!(mine, json!([[ROUNDS]]));
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("the session saw its own rows only");
    }
    assert_eq!(first.rows("?fact(X, Y)").await, json!([[0, 0]]));
    assert_eq!(first.rows("?count<X> <- shared(X, _)").await, json!([[SESSIONS * ROUNDS]]));
}

// Limits.

#[tokio::test]
async fn facts_and_rules_of_a_session_are_limited() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__MAX_SESSION_FACTS", "3"),
        ("SERVICE_LIMITS__MAX_SESSION_RULES", "2"),
    ]);
    let mut connection = server.log_in().await;
    let limit = |reply: &Json| (code(reply).to_owned(), reply["limit"].clone());
    connection.rows("n[1, 2]").await;
    let refused = connection.execute("n[3, 4]").await;
    let reached = json!({"name": "max_session_facts", "value": 3});
    assert_eq!(limit(&refused), ("limit_exceeded".to_owned(), reached.clone()), "{refused}");
    assert!(refused["help"].as_str().is_some_and(|help| help.contains(".session clear")), "{refused}");
    assert_eq!(refused["span"]["line"], 1);
    // All or nothing; what is there already counts once.
    assert_eq!(connection.rows("?n(X:asc)").await, json!([[1], [2]]));
    connection.rows("n[1, 2, 3]").await;
    let message = json!({"type": "insert", "relation": "m", "scope": "session", "rows": [[1]]});
    assert_eq!(limit(&connection.ask(message).await), ("limit_exceeded".to_owned(), reached.clone()));
    // In a program of several statements, too, and its own facts are then gone.
    assert_eq!(limit(&connection.execute("n(9)\n?n(X)").await).1, reached);
    assert_eq!(connection.rows("?n(X:asc)").await, json!([[1], [2], [3]]));

    connection.rows("r(X) <- n(X)").await;
    connection.rows("s(X) <- n(X)").await;
    connection.rows("s(X) <- n(X)").await;
    let refused = connection.execute("s(X) <- n(X), X > 1").await;
    assert_eq!(
        limit(&refused),
        ("limit_exceeded".to_owned(), json!({"name": "max_session_rules", "value": 2}))
    );
    // Another session has its own allowance, and persistent ones do not count.
    let mut other = server.log_in().await;
    other.rows("n[1, 2, 3]").await;
    other.rows("+p[1, 2, 3, 4, 5]").await;
    connection.rows(".session clear").await;
    connection.rows("n[4, 5, 6]").await;
}

#[tokio::test]
async fn many_sessions_come_and_go() {
    let server = Server::start();
    for round in 0..40 {
        let mut connection = server.log_in().await;
        connection.rows(&format!("own({round})")).await;
        assert_eq!(connection.rows("?own(X)").await, json!([[round]]));
    }
    // All of them are gone, and the server goes on.
    let mut last = server.connect().await;
    assert_eq!(last.log_in(PASSWORD).await["type"], "authenticated");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(code(&last.execute("?own(X)").await), "unknown_relation");
}
