//! Order, offset and limit of a result.

use std::collections::HashMap;

use crate::data::{Code, Codec, INLINE_END, Rows, Run, parallel};

/// One sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The column.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
}

/// The rows of a result in their order, after offset and limit. Rows that the order leaves equal come in ascending
/// tuple order if a limit has to choose among them.
pub fn sort_limit(
    runs: Vec<Run>,
    arity: usize,
    order: &[Order],
    limit: Option<(u64, u64)>,
    codec: &Codec,
) -> Rows {
    let rows = rows_of(runs, arity);
    let total = rows.len;
    if order.is_empty() && limit.is_none() {
        return rows;
    }
    let mut keys: Vec<Order> = order.to_vec();
    if limit.is_some() {
        let rest = (0..arity).filter(|column| order.iter().all(|key| key.column != *column));
        keys.extend(rest.map(|column| Order { column, descending: false }));
    }
    let ranks: Vec<Vec<u32>> =
        keys.iter().map(|key| ranks(&rows.columns[key.column], codec, key.descending)).collect();
    let mut positions: Vec<u32> = (0..total as u32).collect();
    parallel::sort_stable_by(&mut positions, |a, b| {
        ranks
            .iter()
            .map(|ranks| ranks[*a as usize].cmp(&ranks[*b as usize]))
            .find(|o| o.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let (count, offset) = limit.unwrap_or((u64::MAX, 0));
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(total);
    let end = start.saturating_add(usize::try_from(count).unwrap_or(usize::MAX)).min(total);
    let chosen = &positions[start..end];
    let columns =
        rows.columns.iter().map(|codes| chosen.iter().map(|row| codes[*row as usize]).collect()).collect();
    Rows { columns, len: chosen.len() }
}

/// The rows of all runs, one run after the other.
fn rows_of(mut runs: Vec<Run>, arity: usize) -> Rows {
    if runs.len() == 1
        && let Some(only) = runs.pop()
    {
        return only.into_rows();
    }
    let len = runs.iter().map(Run::len).sum();
    let mut columns: Vec<Vec<Code>> = vec![Vec::with_capacity(len); arity];
    for run in runs {
        for (column, codes) in columns.iter_mut().enumerate() {
            match run.live() {
                None => codes.extend_from_slice(run.column(column)),
                Some(live) => codes.extend(live.set_indices().map(|row| run.column(column)[row])),
            }
        }
    }
    Rows { columns, len }
}

/// Numbers that order as the values do. Small integers order as their codes; other values are sorted once, however
/// often they occur.
fn ranks(codes: &[Code], codec: &Codec, descending: bool) -> Vec<u32> {
    let mut ranks: Vec<u32> = if codes.iter().all(|code| *code < INLINE_END) {
        codes.to_vec()
    } else {
        let mut distinct = codes.to_vec();
        parallel::sort_by_key(&mut distinct, |code| *code);
        distinct.dedup();
        parallel::sort_stable_by(&mut distinct, |a, b| codec.value(*a).cmp(&codec.value(*b)));
        let rank: HashMap<Code, u32> = distinct.into_iter().zip(0..).collect();
        codes.iter().map(|code| rank[code]).collect()
    };
    if descending {
        ranks.iter_mut().for_each(|rank| *rank = u32::MAX - *rank);
    }
    ranks
}
