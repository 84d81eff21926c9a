//! Order, offset and limit of a result.

use std::cmp::Ordering;

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Codec, GoOn, INLINE_END, Run, Stopped, bounds, counting_sort, each_row, parallel};
use crate::exec::graphs::numbering::Numbering;
use crate::exec::growing::in_one;

/// Rows of a lane from which the first are selected.
const LANE_ROWS: usize = 1 << 16;
/// So many first rows at most are selected; if there are more, all rows are sorted.
const MOST_SELECTED: usize = 1 << 17;
/// From so many rows on keys are sorted digit by digit.
const DIGITS_ROWS: usize = 1 << 12;
/// Bits of the largest digit: as many groups as an inner cache has lines to write to.
const DIGIT_BITS: u32 = 12;

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
    budget: &Budget,
) -> Result<Run, BudgetError> {
    let rows = in_one(runs, arity, budget)?;
    let total = rows.len();
    if order.is_empty() && limit.is_none() {
        return Ok(rows);
    }
    let mut keys: Vec<Order> = order.to_vec();
    if limit.is_some() {
        let rest = (0..arity).filter(|column| order.iter().all(|key| key.column != *column));
        keys.extend(rest.map(|column| Order { column, descending: false }));
    }
    let (count, offset) = limit.unwrap_or((u64::MAX, 0));
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(total);
    let end = start.saturating_add(usize::try_from(count).unwrap_or(usize::MAX)).min(total);
    if end <= (total / 8).min(MOST_SELECTED) {
        return best(&rows, &keys, end, start, codec, budget);
    }
    // Ranks, positions twice, and what sorting digits counts.
    let _held = budget.hold(total * (keys.len() + 2) * size_of::<u32>())?;
    let ranks = keys.iter().map(|key| ranks(rows.column(key.column), codec, key.descending, budget));
    let ranks = ranks.collect::<Result<Vec<_>, _>>()?;
    let positions = budget.watch(|go_on| sorted(&ranks, total, go_on))?;
    chosen(&rows, &positions[start..end], budget)
}

/// Positions in the order of their ranks: by the first column, then by the second.
fn sorted(ranks: &[Vec<u32>], total: usize, go_on: GoOn<'_>) -> Result<Vec<u32>, Stopped> {
    let mut positions: Vec<u32> = (0..total as u32).collect();
    if total < DIGITS_ROWS {
        let compare = |a: &u32, b: &u32| {
            let compare = |ranks: &Vec<u32>| ranks[*a as usize].cmp(&ranks[*b as usize]);
            ranks.iter().map(compare).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        positions.sort_by(compare);
        return Ok(positions);
    }
    // The last column first, and of each the lowest digit: what is equal keeps its order.
    for ranks in ranks.iter().rev() {
        let Some((least, largest)) = bounds(ranks) else { break };
        let bits = u32::BITS - (largest - least).leading_zeros();
        let digits = bits.div_ceil(DIGIT_BITS);
        for digit in 0..digits {
            let width = bits.div_ceil(digits);
            let digit_of =
                |row: usize| (ranks[positions[row] as usize] - least) >> (digit * width) & ((1 << width) - 1);
            positions = counting_sort(total, 1 << width, digit_of, |row| positions[row], go_on)?.1;
        }
    }
    Ok(positions)
}

/// These rows.
fn chosen(rows: &Run, positions: &[u32], budget: &Budget) -> Result<Run, BudgetError> {
    budget.charge(positions.len() * rows.columns().len() * size_of::<Code>())?;
    let gather = |codes: &[Code]| {
        let mut gathered = Vec::with_capacity(positions.len());
        budget.watch(|go_on| {
            each_row(0..positions.len(), go_on, |row| gathered.push(codes[positions[row] as usize]))
        })?;
        Ok(gathered)
    };
    Ok(Run::new(rows.columns().into_iter().map(gather).collect::<Result<_, _>>()?, positions.len()))
}

/// The first rows of many: each lane selects its own, and from those the first of all are taken. Nothing is sorted but
/// what is returned.
fn best(
    rows: &Run,
    keys: &[Order],
    end: usize,
    start: usize,
    codec: &Codec,
    budget: &Budget,
) -> Result<Run, BudgetError> {
    let order = |a: &u32, b: &u32| {
        let compare = |key: &Order| {
            let codes = rows.column(key.column);
            let (a, b) = (codes[*a as usize], codes[*b as usize]);
            // Codes of small integers order as they do.
            let order = if a < INLINE_END && b < INLINE_END || a == b {
                a.cmp(&b)
            } else {
                codec.value(a).cmp(&codec.value(b))
            };
            if key.descending { order.reverse() } else { order }
        };
        keys.iter().map(compare).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let select = |mut positions: Vec<u32>| {
        if end < positions.len() {
            positions.select_nth_unstable_by(end, order);
            positions.truncate(end);
        }
        positions
    };
    let lanes = parallel::lanes(rows.len(), LANE_ROWS.max(4 * end));
    let lanes = parallel::map(lanes, |lane| {
        budget.check()?;
        Ok::<_, BudgetError>(select((lane.start as u32..lane.end as u32).collect()))
    });
    let mut first = select(lanes.into_iter().collect::<Result<Vec<_>, _>>()?.concat());
    first.sort_unstable_by(order);
    chosen(rows, &first[start.min(first.len())..], budget)
}

/// Numbers that order as the values do. Small integers order as their codes; other values are sorted once, however
/// often they occur.
fn ranks(codes: &[Code], codec: &Codec, descending: bool, budget: &Budget) -> Result<Vec<u32>, BudgetError> {
    let mut ranks: Vec<u32> = if codes.iter().all(|code| *code < INLINE_END) {
        codes.to_vec()
    } else {
        let domain = Numbering::new(&[codes], budget)?;
        let numbers: Vec<u32> = (0..domain.len() as u32).collect();
        let value = |number: u32| codec.value(domain.codes()[number as usize]);
        let _held = budget.hold(3 * numbers.len() * size_of::<u32>())?;
        let sorted = budget
            .watch(|go_on| parallel::sort_stable_by(numbers, go_on, |a, b| value(*a).cmp(&value(*b))))?;
        let mut rank_of = vec![0; sorted.len()];
        for (number, rank) in sorted.into_iter().zip(0..) {
            rank_of[number as usize] = rank;
        }
        domain.numbers(codes).into_iter().map(|number| rank_of[number as usize]).collect()
    };
    if descending {
        ranks.iter_mut().for_each(|rank| *rank = u32::MAX - *rank);
    }
    Ok(ranks)
}
