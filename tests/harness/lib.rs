//! What the suites share: a naive evaluator, random programs, golden files, a running server.
//!
//! Nothing here trusts the engine: values, their order and their printed form are written down once more.

pub mod value;

pub mod answers;

pub mod functions;

pub mod model;

pub mod oracle;

pub mod place;

pub mod programs;

pub mod changes;

pub mod attached;

pub mod modes;

pub mod ways;

pub mod golden;

pub mod server;

pub mod restarting;

pub mod subscriber;

pub mod cli;

pub mod prompt;

pub mod proxy;

pub mod certificates;

pub mod object_store;

pub mod load;

pub mod raw;

pub mod mutate;

pub mod fuzzed;

pub mod power_loss;

pub mod stored;

pub mod times;
