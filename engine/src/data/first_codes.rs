//! Rows put in order by their first codes, and those with the same first code among themselves. Where first codes are dense, that is
//! one pass over all rows and many sorts of a few, which stay in the cache: one sort of all takes more than twice as long.

use super::codes::{Code, bounds, dense_range};
use super::counting_sort::{Item, counting_sort};
use super::keys::Key;
use super::parallel;

/// Fewer rows are sorted at once.
const MANY: usize = 1 << 14;
/// More rows with the same first code are sorted on all threads.
const LARGE: usize = 1 << 16;

/// The columns of rows in order, if these have two or three, there are many, and their first codes are dense.
pub(super) fn by_first_codes(columns: &[&[Code]]) -> Option<Vec<Vec<Code>>> {
    let [first, rest @ ..] = columns else { return None };
    let rows = first.len();
    if rows < MANY {
        return None;
    }
    let (least, groups) = dense_range([bounds(first)].into_iter(), rows)?;
    // Each thread counts the rows of each group.
    if groups.saturating_mul(parallel::thread_count()) > 2 * rows {
        return None;
    }
    match rest {
        [second] => {
            let (first, second) = grouped(first, least, groups, |row| second[row])?;
            Some(vec![first, second])
        }
        [second, third] => {
            let both = |row: usize| u64::from(second[row]) << Code::BITS | u64::from(third[row]);
            let (first, both) = grouped(first, least, groups, both)?;
            let column = |position| both.iter().map(|both| both.code(position)).collect();
            Some(vec![first, column(0), column(1)])
        }
        _ => None,
    }
}

/// The first codes in order, and beside each the item of a row that has it; those of one code are in order.
fn grouped<T: Item>(
    first: &[Code],
    least: Code,
    groups: usize,
    item_of: impl Fn(usize) -> T + Sync,
) -> Option<(Vec<Code>, Vec<T>)> {
    let rows = first.len();
    let (starts, mut items) =
        counting_sort(rows, groups, |row| first[row] - least, item_of, &|| true).ok()?;
    let mut parts = Vec::new();
    let (mut rest, mut begun, mut group) = (&mut *items, 0, 0);
    while group < groups {
        let of_part = group;
        while group < groups && (group == of_part || starts[group + 1] as usize - begun <= LARGE) {
            group += 1;
        }
        let (part, others) = rest.split_at_mut(starts[group] as usize - begun);
        parts.push((&starts[of_part..=group], part));
        (rest, begun) = (others, starts[group] as usize);
    }
    parallel::map(parts, |(starts, mut part)| {
        for bounds in starts.windows(2) {
            let (group, others) = part.split_at_mut((bounds[1] - bounds[0]) as usize);
            match group.len() {
                0..LARGE => group.sort_unstable(),
                _ => parallel::sort_by_key(group, |item| *item),
            }
            part = others;
        }
    });
    let mut codes = Vec::with_capacity(rows);
    for (group, bounds) in starts.windows(2).enumerate() {
        codes.resize(bounds[1] as usize, least + group as Code);
    }
    Some((codes, items))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: usize, len: usize, first: impl Fn(u32) -> Code) -> Vec<Vec<Code>> {
        let mixed = |row: u32, column: u32| (row ^ column << 20).wrapping_mul(0x9E37_79B9).rotate_left(11);
        let codes = |column: u32| match column {
            0 => (0..len as u32).map(|row| first(mixed(row, 0))).collect(),
            _ => (0..len as u32).map(|row| mixed(row, column)).collect(),
        };
        (0..columns as u32).map(codes).collect()
    }

    fn in_order(columns: &[Vec<Code>]) -> Option<Vec<Vec<Code>>> {
        by_first_codes(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    fn tuples(columns: &[Vec<Code>]) -> Vec<Vec<Code>> {
        (0..columns[0].len()).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }

    #[test]
    fn they_are_in_the_order_of_all_codes() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let even = |code: Code| code % 1_000 + (1 << 31);
        // Most of them in one group, others empty.
        let skewed = |code: Code| if code.is_multiple_of(8) { code % 3_000 } else { 7 };
        for len in [MANY, 3 * LARGE, 1 << 20] {
            for rows in [rows(2, len, even), rows(3, len, even), rows(2, len, skewed), rows(3, len, skewed)] {
                let mut expected = tuples(&rows);
                expected.sort();
                assert!(tuples(&in_order(&rows).unwrap()) == expected);
                assert!(tuples(&pool.install(|| in_order(&rows)).unwrap()) == expected);
            }
        }
    }

    #[test]
    fn few_rows_and_those_of_first_codes_far_apart_are_sorted_otherwise() {
        assert_eq!(in_order(&rows(2, MANY - 1, |code| code % 1_000)), None);
        assert_eq!(in_order(&rows(2, MANY, |code| code)), None);
        assert_eq!(in_order(&rows(1, MANY, |code| code % 1_000)), None);
        assert_eq!(in_order(&rows(4, MANY, |code| code % 1_000)), None);
        assert_eq!(in_order(&[]), None);
    }
}
