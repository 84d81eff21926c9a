//! Groups of which only the solutions that have come and gone are looked at: what they add up to is in the row of before.

use std::collections::BTreeSet;

use super::{Changes, Side, guarded};
use crate::aggregates::Aggregate;
use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::{DataType, RelationId, VariableId};

/// Where a program of changes has what has become of groups.
pub(crate) struct GroupChanges {
    pub program: Program,
    /// The aggregates of the solutions that have come, a row a group,
    pub gained: RelationId,
    /// and of those that are gone.
    pub lost: RelationId,
    /// The rows that these groups had.
    pub old: RelationId,
    /// The groups among those that have lost solutions of which there are some still. None if that is not asked.
    pub alive: Option<RelationId>,
}

/// What the groups are called that are to be aggregated anew.
pub(crate) const ASKED_GROUPS: &str = "?asked_groups";

/// The rule of a stratum whose groups can be brought forward by the difference of their solutions: all of its aggregates
/// can be added up, and each solution that has come or gone is one row that has come or gone.
pub(crate) fn rule_of_groups<'p>(
    program: &Program,
    stratum: &'p Stratum,
    changed: &BTreeSet<RelationId>,
) -> Option<&'p Rule> {
    let [rule] = stratum.rules.as_slice() else { return None };
    let mut literals = rule.body.iter().filter(|literal| match literal {
        Literal::Atom(atom) | Literal::Negated(atom) => changed.contains(&atom.relation),
        Literal::Filter { .. } | Literal::Assign { .. } => false,
    });
    let (Some(Literal::Atom(atom)), None) = (literals.next(), literals.next()) else { return None };
    let adds_up = |term: &HeadTerm| match term {
        HeadTerm::Expression(_) => true,
        HeadTerm::Aggregate { function, .. } => {
            matches!(function, Aggregate::Count | Aggregate::Sum | Aggregate::Min | Aggregate::Max)
        }
    };
    let fits = rule.aggregates()
        && rule.ranking.is_none()
        && !program.relations[rule.head.index()].stored
        && rule.head_terms.iter().all(adds_up)
        && !atom.arguments.contains(&Argument::Any);
    fits.then_some(rule)
}

/// What has become of the groups of a rule of [`rule_of_groups`].
pub(crate) fn groups(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
    rule: &Rule,
) -> Option<GroupChanges> {
    let mut changes = Changes::new(program, stratum, changed);
    let known = &program.relations[rule.head.index()];
    let (groups, types) = groups_of(program, rule);
    let [gained, lost, old] = ["gained", "lost", "rows"].map(|what| changes.derived(what, rule.head));
    let touched = changes.add("?touched".to_owned(), types.clone(), false);
    for (relation, side) in [(gained, Side::Now), (lost, Side::Before)] {
        let variants = changes.variants(rule, relation, side, |_, own| own);
        let of_group = changes.groups_of(touched, relation, &groups, &known.column_types);
        changes.rules.extend(variants.into_iter().chain([of_group]));
    }
    let before = changes.side(rule.head, Side::Old);
    let rows = changes.rows_by_group(old, before, touched, &groups, &known.column_types);
    changes.rules.push(rows);
    let alive = some_of_group(rule).map(|some| {
        let left = changes.add("?left".to_owned(), types.clone(), false);
        let of_group = changes.groups_of(left, lost, &groups, &known.column_types);
        let alive = changes.add("?alive".to_owned(), types, false);
        let now = changes.reading(&some, alive, |changes, _, read| changes.side(read, Side::Now));
        let columns: Vec<usize> = (0..groups.len()).collect();
        let now = guarded(now, left, &columns, &known.column_types);
        changes.rules.extend([of_group, now]);
        alive
    });
    Some(GroupChanges { program: changes.finish()?, gained, lost, old, alive })
}

/// The rows of the groups that are [`ASKED_GROUPS`] for, as they are now.
pub(crate) fn groups_anew(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
    rule: &Rule,
) -> Option<(Program, RelationId)> {
    let mut changes = Changes::new(program, stratum, changed);
    let (groups, types) = groups_of(program, rule);
    let asked = changes.add(ASKED_GROUPS.to_owned(), types, true);
    let found = changes.derived("groups", rule.head);
    let now = changes.reading(rule, found, |changes, _, read| changes.side(read, Side::Now));
    let known = &program.relations[rule.head.index()];
    changes.rules.push(guarded(now, asked, &groups, &known.column_types));
    Some((changes.finish()?, found))
}

/// The columns of a rule's head that are its groups, with their types.
fn groups_of(program: &Program, rule: &Rule) -> (Vec<usize>, Vec<DataType>) {
    let types = &program.relations[rule.head.index()].column_types;
    let groups: Vec<usize> = (0..types.len()).filter(|column| rule.is_group(*column)).collect();
    let types = groups.iter().map(|column| types[*column]).collect();
    (groups, types)
}

/// A rule for the groups that have some solution, if one look-up tells that: where no count tells it anyway.
fn some_of_group(rule: &Rule) -> Option<Rule> {
    let [Literal::Atom(atom)] = rule.body.as_slice() else { return None };
    let mut groups = Vec::new();
    for term in &rule.head_terms {
        match term {
            HeadTerm::Expression(Expression::Variable(variable)) => groups.push(*variable),
            HeadTerm::Expression(_) | HeadTerm::Aggregate { function: Aggregate::Count, .. } => return None,
            HeadTerm::Aggregate { .. } => {}
        }
    }
    let occurs = |variable: &VariableId| atom.variables().filter(|other| other == variable).count();
    let arguments = atom.arguments.iter().map(|argument| match argument {
        Argument::Variable(variable) if occurs(variable) == 1 && !groups.contains(variable) => Argument::Any,
        argument => argument.clone(),
    });
    let atom = Atom { arguments: arguments.collect(), ..atom.clone() };
    let head_terms = groups.into_iter().map(super::value).collect();
    Some(Rule { head_terms, body: vec![Literal::Atom(atom)], ..rule.clone() })
}
