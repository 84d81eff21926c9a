//! Which group a row belongs to: groups are numbered in the order in which they are met.

use crate::data::keys::{Key, KeyNumbers, with_key};
use crate::data::{Code, EMPTY, Rows, bounds};

/// Groups with at most two columns whose codes lie close together stand in a table: of so many places,
const PLACES: usize = 1 << 16;
/// or of one for each row that is read, up to this.
const MOST_PLACES: usize = 1 << 22;

/// The groups that were met.
pub(crate) struct GroupNumbers {
    keys: Rows,
    numbers: Numbers,
}

enum Numbers {
    /// A place for each combination of codes in these ranges.
    Table(Table),
    Hashed(Box<dyn NumberKeys>),
}

impl GroupNumbers {
    /// No groups of so many columns, in so many rows.
    pub(crate) fn new(width: usize, rows: usize) -> GroupNumbers {
        let numbers = match width {
            1 | 2 => Numbers::Table(Table::new(width, rows.clamp(PLACES, MOST_PLACES))),
            _ => Numbers::hashed(width),
        };
        GroupNumbers { keys: Rows::empty(width), numbers }
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.keys.len
    }

    /// Bytes of the table.
    pub(crate) fn table_bytes(&self) -> usize {
        match &self.numbers {
            Numbers::Table(table) => table.places.len() * size_of::<u32>(),
            Numbers::Hashed(_) => 0,
        }
    }

    /// The columns of the groups, in the order of their numbers.
    pub(crate) fn keys(&self) -> &Rows {
        &self.keys
    }

    /// The group number of each row; new groups get the next ones.
    pub(crate) fn number(&mut self, keys: &[&[Code]], rows: usize) -> Vec<u32> {
        if let Numbers::Table(table) = &mut self.numbers {
            if rows == 0 {
                return Vec::new();
            }
            if table.covers(keys) || table.widen(keys, &self.keys) {
                return table.number(keys, &mut self.keys);
            }
            self.numbers = Numbers::hashed(keys.len());
            if let Numbers::Hashed(numbers) = &mut self.numbers {
                numbers.number(&self.keys.slices(), self.keys.len);
            }
        }
        let Numbers::Hashed(numbers) = &mut self.numbers else { return Vec::new() };
        let numbers = numbers.number(keys, rows);
        for (row, number) in numbers.iter().enumerate() {
            if *number as usize == self.keys.len {
                push(&mut self.keys, keys, row);
            }
        }
        numbers
    }
}

fn push(groups: &mut Rows, keys: &[&[Code]], row: usize) {
    for (column, key) in groups.columns.iter_mut().zip(keys) {
        column.push(key[row]);
    }
    groups.len += 1;
}

struct Table {
    /// For each column the first code and how many there are.
    ranges: Vec<(Code, usize)>,
    /// The number of each group, by its place; `EMPTY` if it was not met.
    places: Vec<u32>,
    most_places: usize,
}

impl Table {
    fn new(width: usize, most_places: usize) -> Table {
        Table { ranges: vec![(0, 0); width], places: Vec::new(), most_places }
    }

    fn covers(&self, keys: &[&[Code]]) -> bool {
        self.ranges.iter().zip(keys).all(|((first, extent), codes)| {
            let largest = codes.iter().fold(0, |largest, code| largest.max(code.wrapping_sub(*first)));
            (largest as usize) < *extent
        })
    }

    /// Makes places for these codes too; answers whether there are not too many.
    fn widen(&mut self, keys: &[&[Code]], groups: &Rows) -> bool {
        let mut ranges = Vec::with_capacity(keys.len());
        for ((first, extent), codes) in self.ranges.iter().zip(keys) {
            let Some((mut least, mut largest)) = bounds(codes) else { return false };
            if *extent > 0 {
                least = least.min(*first);
                largest = largest.max(first + (*extent as Code - 1));
            }
            ranges.push((least, (largest - least) as usize + 1));
        }
        let places = |ranges: &[(Code, usize)]| {
            let places = ranges.iter().try_fold(1_usize, |places, (_, extent)| places.checked_mul(*extent));
            places.filter(|places| *places <= self.most_places)
        };
        // If that is possible, with room for others, as what comes next often goes a little further.
        let with_room: Vec<_> = ranges.iter().map(|range| roomy(*range)).collect();
        let (ranges, places) = match (places(&with_room), places(&ranges)) {
            (Some(places), _) => (with_room, places),
            (None, Some(places)) => (ranges, places),
            (None, None) => return false,
        };
        (self.ranges, self.places) = (ranges, vec![EMPTY; places]);
        for group in 0..groups.len {
            let place = self.place(groups.columns.iter().map(|column| column[group]));
            self.places[place] = group as u32;
        }
        true
    }

    #[inline]
    fn place(&self, key: impl Iterator<Item = Code>) -> usize {
        let parts = self.ranges.iter().zip(key);
        parts.fold(0, |place, ((first, extent), code)| place * extent + (code - first) as usize)
    }

    fn number(&mut self, keys: &[&[Code]], groups: &mut Rows) -> Vec<u32> {
        let places: Vec<u32> = match (keys, self.ranges.as_slice()) {
            ([codes], [(first, _)]) => codes.iter().map(|code| code - first).collect(),
            ([left, right], [(first, _), (second, extent)]) => {
                let pairs = left.iter().zip(*right);
                pairs.map(|(a, b)| (a - first) * *extent as u32 + (b - second)).collect()
            }
            _ => return Vec::new(),
        };
        let mut numbers = places;
        for (row, number) in numbers.iter_mut().enumerate() {
            let place = &mut self.places[*number as usize];
            if *place == EMPTY {
                *place = groups.len as u32;
                push(groups, keys, row);
            }
            *number = *place;
        }
        numbers
    }
}

/// A range around a range of codes, by an eighth of it wider at both ends.
fn roomy((first, extent): (Code, usize)) -> (Code, usize) {
    let room = (extent / 8) as Code;
    let start = first.saturating_sub(room);
    let end = (first + (extent as Code - 1)).saturating_add(room);
    (start, (end - start) as usize + 1)
}

/// [`KeyNumbers`] of any width.
trait NumberKeys: Send {
    fn number(&mut self, keys: &[&[Code]], rows: usize) -> Vec<u32>;
}

impl Numbers {
    fn hashed(width: usize) -> Numbers {
        Numbers::Hashed(with_key!(width, K => Box::new(KeyNumbers::<K>::default())))
    }
}

impl<K: Key> NumberKeys for KeyNumbers<K> {
    fn number(&mut self, columns: &[&[Code]], rows: usize) -> Vec<u32> {
        let mut keys = Vec::with_capacity(rows);
        K::pack(columns, 0, rows, &mut keys);
        keys.into_iter().map(|key| KeyNumbers::number(self, key)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::GroupNumbers;

    #[test]
    fn numbers_stay_the_same_while_tables_widen_and_give_way_to_hashing() {
        let mut groups = GroupNumbers::new(2, 5);
        assert_eq!(groups.number(&[&[5, 6, 5], &[100, 100, 100]], 3), [0, 1, 0]);
        assert!(groups.number(&[], 0).is_empty());
        assert_eq!(groups.number(&[&[3, 5], &[101, 100]], 2), [2, 0]);
        assert_eq!(groups.number(&[&[2_000_000_000, 3, 6], &[0, 101, 100]], 3), [3, 2, 1]);
        assert_eq!(groups.len(), 4);
        assert_eq!(groups.keys().columns, [vec![5, 6, 3, 2_000_000_000], vec![100, 100, 101, 0]]);
    }

    #[test]
    fn one_group_has_no_columns_and_many_have_three() {
        let mut all = GroupNumbers::new(0, 2);
        assert_eq!((all.number(&[], 2), all.len()), (vec![0, 0], 1));
        let mut groups = GroupNumbers::new(3, 3);
        assert_eq!(groups.number(&[&[1, 1, 1], &[2, 2, 2], &[3, 4, 3]], 3), [0, 1, 0]);
    }
}
