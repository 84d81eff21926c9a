//! Which derived relation reads which relation, both ways round: how a new rule is found to close a cycle without
//! looking at all the others.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

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

/// The relations that a rule reads.
pub fn uses(rule: &ast::Rule) -> impl Iterator<Item = (&str, Use, Span)> {
    let aggregates = rule.head.terms.iter().any(|term| matches!(term.kind, ast::TermKind::Aggregate { .. }));
    rule.body.iter().filter_map(move |literal| match &literal.kind {
        ast::LiteralKind::Positive(atom) => {
            let how = if aggregates { Use::Aggregated } else { Use::Positive };
            Some((atom.relation.text.as_str(), how, literal.span))
        }
        ast::LiteralKind::Negative(atom) => Some((atom.relation.text.as_str(), Use::Negative, literal.span)),
        ast::LiteralKind::Comparison { .. } => None,
    })
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
            let relation: Arc<str> = relation.into();
            let reads = self.reads.entry(Arc::clone(&head)).or_default();
            if reads.insert((Arc::clone(&relation), how)).is_none() {
                self.negated += usize::from(how == Use::Negative);
                self.aggregated += usize::from(how == Use::Aggregated);
                self.readers.entry(relation).or_default().insert(Arc::clone(&head));
            }
        }
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
