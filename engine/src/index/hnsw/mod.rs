//! `Hnsw`: a navigable graph of the distinct vectors of a column, by their codes.
//!
//! A code means the same vector as long as the graph holds it, so the graph only grows: a row that is deleted leaves its vector behind, and
//! nobody who searches takes it for a row. When more than half of the vectors have no row any more, the graph is built
//! anew. What is not in the graph is known: searches look at those vectors one by one.

mod graph;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use self::graph::{Graph, Kind, is_good};
use super::{HnswOptions, Room};
use crate::data::{Code, Codec, Codes, Dictionary, GoOn, Metric, Run, Stopped, ValueRef};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};

/// Vectors that are put in at once, while searches wait.
const BATCH: usize = 64;
/// Fewer vectors than these are never too many.
const SMALL: usize = 1_024;

/// A graph of near vectors, which grows while it is searched.
#[derive(Debug)]
pub struct Hnsw {
    options: HnswOptions,
    graph: RwLock<Option<Graph>>,
    /// Held by whoever changes the graph.
    growing: Mutex<()>,
    /// Whether it is to be built anew; until then the old one serves.
    is_stale: AtomicBool,
    /// The number of the dictionary of its codes; 0 while it has none.
    dictionary: AtomicU64,
    /// The runs that were taken in last.
    seen: Mutex<HashSet<u64>>,
    done: AtomicUsize,
    total: AtomicUsize,
    /// Bytes of the graph.
    bytes: AtomicU64,
}

/// How far a graph is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuildState {
    /// Vectors in the graph.
    pub vectors: usize,
    /// Vectors that wait to be put in.
    pub waiting: usize,
    /// The length of vectors; none before there is a graph.
    pub dimension: Option<usize>,
    /// Candidates of a search.
    pub ef_search: Option<usize>,
    /// The share of the ten nearest that was found when that was measured.
    pub recall: Option<f64>,
    /// Levels of the graph.
    pub layers: usize,
    /// Bytes held.
    pub memory_bytes: usize,
}

impl Hnsw {
    /// A graph of nothing.
    pub(super) fn new(options: HnswOptions) -> Hnsw {
        Hnsw {
            options,
            graph: RwLock::new(None),
            growing: Mutex::new(()),
            is_stale: AtomicBool::new(false),
            dictionary: AtomicU64::new(0),
            seen: Mutex::default(),
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// The graph as it is now, if there is one for codes of this dictionary. It does not change while it is read.
    pub fn read(&self, dictionary: &Dictionary) -> Option<Reader<'_>> {
        let graph = self.graph.read();
        let is_of = self.dictionary.load(Ordering::Acquire) == dictionary.number();
        (is_of && graph.is_some()).then_some(Reader { graph, metric: self.options.metric })
    }

    /// The codes that it holds.
    pub fn codes(&self) -> Vec<Code> {
        self.graph.read().as_ref().map_or_else(Vec::new, |graph| graph.holds.codes())
    }

    /// Bytes that it holds. Waits for nobody.
    pub fn memory_bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Keeps it from growing; none if it is growing just now.
    pub fn pause(&self) -> Option<Paused<'_>> {
        Some(Paused { hnsw: self, _growing: self.growing.try_lock()? })
    }

    /// How far it is.
    pub fn state(&self) -> BuildState {
        let waiting = self.total.load(Ordering::Relaxed).saturating_sub(self.done.load(Ordering::Relaxed));
        match self.graph.read().as_ref() {
            None => BuildState {
                vectors: 0,
                waiting,
                dimension: None,
                ef_search: self.options.ef_search,
                recall: None,
                layers: 0,
                memory_bytes: 0,
            },
            Some(graph) => BuildState {
                vectors: graph.len,
                waiting,
                dimension: Some(graph.kind.dimension),
                ef_search: Some(graph.ef),
                recall: graph.recall,
                layers: graph.layers(),
                memory_bytes: graph.memory_bytes(),
            },
        }
    }

    /// Vectors of the graph that stand in no row of these runs, which are all that there are.
    pub fn tombstones(&self, runs: &[Run], column: usize) -> usize {
        let live = distinct_vectors(runs, column, Run::is_live);
        self.graph.read().as_ref().map_or(0, |graph| {
            let known = live.iter().filter(|code| graph.holds.has(**code)).count();
            (graph.len + graph.aside.len()).saturating_sub(known)
        })
    }

    /// Asks that the graph be built anew.
    pub fn ask_anew(&self) {
        self.is_stale.store(true, Ordering::Relaxed);
    }

    /// Whether all vectors of these runs are in the graph.
    pub(super) fn is_current(&self, runs: &[Run]) -> bool {
        let seen = self.seen.lock();
        !self.is_stale.load(Ordering::Relaxed) && runs.iter().all(|run| seen.contains(&run.id()))
    }

    /// Takes in the vectors of these runs, which are all that there are.
    pub(super) fn maintain(
        &self,
        runs: &[Run],
        column: usize,
        dictionary: &Arc<Dictionary>,
        go_on: GoOn<'_>,
        room: Room<'_>,
    ) {
        let _only_one = self.growing.lock();
        let known = self.dictionary.load(Ordering::Acquire);
        if known == 0 {
            self.dictionary.store(dictionary.number(), Ordering::Release);
        } else if known != dictionary.number() {
            // These runs are of the past. Whoever collected values has woken the thread that builds indexes.
            return;
        }
        let codec = Codec::over(Arc::clone(dictionary));
        // Older snapshots may see rows that are deleted by now.
        let distinct = distinct_vectors(runs, column, |_, _| true);
        let is_complete = if self.is_to_be_built(&distinct) {
            match self.build(&distinct, &codec, go_on, room) {
                Ok(graph) => {
                    *self.graph.write() = graph;
                    self.is_stale.store(false, Ordering::Relaxed);
                    true
                }
                Err(Stopped) => false,
            }
        } else {
            self.grow(&distinct, &codec, go_on, room).is_ok()
        };
        self.count();
        if is_complete {
            self.tune(&distinct, &codec, go_on);
            let covered: HashSet<u64> = runs.iter().map(Run::id).collect();
            if let Some(graph) = self.graph.write().as_mut() {
                graph.covered.clone_from(&covered);
            }
            *self.seen.lock() = covered;
        }
        self.total.store(0, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }

    /// Whether a graph of these vectors is better than one that has grown.
    fn is_to_be_built(&self, codes: &[Code]) -> bool {
        self.is_stale.load(Ordering::Relaxed)
            || self.graph.read().as_ref().is_none_or(|graph| {
                let new = codes.iter().filter(|code| !graph.holds.has(**code)).count();
                let is_wasteful = graph.len > 2 * codes.len() + SMALL;
                is_wasteful || new > graph.len + SMALL || graph.outgrown > graph.len / 16 + SMALL
            })
    }

    /// A new graph, which nobody searches before it is complete; none where there are no vectors.
    fn build(
        &self,
        codes: &[Code],
        codec: &Codec,
        go_on: GoOn<'_>,
        room: Room<'_>,
    ) -> Result<Option<Graph>, Stopped> {
        let Some(kind) = Kind::of_most(codes, codec) else { return Ok(None) };
        let mut graph = Graph::new(kind, self.options, codes, codec, room).ok_or(Stopped)?;
        let (good, aside) = graph.divide(codes, codec, self.options.metric);
        self.total.store(good.len(), Ordering::Relaxed);
        graph.take_in(&good, aside, self.options.metric, codec, &|count| {
            self.done.fetch_add(count, Ordering::Relaxed);
            go_on()
        })?;
        Ok(Some(graph))
    }

    /// Puts in what is new, a little at a time.
    fn grow(&self, codes: &[Code], codec: &Codec, go_on: GoOn<'_>, room: Room<'_>) -> Result<(), Stopped> {
        let new: Vec<Code> = match self.graph.read().as_ref() {
            None => return Ok(()),
            Some(graph) => codes.iter().copied().filter(|code| !graph.holds.has(*code)).collect(),
        };
        self.total.store(new.len(), Ordering::Relaxed);
        for batch in new.chunks(BATCH) {
            if !go_on() {
                return Err(Stopped);
            }
            if let Some(graph) = self.graph.write().as_mut() {
                let (good, aside) = graph.divide(batch, codec, self.options.metric);
                graph.make_room(good.len(), room).ok_or(Stopped)?;
                let taken = graph.take_in(&good, aside, self.options.metric, codec, &|_| true);
                // Part of the batch may be in the graph.
                taken.inspect_err(|_| self.ask_anew())?;
            }
            self.done.fetch_add(batch.len(), Ordering::Relaxed);
        }
        Ok(())
    }

    fn count(&self) {
        let bytes = self.graph.read().as_ref().map_or(0, Graph::memory_bytes);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
    }

    /// Measures how many candidates a search needs, if the graph has doubled since that was done.
    fn tune(&self, codes: &[Code], codec: &Codec, go_on: GoOn<'_>) {
        let measured = match self.graph.read().as_ref() {
            Some(graph) if graph.len > 2 * graph.measured_at => {
                let known: Vec<Code> = graph.divide(codes, codec, self.options.metric).0;
                graph.measure(&known, codec, self.options, go_on)
            }
            Some(_) | None => None,
        };
        if let (Some((ef, recall)), Some(graph)) = (measured, self.graph.write().as_mut()) {
            (graph.ef, graph.recall, graph.measured_at) = (ef, Some(recall), graph.len);
        }
    }
}

/// Keeps a graph from growing.
pub struct Paused<'h> {
    hnsw: &'h Hnsw,
    _growing: MutexGuard<'h, ()>,
}

impl Paused<'_> {
    /// From now on its codes are those of this dictionary, in which they mean the same.
    pub fn go_on_with(&mut self, dictionary: &Dictionary) {
        // Nobody searches meanwhile.
        let _graph = self.hnsw.graph.write();
        self.hnsw.dictionary.store(dictionary.number(), Ordering::Release);
    }
}

/// A graph that does not change meanwhile.
pub struct Reader<'h> {
    graph: RwLockReadGuard<'h, Option<Graph>>,
    metric: Metric,
}

impl Reader<'_> {
    fn graph(&self) -> Option<&Graph> {
        self.graph.as_ref()
    }

    /// Whether the nearest vectors of this one can be looked for.
    pub fn serves(&self, query: ValueRef<'_>) -> bool {
        self.graph().is_some_and(|graph| Kind::of(query) == Some(graph.kind) && is_good(query, self.metric))
    }

    /// Number of vectors in the graph.
    pub fn len(&self) -> usize {
        self.graph().map_or(0, |graph| graph.len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// So many candidates a search has, if nothing else is said.
    pub fn ef(&self) -> usize {
        self.graph().map_or(0, |graph| graph.ef)
    }

    /// Whether all vectors of the run are known.
    pub fn covers(&self, run: &Run) -> bool {
        self.graph().is_some_and(|graph| graph.covered.contains(&run.id()))
    }

    /// Whether this vector is known: in the graph, or aside.
    pub fn knows(&self, code: Code) -> bool {
        self.graph().is_some_and(|graph| graph.holds.has(code))
    }

    /// The vectors that are known and not in the graph.
    pub fn aside(&self) -> &[Code] {
        self.graph().map_or(&[], |graph| &graph.aside)
    }

    /// So many vectors near this one, the nearest first, but for a few that are overlooked. Nothing if it cannot be
    /// looked for now.
    pub fn search(&self, query: ValueRef<'_>, count: usize) -> Option<Vec<Code>> {
        self.graph()?.search(query, count)
    }
}

/// The vectors of those rows that count, each once, in the order of their codes.
fn distinct_vectors(runs: &[Run], column: usize, counts: impl Fn(&Run, usize) -> bool) -> Vec<Code> {
    let mut bits = Codes::default();
    for run in runs {
        let codes = run.column(column);
        (0..run.stored_len()).filter(|row| counts(run, *row)).for_each(|row| bits.set(codes[row]));
    }
    bits.codes()
}
