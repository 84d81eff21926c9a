//! Texts whose words are as frequent as words are.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use crate::graphs::SplitMix;

/// Rows of an id from 0 and a text of 10 to 59 words. Word `wR` is about the R-th most frequent of so many, as Zipf has it.
pub fn text_rows(count: usize, words: usize, seed: u64) -> RecordBatch {
    let mut random = SplitMix(seed);
    let texts = (0..count).map(|_| {
        let length = 10 + random.below(50);
        let mut word = || format!("w{}", (words as f64).powf(random.unit()) as usize);
        (0..length).map(|_| word()).collect::<Vec<_>>().join(" ")
    });
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count as i64));
    RecordBatch::try_from_iter([("id", ids), ("body", texts)]).expect("two columns of one length")
}
