//! The graph itself: vectors in usearch's index, and what stands beside them.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use usearch::{IndexOptions, MetricKind, ScalarKind};

use super::BATCH;
use crate::data::{Code, Codec, Codes, Metric, Probe, Stopped, ValueRef, run_low};
use crate::index::{HnswOptions, Room};

/// Searches at once; more look at the rows one by one.
const READERS: usize = 32;
/// Squares that are larger or smaller may not add up to anything useful.
const SQUARES: std::ops::Range<f64> = 1e-30..1e30;
/// What is found of the ten nearest, at least, where the number of candidates is measured.
const RECALL: f64 = 0.985;
/// Questions by which it is measured.
const QUESTIONS: usize = 100;

/// Vectors, and which are near to each other.
pub(super) struct Graph {
    native: usearch::Index,
    pub(super) kind: Kind,
    /// For the metric `dot`, the largest square of a vector that the graph takes.
    largest: Option<f64>,
    pub(super) len: usize,
    capacity: usize,
    /// About what each of these takes.
    vector_bytes: u64,
    pub(super) holds: Codes,
    /// Vectors that are better looked at one by one: zero vectors, which have no direction, and enormous ones.
    pub(super) aside: Vec<Code>,
    /// Those of them that are longer than all that were there when the graph was built.
    pub(super) outgrown: usize,
    /// The runs whose vectors are all in the graph or aside.
    pub(super) covered: HashSet<u64>,
    pub(super) ef: usize,
    pub(super) recall: Option<f64>,
    /// Number of vectors when that was measured.
    pub(super) measured_at: usize,
}

/// What the vectors of a graph are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Kind {
    pub(super) dimension: usize,
    is_quantised: bool,
}

impl Kind {
    pub(super) fn of(value: ValueRef<'_>) -> Option<Kind> {
        let (dimension, is_quantised) = match value {
            ValueRef::Vector(elements) => (elements.len(), false),
            ValueRef::VectorInt8(elements) => (elements.len(), true),
            _ => return None,
        };
        (dimension > 0).then_some(Kind { dimension, is_quantised })
    }

    /// What most of the vectors are.
    pub(super) fn of_most(codes: &[Code], codec: &Codec) -> Option<Kind> {
        let mut counts: HashMap<Kind, usize> = HashMap::new();
        for kind in codes.iter().filter_map(|code| Kind::of(codec.value(*code))) {
            *counts.entry(kind).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(kind, count)| (*count, *kind)).map(|(kind, _)| kind)
    }
}

/// Whether distances from this vector can be trusted in 32 bits.
pub(super) fn is_good(vector: ValueRef<'_>, metric: Metric) -> bool {
    let square = square(vector);
    SQUARES.contains(&square) || (square == 0.0 && metric != Metric::Cosine)
}

/// The product of a vector with itself.
fn square(vector: ValueRef<'_>) -> f64 {
    let sum = |elements: &mut dyn Iterator<Item = f64>| elements.fold(0.0, |sum, x| sum + x * x);
    match vector {
        ValueRef::Vector(elements) => sum(&mut elements.iter().map(|x| f64::from(*x))),
        ValueRef::VectorInt8(elements) => sum(&mut elements.iter().map(|x| f64::from(*x))),
        _ => f64::NAN,
    }
}

impl Graph {
    pub(super) fn new(
        kind: Kind,
        options: HnswOptions,
        codes: &[Code],
        codec: &Codec,
        room: Room<'_>,
    ) -> Option<Graph> {
        let largest = (options.metric == Metric::Dot).then(|| {
            let squares = codes.iter().map(|code| square(codec.value(*code)));
            squares.filter(|square| SQUARES.contains(square)).fold(SQUARES.start, f64::max)
        });
        let metric = match options.metric {
            Metric::Cosine => MetricKind::Cos,
            Metric::Euclidean | Metric::Dot => MetricKind::L2sq,
            Metric::Manhattan => MetricKind::IP,
        };
        let made = usearch::Index::new(&IndexOptions {
            dimensions: kind.dimension + usize::from(largest.is_some()),
            metric,
            quantization: if kind.is_quantised && largest.is_none() {
                ScalarKind::I8
            } else {
                ScalarKind::F32
            },
            connectivity: options.m,
            expansion_add: options.ef_construction,
            // Each search says how many it wants.
            expansion_search: 1,
            multi: false,
        });
        let mut native = noted(made)?;
        if options.metric == Metric::Manhattan {
            measure_manhattan(&mut native, kind);
        }
        let mut graph = Graph {
            native,
            kind,
            largest,
            len: 0,
            capacity: 0,
            vector_bytes: vector_bytes(kind, options),
            holds: Codes::default(),
            aside: Vec::new(),
            outgrown: 0,
            covered: HashSet::new(),
            ef: options.ef_search.unwrap_or(EF[0]),
            recall: None,
            measured_at: 0,
        };
        graph.make_room(codes.len(), room)?;
        Some(graph)
    }

    /// Makes room for so many vectors more; none if they may not take it.
    pub(super) fn make_room(&mut self, more: usize, room: Room<'_>) -> Option<()> {
        let needed = self.len + more;
        if needed > self.capacity {
            let capacity = needed.max(self.capacity + self.capacity / 2).max(1_024);
            if !room((capacity - self.capacity) as u64 * self.vector_bytes) {
                return None;
            }
            noted(self.native.reserve_capacity_and_threads(capacity, READERS))?;
            self.capacity = capacity;
        }
        Some(())
    }

    /// Takes vectors in that belong into the graph, and others that do not, on all processors. `go_on` hears how many
    /// more there are.
    pub(super) fn take_in(
        &mut self,
        good: &[Code],
        aside: Vec<Code>,
        metric: Metric,
        codec: &Codec,
        go_on: &(dyn Fn(usize) -> bool + Sync),
    ) -> Result<(), Stopped> {
        let part = (BATCH / 4).max(1);
        let (graph, next) = (&*self, AtomicUsize::new(0));
        let work = || {
            loop {
                let start = next.fetch_add(part, Ordering::Relaxed);
                let batch = good.get(start..good.len().min(start + part)).unwrap_or_default();
                if batch.is_empty() {
                    return true;
                }
                if batch.iter().any(|code| !graph.add(*code, codec)) || !go_on(batch.len()) {
                    return false;
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let is_whole = std::thread::scope(|scope| {
            let helper = || {
                run_low();
                work()
            };
            let helpers = threads.min(good.len().div_ceil(part)).saturating_sub(1);
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(helper)).collect();
            let own = work();
            helpers.into_iter().fold(own, |whole, helper| whole & helper.join().unwrap_or(false))
        });
        if !is_whole {
            return Err(Stopped);
        }
        self.len += good.len();
        good.iter().chain(&aside).for_each(|code| self.holds.set(*code));
        self.outgrown += aside.iter().filter(|code| is_good(codec.value(**code), metric)).count();
        self.aside.extend(aside);
        Ok(())
    }

    /// Those of the vectors that belong into the graph, and those that are looked at one by one. Vectors of other
    /// lengths are far from every vector of this one, so they are neither.
    pub(super) fn divide(&self, codes: &[Code], codec: &Codec, metric: Metric) -> (Vec<Code>, Vec<Code>) {
        let of_kind = |code: &&Code| Kind::of(codec.value(**code)) == Some(self.kind);
        let fits = |code: &&Code| {
            let value = codec.value(**code);
            is_good(value, metric) && self.largest.is_none_or(|largest| square(value) <= largest)
        };
        codes.iter().filter(of_kind).partition(fits)
    }

    fn add(&self, code: Code, codec: &Codec) -> bool {
        let (key, value) = (u64::from(code), codec.value(code));
        let added = match (self.largest, value) {
            (Some(largest), value) => {
                self.native.add(key, &lifted(value, (largest - square(value)).max(0.0).sqrt()))
            }
            (None, ValueRef::Vector(elements)) => self.native.add(key, elements),
            (None, ValueRef::VectorInt8(elements)) => self.native.add(key, elements),
            (None, _) => return false,
        };
        noted(added).is_some()
    }

    pub(super) fn search(&self, query: ValueRef<'_>, count: usize) -> Option<Vec<Code>> {
        let found = match (self.largest, query) {
            (Some(_), query) => self.native.search(&lifted(query, 0.0), count),
            (None, ValueRef::Vector(elements)) => self.native.search(elements, count),
            (None, ValueRef::VectorInt8(elements)) => self.native.search(elements, count),
            (None, _) => return None,
        };
        // All places of readers may be taken.
        Some(found.ok()?.keys.into_iter().filter_map(|key| Code::try_from(key).ok()).collect())
    }

    /// Finds out how many candidates a search needs, and what share of the nearest it then finds: the nearest of some of
    /// the vectors themselves are looked for, and compared with what there is.
    pub(super) fn measure(
        &self,
        codes: &[Code],
        codec: &Codec,
        options: HnswOptions,
        go_on: &dyn Fn() -> bool,
    ) -> Option<(usize, f64)> {
        const NEAREST: usize = 10;
        let step = codes.len().div_ceil(QUESTIONS).max(1);
        let mut questions: Vec<(ValueRef<'_>, HashSet<Code>)> = Vec::new();
        for query in codes.iter().step_by(step).map(|code| codec.value(*code)) {
            if !go_on() {
                return None;
            }
            let probe = Probe::new(options.metric, query);
            let mut distances: Vec<(f64, Code)> = codes
                .iter()
                .filter_map(|code| {
                    let distance = probe.distance(codec.value(*code))?;
                    Some((if options.metric == Metric::Dot { -distance } else { distance }, *code))
                })
                .collect();
            let nearest = NEAREST.min(distances.len());
            if nearest < distances.len() {
                distances.select_nth_unstable_by(nearest, |a, b| a.0.total_cmp(&b.0));
            }
            questions.push((query, distances[..nearest].iter().map(|(_, code)| *code).collect()));
        }
        let all: usize = questions.iter().map(|(_, nearest)| nearest.len()).sum();
        let recall = |ef: usize| {
            let found = questions.iter().map(|(query, nearest)| {
                let found = self.search(*query, ef).unwrap_or_default();
                found.iter().filter(|code| nearest.contains(code)).count()
            });
            found.sum::<usize>() as f64 / all.max(1) as f64
        };
        if let Some(ef) = options.ef_search {
            return Some((ef, recall(ef)));
        }
        let mut measured = EF.iter().map(|ef| (*ef, recall(*ef)));
        let last = EF[EF.len() - 1];
        measured.find(|(_, recall)| *recall >= RECALL).or_else(|| Some((last, recall(last))))
    }

    /// About the bytes held. The library would count what it has reserved, which is megabytes where few vectors are.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.capacity as u64 * self.vector_bytes) as usize + self.holds.memory_bytes()
    }

    pub(super) fn layers(&self) -> usize {
        (0..32).take_while(|level| self.native.stats_for_level(*level).nodes > 0).count()
    }
}

/// A vector with its neighbours, of which there are twice as many at the bottom as above; and its places in tables.
fn vector_bytes(kind: Kind, options: HnswOptions) -> u64 {
    const TABLES: usize = 64;
    let elements = kind.dimension * if kind.is_quantised { 1 } else { size_of::<f32>() };
    (elements + 3 * options.m * size_of::<u32>() + TABLES) as u64
}

/// Numbers of candidates that are tried, the smallest first.
const EF: [usize; 9] = [50, 75, 100, 150, 200, 300, 400, 600, 800];

/// A vector with one more element. The largest product is the smallest distance between vectors of one length, and this
/// element gives them one; products alone lead to long vectors, and not to near ones (Bachrach et al., Speeding up the
/// Xbox recommender system using a Euclidean transformation for inner-product spaces, 2014).
fn lifted(vector: ValueRef<'_>, last: f64) -> Vec<f32> {
    let mut lifted: Vec<f32> = match vector {
        ValueRef::Vector(elements) => elements.to_vec(),
        ValueRef::VectorInt8(elements) => elements.iter().map(|x| f32::from(*x)).collect(),
        _ => Vec::new(),
    };
    lifted.push(last as f32);
    lifted
}

/// The library has no such metric of its own.
fn measure_manhattan(native: &mut usearch::Index, kind: Kind) {
    let dimension = kind.dimension;
    if kind.is_quantised {
        native.change_metric::<i8>(Box::new(move |a, b| {
            #[allow(
                unsafe_code,
                reason = "the library hands over the vectors of its index, all of this length"
            )]
            let (a, b) = unsafe {
                (std::slice::from_raw_parts(a, dimension), std::slice::from_raw_parts(b, dimension))
            };
            Metric::Manhattan.of_bytes(a, b).unwrap_or(f64::MAX) as f32
        }));
    } else {
        native.change_metric::<f32>(Box::new(move |a, b| {
            #[allow(
                unsafe_code,
                reason = "the library hands over the vectors of its index, all of this length"
            )]
            let (a, b) = unsafe {
                (std::slice::from_raw_parts(a, dimension), std::slice::from_raw_parts(b, dimension))
            };
            Metric::Manhattan.of_floats(a, b).unwrap_or(f64::MAX) as f32
        }));
    }
}

/// What the library did, if it could; there is hardly a reason but memory. Without a graph searches are exact.
fn noted<T>(outcome: Result<T, impl std::fmt::Display>) -> Option<T> {
    outcome.inspect_err(|error| tracing::warn!("a vector index cannot grow: {error}")).ok()
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").field("kind", &self.kind).field("len", &self.len).finish_non_exhaustive()
    }
}
