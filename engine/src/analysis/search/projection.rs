//! A search as the goal of a query: what its columns are, and in which order its rows come.

use super::call::{each, variable};
use super::is_search;
use crate::analysis::variables::{for_each_variable, further_variables};
use crate::catalog::{Catalog, SearchKind};
use crate::syntax::ast::{Direction, Literal, LiteralKind, ProjectionItem, Query, QueryHead, Term, TermKind};

/// A query whose goal is a search, as one that lists its columns: for what it is, the id, the distance or score, and all
/// other variables. Without another order the best come first.
pub(in crate::analysis) fn as_projection(query: &Query, catalog: &Catalog) -> Option<Query> {
    let QueryHead::Goal { atom, order } = &query.head else { return None };
    let kind = SearchKind::of(atom).filter(|_| is_search(atom, |name| catalog.knows(name)))?;
    let best_first = match kind {
        SearchKind::Nearest => Direction::Ascending,
        SearchKind::Text => Direction::Descending,
    };
    let mut items: Vec<ProjectionItem> = Vec::new();
    let mut add = |term: &Term, order: Option<Direction>| {
        for_each_variable(term, &mut |name| {
            if items.iter().all(|item| !matches!(&item.term.kind, TermKind::Variable(known) if known == name))
            {
                items.push(ProjectionItem { term: variable(name, term.span), order });
            }
        });
    };
    let unordered = order.iter().all(Option::is_none);
    let each = each(atom).len();
    for position in (0..each).chain([each + 3, each + 4]) {
        if let Some(term) = atom.terms.get(position) {
            let best_first = (unordered && position == each + 4).then_some(best_first);
            add(term, order.get(position).copied().flatten().or(best_first));
        }
    }
    for (position, term) in atom.terms.iter().enumerate() {
        add(term, order.get(position).copied().flatten());
    }
    for name in further_variables(atom, &query.body) {
        add(&variable(&name, atom.span), None);
    }
    let search = Literal { kind: LiteralKind::Positive(atom.clone()), span: atom.span };
    let body = std::iter::once(search).chain(query.body.iter().cloned()).collect();
    Some(Query { head: QueryHead::Projection(items), body, limit: query.limit })
}
