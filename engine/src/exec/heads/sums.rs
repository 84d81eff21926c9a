//! The sums of groups: integers exactly, floats exactly rounded, each apart from the other until the end.

use foldhash::HashMap;

use crate::data::Number;
use crate::exec::heads::float_sum::{Exact, Pair};

/// A sum for each group.
#[derive(Default)]
pub(crate) struct Sums {
    sums: Vec<Sum>,
    /// The floats of groups that two floats do not hold; their pair is [`SPILLED`].
    exact: HashMap<u32, Box<Exact>>,
}

#[derive(Clone, Default)]
struct Sum {
    ints: i128,
    floats: Pair,
    int_count: i64,
    float_count: i64,
}

/// What a group adds up to.
pub(crate) enum Total {
    /// There was no number.
    Nothing,
    /// There were integers alone: the sum, or the end of the range that it is beyond.
    Int(Result<i64, i64>),
    /// Infinite where no float is near.
    Float(f64),
}

impl Sums {
    pub(crate) fn resize(&mut self, groups: usize) {
        self.sums.resize(groups, Sum::default());
    }

    /// Bytes beside those of the groups.
    pub(crate) fn exact_bytes(&self) -> usize {
        self.exact.len() * size_of::<Exact>()
    }

    #[inline]
    pub(crate) fn add(&mut self, group: u32, number: Number) {
        match number {
            Number::Int(n) => self.add_int(group, n),
            Number::Float(x) => self.add_float(group, x),
        }
    }

    #[inline]
    pub(crate) fn add_int(&mut self, group: u32, n: i64) {
        let sum = &mut self.sums[group as usize];
        sum.ints += i128::from(n);
        sum.int_count += 1;
    }

    #[inline]
    pub(crate) fn add_float(&mut self, group: u32, x: f64) {
        let sum = &mut self.sums[group as usize];
        sum.float_count += 1;
        match sum.floats.with(x) {
            Some(floats) => sum.floats = floats,
            None => self.exact(group).add(x),
        }
    }

    /// The exact sum of a group's floats, which takes the place of its pair.
    #[cold]
    fn exact(&mut self, group: u32) -> &mut Exact {
        let pair = std::mem::replace(&mut self.sums[group as usize].floats, Pair::SPILLED);
        self.exact.entry(group).or_insert_with(|| Box::new(Exact::of(pair)))
    }

    /// Adds the sums of other groups, by the numbers that these have here.
    pub(crate) fn merge(&mut self, groups: &[u32], mut others: Sums) {
        for ((other, theirs), group) in (0..).zip(others.sums).zip(groups) {
            let sum = &mut self.sums[*group as usize];
            sum.ints += theirs.ints;
            sum.int_count += theirs.int_count;
            sum.float_count += theirs.float_count;
            if let Some(exact) = others.exact.remove(&other) {
                self.exact(*group).merge(*exact);
                continue;
            }
            match theirs.floats.parts().into_iter().try_fold(sum.floats, Pair::with) {
                Some(floats) => sum.floats = floats,
                None => self.exact(*group).merge(Exact::of(theirs.floats)),
            }
        }
    }

    /// The sum of each group.
    pub(crate) fn totals(&self) -> impl Iterator<Item = Total> {
        (0..).zip(&self.sums).map(|(group, sum)| match (sum.int_count, sum.float_count) {
            (0, 0) => Total::Nothing,
            (_, 0) => Total::Int(sum.whole()),
            _ => Total::Float(self.total(group, sum)),
        })
    }

    /// The mean of each group; `None` where there was no number.
    pub(crate) fn means(&self) -> impl Iterator<Item = Option<f64>> {
        (0..).zip(&self.sums).map(|(group, sum)| match sum.int_count + sum.float_count {
            0 => None,
            count => Some(match self.all(group, sum) {
                Some(exact) => exact.mean(count),
                None => self.total(group, sum) / count as f64,
            }),
        })
    }

    fn total(&self, group: u32, sum: &Sum) -> f64 {
        self.all(group, sum).map_or_else(|| sum.floats.total(), |exact| exact.total())
    }

    /// Integers and floats together, unless a pair of floats has all.
    fn all(&self, group: u32, sum: &Sum) -> Option<Exact> {
        let exact = self.exact.get(&group);
        if exact.is_none() && sum.ints == 0 {
            return None;
        }
        let mut all = exact.map_or_else(|| Exact::of(sum.floats), |exact| Exact::clone(exact));
        all.add_int(sum.ints);
        Some(all)
    }
}

impl Sum {
    /// The sum of integers, or the end of their range that it is beyond.
    fn whole(&self) -> Result<i64, i64> {
        i64::try_from(self.ints).map_err(|_| if self.ints > 0 { i64::MAX } else { i64::MIN })
    }
}

#[cfg(test)]
mod tests {
    use super::{Sums, Total};

    fn total(sums: &Sums) -> Option<f64> {
        match sums.totals().next() {
            Some(Total::Float(x)) => Some(x),
            Some(Total::Int(_) | Total::Nothing) | None => None,
        }
    }

    /// Every order of these, cut into two lanes at every place.
    fn assert_always(values: &mut [f64], at: usize, expected: f64) {
        if at < values.len() {
            for other in at..values.len() {
                values.swap(at, other);
                assert_always(values, at + 1, expected);
                values.swap(at, other);
            }
            return;
        }
        for cut in 0..=values.len() {
            let lane = |values: &[f64]| {
                let mut sums = Sums::default();
                sums.resize(1);
                values.iter().for_each(|x| sums.add_float(0, *x));
                sums
            };
            let mut first = lane(&values[..cut]);
            first.merge(&[0], lane(&values[cut..]));
            assert_eq!(total(&first), Some(expected), "{values:?} cut at {cut}");
        }
    }

    #[test]
    fn neither_order_nor_lanes_change_a_sum() {
        assert_always(&mut [1e308, 1e308, -1e308, 1.0], 0, 1e308);
        assert_always(&mut [1e16, 1.0, -1e16, 1e-16, 3e-320], 0, 1.0 + 1e-16);
        assert_always(&mut [0.1, 0.2, 0.3, 0.4, 0.5], 0, 1.5);
    }

    #[test]
    fn integers_and_floats_are_rounded_once() {
        let mut sums = Sums::default();
        sums.resize(1);
        sums.add_int(0, (1 << 53) + 1);
        sums.add_float(0, 0.5);
        sums.add_float(0, 0.5);
        assert_eq!(total(&sums), Some(((1_i64 << 53) + 2) as f64));
        assert_eq!(sums.means().next().flatten(), Some(((1_i64 << 53) + 2) as f64 / 3.0));
    }
}
