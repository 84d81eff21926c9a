//! Data and questions that the benches share. Everything random has a fixed seed.

mod changes;
mod facts;
mod fingerprint;
mod follower;
mod graphs;
mod packages;
mod questions;
mod statements;
mod steps;
mod texts;
mod vectors;

pub use changes::{Change, Changes, program};
pub use facts::{peak_mb, tables};
pub use fingerprint::Fingerprint;
pub use follower::{Follower, commit};
pub use graphs::{distinct_edges, edges_batch, orders_batch, priced_orders, random_graph, roads, wide_facts};
pub use packages::package_dependencies;
pub use questions::{answer, answer_rows, define, load, profile, session, session_of};
pub use statements::pointer_statements;
pub use steps::Steps;
pub use texts::text_rows;
pub use vectors::{settle, vector_rows, vectors};
