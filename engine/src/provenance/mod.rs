//! Answers about answers: why a row is one.

mod aggregates;
mod known_heights;
mod met_rows;
mod paths;
mod proof;
mod prover;
mod replaced;
mod searched;
mod solutions;
mod told;
mod top_down;
mod why;

pub use proof::{Aggregated, Blocker, Bound, Cut, Fact, Missing, Node, Proof, Reason};
pub use why::Detail;
pub(crate) use why::{Question, why};
