//! What is defined in a graph: relations with their schemas and observed types, rules as written, named types.
//!
//! A `Catalog` is a value: it is cloned and edited by a commit and never changes once published. Versions share all that
//! did not change, so a program that registers many rules takes no longer for the last of them.

mod clauses;
mod searches;
mod uses;

use std::sync::{Arc, LazyLock};

use imbl::{OrdMap, OrdSet};

pub use self::clauses::Clauses;
pub use self::searches::{SearchKind, is_search};
pub use self::uses::{Use, Uses, uses};

use crate::attached::Attachment;
use crate::data::{DataType, Schema};
use crate::index::Index;
use crate::syntax::ast;

/// The clauses of what is not derived.
static NO_CLAUSES: LazyLock<Clauses> = LazyLock::new(Clauses::default);

/// The definitions of one graph, or of one graph and one session laid over it.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    relations: OrdMap<Arc<str>, Arc<RelationDefinition>>,
    rules: OrdMap<Arc<str>, Clauses>,
    uses: Uses,
    types: OrdMap<String, DataType>,
    indexes: OrdMap<Arc<str>, Arc<Index>>,
    /// The derived relations whose rows are to be there before anybody asks.
    kept: OrdSet<Arc<str>>,
    /// Whether questions may go to the cluster; where nothing is said, the server says it.
    cluster: Option<ClusterUse>,
}

/// Whether the questions of a graph go to the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterUse {
    /// They do not.
    Off,
    /// Those do that read or need more than memory allows, and those that ask to.
    On,
    /// All of them do.
    Only,
}

impl ClusterUse {
    /// All of them.
    pub const ALL: [ClusterUse; 3] = [ClusterUse::Off, ClusterUse::On, ClusterUse::Only];

    /// As commands have it.
    pub fn as_str(self) -> &'static str {
        match self {
            ClusterUse::Off => "off",
            ClusterUse::On => "on",
            ClusterUse::Only => "only",
        }
    }

    /// What a word means.
    pub fn of(word: &str) -> Option<ClusterUse> {
        ClusterUse::ALL.into_iter().find(|each| each.as_str() == word)
    }
}

/// What is known of a stored relation.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationDefinition {
    /// Its name.
    pub name: String,
    /// Its declaration, if there is one.
    pub schema: Option<Schema>,
    /// The number of columns; remembered when all rows are gone.
    pub arity: usize,
    /// The type of each column: declared, or else found in the rows that were ever inserted.
    pub column_types: Vec<DataType>,
    /// Whether rows were ever inserted: listings show a relation from then on.
    pub filled: bool,
    /// The files that its rows are in, if none are stored.
    pub attached: Option<Arc<Attachment>>,
}

impl RelationDefinition {
    /// A relation that has rows of these types, and no declaration.
    pub fn undeclared(name: impl Into<String>, column_types: Vec<DataType>) -> RelationDefinition {
        let (schema, attached, arity) = (None, None, column_types.len());
        RelationDefinition { name: name.into(), schema, arity, column_types, filled: true, attached }
    }

    /// Name and type of each column, as in `id: int`.
    pub fn described_columns(&self) -> Vec<String> {
        let columns = self.column_names().into_iter().zip(&self.column_types);
        columns.map(|(name, data_type)| format!("{name}: {data_type}")).collect()
    }

    /// An estimate of the bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        let columns = self.schema.iter().flat_map(|schema| &schema.columns);
        let declared: usize = columns.map(|column| size_of_val(column) + column.name.len()).sum();
        // The name is a key beside.
        2 * (size_of::<RelationDefinition>() + self.name.len())
            + size_of_val(self.column_types.as_slice())
            + self.attached.as_ref().map_or(0, |attached| attached.memory_bytes())
            + declared
    }

    /// The type of each column as listings show it: one that is declared to hold anything does so, whatever was found.
    pub fn shown_types(&self) -> Vec<DataType> {
        let declared = |column: usize| Some(self.schema.as_ref()?.columns.get(column)?.data_type);
        let shown = |(column, found): (usize, &DataType)| match declared(column) {
            Some(DataType::Any) => DataType::Any,
            _ => *found,
        };
        self.column_types.iter().enumerate().map(shown).collect()
    }

    /// The column names: declared, or `A`, `B`, `C`, ... .
    pub fn column_names(&self) -> Vec<String> {
        match &self.schema {
            Some(schema) => schema.columns.iter().map(|c| c.name.clone()).collect(),
            None => default_column_names(self.arity),
        }
    }
}

/// `A` to `Z`, then `A1`, `B1`, ... .
pub fn default_column_names(arity: usize) -> Vec<String> {
    (0..arity)
        .map(|i| {
            let letter = char::from(b'A' + (i % 26) as u8);
            if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
        })
        .collect()
}

/// What the first clause of a rule calls its columns: a variable where one stands, else a letter.
pub fn clause_names(head: &[ast::Term], arity: usize) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(arity);
    for (column, default) in default_column_names(arity).into_iter().enumerate() {
        let written = match head.get(column).map(|term| &term.kind) {
            Some(ast::TermKind::Variable(name)) if !names.contains(name) => name.clone(),
            _ => default,
        };
        let free = std::iter::successors(Some(written), |name| Some(format!("{name}_")));
        names.extend(free.into_iter().find(|name| !names.contains(name)));
    }
    names
}

impl Catalog {
    /// Whether this is the same state, as far as that is known without looking at what is in it.
    pub fn is_same(&self, other: &Catalog) -> bool {
        self.relations.ptr_eq(&other.relations)
            && self.rules.ptr_eq(&other.rules)
            && self.types.ptr_eq(&other.types)
            && self.indexes.ptr_eq(&other.indexes)
    }

    /// The definition of a stored relation.
    pub fn relation(&self, name: &str) -> Option<&Arc<RelationDefinition>> {
        self.relations.get(name)
    }

    /// The files that the rows of a relation are in, if none are stored.
    pub fn attached(&self, name: &str) -> Option<&Arc<Attachment>> {
        self.relation(name)?.attached.as_ref()
    }

    /// All stored relations by name.
    pub fn relations(&self) -> impl Iterator<Item = &Arc<RelationDefinition>> {
        self.relations.values()
    }

    /// How a relation of this name, in capitals or not, is called, and its columns.
    pub fn columns_of(&self, name: &str) -> Option<(String, Vec<String>)> {
        let stored = self.relations.keys().map(|known| &**known);
        let mut all = stored.chain(self.derived().map(|(known, _)| known));
        let known = all.find(|known| known.eq_ignore_ascii_case(name))?;
        let columns = match self.relation(known) {
            Some(relation) => relation.column_names(),
            None => {
                let head = &self.rules(known).first()?.head;
                clause_names(&head.terms, head.head_columns())
            }
        };
        Some((known.to_owned(), columns))
    }

    /// The clauses of a derived relation, in the order of registration; empty where there are none.
    pub fn rules(&self, head: &str) -> &Clauses {
        self.rules.get(head).unwrap_or_else(|| &NO_CLAUSES)
    }

    /// Which derived relation reads which relation.
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Whether this is the name of a rule, perhaps of one that was emptied.
    pub fn has_rule(&self, head: &str) -> bool {
        self.rules.contains_key(head)
    }

    /// All derived relations with their clauses, by name; an emptied rule has none.
    pub fn derived(&self) -> impl Iterator<Item = (&str, &Clauses)> {
        self.rules.iter().map(|(name, clauses)| (name.as_ref(), clauses))
    }

    /// Whether anything of this name is known: a schema, rows, a remembered arity, or a rule.
    pub fn knows(&self, name: &str) -> bool {
        self.relations.contains_key(name) || self.rules.contains_key(name)
    }

    /// The number of columns of a relation, from its definition or else from its first clause.
    pub fn arity(&self, name: &str) -> Option<usize> {
        self.relation(name)
            .map(|r| r.arity)
            .or_else(|| self.rules(name).first().map(|r| r.head.head_columns()))
    }

    /// The meaning of a declared type name.
    pub fn named_type(&self, name: &str) -> Option<DataType> {
        self.types.get(name).copied()
    }

    /// All declared types with their meaning, by name.
    pub fn named_types(&self) -> impl Iterator<Item = (&str, DataType)> {
        self.types.iter().map(|(name, meaning)| (name.as_str(), *meaning))
    }

    /// Sets or replaces a relation's definition. Answers whether that is news.
    pub fn set_relation(&mut self, definition: RelationDefinition) -> bool {
        if self.relation(&definition.name).is_some_and(|known| **known == definition) {
            return false;
        }
        self.relations.insert(definition.name.as_str().into(), Arc::new(definition));
        true
    }

    /// Forgets a relation's definition.
    pub fn remove_relation(&mut self, name: &str) {
        self.relations.remove(name);
    }

    /// Adds a clause, unless an identical one is there. Answers whether it was added.
    pub fn add_rule(&mut self, rule: Arc<ast::Rule>) -> bool {
        let head = rule.head.relation.text.as_str().into();
        self.uses.add(&rule);
        self.rules.entry(head).or_default().add(rule)
    }

    /// Forgets all clauses of a relation, which is not kept any more; answers how many there were.
    pub fn remove_rules(&mut self, head: &str) -> usize {
        self.kept.remove(head);
        self.uses.remove(head);
        self.rules.remove(head).map_or(0, |clauses| clauses.len())
    }

    /// Drops all clauses but keeps the name: an empty relation. Answers how many clauses there were.
    pub fn clear_rules(&mut self, head: &str) -> usize {
        self.uses.remove(head);
        self.rules.insert(head.into(), Clauses::default()).map_or(0, |clauses| clauses.len())
    }

    /// The derived relations whose rows are to be there before anybody asks, by name.
    pub fn kept(&self) -> impl Iterator<Item = &Arc<str>> {
        self.kept.iter()
    }

    /// Whether the rows of a derived relation are to be there before anybody asks.
    pub fn keeps(&self, name: &str) -> bool {
        self.kept.contains(name)
    }

    /// From now on they are. Answers whether that is news.
    pub fn keep(&mut self, name: &str) -> bool {
        self.kept.insert(name.into()).is_none()
    }

    /// From now on they are not. Answers whether that is news.
    pub fn keep_no_more(&mut self, name: &str) -> bool {
        self.kept.remove(name).is_some()
    }

    /// Whether questions go to the cluster, if that was ever said.
    pub fn cluster_use(&self) -> Option<ClusterUse> {
        self.cluster
    }

    /// Says whether they go there. Answers whether that is news.
    pub fn set_cluster_use(&mut self, cluster: ClusterUse) -> bool {
        self.cluster.replace(cluster) != Some(cluster)
    }

    /// Declares a named type. Answers whether that is news.
    pub fn set_type(&mut self, name: String, data_type: DataType) -> bool {
        self.types.insert(name, data_type) != Some(data_type)
    }

    /// An index.
    pub fn index(&self, name: &str) -> Option<&Arc<Index>> {
        self.indexes.get(name)
    }

    /// All indexes by name.
    pub fn indexes(&self) -> impl Iterator<Item = &Arc<Index>> {
        self.indexes.values()
    }

    /// Adds an index, unless there is one of its name. Answers whether it was added.
    pub fn add_index(&mut self, index: Arc<Index>) -> bool {
        let name: Arc<str> = index.definition.name.as_str().into();
        if self.indexes.contains_key(&name) {
            return false;
        }
        self.uses.add_index(&name, &index.definition.relation);
        self.indexes.insert(name, index);
        true
    }

    /// Forgets an index; answers whether there was one.
    pub fn remove_index(&mut self, name: &str) -> bool {
        self.uses.remove_index(name);
        self.indexes.remove(name).is_some()
    }

    /// Forgets the indexes of a relation.
    pub fn remove_indexes_of(&mut self, relation: &str) {
        let of_it = self.indexes.values().filter(|index| index.definition.relation == relation);
        let names: Vec<String> = of_it.map(|index| index.definition.name.clone()).collect();
        names.iter().for_each(|name| _ = self.remove_index(name));
    }
}
