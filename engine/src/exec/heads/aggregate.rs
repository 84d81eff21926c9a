//! Grouping: one accumulator an aggregate, a slot a group.
//!
//! Each lane groups its own solutions; lanes are then merged in order, so sums of floats come out the same on any
//! number of threads.

use crate::aggregates::Aggregate;
use crate::analysis::program::{Expression, HeadTerm};
use crate::budget::Budget;
use crate::data::keys::{Key, KeySet};
use crate::data::{
    Code, Codec, DictionaryFull, INLINE_END, NULL, Rows, Value, ValueRef, VariableId, inline_int,
};
use crate::exec::error::ExecError;
use crate::exec::heads::extremes::{Extremes, Finished};
use crate::exec::heads::gathered::Gathered;
use crate::exec::heads::groups::GroupNumbers;
use crate::exec::heads::rank_fusion::RankFusion;
use crate::exec::heads::sums::{Sums, Total};
use crate::exec::operators::pipeline::Pipeline;
use crate::exec::remarks::{Remarks, Unlike};
use crate::exec::values::batch::Bindings;
use crate::exec::values::numbers::Numbers;

/// The head of an aggregating rule, taken apart.
pub(crate) struct Grouping<'a> {
    groups: Vec<&'a Expression>,
    aggregates: Vec<(Aggregate, VariableId)>,
    /// What stands beside the variable of each aggregate.
    options: Vec<Option<&'a Value>>,
    /// For each head column: a group column or an aggregate.
    layout: Vec<Slot>,
}

enum Slot {
    Group(usize),
    Aggregate(usize),
}

/// The groups of one lane.
pub(crate) struct Groups {
    numbers: GroupNumbers,
    accumulators: Vec<Accumulator>,
    /// For each aggregate, the smallest value that it passed over because it is no number.
    passed_over: Vec<Option<Code>>,
}

impl<'a> Grouping<'a> {
    pub(crate) fn new(head: &'a [HeadTerm]) -> Grouping<'a> {
        let mut grouping =
            Grouping { groups: Vec::new(), aggregates: Vec::new(), options: Vec::new(), layout: Vec::new() };
        for term in head {
            match term {
                HeadTerm::Expression(expression) => {
                    grouping.layout.push(Slot::Group(grouping.groups.len()));
                    grouping.groups.push(expression);
                }
                HeadTerm::Aggregate { function, argument, option } => {
                    grouping.layout.push(Slot::Aggregate(grouping.aggregates.len()));
                    grouping.aggregates.push((*function, *argument));
                    grouping.options.push(option.as_ref());
                }
            }
        }
        grouping
    }

    /// No groups yet, of so many source rows.
    pub(crate) fn start(&self, rows: usize) -> Groups {
        Groups {
            numbers: GroupNumbers::new(self.groups.len(), rows),
            accumulators: self
                .aggregates
                .iter()
                .zip(&self.options)
                .map(|((function, _), option)| Accumulator::new(*function, *option))
                .collect(),
            passed_over: vec![None; self.aggregates.len()],
        }
    }

    /// Adds solutions.
    pub(crate) fn add(
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
        let accumulators = groups.accumulators.iter_mut().zip(&mut groups.passed_over);
        let mut exact_bytes = 0;
        for ((_, argument), (accumulator, passed_over)) in self.aggregates.iter().zip(accumulators) {
            accumulator.resize(groups.numbers.len());
            let before = accumulator.exact_bytes();
            match solutions.numbers(*argument) {
                Some(values) => accumulator.add_numbers(&numbers, values, codec, passed_over)?,
                None => accumulator.add(&numbers, solutions.column(*argument), codec, passed_over),
            }
            exact_bytes += accumulator.exact_bytes() - before;
        }
        let slots = (groups.numbers.len() - before) * 32 * (1 + self.aggregates.len());
        budget.charge(exact_bytes + slots + groups.numbers.table_bytes().saturating_sub(table))?;
        Ok(())
    }

    /// Adds the groups of a later lane.
    pub(crate) fn merge(&self, groups: &mut Groups, later: Groups, codec: &Codec) {
        let later_keys = later.numbers.keys();
        let numbers = groups.numbers.number(&later_keys.slices(), later_keys.len);
        for (accumulator, later) in groups.accumulators.iter_mut().zip(later.accumulators) {
            accumulator.resize(groups.numbers.len());
            accumulator.merge(&numbers, later, codec);
        }
        for (passed_over, later) in groups.passed_over.iter_mut().zip(later.passed_over) {
            later.into_iter().for_each(|code| keep_smallest(passed_over, code, codec));
        }
    }

    /// The head's rows.
    pub(crate) fn finish(
        &self,
        groups: Groups,
        codec: &Codec,
        rule: &str,
        remarks: &Remarks,
        budget: &Budget,
    ) -> Result<Rows, ExecError> {
        let len = groups.numbers.len();
        for ((function, _), code) in self.aggregates.iter().zip(&groups.passed_over) {
            if let Some(code) = code {
                if *function == Aggregate::Rrf {
                    return Err(ExecError::NoRank { found: codec.value(*code).to_value() });
                }
                remarks.unlike(rule, *function, Unlike::PassedOver(codec.value(*code).to_value()));
            }
        }
        let aggregates = groups
            .accumulators
            .into_iter()
            .zip(&self.aggregates)
            .map(|(accumulator, (function, _))| {
                let finished = accumulator.finish(len, codec, remarks, budget)?;
                if finished.mixed && matches!(function, Aggregate::Min | Aggregate::Max) {
                    remarks.unlike(rule, *function, Unlike::Mixed);
                }
                Ok(finished.codes)
            })
            .collect::<Result<Vec<_>, ExecError>>()?;
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
    Sum(Sums),
    Avg(Sums),
    Extremes(Extremes),
    Gathered(Gathered),
    Fused(RankFusion),
}

impl Accumulator {
    fn new(function: Aggregate, option: Option<&Value>) -> Accumulator {
        match function {
            Aggregate::Count => Accumulator::Count(Vec::new()),
            Aggregate::CountDistinct => Accumulator::Distinct { seen: KeySet::default(), counts: Vec::new() },
            Aggregate::Sum => Accumulator::Sum(Sums::default()),
            Aggregate::Avg => Accumulator::Avg(Sums::default()),
            Aggregate::Min | Aggregate::First => Accumulator::Extremes(Extremes::new(false)),
            Aggregate::Max | Aggregate::Last => Accumulator::Extremes(Extremes::new(true)),
            Aggregate::Median
            | Aggregate::Quantile
            | Aggregate::Stddev
            | Aggregate::StringAgg
            | Aggregate::Collect => Accumulator::Gathered(Gathered::new(function, option.cloned())),
            Aggregate::Rrf => Accumulator::Fused(RankFusion::new(option)),
        }
    }

    fn resize(&mut self, groups: usize) {
        match self {
            Accumulator::Count(counts) | Accumulator::Distinct { counts, .. } => counts.resize(groups, 0),
            Accumulator::Sum(sums) | Accumulator::Avg(sums) => sums.resize(groups),
            Accumulator::Extremes(best) => best.resize(groups),
            Accumulator::Gathered(_) => {}
            Accumulator::Fused(fusion) => fusion.resize(groups),
        }
    }

    /// Bytes beside those of the groups.
    fn exact_bytes(&self) -> usize {
        match self {
            Accumulator::Sum(sums) | Accumulator::Avg(sums) => sums.exact_bytes(),
            Accumulator::Gathered(gathered) => gathered.bytes(),
            Accumulator::Fused(fusion) => fusion.exact_bytes(),
            Accumulator::Count(_) | Accumulator::Distinct { .. } | Accumulator::Extremes(_) => 0,
        }
    }

    fn add(&mut self, groups: &[u32], values: &[Code], codec: &Codec, passed_over: &mut Option<Code>) {
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
                    if *code < INLINE_END {
                        sums.add_int(*group, i64::from(*code));
                    } else if let Some(number) = codec.number(*code) {
                        sums.add(*group, number);
                    } else if *code != NULL {
                        keep_smallest(passed_over, *code, codec);
                    }
                }
            }
            Accumulator::Extremes(best) => {
                groups.iter().zip(values).for_each(|(group, code)| best.offer(*group, *code, codec));
            }
            Accumulator::Gathered(gathered) => {
                let unlike = gathered.add(groups, values, codec);
                unlike.for_each(|code| keep_smallest(passed_over, code, codec));
            }
            Accumulator::Fused(fusion) => {
                let unlike = fusion.add(groups, values, codec);
                unlike.for_each(|code| keep_smallest(passed_over, code, codec));
            }
        }
    }

    /// Adds values that have no codes yet.
    fn add_numbers(
        &mut self,
        groups: &[u32],
        values: &Numbers,
        codec: &Codec,
        passed_over: &mut Option<Code>,
    ) -> Result<(), DictionaryFull> {
        match self {
            Accumulator::Count(counts) => groups.iter().for_each(|group| counts[*group as usize] += 1),
            Accumulator::Distinct { .. } | Accumulator::Fused(_) => {
                self.add(groups, &values.codes(codec)?, codec, passed_over);
            }
            Accumulator::Sum(sums) | Accumulator::Avg(sums) => match values {
                Numbers::Ints(ints) => {
                    groups.iter().zip(ints).for_each(|(group, n)| sums.add_int(*group, *n));
                }
                Numbers::Floats(floats) => {
                    groups.iter().zip(floats).for_each(|(group, x)| sums.add_float(*group, *x));
                }
                Numbers::Mixed(mixed) => {
                    let numbers = groups.iter().zip(mixed).filter_map(|(group, n)| Some((*group, (*n)?)));
                    numbers.for_each(|(group, number)| sums.add(group, number));
                }
            },
            Accumulator::Extremes(best) => best.offer_numbers(groups, values, codec)?,
            Accumulator::Gathered(gathered) => gathered.add_numbers(groups, values, codec)?,
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
                sums.merge(groups, later);
            }
            (Accumulator::Extremes(best), Accumulator::Extremes(later)) => {
                best.merge(groups, later, codec);
            }
            (Accumulator::Gathered(gathered), Accumulator::Gathered(later)) => gathered.merge(groups, later),
            (Accumulator::Fused(fusion), Accumulator::Fused(later)) => fusion.merge(groups, later),
            // Lanes of one rule have the same accumulators in the same places.
            _ => {}
        }
    }

    fn finish(
        mut self,
        groups: usize,
        codec: &Codec,
        remarks: &Remarks,
        budget: &Budget,
    ) -> Result<Finished, ExecError> {
        self.resize(groups);
        let int = |n: i64| match inline_int(n) {
            Some(code) => Ok(code),
            None => codec.encode(ValueRef::Int(n)).map_err(ExecError::from),
        };
        let codes: Result<Vec<Code>, ExecError> = match self {
            Accumulator::Count(counts) | Accumulator::Distinct { counts, .. } => {
                counts.into_iter().map(int).collect()
            }
            Accumulator::Sum(sums) => sums
                .totals()
                .map(|total| match total {
                    Total::Nothing => Ok(NULL),
                    Total::Int(sum) => int(sum.unwrap_or_else(|end| {
                        remarks.saturate();
                        end
                    })),
                    Total::Float(sum) => float(sum, codec),
                })
                .collect(),
            Accumulator::Avg(sums) => {
                sums.means().map(|mean| mean.map_or(Ok(NULL), |mean| float(mean, codec))).collect()
            }
            Accumulator::Extremes(best) => return best.finish(codec),
            Accumulator::Fused(fusion) => {
                fusion.totals().map(|total| total.map_or(Ok(NULL), |total| float(total, codec))).collect()
            }
            Accumulator::Gathered(gathered) => gathered
                .finish(groups, codec, budget)?
                .iter()
                .map(|value| codec.encode(value.as_ref()).map_err(ExecError::from))
                .collect(),
        };
        Ok(Finished { codes: codes?, mixed: false })
    }
}

/// Of two values, the one that comes first in the order of values, whatever their codes.
fn keep_smallest(kept: &mut Option<Code>, code: Code, codec: &Codec) {
    match kept {
        Some(known) if *known == code || codec.value(*known) <= codec.value(code) => {}
        Some(_) | None => *kept = Some(code),
    }
}

fn float(x: f64, codec: &Codec) -> Result<Code, ExecError> {
    if x.is_finite() { Ok(codec.encode(ValueRef::Float(x))?) } else { Ok(NULL) }
}
