//! Pivoting: a recursion that hands a column through unchanged falls apart along it, so it can be run to its fixpoint
//! apart for each part of the column's values.

use crate::data::{Rows, Run};

const PIVOT_PARTS: usize = 512;

/// Rows by the part of a column's value.
pub(super) fn split(runs: &[Run], column: usize, arity: usize) -> Vec<Rows> {
    let mut parts = vec![Rows::empty(arity); PIVOT_PARTS];
    for run in runs {
        let rows = run.live_rows();
        for row in 0..rows.len {
            let hash = rows.columns[column][row].wrapping_mul(0x9E37_79B9);
            let part = &mut parts[(hash >> 16) as usize % PIVOT_PARTS];
            part.len += 1;
            for (to, from) in part.columns.iter_mut().zip(&rows.columns) {
                to.push(from[row]);
            }
        }
    }
    parts
}
