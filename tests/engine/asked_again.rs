//! Questions that are asked again with other constants are analysed once. Each is compared with the same question asked with
//! comparisons, `?path(X, Y), X = 2` in the place of `?path(2, Y)`: these are never one form.

use stratalog_engine::{
    Budget, Content, Engine, EngineOptions, Parameters, RunOptions, Session, Value as Given,
};
use stratalog_tests::answers::rows_of;
use stratalog_tests::value::{Row, Value};

fn session() -> Session {
    let engine = Engine::in_memory(EngineOptions::default()).expect("an engine in memory");
    engine.open_session("default").expect("the graph `default` exists")
}

/// The columns and sorted rows of an answer, what was said, and the warnings.
#[derive(Debug, PartialEq)]
struct Said {
    columns: Vec<String>,
    rows: Vec<Row>,
    warnings: Vec<String>,
}

fn ask(session: &mut Session, program: &str, parameters: &Parameters) -> Result<Said, String> {
    let prepared = session.prepare(program, parameters).map_err(|error| error.render(program))?;
    let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited());
    let answer = answer.map_err(|error| error.render(program))?;
    let warnings = answer.warnings.iter().map(|warning| warning.message.clone()).collect();
    let (columns, rows) = match answer.content {
        Content::Rows(rows) => {
            let columns = rows.columns().iter().map(|column| column.name.clone()).collect();
            let mut found = rows_of(&rows.batch(0, rows.row_count()));
            found.sort();
            (columns, found)
        }
        Content::Messages(messages) => {
            (Vec::new(), messages.into_iter().map(|m| vec![Value::Text(m)]).collect())
        }
    };
    Ok(Said { columns, rows, warnings })
}

fn say(session: &mut Session, program: &str) -> Said {
    ask(session, program, &Parameters::new()).unwrap_or_else(|error| panic!("{error}"))
}

const GRAPH: &str = "+edge[(0, 1), (1, 2), (2, 0), (3, 4), (-1, 0), (1850, 1851)]
+path(X, Y) <- edge(X, Y)
+path(X, Z) <- path(X, Y), edge(Y, Z)
+named[(0, \"zero\"), (1, \"one\"), (2, \"two\"), (3, \"stand-in\")]
+apart(X, Y) <- named(X, _), named(Y, _), !path(X, Y)
+reaches(X, count<Y>) <- path(X, Y)
+mixed[(1, 1), (2, 1.5), (3, \"1\")]
+sized(x: int, y: float)
+sized[(1, 1.0), (2, 2.5)]
+on(day: timestamp, n: int)
+on[(t\"2024-01-05\", 1), (t\"2024-01-06\", 2)]";

/// Questions with `@` for a constant, and the same with a comparison.
const QUESTIONS: [(&str, &str); 11] = [
    ("?path(@, Y)", "?X, Y <- path(X, Y), X = @"),
    ("?path(X, @)", "?X, Y <- path(X, Y), Y = @"),
    ("?path(@, @)", "?X, Y <- path(X, Y), X = @, Y = @"),
    ("?path(@, Y), named(Y, N)", "?X, Y, N <- path(X, Y), named(Y, N), X = @"),
    ("?Y <- path(@, Y)", "?Y <- path(X, Y), X = @"),
    ("?Y, N <- path(@, Y), named(Y, N), Y > 0", "?Y, N <- path(X, Y), named(Y, N), Y > 0, X = @"),
    ("?apart(@, Y)", "?X, Y <- apart(X, Y), X = @"),
    ("?reaches(@, N)", "?X, N <- reaches(X, N), X = @"),
    ("?X <- named(X, _), !path(X, @)", "?X <- named(X, _), Y = @, !path(X, Y)"),
    ("?mixed(X, @)", "?X, Y <- mixed(X, Y), Y = @"),
    ("?sized(X, @)", "?X, Y <- sized(X, Y), Y = @"),
];

#[test]
fn other_constants_find_what_they_would_by_themselves() {
    let mut session = session();
    say(&mut session, GRAPH);
    for (by_argument, by_comparison) in QUESTIONS {
        for constant in ["2", "2", "1", "-1", "0", "3", "1850", "9007199254740993", "2"] {
            let found = say(&mut session, &by_argument.replace('@', constant));
            let expected = say(&mut session, &by_comparison.replace('@', constant));
            assert_eq!(found.rows, expected.rows, "{by_argument} with {constant}");
        }
    }
}

#[test]
fn columns_are_called_by_their_own_constants() {
    let mut session = session();
    say(&mut session, GRAPH);
    for name in ["one", "one", "two", "a \\\"quoted\\\" name", "stand-in", ""] {
        let found = say(&mut session, &format!("?named(X, \"{name}\")"));
        assert_eq!(found.columns, ["X", &name.replace('\\', "")]);
    }
    for number in ["1", "1", "2"] {
        assert_eq!(say(&mut session, &format!("?path({number}, Y)")).columns, [number, "Y"]);
    }
}

/// Texts that may be times, and years beside times, are looked at.
#[test]
fn what_depends_on_a_constant_is_looked_at() {
    let mut session = session();
    say(&mut session, GRAPH);
    for day in ["never", "never", "2024-01-05", "2024-01-06", "2024-01-05", "never"] {
        let found = ask(&mut session, &format!("?on(\"{day}\", N)"), &Parameters::new());
        match day {
            "never" => assert!(found.is_err_and(|error| error.contains("\"never\"")), "{day}"),
            _ => assert_eq!(found.expect("rows").rows.len(), 1, "{day}"),
        }
    }
    for (n, warns) in [(1, false), (1, false), (2024, true), (1, false)] {
        assert_eq!(say(&mut session, &format!("?on({n}, N)")).warnings.is_empty(), !warns, "{n}");
    }
    for (constant, rows) in [("1", 1), ("1", 1), ("1.5", 1), ("\"1\"", 1), ("1", 1), ("2", 0)] {
        assert_eq!(say(&mut session, &format!("?mixed(X, {constant})")).rows.len(), rows, "{constant}");
    }
}

#[test]
fn parameters_are_constants() {
    let mut session = session();
    say(&mut session, GRAPH);
    for (n, rows) in [(2, 3), (2, 3), (3, 1), (7, 0), (-1, 3)] {
        let parameters = Parameters::from([("from".to_owned(), Given::Int(n))]);
        let found = ask(&mut session, "?path($from, Y)", &parameters).expect("rows");
        assert_eq!(found.rows.len(), rows, "{n}");
    }
    let parameters = Parameters::from([("from".to_owned(), Given::text("2"))]);
    assert_eq!(ask(&mut session, "?path($from, Y)", &parameters).expect("rows").rows.len(), 0);
}

#[test]
fn what_changes_between_is_seen() {
    let mut session = session();
    say(&mut session, GRAPH);
    let count = |session: &mut Session| say(session, "?path(3, Y)").rows.len();
    assert_eq!([count(&mut session), count(&mut session), count(&mut session)], [1, 1, 1]);
    say(&mut session, "+edge(4, 5)");
    assert_eq!(count(&mut session), 2);
    say(&mut session, "+path(X, X) <- named(X, _)");
    assert_eq!(count(&mut session), 3);
    // What only the session has.
    say(&mut session, "edge(5, 6)");
    assert_eq!([count(&mut session), count(&mut session)], [4, 4]);
    say(&mut session, ".session clear");
    assert_eq!(count(&mut session), 3);
    say(&mut session, ".rule drop path");
    let gone = ask(&mut session, "?path(3, Y)", &Parameters::new());
    assert!(gone.is_err_and(|error| error.contains("path")));
    say(&mut session, "+path(X, Y, Z) <- edge(X, Y), edge(Y, Z)");
    assert!(ask(&mut session, "?path(3, Y)", &Parameters::new()).is_err());
    assert_eq!(say(&mut session, "?path(3, Y, Z)").rows.len(), 1);
}

/// Two graphs that have relations of one name, and a graph that is dropped and made again.
#[test]
fn each_graph_has_its_own() {
    let mut session = session();
    say(&mut session, "+p[(1, 2), (1, 3)]");
    let count = |session: &mut Session| say(session, "?p(1, Y)").rows.len();
    assert_eq!([count(&mut session), count(&mut session)], [2, 2]);
    say(&mut session, ".kg create other");
    say(&mut session, ".kg use other");
    say(&mut session, "+p[(1, \"a\")]");
    assert_eq!([count(&mut session), count(&mut session), count(&mut session)], [1, 1, 1]);
    say(&mut session, ".kg use default");
    assert_eq!(count(&mut session), 2);
    say(&mut session, ".kg drop other");
    say(&mut session, ".kg create other");
    say(&mut session, ".kg use other");
    say(&mut session, "+p[(\"x\", \"a\")]");
    assert_eq!([count(&mut session), count(&mut session)], [0, 0]);
}

/// More forms than are kept.
#[test]
fn what_was_not_asked_for_long_is_forgotten() {
    let mut session = session();
    say(&mut session, GRAPH);
    for number in 0..2_500 {
        let question = format!("?path(2, Y{})", number % 1_250);
        assert_eq!(say(&mut session, &question).rows.len(), 3);
    }
}
