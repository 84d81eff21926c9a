//! Values that a query has computed, and that the graph learns because rows with them are kept.
//!
//! Rows that outlive their query are in codes of the graph alone: whoever comes later reads them as they are, and a value has
//! one code wherever it comes from. What a graph has learnt in this way is counted apart, as it is none of its facts.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Codec, Dictionary, DictionaryFull, LOCAL_START, hash_of, inline};
use crate::data::codes::{Code, EMPTY};
use crate::data::{Rows, Run, ValueRef};

/// What a graph learns of the values that a query has made.
pub(crate) struct Learning<'c> {
    codec: &'c Codec,
    /// The graph's codes of the query's own ones, as far as they are known.
    codes: Vec<Code>,
    learnt: Computed,
}

/// The values that a graph has learnt for something that is kept. When that goes, they may be of no use any more.
#[derive(Debug)]
pub(crate) struct Computed {
    dictionary: Arc<Dictionary>,
    bytes: usize,
}

impl Computed {
    /// What was learnt once more for something that was kept already: most of it stands in the place of other values, so that
    /// these are left by and by.
    pub(crate) fn in_place_of(before: Option<&Arc<Computed>>, now: Arc<Computed>) -> Arc<Computed> {
        match before.filter(|before| before.are_of(&now.dictionary)) {
            Some(before) => Arc::clone(before),
            None => now,
        }
    }

    /// Bytes of the values.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether it was this dictionary that learnt them.
    pub(crate) fn are_of(&self, dictionary: &Dictionary) -> bool {
        self.dictionary.number() == dictionary.number()
    }
}

impl Drop for Computed {
    fn drop(&mut self) {
        self.dictionary.left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

impl<'c> Learning<'c> {
    pub(crate) fn from(codec: &'c Codec) -> Learning<'c> {
        let learnt = Computed { dictionary: Arc::clone(codec.shared()), bytes: 0 };
        Learning { codec, codes: vec![EMPTY; codec.local.len()], learnt }
    }

    /// These runs in codes of the graph; none if they hold more values than `most` that the query has made.
    pub(crate) fn runs(&mut self, runs: &[Run], mut most: usize) -> Result<Option<Vec<Run>>, DictionaryFull> {
        if !self.codec.has_own() {
            return Ok(Some(runs.to_vec()));
        }
        let learnt = runs.iter().map(|run| {
            let is_own = |code: &Code| Codec::is_own(*code);
            if !run.columns().into_iter().flatten().any(is_own) {
                return Ok(Some(run.clone()));
            }
            let rows = self.learn(run.live_rows(), &mut most)?;
            Ok(rows.map(|rows| Run::new(rows.columns, rows.len)))
        });
        learnt.collect()
    }

    /// These rows in codes of the graph.
    pub(crate) fn rows(&mut self, rows: Rows) -> Result<Rows, DictionaryFull> {
        if !self.codec.has_own() {
            return Ok(rows);
        }
        let (arity, mut most) = (rows.columns.len(), usize::MAX);
        Ok(self.learn(rows, &mut most)?.unwrap_or_else(|| Rows::empty(arity)))
    }

    /// What the graph has learnt.
    pub(crate) fn finish(self) -> Computed {
        self.learnt
    }

    /// The graph's code of a value.
    pub(crate) fn value(&mut self, value: ValueRef<'_>) -> Result<Code, DictionaryFull> {
        let dictionary = &self.learnt.dictionary;
        if let Some(code) = inline(value) {
            return Ok(code);
        }
        let hash = hash_of(value);
        if let Some(known) = dictionary.find(value, hash) {
            return Ok(known);
        }
        let code = dictionary.intern(value, hash)?;
        let bytes = dictionary.entry_bytes(code);
        dictionary.computed.fetch_add(bytes, Ordering::Relaxed);
        self.learnt.bytes += bytes;
        Ok(code)
    }

    fn learn(&mut self, mut rows: Rows, most: &mut usize) -> Result<Option<Rows>, DictionaryFull> {
        for code in rows.columns.iter_mut().flatten().filter(|code| Codec::is_own(**code)) {
            let place = (*code - LOCAL_START) as usize;
            if self.codes[place] == EMPTY {
                let Some(less) = most.checked_sub(1) else { return Ok(None) };
                *most = less;
                self.codes[place] = self.value(self.codec.value(*code))?;
            }
            *code = self.codes[place];
        }
        Ok(Some(rows))
    }
}

impl Dictionary {
    /// The bytes held, about, but for values that were learnt for what is kept.
    pub fn bytes_of_facts(&self) -> usize {
        self.memory_bytes().saturating_sub(self.computed.load(Ordering::Relaxed))
    }

    /// Bytes of values that were learnt for what is not kept any more, about.
    pub fn bytes_left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;

    #[test]
    fn kept_rows_are_in_codes_of_the_graph_and_what_they_hold_is_counted_while_they_are_kept() {
        let graph = Arc::new(Dictionary::shared());
        let known = graph.store(Value::text("known").as_ref()).unwrap();
        let bytes = graph.memory_bytes();
        let codec = Codec::over(Arc::clone(&graph));
        let own = |text: &str| codec.encode(Value::text(text).as_ref()).unwrap();
        let (own_a, own_b) = (own("a"), own("b"));
        // Somebody else stores one of them.
        let stored = graph.store(Value::text("b").as_ref()).unwrap();
        let run = Run::new(vec![vec![own_a, own_b, known, 7], vec![own_b, own_a, 3, own_a]], 4);
        let plain = Run::new(vec![vec![1, 2], vec![known, 4]], 2);
        let mut learning = Learning::from(&codec);
        let runs = learning.runs(&[run.clone(), plain.clone()], 2).unwrap().expect("there are two");
        let learnt = graph.find_all([Value::text("a").as_ref()].into_iter())[0];
        assert_eq!(runs[0].columns(), [[learnt, stored, known, 7], [stored, learnt, 3, learnt]]);
        assert_eq!(runs[1].number(), plain.number());
        let computed = learning.finish();
        assert_eq!(computed.bytes(), graph.entry_bytes(learnt));
        assert_eq!(graph.bytes_of_facts(), bytes + graph.entry_bytes(stored));
        assert_eq!(graph.bytes_left(), 0);
        drop(computed);
        assert_eq!(graph.bytes_left(), graph.entry_bytes(learnt));
        assert!(Learning::from(&codec).runs(&[run], 1).unwrap().is_none());
    }
}
