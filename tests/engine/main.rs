//! The engine in process: answers, plans, what is kept and what is told, against oracles and plain loops.

mod asked_again;
mod checked;
mod differential;
mod indexes;
mod large;
mod live;
mod orders;
mod plans;
mod profile;
mod proofs;
mod recursions;
mod unions;
mod values;
mod views;
