//! Recursions that are turned round: asked for the columns that each step moves, while it hands on the others.
//!
//! Of `t(X, Z) <- base(X, Z)` and `t(X, Z) <- step(X, Y), t(Y, Z)`, asked with `X`, the answer of every `Y` on the way
//! would be derived, to be handed back step by step. Instead it is noted which value was asked for and how far it has
//! come, and rows are made where it may end (Naughton, Ramakrishnan, Sagiv and Ullman, *Argument Reduction by
//! Factoring*, VLDB 1989, for one value; here for any number of them):
//!
//! ```text
//! walk(S, S) <- asked(S)
//! walk(S, Y) <- walk(S, X), step(X, Y)
//! t(S, Z)    <- walk(S, X), base(X, Z)
//! ```
//!
//! If a step is derived itself, a relation without `S` says which steps are needed, so that those are known before the
//! walk begins.

use super::{Adorned, Adornment, Magic, bound, named};
use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Rule};
use crate::data::{DataType, RelationId, VariableId};
use crate::rewrite::guarded::{add_variable, guard, head_argument};

impl Magic<'_> {
    /// Whether each rule that reads the relation itself moves what is bound, and hands on what is free.
    pub(super) fn is_turned(&self, relation: RelationId, adornment: &Adornment, rules: &[Rule]) -> bool {
        let is_alone =
            self.program.strata.iter().any(|stratum| stratum.recursive && stratum.relations == [relation]);
        let is_fit = |rule: &Rule| {
            let mut own = rule.atoms().filter(|atom| atom.relation == relation);
            match (own.next(), own.next()) {
                (None, _) => true,
                (Some(own), None) => hands_on(rule, own, adornment),
                (Some(_), Some(_)) => false,
            }
        };
        is_alone
            && self.program.relations[relation.index()].best.is_none()
            && adornment.contains(&false)
            && rules.iter().all(|rule| !rule.aggregates() && is_fit(rule))
    }

    /// Makes the rules of a recursion that is turned round.
    pub(super) fn turn(
        &mut self,
        relation: RelationId,
        adornment: &Adornment,
        adorned: Adorned,
        rules: &[Rule],
    ) {
        let known = &self.program.relations[relation.index()];
        let name = named(known, adornment);
        let types: Vec<DataType> = bound(adornment, &known.column_types).copied().collect();
        let walk = self.add_guard(format!("?walk_{name}"), [types.as_slice(), &types].concat());
        let is_derived = |read: RelationId| read != relation && self.rules.contains_key(&read);
        let reads_derived = rules.iter().flat_map(Rule::reads).any(is_derived);
        let met = reads_derived.then(|| self.add_guard(format!("?met_{name}"), types.clone()));
        self.begin(adorned.magic, walk, &types, |all| [all, all].concat());
        if let Some(met) = met {
            self.begin(adorned.magic, met, &types, <[VariableId]>::to_vec);
        }
        for rule in rules {
            let own = rule.atoms().find(|atom| atom.relation == relation).cloned();
            let mut rest = rule.clone();
            rest.body.retain(|literal| literal.atom().is_none_or(|atom| atom.relation != relation));
            let asked: Vec<VariableId> =
                types.iter().map(|data_type| add_variable(&mut rest, "?asked", *data_type)).collect();
            let at: Vec<Argument> = bound(adornment, &rule.head_terms).filter_map(head_argument).collect();
            let here = guard(walk, arguments(&asked).chain(at.iter().cloned()));
            let needed = met.map(|met| guard(met, at));
            let passed = self.pass_bindings(&rest, Some(needed.unwrap_or_else(|| here.clone())));
            let mut body = passed.body.clone();
            body[0] = Literal::Atom(here);
            match own {
                Some(own) => {
                    let next: Vec<HeadTerm> = bound(adornment, &own.arguments).filter_map(term).collect();
                    let head_terms = terms(&asked).chain(next.iter().cloned()).collect();
                    self.made.push(Rule { head: walk, head_terms, body, ..passed.clone() });
                    if let Some(met) = met {
                        self.made.push(Rule { head: met, head_terms: next, ..passed });
                    }
                }
                None => {
                    let mut asked = terms(&asked);
                    let head_terms = adornment
                        .iter()
                        .zip(&rule.head_terms)
                        .map(|(is_bound, term)| match is_bound {
                            true => asked.next().unwrap_or_else(|| term.clone()),
                            false => term.clone(),
                        })
                        .collect();
                    self.made.push(Rule { head: adorned.rows, head_terms, body, ..passed });
                }
            }
        }
    }

    /// `begun(S, S) <- asked(S)`, or what else of what is asked for it begins with.
    pub(super) fn begin(
        &mut self,
        asked: RelationId,
        begun: RelationId,
        types: &[DataType],
        with: impl FnOnce(&[VariableId]) -> Vec<VariableId>,
    ) {
        let text =
            format!("{} for {}", self.relations[begun.index()].name, self.relations[asked.index()].name);
        let mut rule = Rule {
            head: begun,
            head_terms: Vec::new(),
            ranking: None,
            body: Vec::new(),
            variables: Vec::new(),
            text,
        };
        let columns: Vec<VariableId> =
            types.iter().map(|data_type| add_variable(&mut rule, "?asked", *data_type)).collect();
        rule.body.push(Literal::Atom(guard(asked, arguments(&columns))));
        rule.head_terms = terms(&with(&columns)).collect();
        self.made.push(rule);
    }
}

/// Whether the free columns of a row go to the head as they are and are not looked at, while the bound ones are found
/// without the row.
fn hands_on(rule: &Rule, own: &Atom, adornment: &Adornment) -> bool {
    let head: Vec<VariableId> = rule.head_terms.iter().filter_map(variable).collect();
    let read: Vec<VariableId> = rule.body.iter().flat_map(Literal::variables).chain(head).collect();
    let from = bound(adornment, &rule.head_terms).filter_map(variable);
    let found: Vec<VariableId> = rule
        .body
        .iter()
        .flat_map(|literal| match literal {
            Literal::Atom(atom) if !std::ptr::eq(atom, own) => atom.variables().collect(),
            Literal::Assign { variable, .. } => vec![*variable],
            Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } => Vec::new(),
        })
        .chain(from)
        .collect();
    adornment.iter().zip(&own.arguments).zip(&rule.head_terms).all(|((is_bound, argument), head)| {
        match (is_bound, argument) {
            (true, Argument::Variable(variable)) => found.contains(variable),
            (true, Argument::Constant(_)) => true,
            (false, Argument::Variable(variable)) => {
                let times = read.iter().filter(|other| *other == variable).count();
                *head == HeadTerm::Expression(Expression::Variable(*variable)) && times == 2
            }
            (true, Argument::Any) | (false, Argument::Constant(_) | Argument::Any) => false,
        }
    })
}

fn arguments(variables: &[VariableId]) -> impl Iterator<Item = Argument> {
    variables.iter().map(|variable| Argument::Variable(*variable))
}

fn terms(variables: &[VariableId]) -> impl Iterator<Item = HeadTerm> {
    variables.iter().map(|variable| HeadTerm::Expression(Expression::Variable(*variable)))
}

/// The variable that a column of a head is.
fn variable(term: &HeadTerm) -> Option<VariableId> {
    match head_argument(term)? {
        Argument::Variable(variable) => Some(variable),
        Argument::Constant(_) | Argument::Any => None,
    }
}

/// What an atom has in a column, as a term of a head.
pub(super) fn term(argument: &Argument) -> Option<HeadTerm> {
    match argument {
        Argument::Variable(variable) => Some(HeadTerm::Expression(Expression::Variable(*variable))),
        Argument::Constant(value) => Some(HeadTerm::Expression(Expression::Constant(value.clone()))),
        Argument::Any => None,
    }
}
