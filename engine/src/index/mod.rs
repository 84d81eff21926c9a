//! Indexes that people define. What is defined is part of the catalog, and durable; what is built of it is made anew
//! at each start, in the background, and no answer waits for it.
//!
//! An index never decides what an answer is. It holds values, by codes that never change their meaning, and knows
//! nothing of versions: whoever searches asks its own snapshot which rows hold what was found.

mod hnsw;
mod text;

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use hnsw::{BuildState, Hnsw, Paused, Reader};
pub use text::{Match, TextQuery, Texts};

/// Whether so many bytes of memory may be taken.
pub type Room<'r> = &'r dyn Fn(u64) -> bool;

use crate::data::{Codec, DataType, Dictionary, GoOn, Language, Metric, Run, Stopped};

/// An index of a stored relation, and what is built of it so far.
#[derive(Debug)]
pub struct Index {
    /// What was defined.
    pub definition: IndexDefinition,
    built: Built,
    /// Whether there was room when it was looked for.
    has_room: AtomicBool,
}

/// What was defined.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IndexDefinition {
    /// Its name, one of its graph.
    pub name: String,
    /// The relation.
    pub relation: String,
    /// Which of its columns.
    pub column: usize,
    /// What it is for.
    pub kind: IndexKind,
}

/// What an index is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexKind {
    /// The nearest vectors, approximately.
    Hnsw(HnswOptions),
    /// The rows that hold a value.
    Hash,
    /// The rows that hold a value of a range.
    Sorted,
    /// The rows whose texts hold words, in this language.
    Text(Language),
}

/// How a graph of near vectors is built and searched (Malkov and Yashunin, Efficient and robust approximate nearest
/// neighbor search using hierarchical navigable small world graphs, 2018, whose names these are).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HnswOptions {
    /// What is near.
    pub metric: Metric,
    /// Neighbours of a vector.
    pub m: usize,
    /// Candidates while a vector is put in.
    pub ef_construction: usize,
    /// Candidates while one is looked for; measured when the graph is built if nobody says how many.
    pub ef_search: Option<usize>,
}

/// What makes a row better than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Less distance of its vector.
    Distance(Metric),
    /// A higher score of its text, in this language.
    Score(Language),
}

#[derive(Debug)]
enum Built {
    Hnsw(Box<Hnsw>),
    /// Runs keep these.
    OfRuns,
}

/// Two definitions that say the same are the same; what is built follows from them.
impl PartialEq for Index {
    fn eq(&self, other: &Index) -> bool {
        self.definition == other.definition
    }
}

impl Hash for Index {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.definition.hash(state);
    }
}

impl Index {
    /// An index of which nothing is built.
    pub fn new(definition: IndexDefinition) -> Index {
        let built = match definition.kind {
            IndexKind::Hnsw(options) => Built::Hnsw(Box::new(Hnsw::new(options))),
            IndexKind::Hash | IndexKind::Sorted | IndexKind::Text(_) => Built::OfRuns,
        };
        Index { definition, built, has_room: AtomicBool::new(true) }
    }

    /// The graph of near vectors, if it has one.
    pub fn hnsw(&self) -> Option<&Hnsw> {
        match &self.built {
            Built::Hnsw(hnsw) => Some(hnsw),
            Built::OfRuns => None,
        }
    }

    /// Bytes that it holds, over these runs of its relation, but for what queries build for themselves anyway.
    pub fn memory_bytes(&self, runs: &[Run]) -> u64 {
        match self.definition.kind {
            IndexKind::Hnsw(_) => self.hnsw().map_or(0, Hnsw::memory_bytes),
            IndexKind::Hash | IndexKind::Sorted => 0,
            IndexKind::Text(language) => {
                let held = runs.iter().filter_map(|run| run.texts_bytes(self.definition.column, language));
                held.sum::<usize>() as u64
            }
        }
    }

    /// Notes whether there is room for it, and answers whether that is news.
    pub fn note_room(&self, has_room: bool) -> bool {
        self.has_room.swap(has_room, Ordering::Relaxed) != has_room
    }

    /// Takes in what these runs of its relation hold, and builds what searches of them will look up. Stops early when
    /// `go_on` says so, or where there is no room.
    pub fn maintain(&self, runs: &[Run], dictionary: &Arc<Dictionary>, go_on: GoOn<'_>, room: Room<'_>) {
        let column = self.definition.column;
        // What is stopped is begun again with the next change.
        let _stopped = match (self.definition.kind, &self.built) {
            (IndexKind::Sorted, _) => {
                runs.iter().try_for_each(|run| run.sorted(column, dictionary, go_on).map(drop))
            }
            (IndexKind::Text(language), _) => {
                let codec = Codec::over(Arc::clone(dictionary));
                let build = |run: &Run| {
                    let cost = run.texts_cost(column, language, &codec);
                    if cost > 0 && !room(cost as u64) {
                        return Err(Stopped);
                    }
                    run.texts(column, language, &codec, go_on).map(drop)
                };
                runs.iter().try_for_each(build)
            }
            (IndexKind::Hash | IndexKind::Hnsw(_), built) => {
                let indexed = runs.iter().try_for_each(|run| run.index(&[column], go_on).map(drop));
                if let (Ok(()), Built::Hnsw(hnsw)) = (indexed, built) {
                    hnsw.maintain(runs, column, dictionary, go_on, room);
                }
                indexed
            }
        };
    }

    /// Whether nothing is left to do for these runs.
    pub fn is_current(&self, runs: &[Run]) -> bool {
        let column = self.definition.column;
        match &self.built {
            Built::Hnsw(hnsw) => hnsw.is_current(runs),
            Built::OfRuns => match self.definition.kind {
                IndexKind::Sorted => runs.iter().all(|run| run.is_sorted_by(column)),
                IndexKind::Hash | IndexKind::Hnsw(_) => runs.iter().all(|run| run.is_indexed_by(column)),
                IndexKind::Text(language) => {
                    runs.iter().all(|run| run.texts_bytes(column, language).is_some())
                }
            },
        }
    }
}

impl IndexKind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            IndexKind::Hnsw(_) => "hnsw",
            IndexKind::Hash => "hash",
            IndexKind::Sorted => "sorted",
            IndexKind::Text(_) => "text",
        }
    }

    /// What makes a row better than another, if it finds the best ones.
    pub fn measure(self) -> Option<Measure> {
        match self {
            IndexKind::Hnsw(options) => Some(Measure::Distance(options.metric)),
            IndexKind::Text(language) => Some(Measure::Score(language)),
            IndexKind::Hash | IndexKind::Sorted => None,
        }
    }

    /// Whether it may be over a column of this type.
    pub fn takes(self, data_type: DataType) -> bool {
        match self {
            IndexKind::Hnsw(_) => matches!(data_type, DataType::Vector(_) | DataType::VectorInt8(_)),
            IndexKind::Text(_) => data_type == DataType::Text,
            IndexKind::Hash | IndexKind::Sorted => true,
        }
    }
}

/// Each metric with its name, and other ways to write it.
pub const METRICS: [(Metric, &str, &[&str]); 4] = [
    (Metric::Cosine, "cosine", &["cos"]),
    (Metric::Euclidean, "l2", &["euclidean", "euclid"]),
    (Metric::Dot, "dot", &["dotproduct", "dot_product", "inner"]),
    (Metric::Manhattan, "l1", &["manhattan", "taxicab"]),
];

/// The metric of this name, in any case.
pub fn metric_named(name: &str) -> Option<Metric> {
    let is_it = |known: &&str| known.eq_ignore_ascii_case(name);
    METRICS.iter().find(|(_, own, others)| is_it(own) || others.iter().any(is_it)).map(|m| m.0)
}

/// The name of a metric.
pub fn metric_name(metric: Metric) -> &'static str {
    METRICS.iter().find(|(known, ..)| *known == metric).map_or("", |(_, name, _)| name)
}
