//! A column as a function of another one.

use super::codes::{Code, EMPTY, bounds};
use super::lazy::{GoOn, Stopped, each_row};

/// What stands beside each code of a column in which none comes twice, in an array over the codes.
#[derive(Debug)]
pub struct Mapping {
    first: Code,
    values: Vec<Code>,
}

impl Mapping {
    /// From the codes of one column to those of another; none if a code comes twice, or if codes do not lie close together.
    pub(super) fn new(from: &[Code], to: &[Code], go_on: GoOn<'_>) -> Result<Option<Mapping>, Stopped> {
        let Some((first, last)) = bounds(from) else { return Ok(None) };
        let places = (last - first) as usize + 1;
        if places > from.len() * 4 + 64 {
            return Ok(None);
        }
        let mut values = vec![EMPTY; places];
        let mut came_twice = false;
        each_row(0..from.len(), go_on, |row| {
            let value = &mut values[(from[row] - first) as usize];
            came_twice |= *value != EMPTY;
            *value = to[row];
        })?;
        Ok((!came_twice).then_some(Mapping { first, values }))
    }

    /// Adds what stands beside each of the codes; `EMPTY` for nothing. Answers whether there is something beside all.
    pub fn apply(&self, codes: &[Code], mapped: &mut Vec<Code>) -> bool {
        let start = mapped.len();
        let value =
            |code: &Code| self.values.get(code.wrapping_sub(self.first) as usize).copied().unwrap_or(EMPTY);
        mapped.extend(codes.iter().map(value));
        mapped[start..].iter().fold(0, |largest, code| largest.max(*code)) < EMPTY
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.values.len() * size_of::<Code>()
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, EMPTY, Mapping};

    fn mapping(from: &[Code], to: &[Code]) -> Option<Mapping> {
        Mapping::new(from, to, &|| true).unwrap()
    }

    #[test]
    fn codes_lead_to_what_stands_beside_them() {
        let mapping = mapping(&[9, 7, 12], &[1, 2, 3]).unwrap();
        let mut mapped = vec![5];
        assert!(mapping.apply(&[12, 7, 7], &mut mapped));
        assert!(!mapping.apply(&[8, 9, 6, 13], &mut mapped));
        assert_eq!(mapped, [5, 3, 2, 2, EMPTY, 1, EMPTY, EMPTY]);
    }

    #[test]
    fn keys_that_come_twice_or_lie_apart_have_none() {
        assert!(mapping(&[], &[]).is_none());
        assert!(mapping(&[1, 2, 1], &[1, 2, 1]).is_none());
        assert!(mapping(&[1, 2_000_000], &[1, 2]).is_none());
    }
}
