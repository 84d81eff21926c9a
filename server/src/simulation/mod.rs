//! The whole storage of a server under faults: engine and accounts on a disk that fails as disks do.
//!
//! One seed decides everything: who does what, which file operation fails and how, when the power goes and when the
//! process ends. A [`Model`](model::State) knows what was acknowledged. `make simulate` runs many seeds; `SIMULATE_SEED=n`
//! runs one again, exactly.

mod actions;
mod model;
mod numbers;
mod refusals;
mod run;
mod server;
