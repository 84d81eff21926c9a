//! `Pinned`: system store and journals at one moment, to be read while everything goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::Graph;
use super::super::library::Library;
use super::super::manifest::Manifest;
use super::super::opened::Opened;
use super::super::pins::Pin;
use super::super::record;
use super::super::store::GraphStore;
use crate::storage::{JournalContents, Moment, PinnedJournal, StorageError, SystemContents};

/// Everything as it was at one moment. Files that it names stay until it is dropped.
#[derive(Debug)]
pub(in super::super) struct Pinned<'l> {
    pub(super) moment: Moment,
    pub(super) system: SystemContents,
    pub(super) graphs: Vec<PinnedGraph>,
    /// Why some graph cannot be read.
    damaged: Option<StorageError>,
    _pin: Pin<'l>,
}

/// A graph at that moment.
#[derive(Debug)]
pub(super) struct PinnedGraph {
    pub(super) name: String,
    /// The name of its folder.
    pub(super) folder: String,
    /// A version that it had before the moment.
    pub(super) published: u64,
    graph: Arc<Graph>,
    pub(super) journal: Arc<PinnedJournal>,
}

impl Library {
    /// Chooses the moment: now. Nobody may make or drop graphs meanwhile.
    pub(in super::super) fn pin(
        &self,
        graphs: &BTreeMap<String, Opened>,
    ) -> Result<Pinned<'_>, StorageError> {
        let (pin, looked) = self.home.pins.pin(|| {
            let version = |opened: &Opened| opened.as_ref().map_or(0, |graph| graph.snapshot().version());
            let versions: BTreeMap<&String, u64> =
                graphs.iter().map(|(name, opened)| (name, version(opened))).collect();
            let (moment, system) = self.system.pin(&self.home.clock)?;
            let (mut pinned, mut damaged) = (Vec::new(), None);
            for (name, folder) in &system.graphs {
                let Some(opened) = graphs.get(name) else {
                    let message = format!("it lists the knowledge graph {name}, which is not served");
                    return Err(StorageError::unreadable(self.system.path(), message));
                };
                let graph = match opened {
                    Ok(graph) => graph,
                    Err(error) => {
                        damaged = Some(error.clone());
                        continue;
                    }
                };
                if let Some(store) = &graph.store {
                    let journal = Arc::new(store.journal().pin()?);
                    let published = versions.get(name).copied().unwrap_or(0);
                    let (name, folder) = (name.clone(), folder.clone());
                    pinned.push(PinnedGraph { name, folder, published, graph: Arc::clone(graph), journal });
                }
            }
            Ok((moment, system, pinned, damaged))
        });
        let (moment, system, graphs, damaged) = looked?;
        Ok(Pinned { moment, system, graphs, damaged, _pin: pin })
    }
}

impl Pinned<'_> {
    /// No backup lacks a graph without anybody having been told.
    pub(super) fn check_whole(&self) -> Result<(), StorageError> {
        self.damaged.clone().map_or(Ok(()), Err)
    }
}

impl PinnedGraph {
    /// Where it is stored.
    pub(super) fn store(&self) -> Option<&GraphStore> {
        self.graph.store.as_ref()
    }

    /// What its journal held at the moment, and the manifest in it.
    pub(super) fn contents(
        &self,
        moment: Moment,
    ) -> Result<(JournalContents, Option<Manifest>), StorageError> {
        let mut contents = self.journal.contents()?;
        let manifest = match &contents.manifest {
            Some(text) => {
                let parsed = Manifest::parse(text);
                Some(parsed.map_err(|what| StorageError::unreadable(self.journal.path(), what))?)
            }
            None => None,
        };
        // The journal was looked at a little later than the system store.
        contents.records.retain(|stored| record::moment(&stored.content).is_none_or(|at| at < moment));
        let covered = manifest.as_ref().map_or(0, |manifest| manifest.version);
        contents.records.retain(|stored| stored.version > covered);
        Ok((contents, manifest))
    }
}
