//! Nearest rows under random inserts, deletes, updates, restarts and conditions, compared with a search of our own over
//! everything that there is.
//!
//! `CHURN_STEPS` and `CHURN_SEED` make it longer, and another one.

use std::collections::{BTreeMap, BTreeSet};

use stratalog_engine::{Engine, EngineOptions, StorageOptions, Thresholds};
use tempfile::TempDir;

use super::random::Random;
use super::session::{Asking, settle};

const DIMENSION: usize = 24;
const K: usize = 10;
const USERS: usize = 4;
/// An index is asked for 50 candidates from 300 rows on: far less than usual.
const CANDIDATE_ROWS: usize = 6;

/// What there should be.
#[derive(Default)]
struct Model {
    docs: BTreeMap<i64, Vec<f32>>,
    visible: BTreeSet<(usize, i64)>,
    superseded: BTreeSet<i64>,
}

/// A condition beside a search.
#[derive(Debug, Clone, Copy)]
enum Condition {
    None,
    Visible(usize),
    Current,
    Both(usize),
    After(i64),
}

/// A metric by its name, computed as it is written.
type Metric = (&'static str, fn(&[f32], &[f32]) -> f64);

const METRICS: [Metric; 4] = [
    ("cosine", |a, b| {
        let (ab, aa, bb) = (product(a, b), product(a, a), product(b, b));
        if aa == 0.0 || bb == 0.0 { 1.0 } else { 1.0 - ab / (aa.sqrt() * bb.sqrt()) }
    }),
    ("l2", |a, b| a.iter().zip(b).map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>().sqrt()),
    ("dot", |a, b| -product(a, b)),
    ("l1", |a, b| a.iter().zip(b).map(|(x, y)| (f64::from(*x) - f64::from(*y)).abs()).sum()),
];

fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}

impl Model {
    fn fulfils(&self, id: i64, condition: Condition) -> bool {
        let sees = |user| self.visible.contains(&(user, id));
        match condition {
            Condition::None => true,
            Condition::Visible(user) => sees(user),
            Condition::Current => !self.superseded.contains(&id),
            Condition::Both(user) => sees(user) && !self.superseded.contains(&id),
            Condition::After(least) => id > least,
        }
    }

    /// The distances of the nearest rows.
    fn nearest(&self, query: &[f32], condition: Condition, distance: fn(&[f32], &[f32]) -> f64) -> Vec<f64> {
        let eligible = self.docs.iter().filter(|(id, _)| self.fulfils(**id, condition));
        let mut distances: Vec<f64> = eligible.map(|(_, vector)| distance(vector, query)).collect();
        distances.sort_by(f64::total_cmp);
        distances.truncate(K);
        distances
    }
}

impl Condition {
    fn any(random: &mut Random, model: &Model) -> Condition {
        let user = random.below(USERS);
        match random.below(5) {
            0 => Condition::None,
            1 => Condition::Visible(user),
            2 => Condition::Current,
            3 => Condition::Both(user),
            _ => Condition::After(model.docs.keys().nth(model.docs.len() / 2).copied().unwrap_or(0)),
        }
    }

    fn text(self) -> String {
        match self {
            Condition::None => String::new(),
            Condition::Visible(user) => format!(", visible({user}, Id)"),
            Condition::Current => ", !superseded(Id)".to_owned(),
            Condition::Both(user) => format!(", visible({user}, Id), !superseded(Id)"),
            Condition::After(least) => format!(", Id > {least}"),
        }
    }
}

fn open(folder: &TempDir) -> Engine {
    let thresholds = Thresholds { candidate_rows: CANDIDATE_ROWS, ..Thresholds::default() };
    let options = EngineOptions { threads: Some(2), thresholds, view_memory: 0, ..EngineOptions::default() };
    let storage = StorageOptions { checkpoint_bytes: 1 << 18, ..StorageOptions::new(folder.path()) };
    Engine::open(options, storage).expect("what was stored can be opened")
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn searches_are_right_whatever_happens_to_the_rows() {
    let seed = number("CHURN_SEED", 7);
    for (index, metric) in METRICS.iter().enumerate() {
        Churn::new(seed + index as u64, *metric).run(number("CHURN_STEPS", 24));
    }
}

struct Churn {
    random: Random,
    /// Around which vectors lie.
    centres: Vec<Vec<f32>>,
    model: Model,
    next: i64,
    folder: TempDir,
    engine: Engine,
    metric: Metric,
    /// Questions that an index answered, and others.
    approximate: usize,
    exact: usize,
}

impl Churn {
    fn new(seed: u64, metric: Metric) -> Churn {
        let mut random = Random::new(seed);
        let centres = (0..12).map(|_| (0..DIMENSION).map(|_| 2.0 * random.normal()).collect()).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let engine = open(&folder);
        Asking::on(&engine).run(&format!(
            "+doc(id: int, v: vector({DIMENSION}))\n+visible(user: int, id: int)\n+superseded(id: int)\n\
             .index create near on doc(v) metric {}",
            metric.0
        ));
        let (model, next) = (Model::default(), 0);
        Churn { random, centres, model, next, folder, engine, metric, approximate: 0, exact: 0 }
    }

    fn run(mut self, steps: u64) {
        for step in 0..steps {
            self.change();
            if self.random.below(3) > 0 {
                settle(&self.engine, "near");
            }
            self.ask(step);
        }
        assert!(self.approximate > 0, "{}: no question went to the index", self.metric.0);
        assert!(self.exact > 0, "{}: every question went to the index", self.metric.0);
    }

    fn vector(&mut self) -> Vec<f32> {
        let centre = self.random.below(self.centres.len());
        (0..DIMENSION).map(|i| self.centres[centre][i] + self.random.normal()).collect()
    }

    fn change(&mut self) {
        let mut asking = Asking::on(&self.engine);
        match self.random.below(8) {
            // Inserts, with rights and some vectors that are there already, or zero.
            0..=3 => {
                let count = 50 + self.random.below(350);
                let known: Vec<Vec<f32>> = self.model.docs.values().take(3).cloned().collect();
                let mut rows = Vec::new();
                for i in 0..count {
                    let vector = match i {
                        0 => vec![0.0; DIMENSION],
                        1..=3 if i <= known.len() => known[i - 1].clone(),
                        _ => self.vector(),
                    };
                    rows.push((self.next, vector));
                    self.next += 1;
                }
                asking.run(&format!("+doc[{}]", texts(rows.iter().map(|(id, v)| format!("({id}, {v:?})")))));
                for (id, vector) in rows {
                    for user in 0..USERS {
                        // The last user sees hardly anything.
                        if self.random.below(if user + 1 == USERS { 40 } else { 2 + user }) == 0 {
                            self.model.visible.insert((user, id));
                        }
                    }
                    self.model.docs.insert(id, vector);
                }
                let visible = self.model.visible.iter().map(|(user, id)| format!("({user}, {id})"));
                asking.run(&format!("+visible[{}]", texts(visible)));
            }
            // Deletes of any share of the rows; what points at them stays.
            4 => {
                let share = 2 + self.random.below(8);
                let gone: Vec<i64> =
                    self.model.docs.keys().copied().filter(|_| self.random.below(share) == 0).collect();
                asking.run("+gone(0)\n-gone(X) <- gone(X)");
                if !gone.is_empty() {
                    asking.run(&format!("+gone[{}]", texts(gone.iter().map(|id| format!("({id})")))));
                    asking.run("-doc(Id, V) <- doc(Id, V), gone(Id)");
                }
                gone.iter().for_each(|id| _ = self.model.docs.remove(id));
            }
            // Updates: other vectors under known ids.
            5 => {
                let ids: Vec<i64> =
                    self.model.docs.keys().copied().filter(|_| self.random.below(10) == 0).collect();
                for id in ids {
                    let vector = self.vector();
                    asking.run(&format!("-doc({id}, V), +doc({id}, {vector:?}) <- doc({id}, V)"));
                    self.model.docs.insert(id, vector);
                }
            }
            6 => {
                let ids: BTreeSet<i64> =
                    self.model.docs.keys().copied().filter(|_| self.random.below(5) == 0).collect();
                if !ids.is_empty() {
                    asking.run(&format!("+superseded[{}]", texts(ids.iter().map(|id| format!("({id})")))));
                }
                self.model.superseded.extend(ids);
            }
            _ if self.random.below(3) == 0 => {
                asking.run(".index rebuild near");
            }
            _ => {
                drop(asking);
                // The folder has one engine at a time.
                self.engine = Engine::in_memory(EngineOptions::default()).expect("an engine");
                self.engine = open(&self.folder);
            }
        }
    }

    fn ask(&mut self, step: u64) {
        let (mut found, mut expected) = (0, 0);
        for _ in 0..12 {
            let query = self.vector();
            let condition = Condition::any(&mut self.random, &self.model);
            let text = format!("?hnsw_nearest(\"near\", {query:?}, {K}, Id, D, Rank){}", condition.text());
            let mut asking = Asking::on(&self.engine);
            let rows = asking.run(&text);
            let is_exact = asking.plan(&text).contains(", exact, ");
            let nearest = self.model.nearest(&query, condition, self.metric.1);
            let place = format!("{} step {step}: {text}", self.metric.0);
            assert_eq!(rows.len(), nearest.len(), "{place}");
            let mut ids = BTreeSet::new();
            let mut hits = 0;
            for (rank, row) in (1..).zip(&rows) {
                assert_eq!(row[2].number(), Some(f64::from(rank)), "{place}: ranks count from 1");
                let id = row[0].number().expect("an id") as i64;
                let distance = row[1].number().expect("a distance");
                assert!(ids.insert(id), "{place}: {id} twice");
                let vector = self.model.docs.get(&id);
                let vector = vector.unwrap_or_else(|| panic!("{place}: {id} was deleted"));
                assert!(self.model.fulfils(id, condition), "{place}: {id} does not fulfil the condition");
                let real = (self.metric.1)(vector, &query);
                assert!((distance - real).abs() < 1e-3, "{place}: {id} is {real} away, not {distance}");
                hits += usize::from(real <= nearest.last().unwrap_or(&0.0) + 1e-3);
            }
            if is_exact {
                self.exact += 1;
                assert_eq!(hits, nearest.len(), "{place}: an exact search overlooks nothing");
            } else {
                self.approximate += 1;
                found += hits;
                expected += nearest.len();
            }
        }
        assert!(
            found as f64 >= 0.95 * expected as f64,
            "{} step {step}: {found} of {expected} found",
            self.metric.0
        );
    }
}

fn texts(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}
