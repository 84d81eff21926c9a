//! Data and questions that the benches share. Everything random has a fixed seed.

mod facts;
mod graphs;
mod packages;
mod questions;
mod texts;
mod vectors;

pub use facts::{peak_mb, tables};
pub use graphs::{edges_batch, orders_batch, random_graph, wide_facts};
pub use packages::package_dependencies;
pub use questions::{answer, answer_rows, define, load, profile, session, session_of};
pub use texts::text_rows;
pub use vectors::{settle, vector_rows, vectors};
