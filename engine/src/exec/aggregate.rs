//! Grouping: one accumulator an aggregate, a slot a group.
//!
//! Each lane groups its own solutions; lanes are then merged in order, so sums of floats come out the same on any
//! number of threads.

use std::sync::atomic::{AtomicBool, Ordering};

use super::batch::Bindings;
use super::error::ExecError;
use super::extremes::Extremes;
use super::group_numbers::GroupNumbers;
use super::numbers::Numbers;
use super::pipeline::Pipeline;
use crate::aggregates::Aggregate;
use crate::analysis::program::{Expression, HeadTerm};
use crate::budget::Budget;
use crate::data::keys::{Key, KeySet};
use crate::data::{
    Code, Codec, DictionaryFull, INLINE_END, NULL, Number, Rows, ValueRef, VariableId, inline_int,
};

/// The head of an aggregating rule, taken apart.
pub(super) struct Grouping<'a> {
    groups: Vec<&'a Expression>,
    aggregates: Vec<(Aggregate, VariableId)>,
    /// For each head column: a group column or an aggregate.
    layout: Vec<Slot>,
}

enum Slot {
    Group(usize),
    Aggregate(usize),
}

/// The groups of one lane.
pub(super) struct Groups {
    numbers: GroupNumbers,
    accumulators: Vec<Accumulator>,
}

impl<'a> Grouping<'a> {
    pub(super) fn new(head: &'a [HeadTerm]) -> Grouping<'a> {
        let mut grouping = Grouping { groups: Vec::new(), aggregates: Vec::new(), layout: Vec::new() };
        for term in head {
            match term {
                HeadTerm::Expression(expression) => {
                    grouping.layout.push(Slot::Group(grouping.groups.len()));
                    grouping.groups.push(expression);
                }
                HeadTerm::Aggregate { function, argument } => {
                    grouping.layout.push(Slot::Aggregate(grouping.aggregates.len()));
                    grouping.aggregates.push((*function, *argument));
                }
            }
        }
        grouping
    }

    /// No groups yet, of so many source rows.
    pub(super) fn start(&self, rows: usize) -> Groups {
        Groups {
            numbers: GroupNumbers::new(self.groups.len(), rows),
            accumulators: self.aggregates.iter().map(|(function, _)| Accumulator::new(*function)).collect(),
        }
    }

    /// Adds solutions.
    pub(super) fn add(
        &self,
        groups: &mut Groups,
        pipeline: &Pipeline<'_>,
        codec: &Codec,
        solutions: &Bindings,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let keys = self
            .groups
            .iter()
            .map(|expression| pipeline.evaluator().codes(expression, solutions))
            .collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<&[Code]> = keys.iter().map(AsRef::as_ref).collect();
        let (before, table) = (groups.numbers.len(), groups.numbers.table_bytes());
        let numbers = groups.numbers.number(&keys, solutions.len);
        for ((_, argument), accumulator) in self.aggregates.iter().zip(&mut groups.accumulators) {
            accumulator.resize(groups.numbers.len());
            match solutions.numbers(*argument) {
                Some(values) => accumulator.add_numbers(&numbers, values, codec)?,
                None => accumulator.add(&numbers, solutions.column(*argument), codec),
            }
        }
        let slots = (groups.numbers.len() - before) * 32 * (1 + self.aggregates.len());
        budget.charge(slots + groups.numbers.table_bytes().saturating_sub(table))?;
        Ok(())
    }

    /// Adds the groups of a later lane.
    pub(super) fn merge(&self, groups: &mut Groups, later: Groups, codec: &Codec) {
        let later_keys = later.numbers.keys();
        let numbers = groups.numbers.number(&later_keys.slices(), later_keys.len);
        for (accumulator, later) in groups.accumulators.iter_mut().zip(later.accumulators) {
            accumulator.resize(groups.numbers.len());
            accumulator.merge(&numbers, later, codec);
        }
    }

    /// The head's rows.
    pub(super) fn finish(
        &self,
        groups: Groups,
        codec: &Codec,
        saturated: &AtomicBool,
    ) -> Result<Rows, ExecError> {
        let len = groups.numbers.len();
        let aggregates = groups
            .accumulators
            .into_iter()
            .map(|accumulator| accumulator.finish(len, codec, saturated))
            .collect::<Result<Vec<_>, _>>()?;
        let columns = self.layout.iter().map(|slot| match slot {
            Slot::Group(column) => groups.numbers.keys().columns[*column].clone(),
            Slot::Aggregate(column) => aggregates[*column].clone(),
        });
        Ok(Rows { columns: columns.collect(), len })
    }
}

/// The state of one aggregate, a slot a group.
enum Accumulator {
    Count(Vec<i64>),
    Distinct { seen: KeySet<u64>, counts: Vec<i64> },
    Sum(Vec<Sum>),
    Avg(Vec<Sum>),
    Extremes(Extremes),
}

/// Integers are summed exactly, apart from floats.
#[derive(Clone, Default)]
struct Sum {
    ints: i128,
    floats: Floats,
    int_count: i64,
    float_count: i64,
}

/// A sum of floats, and what its roundings have lost: the same in whatever order they come (Neumaier, Rundungsfehleranalyse
/// einiger Verfahren zur Summation endlicher Summen, 1974).
#[derive(Clone, Copy, Default)]
struct Floats {
    sum: f64,
    lost: f64,
}

impl Floats {
    #[inline]
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        self.lost += if self.sum.abs() >= x.abs() { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }

    fn total(self) -> f64 {
        self.sum + self.lost
    }
}

impl Accumulator {
    fn new(function: Aggregate) -> Accumulator {
        match function {
            Aggregate::Count => Accumulator::Count(Vec::new()),
            Aggregate::CountDistinct => Accumulator::Distinct { seen: KeySet::default(), counts: Vec::new() },
            Aggregate::Sum => Accumulator::Sum(Vec::new()),
            Aggregate::Avg => Accumulator::Avg(Vec::new()),
            Aggregate::Min => Accumulator::Extremes(Extremes::new(false)),
            Aggregate::Max => Accumulator::Extremes(Extremes::new(true)),
        }
    }

    fn resize(&mut self, groups: usize) {
        match self {
            Accumulator::Count(counts) | Accumulator::Distinct { counts, .. } => counts.resize(groups, 0),
            Accumulator::Sum(sums) | Accumulator::Avg(sums) => sums.resize(groups, Sum::default()),
            Accumulator::Extremes(best) => best.resize(groups),
        }
    }

    fn add(&mut self, groups: &[u32], values: &[Code], codec: &Codec) {
        match self {
            Accumulator::Count(counts) => groups.iter().for_each(|group| counts[*group as usize] += 1),
            Accumulator::Distinct { seen, counts } => {
                for (group, code) in groups.iter().zip(values) {
                    let key = u64::from(*group) << 32 | u64::from(*code);
                    counts[*group as usize] += i64::from(seen.insert(key, key.hash()));
                }
            }
            Accumulator::Sum(sums) | Accumulator::Avg(sums) => {
                for (group, code) in groups.iter().zip(values) {
                    let sum = &mut sums[*group as usize];
                    if *code < INLINE_END {
                        sum.add_int(i64::from(*code));
                    } else {
                        sum.add(codec.number(*code));
                    }
                }
            }
            Accumulator::Extremes(best) => {
                groups.iter().zip(values).for_each(|(group, code)| best.offer(*group, *code, codec));
            }
        }
    }

    /// Adds values that have no codes yet.
    fn add_numbers(&mut self, groups: &[u32], values: &Numbers, codec: &Codec) -> Result<(), DictionaryFull> {
        match self {
            Accumulator::Count(counts) => groups.iter().for_each(|group| counts[*group as usize] += 1),
            Accumulator::Distinct { .. } => self.add(groups, &values.codes(codec)?, codec),
            Accumulator::Sum(sums) | Accumulator::Avg(sums) => match values {
                Numbers::Ints(ints) => {
                    groups.iter().zip(ints).for_each(|(group, n)| sums[*group as usize].add_int(*n));
                }
                Numbers::Floats(floats) => {
                    groups.iter().zip(floats).for_each(|(group, x)| sums[*group as usize].add_float(*x));
                }
                Numbers::Mixed(mixed) => {
                    groups.iter().zip(mixed).for_each(|(group, number)| sums[*group as usize].add(*number));
                }
            },
            Accumulator::Extremes(best) => best.offer_numbers(groups, values, codec)?,
        }
        Ok(())
    }

    fn merge(&mut self, groups: &[u32], later: Accumulator, codec: &Codec) {
        match (self, later) {
            (Accumulator::Count(counts), Accumulator::Count(later)) => {
                groups.iter().zip(later).for_each(|(group, count)| counts[*group as usize] += count);
            }
            (Accumulator::Distinct { seen, counts }, Accumulator::Distinct { seen: later, .. }) => {
                for key in later.iter() {
                    let group = groups[(key >> 32) as usize];
                    let key = u64::from(group) << 32 | (key & u64::from(u32::MAX));
                    counts[group as usize] += i64::from(seen.insert(key, key.hash()));
                }
            }
            (Accumulator::Sum(sums), Accumulator::Sum(later))
            | (Accumulator::Avg(sums), Accumulator::Avg(later)) => {
                groups.iter().zip(later).for_each(|(group, sum)| sums[*group as usize].merge(&sum));
            }
            (Accumulator::Extremes(best), Accumulator::Extremes(later)) => {
                best.merge(groups, later, codec);
            }
            // Lanes of one rule have the same accumulators in the same places.
            _ => {}
        }
    }

    fn finish(
        mut self,
        groups: usize,
        codec: &Codec,
        saturated: &AtomicBool,
    ) -> Result<Vec<Code>, ExecError> {
        self.resize(groups);
        let int = |n: i64| match inline_int(n) {
            Some(code) => Ok(code),
            None => codec.encode(ValueRef::Int(n)).map_err(ExecError::from),
        };
        match self {
            Accumulator::Count(counts) | Accumulator::Distinct { counts, .. } => {
                counts.into_iter().map(int).collect()
            }
            Accumulator::Sum(sums) => sums
                .into_iter()
                .map(|sum| match (sum.int_count, sum.float_count) {
                    (0, 0) => Ok(NULL),
                    (_, 0) => int(sum.whole().unwrap_or_else(|end| {
                        saturated.store(true, Ordering::Relaxed);
                        end
                    })),
                    _ => float(sum.total(), codec),
                })
                .collect(),
            Accumulator::Avg(sums) => sums
                .into_iter()
                .map(|sum| match sum.int_count + sum.float_count {
                    0 => Ok(NULL),
                    count => float(sum.total() / count as f64, codec),
                })
                .collect(),
            Accumulator::Extremes(best) => best.finish(codec),
        }
    }
}

impl Sum {
    fn add(&mut self, number: Option<Number>) {
        match number {
            Some(Number::Int(n)) => self.add_int(n),
            Some(Number::Float(x)) => self.add_float(x),
            None => {}
        }
    }

    #[inline]
    fn add_int(&mut self, n: i64) {
        self.ints += i128::from(n);
        self.int_count += 1;
    }

    #[inline]
    fn add_float(&mut self, x: f64) {
        self.floats.add(x);
        self.float_count += 1;
    }

    fn merge(&mut self, later: &Sum) {
        self.ints += later.ints;
        self.floats.add(later.floats.sum);
        self.floats.lost += later.floats.lost;
        self.int_count += later.int_count;
        self.float_count += later.float_count;
    }

    /// The sum of integers, or the end of their range that it is beyond.
    fn whole(&self) -> Result<i64, i64> {
        i64::try_from(self.ints).map_err(|_| if self.ints > 0 { i64::MAX } else { i64::MIN })
    }

    fn total(&self) -> f64 {
        let mut total = self.floats;
        let rounded = self.ints as f64;
        total.add(rounded);
        total.add(self.ints.saturating_sub(rounded as i128) as f64);
        total.total()
    }
}

fn float(x: f64, codec: &Codec) -> Result<Code, ExecError> {
    if x.is_finite() { Ok(codec.encode(ValueRef::Float(x))?) } else { Ok(NULL) }
}
