//! `Rounds`: when rows were found.

/// The rounds in which rows were found that stand in this order.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    /// A round, and how many rows that follow each other were found in it.
    found: Vec<(u32, u32)>,
    /// The first round of the stratum.
    begin: u32,
    /// The first round after all of them.
    end: u32,
    /// Whether a row may have been found in a later round than the first one in which all that it follows from was known.
    are_late: bool,
}

impl Rounds {
    /// So many rounds that have found nothing.
    pub(super) fn of(rounds: u32) -> Rounds {
        Rounds { end: rounds, ..Rounds::default() }
    }

    /// So many rows, all of which were found in the first round.
    pub(super) fn at_once(rows: usize) -> Rounds {
        let mut rounds = Rounds::default();
        rounds.add(rows);
        rounds
    }

    /// One more row was found in one of them.
    pub(super) fn note(&mut self, round: u32) {
        match self.found.last_mut() {
            Some((last, rows)) if *last == round => *rows += 1,
            Some(_) | None => self.found.push((round, 1)),
        }
    }

    /// In one more round so many rows were found.
    pub(super) fn add(&mut self, rows: usize) {
        if rows > 0 {
            self.found.push((self.end, rows as u32));
        }
        self.end += 1;
    }

    /// Then come other rows, found at the same time.
    pub(super) fn append(&mut self, others: Rounds) {
        self.found.extend(others.found);
        self.end = self.end.max(others.end);
        self.are_late |= others.are_late;
    }

    /// Some of them may have been found later than they could have been.
    pub(crate) fn be_late(&mut self) {
        self.are_late = true;
    }

    /// The same after so many other rounds.
    pub(super) fn after(mut self, rounds: u32) -> Rounds {
        self.found.iter_mut().for_each(|(round, _)| *round += rounds);
        self.begin += rounds;
        self.end += rounds;
        self
    }

    /// The round of each row.
    pub fn of_rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.found.iter().flat_map(|(round, rows)| std::iter::repeat_n(*round, *rows as usize))
    }

    /// The first round after all of them.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The first round of the stratum, if each row was found as soon as all that it follows from was known: in so many rounds later
    /// as its smallest proof is higher than those of rows that do not depend on the recursion.
    pub fn begin_in_time(&self) -> Option<u32> {
        (!self.are_late).then_some(self.begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_round() {
        let of = |rows: &[usize]| {
            let mut rounds = Rounds::default();
            rows.iter().for_each(|rows| rounds.add(*rows));
            rounds
        };
        let mut rounds = of(&[2, 0, 1]);
        rounds.append(of(&[0, 1]));
        assert_eq!((rounds.of_rows().collect::<Vec<_>>(), rounds.end()), (vec![0, 0, 2, 1], 3));
        let later = rounds.clone().after(5);
        assert_eq!((later.of_rows().collect::<Vec<_>>(), later.end()), (vec![5, 5, 7, 6], 8));
        assert_eq!(later.begin_in_time(), Some(5));
        let mut late = of(&[1]);
        late.be_late();
        rounds = of(&[1]);
        rounds.append(late);
        assert_eq!(rounds.begin_in_time(), None);
        let mut noted = Rounds::of(4);
        [0, 2, 2].into_iter().for_each(|round| noted.note(round));
        noted.add(1);
        assert_eq!((noted.of_rows().collect::<Vec<_>>(), noted.end()), (vec![0, 2, 2, 4], 5));
        assert_eq!(of(&[]).of_rows().count(), 0);
    }
}
