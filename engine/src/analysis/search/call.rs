//! A search with its arguments taken apart, and the rows that it looks at.

use std::sync::Arc;

use super::{SearchFault, unknown};
use crate::analysis::expressions::type_of;
use crate::analysis::types::{clash, fit};
use crate::catalog::{Catalog, SearchKind};
use crate::data::{DataType, Metric, Value};
use crate::diagnostic::Span;
use crate::functions::score::SCORE;
use crate::index::{Index, Measure};
use crate::syntax::ast::{Arithmetic, Atom, Comparison, Literal, LiteralKind, Name, Term, TermKind};

/// What is found where it has no name: no variable is called so.
const NAMELESS_ID: &str = "?id";
const NAMELESS_MEASURE: &str = "?measure";

/// A search with its arguments taken apart.
pub(super) struct Call {
    pub(super) kind: SearchKind,
    pub(super) index: Arc<Index>,
    pub(super) by: Measure,
    data_type: DataType,
    arity: usize,
    /// The variables for each of whose values there is a search, beside those of the query.
    pub(super) each: Vec<Term>,
    pub(super) query: Term,
    pub(super) count: Term,
    pub(super) id: Term,
    /// How far a row is, or how well it answers.
    pub(super) measure: Term,
    /// Which of those that are found it is, if that is asked.
    pub(super) rank: Option<Term>,
    pub(super) ef: Option<usize>,
}

impl Call {
    /// Takes a search apart that stands in this body.
    pub(super) fn of(
        kind: SearchKind,
        atom: &Atom,
        body: &[Literal],
        catalog: &Catalog,
    ) -> Result<Call, (SearchFault, Span)> {
        let argument = |term: &Term, expected| {
            (SearchFault::Argument { expected, found: term.to_string(), search: kind }, term.span)
        };
        let each = each(atom);
        if each.is_empty() && atom.relation.text.eq_ignore_ascii_case(kind.each_name()) {
            return Err((SearchFault::Each { search: kind }, atom.span));
        }
        let miscounted = || (SearchFault::Arguments { found: atom.terms.len(), search: kind }, atom.span);
        let [index, query, count, id, measure, more @ ..] = &atom.terms[each.len()..] else {
            return Err(miscounted());
        };
        // A number is one of candidates, anything else the rank.
        let is_number = |term: &Term| matches!(term.kind, TermKind::Constant(Value::Int(_)));
        let (ef, rank) = match (kind, more) {
            (_, []) => (None, None),
            (SearchKind::Nearest, [ef]) if is_number(ef) => (Some(ef), None),
            (SearchKind::Nearest, [ef, rank]) => (Some(ef), Some(rank)),
            (_, [rank]) => (None, Some(rank)),
            _ => return Err(miscounted()),
        };
        let found: Vec<&Term> = [id, measure].into_iter().chain(rank).collect();
        if let Some(of_found) = each.iter().find(|term| found.iter().any(|found| found.kind == term.kind)) {
            return Err(argument(of_found, "a variable of other rows than those that are found"));
        }
        let TermKind::Constant(Value::Text(name)) = &index.kind else {
            return Err(argument(index, "the name of an index, as a string"));
        };
        let indexed = Indexed::named(name, kind, catalog).map_err(|fault| (fault, index.span))?;
        let Indexed { index, by, arity, data_type } = indexed;
        let is_count = |term: &Term| match term.kind {
            TermKind::Constant(Value::Int(n)) => u32::try_from(n).is_ok_and(|n| n >= 1),
            _ => false,
        };
        for term in [count].into_iter().chain(ef) {
            if !is_count(term) {
                return Err(argument(term, "a number of rows, from 1"));
            }
        }
        for (place, term) in found.iter().enumerate() {
            match term.kind {
                TermKind::Variable(_) if found[..place].iter().all(|other| other.kind != term.kind) => {}
                TermKind::Variable(_) => return Err(argument(term, "another variable for what is told")),
                TermKind::Placeholder => {}
                _ => return Err(argument(term, "a variable for what is found")),
            }
        }
        let mistyped = |found| {
            let index = index.definition.name.clone();
            (SearchFault::Query { index, expected: data_type, found }, query.span)
        };
        let mut query = query.clone();
        match &mut query.kind {
            TermKind::Constant(value) => {
                let fitted = fit(value.clone(), data_type).filter(|value| *value != Value::Null);
                *value = fitted.ok_or_else(|| mistyped(type_of(value)))?;
            }
            TermKind::Variable(name) => {
                if let Some(found) = declared_type(name, body, catalog)
                    && (clash(found, data_type) || !found.overlaps(data_type))
                {
                    return Err(mistyped(found));
                }
            }
            TermKind::Placeholder => return Err(argument(&query, "something to look for")),
            _ => {}
        }
        let ef = ef.and_then(|term| match term.kind {
            TermKind::Constant(Value::Int(n)) => usize::try_from(n).ok(),
            _ => None,
        });
        Ok(Call {
            kind,
            index,
            by,
            data_type,
            arity,
            each: each.to_vec(),
            query,
            count: count.clone(),
            id: id.clone(),
            measure: measure.clone(),
            rank: rank.filter(|rank| rank.kind != TermKind::Placeholder).cloned(),
            ef,
        })
    }

    /// The variables for the id and the measure.
    pub(super) fn found(&self) -> [Term; 2] {
        [named(&self.id, NAMELESS_ID), named(&self.measure, NAMELESS_MEASURE)]
    }

    /// The names of the id, and of all that is told of what is found.
    pub(super) fn outputs(&self) -> Vec<&str> {
        let name = |term, nameless| match text(term) {
            "" => nameless,
            name => name,
        };
        let measured = [name(&self.id, NAMELESS_ID), name(&self.measure, NAMELESS_MEASURE)];
        measured.into_iter().chain(self.rank.as_ref().map(text)).collect()
    }

    /// The rows of the relation with their measures.
    pub(super) fn rows(&self, id: &Term, measure: &Term, span: Span) -> Vec<Literal> {
        let term = |kind| Term { kind, span };
        let column = self.index.definition.column;
        let value = if column == 0 { id.clone() } else { variable(self.value_name(), span) };
        let mut terms = vec![term(TermKind::Placeholder); self.arity];
        terms[column] = value.clone();
        terms[0] = id.clone();
        let relation = Name { text: self.index.definition.relation.clone(), span };
        let call = |function: &str, arguments| {
            term(TermKind::Call { function: Name { text: function.to_owned(), span }, arguments })
        };
        let equal = |left, right| Literal {
            kind: LiteralKind::Comparison { operator: Comparison::Equal, left, right },
            span,
        };
        let measured = call(self.function(), vec![value.clone(), self.query.clone()]);
        let is_dot = matches!(self.by, Measure::Distance(Metric::Dot));
        let measured = if is_dot {
            // What is similar has a large product, and what is near a small distance.
            let zero = Box::new(term(TermKind::Constant(Value::Int(0))));
            term(TermKind::Arithmetic {
                operator: Arithmetic::Subtract,
                left: zero,
                right: Box::new(measured),
            })
        } else {
            measured
        };
        let mut literals = vec![
            Literal { kind: LiteralKind::Positive(Atom { relation, terms, span }), span },
            equal(measure.clone(), measured),
        ];
        if is_dot && self.data_type == DataType::Vector(None) {
            // The product of vectors of different lengths is zero, which is no distance.
            let length = |vector: &Term| call("vec_dim", vec![vector.clone()]);
            literals.push(equal(length(&value), length(&self.query)));
        }
        literals
    }

    /// The variable of what is measured.
    fn value_name(&self) -> &'static str {
        match self.by {
            Measure::Distance(_) => "?vector",
            Measure::Score(_) => "?text",
        }
    }

    /// The function that measures it.
    fn function(&self) -> &'static str {
        let (floats, bytes) = match self.by {
            Measure::Distance(Metric::Cosine) => ("cosine", "cosine_int8"),
            Measure::Distance(Metric::Euclidean) => ("euclidean", "euclidean_int8"),
            Measure::Distance(Metric::Dot) => ("dot", "dot_int8"),
            Measure::Distance(Metric::Manhattan) => ("manhattan", "manhattan_int8"),
            Measure::Score(_) => (SCORE, SCORE),
        };
        if matches!(self.data_type, DataType::VectorInt8(_)) { bytes } else { floats }
    }
}

/// What a search looks at.
struct Indexed {
    index: Arc<Index>,
    by: Measure,
    /// The number of columns of the relation, and the type of the one that is indexed.
    arity: usize,
    data_type: DataType,
}

impl Indexed {
    /// The index of this name, if it is one for the search and its column is still there.
    fn named(name: &str, kind: SearchKind, catalog: &Catalog) -> Result<Indexed, SearchFault> {
        let index = catalog.index(name).ok_or_else(|| unknown(name, catalog))?;
        let definition = &index.definition;
        let by = match (kind, definition.kind.measure()) {
            (SearchKind::Nearest, Some(by @ Measure::Distance(_)))
            | (SearchKind::Text, Some(by @ Measure::Score(_))) => by,
            (search, _) => {
                let (index, kind) = (name.to_owned(), definition.kind.name());
                return Err(SearchFault::OtherIndex { index, kind, search });
            }
        };
        let lost = || SearchFault::LostColumn { index: name.to_owned(), search: kind };
        let relation = catalog.relation(&definition.relation).ok_or_else(lost)?;
        let column = relation.schema.as_ref().and_then(|schema| schema.columns.get(definition.column));
        let data_type = column.map(|column| column.data_type).ok_or_else(lost)?;
        if !definition.kind.takes(data_type) {
            return Err(lost());
        }
        Ok(Indexed { index: Arc::clone(index), by, arity: relation.arity, data_type })
    }
}

/// The variables for each of whose values there is a search: those before the index.
pub(super) fn each(atom: &Atom) -> &[Term] {
    let is_each = |kind: &SearchKind| atom.relation.text.eq_ignore_ascii_case(kind.each_name());
    if !SearchKind::ALL.iter().any(is_each) {
        return &[];
    }
    let is_variable = |term: &Term| matches!(term.kind, TermKind::Variable(_));
    let end = atom.terms.iter().position(|term| !is_variable(term)).unwrap_or(atom.terms.len());
    &atom.terms[..end]
}

pub(super) fn variable(name: &str, span: Span) -> Term {
    Term { kind: TermKind::Variable(name.to_owned()), span }
}

/// The variable itself, or one of this name for a placeholder.
fn named(term: &Term, name: &str) -> Term {
    match term.kind {
        TermKind::Placeholder => variable(name, term.span),
        _ => term.clone(),
    }
}

/// The name of a variable.
pub(super) fn text(term: &Term) -> &str {
    match &term.kind {
        TermKind::Variable(name) => name,
        _ => "",
    }
}

/// The declared type of a variable of a body.
fn declared_type(name: &str, body: &[Literal], catalog: &Catalog) -> Option<DataType> {
    body.iter().find_map(|literal| {
        let LiteralKind::Positive(atom) = &literal.kind else { return None };
        let schema = catalog.relation(&atom.relation.text)?.schema.as_ref()?;
        let is_it = |term: &Term| matches!(&term.kind, TermKind::Variable(other) if other == name);
        let column = atom.terms.iter().position(is_it)?;
        schema.columns.get(column).map(|column| column.data_type)
    })
}
