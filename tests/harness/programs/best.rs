//! Best values by recursion: shortest, longest and widest ways, and the smallest or largest name of a component.

use super::base;
use super::draft::Draft;
use super::expression::Choices;
use crate::functions::function;
use crate::model::{Aggregate, Arithmetic, Atom, Comparison, Expression, HeadTerm, Literal, Rule, Term};
use crate::value::Value;

const NAME: &str = "m0";

/// The relation of best values with its arity, if there is one.
pub(super) fn relation(draft: &Draft) -> Option<(String, usize)> {
    rules(draft).first().map(|rule| (rule.head.clone(), rule.terms.len()))
}

/// Its rules. Values along a way only get worse, so that every way need be walked but once.
pub(super) fn rules(draft: &Draft) -> Vec<Rule> {
    let Some(numbers) = &draft.best else { return Vec::new() };
    let choices = &mut Choices(numbers.iter());
    let kind = choices.below(4);
    let weighted = kind > 0;
    let columns = if weighted { 3 } else { 2 };
    let wide: Vec<usize> =
        (0..draft.base_arities.len()).filter(|i| draft.base_arities[*i] >= columns).collect();
    if wide.is_empty() {
        return Vec::new();
    }
    let from = wide[choices.below(wide.len())];
    let smallest = choices.below(2) == 0;
    let aggregate = if smallest { Aggregate::Min } else { Aggregate::Max };
    let step = |names: &[&str]| {
        let blanks = std::iter::repeat_n("_", draft.base_arities[from] - columns);
        atom(&base(from), &names.iter().copied().chain(blanks).collect::<Vec<_>>())
    };
    let rule = |terms: &[&str], value: &str, body| Rule {
        head: NAME.to_owned(),
        terms: terms
            .iter()
            .map(|name| HeadTerm::Expression(variable(name)))
            .chain([HeadTerm::Aggregate(aggregate, value.to_owned())])
            .collect(),
        body,
    };
    if !weighted {
        return vec![
            rule(&["X"], "Y", vec![step(&["X", "Y"])]),
            rule(&["Y"], "L", vec![atom(NAME, &["X", "L"]), step(&["X", "Y"])]),
        ];
    }
    if kind == 3 {
        // Of all weights one kind of numbers is made: the smaller of an integer and a float may be either.
        let float = |made, of| equal(made, call("to_float", vec![variable(of)]));
        let bound = ["min_val", "max_val"][choices.below(2)];
        let bounded = equal("D", call(bound, vec![variable("A"), variable("C")]));
        let on = vec![atom(NAME, &["X", "Y", "A"]), step(&["Y", "Z", "B"]), float("C", "B"), bounded];
        let begin = vec![step(&["X", "Y", "V"]), float("W", "V")];
        return vec![rule(&["X", "Y"], "W", begin), rule(&["X", "Z"], "D", on)];
    }
    let not_negative = |name| Literal::Comparison(variable(name), Comparison::GreaterOrEqual, constant(0));
    let operator = if smallest { Arithmetic::Add } else { Arithmetic::Subtract };
    let sum = Expression::Arithmetic(Box::new(variable("A")), operator, Box::new(variable("B")));
    let on = vec![atom(NAME, &["X", "Y", "A"]), step(&["Y", "Z", "B"]), equal("D", sum), not_negative("B")];
    vec![rule(&["X", "Y"], "W", vec![step(&["X", "Y", "W"]), not_negative("W")]), rule(&["X", "Z"], "D", on)]
}

fn atom(relation: &str, names: &[&str]) -> Literal {
    let term = |name: &&str| match *name {
        "_" => Term::Placeholder,
        name => Term::Variable(name.to_owned()),
    };
    Literal::Atom(Atom { relation: relation.to_owned(), terms: names.iter().map(term).collect() })
}

fn equal(name: &str, expression: Expression) -> Literal {
    Literal::Comparison(variable(name), Comparison::Equal, expression)
}

fn call(name: &str, arguments: Vec<Expression>) -> Expression {
    Expression::Call(function(name), arguments)
}

fn variable(name: &str) -> Expression {
    Expression::Variable(name.to_owned())
}

fn constant(n: i64) -> Expression {
    Expression::Constant(Value::Int(n))
}
