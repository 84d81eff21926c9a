//! Recursions that are asked for by both of their ends: what lies before the one end is enough to know, or behind the other.
//!
//! `t(X, Z) <- t(X, Y), step(Y, Z)`, asked with `X` and `Z`, asks for the rows of all `Y` from which steps lead to `Z`, however
//! few of them can be reached from `X`; and `t(X, Z) <- step(X, Y), t(Y, Z)` for those that can be reached, however few lead to
//! `Z`. Which of the two is less nobody knows beforehand, so both are looked for in turn, and what is complete first is taken
//! (`exec/either.rs`):
//!
//! ```text
//! before(X, Z) <- asked(X, Z)
//! before(X, Y) <- before(X, Z), step(Y, Z)
//! t(X, Z) <- before(X, Z), base(X, Z)
//! t(X, Z) <- before(X, Z), t(X, Y), step(Y, Z)
//!
//! reached(X, Y) <- from(X), base(X, Y)           from(X) <- asked(X, _)
//! reached(X, Z) <- reached(X, Y), step(Y, Z)
//! t(X, Z) <- asked(X, Z), reached(X, Z)
//! ```
//!
//! Where rows have more columns than the ends, all that is derived of what begins in `X` is reached, so it is enough to know that this
//! was looked for:
//!
//! ```text
//! looked(X) <- reached(X, _)
//! t(X, Z, H) <- looked(X), t(X, Y, G), step(Y, Z), H = G + 1
//! ```

use foldhash::HashSet;

use super::turned::term;
use super::{Adorned, Adornment, Magic, bound, named};
use crate::analysis::program::{Alternative, Argument, Atom, Literal, Rule, Stratum};
use crate::data::{DataType, RelationId, VariableId};
use crate::rewrite::guarded::{guard, head_argument};

/// Two relations, either of which says enough of what is asked for.
pub(super) struct Ends {
    /// What lies before it,
    before: RelationId,
    /// and what can be reached.
    reached: RelationId,
    /// From where it was, if that is asked.
    looked: Option<RelationId>,
    /// Which is looked for first.
    turn: Alternative,
}

impl Magic<'_> {
    /// The column of a recursion that is asked for by two of them which each of its steps hands on, while it moves the other.
    pub(super) fn handed_on(
        &self,
        relation: RelationId,
        adornment: &Adornment,
        rules: &[Rule],
    ) -> Option<usize> {
        let columns: Vec<usize> = (0..adornment.len()).filter(|column| adornment[*column]).collect();
        let [first, last] = *columns.as_slice() else { return None };
        let mut steps = Vec::new();
        for rule in rules {
            let mut own = rule.atoms().filter(|atom| atom.relation == relation);
            match (own.next(), own.next()) {
                _ if rule.aggregates() => return None,
                (None, _) => {}
                (Some(own), None) => steps.push((rule, own)),
                (Some(_), Some(_)) => return None,
            }
        }
        // What is derived would have to be asked for from both ends, before anybody knows which is better.
        let is_derived = |read: RelationId| read != relation && self.rules.contains_key(&read);
        if steps.is_empty() || rules.iter().flat_map(Rule::reads).any(is_derived) {
            return None;
        }
        let fits = |(handed, moved): &(usize, usize)| {
            steps.iter().all(|(rule, own)| is_step(rule, own, adornment, *handed, *moved))
        };
        [(first, last), (last, first)].into_iter().find(fits).map(|(handed, _)| handed)
    }

    /// Makes the rules of a recursion that is asked for by both ends.
    pub(super) fn ask_from_either_end(
        &mut self,
        relation: RelationId,
        adornment: &Adornment,
        adorned: Adorned,
        handed: usize,
        rules: &[Rule],
    ) {
        let known = &self.program.relations[relation.index()];
        let name = named(known, adornment);
        let types: Vec<DataType> = bound(adornment, &known.column_types).copied().collect();
        let from = self.add_guard(format!("?from_{name}"), vec![known.column_types[handed]]);
        let before = self.add_guard(format!("?before_{name}"), types.clone());
        let reached = self.add_guard(format!("?reached_{name}"), types.clone());
        self.begin(adorned.magic, before, &types, <[VariableId]>::to_vec);
        let place = adornment[..handed].iter().filter(|is_bound| **is_bound).count();
        self.begin(adorned.magic, from, &types, |all| vec![all[place]]);
        // Where rows are their ends, those that are reached are derived already.
        let (looked, turn) = match types.len() == adornment.len() {
            true => (None, Alternative::Sooner),
            false => (Some(self.looked_for(&name, reached, &types, place)), Alternative::Later),
        };
        if turn == Alternative::Sooner {
            self.hand_over(adorned, reached, &types);
        }
        self.ends.push(Ends { before, reached, looked, turn });
        for rule in rules {
            let ends = || bound(adornment, &rule.head_terms).cloned().collect();
            let of_head =
                |relation| guard(relation, bound(adornment, &rule.head_terms).filter_map(head_argument));
            let of_beginning = |relation| guard(relation, head_argument(&rule.head_terms[handed]));
            let guards = || [Some(of_head(before)), looked.map(of_beginning)].into_iter().flatten();
            let Some(own) = rule.atoms().find(|atom| atom.relation == relation) else {
                let from = of_beginning(from);
                let passed = self.pass_bindings(rule, Some(from.clone()));
                self.made.push(Rule { head: reached, head_terms: ends(), ..passed });
                for here in guards() {
                    let mut passed = self.pass_bindings(rule, Some(here));
                    passed.body.push(Literal::Atom(from.clone()));
                    self.made.push(Rule { head: adorned.rows, ..passed });
                }
                continue;
            };
            let step = step_alone(rule, own, adornment);
            let passed = self.pass_bindings(&step, Some(of_head(before)));
            let head_terms = bound(adornment, &own.arguments).filter_map(term).collect();
            self.made.push(Rule { head: before, head_terms, ..passed });
            let own = guard(reached, bound(adornment, &own.arguments).cloned());
            let passed = self.pass_bindings(&step, Some(own));
            self.made.push(Rule { head: reached, head_terms: ends(), ..passed });
            let mut longer = rule.clone();
            for literal in &mut longer.body {
                if let Literal::Atom(atom) = literal
                    && atom.relation == relation
                {
                    atom.relation = adorned.rows;
                }
            }
            for here in guards() {
                let passed = self.pass_bindings(&longer, Some(here));
                self.made.push(Rule { head: adorned.rows, ..passed });
            }
        }
    }

    /// A relation of the beginnings from which it was looked for what is reached.
    fn looked_for(
        &mut self,
        name: &str,
        reached: RelationId,
        types: &[DataType],
        place: usize,
    ) -> RelationId {
        let looked = self.add_guard(format!("?looked_{name}"), vec![types[place]]);
        self.begin(reached, looked, types, |all| vec![all[place]]);
        looked
    }

    /// What is reached of what was asked for is there.
    fn hand_over(&mut self, adorned: Adorned, reached: RelationId, types: &[DataType]) {
        self.begin(adorned.magic, adorned.rows, types, <[VariableId]>::to_vec);
        if let Some(rule) = self.made.last_mut()
            && let Some(Literal::Atom(asked)) = rule.body.first().cloned()
        {
            rule.body.push(Literal::Atom(Atom { relation: reached, ..asked }));
        }
    }
}

impl Ends {
    /// Makes the stratum of what is reached the alternative of that of what lies before. Where that one belongs to a recursion
    /// with others, it has none.
    pub(super) fn pair(&self, strata: &mut Vec<Stratum>) {
        let place = |strata: &[Stratum], relation| {
            strata.iter().position(|stratum: &Stratum| stratum.relations == [relation])
        };
        let (before, Some(reached)) = (place(strata, self.before), place(strata, self.reached)) else {
            return;
        };
        let other = Stratum { alternative: Some(self.turn), ..strata.remove(reached) };
        let Some(before) = before else { return };
        // What reads one of them reads both, so they may stand where the later one of them does: but for what says where it was begun.
        let stratum = strata.remove(if before < reached { before } else { before - 1 });
        let mut last = before.max(reached) - 1;
        let looked = self.looked.and_then(|looked| place(strata, looked));
        let looked = looked.filter(|looked| *looked < last).map(|looked| strata.remove(looked));
        last -= usize::from(looked.is_some());
        strata.splice(last..last, [stratum, other].into_iter().chain(looked));
    }
}

/// Whether a rule takes a step from a row of its own relation: it hands on one column, which nothing else depends on, and has a
/// condition of its own on both the values between which the other one moves.
fn is_step(rule: &Rule, own: &Atom, adornment: &Adornment, handed: usize, moved: usize) -> bool {
    let ends = |column: usize| match (head_argument(&rule.head_terms[column]), &own.arguments[column]) {
        (Some(Argument::Variable(to)), Argument::Variable(from)) => Some((*from, to)),
        _ => None,
    };
    let (Some((carried, kept)), Some((from, to))) = (ends(handed), ends(moved)) else { return false };
    let step = step_alone(rule, own, adornment);
    let named: Vec<VariableId> = step.atoms().flat_map(Atom::variables).collect();
    let is_left_alone = |literal: &Literal| !literal.variables().contains(&carried);
    let free = free_of(rule, own, adornment);
    carried == kept
        && from != to
        && own.variables().filter(|variable| *variable == carried).count() == 1
        && step.body.iter().all(is_left_alone)
        && [from, to].iter().all(|end| named.contains(end) && !free.contains(end))
        // What is joined by more than the ends is no step between them.
        && rule.atoms().all(|atom| std::ptr::eq(atom, own) || atom.variables().all(|v| !free.contains(&v)))
}

/// A step without the row that it starts from, and without what depends on more of that row than its ends.
fn step_alone(rule: &Rule, own: &Atom, adornment: &Adornment) -> Rule {
    let free = free_of(rule, own, adornment);
    let is_kept = |literal: &&Literal| {
        !literal.atom().is_some_and(|atom| std::ptr::eq(atom, own))
            && literal.variables().iter().all(|variable| !free.contains(variable))
    };
    Rule { body: rule.body.iter().filter(is_kept).cloned().collect(), ..rule.clone() }
}

/// The variables that the row says in columns that are not asked for, and what is computed of them.
fn free_of(rule: &Rule, own: &Atom, adornment: &Adornment) -> HashSet<VariableId> {
    let columns = adornment.iter().zip(&own.arguments).filter(|(is_bound, _)| !**is_bound);
    let mut free: HashSet<VariableId> = columns
        .filter_map(|(_, argument)| match argument {
            Argument::Variable(variable) => Some(*variable),
            Argument::Constant(_) | Argument::Any => None,
        })
        .collect();
    loop {
        let known = free.len();
        for literal in &rule.body {
            if let Literal::Assign { variable, .. } = literal
                && literal.variables().iter().any(|read| free.contains(read))
            {
                free.insert(*variable);
            }
        }
        if free.len() == known {
            return free;
        }
    }
}
