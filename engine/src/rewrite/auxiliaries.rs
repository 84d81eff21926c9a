//! Conditions of recursive rules that do not depend on the recursion are offered as relations of their own.
//!
//! `pulls(R, Q, W) <- pulls(R, P, V), needs(P, V, Q, Low), version(Q, W), W >= Low` may as well read
//! `joined(P, V, Q, W) <- needs(P, V, Q, Low), version(Q, W), W >= Low`: what one `R` has looked up is there for the next one,
//! and what only the conditions say among themselves is found out once. Whether it pays shows as the rounds go on.

use foldhash::{HashMap, HashMapExt, HashSet};

use super::renamed::renamed;
use crate::analysis::program::{
    Argument, Atom, Auxiliary, Expression, HeadTerm, Literal, Program, Reader, Relation, Rule, Stratum,
};
use crate::data::{MAX_COLUMNS, RelationId, VariableId};
use crate::diagnostic::Span;

/// Offers what rules of recursive strata may read.
pub(super) fn offer(mut program: Program) -> Program {
    let Program { relations, strata, .. } = &mut program;
    for stratum in strata.iter_mut().filter(|stratum| stratum.recursive) {
        stratum.auxiliaries = auxiliaries(stratum, relations);
    }
    program
}

fn auxiliaries(stratum: &Stratum, relations: &mut Vec<Relation>) -> Vec<Auxiliary> {
    let mut offered: Vec<Auxiliary> = Vec::new();
    for (number, rule) in stratum.rules.iter().enumerate() {
        let Some(part) = Part::of(rule, &stratum.relations) else { continue };
        let mut joined = part.rule(rule, RelationId::new(relations.len()));
        let same = offered
            .iter_mut()
            .find(|known| known.rule.body == joined.body && known.rule.head_terms == joined.head_terms);
        let known = match same {
            Some(known) => known,
            None => {
                let name = format!("?joined_{}", relations.len());
                joined.text = format!("{name} of {}", rule.text);
                let column_types =
                    part.kept.iter().map(|variable| rule.variables[variable.index()].data_type);
                let (arity, column_types) = (part.kept.len(), column_types.collect());
                relations.push(Relation { name, arity, column_types, stored: false, best: None });
                offered.push(Auxiliary { relation: joined.head, rule: joined, readers: Vec::new() });
                let last = offered.len() - 1;
                &mut offered[last]
            }
        };
        let (relation, with) = (known.relation, part.reading(rule, known.relation));
        known.readers.push(Reader { relation, rule: number, literals: part.literals, with });
    }
    offered
}

/// Literals that belong together, and their variables that others read.
struct Part {
    literals: Vec<usize>,
    kept: Vec<VariableId>,
}

impl Part {
    /// The largest part of a rule that does not depend on the recursion of these relations.
    fn of(rule: &Rule, recursive: &[RelationId]) -> Option<Part> {
        let is_recursive = |atom: &Atom| recursive.contains(&atom.relation);
        let atoms =
            || rule.body.iter().enumerate().filter_map(|(number, literal)| Some((number, literal.atom()?)));
        // One that has a single literal is as good as it is.
        if rule.ranking.is_some() || rule.body.len() < 3 || !rule.atoms().any(is_recursive) {
            return None;
        }
        let carried: HashSet<VariableId> =
            rule.atoms().filter(|atom| is_recursive(atom)).flat_map(Atom::variables).collect();
        let mut open: Vec<(usize, &Atom)> = atoms().filter(|(_, atom)| !is_recursive(atom)).collect();
        let mut best: Option<Part> = None;
        while let Some((first, atom)) = open.pop() {
            let mut literals = vec![first];
            let mut variables: HashSet<VariableId> = atom.variables().collect();
            // Atoms belong together that share a variable that the recursion does not bind.
            while let Some(place) = open.iter().position(|(_, atom)| {
                atom.variables().any(|variable| variables.contains(&variable) && !carried.contains(&variable))
            }) {
                let (number, atom) = open.swap_remove(place);
                literals.push(number);
                variables.extend(atom.variables());
            }
            let conditions = rule.body.iter().enumerate().filter(|(_, literal)| {
                let named = literal.variables();
                let is_condition = matches!(literal, Literal::Negated(_) | Literal::Filter { .. });
                is_condition && !named.is_empty() && named.iter().all(|variable| variables.contains(variable))
            });
            literals.extend(conditions.map(|(number, _)| number));
            literals.sort_unstable();
            let is_better = best.as_ref().is_none_or(|best| literals.len() > best.literals.len());
            if literals.len() < 2
                || !is_better
                || !variables.iter().any(|variable| carried.contains(variable))
            {
                continue;
            }
            let kept = read_elsewhere(rule, &literals);
            if kept.len() <= MAX_COLUMNS {
                best = Some(Part { literals, kept });
            }
        }
        best
    }

    /// The rule of the relation, with variables in the order in which they come.
    fn rule(&self, rule: &Rule, relation: RelationId) -> Rule {
        let mut numbers: HashMap<VariableId, VariableId> = HashMap::new();
        let mut variables = Vec::new();
        let mut number = |variable: VariableId| {
            *numbers.entry(variable).or_insert_with(|| {
                variables.push(rule.variables[variable.index()].clone());
                VariableId::new(variables.len() - 1)
            })
        };
        let body = self.literals.iter().map(|literal| renamed(&rule.body[*literal], &mut number)).collect();
        let term = |variable: &VariableId| HeadTerm::Expression(Expression::Variable(number(*variable)));
        let head_terms = self.kept.iter().map(term).collect();
        Rule { head: relation, head_terms, ranking: None, body, variables, text: String::new() }
    }

    /// The rule with an atom of the relation in the place of the part.
    fn reading(&self, rule: &Rule, relation: RelationId) -> Rule {
        let others = rule.body.iter().enumerate().filter(|(number, _)| !self.literals.contains(number));
        let mut body: Vec<Literal> = others.map(|(_, literal)| literal.clone()).collect();
        let arguments = self.kept.iter().map(|variable| Argument::Variable(*variable)).collect();
        body.push(Literal::Atom(Atom { relation, arguments, span: Span::default() }));
        Rule { body, ..rule.clone() }
    }
}

/// The variables of some literals that other literals or the head read, in the order in which they come.
fn read_elsewhere(rule: &Rule, literals: &[usize]) -> Vec<VariableId> {
    let others = rule.body.iter().enumerate().filter(|(number, _)| !literals.contains(number));
    let mut read: HashSet<VariableId> = others.flat_map(|(_, literal)| literal.variables()).collect();
    rule.for_each_head_variable(|variable| {
        read.insert(variable);
    });
    let mut kept = Vec::new();
    for variable in literals.iter().flat_map(|literal| rule.body[*literal].variables()) {
        if read.contains(&variable) && !kept.contains(&variable) {
            kept.push(variable);
        }
    }
    kept
}
