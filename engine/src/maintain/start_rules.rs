//! Rules that say where a recursion begins, evaluated before and now: only where they are sure to have few rows.

use std::collections::BTreeMap;

use super::Step;
use crate::analysis::program::{Argument, Atom, Rule};
use crate::data::{Difference, Relation, RelationId, Rows};
use crate::exec::ExecError;
use crate::rewrite::changes::Side;

/// Evaluates the rows of rules of the stratum on a side of what they read; none if they cannot be.
pub(super) type Evaluate<'e> = dyn Fn(&[&Rule], Side) -> Result<Option<Rows>, ExecError> + 'e;

/// What such rules derive.
pub(super) struct StartRules {
    pub(super) now: Relation,
    /// What tells that from before.
    pub(super) difference: Difference,
}

impl StartRules {
    /// None if there may be many rows, or if they cannot be evaluated.
    pub(super) fn evaluated(
        rules: &[&Rule],
        arity: usize,
        step: &Step<'_>,
        changed: &BTreeMap<RelationId, Difference>,
        evaluate: &Evaluate<'_>,
    ) -> Result<Option<StartRules>, ExecError> {
        let none = || StartRules { now: Relation::empty(arity), difference: Difference::none(arity) };
        if rules.is_empty() {
            return Ok(Some(none()));
        }
        if !rules.iter().all(|rule| has_few_rows(rule, step)) {
            return Ok(None);
        }
        let on = |side| Ok::<_, ExecError>(evaluate(rules, side)?.map(|rows| none().now.insert(&rows).0));
        let Some(now) = on(Side::Now)? else { return Ok(None) };
        let have_changed = rules.iter().flat_map(|rule| rule.reads()).any(|read| changed.contains_key(&read));
        if !have_changed {
            return Ok(Some(StartRules { now, ..none() }));
        }
        let Some(before) = on(Side::Before)? else { return Ok(None) };
        Ok(Some(StartRules { difference: Difference::between(&before, &now), now }))
    }
}

/// Whether a rule is sure to have few: all of them are derived in each step.
fn has_few_rows(rule: &Rule, step: &Step<'_>) -> bool {
    /// They are derived in the time of a step.
    const FEW: usize = 1 << 14;
    let is_short = |atom: &Atom| {
        let rows = step.now.get(&step.program.relations[atom.relation.index()].name);
        rows.is_none_or(|rows| rows.len() <= FEW)
            || atom.arguments.iter().any(|argument| matches!(argument, Argument::Constant(_)))
    };
    rule.atoms().next().is_none() || rule.atoms().any(is_short)
}
