//! Little memory, little disk, little time: the right answer, or an error that says what is missing.

#[path = "../../tests/harness/attached.rs"]
#[allow(dead_code, unreachable_pub, reason = "not all of what suites share is used here")]
mod attached;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stratalog_cluster::{Evaluator, Settings};
use stratalog_engine::{
    Budget, Cluster, ClusterUse, Code, Content, Elsewhere, Engine, EngineOptions, Error, Parameters,
    RunOptions, Scope, Session, Value,
};
use tempfile::TempDir;

/// An engine that asks an evaluator with these settings, and what it is compared with.
struct Both {
    elsewhere: Session,
    here: Session,
    evaluator: Arc<Evaluator>,
    folder: TempDir,
}

impl Both {
    fn new(change: impl FnOnce(&mut Settings)) -> Both {
        let folder = tempfile::tempdir().expect("a folder for a while");
        let mut settings = Settings { partitions: 4, small_bytes: 0, ..Settings::new(folder.path(), 2) };
        change(&mut settings);
        let evaluator = Arc::new(Evaluator::new(settings).expect("an evaluator"));
        let cluster = Cluster {
            evaluator: Arc::clone(&evaluator) as Arc<dyn Elsewhere>,
            over_bytes: 0,
            default_use: ClusterUse::Only,
        };
        let session = |cluster| {
            let places = attached::places();
            let engine = Engine::in_memory(EngineOptions { cluster, places, ..EngineOptions::default() });
            engine.expect("an engine").open_session("default").expect("the graph `default`")
        };
        Both { elsewhere: session(Some(cluster)), here: session(None), evaluator, folder }
    }

    fn insert(&mut self, relation: &str, rows: impl Iterator<Item = (i64, i64)>) {
        let rows: Vec<Vec<Value>> = rows.map(|(a, b)| vec![Value::Int(a), Value::Int(b)]).collect();
        for session in [&mut self.elsewhere, &mut self.here] {
            let budget = Budget::unlimited();
            session.insert_rows(relation, Scope::Persistent, None, rows.clone(), &budget).expect("rows");
        }
    }

    /// Both give the same rows for a program, and there are some.
    fn agree(&mut self, program: &str) {
        let expected = rows(&mut self.here, program, &Budget::unlimited()).expect("an answer here");
        let found = rows(&mut self.elsewhere, program, &Budget::unlimited()).expect("an answer elsewhere");
        assert!(!expected.is_empty());
        assert_eq!(found.len(), expected.len(), "{program}");
        assert!(found == expected, "other rows of {program}");
        let tally = self.evaluator.tally();
        assert!(tally.by_plans > 0 && tally.in_memory.is_empty(), "{tally:?}");
        self.leaves_nothing();
    }

    /// No file is left in the folder, once all that was at work has stopped.
    fn leaves_nothing(&self) {
        let begun = Instant::now();
        while files(self.folder.path()) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "files are left");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The rows of an answer in their order.
fn rows(session: &mut Session, program: &str, budget: &Budget) -> Result<Vec<Vec<String>>, Error> {
    let prepared = session.prepare(program, &Parameters::new())?;
    let answer = session.run(prepared, &RunOptions::default(), budget)?;
    let Content::Rows(rows) = answer.content else { return Ok(Vec::new()) };
    let batch = rows.batch(0, rows.row_count());
    let columns: Vec<_> = batch.columns().to_vec();
    let text = |row: usize| {
        let cell = |column| arrow_text(column, row);
        columns.iter().map(cell).collect::<Vec<String>>()
    };
    let mut all: Vec<Vec<String>> = (0..batch.num_rows()).map(text).collect();
    all.sort_unstable();
    Ok(all)
}

fn arrow_text(column: &arrow::array::ArrayRef, row: usize) -> String {
    format!("{:?}", column.slice(row, 1))
}

/// How many files there are below a folder, beside those that say whose it is.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_mark = |path: &Path| path.extension().is_some_and(|extension| extension == "lock");
    entries.map(|path| if path.is_dir() { files(&path) } else { usize::from(!is_mark(&path)) }).sum()
}

/// Edges of a graph in which everything leads to a few hundred nodes, without circles.
fn edges(count: i64) -> impl Iterator<Item = (i64, i64)> {
    let mixed = |n: i64| (n.wrapping_mul(2_654_435_761) >> 7) & 0xFFFF;
    (0..count).map(move |n| (n / 3, n / 3 + 1 + mixed(n) % 400))
}

const CLOSURE: &str = "tc(X, Y) <- edge(X, Y)\ntc(X, Z) <- tc(X, Y), edge(Y, Z)\n?tc(X, Y)";
/// A recursion that does not fall apart.
const SAME: &str = "same(X, Y) <- edge(X, Y)\nsame(X, Z) <- same(X, Y), same(Y, Z)\n?same(X, Y)";

#[test]
fn sides_of_joins_that_do_not_fit_are_sorted() {
    let mut both = Both::new(|settings| {
        settings.shared_bytes = 1 << 10;
        settings.pool_bytes = 24 << 20;
    });
    both.insert("left", (0..1_000_000).map(|n| (n, n % 1_000)));
    both.insert("right", (0..1_000_000).map(|n| (n, n % 977)));
    both.agree("?left(X, A), right(X, B), A < B, B < 40");
    both.agree("?count<X>, A <- left(X, A), !right(X, A)");
    let tally = both.evaluator.tally();
    assert!(tally.sorted > 0, "{tally:?}");
}

#[test]
fn recursions_go_on_in_rounds_and_in_parts() {
    for carried_bytes in [0, 1 << 20] {
        let mut both = Both::new(|settings| settings.carried_bytes = carried_bytes);
        both.insert("edge", edges(1_200));
        both.agree(CLOSURE);
        both.agree(SAME);
    }
}

#[test]
fn rows_stay_in_their_part() {
    let mut both = Both::new(|settings| settings.partitions = 8);
    both.insert("e", [(1, 2), (2, 3)].into_iter());
    // Few parts have files, and the others have nothing to do.
    rows(&mut both.elsewhere, "e(Y, X) <- e(X, Y)", &Budget::unlimited()).expect("a rule");
    for _ in 0..50 {
        let found = rows(&mut both.elsewhere, "?e(X, Y)", &Budget::unlimited()).expect("an answer");
        assert_eq!(found.len(), 4, "{found:?}");
    }
}

#[test]
fn parts_that_are_too_large_are_cut_again() {
    let program = "tc(X, Y) <- edge(X, Y)\ntc(X, Z) <- tc(X, Y), edge(Y, Z)\n?count<X> <- tc(X, Y)";
    let mut both = Both::new(|settings| settings.partitions = 2);
    // A circle: a million rows of eight bytes.
    both.insert("edge", (0..1_000).map(|n| (n, (n + 1) % 1_000)));
    let expected = rows(&mut both.here, program, &Budget::unlimited()).expect("an answer here");
    let little = Budget::new(None, 4 << 20);
    let found = rows(&mut both.elsewhere, program, &little).expect("an answer elsewhere");
    assert_eq!(found, expected);
    both.leaves_nothing();
    // One node alone reaches more than that.
    let refused = rows(&mut both.elsewhere, program, &Budget::new(None, 64 << 10));
    assert_eq!(refused.expect_err("there is too little").code(), Code::LimitExceeded);
    both.leaves_nothing();
}

#[test]
fn what_is_cancelled_ends_soon() {
    let mut both = Both::new(|settings| settings.carried_bytes = 0);
    both.insert("edge", edges(9_000));
    let budget = Budget::unlimited();
    let stop = budget.clone();
    let stopping = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        stop.cancel();
        Instant::now()
    });
    let stopped = rows(&mut both.elsewhere, SAME, &budget).expect_err("it was cancelled");
    let ended = Instant::now();
    assert_eq!(stopped.code(), Code::Cancelled);
    let cancelled = stopping.join().expect("it was stopped");
    assert!(ended.duration_since(cancelled) < Duration::from_secs(2));
    both.leaves_nothing();
}

#[test]
fn too_little_to_spill_to_is_an_error() {
    let mut both = Both::new(|settings| {
        settings.shared_bytes = 1 << 10;
        settings.pool_bytes = 4 << 20;
        settings.spill_bytes = 100 << 10;
    });
    both.insert("left", (0..300_000).map(|n| (n, n % 1_000)));
    both.insert("right", (0..300_000).map(|n| (n, n % 977)));
    let refused = rows(&mut both.elsewhere, "?left(X, A), right(X, B), A < B", &Budget::unlimited());
    assert_eq!(refused.expect_err("nothing can be spilled").code(), Code::LimitExceeded);
    // The next one has all that there is.
    both.agree("?left(X, A), A < 3");
}

#[test]
fn rows_of_attached_files_need_not_fit_memory() {
    const ROWS: i64 = 1_000_000;
    let column = |of: fn(i64) -> i64| -> arrow::array::ArrayRef {
        Arc::new(arrow::array::Int64Array::from_iter_values((0..ROWS).map(of)))
    };
    let columns = [("n", column(|n| n)), ("c", column(|n| n % 1_000)), ("v", column(|n| n % 7))];
    let sales = arrow::array::RecordBatch::try_from_iter(columns).expect("a batch");
    let folder = tempfile::tempdir().expect("a folder for a while");
    // Some rows are in both files.
    attached::write(&folder.path().join("1.parquet"), &sales.slice(0, 600_000), 50_000);
    attached::write(&folder.path().join("2.parquet"), &sales.slice(400_000, 600_000), 50_000);
    let mut both = Both::new(|settings| settings.pool_bytes = 64 << 20);
    let attach = format!(".rel attach sale {}/*", folder.path().display());
    for session in [&mut both.elsewhere, &mut both.here] {
        rows(session, &attach, &Budget::unlimited()).expect("it is attached");
    }
    both.insert("wanted", (0..10).map(|n| (n, n % 2)));
    both.agree("?C, count<N>, sum<V> <- sale(N, C, V)");
    both.agree("?O, C, N <- sale(N, C, V), wanted(C, O), V > 5");
    both.agree("?N, V <- sale(N, C, V), N < 20, !wanted(N, _)");
    let little = || Budget::new(None, 12 << 20);
    let program = "?C, count<N>, sum<V> <- sale(N, C, V)";
    let refused = rows(&mut both.here, program, &little()).expect_err("too much is read");
    assert_eq!(refused.code(), Code::LimitExceeded);
    let answer = rows(&mut both.elsewhere, program, &little()).expect("an answer");
    assert_eq!(answer.len(), 1_000);
    both.leaves_nothing();
}
