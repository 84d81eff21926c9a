//! Vectors around random centres, as embeddings lie.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{FixedSizeListArray, Float32Array, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use stratalog_engine::Session;

use crate::answer_rows;

/// So many vectors of this length, one after the other, from a seed: each a centre out of a thousand and noise as large.
pub fn vectors(count: usize, dimension: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1_u32 << 24) as f32
    };
    let mut centred = move || uniform() + uniform() + uniform() + uniform() - 2.0;
    let centres: Vec<f32> = (0..1_000 * dimension).map(|_| centred()).collect();
    let mut all = Vec::with_capacity(count * dimension);
    for row in 0..count {
        let centre = row * 7_919 % 1_000 * dimension;
        all.extend(centres[centre..centre + dimension].iter().map(|x| x + centred()));
    }
    all
}

/// Rows of an id from 0 and a vector.
pub fn vector_rows(vectors: Vec<f32>, dimension: usize) -> RecordBatch {
    let count = vectors.len() / dimension;
    let item = Arc::new(Field::new("item", DataType::Float32, false));
    let length = i32::try_from(dimension).expect("a length");
    let list =
        FixedSizeListArray::new(Arc::clone(&item), length, Arc::new(Float32Array::from(vectors)), None);
    let ids = Int64Array::from_iter_values(0..count as i64);
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("v", DataType::FixedSizeList(item, length), false),
    ]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(list)])
        .expect("two columns of one length")
}

/// Waits until nothing is left to do for any index.
pub fn settle(session: &mut Session) {
    while answer_rows(session, ".index list") == 0 || !is_settled(session) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_settled(session: &mut Session) -> bool {
    let listed = crate::answer(session, ".index list");
    let batch = listed.batch(0, listed.row_count());
    let valid = batch.column_by_name("valid").expect("a column `valid`");
    arrow::array::AsArray::as_boolean(valid).iter().all(|valid| valid == Some(true))
}
