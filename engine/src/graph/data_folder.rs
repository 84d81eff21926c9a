//! Where things stand in a data folder.

/// The folder of the graphs' folders.
pub(super) const GRAPHS: &str = "graphs";
/// The file of the system store.
pub(super) const SYSTEM: &str = "system.redb";
/// The folder of sealed runs in the folder of a graph.
pub(super) const RUNS: &str = "runs";
/// The journal in the folder of a graph.
pub(super) const JOURNAL: &str = "graph.redb";
