//! A rule and an order of its literals become a source and steps.

use std::ops::Range;

use super::join_order::{better_order, order_literals};
use super::lookup::{exists_by, probe_by};
use super::operators::{KeyPart, Lookup, LookupBy, RulePlan, Scan, Side, Source, Step};
use super::range::{look_up_best, look_up_ranges, range_of};
use super::variables::VariableSet;
use super::variation::{Distinct, Own, Variation, kept};
use crate::analysis::program::{Argument, Atom, Expression, Literal, Reader, Rule};
use crate::data::{Value, VariableId};
use crate::plan::access::{Access, Version};
use crate::plan::statistics::Statistics;

/// The plan of a rule that reads only complete relations.
pub fn plan_rule(rule: &Rule, statistics: &dyn Statistics) -> RulePlan {
    plan(Variation::whole(rule), &Own::default(), statistics)
}

/// The semi-naive variations of a recursive rule, one for each atom of the stratum's own relations, each with its plan.
pub(crate) fn plan_delta_variants<'p, 's>(
    rule: &'p Rule,
    generators: Option<usize>,
    reader: Option<&'p Reader>,
    recursive: &'s Own,
    statistics: &'s dyn Statistics,
) -> impl Iterator<Item = (Variation<'p>, RulePlan)> + use<'p, 's> {
    let is_recursive =
        |literal: &Literal| literal.atom().is_some_and(|atom| recursive.contains_key(&atom.relation));
    let kept = kept(rule, recursive);
    (0..rule.body.len()).filter(move |literal| is_recursive(&rule.body[*literal])).map(move |literal| {
        let variation = Variation { rule, delta: Some(literal), generators, kept, reader };
        (variation, plan(variation, recursive, statistics))
    })
}

/// Another plan than the one that a variation has had, if with what is known now it takes clearly less work, or finds rows
/// in another way.
pub fn plan_again(
    variation: Variation<'_>,
    recursive: &Own,
    before: &RulePlan,
    statistics: &dyn Statistics,
) -> Option<RulePlan> {
    let order = better_order(variation, before.order.clone(), statistics);
    let plan = plan_in_order(variation, order, recursive, statistics);
    (plan != *before).then_some(plan)
}

/// The plan of a variation.
pub fn plan(variation: Variation<'_>, recursive: &Own, statistics: &dyn Statistics) -> RulePlan {
    plan_in_order(variation, order_literals(variation, statistics), recursive, statistics)
}

fn plan_in_order(
    variation: Variation<'_>,
    order: Vec<usize>,
    recursive: &Own,
    statistics: &dyn Statistics,
) -> RulePlan {
    let rule = variation.rule;
    let mut builder = Builder {
        rule,
        variation,
        recursive,
        statistics,
        bound: VariableSet::default(),
        source: Source::One,
        steps: Vec::new(),
        last_is_pair: false,
    };
    let mut spares: Option<Range<usize>> = None;
    for (position, &literal) in order.iter().enumerate() {
        let live = live_after(rule, &order[position + 1..]);
        let last_is_pair = std::mem::take(&mut builder.last_is_pair);
        let steps = builder.steps.len();
        match &rule.body[literal] {
            Literal::Atom(atom) => builder.atom(literal, atom, position == 0, last_is_pair, &live),
            Literal::Negated(atom) => builder.negated(atom, &live),
            Literal::Filter { operator, left, right } => {
                let (left, right, keep) = (left.clone(), right.clone(), builder.kept(&live));
                builder.steps.push(Step::Filter { operator: *operator, left, right, keep });
            }
            Literal::Assign { variable, expression } => builder.assign(*variable, expression, &live),
        }
        if variation.reader.is_some_and(|reader| reader.literals.contains(&literal)) {
            // What reaches its first literal and what leaves its last one stay.
            let first = if position == 0 { 0 } else { steps + 1 };
            spares = Some(spares.map_or(first, |spares| spares.start)..builder.steps.len());
        }
    }
    let mut plan = builder.finish(order);
    plan.spares = variation.reader.zip(spares).map(|(reader, bindings)| (reader.relation, bindings));
    plan
}

/// A plan of which some literals have become a source and steps.
struct Builder<'p> {
    rule: &'p Rule,
    variation: Variation<'p>,
    recursive: &'p Own,
    statistics: &'p dyn Statistics,
    bound: VariableSet,
    source: Source,
    steps: Vec<Step>,
    /// Whether the last step probes a relation of two columns.
    last_is_pair: bool,
}

impl Builder<'_> {
    fn atom(&mut self, literal: usize, atom: &Atom, is_first: bool, last_is_pair: bool, live: &VariableSet) {
        let access = self.variation.access(literal, atom, self.recursive);
        let Columns { key, equal, outputs } = Columns::of(atom, &self.bound);
        let outputs = retain_live(outputs, live);
        if is_first && (Some(literal) == self.variation.delta || key.is_empty()) {
            let constants = constants(key);
            self.source = Source::Scan(Scan { access, constants, equal, outputs, range: None });
        } else {
            let keep = self.kept(live);
            let one_row = key.len() == atom.arguments.len();
            let is_pair = self.variation.delta.is_none() && atom.arguments.len() == 2 && equal.is_empty();
            // Every solution counts where it is aggregated; elsewhere the head is a set.
            let is_semijoin = outputs.is_empty() && (one_row || !self.rule.aggregates());
            if !is_semijoin {
                let lookup = self.lookup(access, key, equal, |lookup, statistics| {
                    probe_by(lookup, &outputs, atom.arguments.len(), statistics)
                });
                self.steps.push(Step::Probe { lookup, between: None, best: None, outputs, keep });
                self.last_is_pair = is_pair;
            } else if let Some(last) = self.steps.last().filter(|_| is_pair && last_is_pair)
                && let Some(both) = intersection(last, access, &key, &keep)
            {
                self.steps.pop();
                self.steps.push(both);
            } else {
                self.exists(access, key, equal, atom.arguments.len(), false, keep);
            }
        }
        self.bound.extend(atom.variables());
    }

    fn negated(&mut self, atom: &Atom, live: &VariableSet) {
        let access = Access::of(atom.relation, Version::All);
        let Columns { key, equal, .. } = Columns::of(atom, &self.bound);
        let keep = self.kept(live);
        self.exists(access, key, equal, atom.arguments.len(), true, keep);
    }

    fn assign(&mut self, variable: VariableId, expression: &Expression, live: &VariableSet) {
        let keep = self.kept(live);
        self.steps.push(match expression {
            Expression::Call { arguments, .. } if expression.is_each() => {
                Step::Unnest { variable, list: arguments[0].clone(), keep }
            }
            _ => Step::Compute { variable, expression: expression.clone(), keep },
        });
        self.bound.insert(variable);
    }

    fn exists(
        &mut self,
        access: Access,
        key: Vec<(usize, KeyPart)>,
        equal: Vec<(usize, usize)>,
        arity: usize,
        negated: bool,
        keep: Vec<VariableId>,
    ) {
        let lookup = self.lookup(access, key, equal, |lookup, statistics| {
            if self.is_in_set(lookup, arity) {
                LookupBy::Set
            } else {
                exists_by(lookup, &self.source, arity, statistics)
            }
        });
        self.steps.push(Step::Exists { lookup, negated, keep });
    }

    /// Whether rows are looked up in a set of all rows of this fixpoint. It may have more of them than the access says, such as
    /// this round has found: what follows from these is true, and found again when their turn comes.
    fn is_in_set(&self, lookup: &Lookup, arity: usize) -> bool {
        let is_variable = |(_, part): &(usize, KeyPart)| matches!(part, KeyPart::Variable(_));
        let Access { relation, version, generators } = lookup.access;
        self.variation.delta.is_some()
            && self.recursive.get(&relation) == Some(&Distinct::Rows)
            && version != Version::Delta
            && !generators
            && lookup.key.len() == arity
            && lookup.key.iter().all(is_variable)
    }

    fn lookup(
        &self,
        access: Access,
        key: Vec<(usize, KeyPart)>,
        equal: Vec<(usize, usize)>,
        by: impl FnOnce(&Lookup, &dyn Statistics) -> LookupBy,
    ) -> Lookup {
        let lookup = Lookup { access, key, equal, by: LookupBy::Index };
        Lookup { by: by(&lookup, self.statistics), ..lookup }
    }

    /// The bound variables that are still read.
    fn kept(&self, live: &VariableSet) -> Vec<VariableId> {
        self.bound.common(live)
    }

    fn finish(mut self, order: Vec<usize>) -> RulePlan {
        if let Source::Scan(scan) = &mut self.source {
            scan.range = range_of(scan, &self.steps, self.statistics);
        }
        let is_growing = |relation| self.recursive.contains_key(&relation);
        look_up_ranges(&mut self.steps, is_growing, self.statistics);
        look_up_best(&mut self.steps, &self.variation.best_atoms());
        RulePlan {
            head: self.rule.head,
            head_terms: self.rule.head_terms.clone(),
            ranking: self.rule.ranking.clone(),
            order,
            composes: self.variation.generators.is_some(),
            source: self.source,
            steps: self.steps,
            variables: self.rule.variables.len(),
            text: self.rule.text.clone(),
            spares: None,
        }
    }
}

/// A probe that binds a variable and a semijoin on that variable as one step: what the lists that both would look up
/// have in common is found without looking at all that either has (worst-case optimal, as Ngo, Re and Rudra, Skew
/// strikes back, 2013, for a variable of two atoms).
fn intersection(probe: &Step, access: Access, key: &[(usize, KeyPart)], keep: &[VariableId]) -> Option<Step> {
    let Step::Probe { lookup: Lookup { access: probed, key: probe_key, .. }, outputs, .. } = probe else {
        return None;
    };
    let ([(from, KeyPart::Variable(bound))], [(to, variable)]) = (probe_key.as_slice(), outputs.as_slice())
    else {
        return None;
    };
    let first = Side { access: *probed, from: *from, bound: *bound, to: *to };
    let second = match key {
        [(from, KeyPart::Variable(bound)), (to, KeyPart::Variable(new))]
        | [(to, KeyPart::Variable(new)), (from, KeyPart::Variable(bound))]
            if new == variable && bound != variable =>
        {
            Side { access, from: *from, bound: *bound, to: *to }
        }
        _ => return None,
    };
    let keep = keep.iter().copied().filter(|kept| kept != variable).collect();
    Some(Step::Intersect { variable: *variable, sides: [first, second], keep })
}

/// What each column of an atom does.
struct Columns {
    key: Vec<(usize, KeyPart)>,
    equal: Vec<(usize, usize)>,
    outputs: Vec<(usize, VariableId)>,
}

impl Columns {
    fn of(atom: &Atom, bound: &VariableSet) -> Columns {
        let mut columns = Columns { key: Vec::new(), equal: Vec::new(), outputs: Vec::new() };
        for (column, argument) in atom.arguments.iter().enumerate() {
            match argument {
                Argument::Constant(value) => columns.key.push((column, KeyPart::Constant(value.clone()))),
                Argument::Variable(variable) if bound.contains(*variable) => {
                    columns.key.push((column, KeyPart::Variable(*variable)));
                }
                Argument::Variable(variable) => {
                    match columns.outputs.iter().find(|(_, other)| other == variable) {
                        Some((first, _)) => columns.equal.push((*first, column)),
                        None => columns.outputs.push((column, *variable)),
                    }
                }
                Argument::Any => {}
            }
        }
        columns
    }
}

/// The constants of a key.
fn constants(key: Vec<(usize, KeyPart)>) -> Vec<(usize, Value)> {
    let constant = |(column, part)| match part {
        KeyPart::Constant(value) => Some((column, value)),
        KeyPart::Variable(_) => None,
    };
    key.into_iter().filter_map(constant).collect()
}

/// The variables that the head or one of these literals reads.
fn live_after(rule: &Rule, literals: &[usize]) -> VariableSet {
    let mut live = VariableSet::default();
    let mut read = |variable: VariableId| {
        live.insert(variable);
    };
    rule.for_each_head_variable(&mut read);
    for literal in literals {
        match &rule.body[*literal] {
            Literal::Atom(atom) | Literal::Negated(atom) => atom.variables().for_each(&mut read),
            Literal::Filter { left, right, .. } => {
                left.for_each_variable(&mut read);
                right.for_each_variable(&mut read);
            }
            Literal::Assign { expression, .. } => expression.for_each_variable(&mut read),
        }
    }
    live
}

fn retain_live(mut outputs: Vec<(usize, VariableId)>, live: &VariableSet) -> Vec<(usize, VariableId)> {
    outputs.retain(|(_, variable)| live.contains(*variable));
    outputs
}
