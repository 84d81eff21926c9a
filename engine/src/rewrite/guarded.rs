//! Rules with one more condition: an atom of what is asked for.

use foldhash::HashSet;

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Rule, Test, Variable};
use crate::data::{DataType, RelationId, VariableId};
use crate::diagnostic::Span;

/// An atom from nowhere in a text.
pub(super) fn guard(relation: RelationId, arguments: impl IntoIterator<Item = Argument>) -> Atom {
    Atom { relation, arguments: arguments.into_iter().collect(), span: Span::default() }
}

/// A head term as an argument of its guard; computed and aggregated ones cannot be asked for.
pub(super) fn head_argument(term: &HeadTerm) -> Option<Argument> {
    match term {
        HeadTerm::Expression(Expression::Variable(variable)) => Some(Argument::Variable(*variable)),
        HeadTerm::Expression(Expression::Constant(value)) => Some(Argument::Constant(value.clone())),
        HeadTerm::Expression(Expression::Arithmetic { .. } | Expression::Call { .. })
        | HeadTerm::Aggregate { .. } => None,
    }
}

/// A variable that the guard binds is computed under another name and then compared, as joins compare.
pub(super) fn compare_assigned(rule: &mut Rule, known: &HashSet<VariableId>) {
    let mut compared = Vec::new();
    for literal in &mut rule.body {
        if let Literal::Assign { variable, .. } = literal
            && known.contains(variable)
        {
            let original = *variable;
            *variable = VariableId::new(rule.variables.len());
            rule.variables.push(rule.variables[original.index()].clone());
            compared.push(Literal::Filter {
                operator: Test::Same,
                left: Expression::Variable(original),
                right: Expression::Variable(*variable),
            });
        }
    }
    rule.body.extend(compared);
}

/// One more variable of a rule.
pub(super) fn add_variable(rule: &mut Rule, name: &str, data_type: DataType) -> VariableId {
    rule.variables.push(Variable { name: name.to_owned(), data_type });
    VariableId::new(rule.variables.len() - 1)
}

/// The rule for those of its rows that a relation has, by some columns of its head.
pub(super) fn guarded(mut rule: Rule, relation: RelationId, columns: &[usize], types: &[DataType]) -> Rule {
    let mut arguments = Vec::with_capacity(columns.len());
    for column in columns {
        let argument = head_argument(&rule.head_terms[*column]).unwrap_or_else(|| {
            let asked = add_variable(&mut rule, "?asked", types[*column]);
            if let HeadTerm::Expression(expression) = &rule.head_terms[*column] {
                rule.body.push(Literal::Filter {
                    operator: Test::Same,
                    left: Expression::Variable(asked),
                    right: expression.clone(),
                });
            }
            Argument::Variable(asked)
        });
        arguments.push(argument);
    }
    let guard = guard(relation, arguments);
    compare_assigned(&mut rule, &guard.variables().collect());
    rule.body.insert(0, Literal::Atom(guard));
    rule
}
