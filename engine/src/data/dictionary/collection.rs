//! `Collection`: a dictionary without the values that nobody uses, made of one that goes on being read and learnt from.
//!
//! Codes that are kept mean the same in both, so rows are shared. Codes that are not kept are given out again by the new
//! one: whoever holds rows with such codes reads them with the old one, which lives as long as it is needed.

use std::sync::Arc;

use hashbrown::HashTable;
use parking_lot::RwLock;

use super::entries::Pages;
use super::{Dictionary, SHARED_START, Slot, hash_of, shard_of, slot_hash, table_hash};
use crate::data::codes::{Code, Codes};

/// The new dictionary on its way.
pub struct Collection {
    old: Arc<Dictionary>,
    pages: Pages,
    shards: Vec<HashTable<Slot>>,
    content_bytes: usize,
}

impl Collection {
    /// Keeps the values of these codes. What the dictionary learns meanwhile must be added.
    pub fn keeping(old: &Arc<Dictionary>, live: &Codes) -> Collection {
        let code = |number: usize| old.first + number as Code;
        let pages = old.entries.keeping(|number| live.has(code(number)));
        let mut content_bytes = 0;
        let shards = old.shards.iter().map(|shard| {
            let shard = shard.read();
            let mut kept = HashTable::with_capacity(shard.iter().filter(|slot| live.has(slot.code)).count());
            for slot in shard.iter().filter(|slot| live.has(slot.code)) {
                content_bytes += old.entry(slot.code).map_or(0, |value| value.as_ref().content_bytes());
                kept.insert_unique(table_hash(slot.hash), *slot, |slot| table_hash(slot.hash));
            }
            kept
        });
        let shards = shards.collect();
        Collection { old: Arc::clone(old), pages, shards, content_bytes }
    }

    /// Keeps the values of these codes too.
    pub fn add(&mut self, codes: &[Code]) {
        for code in codes.iter().copied().filter(|code| *code >= SHARED_START) {
            let Some(value) = self.old.entry(code) else { continue };
            if self.pages.add((code - self.old.first) as usize, value) {
                let hash = hash_of(value.as_ref());
                self.content_bytes += value.as_ref().content_bytes();
                let slot = Slot { code, hash: slot_hash(hash) };
                let shard = &mut self.shards[shard_of(hash)];
                shard.insert_unique(table_hash(slot.hash), slot, |slot| table_hash(slot.hash));
            }
        }
    }

    /// The new dictionary.
    pub fn finish(self) -> Dictionary {
        let are_codes_rare = self.old.entries.end() > self.old.capacity / 2;
        Dictionary {
            entries: self.pages.into_entries(are_codes_rare),
            content_bytes: self.content_bytes.into(),
            shards: self.shards.into_iter().map(RwLock::new).collect(),
            ..Dictionary::starting_at(self.old.first, self.old.end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Codec;
    use super::*;
    use crate::data::Value;

    #[test]
    fn what_is_kept_is_found_and_what_is_not_is_learnt_anew() {
        let old = Arc::new(Dictionary::shared());
        let text = |n: usize| Value::text(format!("value {n}"));
        let codes: Vec<Code> = (0..5_000).map(|n| old.store(text(n).as_ref()).unwrap()).collect();
        let mut live = Codes::default();
        codes.iter().step_by(3).for_each(|code| live.set(*code));
        let mut collection = Collection::keeping(&old, &live);
        let later = old.store(Value::text("later").as_ref()).unwrap();
        collection.add(&[later, codes[0], codes[1], 7]);
        let new = Arc::new(collection.finish());
        assert_ne!(new.number(), old.number());
        assert_eq!(new.len(), 5_000usize.div_ceil(3) + 2);
        let bytes = |of: &Dictionary| of.memory_bytes();
        assert!(bytes(&new) * 2 < bytes(&old), "{} of {}", bytes(&new), bytes(&old));
        for (n, code) in codes.iter().enumerate() {
            let is_kept = n % 3 == 0 || n == 1;
            let found = new.find_all([text(n).as_ref()].into_iter())[0];
            assert_eq!(found == *code, is_kept, "{n}");
        }
        assert_eq!(new.store(Value::text("later").as_ref()), Ok(later));
        // New values stand where others stood, and the old dictionary does not see it.
        let made = new.store(Value::text("new").as_ref()).unwrap();
        assert_eq!(made, codes[2]);
        assert_eq!(Codec::over(Arc::clone(&new)).value(made).to_value(), Value::text("new"));
        assert_eq!(Codec::over(old).value(made).to_value(), text(2));
    }
}
