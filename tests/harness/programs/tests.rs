//! Programs are what they promise: answered, and with every feature among them.

use std::collections::BTreeSet;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::cases;
use crate::functions::functions;
use crate::model::{Asked, Expression, HeadTerm, Keeps, Literal, Rule, Write};
use crate::oracle;

#[test]
fn programs_are_answered_and_show_every_feature() {
    let mut runner = TestRunner::deterministic();
    let (mut skipped, mut seen) = (0, BTreeSet::new());
    let cases_wanted = 1_500;
    for _ in 0..cases_wanted {
        let program = cases().new_tree(&mut runner).expect("a strategy without filters").current().program;
        match oracle::answer(&program) {
            Err(oracle::Refusal::TooMuchWork) => skipped += 1,
            Err(refusal) => panic!("{refusal:?}:\n{program}"),
            Ok(expected) => {
                seen.insert(if expected.answer.rows.is_empty() { "no rows" } else { "rows" });
                if expected.clean.is_some_and(|clean| clean != expected.answer) {
                    seen.insert("a session that sees more");
                }
                for counts in expected.writes {
                    seen.insert(if counts.iter().any(|n| *n > 0) { "effect" } else { "no effect" });
                }
            }
        }
        for rule in program.rules.iter().chain(&program.session.rules) {
            features_of_rule(rule, &mut seen);
        }
        seen.extend(program.writes.iter().map(|write| match write {
            Write::Delete { .. } => "delete",
            Write::Update { .. } => "update",
        }));
        match &program.goal.asked {
            Asked::Atom(_) => {}
            Asked::Projection(terms) => {
                seen.insert("projection");
                seen.extend(terms.iter().map(feature_of_term));
            }
        }
    }
    assert!(skipped * 20 < cases_wanted, "{skipped} of {cases_wanted} programs take too long");
    let features = [
        "a session that sees more",
        "aggregate of itself",
        "atom",
        "avg",
        "call",
        "comparison",
        "count",
        "count_distinct",
        "delete",
        "effect",
        "expression",
        "max",
        "median",
        "quantile",
        "stddev",
        "string_agg",
        "min",
        "negated conjunction",
        "negation",
        "alternatives",
        "no effect",
        "no rows",
        "projection",
        "recursion",
        "rows",
        "sum",
        "top_k",
        "top_k_threshold",
        "update",
        "within_radius",
    ];
    let missing: Vec<_> = features
        .into_iter()
        .chain(functions().map(|function| function.name))
        .filter(|feature| !seen.contains(feature))
        .collect();
    assert!(missing.is_empty(), "nothing shows {missing:?}");
}

fn features_of_rule(rule: &Rule, seen: &mut BTreeSet<&'static str>) {
    if rule.recurs_through_aggregate() {
        seen.insert("aggregate of itself");
    }
    seen.extend(rule.terms.iter().map(feature_of_term));
    for literal in &rule.body {
        let feature = match literal {
            Literal::Atom(atom) if atom.relation == rule.head => "recursion",
            Literal::Atom(_) => "atom",
            Literal::Negated(_) => "negation",
            Literal::Disjunction(_) => "alternatives",
            Literal::NegatedConjunction(_) => "negated conjunction",
            Literal::Comparison(left, _, right) => {
                functions_of(left, seen);
                functions_of(right, seen);
                "comparison"
            }
        };
        seen.insert(feature);
    }
}

fn feature_of_term(term: &HeadTerm) -> &'static str {
    match term {
        HeadTerm::Expression(Expression::Call(..)) => "call",
        HeadTerm::Expression(_) => "expression",
        HeadTerm::Aggregate(aggregate, _) => aggregate.name(),
        HeadTerm::Ranking(ranking) => match ranking.keeps {
            Keeps::Best(_) => "top_k",
            Keeps::BestFrom(..) => "top_k_threshold",
            Keeps::Within(_) => "within_radius",
        },
    }
}

fn functions_of(expression: &Expression, seen: &mut BTreeSet<&'static str>) {
    match expression {
        Expression::Variable(_) | Expression::Constant(_) => {}
        Expression::Arithmetic(left, _, right) => {
            functions_of(left, seen);
            functions_of(right, seen);
        }
        Expression::Call(function, arguments) => {
            seen.insert(function.name);
            arguments.iter().for_each(|argument| functions_of(argument, seen));
        }
    }
}
