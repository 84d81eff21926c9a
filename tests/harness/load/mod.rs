//! Load on a server: clients that ask one thing after the other, and what that takes. `make load` and the benches `network`
//! and `live` are the same clients.

mod figures;
mod fleet;
mod live;
mod mix;

pub use figures::{Figures, per_mille};
pub use fleet::Fleet;
pub use live::{LINKED, SEEN, prepare_live, subscribe_aside};
pub use mix::{KINDS, Kind, Mix, NoMix};

use crate::server::Connection;

/// What is asked unless something else is said.
pub const MIX: &str = "point:80,reach:15,insert:5";

/// Facts sent in one insert.
const BATCH: u64 = 10_000;

/// Chains of ten, and a rule that follows them.
pub async fn prepare(admin: &mut Connection, facts: u64) {
    admin.rows("+edge(from: int, to: int)\n+label(node: int, name: string)").await;
    for start in (0..facts).step_by(BATCH as usize) {
        let nodes = start..(start + BATCH).min(facts);
        let edges: Vec<_> =
            nodes.clone().map(|node| [node, node + 1]).filter(|[from, _]| from % 10 != 9).collect();
        let labels: Vec<_> = nodes.map(|node| (node, format!("node {node}"))).collect();
        for (relation, rows) in [("edge", serde_json::json!(edges)), ("label", serde_json::json!(labels))] {
            let reply =
                admin.ask(serde_json::json!({"type": "insert", "relation": relation, "rows": rows})).await;
            assert_eq!(reply["type"], "result", "{reply}");
        }
    }
    admin.rows("+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)").await;
}
