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
    let mut from = vec![0; lists.len()];
    let mut found = Vec::new();
    'rows: for row in rarest.rows() {
        for (list, from) in lists.iter().zip(&mut from) {
            *from += list.rows()[*from..].partition_point(|other| other < row);
            if list.rows().get(*from) != Some(row) {
                continue 'rows;
            }
        }
        let positions: Vec<&[u32]> = lists.iter().zip(&from).map(|(list, at)| list.positions(*at)).collect();
        let follows = |first: &&u32| {
            let mut later = (1..).zip(&positions[1..]);
            later.all(|(distance, places)| places.binary_search(&(**first + distance)).is_ok())
        };
        let frequency = positions[0].iter().filter(follows).count();
        if frequency > 0 {
            found.push((*row, frequency as u32));
        }
    }
    found
}
