//! One step of a change of the system store, and what a change is in its history.

use std::collections::BTreeMap;

use super::clock::{Clock, Moment};
use super::history::SystemEdit;

/// What the server keeps: a key, and its new content, or none if the record goes.
pub type RecordChange = (String, Option<Vec<u8>>);

/// One step of a change.
#[derive(Debug, Clone)]
pub enum SystemChange {
    /// A folder is of no use to anyone: it is about to be made, or has lost its graph.
    AddLeftover(String),
    /// A folder is gone, or has become a graph's.
    RemoveLeftover(String),
    /// A graph has this folder.
    AddGraph {
        /// Its name.
        name: String,
        /// Its folder.
        folder: String,
    },
    /// There is no such graph any more.
    RemoveGraph(String),
    /// Sets a record, or removes it.
    Record(RecordChange),
    /// Notes a change for the archive.
    Note(SystemEdit),
    /// The archive has what was noted until this moment.
    Forget(Moment),
    /// What the archive of this folder writes down about itself; nothing where there is none.
    Archive(Option<Vec<u8>>),
}

impl SystemEdit {
    /// What the steps of a change that happens now make of graphs and records; none if they leave both alone.
    pub(super) fn of(changes: &[SystemChange], clock: &Clock) -> Option<SystemEdit> {
        let (mut graphs, mut records) = (BTreeMap::new(), BTreeMap::new());
        for change in changes {
            match change {
                SystemChange::AddGraph { name, folder } => {
                    graphs.insert(name.clone(), Some(folder.clone()));
                }
                SystemChange::RemoveGraph(name) => {
                    graphs.insert(name.clone(), None);
                }
                SystemChange::Record((key, content)) => {
                    records.insert(key.clone(), content.clone());
                }
                SystemChange::AddLeftover(_)
                | SystemChange::RemoveLeftover(_)
                | SystemChange::Note(_)
                | SystemChange::Forget(_)
                | SystemChange::Archive(_) => {}
            }
        }
        let is_empty = graphs.is_empty() && records.is_empty();
        (!is_empty).then(|| SystemEdit { moment: clock.next(), graphs, records })
    }
}
