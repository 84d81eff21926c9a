//! Every message and every state of the protocol, over a socket, against the real executable.

mod authentication;
mod clients;
mod errors;
mod http;
mod inserts;
mod messages;
mod origins;
mod results;
mod stopping;
mod working;

use serde_json::Value as Json;
use stratalog_tests::server::{Connection, Server};

/// A session on a server of its own.
async fn start() -> (Server, Connection) {
    let server = Server::start();
    let connection = server.log_in().await;
    (server, connection)
}

/// A rule without end, and the question that runs it.
const DIVERGE: &str = "?n(X)";

async fn define_divergence(connection: &mut Connection) {
    connection.rows("+n(0)").await;
    connection.rows("+n(Y) <- n(X), Y = X + 1").await;
}

fn assert_error(reply: &Json, code: &str) {
    assert_eq!(reply["type"], "error", "{reply}");
    assert_eq!(reply["code"], code, "{reply}");
    assert!(reply["message"].as_str().is_some_and(|message| !message.is_empty()), "{reply}");
}
