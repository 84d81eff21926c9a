//! Which literal first, and which next.

use super::range::{BestAtom, range_filters};
use super::variables::VariableMap;
use super::variation::Variation;
use crate::analysis::program::{Argument, Atom, Literal, Rule};
use crate::data::VariableId;
use crate::plan::access::{Access, Version};
use crate::plan::cost;
use crate::plan::statistics::{
    Found, Sought, Statistics, Values, counted_matches, expected_best, expected_matches, rows_in,
    sampled_matches,
};

/// The order in which a rule's literals are evaluated. `delta` is the one that reads the last round's rows, if one does.
///
/// Filters and negations run as soon as their variables are bound, as they only ever shrink the work, and so do computations
/// that others wait for; what only the head wants is computed where no literal is left that shrinks the work. Where much work
/// is expected, it is compared with that of other orders: to look up most of a large relation takes longer than to read all of
/// it. New rows come first unless it is known how many they are.
pub(super) fn order_literals(variation: Variation<'_>, statistics: &dyn Statistics) -> Vec<usize> {
    let rule = variation.rule;
    if rule.body.len() < 2 {
        return (0..rule.body.len()).collect();
    }
    let best = &variation.best_atoms();
    let order = Orders { variation, best, statistics, samples: false }.greedily(variation.delta.as_slice());
    let is_fixed = match variation.delta {
        Some(delta) => rule.body[delta].atom().is_some_and(|atom| statistics.delta(atom.relation).is_none()),
        None => reads_constants(rule),
    };
    if is_fixed { order } else { better_order(variation, order, statistics) }
}

/// Another order, if it takes clearly less work than this one. Where much work is expected, or rows are many, that is found out
/// from samples of the columns.
pub(super) fn better_order(
    variation: Variation<'_>,
    order: Vec<usize>,
    statistics: &dyn Statistics,
) -> Vec<usize> {
    /// Work, or rows, and atoms that are worth a comparison.
    const MUCH: f64 = 20_000.0;
    const MANY: f64 = 256.0;
    const FEW: usize = 8;
    /// So much work, and so few atoms, are worth a comparison with the orders from any two atoms on.
    const VERY_MUCH: f64 = 5.0 * MUCH;
    const VERY_FEW: usize = 5;
    /// Work may be estimated wrongly by so much.
    const CLEARLY: f64 = 0.8;
    let rule = variation.rule;
    let starts: Vec<usize> =
        order.iter().copied().filter(|literal| rule.body[*literal].atom().is_some()).collect();
    if !(2..=FEW).contains(&starts.len()) || statistics.as_written() {
        return order;
    }
    let best = &variation.best_atoms();
    let quick = Orders { variation, best, statistics, samples: false };
    // What starts from a few rows is brief unless it is known not to be.
    let rows = || rule.atoms().map(|atom| statistics.rows(atom.relation) as f64);
    let is_long = || rows().sum::<f64>() >= MUCH && rows().all(|rows| rows >= MANY);
    if quick.work(&order) < MUCH && !is_long() {
        return order;
    }
    let orders = Orders { samples: true, ..quick };
    let limit = orders.work(&order);
    let mut beginnings: Vec<Vec<usize>> = starts.iter().map(|start| vec![*start]).collect();
    // What multiplies bindings least may need an index that takes longer to make than all the rest.
    if limit >= VERY_MUCH && (3..=VERY_FEW).contains(&starts.len()) {
        let pairs = starts.iter().flat_map(|first| starts.iter().map(move |second| [*first, *second]));
        let are_joined = |pair: &[usize; 2]| pair[0] != pair[1] && share_variables(rule, *pair);
        beginnings.extend(pairs.filter(are_joined).map(|pair| pair.to_vec()));
    }
    let others = beginnings.iter().map(|beginning| orders.greedily(beginning));
    let others = others.map(|other| (orders.work(&other), other));
    match others.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((work, other)) if work < CLEARLY * limit => other,
        Some(_) | None => order,
    }
}

/// Whether two literals of a rule have a variable in common.
fn share_variables(rule: &Rule, [a, b]: [usize; 2]) -> bool {
    let of_b = rule.body[b].variables();
    rule.body[a].variables().iter().any(|variable| of_b.contains(variable))
}

/// Whether some atom is looked up by what the rule says.
fn reads_constants(rule: &Rule) -> bool {
    rule.atoms().flat_map(|atom| &atom.arguments).any(|argument| matches!(argument, Argument::Constant(_)))
}

/// The orders of a rule's literals, and what they take.
#[derive(Clone, Copy)]
struct Orders<'a> {
    variation: Variation<'a>,
    /// The atoms of which only the best rows are wanted.
    best: &'a [BestAtom],
    statistics: &'a dyn Statistics,
    /// Whether samples are looked at.
    samples: bool,
}

/// The variables that are bound, and their values.
type Bound = VariableMap<Values>;

impl Orders<'_> {
    /// What a look-up of an atom finds for a binding.
    fn found(&self, access: Access, atom: &Atom, bound: &Bound) -> Found {
        let sought: Vec<Sought> = sought(atom, bound).collect();
        if let Some(rows) = counted_matches(access, &sought, self.statistics) {
            return Found::of(rows);
        }
        if self.samples {
            return sampled_matches(access, &sought, self.statistics);
        }
        let columns: Vec<usize> = sought.iter().map(|sought| sought.column).collect();
        Found::of(expected_matches(access, &columns, self.statistics))
    }

    /// The work of evaluating literals in this order, in rows that are read one after the other.
    fn work(&self, order: &[usize]) -> f64 {
        let Orders { variation, statistics, .. } = *self;
        let mut bound = Bound::of(variation.rule.variables.len());
        let (mut bindings, mut work) = (1.0, 0.0);
        let last = last_read(variation.rule, order);
        let mut in_ranges = Vec::new();
        // Atoms share an index of the same columns.
        let mut indexed = Vec::new();
        for (position, &number) in order.iter().enumerate() {
            let literal = &variation.rule.body[number];
            match literal {
                Literal::Atom(atom) => {
                    let access = variation.costed(number, atom);
                    let columns = bound_columns(atom, &bound);
                    let rows = rows_in(access, statistics) as f64;
                    if position == 0 && (Some(number) == variation.delta || columns.is_empty()) {
                        work += rows;
                        bindings = self.found(access, atom, &bound).rows;
                    } else {
                        let is_read_later = |variable| last.get(variable).is_none_or(|read| *read > position);
                        let mut matches = self.matches(number, atom, &bound, position > 0, is_read_later);
                        let is_complete = statistics.layout(access.relation).is_some();
                        if is_complete && !columns.is_empty() && matches >= statistics.range_rows() as f64 {
                            // Rows that later filters would drop are not looked at.
                            let filters = range_filters(variation.rule, atom, |v| bound.contains(v));
                            for filter in filters {
                                if !in_ranges.contains(&filter) {
                                    in_ranges.push(filter);
                                    matches *= cost::PASSING;
                                }
                            }
                        }
                        work += bindings * (1.0 + matches) * look_up_cost(rows);
                        let index = (access.relation, access.version == Version::Delta, columns);
                        if !indexed.contains(&index) {
                            work += index_cost(access, &index.2, statistics);
                            indexed.push(index);
                        }
                        bindings *= matches;
                    }
                }
                Literal::Negated(_) | Literal::Filter { .. } => {
                    work += bindings * cost::FILTER;
                    if !in_ranges.contains(&number) {
                        bindings *= cost::PASSING;
                    }
                }
                Literal::Assign { .. } => work += bindings * cost::FILTER,
            }
            bind(literal, &mut bound);
        }
        work
    }

    /// The rows that a binding goes on with: fewer than it finds where only the best ones are wanted, or one is as good as many.
    fn matches(
        &self,
        number: usize,
        atom: &Atom,
        bound: &Bound,
        is_later: bool,
        is_read: impl Fn(VariableId) -> bool,
    ) -> f64 {
        let Orders { variation, statistics, .. } = *self;
        let Found { rows, share } = self.found(variation.costed(number, atom), atom, bound);
        let is_best = |best: &BestAtom| {
            best.literal == number
                && rows >= statistics.range_rows() as f64
                && best.is_ready(variation.rule, |v| bound.contains(v))
        };
        if is_later && !variation.rule.aggregates() && binds_nothing(atom, bound, is_read) {
            share
        } else if is_later && self.best.iter().any(is_best) {
            expected_best(rows)
        } else {
            rows
        }
    }

    /// What shrinks the work comes next, or else what an order begins with, and then the literal that is expected to multiply the
    /// bindings least.
    fn greedily(&self, beginning: &[usize]) -> Vec<usize> {
        let rule = self.variation.rule;
        let mut bound = Bound::of(rule.variables.len());
        let mut order = Vec::with_capacity(rule.body.len());
        let mut open: Vec<usize> = (0..rule.body.len()).collect();
        let mut readers = Readers::of(rule);
        let mut beginning = beginning.iter().copied();
        let mut next = beginning.next();
        loop {
            if let Some(literal) = next {
                bind(&rule.body[literal], &mut bound);
                readers.remove(&rule.body[literal]);
                open.retain(|other| *other != literal);
                order.push(literal);
            }
            let ready = |shrinks: bool| {
                let fits =
                    |literal: &Literal| shrinks == readers.wait_for(literal) && is_ready(literal, &bound);
                open.iter().copied().find(|literal| fits(&rule.body[*literal]))
            };
            next = ready(true).or_else(|| beginning.next()).or_else(|| {
                let computation = ready(false);
                if let (None, [last]) = (computation, open.as_slice()) {
                    // There is nothing to choose.
                    return rule.body[*last].atom().map(|_| *last);
                }
                match self.cheapest_atom(&open, &bound, &readers) {
                    Some((literal, matches)) if computation.is_none() || matches < 1.0 => Some(literal),
                    _ => computation,
                }
            });
            if next.is_none() {
                // Whatever is left can never be bound; analysis has refused such rules.
                return order;
            }
        }
    }

    /// The open atom that is expected to multiply the bindings least, and by how much.
    fn cheapest_atom(&self, open: &[usize], bound: &Bound, readers: &Readers) -> Option<(usize, f64)> {
        let rule = self.variation.rule;
        let mut best: Option<(bool, bool, f64, usize)> = None;
        for &literal in open {
            let Literal::Atom(atom) = &rule.body[literal] else { continue };
            // A cross product comes last, however small.
            let detached = !bound.is_empty()
                && atom.variables().next().is_some()
                && !atom.variables().any(|v| bound.contains(v));
            let access = Access { version: Version::All, ..self.variation.costed(literal, atom) };
            let Found { rows: mut cost, share } = self.found(access, atom, bound);
            let is_read = |variable| names_in_head(rule, variable) || readers.read_beside(atom, variable);
            let binds_nothing = cost > share && !bound.is_empty() && binds_nothing(atom, bound, is_read);
            if binds_nothing && !rule.aggregates() {
                cost = share;
            }
            // What only counts what is there so and so often may as well do so at the end.
            let multiplies = binds_nothing && rule.aggregates() && cost >= 1.0;
            if self.statistics.as_written() {
                return Some((literal, cost));
            }
            if best.is_none_or(|(d, m, c, _)| (detached, multiplies, cost) < (d, m, c)) {
                best = Some((detached, multiplies, cost, literal));
            }
        }
        best.map(|(_, _, matches, literal)| (literal, matches))
    }
}

/// The last place of an order where each variable is read; none for those of the head.
fn last_read(rule: &Rule, order: &[usize]) -> VariableMap<usize> {
    let mut last = VariableMap::of(rule.variables.len());
    for (position, literal) in order.iter().enumerate() {
        for_each_read(&rule.body[*literal], &mut |variable| {
            last.insert(variable, position);
        });
    }
    rule.for_each_head_variable(|variable| {
        last.remove(variable);
    });
    last
}

/// Whether the head names a variable.
fn names_in_head(rule: &Rule, variable: VariableId) -> bool {
    let mut named = false;
    rule.for_each_head_variable(|other| named |= other == variable);
    named
}

/// Whether nobody reads what an atom binds: where solutions are not counted, one row that matches is as good as many.
fn binds_nothing(atom: &Atom, bound: &Bound, is_read: impl Fn(VariableId) -> bool) -> bool {
    atom.variables().all(|variable| bound.contains(variable) || !is_read(variable))
}

/// What it costs to look up a key, and to read a row that is found.
fn look_up_cost(rows: f64) -> f64 {
    if rows > cost::CACHED_ROWS { cost::LOOK_UP_FAR } else { cost::LOOK_UP_NEAR }
}

/// What it costs to make an index of these columns, if there is none: a share of it, as it will be used again.
fn index_cost(access: Access, columns: &[usize], statistics: &dyn Statistics) -> f64 {
    let work = match statistics.layout(access.relation) {
        Some(layout) => layout.indexing(columns),
        // What grows has an index that grows with it, but for what is new in a round.
        None if access.version == Version::Delta => rows_in(access, statistics) as f64 * cost::INDEXING,
        None => 0.0,
    };
    let uses = if access.version == Version::Delta {
        1
    } else {
        statistics.index_uses().saturating_mul(1 + statistics.rounds())
    };
    work / uses as f64
}

/// The columns of an atom that are looked up, in ascending order.
fn bound_columns(atom: &Atom, bound: &Bound) -> Vec<usize> {
    sought(atom, bound).map(|sought| sought.column).collect()
}

/// The same with where the values come from.
fn sought<'a>(atom: &'a Atom, bound: &Bound) -> impl Iterator<Item = Sought<'a>> {
    atom.arguments.iter().enumerate().filter_map(|(column, argument)| {
        let (values, constant) = match argument {
            Argument::Variable(variable) => match bound.get(*variable) {
                Some(values) => (*values, None),
                None if atom.arguments[..column].contains(argument) => (Values::default(), None),
                None => return None,
            },
            Argument::Constant(constant) => (Values::default(), Some(constant)),
            Argument::Any => return None,
        };
        Some(Sought { column, values, constant })
    })
}

/// How many of the open literals read each variable.
struct Readers(VariableMap<usize>);

impl Readers {
    fn of(rule: &Rule) -> Readers {
        let mut readers = VariableMap::of(rule.variables.len());
        for literal in &rule.body {
            for_each_read(literal, &mut |variable| *readers.get_or_insert(variable, 0) += 1);
        }
        Readers(readers)
    }

    fn remove(&mut self, literal: &Literal) {
        for_each_read(literal, &mut |variable| {
            if let Some(readers) = self.0.get_mut(variable) {
                *readers -= 1;
            }
        });
    }

    /// Whether an open literal beside this atom reads a variable.
    fn read_beside(&self, atom: &Atom, variable: VariableId) -> bool {
        let own = atom.variables().filter(|other| *other == variable).count();
        self.0.get(variable).is_some_and(|readers| *readers > own)
    }

    /// Whether others wait for a literal: for its variable, or because it may drop bindings.
    fn wait_for(&self, literal: &Literal) -> bool {
        match literal {
            Literal::Assign { variable, expression } => {
                expression.is_each() || self.0.get(*variable).is_some_and(|readers| *readers > 0)
            }
            Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } => true,
        }
    }
}

/// The variables that a literal needs, or joins with.
fn for_each_read(literal: &Literal, read: &mut impl FnMut(VariableId)) {
    match literal {
        Literal::Atom(atom) | Literal::Negated(atom) => atom.variables().for_each(read),
        Literal::Filter { left, right, .. } => {
            left.for_each_variable(read);
            right.for_each_variable(read);
        }
        Literal::Assign { expression, .. } => expression.for_each_variable(read),
    }
}

/// Whether a literal other than an atom can be evaluated.
fn is_ready(literal: &Literal, bound: &Bound) -> bool {
    let mut ready = literal.atom().is_none();
    for_each_read(literal, &mut |variable| ready &= bound.contains(variable));
    ready
}

fn bind(literal: &Literal, bound: &mut Bound) {
    match literal {
        Literal::Atom(atom) => {
            if let [column] = *bound_columns(atom, bound)
                && let Argument::Variable(variable) = &atom.arguments[column]
                && let Some(values) = bound.get_mut(*variable)
            {
                values.joined.get_or_insert((atom.relation, column));
            }
            for (column, argument) in atom.arguments.iter().enumerate() {
                if let Argument::Variable(variable) = argument {
                    let from = Some((atom.relation, column));
                    bound.get_or_insert(*variable, Values { from, joined: None });
                }
            }
        }
        Literal::Assign { variable, .. } => {
            bound.insert(*variable, Values::default());
        }
        Literal::Negated(_) | Literal::Filter { .. } => {}
    }
}
