//! What is asked of a server with live queries, by `make load` and the bench `live`.

use serde_json::{Value as Json, json};

use crate::server::Connection;
use crate::subscriber::Subscriber;

/// A graph in which nothing happens: whoever is there is told of live queries and of nothing else.
const ASIDE: &str = "aside";

/// A brief question: what is written, with what is known about it.
pub const SEEN: &str = "?seen(W, N), label(N, Name)";

/// One that takes longer than a commit: a recursion through all facts, which each fact that is written changes.
pub const LINKED: &str = "?count<Y>, sum<Y> <- linked(_, Y)";

/// What these need beside the facts of [`prepare`](super::prepare).
pub async fn prepare_live(admin: &mut Connection) {
    admin.rows(&format!(".kg create {ASIDE}\n.kg use default\n+seen(w: int, n: int)\n+quiet(x: int)")).await;
    admin.rows("+linked(X, Y) <- edge(X, Y)\n+linked(X, Y) <- seen(X, Y)").await;
    admin.rows("+linked(X, Z) <- linked(X, Y), edge(Y, Z)").await;
}

/// Subscribes, takes the first answer, and goes aside.
pub async fn subscribe_aside(connection: Connection, request: Json) -> Subscriber {
    let mut subscriber = Subscriber::with(connection, request).await.expect("it is subscribed");
    subscriber.next().await.expect("the first answer");
    let message = json!({"type": "execute", "program": format!(".kg use {ASIDE}")});
    let reply = subscriber.ask(message).await.expect("the question has an answer");
    assert_eq!(reply["type"], "result", "{reply}");
    subscriber
}
