//! Types: what a declared column accepts, which comparisons make no sense, and the type of every column and variable.
//!
//! Only declarations and literals are grounds for an error. What columns hold at the moment is used to plan, never to
//! refuse: it may change with the next insert.

use std::collections::VecDeque;
use std::sync::Arc;

use super::error::AnalysisError;
use super::expressions::{aggregate_type, arithmetic_type, expression_type, membership_of, type_of};
use super::program::{Argument, Expression, HeadTerm, Literal, Relation, Rule};
use super::resolve::Clause;
use super::times;
use crate::catalog::Catalog;
use crate::data::{DataType, Value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::functions::lists::{elements, is_each};
use crate::functions::{ScalarFunction, Takes};
use crate::syntax::ast::Comparison;

/// The value as a column of the declared type stores it, or nothing if it does not belong there.
///
/// Integers become floats or timestamps where these are declared, text that is a time a timestamp, and vectors lists of
/// floats. Null belongs everywhere.
pub fn fit(value: Value, declared: DataType) -> Option<Value> {
    let length_fits = |length: usize, declared: Option<u32>| declared.is_none_or(|n| n as usize == length);
    match (declared, value) {
        (_, Value::Null) => Some(Value::Null),
        (DataType::Any | DataType::Unknown, value) => Some(value),
        (DataType::Int, value @ Value::Int(_))
        | (DataType::Float, value @ Value::Float(_))
        | (DataType::Text, value @ Value::Text(_))
        | (DataType::Bool, value @ Value::Bool(_))
        | (DataType::Timestamp, value @ Value::Timestamp(_)) => Some(value),
        (DataType::List, value @ Value::List(_)) => Some(value),
        (DataType::List, Value::Vector(elements)) => {
            elements.iter().map(|x| whole(*x)).collect::<Option<_>>().map(Value::List)
        }
        (DataType::List, value @ Value::VectorInt8(_)) => {
            elements(value.as_ref()).map(|elements| Value::List(elements.into_owned().into()))
        }
        (DataType::Float, Value::Int(n)) => Some(Value::Float(n as f64)),
        (DataType::Timestamp, Value::Int(n)) => Some(Value::Timestamp(n)),
        (DataType::Timestamp, value @ Value::Text(_)) => times::time_of(&value),
        (DataType::Vector(length), Value::Vector(elements)) if length_fits(elements.len(), length) => {
            Some(Value::Vector(elements))
        }
        (DataType::Vector(length), Value::VectorInt8(elements)) if length_fits(elements.len(), length) => {
            Some(Value::Vector(elements.iter().map(|x| f32::from(*x)).collect()))
        }
        (DataType::VectorInt8(length), Value::VectorInt8(elements))
            if length_fits(elements.len(), length) =>
        {
            Some(Value::VectorInt8(elements))
        }
        (DataType::VectorInt8(length), Value::Vector(elements)) if length_fits(elements.len(), length) => {
            elements.iter().map(|x| whole_byte(*x)).collect::<Option<Arc<[i8]>>>().map(Value::VectorInt8)
        }
        _ => None,
    }
}

/// The integer that an element of a vector was written as; none where it may have been rounded.
fn whole(x: f32) -> Option<Value> {
    const EXACT: f32 = 16_777_216.0;
    (x.fract() == 0.0 && x.abs() < EXACT).then_some(Value::Int(x as i64))
}

/// A literal of a quantised vector is written with whole numbers.
fn whole_byte(x: f32) -> Option<i8> {
    let byte = x as i8;
    (f32::from(byte) == x).then_some(byte)
}

/// Whether a column of this declared type may hold a value equal to the constant.
pub(super) fn may_hold(declared: DataType, value: &Value) -> bool {
    match (declared, value) {
        (DataType::Int | DataType::Timestamp, Value::Float(x)) => x.fract() == 0.0,
        (DataType::Timestamp, value @ Value::Text(_)) => times::time_of(value).is_some(),
        (declared, value) => !clash(declared, type_of(value)),
    }
}

/// Whether values of the two types can be neither equal nor compared as numbers.
pub(super) fn clash(a: DataType, b: DataType) -> bool {
    let numbers = a.may_be_number() && b.may_be_number();
    !numbers && !a.overlaps(b)
}

/// What a declaration says of a variable.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    pub(super) data_type: DataType,
    /// `relation.column`
    pub(super) column: String,
    pub(super) span: Span,
}

impl Declared {
    /// The declaration of a column, if there is one that says something.
    pub(super) fn of(
        catalog: &Catalog,
        relation: &str,
        column: usize,
        arity: usize,
        span: Span,
    ) -> Option<Declared> {
        let schema = catalog.relation(relation)?.schema.as_ref().filter(|schema| schema.arity() == arity)?;
        let column = schema.columns.get(column)?;
        match column.data_type {
            DataType::Any | DataType::Unknown => None,
            data_type => Some(Declared { data_type, column: format!("{relation}.{}", column.name), span }),
        }
    }
}

/// What a clause looks like from here: the places of its literals, and for each head column its place and declaration.
pub(super) struct Places<'p> {
    pub(super) literals: &'p [Span],
    pub(super) head: &'p [(Span, Option<Declared>)],
}

/// Comparisons, arithmetic and head columns that cannot make sense, judged by declarations and literals alone. Text beside
/// times is read before.
pub(super) fn check(
    rule: &mut Rule,
    assignments: &[usize],
    places: &Places<'_>,
    declared: &[Option<Declared>],
) -> Vec<AnalysisError> {
    let certain = Certain { types: certain_types(rule, assignments, declared), declared };
    let mut errors = Vec::new();
    let type_of = |expression: &_| certain_type(expression, &certain, Span::default(), &mut Vec::new());
    times::read_filters(&mut rule.body, type_of, &mut Vec::new());
    for (literal, span) in rule.body.iter().zip(places.literals) {
        match literal {
            Literal::Filter { operator, left, right } => {
                let left = certain_type(left, &certain, *span, &mut errors);
                let right = certain_type(right, &certain, *span, &mut errors);
                let operator = operator.comparison();
                if incomparable(operator, left, right) {
                    errors.push(AnalysisError::Comparison { operator, left, right, span: *span });
                }
            }
            Literal::Assign { expression, .. } => {
                certain_type(expression, &certain, *span, &mut errors);
            }
            Literal::Atom(_) | Literal::Negated(_) => {}
        }
    }
    for (term, (span, column)) in rule.head_terms.iter().zip(places.head) {
        let found = match term {
            HeadTerm::Expression(expression) => certain_type(expression, &certain, *span, &mut errors),
            HeadTerm::Aggregate { function, argument, .. } => {
                aggregate_type(*function, certain.types[argument.index()].unwrap_or(DataType::Unknown))
            }
        };
        if let Some(column) = column
            && clash(column.data_type, found)
        {
            errors.push(AnalysisError::Head {
                column: column.column.clone(),
                expected: column.data_type,
                found,
                span: *span,
            });
        }
    }
    errors
}

/// What is certain of variables.
struct Certain<'d> {
    /// By declarations, literals and what is computed of them.
    types: Vec<Option<DataType>>,
    /// By declarations alone.
    declared: &'d [Option<Declared>],
}

/// The types that declarations and literals give to variables.
fn certain_types(rule: &Rule, assignments: &[usize], declared: &[Option<Declared>]) -> Vec<Option<DataType>> {
    let types =
        declared.iter().map(|declared| declared.as_ref().map(|declared| declared.data_type)).collect();
    let mut certain = Certain { types, declared };
    for position in assignments {
        if let Literal::Assign { variable, expression } = &rule.body[*position] {
            let data_type = certain_type(expression, &certain, Span::default(), &mut Vec::new());
            if data_type != DataType::Unknown {
                certain.types[variable.index()] = Some(data_type);
            }
        }
    }
    certain.types
}

/// The certain type of an expression, `Unknown` where there is none.
fn certain_type(
    expression: &Expression,
    certain: &Certain<'_>,
    span: Span,
    errors: &mut Vec<AnalysisError>,
) -> DataType {
    match expression {
        Expression::Variable(variable) => certain.types[variable.index()].unwrap_or(DataType::Unknown),
        Expression::Constant(value) => type_of(value),
        Expression::Arithmetic { operator, left, right } => {
            let left = certain_type(left, certain, span, errors);
            let right = certain_type(right, certain, span, errors);
            for found in [left, right] {
                if !found.may_be_number() {
                    errors.push(AnalysisError::Arithmetic { operator: *operator, found, span });
                    return DataType::Unknown;
                }
            }
            match (left, right) {
                (DataType::Unknown | DataType::Any, _) | (_, DataType::Unknown | DataType::Any) => {
                    DataType::Unknown
                }
                (left, right) => arithmetic_type(*operator, left, right),
            }
        }
        Expression::Call { function, arguments } => {
            let types: Vec<DataType> =
                arguments.iter().map(|argument| certain_type(argument, certain, span, errors)).collect();
            errors.extend(arguments.iter().zip(&types).enumerate().filter_map(
                |(position, (argument, found))| {
                    misfit(function, position, argument, certain.declared, span)
                        .or_else(|| no_list(function, position, *found, span))
                },
            ));
            if let Some((element, sought)) = never_among(function, arguments, &types) {
                let operator = Comparison::Equal;
                errors.push(AnalysisError::Comparison { operator, left: sought, right: element, span });
            }
            match function.result_type(&types) {
                DataType::Any => of_elements(function, arguments).unwrap_or(DataType::Unknown),
                data_type => data_type,
            }
        }
    }
}

/// An argument that is a declared column of another type than the function takes. Other arguments just give null.
fn misfit(
    function: &ScalarFunction,
    position: usize,
    argument: &Expression,
    declared: &[Option<Declared>],
    span: Span,
) -> Option<AnalysisError> {
    let Expression::Variable(variable) = argument else { return None };
    let column = declared[variable.index()].as_ref()?;
    let parameter = function.parameter(position)?;
    if parameter.takes.accepts(column.data_type) {
        return None;
    }
    Some(AnalysisError::FunctionArgument {
        function: function.name,
        parameter: parameter.name,
        expected: parameter.takes,
        column: column.column.clone(),
        found: column.data_type,
        span,
    })
}

/// An argument that is certainly none of the lists that the function takes: it would have no elements, without a word.
fn no_list(function: &ScalarFunction, position: usize, found: DataType, span: Span) -> Option<AnalysisError> {
    let takes = function.parameter(position)?.takes;
    let function = if is_each(function) { "in" } else { function.name };
    (takes == Takes::List && !takes.accepts(found)).then_some(AnalysisError::NoList { function, found, span })
}

/// The type of an element of a written list that can never be what is looked for in the list, and the type of that.
fn never_among(
    function: &ScalarFunction,
    arguments: &[Expression],
    types: &[DataType],
) -> Option<(DataType, DataType)> {
    let (list, sought) = membership_of(function, arguments)?;
    let sought = match sought {
        Expression::Constant(Value::Null) => return None,
        _ => *types.get(1)?,
    };
    let Expression::Constant(list) = list else { return None };
    let elements = elements(list.as_ref())?;
    let found = elements.iter().filter(|element| **element != Value::Null).map(type_of);
    found.into_iter().find(|element| clash(sought, *element)).map(|element| (element, sought))
}

/// The type of all elements of a written list, of which there is one after the other.
fn of_elements(function: &ScalarFunction, arguments: &[Expression]) -> Option<DataType> {
    let [Expression::Constant(list)] = arguments else { return None };
    let elements = elements(list.as_ref()).filter(|_| is_each(function))?;
    let types = elements.iter().filter(|element| **element != Value::Null).map(type_of);
    types.reduce(DataType::join).filter(|data_type| *data_type != DataType::Any)
}

/// What to do about columns of numbers of two types that are to hold the same value.
pub(super) const NUMBERS_THAT_JOIN: &str =
    "sets and joins are typed: use two variables and compare them as numbers, `X + 0 = Y`";

/// What to do about two types that cannot be compared.
pub(super) fn of_one_type(left: DataType, right: DataType) -> &'static str {
    let is_text = |data_type| matches!(data_type, DataType::Text);
    if left.may_be_number() && right.may_be_number() {
        return NUMBERS_THAT_JOIN;
    }
    match (is_text(left) && right.may_be_number()) || (is_text(right) && left.may_be_number()) {
        true => {
            "compare values of one type: `\"5\"` is text and `5` a number, and `to_int`, `to_float` make numbers of text"
        }
        false => "compare values of one type",
    }
}

pub(super) fn incomparable(operator: Comparison, left: DataType, right: DataType) -> bool {
    let ordered = |t: DataType| {
        !matches!(t, DataType::Bool | DataType::Vector(_) | DataType::VectorInt8(_) | DataType::List)
    };
    match operator {
        Comparison::Equal => clash(left, right),
        Comparison::NotEqual => false,
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
            clash(left, right) || !ordered(left) || !ordered(right)
        }
    }
}

/// Finds the type of every column and variable: what a derived column holds is what its clauses put there.
pub(super) fn infer(relations: &mut [Relation], clauses: &mut [Clause]) {
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); relations.len()];
    for (number, clause) in clauses.iter().enumerate() {
        for literal in &clause.rule.body {
            if let Literal::Atom(atom) = literal {
                readers[atom.relation.index()].push(number);
            }
        }
    }
    // Clauses were found from the goal downwards, so the last ones depend on least.
    let mut queue: VecDeque<usize> = (0..clauses.len()).rev().collect();
    let mut queued = vec![true; clauses.len()];
    while let Some(number) = queue.pop_front() {
        queued[number] = false;
        let clause = &mut clauses[number];
        let found = infer_clause(clause, relations);
        let head = clause.rule.head.index();
        let mut changed = false;
        for (known, found) in relations[head].column_types.iter_mut().zip(found) {
            let joined = known.join(found);
            changed |= joined != *known;
            *known = joined;
        }
        if changed {
            for reader in &readers[head] {
                if !std::mem::replace(&mut queued[*reader], true) {
                    queue.push_back(*reader);
                }
            }
        }
    }
}

/// Sets the types of a clause's variables and answers those of its head.
fn infer_clause(clause: &mut Clause, relations: &[Relation]) -> Vec<DataType> {
    let rule = &mut clause.rule;
    for variable in &mut rule.variables {
        variable.data_type = DataType::Unknown;
    }
    for literal in &rule.body {
        let Literal::Atom(atom) = literal else { continue };
        for (argument, column) in atom.arguments.iter().zip(&relations[atom.relation.index()].column_types) {
            if let Argument::Variable(variable) = argument {
                let known = &mut rule.variables[variable.index()].data_type;
                *known = narrower(*known, *column);
            }
        }
    }
    for position in &clause.bindings.assignments {
        if let Literal::Assign { variable, expression } = &rule.body[*position] {
            rule.variables[variable.index()].data_type = expression_type(expression, &rule.variables);
        }
    }
    rule.head_terms
        .iter()
        .map(|term| match term {
            HeadTerm::Expression(expression) => expression_type(expression, &rule.variables),
            HeadTerm::Aggregate { function, argument, .. } => {
                aggregate_type(*function, rule.variables[argument.index()].data_type)
            }
        })
        .collect()
}

/// What clauses derive that the declared columns of their heads do not hold, as far as the data tells: a rule is refused
/// by declarations alone. The types must have been inferred. Integers stand for floats.
pub(super) fn underivable(
    relations: &[Relation],
    clauses: &mut [Clause],
    catalog: &Catalog,
) -> Vec<Diagnostic> {
    let mut warnings: Vec<Diagnostic> = Vec::new();
    for clause in clauses {
        let Relation { name, arity, .. } = &relations[clause.rule.head.index()];
        if catalog.relation(name).is_none_or(|relation| relation.schema.is_none()) {
            continue;
        }
        for (column, found) in infer_clause(clause, relations).into_iter().enumerate() {
            let Some(declared) = Declared::of(catalog, name, column, *arity, Span::default()) else {
                continue;
            };
            if declared.data_type.overlaps(found)
                || (declared.data_type, found) == (DataType::Float, DataType::Int)
            {
                continue;
            }
            let rule = match clause.rule.text.as_str() {
                "" => "the rule".to_owned(),
                text => format!("`{text}`"),
            };
            let message = format!(
                "`{}` is declared {}, but {rule} derives {found}",
                declared.column, declared.data_type
            );
            if warnings.iter().all(|known| known.message != message) {
                warnings.push(Diagnostic::warning(Code::TypeMismatch, message).help(
                    "declare the type that is derived, or make the one that is declared, as with `to_int(X)`",
                ));
            }
        }
    }
    warnings
}

/// A variable in two columns has a value of both: the type that says more.
fn narrower(a: DataType, b: DataType) -> DataType {
    match (a, b) {
        (DataType::Unknown | DataType::Any, more) => more,
        (more, DataType::Unknown | DataType::Any) => more,
        (DataType::Vector(None), more @ DataType::Vector(_)) => more,
        (a, _) => a,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_what_is_declared_or_do_not_belong() {
        assert_eq!(fit(Value::Int(5), DataType::Float), Some(Value::Float(5.0)));
        assert_eq!(fit(Value::Int(5), DataType::Timestamp), Some(Value::Timestamp(5)));
        assert_eq!(fit(Value::Int(5), DataType::Any), Some(Value::Int(5)));
        assert_eq!(fit(Value::Float(5.0), DataType::Int), None);
        assert_eq!(fit(Value::text("5"), DataType::Int), None);
        assert_eq!(fit(Value::Null, DataType::Bool), Some(Value::Null));
        let vector = || Value::Vector([1.0, -2.0].into());
        assert_eq!(fit(vector(), DataType::Vector(None)), Some(vector()));
        assert_eq!(fit(vector(), DataType::Vector(Some(2))), Some(vector()));
        assert_eq!(fit(vector(), DataType::Vector(Some(3))), None);
        assert_eq!(fit(vector(), DataType::VectorInt8(Some(2))), Some(Value::VectorInt8([1, -2].into())));
        assert_eq!(fit(Value::Vector([0.5].into()), DataType::VectorInt8(None)), None);
    }
}
