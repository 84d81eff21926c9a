//! How many of something each address, or each user, has.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;

/// Counts by key, none above a limit. Only keys that have something are remembered.
#[derive(Debug)]
pub(super) struct Counts<K> {
    by_key: Arc<Mutex<HashMap<K, usize>>>,
    limit: usize,
}

/// One of those that a key has, until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted<K: Eq + Hash> {
    key: K,
    by_key: Arc<Mutex<HashMap<K, usize>>>,
}

impl<K: Eq + Hash + Clone> Counts<K> {
    /// At most so many each.
    pub(super) fn new(limit: usize) -> Counts<K> {
        Counts { by_key: Arc::default(), limit }
    }

    /// One more, unless the key has as many as it may.
    pub(super) fn take(&self, key: K) -> Option<Counted<K>> {
        let mut by_key = self.by_key.lock();
        let count = by_key.entry(key.clone()).or_default();
        if *count >= self.limit {
            if *count == 0 {
                by_key.remove(&key);
            }
            return None;
        }
        *count += 1;
        drop(by_key);
        Some(Counted { key, by_key: Arc::clone(&self.by_key) })
    }
}

impl<K: Eq + Hash> Drop for Counted<K> {
    fn drop(&mut self) {
        let mut by_key = self.by_key.lock();
        if let Some(count) = by_key.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                by_key.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn each_key_has_a_limit_of_its_own_and_those_with_nothing_are_forgotten() {
        let counts = Counts::new(2);
        let held = [counts.take("ada").unwrap(), counts.take("ada").unwrap()];
        assert!(counts.take("ada").is_none());
        let other = counts.take("bob").unwrap();
        drop(held);
        assert!(counts.take("ada").is_some());
        drop(other);
        assert!(counts.by_key.lock().is_empty());
    }
}
