//! Programs whose answers are written out.

use super::{Answer, Refusal, answer};
use crate::model::{
    Aggregate, Arithmetic, Asked, Atom, Comparison, Direction, Expression, Goal, HeadTerm, Keeps, Literal,
    Program, Ranking, Rule, Target, Term, Write,
};
use crate::value::{Row, Value};

fn variable(name: &str) -> Expression {
    Expression::Variable(name.to_owned())
}

fn atom(relation: &str, variables: &[&str]) -> Atom {
    let terms = variables
        .iter()
        .map(|name| if *name == "_" { Term::Placeholder } else { Term::Variable((*name).to_owned()) });
    Atom { relation: relation.to_owned(), terms: terms.collect() }
}

fn rule(head: &str, variables: &[&str], body: Vec<Literal>) -> Rule {
    let terms = variables.iter().map(|name| HeadTerm::Expression(variable(name))).collect();
    Rule { head: head.to_owned(), terms, body }
}

fn goal(relation: &str, variables: &[&str]) -> Goal {
    Goal { asked: Asked::Atom(atom(relation, variables)), ..Goal::default() }
}

fn ints(rows: &[&[i64]]) -> Vec<Row> {
    rows.iter().map(|row| row.iter().map(|n| Value::Int(*n)).collect()).collect()
}

fn facts(relation: &str, rows: &[&[i64]]) -> Program {
    Program { facts: [(relation.to_owned(), ints(rows).into_iter().collect())].into(), ..Program::default() }
}

fn rows(program: &Program) -> Vec<Row> {
    answer(program).unwrap().answer.rows
}

#[test]
fn paths_through_a_cycle_are_found_once() {
    let mut program = facts("edge", &[&[1, 2], &[2, 1]]);
    program.rules = vec![
        rule("path", &["X", "Y"], vec![Literal::Atom(atom("edge", &["X", "Y"]))]),
        rule(
            "path",
            &["X", "Z"],
            vec![Literal::Atom(atom("path", &["X", "Y"])), Literal::Atom(atom("path", &["Y", "Z"]))],
        ),
    ];
    program.goal = goal("path", &["A", "B"]);
    assert_eq!(
        answer(&program).unwrap().answer,
        Answer {
            columns: vec!["A".to_owned(), "B".to_owned()],
            rows: ints(&[&[1, 1], &[1, 2], &[2, 1], &[2, 2]]),
            total: 4
        }
    );
}

#[test]
fn negation_waits_for_what_it_negates() {
    let mut program = facts("node", &[&[1], &[2]]);
    program.rules = vec![
        rule(
            "sink",
            &["X"],
            vec![Literal::Atom(atom("node", &["X"])), Literal::Negated(atom("source", &["X"]))],
        ),
        rule(
            "source",
            &["X"],
            vec![
                Literal::Atom(atom("node", &["X"])),
                Literal::Comparison(variable("X"), Comparison::Less, Expression::Constant(Value::Int(2))),
            ],
        ),
    ];
    program.goal = goal("sink", &["X"]);
    assert_eq!(rows(&program), ints(&[&[2]]));
    program.rules.push(rule("source", &["X"], vec![Literal::Atom(atom("sink", &["X"]))]));
    assert_eq!(answer(&program), Err(Refusal::Unstratifiable));
}

#[test]
fn a_sum_counts_every_solution_and_not_every_value() {
    let mut program = facts("d", &[&[1, 5], &[2, 5], &[3, 5]]);
    let terms = vec![
        HeadTerm::Aggregate(Aggregate::Sum, "V".to_owned()),
        HeadTerm::Aggregate(Aggregate::CountDistinct, "V".to_owned()),
    ];
    program.rules =
        vec![Rule { head: "s".to_owned(), terms, body: vec![Literal::Atom(atom("d", &["_", "V"]))] }];
    program.goal = goal("s", &["S", "N"]);
    assert_eq!(rows(&program), ints(&[&[15, 1]]));
}

#[test]
fn an_aggregate_over_nothing_has_no_row() {
    let mut program = Program::default();
    let terms = vec![HeadTerm::Aggregate(Aggregate::Count, "V".to_owned())];
    program.rules = vec![Rule { head: "c".to_owned(), terms, body: vec![Literal::Atom(atom("d", &["V"]))] }];
    program.goal = goal("c", &["N"]);
    assert!(rows(&program).is_empty());
}

#[test]
fn division_is_of_floats_and_by_zero_null() {
    let mut program = facts("n", &[&[7, 2], &[7, 0]]);
    let quotient =
        Expression::Arithmetic(Box::new(variable("A")), Arithmetic::Divide, Box::new(variable("B")));
    program.goal = goal("n", &["A", "B"]);
    program.goal.body = vec![Literal::Comparison(variable("C"), Comparison::Equal, quotient)];
    let expected = vec![
        vec![Value::Int(7), Value::Int(0), Value::Null],
        vec![Value::Int(7), Value::Int(2), Value::Float(3.5)],
    ];
    assert_eq!(rows(&program), expected);
}

#[test]
fn a_constant_matches_by_value_and_a_variable_by_type() {
    let mut program = Program::default();
    let both = [vec![Value::Int(2)], vec![Value::Float(2.0)]];
    program.facts.insert("a".to_owned(), both.iter().cloned().collect());
    program.goal = goal("a", &["X"]);
    program.goal.body =
        vec![Literal::Comparison(variable("X"), Comparison::Equal, Expression::Constant(Value::Int(2)))];
    assert_eq!(rows(&program), both);
    program.goal.body = vec![
        Literal::Atom(atom("a", &["Y"])),
        Literal::Comparison(variable("X"), Comparison::Equal, variable("Y")),
    ];
    assert_eq!(rows(&program).len(), 2);
}

#[test]
fn the_best_value_of_a_recursion_is_kept() {
    let mut program = facts("road", &[&[1, 2, 7], &[1, 3, 2], &[3, 2, 1], &[2, 1, 1]]);
    let head = |names: [&str; 2], value: &str| {
        let group = names.map(|name| HeadTerm::Expression(variable(name)));
        group.into_iter().chain([HeadTerm::Aggregate(Aggregate::Min, value.to_owned())]).collect()
    };
    let sum = Expression::Arithmetic(Box::new(variable("A")), Arithmetic::Add, Box::new(variable("B")));
    let on = vec![
        Literal::Atom(atom("way", &["X", "Y", "A"])),
        Literal::Atom(atom("road", &["Y", "Z", "B"])),
        Literal::Comparison(variable("D"), Comparison::Equal, sum),
    ];
    let first = vec![Literal::Atom(atom("road", &["X", "Y", "W"]))];
    program.rules = vec![
        Rule { head: "way".to_owned(), terms: head(["X", "Y"], "W"), body: first },
        Rule { head: "way".to_owned(), terms: head(["X", "Z"], "D"), body: on },
    ];
    program.goal = goal("way", &["X", "Y", "D"]);
    assert_eq!(rows(&program)[..3], ints(&[&[1, 1, 4], &[1, 2, 3], &[1, 3, 2]]));
}

#[test]
fn a_ranking_keeps_solutions_and_not_values() {
    let mut program = facts("sale", &[&[1, 10], &[2, 20], &[3, 5], &[4, 20]]);
    let ranking = |keeps| {
        HeadTerm::Ranking(Ranking {
            keeps,
            variables: vec!["A".to_owned()],
            by: 0,
            direction: Direction::Descending,
        })
    };
    let body = vec![Literal::Atom(atom("sale", &["_", "A"]))];
    for (keeps, expected) in [
        (Keeps::Best(2), ints(&[&[20]])),
        (Keeps::Best(3), ints(&[&[10], &[20]])),
        (Keeps::BestFrom(4, Value::Int(10)), ints(&[&[10], &[20]])),
        (Keeps::Within(Value::Float(10.0)), ints(&[&[5], &[10]])),
    ] {
        program.rules = vec![Rule { head: "t".to_owned(), terms: vec![ranking(keeps)], body: body.clone() }];
        program.goal = goal("t", &["A"]);
        assert_eq!(rows(&program), expected);
    }
}

#[test]
fn an_update_deletes_before_it_inserts_and_a_delete_takes_what_matches() {
    let mut program = facts("a", &[&[1], &[2]]);
    let next = Expression::Arithmetic(
        Box::new(variable("X")),
        Arithmetic::Add,
        Box::new(Expression::Constant(Value::Int(1))),
    );
    let target = |term| vec![Target { relation: "a".to_owned(), terms: vec![term] }];
    let body = vec![Literal::Atom(atom("a", &["X"]))];
    program.writes = vec![
        Write::Update { deletes: target(variable("X")), inserts: target(next), body },
        Write::Delete {
            target: atom("a", &["Y"]),
            body: vec![Literal::Comparison(
                variable("Y"),
                Comparison::Equal,
                Expression::Constant(Value::Float(2.0)),
            )],
        },
    ];
    program.goal = goal("a", &["X"]);
    let expected = answer(&program).unwrap();
    assert_eq!(expected.writes, [vec![2, 2], vec![1]]);
    assert_eq!(expected.answer.rows, ints(&[&[3]]));
}

#[test]
fn what_the_session_has_is_for_the_session_alone() {
    let mut program = facts("a", &[&[1]]);
    program.rules = vec![rule("r", &["X"], vec![Literal::Atom(atom("a", &["X"]))])];
    program.session.facts = facts("a", &[&[1], &[2]]).facts;
    program.goal = goal("r", &["X"]);
    let expected = answer(&program).unwrap();
    assert_eq!(expected.answer.rows, ints(&[&[1], &[2]]));
    assert_eq!(expected.clean.unwrap().rows, ints(&[&[1]]));
    assert_eq!(expected.persistent, ints(&[&[1]]).into_iter().collect());
}
