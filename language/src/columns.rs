//! What is known of the columns of relations and of the values of variables: declared, found in facts, or inferred.

use stratalog_engine::DataType;
use stratalog_engine::analysis::{analyse_body, analyse_query};
use stratalog_engine::catalog::{Catalog, clause_names};
use stratalog_engine::diagnostic::Span;
use stratalog_engine::syntax::ast::{Atom, Literal, Name, Query, QueryHead, Term, TermKind};

/// The relations of a program and those that it stands among.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'c> {
    catalog: &'c Catalog,
}

impl<'c> Columns<'c> {
    /// Of everything that a catalog has.
    pub fn new(catalog: &'c Catalog) -> Columns<'c> {
        Columns { catalog }
    }

    /// The names of all relations.
    pub fn relations(self) -> Vec<&'c str> {
        let stored = self.catalog.relations().map(|relation| relation.name.as_str());
        let mut names: Vec<&str> = stored.chain(self.catalog.derived().map(|(name, _)| name)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether rules derive it.
    pub fn is_derived(self, relation: &str) -> bool {
        !self.catalog.rules(relation).is_empty()
    }

    /// The columns of a relation with their types.
    pub fn of(self, relation: &str) -> Option<Vec<(String, DataType)>> {
        let arity = self.catalog.arity(relation)?;
        let stored = self.catalog.relation(relation);
        let Some(clause) = self.catalog.rules(relation).first() else {
            let stored = stored?;
            return Some(stored.column_names().into_iter().zip(stored.shown_types()).collect());
        };
        let names = match stored.filter(|stored| stored.schema.is_some()) {
            Some(declared) => declared.column_names(),
            None => clause_names(&clause.head.terms, arity),
        };
        let terms = (0..arity).map(|column| variable(&format!("C{column}"))).collect();
        let relation = Name { text: relation.to_owned(), span: Span::default() };
        let atom = Atom { relation, terms, span: Span::default() };
        let head = QueryHead::Goal { atom, order: vec![None; arity] };
        let query = Query { head, body: Vec::new(), limit: None };
        let types = match analyse_query(&query, self.catalog) {
            Ok(analysed) => analysed.program.relations[analysed.program.goal.index()].column_types.clone(),
            Err(_) => vec![DataType::Unknown; arity],
        };
        Some(names.into_iter().zip(types).collect())
    }

    /// `name: type, ..`
    pub fn shown(self, relation: &str) -> Option<String> {
        let columns = self.of(relation)?;
        let shown = columns.into_iter().map(|(name, data_type)| match data_type {
            DataType::Unknown => name,
            known => format!("{name}: {known}"),
        });
        Some(shown.collect::<Vec<_>>().join(", "))
    }

    /// The type of a variable that a body binds.
    pub fn of_variable(self, name: &str, body: &[Literal]) -> Option<DataType> {
        let analysed = analyse_body(&[variable(name)], body, self.catalog).ok()?;
        analysed.program.relations[analysed.program.goal.index()].column_types.first().copied()
    }
}

fn variable(name: &str) -> Term {
    Term { kind: TermKind::Variable(name.to_owned()), span: Span::default() }
}
