//! The graphs of an engine, as far as they can be served.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::Graph;
use crate::storage::StorageError;

/// A graph, or why it cannot be opened.
pub(super) type Opened = Result<Arc<Graph>, StorageError>;

/// All graphs by their names.
pub(super) type ByName = RwLock<BTreeMap<String, Opened>>;
