//! Arguments of atoms that are written or computed: `p(X, 3)` and `!p(X, Y / 2)` find what equals them by value, although
//! rows are looked up by identity.
//!
//! Where the column holds one type, a constant is converted to it and stays an argument, which can be looked up.
//! Where it may hold several, the argument becomes a variable that is compared. A negated atom cannot be filtered: it looks
//! up representatives of values (`data/equality.rs`), if need be in a relation of its own that has them.

use super::expressions::type_of;
use super::program::{Argument, Atom, Expression, HeadTerm, Literal, Relation, Rule, Variable};
use super::resolve::Clause;
use super::safety::{Bindings, Origin};
use crate::data::equality::{is_representative, only_equal};
use crate::data::{DataType, RelationId, VariableId};
use crate::functions::matching::REPRESENTATIVE;

/// Settles the arguments of every clause. Types must have been inferred.
pub(super) fn settle(relations: &mut Vec<Relation>, clauses: &mut Vec<Clause>) {
    let mut helpers = Vec::new();
    for clause in clauses.iter_mut() {
        let Clause { rule, bindings, goal_arguments } = clause;
        let mut more = Vec::new();
        for position in 0..rule.body.len() {
            match &mut rule.body[position] {
                Literal::Atom(atom) => {
                    let types = &relations[atom.relation.index()].column_types;
                    more.extend(settle_atom(atom, types, &mut rule.variables));
                }
                Literal::Negated(atom) => {
                    let negated = Negated { relations, variables: &mut rule.variables, bindings };
                    let (assigned, helper) = negated.settle(atom);
                    more.extend(assigned);
                    helpers.extend(helper);
                }
                Literal::Filter { .. } | Literal::Assign { .. } => {}
            }
        }
        rule.body.extend(more);
        repeat_goal(rule, *goal_arguments, relations);
    }
    clauses.extend(helpers);
}

/// The goal's columns show the values that its constants matched, and have their types.
fn repeat_goal(rule: &mut Rule, goal_arguments: usize, relations: &mut [Relation]) {
    let Some(Literal::Atom(atom)) = rule.body.first() else { return };
    let columns = rule.head_terms.iter_mut().zip(&mut relations[rule.head.index()].column_types);
    for ((term, column_type), argument) in columns.zip(&atom.arguments).take(goal_arguments) {
        match argument {
            Argument::Variable(variable) => {
                *term = HeadTerm::Expression(Expression::Variable(*variable));
                *column_type = rule.variables[variable.index()].data_type;
            }
            Argument::Constant(value) => {
                *term = HeadTerm::Expression(Expression::Constant(value.clone()));
                *column_type = type_of(value);
            }
            Argument::Any => {}
        }
    }
}

/// Converts constants, or replaces them by variables and answers what these must equal.
fn settle_atom(atom: &mut Atom, types: &[DataType], variables: &mut Vec<Variable>) -> Vec<Literal> {
    let mut filters = Vec::new();
    for (argument, data_type) in atom.arguments.iter_mut().zip(types) {
        let Argument::Constant(value) = argument else { continue };
        match only_equal(value, *data_type) {
            Some(only) => *value = only,
            None => {
                let variable = add_variable(variables, *data_type);
                let constant = Expression::Constant(value.clone());
                filters.push(Literal::equal(Expression::Variable(variable), constant));
                *argument = Argument::Variable(variable);
            }
        }
    }
    filters
}

/// What a negated atom stands in.
struct Negated<'c> {
    relations: &'c mut Vec<Relation>,
    variables: &'c mut Vec<Variable>,
    bindings: &'c Bindings,
}

impl Negated<'_> {
    /// Makes the atom look up by identity what it asks for by value. Answers the representatives that it looks up. Where the
    /// columns do not hold representatives, or a constant must be compared, the atom is replaced by one over a relation
    /// whose clause is answered too: `!p(X, 3, Y)` becomes `!h(X, S)` with `S := ?by_value(Y)` and
    /// `h(X, R) <- p(X, V, W), V = 3, R := ?by_value(W)`.
    fn settle(self, atom: &mut Atom) -> (Vec<Literal>, Option<Clause>) {
        let types = self.relations[atom.relation.index()].column_types.clone();
        let sought: Vec<bool> =
            atom.arguments.iter().map(|argument| self.is_sought_by_value(argument)).collect();
        let mut is_direct = true;
        for ((argument, data_type), sought) in atom.arguments.iter_mut().zip(&types).zip(&sought) {
            match argument {
                Argument::Constant(value) => match only_equal(value, *data_type) {
                    Some(only) => *value = only,
                    None => is_direct = false,
                },
                Argument::Variable(_) => is_direct &= !sought || is_representative(*data_type),
                Argument::Any => {}
            }
        }
        let mut assigned = Vec::new();
        for (argument, _) in atom.arguments.iter_mut().zip(&sought).filter(|(_, sought)| **sought) {
            if let Argument::Variable(variable) = argument {
                let (literal, found) = represent(*variable, self.variables);
                assigned.push(literal);
                *argument = Argument::Variable(found);
            }
        }
        let helper = (!is_direct).then(|| self.read_by_value(atom, &types, &sought));
        (assigned, helper)
    }

    fn is_sought_by_value(&self, argument: &Argument) -> bool {
        match argument {
            Argument::Variable(variable) => {
                self.bindings.origins[variable.index()].is_some_and(|origin| origin != Origin::Stored)
            }
            Argument::Constant(_) | Argument::Any => false,
        }
    }

    /// The clause of a relation that has a column for each variable of the atom, with representatives where they are sought.
    /// The atom then reads that relation.
    fn read_by_value(self, atom: &mut Atom, types: &[DataType], sought: &[bool]) -> Clause {
        let mut own: Vec<Variable> = Vec::new();
        // The atom's variables, and those of the clause that have their values in the new relation.
        let mut columns: Vec<(VariableId, VariableId)> = Vec::new();
        let mut representatives = Vec::new();
        let mut arguments = Vec::with_capacity(types.len());
        for ((argument, data_type), sought) in atom.arguments.iter().zip(types).zip(sought) {
            arguments.push(match argument {
                Argument::Constant(value) => Argument::Constant(value.clone()),
                Argument::Any => Argument::Variable(add_variable(&mut own, *data_type)),
                Argument::Variable(variable) if *sought => {
                    let stored = add_variable(&mut own, *data_type);
                    let (literal, representative) = represent(stored, &mut own);
                    representatives.push(literal);
                    columns.push((*variable, representative));
                    Argument::Variable(stored)
                }
                Argument::Variable(variable) => {
                    let known = columns.iter().find(|(outer, _)| outer == variable);
                    let inner = known.map(|(_, inner)| *inner).unwrap_or_else(|| {
                        own.push(self.variables[variable.index()].clone());
                        let inner = VariableId::new(own.len() - 1);
                        columns.push((*variable, inner));
                        inner
                    });
                    Argument::Variable(inner)
                }
            });
        }
        let mut inner = Atom { relation: atom.relation, arguments, span: atom.span };
        let filters = settle_atom(&mut inner, types, &mut own);
        let helper = RelationId::new(self.relations.len());
        let name = format!("?by_value_{}", self.relations.len());
        let text = format!("{name} <- {}", self.relations[atom.relation.index()].name);
        let column =
            |(_, inner): &(VariableId, VariableId)| HeadTerm::Expression(Expression::Variable(*inner));
        let rule = Rule {
            head: helper,
            head_terms: columns.iter().map(column).collect(),
            ranking: None,
            body: std::iter::once(Literal::Atom(inner)).chain(representatives).chain(filters).collect(),
            text,
            variables: own,
        };
        let column_types = columns.iter().map(|(_, inner)| rule.variables[inner.index()].data_type).collect();
        self.relations.push(Relation { name, arity: columns.len(), column_types, stored: false, best: None });
        *atom = Atom {
            relation: helper,
            arguments: columns.into_iter().map(|(outer, _)| Argument::Variable(outer)).collect(),
            span: atom.span,
        };
        Clause { rule, bindings: Bindings::default(), goal_arguments: 0 }
    }
}

/// A variable for the representative of another one, and the assignment that binds it.
fn represent(of: VariableId, variables: &mut Vec<Variable>) -> (Literal, VariableId) {
    let variable = add_variable(variables, DataType::Any);
    let arguments = vec![Expression::Variable(of)];
    let expression = Expression::Call { function: &REPRESENTATIVE, arguments };
    (Literal::Assign { variable, expression }, variable)
}

fn add_variable(variables: &mut Vec<Variable>, data_type: DataType) -> VariableId {
    variables.push(Variable { name: format!("?{}", variables.len()), data_type });
    VariableId::new(variables.len() - 1)
}
