//! Parameters: `$name` in a program is filled with a value that came beside it. It is a value, never text. A list of
//! numbers alone is a vector, but where a function takes lists: `X in $ids` reads the numbers as they are.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregates::{Aggregate, AggregateOption};
use crate::catalog::is_search;
use crate::data::Value;
use crate::diagnostic::{Code, Diagnostic};
use crate::functions::{ScalarFunction, Takes};
use crate::syntax::ast::{
    Atom, Literal, LiteralKind, Name, Query, QueryHead, Statement, StatementKind, Term, TermKind, Tuple,
};

/// Values by the name of their parameter, without the `$`.
pub type Parameters = BTreeMap<String, Value>;

/// Puts the values in place. A parameter without a value is an error, and so is a value without a parameter.
pub(crate) fn fill(statements: &mut [Statement], parameters: &Parameters) -> Result<(), Vec<Diagnostic>> {
    let mut filler = Filler { parameters, otherwise: None, used: BTreeSet::new(), problems: Vec::new() };
    for (index, statement) in statements.iter_mut().enumerate() {
        let before = filler.problems.len();
        filler.statement(&mut statement.kind);
        filler.problems[before..].iter_mut().for_each(|problem| problem.statement = Some(index));
    }
    for name in parameters.keys().filter(|name| !filler.used.contains(name.as_str())) {
        filler.problems.push(
            Diagnostic::error(Code::InvalidParameter, format!("the program has no parameter `${name}`"))
                .help("remove it from `params`, or correct its name"),
        );
    }
    if filler.problems.is_empty() { Ok(()) } else { Err(filler.problems) }
}

/// Puts Null, which fits everywhere, in the place of every parameter.
pub(crate) fn fill_any(statements: &mut [Statement]) {
    let parameters = Parameters::new();
    let mut filler = Filler {
        parameters: &parameters,
        otherwise: Some(Value::Null),
        used: BTreeSet::new(),
        problems: Vec::new(),
    };
    statements.iter_mut().for_each(|statement| filler.statement(&mut statement.kind));
}

struct Filler<'p> {
    parameters: &'p Parameters,
    /// The value of those without one.
    otherwise: Option<Value>,
    used: BTreeSet<&'p str>,
    problems: Vec<Diagnostic>,
}

impl Filler<'_> {
    fn tuples(&mut self, tuples: &mut [Tuple]) {
        let open = tuples.iter_mut().filter(|tuple| !tuple.is_constant);
        self.terms(open.flat_map(|tuple| &mut tuple.terms));
    }

    fn statement(&mut self, kind: &mut StatementKind) {
        if let StatementKind::Command(command) = kind {
            command.changes.iter_mut().for_each(|change| self.statement(&mut change.kind));
        }
        match kind {
            StatementKind::Insert(insert) => self.tuples(&mut insert.tuples),
            StatementKind::Delete(delete) => self.tuples(&mut delete.tuples),
            StatementKind::DeleteWhere(delete) => {
                self.atom(&mut delete.target);
                self.body(&mut delete.body);
            }
            StatementKind::Update(update) => {
                update.deletes.iter_mut().chain(&mut update.inserts).for_each(|atom| self.atom(atom));
                self.body(&mut update.body);
            }
            StatementKind::Rule(rule) => {
                self.atom(&mut rule.rule.head);
                self.body(&mut rule.rule.body);
            }
            StatementKind::Query(query) => self.query(query),
            StatementKind::Command(command) => command.query.iter_mut().for_each(|query| self.query(query)),
            StatementKind::DropRule(_) | StatementKind::Declare(_) | StatementKind::DeclareType(_) => {}
        }
    }

    fn query(&mut self, query: &mut Query) {
        match &mut query.head {
            QueryHead::Goal { atom, .. } => self.atom(atom),
            QueryHead::Projection(items) => self.terms(items.iter_mut().map(|item| &mut item.term)),
        }
        self.body(&mut query.body);
    }

    /// A condition that calls a function looks the same.
    fn atom(&mut self, atom: &mut Atom) {
        if self.otherwise.is_some() && is_search(atom) {
            search_any(&mut atom.terms);
        }
        let function = ScalarFunction::named(&atom.relation.text).filter(|function| function.is_condition());
        self.arguments(function, &mut atom.terms);
    }

    fn arguments(&mut self, function: Option<&ScalarFunction>, terms: &mut [Term]) {
        for (place, term) in terms.iter_mut().enumerate() {
            let takes =
                function.and_then(|function| function.parameter(place)).map(|parameter| parameter.takes);
            match (&term.kind, takes) {
                (TermKind::Parameter(_), Some(Takes::List | Takes::TextOrList)) => self.parameter(term, true),
                _ => self.term(term),
            }
        }
    }

    fn body(&mut self, body: &mut [Literal]) {
        body.iter_mut().for_each(|literal| self.literal(literal));
    }

    fn literal(&mut self, literal: &mut Literal) {
        match &mut literal.kind {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => self.atom(atom),
            LiteralKind::Comparison { left, right, .. } => {
                self.term(left);
                self.term(right);
            }
            kind @ (LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_)) => {
                kind.nested_mut().for_each(|literal| self.literal(literal));
            }
        }
    }

    fn terms<'t>(&mut self, terms: impl Iterator<Item = &'t mut Term>) {
        terms.for_each(|term| self.term(term));
    }

    fn term(&mut self, term: &mut Term) {
        match &mut term.kind {
            TermKind::Parameter(_) => self.parameter(term, false),
            TermKind::Arithmetic { left, right, .. } => {
                self.term(left);
                self.term(right);
            }
            TermKind::Call { function, arguments } => {
                self.arguments(ScalarFunction::named(&function.text), arguments);
            }
            TermKind::Aggregate { function, arguments } => {
                for argument in arguments {
                    match argument.term.kind {
                        TermKind::Parameter(_) if self.otherwise.is_some() => {
                            argument.term.kind = TermKind::Constant(any_option(&function.text));
                        }
                        _ => self.term(&mut argument.term),
                    }
                }
            }
            TermKind::Variable(_) | TermKind::Placeholder | TermKind::Constant(_) => {}
        }
    }

    fn parameter(&mut self, term: &mut Term, takes_lists: bool) {
        let TermKind::Parameter(name) = &term.kind else { return };
        let problem = match self.parameters.get_key_value(name.as_str()) {
            Some((name, value)) => {
                self.used.insert(name);
                match if takes_lists { Ok(value.clone()) } else { vector_of_numbers(value) } {
                    Ok(value) => {
                        term.kind = TermKind::Constant(value);
                        return;
                    }
                    Err(x) => Diagnostic::error(
                        Code::InvalidParameter,
                        format!("parameter `{name}`: {x} is beyond the 32-bit floats of a vector"),
                    )
                    .at(term.span)
                    .help("give smaller numbers; where a function takes a list, they may be any"),
                }
            }
            None => match &self.otherwise {
                Some(value) => {
                    term.kind = TermKind::Constant(value.clone());
                    return;
                }
                None => {
                    Diagnostic::error(Code::InvalidParameter, format!("the parameter `${name}` has no value"))
                        .at(term.span)
                        .help("give it in `params` beside the program")
                }
            },
        };
        self.problems.push(problem);
    }
}

/// Puts a number in the place of the parameters of a search, and behind the name of the index, where what is searched for
/// stands, something of a type that nobody knows beforehand: a null would be refused.
fn search_any(terms: &mut [Term]) {
    let is_name = |term: &Term| matches!(&term.kind, TermKind::Constant(Value::Text(_)));
    let sought = terms.iter().position(is_name).map_or(0, |name| name + 1);
    for (place, Term { kind, span }) in terms.iter_mut().enumerate() {
        let constant = |value| Term { kind: TermKind::Constant(value), span: *span };
        if !matches!(kind, TermKind::Parameter(_)) {
            continue;
        }
        *kind = match place == sought {
            true => TermKind::Call {
                function: Name { text: "element".to_owned(), span: *span },
                arguments: vec![constant(Value::Null), constant(Value::Int(0))],
            },
            false => TermKind::Constant(Value::Int(1)),
        };
    }
}

/// What stands in the place of a parameter of an aggregate, of which it must be something.
fn any_option(aggregate: &str) -> Value {
    match Aggregate::named(aggregate).and_then(Aggregate::option) {
        Some(AggregateOption::Portion) => Value::Float(0.5),
        Some(AggregateOption::Separator) => Value::text(", "),
        // Rankings begin with numbers, too.
        Some(AggregateOption::Offset) | None => Value::Int(1),
    }
}

/// The vector that a list stands for which holds numbers alone, and every other value as it is. Or the number that is too
/// large.
pub(super) fn vector_of_numbers(value: &Value) -> Result<Value, String> {
    let Value::List(elements) = value else { return Ok(value.clone()) };
    let number = |element: &Value| match element {
        Value::Int(n) => Some(*n as f64),
        Value::Float(x) => Some(*x),
        _ => None,
    };
    let Some(numbers) = elements.iter().map(number).collect::<Option<Vec<f64>>>() else {
        return Ok(value.clone());
    };
    let narrow = |x: f64| if (x as f32).is_finite() { Ok(x as f32) } else { Err(format!("{x:?}")) };
    Ok(Value::Vector(numbers.into_iter().map(narrow).collect::<Result<_, _>>()?))
}
