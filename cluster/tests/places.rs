//! Where a question is evaluated: what the graph says, what the question asks for, and what fits memory.

use std::sync::Arc;

use stratalog_cluster::{Evaluator, Settings};
use stratalog_engine::{
    Budget, Cluster, ClusterUse, Code, Content, Elsewhere, Engine, EngineOptions, Error, EvaluationPlace,
    Parameters, RunOptions, Scope, Session, Value,
};
use tempfile::TempDir;

/// An engine with a cluster, and who is asked there.
struct Seat {
    session: Session,
    evaluator: Arc<Evaluator>,
    _folder: TempDir,
}

impl Seat {
    /// Questions that read more bytes go there at once.
    fn new(over_bytes: u64) -> Seat {
        let folder = tempfile::tempdir().expect("a folder for a while");
        let settings = Settings { small_bytes: 0, ..Settings::new(folder.path(), 2) };
        let evaluator = Arc::new(Evaluator::new(settings).expect("an evaluator"));
        let cluster = Cluster {
            evaluator: Arc::clone(&evaluator) as Arc<dyn Elsewhere>,
            over_bytes,
            default_use: ClusterUse::Off,
        };
        let options = EngineOptions { cluster: Some(cluster), view_memory: 0, ..EngineOptions::default() };
        let engine = Engine::in_memory(options).expect("an engine");
        let mut session = engine.open_session("default").expect("the graph `default`");
        let rows = (0..1_000).map(|n| vec![Value::Int(n), Value::Int(n + 1)]).collect();
        session.insert_rows("edge", Scope::Persistent, None, rows, &Budget::unlimited()).expect("rows");
        Seat { session, evaluator, _folder: folder }
    }

    fn run(&mut self, program: &str, place: EvaluationPlace, budget: &Budget) -> Result<Vec<String>, Error> {
        let prepared = self.session.prepare(program, &Parameters::new())?;
        let options = RunOptions { place, ..RunOptions::default() };
        Ok(match self.session.run(prepared, &options, budget)?.content {
            Content::Messages(messages) => messages,
            Content::Rows(rows) => {
                let batch = rows.batch(0, rows.row_count());
                let cell = |column: &arrow::array::ArrayRef, row| format!("{:?}", column.slice(row, 1));
                let row = |row| batch.columns().iter().map(|column| cell(column, row)).collect();
                (0..batch.num_rows()).map(row).collect()
            }
        })
    }

    /// How often the cluster has been asked.
    fn asked(&self) -> u64 {
        self.evaluator.tally().programs
    }
}

const PATHS: &str =
    "path(X, Y) <- edge(X, Y)\npath(X, Z) <- path(X, Y), edge(Y, Z)\n?count<Y> <- path(990, Y)";
const PLACES: [EvaluationPlace; 3] = [EvaluationPlace::Auto, EvaluationPlace::Here, EvaluationPlace::Cluster];

#[test]
fn a_question_goes_where_graph_and_question_say() {
    // Whether it goes there; none where it is refused.
    let table = [
        ("off", [Some(false), Some(false), None]),
        ("on", [Some(false), Some(false), Some(true)]),
        ("only", [Some(true), None, Some(true)]),
    ];
    let mut seat = Seat::new(1 << 30);
    for (uses, goes) in table {
        seat.run(&format!(".kg cluster {uses}"), EvaluationPlace::Auto, &Budget::unlimited()).expect("said");
        for (place, expected) in PLACES.into_iter().zip(goes) {
            let before = seat.asked();
            let answer = seat.run(PATHS, place, &Budget::unlimited());
            let went = seat.asked() > before;
            match expected {
                None => {
                    let refused = answer.expect_err("it goes nowhere");
                    assert_eq!(refused.code(), Code::ClusterUnavailable, "{uses}, {place:?}");
                }
                Some(expected) => {
                    assert_eq!(went, expected, "{uses}, {place:?}");
                    assert_eq!(answer.expect("an answer").len(), 1);
                }
            }
        }
    }
    let before = seat.asked();
    seat.run(".cluster ?edge(1, X)", EvaluationPlace::Auto, &Budget::unlimited()).expect("an answer");
    assert_eq!(seat.asked(), before + 1);
}

#[test]
fn what_reads_much_or_needs_much_goes_there_by_itself() {
    // A thousand rows of two columns are 8,000 bytes.
    for (over_bytes, goes) in [(7_999, true), (8_000, false)] {
        let mut seat = Seat::new(over_bytes);
        seat.run(".kg cluster on", EvaluationPlace::Auto, &Budget::unlimited()).expect("said");
        seat.run(PATHS, EvaluationPlace::Auto, &Budget::unlimited()).expect("an answer");
        assert_eq!(seat.asked() > 0, goes);
    }
    let mut seat = Seat::new(1 << 30);
    let all =
        "path(X, Y) <- edge(X, Y)\npath(X, Z) <- path(X, Y), edge(Y, Z)\n?count<X> <- path(X, Y), edge(X, Y)";
    let little = || Budget::new(None, 3 << 20);
    let refused = seat.run(all, EvaluationPlace::Auto, &little());
    assert_eq!(refused.expect_err("it does not fit").code(), Code::LimitExceeded);
    seat.run(".kg cluster on", EvaluationPlace::Auto, &Budget::unlimited()).expect("said");
    let refused = seat.run(all, EvaluationPlace::Here, &little());
    assert_eq!(refused.expect_err("it is to stay here").code(), Code::LimitExceeded);
    assert_eq!(seat.asked(), 0);
    let rows = seat.run(all, EvaluationPlace::Auto, &little()).expect("an answer");
    assert_eq!((seat.asked(), rows.len()), (1, 1));
}

#[test]
fn plans_say_where_and_profiles_say_how() {
    let mut seat = Seat::new(1 << 30);
    let ask = |seat: &mut Seat, program: &str| {
        seat.run(program, EvaluationPlace::Auto, &Budget::unlimited()).expect("an answer").join("\n")
    };
    let rules = "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)";
    ask(&mut seat, rules);
    assert!(
        ask(&mut seat, ".explain ?path(X, Y)").contains("evaluated here, as the graph has `.kg cluster off`")
    );
    ask(&mut seat, ".kg cluster only");
    let plan = ask(&mut seat, ".explain ?path(X, Y)");
    assert!(plan.contains("evaluated by the cluster, as the graph has `.kg cluster only`"), "{plan}");
    let profile = ask(&mut seat, ".profile ?path(X, Y)");
    assert!(profile.contains("evaluated by the cluster"), "{profile}");
    assert!(profile.contains("recursive, plans in parts in "), "{profile}");
    assert!(profile.contains("path (500500 rows)"), "{profile}");
}
