//! `.why`: each row with a proof that holds, as small as any.

use std::collections::BTreeMap;

use stratalog_engine::Session;
use stratalog_tests::answers::rows_of;
use stratalog_tests::model::{Asked, Atom, Expression, Facts, Goal, HeadTerm, Literal, Program, Rule, Term};
use stratalog_tests::modes::modes;
use stratalog_tests::oracle::Holding;
use stratalog_tests::programs::Case;
use stratalog_tests::value::{Row, Value};

use super::{rows, run, session, sorted, with_random_programs};

#[test]
fn each_row_has_a_proof_that_holds_and_none_is_smaller() {
    with_random_programs(2_000, check);
}

/// What is kept of states that have passed says nothing of this one.
#[test]
fn proofs_are_of_what_there_is_after_facts_have_come_and_gone() {
    with_random_programs(600, |case, holding, mut session| {
        // What a write has changed does not come again with the facts.
        if case.program.writes.is_empty() {
            come_and_go(case, &mut session)?;
        }
        check(case, holding, session)
    });
}

/// Other facts come and go, and some go and come; before and after each change everything is asked for.
fn come_and_go(case: &Case, session: &mut Session) -> Result<(), String> {
    let others = case.passing.iter().map(|(relation, rows)| (relation, Vec::from_iter(rows), ["+", "-"]));
    let some = case.program.facts.iter();
    let some = some.map(|(relation, rows)| (relation, Vec::from_iter(rows.iter().step_by(2)), ["-", "+"]));
    for (relation, facts, signs) in others.chain(some).filter(|(_, facts, _)| !facts.is_empty()) {
        let facts: Vec<Row> = facts.into_iter().cloned().collect();
        for sign in signs {
            for rule in &case.program.rules {
                run(session, &format!(".rule {}", rule.head))?;
            }
            rows(session, &format!(".why {}", case.program.goal))?;
            run(session, &Facts(sign, relation, &facts).to_string())?;
        }
    }
    Ok(())
}

/// Where all rows are kept that a proof may go through, it is looked up and not evaluated.
#[test]
fn proofs_rest_on_rows_that_are_kept() {
    with_random_programs(1_000, |case, holding, mut session| {
        for rule in &case.program.rules {
            run(&mut session, &format!(".rule {}", rule.head))?;
        }
        check(case, holding, session)
    });
}

/// So many rows are explained at once.
const MOST_ROWS: usize = 1_000;

fn check(case: &Case, holding: &Holding, mut session: Session) -> Result<usize, String> {
    let goal = &case.program.goal;
    let mut count = 0;
    for way in ["full", "all"] {
        // What is kept of the rules' rows by then changes nothing.
        let explained = rows(&mut session, &format!(".why {way} {goal}"))?;
        let plain = rows(&mut session, &goal.to_string())?;
        let found = rows_of(&explained.batch(0, explained.row_count()));
        let plain = sorted(rows_of(&plain.batch(0, plain.row_count())));
        // Of more rows than are explained at once, any are.
        let is_right = match plain.len() > MOST_ROWS {
            true => found.len() == MOST_ROWS && found.iter().all(|row| plain.binary_search(row).is_ok()),
            false => sorted(found.clone()) == plain,
        };
        if !is_right {
            return Err(format!("other rows with proofs: {} of {}", found.len(), plain.len()));
        }
        let proofs = explained.proofs().unwrap_or_default();
        if proofs.len() != found.len() {
            return Err(format!("{} proofs of {} rows", proofs.len(), found.len()));
        }
        for (row, proof) in found.iter().zip(proofs) {
            if let Some(fault) = holding.fault(goal, row, proof) {
                return Err(format!(".why {way}: of {row:?}: {fault}\nin {proof:#?}"));
            }
        }
        count += proofs.len();
    }
    Ok(count)
}

/// Paths through closures that are composed of themselves are put together in halves: of that kind, random programs are few.
#[test]
fn a_path_has_the_smallest_proof_of_all_that_compose_it() {
    let variable = |name: &str| Term::Variable(name.to_owned());
    let atom = |relation: &str, from: &str, to: &str| Atom {
        relation: relation.to_owned(),
        terms: vec![variable(from), variable(to)],
    };
    let head = |from: &str, to: &str| {
        [from, to].map(|name| HeadTerm::Expression(Expression::Variable(name.to_owned()))).to_vec()
    };
    let rule = |head: &str, terms: Vec<HeadTerm>, body: Vec<Atom>| Rule {
        head: head.to_owned(),
        terms,
        body: body.into_iter().map(Literal::Atom).collect(),
    };
    let composed = [atom("t", "X", "Y"), atom("t", "Y", "Z")];
    for seed in 0..40_u64 {
        // Some are long and thin, others are full of circles.
        let nodes = 5 + seed % 9;
        let edge = |place: u64| {
            let mixed = (seed * 31 + place).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
            let to = if mixed.is_multiple_of(3) { mixed / 7 % nodes } else { (place + 1) % nodes };
            vec![Value::Int((place % nodes) as i64), Value::Int(to as i64)]
        };
        let halves =
            if seed.is_multiple_of(2) { composed.to_vec() } else { composed.iter().rev().cloned().collect() };
        // Steps are facts of another relation, derived, or facts of the closure itself.
        let (stored, steps) = match seed / 2 % 3 {
            0 => ("e", vec![rule("t", head("X", "Y"), vec![atom("e", "X", "Y")])]),
            1 => {
                let one = rule("s", head("X", "Y"), vec![atom("e", "X", "Y")]);
                ("e", vec![one, rule("t", head("X", "Y"), vec![atom("s", "X", "Y")])])
            }
            _ => ("t", Vec::new()),
        };
        let longer = rule("t", head("X", "Z"), halves);
        let program = Program {
            facts: BTreeMap::from([(stored.to_owned(), (0..nodes + seed % 4).map(edge).collect())]),
            rules: steps.into_iter().chain([longer]).collect(),
            goal: Goal { asked: Asked::Atom(atom("t", "A", "B")), ..Goal::default() },
            ..Program::default()
        };
        let case = Case { program, passing: Vec::new() };
        let holding = Holding::of(&case.program).expect("the oracle answers");
        for mode in modes() {
            let session = session(&case, mode).expect("a program as others are");
            let count = check(&case, &holding, session)
                .unwrap_or_else(|fault| panic!("seed {seed}, {mode}: {fault}"));
            assert!(count > 0);
        }
    }
}
