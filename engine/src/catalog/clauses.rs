//! The clauses of one head, in the order of registration. A head may have many thousands.

use std::hash::BuildHasher;
use std::sync::Arc;

use imbl::{OrdSet, Vector};

use crate::syntax::ast;

/// The clauses of one head, none twice. Cloning shares them.
#[derive(Debug, Clone, Default)]
pub struct Clauses {
    rules: Vector<Arc<ast::Rule>>,
    /// Hashes of their texts, so that a new one need not be compared with all.
    hashes: OrdSet<u64>,
}

impl Clauses {
    /// Number of clauses.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The clause that was registered first.
    pub fn first(&self) -> Option<&Arc<ast::Rule>> {
        self.rules.front()
    }

    /// Whether these are the same clauses, and not others of the same text.
    pub fn is_same(&self, other: &Clauses) -> bool {
        self.rules.ptr_eq(&other.rules)
            || self.len() == other.len() && self.iter().zip(other).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ast::Rule>> {
        self.rules.iter()
    }

    /// Adds a clause, unless an identical one is there. Answers whether it was added.
    pub(super) fn add(&mut self, rule: Arc<ast::Rule>) -> bool {
        let text = rule.to_string();
        let hash = foldhash::fast::FixedState::default().hash_one(&text);
        if self.hashes.insert(hash).is_some() && self.rules.iter().any(|known| known.to_string() == text) {
            return false;
        }
        self.rules.push_back(rule);
        true
    }
}

impl<'c> IntoIterator for &'c Clauses {
    type Item = &'c Arc<ast::Rule>;
    type IntoIter = imbl::vector::Iter<'c, Arc<ast::Rule>, imbl::shared_ptr::DefaultSharedPtr>;

    fn into_iter(self) -> Self::IntoIter {
        self.rules.iter()
    }
}
