//! Values that rules compute: kept with the rows that hold them, and forgotten after these.

use stratalog_engine::{
    Advance, Budget, Content, EngineOptions, Parameters, Provenance, RunOptions, Session,
};

use super::sessions::{engine_of, run};

fn tell(session: &mut Session, program: &str) {
    run(session, program, false).unwrap_or_else(|error| panic!("{program}: {error}"));
}

#[test]
fn what_is_left_is_forgotten() {
    const ROWS: usize = 500;
    let engine = engine_of(EngineOptions::default());
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    tell(&mut session, "+size(-1, 0)");
    tell(&mut session, &format!("+pad(\"{}\")", "x".repeat(2_000)));
    tell(&mut session, "+label(X, L) <- size(X, N), pad(P), L = concat(P, X, \"/\", N)");
    let mut most = 0;
    for round in 0..200_usize {
        let sizes: Vec<String> = (0..ROWS).map(|x| format!("({x}, {})", x + round)).collect();
        tell(&mut session, &format!("-size(X, N) <- size(X, N)\n+size[{}]", sizes.join(", ")));
        let rows = run(&mut session, "?label(X, L), size(X, N), ends_with(L, concat(\"/\", N))", false);
        assert_eq!(rows.map(|rows| rows.len()), Ok(ROWS), "round {round}");
        most = most.max(engine.statistics().memory_bytes);
    }
    assert!(engine.views().views > 0, "they are kept");
    // All of them together were 200 MB.
    assert!((40 << 20..120 << 20).contains(&most), "{most} bytes");
}

#[test]
fn rows_with_computed_values_are_known_to_be_the_graphs_or_the_sessions() {
    let engine = engine_of(EngineOptions::default());
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    tell(&mut session, "+size[(1, 5), (2, 7)]\n+half(X, H) <- size(X, N), H = N * 0.5");
    let asked = |session: &mut Session| {
        let prepared = session.prepare("?half(X, H)", &Parameters::new()).expect("a program");
        let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited()).expect("an answer");
        let Content::Rows(rows) = answer.content else { panic!("rows") };
        rows.provenance().map(<[Provenance]>::to_vec)
    };
    // Kept or not, the same values are the same.
    for is_kept in [false, true] {
        tell(&mut session, "size(3, 9)");
        let sources = asked(&mut session).expect("the session has facts of its own");
        assert_eq!(
            sources,
            [Provenance::Persistent, Provenance::Persistent, Provenance::Ephemeral],
            "{is_kept}"
        );
        tell(&mut session, ".session clear");
        assert_eq!(asked(&mut session), None);
    }
}

#[test]
fn a_zero_keeps_its_sign() {
    let mut answers = Vec::new();
    for view_memory in [0, 1 << 30] {
        let options = EngineOptions { advance: Advance::Always, view_memory, ..EngineOptions::default() };
        let mut session = engine_of(options).open_session("default").expect("the graph `default` exists");
        tell(
            &mut session,
            "+least(X, min<Y>) <- next(X, Y)\n+least(Y, min<L>) <- least(X, L), next(X, Y)\n+next(0.0, 0.0)",
        );
        let before = run(&mut session, "?least(X, L)", false);
        tell(&mut session, "+next(1.0, -0.0)");
        answers.push((before, run(&mut session, "?least(X, L)", false)));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].1.as_ref().map(Vec::len), Ok(3));
}
