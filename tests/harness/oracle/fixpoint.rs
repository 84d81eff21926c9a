//! Rules to rows: stratum after stratum, each until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use super::aggregate::rows_of_head;
use super::solve::solve;
use super::{Refusal, Steps};
use crate::model::{Aggregate, HeadTerm, Literal, Relations, Rule};
use crate::value::{Row, Value};

/// The facts and all that follows from them.
pub(super) fn derive(facts: &Relations, rules: &[Rule], steps: &mut Steps) -> Result<Relations, Refusal> {
    let mut relations = facts.clone();
    let strata = strata(rules)?;
    for stratum in 0..=strata.values().copied().max().unwrap_or(0) {
        let rules: Vec<&Rule> = rules.iter().filter(|rule| strata[&rule.head] == stratum).collect();
        loop {
            let mut changed = false;
            for rule in &rules {
                let solutions = solve(&rule.body, &relations, steps)?;
                let derived = rows_of_head(&rule.terms, &solutions)?;
                let known = relations.entry(rule.head.clone()).or_default();
                let mut next: BTreeSet<Row> = known.iter().cloned().chain(derived).collect();
                if let Some(best) =
                    rules.iter().find(|other| other.head == rule.head && other.recurs_through_aggregate())
                {
                    next = best_of_each_group(best, next)?;
                }
                changed |= next != *known;
                *known = next;
            }
            if !changed {
                break;
            }
        }
    }
    Ok(relations)
}

/// One row for each group: that with the smallest, or largest, value. Null is worse than all others.
fn best_of_each_group(rule: &Rule, rows: BTreeSet<Row>) -> Result<BTreeSet<Row>, Refusal> {
    let aggregate = rule.terms.iter().enumerate().find_map(|(column, term)| match term {
        HeadTerm::Aggregate(aggregate, _) => Some((column, *aggregate)),
        HeadTerm::Expression(_) | HeadTerm::Ranking(_) => None,
    });
    let Some((column, aggregate @ (Aggregate::Min | Aggregate::Max))) = aggregate else {
        return Err(Refusal::Unstratifiable);
    };
    let mut best: BTreeMap<Row, Row> = BTreeMap::new();
    for row in rows {
        let mut group = row.clone();
        group.remove(column);
        let worse = best.get(&group).is_none_or(|known| match (&known[column], &row[column]) {
            (Value::Null, _) => true,
            (_, Value::Null) => false,
            (known, value) if aggregate == Aggregate::Min => value < known,
            (known, value) => value > known,
        });
        if worse {
            best.insert(group, row);
        }
    }
    Ok(best.into_values().collect())
}

/// A stratum for each derived relation: not below what it reads, and above what it negates or aggregates.
fn strata(rules: &[Rule]) -> Result<BTreeMap<String, usize>, Refusal> {
    let mut strata: BTreeMap<String, usize> = rules.iter().map(|rule| (rule.head.clone(), 0)).collect();
    let best: BTreeSet<&String> =
        rules.iter().filter(|rule| rule.recurs_through_aggregate()).map(|rule| &rule.head).collect();
    loop {
        let mut changed = false;
        for rule in rules {
            for (relation, is_negated) in rule.body.iter().flat_map(Literal::reads) {
                // While best values improve, what follows from them is not final.
                let is_best = || best.iter().any(|head| *head == relation);
                let apart = is_negated || relation != rule.head && (rule.aggregates() || is_best());
                let Some(below) = strata.get(relation) else { continue };
                let least = below + usize::from(apart);
                if strata[&rule.head] < least {
                    if least > strata.len() {
                        return Err(Refusal::Unstratifiable);
                    }
                    strata.insert(rule.head.clone(), least);
                    changed = true;
                }
            }
        }
        if !changed {
            return Ok(strata);
        }
    }
}
