//! An order in which values that belong together come together, so that rows have few blocks (Cuthill and McKee,
//! Reducing the bandwidth of sparse symmetric matrices, 1969).

use crate::budget::{Budget, BudgetError};

/// Not in its place yet.
const NONE: u32 = u32::MAX;
/// Numbers between two looks at the budget.
const CHECK_NUMBERS: usize = 1 << 14;

/// The place of each of `size` numbers: breadth-first along pairs, in both directions.
pub(super) fn places(pairs: &[[Vec<u32>; 2]], size: usize, budget: &Budget) -> Result<Vec<u32>, BudgetError> {
    let edges = || pairs.iter().flat_map(|[from, to]| from.iter().zip(to)).filter(|(from, to)| from != to);
    let mut next = vec![0_usize; size + 1];
    for (from, to) in edges() {
        next[*from as usize + 1] += 1;
        next[*to as usize + 1] += 1;
    }
    for number in 0..size {
        next[number + 1] += next[number];
    }
    let _held = budget.hold((next[size] + 5 * size) * size_of::<u32>())?;
    let mut neighbours = vec![0_u32; next[size]];
    for (a, b) in edges() {
        for (from, to) in [(a, b), (b, a)] {
            neighbours[next[*from as usize]] = *to;
            next[*from as usize] += 1;
        }
    }
    // The neighbours of a number now end where those of the next one began.
    let of = |number: usize| {
        let start = number.checked_sub(1).map_or(0, |before| next[before]);
        &neighbours[start..next[number]]
    };
    let mut places = vec![NONE; size];
    let mut order = Vec::with_capacity(size);
    for root in 0..size as u32 {
        let mut at = order.len();
        if places[root as usize] == NONE {
            places[root as usize] = at as u32;
            order.push(root);
        }
        while let Some(number) = order.get(at) {
            if at.is_multiple_of(CHECK_NUMBERS) {
                budget.check()?;
            }
            at += 1;
            for other in of(*number as usize) {
                if places[*other as usize] == NONE {
                    places[*other as usize] = order.len() as u32;
                    order.push(*other);
                }
            }
        }
    }
    Ok(places)
}
