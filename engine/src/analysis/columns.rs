//! The columns of an answer: their names, their order, and what is declared of them.

use foldhash::{HashSet, HashSetExt};

use super::program::{self, Program};
use crate::aggregates::Aggregate;
use crate::catalog::{Catalog, default_column_names};
use crate::data::{DataType, Value};
use crate::syntax::ast::{Direction, ProjectionItem, Term, TermKind};

/// The names of a goal's columns: those of its schema if it has just as many, else what stands in them.
pub(super) fn goal_columns(
    relation: &str,
    terms: &[Term],
    further: Vec<String>,
    catalog: &Catalog,
) -> Vec<String> {
    let schema = catalog.relation(relation).and_then(|definition| definition.schema.as_ref());
    match schema {
        Some(schema) if schema.arity() == terms.len() + further.len() => {
            schema.columns.iter().map(|column| column.name.clone()).collect()
        }
        _ => terms.iter().enumerate().map(|(i, term)| argument_column(i, term)).chain(further).collect(),
    }
}

/// The same with a name of its own for each column, as data frames want it: what is no variable is called as the column
/// of the relation where it stands.
pub(super) fn goal_names(
    relation: &str,
    terms: &[Term],
    columns: &[String],
    catalog: &Catalog,
) -> Vec<String> {
    let known = catalog.relation(relation);
    let given = match known.filter(|known| known.arity == terms.len()) {
        Some(known) => known.column_names(),
        None => default_column_names(terms.len()),
    };
    let declared = known.is_some_and(|known| known.schema.is_some()) && columns == given;
    let is_variable = |column: usize| {
        declared || terms.get(column).is_none_or(|term| matches!(term.kind, TermKind::Variable(_)))
    };
    let names = columns.iter().enumerate().map(|(column, name)| match is_variable(column) {
        true => (name.clone(), true),
        false => (given[column].clone(), false),
    });
    unique(names.collect())
}

/// The columns of a projection, each with a name of its own.
pub(super) fn projected_names(columns: &[String]) -> Vec<String> {
    unique(columns.iter().map(|name| (name.clone(), true)).collect())
}

/// Each name once: the first that has one by right keeps it, `X` is `X_2` where it stands again.
fn unique(names: Vec<(String, bool)>) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let keeps: Vec<bool> =
        names.iter().map(|(name, by_right)| *by_right && taken.insert(name.clone())).collect();
    let free = |name: String, taken: &mut HashSet<String>| {
        let mut copy = 1;
        let mut free = name.clone();
        while !taken.insert(free.clone()) {
            copy += 1;
            free = format!("{name}_{copy}");
        }
        free
    };
    names
        .into_iter()
        .zip(keeps)
        .map(|((name, _), keeps)| if keeps { name } else { free(name, &mut taken) })
        .collect()
}

fn argument_column(position: usize, term: &Term) -> String {
    match &term.kind {
        TermKind::Constant(Value::Text(text)) => text.to_string(),
        TermKind::Constant(Value::Float(x)) => x.to_string(),
        TermKind::Constant(Value::Vector(_)) => format!("_v{position}"),
        _ => term.to_string(),
    }
}

/// The names of the columns that a term of a projection makes.
pub(super) fn term_columns(term: &Term) -> Vec<String> {
    match term.ranked_columns() {
        Some(columns) => columns.iter().map(|column| expression_column(&column.term)).collect(),
        None => vec![expression_column(term)],
    }
}

/// The order of each of those columns: a ranking is ordered by the column that decides.
pub(super) fn item_orders(item: &ProjectionItem) -> Vec<Option<Direction>> {
    match item.term.ranked_columns() {
        None => vec![item.order],
        Some([_]) => vec![item.order],
        Some(columns) => columns.iter().map(|column| column.order.and(item.order)).collect(),
    }
}

/// `count_X` for an aggregate, else the expression itself.
pub(super) fn expression_column(term: &Term) -> String {
    match &term.kind {
        TermKind::Aggregate { function, arguments } => match arguments.as_slice() {
            [argument] => format!("{}_{}", function.text, argument.term),
            // The columns of a ranking have their own names.
            [argument, _] if Aggregate::named(&function.text).is_some() => {
                format!("{}_{}", function.text, argument.term)
            }
            _ => term.to_string(),
        },
        TermKind::Constant(Value::Text(text)) => text.to_string(),
        _ => term.to_string(),
    }
}

/// Which columns of the goal show what is stored in a column that is declared to hold anything.
pub(super) fn declared_any(program: &Program, catalog: &Catalog) -> Vec<bool> {
    let mut rules = program.strata.iter().flat_map(|stratum| &stratum.rules);
    let Some(rule) = rules.find(|rule| rule.head == program.goal) else { return Vec::new() };
    let is_any = |atom: &program::Atom, column: usize| {
        let known = catalog.relation(&program.relations[atom.relation.index()].name);
        let schema =
            known.and_then(|known| known.schema.as_ref()).filter(|s| s.arity() == atom.arguments.len());
        schema.is_some_and(|schema| schema.columns[column].data_type == DataType::Any)
    };
    let shows_any = |term: &program::HeadTerm| match term {
        program::HeadTerm::Expression(program::Expression::Variable(variable)) => rule.atoms().any(|atom| {
            let mut columns = atom.arguments.iter().enumerate();
            columns.any(|(column, argument)| {
                *argument == program::Argument::Variable(*variable) && is_any(atom, column)
            })
        }),
        program::HeadTerm::Expression(_) | program::HeadTerm::Aggregate { .. } => false,
    };
    rule.head_terms.iter().map(shows_any).collect()
}
