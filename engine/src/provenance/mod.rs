//! Answers about answers: why a row is one.

mod aggregates;
mod explaining;
mod heights;
mod known_heights;
mod met_rows;
mod paths;
mod proof;
mod prover;
mod question;
mod replaced;
mod search;
mod searched;
mod solutions;
mod told;
mod top_down;
mod why;

pub use proof::{Aggregated, Blocker, Bound, Cut, Detail, Fact, Missing, Node, Proof, Reason};
pub(crate) use question::Question;
pub(crate) use why::why;
