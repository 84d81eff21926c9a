//! The question for all rows of a relation.

use crate::catalog::{Catalog, clause_names};
use crate::syntax::ast::{Atom, Name, Query, QueryHead, Term, TermKind};

/// The query for all columns of a derived relation.
pub(crate) fn all_of(name: &Name, catalog: &Catalog) -> Query {
    let head = catalog.rules(&name.text).first().map_or(&[][..], |clause| &clause.head.terms);
    let arity = catalog.arity(&name.text).unwrap_or(0);
    let terms = clause_names(head, arity).into_iter();
    let terms = terms.map(|variable| Term { kind: TermKind::Variable(variable), span: name.span }).collect();
    let atom = Atom { relation: name.clone(), terms, span: name.span };
    Query { head: QueryHead::Goal { atom, order: vec![None; arity] }, body: Vec::new(), limit: None }
}
