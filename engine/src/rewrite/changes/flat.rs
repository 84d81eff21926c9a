//! Strata that do not recur: rows that may be gone are looked for once more, groups that were touched are made anew.

use std::collections::{BTreeMap, BTreeSet};

use super::{Changes, Side, add_variable, blank, guard, guarded, value};
use crate::analysis::program::{Argument, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::{DataType, RelationId, VariableId};

/// Where a program of changes has what has become of a relation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlatChange {
    /// Rows that may be gone.
    pub gone: RelationId,
    /// Those of them that are there nevertheless.
    pub still: RelationId,
    /// Rows that are there now; others of them may have been there before.
    pub come: RelationId,
}

/// What has become of the relations of a stratum that does not recur.
pub(crate) fn flat(
    program: &Program,
    stratum: &Stratum,
    changed: &BTreeSet<RelationId>,
) -> Option<(Program, BTreeMap<RelationId, FlatChange>)> {
    let mut changes = Changes::new(program, stratum, changed);
    let mut found = BTreeMap::new();
    for head in &stratum.relations {
        let gone = changes.derived("gone", *head);
        let (still, come) = (changes.derived("still", *head), changes.derived("come", *head));
        let change = FlatChange { gone, still, come };
        changes.follow(*head, change);
        found.insert(*head, change);
    }
    Some((changes.finish()?, found))
}

impl<'p> Changes<'p> {
    fn follow(&mut self, head: RelationId, change: FlatChange) {
        let known = &self.program.relations[head.index()];
        let columns: Vec<usize> = (0..known.arity).collect();
        let rules: Vec<&'p Rule> = self.rules_of(head).collect();
        let is_only_rule = rules.len() == 1 && !known.stored;
        for (number, rule) in rules.into_iter().enumerate() {
            if rule.aggregates() {
                self.follow_groups(head, rule, number, change, is_only_rule);
                continue;
            }
            let may_be_gone = self.variants(rule, change.gone, Side::Before, |_, own| own);
            let have_come = self.variants(rule, change.come, Side::Now, |_, own| own);
            self.rules.extend(may_be_gone.into_iter().chain(have_come));
            let now = self.reading(rule, change.still, |changes, _, read| changes.side(read, Side::Now));
            self.rules.push(guarded(now, change.gone, &columns, &known.column_types));
        }
        if known.stored {
            let now = self.side(head, Side::Now);
            self.hand_on(change.still, now, Some(change.gone));
            if self.changed.contains(&head) {
                let (removed, added) = (self.side(head, Side::Removed), self.side(head, Side::Added));
                self.hand_on(change.gone, removed, None);
                self.hand_on(change.come, added, None);
            }
        }
    }

    /// Groups that have won or lost a solution are aggregated anew; so are those of rows that may be gone for another reason.
    fn follow_groups(
        &mut self,
        head: RelationId,
        rule: &'p Rule,
        number: usize,
        change: FlatChange,
        is_only_rule: bool,
    ) {
        let known = &self.program.relations[head.index()];
        let groups: Vec<usize> = (0..known.arity).filter(|column| rule.is_group(*column)).collect();
        let types: Vec<DataType> = groups.iter().map(|column| known.column_types[*column]).collect();
        let touched = self.add(format!("?touched_{}_{number}", known.name), types.clone(), false);
        let head_terms: Vec<HeadTerm> =
            groups.iter().map(|column| rule.head_terms[*column].clone()).collect();
        let of_groups = Rule { head_terms, ranking: None, ..rule.clone() };
        for side in [Side::Before, Side::Now] {
            let variants = self.variants(&of_groups, touched, side, |_, own| own);
            self.rules.extend(variants);
        }
        let old = self.side(head, Side::Old);
        let rows_of_touched = self.rows_by_group(change.gone, old, touched, &groups, &known.column_types);
        self.rules.push(rows_of_touched);
        let mut asked = touched;
        if !is_only_rule {
            asked = self.add(format!("?asked_{}_{number}", known.name), types, false);
            self.hand_on(asked, touched, None);
            let groups_of_gone = self.groups_of(asked, change.gone, &groups, &known.column_types);
            self.rules.push(groups_of_gone);
        }
        let now = self.reading(rule, change.come, |changes, _, read| changes.side(read, Side::Now));
        self.rules.push(guarded(now, asked, &groups, &known.column_types));
    }

    /// The rows of a relation in some groups.
    pub(super) fn rows_by_group(
        &self,
        head: RelationId,
        rows: RelationId,
        touched: RelationId,
        groups: &[usize],
        types: &[DataType],
    ) -> Rule {
        let (mut rule, columns) = of_columns(head, types);
        rule.head_terms = columns.iter().map(|column| value(*column)).collect();
        let of_group = groups.iter().map(|column| Argument::Variable(columns[*column]));
        let of_row = columns.iter().map(|column| Argument::Variable(*column));
        rule.body = vec![Literal::Atom(guard(touched, of_group)), Literal::Atom(guard(rows, of_row))];
        rule
    }

    /// The groups of rows.
    pub(super) fn groups_of(
        &self,
        head: RelationId,
        rows: RelationId,
        groups: &[usize],
        types: &[DataType],
    ) -> Rule {
        let (mut rule, columns) = of_columns(head, types);
        rule.head_terms = groups.iter().map(|column| value(columns[*column])).collect();
        let of_row = columns.iter().map(|column| Argument::Variable(*column));
        rule.body = vec![Literal::Atom(guard(rows, of_row))];
        rule
    }
}

/// A rule with a variable for each column.
fn of_columns(head: RelationId, types: &[DataType]) -> (Rule, Vec<VariableId>) {
    let mut rule = blank(head, "rows of groups");
    let columns = types.iter().map(|data_type| add_variable(&mut rule, "?column", *data_type)).collect();
    (rule, columns)
}
