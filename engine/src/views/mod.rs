//! Views: rows of rules that are kept, so that the next question reads them.
//!
//! A view is found by what it was made of (`meaning.rs`): its rules, and of the stored relations below them the numbers of
//! their runs, which no two runs share, and the dictionary of their codes. So a view answers for every snapshot, transaction
//! and session in which the same rules would find the same rows, and for no other; nobody has to say that something has
//! changed. What only some see is kept apart (`own.rs`). A question that needs all rows of a relation of which there is an
//! older view (`states.rs`) brings it forward (`advance.rs`), or finds that somebody else has (`shared.rs`). What has become useless is forgotten when a commit is done, and
//! of the rest what was read the longest ago, if memory runs short.

mod advance;
mod kept;
mod listing;
mod meaning;
mod own;
mod rehearse;
mod shared;
mod states;
mod under_way;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};

use self::kept::{Below, Input, Inputs, View};
use self::meaning::{Fingerprint, Keys, Origin, Origins, numbers};
use self::own::OwnViews;
use self::under_way::UnderWay;
use crate::analysis::program::{Program, Rule, Stratum};
use crate::data::{Codec, Computed, Learning, Relation, RelationId, Rows, Run};
use crate::exec::{Outcome, Relations, Rounds};
use crate::graph::{Graph, GraphId, SessionView, State};
use crate::maintain::{Cost, KeptRows, Named};

pub use advance::Advance;
pub(crate) use advance::Advancing;
pub(crate) use listing::KeptView;

/// How often it is looked for what is of no use any more, at most.
const REFRESH: Duration = Duration::from_millis(100);
/// No more views are kept, however small.
const MOST_VIEWS: usize = 1_000;

/// The views of all graphs.
#[derive(Debug)]
pub(crate) struct Views {
    /// So many bytes at most.
    memory: usize,
    advance: Advance,
    /// Those that all see, by what they mean.
    kept: RwLock<HashMap<Fingerprint, View>>,
    own: RwLock<OwnViews>,
    /// Counts what is read, to tell what was read last.
    clock: AtomicU64,
    keys: Keys,
    /// When it was looked last for what is of no use any more.
    refreshed: Mutex<Option<Instant>>,
    under_way: UnderWay,
    steps: AtomicU64,
    given_up: AtomicU64,
    /// Why relations that are to be kept are not there.
    troubles: Mutex<HashMap<(GraphId, Arc<str>), String>>,
}

/// The views of an engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ViewStatus {
    /// How many relations are kept.
    pub views: usize,
    /// Bytes that hold them.
    pub memory_bytes: usize,
    /// How often one was brought forward, or the answer to a live query,
    pub steps: u64,
    /// and how often that was given up, as it was no faster than to derive it anew, or not possible.
    pub given_up: u64,
}

/// What a program reads of views, and which of its relations may become views.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// Whether whole relations are kept however many values they compute.
    pub(crate) keeps_all: bool,
    /// Whether a transaction asks, whose changes may never be there.
    is_uncommitted: bool,
    rows: HashMap<String, Arc<KeptRows>>,
    origins: Origins,
}

impl Reading {
    /// The relations that are read of views, with their numbers of rows.
    pub(crate) fn relations(&self) -> impl Iterator<Item = (&str, usize)> {
        self.rows.iter().map(|(name, rows)| (name.as_str(), rows.len()))
    }

    /// The view of a relation that is read.
    pub(crate) fn rows(&self, relation: &str) -> Option<&Arc<KeptRows>> {
        self.rows.get(relation)
    }

    /// What a session sees, with the views in it.
    pub(crate) fn with<'v>(&'v self, view: &'v SessionView) -> WithViews<'v> {
        WithViews { view, rows: &self.rows }
    }

    /// The stored relations that a program reads, views among them.
    pub(crate) fn stored_of(&self, program: &Program, view: &SessionView) -> Named {
        let stored = program.relations.iter().filter(|relation| relation.stored);
        let named = stored.map(|relation| {
            let name = &relation.name;
            let rows = self.rows.get(name).map(|rows| rows.relation());
            (name.clone(), rows.unwrap_or_else(|| stored_rows(view, name, relation.arity)))
        });
        named.collect()
    }

    /// Whether all rows of a relation are the same wherever the same is stored, so that they may be kept.
    pub(crate) fn may_keep(&self, relation: RelationId) -> bool {
        let origin = self.origin(relation).filter(|origin| !origin.is_own);
        self.origins.below.contains_key(&relation) && origin.is_some()
    }

    /// Whoever sees them.
    fn seen_by(&self, view: &SessionView) -> Weak<State> {
        // What a transaction sees is nobody's in a moment.
        if self.is_uncommitted { Weak::new() } else { view.seen_by() }
    }

    /// Whether the rows at this state are nobody else's.
    fn is_own(&self, origin: &Origin) -> bool {
        origin.is_own || self.is_uncommitted
    }

    /// Whether any of its relations is seen by nobody else.
    fn has_own(&self) -> bool {
        self.origins.of.iter().flatten().any(|origin| self.is_own(origin))
    }

    fn origin(&self, relation: RelationId) -> Option<Origin> {
        *self.origins.of.get(relation.index())?
    }
}

/// What a session sees, with views as if they were stored.
pub(crate) struct WithViews<'v> {
    view: &'v SessionView,
    rows: &'v HashMap<String, Arc<KeptRows>>,
}

impl Relations for WithViews<'_> {
    fn runs(&self, relation: &str) -> Vec<Run> {
        self.rows.get(relation).map_or_else(|| self.view.runs(relation), |rows| rows.runs())
    }
}

impl Views {
    /// Views of at most so many bytes together.
    pub(crate) fn new(memory: usize, advance: Advance) -> Views {
        Views {
            memory,
            advance,
            kept: RwLock::default(),
            own: RwLock::default(),
            clock: AtomicU64::new(0),
            keys: Keys::new(),
            refreshed: Mutex::default(),
            under_way: UnderWay::default(),
            steps: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
            troubles: Mutex::default(),
        }
    }

    /// What the relations of a program follow from, if any of them may be a view.
    pub(crate) fn look(&self, program: &Program, graph: &Graph, view: &SessionView) -> Reading {
        let derives = |stratum: &Stratum| stratum.relations.iter().any(|relation| *relation != program.goal);
        if self.memory == 0 || !program.strata.iter().any(derives) {
            return Reading::default();
        }
        let is_uncommitted = view.snapshot().version() > graph.snapshot().version();
        Reading { origins: self.keys.origins(program, view), is_uncommitted, ..Reading::default() }
    }

    /// Lets a program read what there is of it, instead of deriving it.
    ///
    /// Values that were computed meanwhile have codes of the graph in it, so nothing may have been computed for the program.
    pub(crate) fn read(&self, reading: &mut Reading, program: &mut Program) {
        let found = self.find(reading, program, |_| true);
        if !found.is_empty() {
            let needed = take_as_stored(program, &found);
            let unneeded =
                found.difference(&needed).map(|relation| &program.relations[relation.index()].name);
            unneeded.for_each(|name| drop(reading.rows.remove(name)));
        }
    }

    /// Reads all that there is of relations that only rules derive, whether it is needed for an answer or only below what is.
    /// The same holds for values that were computed. Answers which relations these are.
    pub(crate) fn read_derived(&self, reading: &mut Reading, program: &Program) -> HashSet<RelationId> {
        self.find(reading, program, |relation| !program.relations[relation.index()].stored)
    }

    /// Puts what there is of some relations into a reading.
    fn find(
        &self,
        reading: &mut Reading,
        program: &Program,
        which: impl Fn(RelationId) -> bool,
    ) -> HashSet<RelationId> {
        let mut found = HashSet::new();
        for relation in reading.origins.below.keys().copied().filter(|relation| which(*relation)) {
            let Some(rows) = self.current(reading, relation) else { continue };
            reading.rows.insert(program.relations[relation.index()].name.clone(), rows);
            found.insert(relation);
        }
        found
    }

    /// Keeps what an evaluation has found of whole relations. `program` is what was evaluated.
    pub(crate) fn keep(
        &self,
        reading: &Reading,
        program: &Program,
        outcome: &Outcome,
        graph: &Graph,
        view: &SessionView,
        codec: &Codec,
    ) {
        // A sum that was cut off is told whenever it is asked for.
        if outcome.saturated || !outcome.remarks.is_empty() {
            return;
        }
        let snapshot = view.snapshot();
        let mut derived = reading.rows.clone();
        for stratum in &program.strata {
            let whole = |relation: &&RelationId| reading.origins.below.contains_key(relation);
            let whole: Vec<RelationId> = stratum.relations.iter().filter(whole).copied().collect();
            let mut inputs = None;
            for relation in whole {
                let (Some(origin), Some(runs)) = (reading.origin(relation), outcome.complete.get(&relation))
                else {
                    continue;
                };
                let described = &program.relations[relation.index()];
                let anew = outcome.took.get(&relation).copied().unwrap_or_default();
                let is_own = reading.is_own(&origin);
                if is_own && anew < Cost::LEAST && self.advance == Advance::WhereFaster {
                    continue;
                }
                let is_pinned = !is_own && snapshot.catalog().keeps(&described.name);
                let learns_all = is_pinned || reading.keeps_all;
                let most_values = if learns_all { usize::MAX } else { Cost::values_worth(anew / 4) };
                let mut learning = Learning::from(codec);
                let Ok(Some(runs)) = learning.runs(runs, most_values) else { continue };
                // Whoever is told what has changed compares all rows.
                let with_comparing = anew + KeptRows::time_of_comparing(&runs);
                let mut rounds = outcome.rounds.get(&relation).filter(|_| stratum.recursive).cloned();
                // What waits for being asked for, or has found rows of others from the beginning, is not in time.
                if !reading.origins.are_whole(&stratum.relations) {
                    rounds.iter_mut().for_each(Rounds::be_late);
                }
                let rows = Arc::new(KeptRows::found(described.arity, runs, rounds));
                let computed = learning.finish();
                if rows.memory_bytes() + computed.bytes() > self.memory {
                    continue;
                }
                derived.insert(described.name.clone(), Arc::clone(&rows));
                let inputs = inputs.get_or_insert_with(|| {
                    inputs_of(relation, reading, program, view, |name| derived.get(name).cloned())
                });
                let below = reading.origins.all_below(relation);
                let below = below.iter().map(|below| {
                    let name = &program.relations[below.index()].name;
                    let rules = snapshot.catalog().rules(name).clone();
                    (name.clone(), Below { rules, runs: numbers(snapshot, name) })
                });
                let kept = View {
                    graph: graph.id(),
                    name: described.name.as_str().into(),
                    is_pinned,
                    state: origin.state,
                    version: snapshot.version(),
                    rows,
                    computed: Arc::new(computed),
                    below: below.collect(),
                    inputs: inputs.clone(),
                    cost: Cost::of(with_comparing, None),
                    is_rehearsed: false,
                    bytes: 0,
                    last_read: AtomicU64::new(self.now()),
                };
                match is_own {
                    true => self.insert_own(origin, reading.seen_by(view), kept),
                    false => self.insert(origin.meaning, kept),
                }
            }
        }
    }

    /// Keeps a view, unless there is one of a later state.
    fn insert(&self, meaning: Fingerprint, mut view: View) {
        let mut kept = self.kept.write();
        if let Some(known) = kept.get(&meaning) {
            if known.version > view.version {
                return;
            }
            view.cost = Cost::of(view.cost.anew, Some(known.cost));
            view.computed = Computed::in_place_of(Some(&known.computed), view.computed);
        }
        view.bytes = view.memory_bytes();
        kept.insert(meaning, view);
        self.make_room(&mut kept);
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// Forgets what cannot be of use in a graph's latest state any more.
    pub(crate) fn refresh(&self, graph: &Graph) {
        // Seldom, as a commit waits for it; whether a view is right is not found out here.
        let Some(mut refreshed) = self.refreshed.try_lock() else { return };
        if refreshed.is_some_and(|at| at.elapsed() < REFRESH) {
            return;
        }
        *refreshed = Some(Instant::now());
        let (id, snapshot) = (graph.id(), graph.snapshot());
        let mut kept = self.kept.write();
        kept.retain(|_, view| {
            // Indexes have been made of it since.
            view.bytes = view.memory_bytes();
            view.is_pinned &= view.graph != id || snapshot.catalog().keeps(&view.name);
            view.graph != id || view.version >= snapshot.version() || view.is_of_use(&snapshot)
        });
        self.make_room(&mut kept);
        self.refresh_own(id, &snapshot);
    }

    /// What there is of those of some graphs, and how many steps there were for all.
    pub(crate) fn status(&self, of: impl Fn(GraphId) -> bool) -> ViewStatus {
        let (kept, own) = (self.kept.read(), self.own.read());
        let all = kept.values().chain(own.values().map(|own| &own.view));
        let sizes: Vec<usize> = all.filter(|view| of(view.graph)).map(View::memory_bytes).collect();
        ViewStatus {
            views: sizes.len(),
            memory_bytes: sizes.iter().sum(),
            steps: self.steps.load(Ordering::Relaxed),
            given_up: self.given_up.load(Ordering::Relaxed),
        }
    }

    /// Forgets everything about a graph.
    pub(crate) fn forget(&self, graph: GraphId) {
        self.kept.write().retain(|_, view| view.graph != graph);
        self.forget_own(graph);
        self.troubles.lock().retain(|(other, _), _| *other != graph);
    }

    /// Forgets what only some see, then what was read the longest ago until the rest fits, and what is to be kept last.
    fn make_room(&self, kept: &mut HashMap<Fingerprint, View>) {
        let (mut bytes, mut views) = (kept.values().map(|view| view.bytes).sum::<usize>(), kept.len());
        self.make_room_of_own(bytes);
        if bytes <= self.memory && views <= MOST_VIEWS {
            return;
        }
        // What a graph is told to keep goes last.
        let mut sizes: Vec<(bool, u64, usize, Fingerprint)> = kept
            .iter()
            .map(|(meaning, view)| {
                (view.is_pinned, view.last_read.load(Ordering::Relaxed), view.bytes, *meaning)
            })
            .collect();
        sizes.sort_unstable();
        for (_, _, size, meaning) in sizes {
            if bytes <= self.memory && views <= MOST_VIEWS {
                break;
            }
            kept.remove(&meaning);
            (bytes, views) = (bytes - size, views - 1);
        }
    }
}

/// What the stratum of a relation was derived from; none if rows of it are not kept.
fn inputs_of(
    relation: RelationId,
    reading: &Reading,
    program: &Program,
    view: &SessionView,
    derived: impl Fn(&str) -> Option<Arc<KeptRows>>,
) -> Option<Arc<Inputs>> {
    let stratum = program.strata.iter().find(|stratum| stratum.relations.contains(&relation))?;
    let mut inputs = BTreeMap::new();
    let below = reading.origins.below.get(&relation)?;
    for id in below.iter().chain(&stratum.relations) {
        let described = program.relations.get(id.index())?;
        let name = &described.name;
        if !stratum.relations.contains(id) && reading.origins.below.contains_key(id) {
            inputs.insert(name.clone(), Input::Derived(derived(name)?));
        } else {
            inputs.insert(name.clone(), Input::Stored(stored_rows(view, name, described.arity)));
        }
    }
    Some(Arc::new(Inputs(inputs)))
}

/// The stored rows of a relation, with a session's own.
fn stored_rows(view: &SessionView, name: &str, arity: usize) -> Relation {
    let stored = view.snapshot().relation(name).cloned().unwrap_or_else(|| Relation::empty(arity));
    match view.own_facts(name) {
        Some(own) => stored.insert(&Rows::of_runs(arity, own.runs())).0,
        None => stored,
    }
}

/// Makes relations stored ones, and leaves out what is only needed to derive them. Answers what is still needed.
fn take_as_stored(program: &mut Program, found: &HashSet<RelationId>) -> HashSet<RelationId> {
    for relation in found {
        let relation = &mut program.relations[relation.index()];
        (relation.stored, relation.best) = (true, None);
    }
    let mut needed = HashSet::from([program.goal]);
    for stratum in program.strata.iter_mut().rev() {
        stratum.relations.retain(|relation| !found.contains(relation));
        stratum.rules.retain(|rule| !found.contains(&rule.head));
        if stratum.relations.iter().any(|relation| needed.contains(relation)) {
            needed.extend(stratum.rules.iter().flat_map(Rule::reads));
        } else {
            stratum.rules.clear();
        }
    }
    program.strata.retain(|stratum| !stratum.rules.is_empty());
    needed
}
