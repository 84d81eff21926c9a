//! Phrases: rows in which terms stand one after the other, found by the positions of their posting lists.

use crate::data::{PostingList, Segment};

/// The rows of a segment that hold a clause, with how often.
pub(super) enum Hits<'s> {
    /// Those of a term.
    Term(PostingList<'s>),
    /// Those of several terms in a row.
    Phrase(Vec<(u32, u32)>),
}

impl<'s> Hits<'s> {
    /// Looks up terms that stand one after the other.
    pub(super) fn find(segment: &'s Segment, terms: &[String]) -> Hits<'s> {
        match terms {
            [term] => Hits::Term(segment.find(term)),
            terms => Hits::Phrase(phrase(&terms.iter().map(|term| segment.find(term)).collect::<Vec<_>>())),
        }
    }

    /// Calls `visit` with each row and how often it holds the clause.
    #[inline]
    pub(super) fn each(&self, mut visit: impl FnMut(u32, u32)) {
        match self {
            Hits::Term(list) => list.frequencies().for_each(|(row, frequency)| visit(row, frequency)),
            Hits::Phrase(rows) => rows.iter().for_each(|(row, frequency)| visit(*row, *frequency)),
        }
    }

    /// So many rows.
    pub(super) fn len(&self) -> usize {
        match self {
            Hits::Term(list) => list.rows().len(),
            Hits::Phrase(rows) => rows.len(),
        }
    }
}

/// The rows that all lists have, and in which their terms follow each other.
fn phrase(lists: &[PostingList<'_>]) -> Vec<(u32, u32)> {
    let Some(rarest) = lists.iter().min_by_key(|list| list.rows().len()) else { return Vec::new() };
    // How far each list has been read.
    let mut at = vec![0; lists.len()];
    let mut found = Vec::new();
    'rows: for row in rarest.rows() {
        for (list, at) in lists.iter().zip(&mut at) {
            *at = seek(list.rows(), *at, *row);
            if list.rows().get(*at) != Some(row) {
                continue 'rows;
            }
        }
        let follows = |first: &&u32| {
            let mut later = (0..).zip(lists).zip(&at).skip(1);
            later.all(|((distance, list), at)| {
                list.positions(*at).binary_search(&(**first + distance)).is_ok()
            })
        };
        let frequency = lists[0].positions(at[0]).iter().filter(follows).count();
        if frequency > 0 {
            found.push((*row, frequency as u32));
        }
    }
    found
}

/// The first place from this one on whose row is not before the wanted one, looked for in steps that double: it is near.
fn seek(rows: &[u32], from: usize, wanted: u32) -> usize {
    let (mut start, mut step) = (from, 1);
    while rows.get(start + step).is_some_and(|row| *row < wanted) {
        start += step;
        step *= 2;
    }
    let end = rows.len().min(start + step + 1);
    start + rows[start.min(end)..end].partition_point(|row| *row < wanted)
}

#[cfg(test)]
mod tests {
    use super::seek;

    #[test]
    fn seeking_finds_the_first_row_that_is_not_before() {
        let rows: Vec<u32> = (0..200).map(|n| n * n).collect();
        for from in [0, 1, 7, 199, 200] {
            for wanted in [0, 1, 2, 48, 49, 50, 9_801, 39_601, 39_602] {
                let expected = (from..200).find(|at| rows[*at] >= wanted).unwrap_or(200);
                assert_eq!(seek(&rows, from, wanted), expected, "from {from} {wanted}");
            }
        }
        assert_eq!(seek(&[], 0, 1), 0);
    }
}
