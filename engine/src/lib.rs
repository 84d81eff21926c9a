//! A columnar Datalog engine: text in, record batches out. It knows nothing of sockets and users.
//!
//! Read the modules in this order; each uses only those above it.

/// What is stored: values, types, codes, relations as runs of record batches.
pub mod data;

/// Indexes that people define: what is defined, and what is built of it.
pub mod index;

/// How anything is reported: spans, codes, carets.
pub mod diagnostic;

/// How large things may be.
pub mod limits;

/// What a request may use: time, memory, and the right to go on.
pub mod budget;

/// What a request can fail with.
pub mod error;

/// What survives a crash: journals, sealed runs, and the list of graphs.
pub mod storage;

/// Relations whose rows are in files elsewhere.
pub mod attached;

/// Aggregates: one list.
pub mod aggregates;

/// Scalar functions: one list.
pub mod functions;

/// What the user wrote: tokens, statements with their places, and text again.
pub mod syntax;

/// What is defined in a graph: relations, rules, types.
pub mod catalog;

/// What a program means, or why it is refused.
pub mod analysis;

/// Program to program, one pass a file.
pub mod rewrite;

/// A rule to a pipeline of operators.
pub mod plan;

/// Plans at work on columns of codes.
pub mod exec;

/// Where questions are evaluated: here, or by a cluster.
pub mod cluster;

/// One named knowledge graph: snapshots, commits, a session's overlay.
pub mod graph;

/// Rows of rules, brought from one state of a graph to another.
mod maintain;

/// Rows of rules that are kept.
mod views;

/// Questions that have been analysed and rewritten, to be asked with other constants.
mod forms;

/// Why rows are answers.
pub mod provenance;

/// What running a program gives.
pub mod answer;

/// The right that a statement asks for.
pub mod need;

/// Who runs programs.
pub mod caller;

/// What statements and commands work on.
mod context;

/// Statements at work, one file each.
pub mod statements;

/// Dot commands: one list, one file a family.
pub mod commands;

/// Programs: statements in order, and the last query.
pub mod program;

/// What running a program would complain about, without running it.
mod check;

/// Graphs as folders of Parquet and one program: out and in.
mod transfer;

/// Answers that are told as they change.
pub mod live;

/// What graphs are told to keep is brought to each version.
mod keeper;

/// Engine and sessions: the way in.
pub mod engine;

pub use answer::{Answer, Content, Ephemeral, Provenance, ResultColumn, Rows};
pub use budget::{Budget, BudgetError, MemoryPool, PoolFull, Progress, Stop};
pub use caller::{Anyone, Caller, Keep};
pub use catalog::ClusterUse;
pub use check::{Checked, check, check_among};
pub use cluster::{Cluster, EvaluationPlace};
pub use commands::{CommandEntry, CommandFamily};
pub use context::{Context, Outcome, Question};
pub use data::{DataType, Kind, Value};
pub use diagnostic::{Code, Diagnostic, Fix, LimitReached, Place, Severity, SourceMap, Span};
pub use engine::{Engine, EngineOptions, Prepared, Session};
pub use error::Error;
pub use exec::{Elsewhere, Thresholds};
pub use graph::{
    ArchiveOptions, ArchiveState, BackupPlace, BackupSummary, Binding, Committed, DEFAULT_GRAPH, Event,
    GraphId, Lineage, Listener, Origin, SessionState, Statistics, StorageOptions, StoredBackup, Until,
    graph_not_found, is_invisible, restore, restore_on, restore_to,
};
pub use limits::Limits;
pub use live::{Begun, Delta, Jointly, LiveOptions, LiveStatus, Next, Pace, Subscription, Waker, Work};
pub use need::{Need, Requirement};
pub use program::RunOptions;
pub use provenance::Proof;
pub use rewrite::names as rewrite_names;
pub use statements::{Inserted, Parameters};
pub use storage::RecordChange;
pub use syntax::ast::{Name, Scope};
pub use transfer::Transferred;
pub use views::{Advance, ViewStatus};
