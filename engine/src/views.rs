//! Views: rows of rules that are kept, so that the next question reads them.
//!
//! A view is found by what it was made of: its rules, and of the stored relations below them the numbers of their runs,
//! which no two runs share, and the dictionary of their codes. So a view answers for every snapshot, transaction and session in which the same rules would
//! find the same rows, and for no other; nobody has to say that something has changed. What has become stale is
//! forgotten when a commit is done, and of the rest what was read the longest ago, if memory runs short.
//!
//! Values that a query computed have codes of its own. A view has them in a list, from which they are learnt again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::analysis::program::{Literal, Program, Rule, Stratum};
use crate::catalog::Clauses;
use crate::data::{Code, Codec, DictionaryFull, RelationId, Run, Value};
use crate::exec::{Outcome, Relations};
use crate::graph::{Graph, GraphId, SessionView, Snapshot};

/// A view with more values of its query's own is not kept: they are learnt whenever it is read.
const MOST_VALUES: usize = 1 << 16;
/// No more views are kept, however small.
const MOST_VIEWS: usize = 1_000;

/// What a relation's rows follow from, in short. Equal ones mean equal rows: nobody can find two that collide, as the
/// keys of the hash differ in every process.
type Fingerprint = [u64; 2];

/// The views of all graphs.
#[derive(Debug)]
pub(crate) struct Views {
    /// So many bytes at most.
    memory: usize,
    kept: RwLock<HashMap<Fingerprint, View>>,
    /// Counts what is read, to tell what was read last.
    clock: AtomicU64,
    keys: [RandomState; 2],
}

/// The rows of one relation.
#[derive(Debug)]
struct View {
    graph: GraphId,
    /// The number of the dictionary of its codes.
    dictionary: u64,
    runs: Vec<Run>,
    /// The values behind codes of a query's own: of the lowest such code first.
    values: Vec<Value>,
    /// The stored relations below it, with the numbers of their runs.
    stored: BTreeMap<String, Vec<u64>>,
    /// The rules that it follows from.
    rules: BTreeMap<String, Clauses>,
    last_read: AtomicU64,
}

/// What a program reads of views, and which of its relations may become views.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    rows: HashMap<String, Vec<Run>>,
    /// One entry a relation; none of those that depend on more than graph and rules.
    fingerprints: Vec<Option<Fingerprint>>,
    /// What each derived relation reads.
    below: HashMap<RelationId, BTreeSet<RelationId>>,
}

impl Reading {
    /// The relations that are read of views, with their numbers of rows.
    pub(crate) fn relations(&self) -> impl Iterator<Item = (&str, usize)> {
        self.rows.iter().map(|(name, runs)| (name.as_str(), runs.iter().map(Run::len).sum()))
    }

    /// What a session sees, with the views in it.
    pub(crate) fn with<'v>(&'v self, view: &'v SessionView) -> WithViews<'v> {
        WithViews { view, rows: &self.rows }
    }
}

/// What a session sees, with views as if they were stored.
pub(crate) struct WithViews<'v> {
    view: &'v SessionView,
    rows: &'v HashMap<String, Vec<Run>>,
}

impl Relations for WithViews<'_> {
    fn runs(&self, relation: &str) -> Vec<Run> {
        self.rows.get(relation).cloned().unwrap_or_else(|| self.view.runs(relation))
    }
}

impl Views {
    /// Views of at most so many bytes together.
    pub(crate) fn new(memory: usize) -> Views {
        Views {
            memory,
            kept: RwLock::default(),
            clock: AtomicU64::new(0),
            keys: [RandomState::new(), RandomState::new()],
        }
    }

    /// Lets a program read what there is of it, instead of deriving it.
    pub(crate) fn read(
        &self,
        program: &mut Program,
        view: &SessionView,
        codec: &Codec,
    ) -> Result<Reading, DictionaryFull> {
        let derives = |stratum: &Stratum| stratum.relations.iter().any(|relation| *relation != program.goal);
        if self.memory == 0 || !program.strata.iter().any(derives) {
            return Ok(Reading::default());
        }
        let mut reading = self.fingerprints(program, view);
        let mut found = HashSet::new();
        {
            let kept = self.kept.read();
            for (index, fingerprint) in reading.fingerprints.iter().enumerate() {
                let relation = RelationId::new(index);
                if reading.below.contains_key(&relation)
                    && let Some(view) = fingerprint.and_then(|fingerprint| kept.get(&fingerprint))
                {
                    view.last_read.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                    let name = program.relations[index].name.clone();
                    reading.rows.insert(name, with_codes_of(codec, &view.values, &view.runs)?);
                    found.insert(relation);
                }
            }
        }
        if !found.is_empty() {
            let needed = take_as_stored(program, &found);
            let unneeded =
                found.difference(&needed).map(|relation| &program.relations[relation.index()].name);
            unneeded.for_each(|name| drop(reading.rows.remove(name)));
        }
        Ok(reading)
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
        if outcome.saturated
            || !outcome.remarks.is_empty()
            || graph.snapshot().version() != view.snapshot().version()
        {
            return;
        }
        let snapshot = view.snapshot();
        let evaluated = program.strata.iter().flat_map(|stratum| &stratum.relations);
        for relation in evaluated.filter(|relation| reading.below.contains_key(relation)) {
            let fingerprint = reading.fingerprints[relation.index()];
            let (Some(fingerprint), Some(runs)) = (fingerprint, outcome.complete.get(relation)) else {
                continue;
            };
            let Some((runs, values)) = with_codes_of_its_own(runs, codec) else { continue };
            let bytes: usize = runs.iter().map(Run::memory_bytes).sum();
            if bytes > self.memory {
                continue;
            }
            let (mut stored, mut rules) = (BTreeMap::new(), BTreeMap::new());
            for below in reading.all_below(*relation) {
                let name = &program.relations[below.index()].name;
                stored.insert(name.clone(), numbers(snapshot, name));
                rules.insert(name.clone(), snapshot.catalog().rules(name).clone());
            }
            let last_read = AtomicU64::new(self.clock.fetch_add(1, Ordering::Relaxed));
            let dictionary = snapshot.dictionary().number();
            let view = View { graph: graph.id(), dictionary, runs, values, stored, rules, last_read };
            let mut kept = self.kept.write();
            kept.insert(fingerprint, view);
            self.make_room(&mut kept);
        }
    }

    /// Forgets what a graph's latest state would not find any more.
    pub(crate) fn refresh(&self, graph: &Graph) {
        let id = graph.id();
        if self.kept.read().values().any(|view| view.graph == id) {
            let snapshot = graph.snapshot();
            self.kept.write().retain(|_, view| view.graph != id || view.is_of(&snapshot));
        }
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.kept.read().values().map(View::memory_bytes).sum()
    }

    /// Forgets everything about a graph.
    pub(crate) fn forget(&self, graph: GraphId) {
        self.kept.write().retain(|_, view| view.graph != graph);
    }

    /// Forgets what was read the longest ago until the rest fits.
    fn make_room(&self, kept: &mut HashMap<Fingerprint, View>) {
        let mut sizes: Vec<(u64, usize, Fingerprint)> = kept
            .iter()
            .map(|(fingerprint, view)| {
                (view.last_read.load(Ordering::Relaxed), view.memory_bytes(), *fingerprint)
            })
            .collect();
        sizes.sort_unstable();
        let mut bytes: usize = sizes.iter().map(|(_, bytes, _)| bytes).sum();
        let mut views = sizes.len();
        for (_, size, fingerprint) in sizes {
            if bytes <= self.memory && views <= MOST_VIEWS {
                break;
            }
            kept.remove(&fingerprint);
            (bytes, views) = (bytes - size, views - 1);
        }
    }

    /// What the relations of a program follow from.
    fn fingerprints(&self, program: &Program, view: &SessionView) -> Reading {
        let mut reading = Reading { fingerprints: vec![None; program.relations.len()], ..Reading::default() };
        let stored = |name: &str| numbers(view.snapshot(), name);
        // The graph's, and the meaning of its codes.
        let dictionary = view.snapshot().dictionary().number();
        for (index, relation) in program.relations.iter().enumerate() {
            if relation.stored && !view.is_own(&relation.name) {
                reading.fingerprints[index] = Some(self.fingerprint((dictionary, stored(&relation.name))));
            }
        }
        for stratum in program.strata.iter().filter(|stratum| !stratum.relations.contains(&program.goal)) {
            let below: BTreeSet<RelationId> = stratum.rules.iter().flat_map(Rule::reads).collect();
            let outside = below.iter().filter(|relation| !stratum.relations.contains(relation));
            let read: Option<Vec<(&str, Fingerprint)>> = outside
                .map(|relation| {
                    let name = program.relations[relation.index()].name.as_str();
                    Some((name, reading.fingerprints[relation.index()]?))
                })
                .collect();
            let is_own = |relation: &RelationId| view.is_own(&program.relations[relation.index()].name);
            let is_fixed =
                !stratum.relations.iter().any(is_own) && !stratum.rules.iter().any(reads_circumstances);
            let of_stratum = read.filter(|_| is_fixed).map(|mut read| {
                let mut heads: Vec<_> = stratum
                    .relations
                    .iter()
                    .map(|relation| {
                        let known = &program.relations[relation.index()];
                        (&known.name, format!("{:?}", known.column_types), stored(&known.name))
                    })
                    .collect();
                heads.sort_unstable();
                read.sort_unstable();
                let rules: Vec<_> = stratum.rules.iter().map(|rule| Meaning { rule, program }).collect();
                self.fingerprint((dictionary, rules, heads, read))
            });
            for relation in &stratum.relations {
                let name = &program.relations[relation.index()].name;
                reading.fingerprints[relation.index()] =
                    of_stratum.map(|of_stratum| self.fingerprint((of_stratum, name)));
                reading.below.insert(*relation, below.clone());
            }
        }
        reading
    }

    fn fingerprint(&self, what: impl Hash) -> Fingerprint {
        self.keys.each_ref().map(|key| key.hash_one(&what))
    }
}

/// What a rule says, whatever numbers its program gives to relations. Its text does not say all: parts of a rule that
/// were taken out of it have its text, too.
struct Meaning<'p> {
    rule: &'p Rule,
    program: &'p Program,
}

impl Hash for Meaning<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let name = |relation: RelationId| &self.program.relations[relation.index()].name;
        let types = self.rule.variables.iter().map(|variable| variable.data_type);
        name(self.rule.head).hash(state);
        (&self.rule.head_terms, &self.rule.ranking, types.collect::<Vec<_>>()).hash(state);
        self.rule.body.len().hash(state);
        for literal in &self.rule.body {
            match literal {
                Literal::Atom(atom) => (0, name(atom.relation), &atom.arguments).hash(state),
                Literal::Negated(atom) => (1, name(atom.relation), &atom.arguments).hash(state),
                Literal::Filter { operator, left, right } => (2, operator, left, right).hash(state),
                Literal::Assign { variable, expression } => (3, variable, expression).hash(state),
            }
        }
    }
}

impl View {
    fn memory_bytes(&self) -> usize {
        self.runs.iter().map(Run::memory_bytes).sum()
    }

    /// Whether this state has the same rows and rules below the view.
    fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.dictionary == snapshot.dictionary().number()
            && self.stored.iter().all(|(name, runs)| *runs == numbers(snapshot, name))
            && self.rules.iter().all(|(name, clauses)| snapshot.catalog().rules(name).is_same(clauses))
    }
}

impl Reading {
    /// A relation with everything that it follows from.
    fn all_below(&self, relation: RelationId) -> BTreeSet<RelationId> {
        let mut all = BTreeSet::from([relation]);
        let mut open = vec![relation];
        while let Some(relation) = open.pop() {
            for below in self.below.get(&relation).into_iter().flatten() {
                if all.insert(*below) {
                    open.push(*below);
                }
            }
        }
        all
    }
}

fn numbers(snapshot: &Snapshot, relation: &str) -> Vec<u64> {
    snapshot
        .relation(relation)
        .map_or_else(Vec::new, |stored| stored.runs().iter().map(Run::number).collect())
}

/// Whether a rule may find other rows in another request: by the time, or by an index and how it happens to be built.
fn reads_circumstances(rule: &Rule) -> bool {
    let searches = rule.ranking.as_ref().is_some_and(|ranking| ranking.search.is_some());
    searches || rule.circumstance().is_some()
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

/// Runs with codes that any query can read, and the values behind a query's own ones. None if those are too many.
fn with_codes_of_its_own(runs: &[Run], codec: &Codec) -> Option<(Vec<Run>, Vec<Value>)> {
    if !codec.has_own() {
        return Some((runs.to_vec(), Vec::new()));
    }
    let mut numbers: HashMap<Code, Code> = HashMap::new();
    let mut values = Vec::new();
    for code in runs.iter().flat_map(Run::columns).flatten().filter(|code| Codec::is_own(**code)) {
        if numbers.contains_key(code) {
            continue;
        }
        if values.len() == MOST_VALUES {
            return None;
        }
        numbers.insert(*code, Codec::own_code(values.len()));
        values.push(codec.value(*code).to_value());
    }
    Some((recoded(runs, &numbers), values))
}

/// Runs of a view with the codes that a query has for the view's own values.
fn with_codes_of(codec: &Codec, values: &[Value], runs: &[Run]) -> Result<Vec<Run>, DictionaryFull> {
    let mut numbers = HashMap::with_capacity(values.len());
    for (number, value) in values.iter().enumerate() {
        numbers.insert(Codec::own_code(number), codec.encode(value.as_ref())?);
    }
    Ok(recoded(runs, &numbers))
}

/// Runs with other codes; the same runs where none differs.
fn recoded(runs: &[Run], numbers: &HashMap<Code, Code>) -> Vec<Run> {
    if numbers.iter().all(|(from, to)| from == to) {
        return runs.to_vec();
    }
    let recode = |code: &Code| numbers.get(code).copied().unwrap_or(*code);
    runs.iter()
        .map(|run| {
            let rows = run.live_rows();
            let columns = rows.columns.iter().map(|column| column.iter().map(recode).collect()).collect();
            Run::new(columns, rows.len)
        })
        .collect()
}
