//! `.why_not`: of what holds it says so; else something stands in the way of each rule, and what it proposes is what is
//! missing.

use std::collections::BTreeSet;

use stratalog_engine::provenance::{Missing, Reason};
use stratalog_engine::{Content, Session};
use stratalog_tests::oracle::Holding;
use stratalog_tests::programs::Case;
use stratalog_tests::value::{Row, Value};

use super::{rows, run, with_random_programs};

/// So many facts are asked about in a program.
const FACTS: usize = 6;

#[test]
fn either_there_is_a_proof_or_something_is_missing() {
    with_random_programs(400, check);
}

fn check(case: &Case, holding: &Holding, mut session: Session) -> Result<usize, String> {
    let values: BTreeSet<Value> =
        holding.rows().flat_map(|(_, row)| row.iter().cloned()).filter(is_plain).collect();
    let mut asked: Vec<(String, Row)> = Vec::new();
    for (relation, row) in holding.rows().filter(|(_, row)| row.iter().all(is_plain)) {
        // A fact that holds, and one that perhaps does not.
        asked.push((relation.clone(), row.clone()));
        let mut other = row.clone();
        if let (Some(last), Some(value)) =
            (other.last_mut(), values.iter().nth(asked.len() * 7 % values.len().max(1)))
        {
            *last = value.clone();
        }
        asked.push((relation.clone(), other));
    }
    let step = (asked.len() / FACTS).max(1);
    let mut count = 1;
    for (relation, row) in asked.into_iter().step_by(step).take(FACTS + 1) {
        let arguments: Vec<String> = row.iter().map(Value::to_string).collect();
        let fact = format!("{relation}({})", arguments.join(", "));
        let found = rows(&mut session, &format!("?{fact}"))?.row_count();
        let told = rows(&mut session, &format!(".why_not {fact}"))?;
        let proof = told.proofs().and_then(<[_]>::first).ok_or_else(|| format!("{fact}: no proof"))?;
        let root = &proof.nodes[proof.roots[0]];
        let is_missing = matches!(root.reason, Reason::Missing(_));
        if is_missing != (found == 0) {
            return Err(format!("{fact}: {found} rows, and {:?}", root.reason));
        }
        if !is_missing {
            count += 1;
            continue;
        }
        let rules = case.program.rules.iter().chain(&case.program.session.rules);
        let rules = rules.filter(|rule| rule.head == relation).count();
        let blocked = root.children.iter().filter(|child| {
            matches!(
                &proof.nodes[**child].reason,
                Reason::Missing(Missing { rule: Some(_), blocker: Some(_), .. })
            )
        });
        if blocked.count() != rules {
            return Err(format!("{fact}: not all of {rules} rules are explained: {proof:#?}"));
        }
        let proposed: Vec<String> = proof.would_hold_with.iter().map(ToString::to_string).collect();
        if !proposed.is_empty() {
            with_these(&mut session, &fact, &proposed)?;
        }
        count += 1;
    }
    Ok(count)
}

/// All of what is proposed makes the fact true, and nothing of it is left over.
fn with_these(session: &mut Session, fact: &str, proposed: &[String]) -> Result<(), String> {
    let mut holds_with = |facts: Vec<&String>| -> Result<bool, String> {
        for fact in &facts {
            run(session, &format!("+{fact}"))?;
        }
        let Content::Rows(rows) = run(session, &format!("?{fact}"))? else {
            return Err("no rows".to_owned());
        };
        for fact in &facts {
            run(session, &format!("-{fact}"))?;
        }
        Ok(rows.row_count() > 0)
    };
    if !holds_with(proposed.iter().collect())? {
        return Err(format!("{fact} does not hold with {proposed:?}"));
    }
    for left_out in proposed {
        if holds_with(proposed.iter().filter(|fact| *fact != left_out).collect())? {
            return Err(format!("{fact} holds without {left_out}, of {proposed:?}"));
        }
    }
    Ok(())
}

/// What a program can write as the argument of a fact, and means the same there.
fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Text(_) | Value::Bool(_))
}
