//! `Sample`: some rows of a relation's columns, and what they tell of all of them.

use std::cmp::Ordering;

use super::codes::Code;
use super::keys::fold_codes;

/// Rows that are looked at.
const ROWS: usize = 1_024;
/// All rows are kept of a relation that has no more than these,
const SHORT: usize = 256;
/// and so many for each purpose of one that is long.
const KEPT: usize = ROWS / 2;

/// A sample of some columns: combinations of codes.
#[derive(Debug)]
pub struct Sample {
    distinct: usize,
    /// Rows that are looked up elsewhere, and rows that are looked up. They are not the same ones, as another relation may have
    /// the same rows in the same order: what is found by chance must not be taken for what is there.
    keys: Counted,
    rows: Counted,
}

/// Combinations in ascending order, and how often each has come.
#[derive(Debug, Default)]
struct Counted {
    counts: Box<[(Code, u32)]>,
    all: usize,
}

/// What is expected where the rows of one sample are looked up in the other one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matches {
    /// The share of the rows that match, on average.
    pub rows: f64,
    /// The share of those that are looked up for which some match.
    pub found: f64,
}

impl Sample {
    /// A sample of so many rows of these columns.
    pub fn of(columns: &[&[Code]], rows: usize) -> Sample {
        let step = rows.div_ceil(ROWS).max(1);
        // A step that is no divisor of usual strides keeps the sample from hitting one phase of a pattern.
        let places = (0..rows).step_by(step).map(|row| {
            let jitter = (row.wrapping_mul(0x9E37_79B9) >> 7) % step;
            (row + jitter).min(rows - 1)
        });
        let code = |row: usize| match columns {
            [column] => column[row],
            columns => fold_codes(columns.iter().map(|column| column[row])),
        };
        let mut drawn: Vec<Code> = places.clone().map(code).collect();
        // Where equal codes stand together, rows that lie apart never show that they repeat; neighbours do.
        let in_order = match columns {
            [column] if step > 1 && drawn.is_sorted() => {
                let last = places.filter(|row| column.get(row + 1) != Some(&column[*row])).count();
                Some((rows as f64 * last as f64 / drawn.len() as f64) as usize)
            }
            _ => None,
        };
        let (keys, looked_up) = if rows <= SHORT {
            (Counted::of(drawn.clone()), Counted::of(drawn.clone()))
        } else {
            let stride = 2 * (drawn.len() / 2).div_ceil((rows / 8).clamp(SHORT / 2, KEPT));
            let every =
                |first: usize| Counted::of(drawn.iter().skip(first).step_by(stride).copied().collect());
            (every(0), every(1))
        };
        drawn.sort_unstable();
        let most = match (columns, drawn.first(), drawn.last()) {
            // No more than there are codes in the range that the sample shows, which may be a little wider.
            ([_], Some(first), Some(last)) => {
                f64::from(last - first) * (1.0 + 2.0 / drawn.len() as f64) + 1.0
            }
            _ => f64::INFINITY,
        };
        let distinct = match in_order {
            Some(distinct) => distinct.max(drawn.chunk_by(|a, b| a == b).count()),
            None => estimate_distinct(&drawn, rows, most),
        };
        Sample { distinct, keys, rows: looked_up }
    }

    /// Number of distinct combinations, estimated.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// What is expected where rows of the first are looked up in the second. What samples say is believed where some pairs would
    /// match by chance; where they are too small for that, values count as if all came equally often.
    ///
    /// Rows of the first may have been joined on the same combination before: those with many matches there come more often.
    /// Where the samples of both show too few of them, those of the more uneven one stand for what both have.
    pub fn look_up(&self, other: &Sample, joined: Option<&Sample>) -> Matches {
        const PAIRS: f64 = 32.0;
        let both = joined.map(|joined| self.keys.joined(&joined.rows));
        let keys = match (&both, joined) {
            (Some(both), _) if both.all as f64 >= PAIRS => both,
            (_, Some(joined)) if joined.keys.unevenness() > self.keys.unevenness() => &joined.keys,
            _ => &self.keys,
        };
        let (pairs, found) = keys.common(&other.rows);
        let (all, distinct) = (keys.all.max(1) as f64, self.distinct.max(other.distinct).max(1) as f64);
        let all_pairs = all * other.rows.all.max(1) as f64;
        let expected = all_pairs / distinct;
        let rows = if expected.max(pairs) < PAIRS { 1.0 / distinct } else { (pairs + 0.5) / all_pairs };
        let found = found / all;
        // What was not found may be among what the sample of the other does not have.
        let seen = other.rows.counts.len() as f64;
        let unseen = (other.distinct as f64 - seen).max(0.0) / (distinct - seen).max(1.0);
        Matches { rows, found: found + (1.0 - found) * unseen.min(1.0) }
    }
}

impl Counted {
    fn of(mut codes: Vec<Code>) -> Counted {
        codes.sort_unstable();
        let counts = codes.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32));
        Counted { counts: counts.collect(), all: codes.len() }
    }

    /// Pairs of a row of each that are equal, and rows of this one that have such a pair.
    fn common(&self, other: &Counted) -> (f64, f64) {
        let (mut pairs, mut found) = (0, 0);
        self.for_each_common(other, |_, rows, others| {
            pairs += u64::from(rows) * u64::from(others);
            found += u64::from(rows);
        });
        (pairs as f64, found as f64)
    }

    /// How likely two rows are the same combination.
    fn unevenness(&self) -> f64 {
        let squares: f64 = self.counts.iter().map(|(_, rows)| f64::from(*rows).powi(2)).sum();
        squares / (self.all.max(1) as f64).powi(2)
    }

    /// The combinations of all such pairs.
    fn joined(&self, other: &Counted) -> Counted {
        let (mut counts, mut all) = (Vec::new(), 0);
        self.for_each_common(other, |code, rows, others| {
            // Neither has more than a sample.
            counts.push((code, rows * others));
            all += (rows * others) as usize;
        });
        Counted { counts: counts.into(), all }
    }

    /// Calls `visit` with each combination that both have, and how often each has it.
    fn for_each_common(&self, other: &Counted, mut visit: impl FnMut(Code, u32, u32)) {
        let (mut own, mut others) = (self.counts.iter(), other.counts.iter());
        let (mut first, mut second) = (own.next(), others.next());
        while let (Some((code, rows)), Some((other, other_rows))) = (first, second) {
            match code.cmp(other) {
                Ordering::Less => first = own.next(),
                Ordering::Greater => second = others.next(),
                Ordering::Equal => {
                    visit(*code, *rows, *other_rows);
                    (first, second) = (own.next(), others.next());
                }
            }
        }
    }
}

/// The GEE estimator (Charikar, Chaudhuri, Motwani, Narasayya: Towards estimation error guarantees for distinct
/// values, PODS 2000): values seen once in the sample stand for sqrt(rows / sample) values each. There are no more than `most`.
fn estimate_distinct(sample: &[Code], rows: usize, most: f64) -> usize {
    let (mut distinct, mut once) = (0, 0);
    for equal in sample.chunk_by(|a, b| a == b) {
        distinct += 1;
        once += usize::from(equal.len() == 1);
    }
    let sampled = sample.len();
    if once == sampled {
        // Nothing repeats: most likely a key.
        return rows;
    }
    let scale = (rows as f64 / sampled as f64).sqrt();
    let estimate = once as f64 * scale + (distinct - once) as f64;
    (estimate.min(most) as usize).clamp(1, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Code = 100_000;

    fn sample(code: impl Fn(Code) -> Code) -> Sample {
        Sample::of(&[&(0..ROWS).map(code).collect::<Vec<_>>()], ROWS as usize)
    }

    /// A number that looks random, as MurmurHash ends.
    fn mixed(row: Code) -> Code {
        let once = (row ^ (row >> 16)).wrapping_mul(0x85EB_CA6B);
        let twice = (once ^ (once >> 13)).wrapping_mul(0xC2B2_AE35);
        twice ^ (twice >> 16)
    }

    #[test]
    fn distinct_values_are_estimated_within_a_small_factor() {
        assert_eq!(sample(|row| row % 10).distinct(), 10);
        assert_eq!(sample(|row| row).distinct(), 100_000);
        let dense = sample(|row| row.wrapping_mul(0x9E37_79B9) % 2_000).distinct();
        assert!((1_900..2_100).contains(&dense), "{dense}");
        assert_eq!(Sample::of(&[&[]], 0).distinct(), 0);
        // In order, whatever their number, up to one for each row.
        assert_eq!(sample(|row| row / 50_000).distinct(), 2);
        for of_each in [5, 30, 300] {
            let found = sample(|row| row / of_each).distinct() * of_each as usize;
            assert!((70_000..140_000).contains(&found), "{found} for {of_each} of each");
        }
        // Columns of which one says what the other is have no more combinations than that.
        let column: Vec<Code> = (0..ROWS).map(|row| mixed(row) % 50).collect();
        assert!(Sample::of(&[&column, &column], ROWS as usize).distinct() < 60);
    }

    #[test]
    fn samples_tell_what_columns_have_in_common() {
        let (few, more) = (sample(|row| mixed(row) % 40), sample(|row| mixed(row + ROWS) % 400));
        // A tenth of the second one's values are among those of the first one, each a fortieth of its rows.
        let Matches { rows, found } = more.look_up(&few, None);
        assert!((0.05..0.15).contains(&found), "{found}");
        assert!((0.5..1.5).contains(&(rows * 400.0)), "{rows}");
        let Matches { rows, found } = few.look_up(&more, None);
        assert!((0.5..1.5).contains(&(rows * 400.0)) && found > 0.9, "{rows} {found}");
        // Half of the rows have one value.
        let skewed = sample(|row| if row % 2 == 0 { 3 } else { mixed(row) % 400 });
        let Matches { rows, .. } = skewed.look_up(&skewed, None);
        assert!((0.2..0.3).contains(&rows), "{rows}");
    }

    #[test]
    fn rows_that_are_the_same_match_once() {
        let Matches { rows, found } = sample(|row| row).look_up(&sample(|row| row), None);
        assert!((0.5..2.0).contains(&(rows * f64::from(ROWS))) && found > 0.9, "{rows} {found}");
        let few = Sample::of(&[&[1, 2, 2]], 3).look_up(&Sample::of(&[&[2, 3]], 2), None);
        assert!((0.2..0.7).contains(&few.rows) && (0.6..1.0).contains(&few.found), "{few:?}");
    }

    /// Half of the rows have one code: who has been joined on the codes has it nearly always.
    #[test]
    fn what_was_joined_before_comes_more_often() {
        let skewed = |shift: Code| sample(move |row| if row % 2 == 0 { 7 } else { (row + shift) % 1_000 });
        let (first, second, third) = (skewed(0), skewed(3), skewed(5));
        let alone = first.look_up(&third, None).rows;
        let joined = first.look_up(&third, Some(&second)).rows;
        assert!((0.2..0.3).contains(&alone), "{alone}");
        assert!((0.45..0.55).contains(&joined), "{joined}");
        // A key says nothing of how often its codes come, whichever of them it is.
        let key = sample(|row| row);
        for rows in [key.look_up(&third, Some(&second)).rows, second.look_up(&third, Some(&key)).rows] {
            assert!((0.2..0.3).contains(&rows), "{rows}");
        }
    }
}
