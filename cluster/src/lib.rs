//! Rules over more rows than fit memory: the strata of a program become plans of DataFusion over columns of codes.
//!
//! A stratum is evaluated as the engine would, with the same results, but its rows lie in files and its joins spill. What
//! rules say of values, and how solutions are aggregated, is computed by the engine itself, batch by batch. A stratum for
//! which there is no plan is evaluated by the engine in memory.
//!
//! Read the modules in this order; each uses only those above it.

/// What is given for an evaluation.
mod settings;

/// What goes wrong, on its way through DataFusion.
mod failure;

/// Rows of codes as record batches.
mod batches;

/// Where the files of a process are,
mod folder;

/// or in a store that many machines see.
mod bucket;

/// Where those files are that others see.
mod shared;

/// The rows of a relation, in memory or in files.
mod table;

/// Where files are.
mod store;

/// Rows to files.
mod files;

/// Rows in memory as files, for others.
mod published;

/// Where the files of an evaluation are.
mod scratch;

/// What an evaluation by the engine reads.
mod inputs;

/// What an evaluation finds out beside rows.
mod findings;

/// Operators and expressions that DataFusion does not have.
mod nodes;

/// Rules to plans.
mod lower;

/// The memory of plans.
mod pool;

/// Who runs plans.
mod runner;

/// Plans on executors, by Ballista.
mod ballista;

/// One program, stratum by stratum.
mod evaluation;

/// What the engine asks.
mod evaluator;

pub use ballista::{Ended, Executor, ExecutorSettings};
pub use evaluator::{Evaluator, Tally};
pub use lower::Refusal;
pub use settings::{Coordination, Settings, StorePlace, TlsFiles};
