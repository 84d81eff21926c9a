//! Names to ids: the relations of a program, and where their clauses come from.
//!
//! A [`Resolver`] starts with the goal and goes on with the clauses of every derived relation that is met, so a
//! program holds what its goal needs and nothing else. Errors and warnings are collected.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::error::AnalysisError;
use super::near::near_names;
use super::program::{Expression, HeadTerm, Relation, Rule};
use super::safety::{self, Bindings};
use crate::catalog::Catalog;
use crate::data::{DataType, RelationId};
use crate::diagnostic::{Diagnostic, Span};
use crate::functions::ScalarFunction;

/// Where a clause comes from, which decides how its faults are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The query itself: relations must be known.
    Query,
    /// A rule that is about to be registered: relations may come later.
    NewRule,
    /// A registered rule: its places belong to another text.
    Catalog,
}

/// What a clause is, apart from its terms.
pub(super) struct Source {
    pub(super) head: RelationId,
    pub(super) origin: Origin,
    /// Canonical text.
    pub(super) text: String,
    /// Its place.
    pub(super) span: Span,
}

/// A resolved clause, with what later stages need to know.
#[derive(Debug)]
pub(super) struct Clause {
    pub(super) rule: Rule,
    /// What binds its variables.
    pub(super) bindings: Bindings,
    /// So many head terms repeat the arguments of the first literal: constants there take its values.
    pub(super) goal_arguments: usize,
}

impl Clause {
    /// Whether each column of its head is a variable that holds what is stored.
    pub(super) fn hands_on_stored(&self) -> bool {
        self.rule.head_terms.iter().all(|term| match term {
            HeadTerm::Expression(Expression::Variable(variable)) => {
                self.bindings.origins[variable.index()] == Some(safety::Origin::Stored)
            }
            HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => false,
        })
    }
}

/// Resolves clauses and remembers the relations they read.
pub(super) struct Resolver<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) relations: Vec<Relation>,
    pub(super) clauses: Vec<Clause>,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) errors: Vec<AnalysisError>,
    ids: HashMap<(String, usize), RelationId>,
    /// Relations of our own making that clauses name, with their number of columns.
    made: HashMap<String, usize>,
    /// Derived relations whose clauses have not been resolved.
    pub(super) pending: Vec<RelationId>,
    /// Unknown relations that a warning was given for.
    pub(super) warned: HashSet<String>,
    /// For so many more unknown names similar ones are looked for: each time all names are compared.
    pub(super) suggestions: usize,
    /// The head of the rule that is about to be registered: known, although not in the catalog.
    new_head: Option<(&'a str, usize)>,
    /// Whether attached relations can be read.
    reads_files: bool,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(catalog: &'a Catalog, new_head: Option<(&'a str, usize)>) -> Resolver<'a> {
        Resolver {
            catalog,
            relations: Vec::new(),
            clauses: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            ids: HashMap::new(),
            made: HashMap::new(),
            pending: Vec::new(),
            warned: HashSet::new(),
            suggestions: 10,
            new_head,
            reads_files: false,
        }
    }

    /// The same, of whoever reads attached files as well.
    pub(super) fn reading_files(self) -> Resolver<'a> {
        Resolver { reads_files: true, ..self }
    }

    /// A relation of our own making, derived only.
    pub(super) fn add_relation(&mut self, name: String, arity: usize) -> RelationId {
        self.relations.push(Relation {
            name,
            arity,
            column_types: vec![DataType::Unknown; arity],
            stored: false,
            best: None,
        });
        RelationId::new(self.relations.len() - 1)
    }

    /// The name of such a relation that clauses can read: it begins with this one.
    pub(super) fn made_relation(&mut self, name: &str, arity: usize) -> String {
        let name = format!("{name}_{}", self.relations.len());
        let id = self.add_relation(name.clone(), arity);
        self.ids.insert((name.clone(), arity), id);
        self.made.insert(name.clone(), arity);
        name
    }

    /// The id of a relation with so many columns.
    pub(super) fn relation(&mut self, name: &str, arity: usize) -> RelationId {
        if let Some(id) = self.ids.get(&(name.to_owned(), arity)) {
            return *id;
        }
        let definition = self.catalog.relation(name).filter(|definition| definition.arity == arity);
        let derived = !self.catalog.rules(name).is_empty();
        let id = self.add_relation(name.to_owned(), arity);
        let relation = &mut self.relations[id.index()];
        relation.stored = definition.is_some() || !derived;
        if let Some(definition) = definition {
            for (column, known) in relation.column_types.iter_mut().zip(&definition.column_types) {
                *column = *known;
            }
        }
        if derived {
            self.pending.push(id);
        }
        self.ids.insert((name.to_owned(), arity), id);
        id
    }

    /// Refuses attached relations where they cannot be read, or where a session derives them.
    pub(super) fn check_attached(&mut self) {
        let stored = self.relations.iter().filter(|relation| relation.stored);
        for Relation { name, .. } in stored.filter(|relation| self.catalog.attached(&relation.name).is_some())
        {
            let relation = name.clone();
            if !self.reads_files {
                self.errors.push(AnalysisError::InFiles { relation });
            } else if !self.catalog.rules(name).is_empty() {
                self.errors.push(AnalysisError::RuleOfAttached { relation, span: None });
            }
        }
    }

    /// The number of columns, if anything of this name is known.
    pub(super) fn known_arity(&self, name: &str) -> Option<usize> {
        let new = self.new_head.filter(|(head, _)| *head == name).map(|(_, arity)| arity);
        self.catalog.arity(name).or(new).or_else(|| self.made.get(name).copied())
    }

    /// Whether anything of this name is known; an emptied rule has no arity, but is known.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.catalog.knows(name) || self.new_head.is_some_and(|(head, _)| head == name)
    }

    /// The function that an atom of this name calls: one with a boolean result, unless a relation has its name.
    pub(super) fn condition(&self, name: &str) -> Option<&'static ScalarFunction> {
        ScalarFunction::named(name).filter(|function| function.is_condition() && !self.knows(name))
    }
}

impl Resolver<'_> {
    /// Known relations with similar names, for the first few that are asked for.
    pub(super) fn suggest(&mut self, name: &str) -> Vec<String> {
        match self.suggestions.checked_sub(1) {
            Some(left) => {
                self.suggestions = left;
                near_relations(name, self.catalog)
            }
            None => Vec::new(),
        }
    }
}

/// Known relations with similar names.
pub(super) fn near_relations(name: &str, catalog: &Catalog) -> Vec<String> {
    let stored = catalog.relations().map(|relation| relation.name.as_str());
    near_names(name, stored.chain(catalog.derived().map(|(name, _)| name)))
}
