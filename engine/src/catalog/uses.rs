//! Which derived relation reads which relation, both ways round: how a new rule is found to close a cycle without
//! looking at all the others.

use std::borrow::Cow;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::searches::is_search;
use crate::data::Value;
use crate::diagnostic::Span;
use crate::syntax::ast;

/// How a rule uses a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Some row matches.
    Positive,
    /// No row matches.
    Negative,
    /// Positive, by a rule that aggregates.
    Aggregated,
}

/// The relations that a rule reads. A search reads something between: the index, which reads its relation.
pub fn uses(rule: &ast::Rule) -> impl Iterator<Item = (Cow<'_, str>, Use, Span)> {
    let aggregates = rule.head.terms.iter().any(|term| matches!(term.kind, ast::TermKind::Aggregate { .. }));
    let literals = ast::plain_literals(&rule.body);
    let searches = literals.iter().any(|(literal, _)| match &literal.kind {
        ast::LiteralKind::Positive(atom) => is_search(atom),
        _ => false,
    });
    literals.into_iter().filter_map(move |(literal, is_negated)| match &literal.kind {
        ast::LiteralKind::Positive(atom) => {
            // What else stands in the body may be a condition of the search.
            let how = match (is_negated, aggregates || searches) {
                (true, _) => Use::Negative,
                (false, true) => Use::Aggregated,
                (false, false) => Use::Positive,
            };
            let name = match atom.terms.iter().find_map(index_name) {
                Some(index) if is_search(atom) => index_node(index).into(),
                _ => atom.relation.text.as_str().into(),
            };
            Some((name, how, literal.span))
        }
        ast::LiteralKind::Negative(atom) => {
            Some((atom.relation.text.as_str().into(), Use::Negative, literal.span))
        }
        _ => None,
    })
}

fn index_name(term: &ast::Term) -> Option<&str> {
    match &term.kind {
        ast::TermKind::Constant(Value::Text(index)) => Some(index),
        _ => None,
    }
}

/// An index among the relations. No relation has such a name.
fn index_node(index: &str) -> String {
    format!("search(\"{index}\")")
}

/// All uses of all rules. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub struct Uses {
    reads: OrdMap<Arc<str>, OrdSet<(Arc<str>, Use)>>,
    readers: OrdMap<Arc<str>, OrdSet<Arc<str>>>,
    negated: usize,
    aggregated: usize,
}

impl Uses {
    /// What the rules of a head read, and how; each once.
    pub fn of(&self, head: &str) -> impl Iterator<Item = (&str, Use)> {
        self.reads.get(head).into_iter().flatten().map(|(relation, how)| (relation.as_ref(), *how))
    }

    /// Whether some rule of the head reads the relation so.
    pub fn has(&self, head: &str, relation: &str, how: Use) -> bool {
        self.reads.get(head).is_some_and(|reads| reads.contains(&(Arc::from(relation), how)))
    }

    /// The heads whose rules read a relation.
    pub fn readers(&self, relation: &str) -> impl Iterator<Item = &str> {
        self.readers.get(relation).into_iter().flatten().map(AsRef::as_ref)
    }

    /// Whether anything is negated.
    pub fn negate(&self) -> bool {
        self.negated > 0
    }

    /// Whether anything is aggregated.
    pub fn aggregate(&self) -> bool {
        self.aggregated > 0
    }

    pub(super) fn add(&mut self, rule: &ast::Rule) {
        let head: Arc<str> = rule.head.relation.text.as_str().into();
        for (relation, how, _) in uses(rule) {
            self.add_use(&head, &relation.into(), how);
        }
    }

    fn add_use(&mut self, head: &Arc<str>, relation: &Arc<str>, how: Use) {
        let reads = self.reads.entry(Arc::clone(head)).or_default();
        if reads.insert((Arc::clone(relation), how)).is_none() {
            self.negated += usize::from(how == Use::Negative);
            self.aggregated += usize::from(how == Use::Aggregated);
            self.readers.entry(Arc::clone(relation)).or_default().insert(Arc::clone(head));
        }
    }

    /// An index reads its relation.
    pub(super) fn add_index(&mut self, index: &str, relation: &str) {
        self.add_use(&index_node(index).into(), &relation.into(), Use::Aggregated);
    }

    /// Forgets that.
    pub(super) fn remove_index(&mut self, index: &str) {
        self.remove(&index_node(index));
    }

    /// Forgets the uses of a head.
    pub(super) fn remove(&mut self, head: &str) {
        for (relation, how) in self.reads.remove(head).into_iter().flatten() {
            self.negated -= usize::from(how == Use::Negative);
            self.aggregated -= usize::from(how == Use::Aggregated);
            if let Some(readers) = self.readers.get_mut(&relation) {
                readers.remove(head);
            }
        }
    }
}
