//! Bodies that nothing satisfies, as far as their text shows: comparisons of constants, two conditions on one variable,
//! an atom and its negation.

use std::cmp::Ordering;

use foldhash::{HashMap, HashMapExt};

use super::expressions::type_of;
use super::types::{clash, incomparable, of_one_type};
use crate::data::equality::order;
use crate::data::{DataType, Value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::functions::lists::elements;
use crate::syntax::ast::{Atom, Comparison, Literal, LiteralKind, Term, TermKind};

/// Why no row can satisfy the body, if that can be read off it.
pub(super) fn never_fires(body: &[&Literal]) -> Option<Diagnostic> {
    let never = |span, message: String| {
        Diagnostic::warning(Code::NeverTrue, message)
            .at(span)
            .help("nothing can be derived here: correct the condition, or drop it")
    };
    for literal in body {
        let LiteralKind::Comparison { operator, left, right } = &literal.kind else { continue };
        let impossible = match (&left.kind, &right.kind) {
            (TermKind::Constant(left), TermKind::Constant(right)) => {
                order(left.as_ref(), right.as_ref()).is_some_and(|order| !operator.holds(order))
            }
            (TermKind::Variable(left), TermKind::Variable(right)) => {
                left == right && !operator.holds(Ordering::Equal)
            }
            _ => false,
        };
        if impossible {
            return Some(never(literal.span, format!("`{literal}` is never true")));
        }
    }
    let mut known: HashMap<&str, Vec<(Comparison, &Value, Span)>> = HashMap::new();
    for literal in body {
        let Some((name, operator, value)) = bound(literal) else { continue };
        let others = known.entry(name).or_default();
        // What contradicts something contradicts one of the first few.
        for (other, limit, span) in others.iter().take(16) {
            if contradict((*other, limit), (operator, value)) {
                let message = format!("`{literal}` contradicts another condition on `{name}`");
                return Some(never(literal.span, message).label(*span, "this one"));
            }
        }
        others.push((operator, value, literal.span));
    }
    let mut positive: HashMap<String, Span> = HashMap::new();
    for literal in body {
        if let LiteralKind::Positive(atom) = &literal.kind {
            positive.insert(atom.to_string(), atom.span);
        }
    }
    for literal in body {
        if let LiteralKind::Negative(atom) = &literal.kind
            && !atom.terms.iter().any(|term| matches!(term.kind, TermKind::Placeholder))
            && let Some(span) = positive.get(&atom.to_string())
        {
            let message = format!("`{literal}` contradicts `{atom}`");
            return Some(never(literal.span, message).label(*span, "required here"));
        }
    }
    None
}

/// Where a column's values are all of a type that something else is not of: a constant in its place, the value that it is
/// compared with, or another column that is to hold the same. What is declared is an error before it comes here; what is
/// only stored may change, so the warning says that it is about the values that are there.
pub(super) fn of_other_types<'t>(
    atoms: &[&Atom],
    body: &[&Literal],
    types: impl Fn(&str) -> Option<&'t [DataType]>,
) -> Option<Diagnostic> {
    let mut columns: HashMap<&str, Column<'_>> = HashMap::new();
    for atom in atoms {
        let Some(types) = types(&atom.relation.text).filter(|types| types.len() == atom.terms.len()) else {
            continue;
        };
        for (number, (term, data_type)) in atom.terms.iter().zip(types).enumerate() {
            let column =
                Column { relation: &atom.relation.text, number, data_type: *data_type, span: atom.span };
            match &term.kind {
                TermKind::Constant(value)
                    if clash(*data_type, type_of(value)) && !is_read_as_time(*data_type, value) =>
                {
                    return Some(column.never(term.span, &term.to_string(), type_of(value)));
                }
                TermKind::Variable(name) => {
                    let known = columns.entry(name.as_str()).or_insert_with(|| column.clone());
                    // Joins are typed.
                    if !known.data_type.overlaps(*data_type) {
                        return Some(known.never(atom.span, &atom.to_string(), *data_type));
                    }
                }
                _ => {}
            }
        }
    }
    body.iter().find_map(|literal| {
        if let Some((list, sought)) = membership(literal) {
            let column = columns.get(sought)?;
            let all = elements(list.as_ref())?;
            let element = all.iter().find(|element| {
                **element != Value::Null
                    && clash(column.data_type, type_of(element))
                    && !is_read_as_time(column.data_type, element)
            })?;
            return Some(column.never(literal.span, &format!("{sought} = {element}"), type_of(element)));
        }
        let LiteralKind::Comparison { operator, left, right } = &literal.kind else { return None };
        let of = |term: &Term, other: &Term| match &term.kind {
            TermKind::Constant(value) => match &other.kind {
                TermKind::Variable(name)
                    if columns
                        .get(name.as_str())
                        .is_some_and(|column| is_read_as_time(column.data_type, value)) =>
                {
                    None
                }
                _ => Some((type_of(value), None)),
            },
            TermKind::Variable(name) => {
                columns.get(name.as_str()).map(|column| (column.data_type, Some(column)))
            }
            _ => None,
        };
        let ((left, of_left), (right, of_right)) = (of(left, right)?, of(right, left)?);
        let is_join = of_left.is_some() && of_right.is_some() && *operator == Comparison::Equal;
        let (column, other) = match (of_left, of_right) {
            (Some(column), _) => (column, right),
            (None, Some(column)) => (column, left),
            (None, None) => return None,
        };
        let is_never = incomparable(*operator, left, right) || (is_join && !left.overlaps(right));
        is_never.then(|| column.never(literal.span, &literal.to_string(), other))
    })
}

/// A written list, and the variable that is to be an element of it.
fn membership(literal: &Literal) -> Option<(&Value, &str)> {
    let (list, sought) = match &literal.kind {
        LiteralKind::Comparison { operator: Comparison::Equal, left, right } => {
            match (&left.kind, &right.kind) {
                (TermKind::Variable(_), TermKind::Call { function, arguments })
                    if function.text == "each" =>
                {
                    (arguments.first()?, left)
                }
                _ => return None,
            }
        }
        LiteralKind::Positive(atom) if matches!(atom.relation.text.as_str(), "has" | "contains") => {
            match atom.terms.as_slice() {
                [list, sought] => (list, sought),
                _ => return None,
            }
        }
        _ => return None,
    };
    match (&list.kind, &sought.kind) {
        (TermKind::Constant(list), TermKind::Variable(name)) => Some((list, name)),
        _ => None,
    }
}

/// Whether a constant is text beside times: `times` reads it, and tells if it is none.
fn is_read_as_time(beside: DataType, value: &Value) -> bool {
    beside == DataType::Timestamp && matches!(value, Value::Text(_))
}

/// A column, and the type of all values in it.
#[derive(Clone)]
struct Column<'l> {
    relation: &'l str,
    number: usize,
    data_type: DataType,
    span: Span,
}

impl Column<'_> {
    fn never(&self, at: Span, what: &str, other: DataType) -> Diagnostic {
        let (number, relation, found) = (self.number + 1, self.relation, self.data_type);
        let message = format!(
            "`{what}` is never true: column {number} of `{relation}` has values of type {found} only"
        );
        let warning = Diagnostic::warning(Code::NeverTrue, message).at(at).help(of_one_type(found, other));
        if at == self.span { warning } else { warning.label(self.span, format!("of type {found} here")) }
    }
}

/// Variables that equal a constant.
pub(super) fn constants<'l>(body: &[&'l Literal]) -> Vec<(&'l str, Comparison, &'l Value)> {
    let bounds = body.iter().filter_map(|literal| bound(literal));
    bounds.filter(|(_, operator, _)| *operator == Comparison::Equal).collect()
}

/// A comparison of a variable with a constant, the variable on the left.
fn bound(literal: &Literal) -> Option<(&str, Comparison, &Value)> {
    let LiteralKind::Comparison { operator, left, right } = &literal.kind else { return None };
    match (&left.kind, &right.kind) {
        (TermKind::Variable(name), TermKind::Constant(value)) => Some((name, *operator, value)),
        (TermKind::Constant(value), TermKind::Variable(name)) => Some((name, operator.turned(), value)),
        _ => None,
    }
}

/// Whether no value satisfies both: one is tried on each side of the two constants and on them.
fn contradict(a: (Comparison, &Value), b: (Comparison, &Value)) -> bool {
    let Some(between) = order(a.1.as_ref(), b.1.as_ref()) else { return false };
    // How a value may stand to the first constant and to the second, given how these stand to each other.
    use Ordering::{Equal, Greater, Less};
    let places: &[(Ordering, Ordering)] = match between {
        Equal => &[(Less, Less), (Equal, Equal), (Greater, Greater)],
        Less => &[(Less, Less), (Equal, Less), (Greater, Less), (Greater, Equal), (Greater, Greater)],
        Greater => &[(Less, Less), (Less, Equal), (Less, Greater), (Equal, Greater), (Greater, Greater)],
    };
    !places.iter().any(|(first, second)| a.0.holds(*first) && b.0.holds(*second))
}
