//! Solutions to the rows of a head: one each, or one for each group, or the best of each group.

use std::collections::{BTreeMap, BTreeSet};

use super::Refusal;
use super::expression::{evaluate, finite};
use super::solve::Solution;
use crate::model::{Aggregate, Direction, HeadTerm, Keeps, Ranking, aggregates};
use crate::value::{Row, Value};

/// The rows that a head makes of the solutions of its body.
pub(super) fn rows_of_head(
    terms: &[HeadTerm],
    solutions: &BTreeSet<Solution>,
) -> Result<BTreeSet<Row>, Refusal> {
    // Without aggregates each solution is a group of its own.
    let alone = !aggregates(terms);
    let mut groups: BTreeMap<(Row, Option<&Solution>), Vec<&Solution>> = BTreeMap::new();
    for solution in solutions {
        let plain = terms.iter().filter_map(|term| match term {
            HeadTerm::Expression(expression) => Some(evaluate(expression, &solution.values)),
            HeadTerm::Aggregate(..) | HeadTerm::Ranking(_) => None,
        });
        let key = (plain.collect::<Result<_, _>>()?, alone.then_some(solution));
        groups.entry(key).or_default().push(solution);
    }
    let mut rows = BTreeSet::new();
    for ((group, _), members) in groups {
        // All ways to fill the columns so far: a ranking has several.
        let mut found = vec![Row::new()];
        let mut group = group.into_iter();
        for term in terms {
            let parts = match term {
                HeadTerm::Expression(_) => vec![vec![group.next().ok_or(Refusal::Unsafe)?]],
                HeadTerm::Aggregate(aggregate, variable) => {
                    vec![vec![fold(*aggregate, &column(variable, &members)?)]]
                }
                HeadTerm::Ranking(ranking) => ranked(ranking, &members)?,
            };
            found = found.iter().flat_map(|row| parts.iter().map(|part| [&row[..], part].concat())).collect();
        }
        rows.extend(found);
    }
    Ok(rows)
}

fn column<'s>(variable: &str, members: &[&'s Solution]) -> Result<Vec<&'s Value>, Refusal> {
    let values: Option<_> = members.iter().map(|solution| solution.values.get(variable)).collect();
    values.ok_or(Refusal::Unsafe)
}

/// The best solutions: among equals, the first in ascending order. Null has no rank.
fn ranked(ranking: &Ranking, members: &[&Solution]) -> Result<Vec<Row>, Refusal> {
    let columns: Vec<Vec<&Value>> =
        ranking.variables.iter().map(|variable| column(variable, members)).collect::<Result<_, _>>()?;
    let mut rows: Vec<Row> = (0..members.len())
        .map(|i| columns.iter().map(|column| column[i].clone()).collect::<Row>())
        .filter(|row| row[ranking.by] != Value::Null)
        .collect();
    rows.sort_by(|a, b| {
        let by = a[ranking.by].cmp(&b[ranking.by]);
        let by = if ranking.direction == Direction::Descending { by.reverse() } else { by };
        by.then_with(|| a.cmp(b))
    });
    let count = match &ranking.keeps {
        Keeps::Best(count) => *count,
        Keeps::BestFrom(count, bound) => {
            rows.retain(|row| match ranking.direction {
                Direction::Ascending => row[ranking.by].number() <= bound.number(),
                Direction::Descending => row[ranking.by].number() >= bound.number(),
            } && row[ranking.by].number().is_some());
            *count
        }
        Keeps::Within(bound) => {
            rows.retain(|row| row[ranking.by].number().is_some_and(|x| Some(x) <= bound.number()));
            rows.len()
        }
    };
    rows.truncate(count);
    Ok(rows)
}

fn fold(aggregate: Aggregate, values: &[&Value]) -> Value {
    let some = || values.iter().filter(|value| ***value != Value::Null);
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.number()).collect();
    let integers: Vec<i128> = values
        .iter()
        .filter_map(|value| match value {
            Value::Int(n) => Some(i128::from(*n)),
            _ => None,
        })
        .collect();
    let sum = exact_sum(&numbers);
    match aggregate {
        Aggregate::Count => Value::Int(values.len() as i64),
        Aggregate::CountDistinct => Value::Int(values.iter().collect::<BTreeSet<_>>().len() as i64),
        Aggregate::Min | Aggregate::First => some().min().map_or(Value::Null, |value| (*value).clone()),
        Aggregate::Max | Aggregate::Last => some().max().map_or(Value::Null, |value| (*value).clone()),
        Aggregate::Sum if numbers.is_empty() => Value::Null,
        Aggregate::Sum if integers.len() == numbers.len() => {
            let sum: i128 = integers.iter().sum();
            Value::Int(sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        }
        Aggregate::Sum => finite(sum),
        Aggregate::Avg if numbers.is_empty() => Value::Null,
        Aggregate::Avg => finite(sum / numbers.len() as f64),
        Aggregate::Quantile(quarters) => quantile(numbers, f64::from(quarters) / 4.0),
        Aggregate::Stddev => deviation(numbers),
        Aggregate::Collect => {
            let mut all: Vec<Value> = some().map(|value| (*value).clone()).collect();
            all.sort();
            if all.is_empty() { Value::Null } else { Value::List(all) }
        }
        Aggregate::StringAgg => {
            let mut texts: Vec<&str> = values
                .iter()
                .filter_map(|value| match value {
                    Value::Text(text) => Some(text.as_ref()),
                    _ => None,
                })
                .collect();
            texts.sort_unstable();
            if texts.is_empty() { Value::Null } else { Value::text(&texts.join("+")) }
        }
    }
}

fn quantile(mut numbers: Vec<f64>, portion: f64) -> Value {
    numbers.sort_by(f64::total_cmp);
    let Some(last) = numbers.len().checked_sub(1) else { return Value::Null };
    let place = portion * last as f64;
    let (low, rest) = (numbers[place as usize], place.fract());
    if rest == 0.0 { finite(low) } else { finite(low * (1.0 - rest) + numbers[place as usize + 1] * rest) }
}

fn deviation(mut numbers: Vec<f64>) -> Value {
    numbers.sort_by(f64::total_cmp);
    let count = numbers.len() as f64;
    if count < 2.0 {
        return Value::Null;
    }
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    finite((squares / (count - 1.0)).sqrt())
}

/// The float nearest to the sum, in whatever order they come: no addition loses anything (Shewchuk, Adaptive Precision
/// Floating-Point Arithmetic, 1997). Integers beyond 2^53 count as the floats nearest to them.
fn exact_sum(numbers: &[f64]) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for number in numbers {
        let mut sum = *number;
        let mut kept = Vec::new();
        for part in parts {
            let (large, small) = if sum.abs() < part.abs() { (part, sum) } else { (sum, part) };
            sum = large + small;
            kept.push(small - (sum - large));
        }
        kept.retain(|rest| *rest != 0.0);
        kept.push(sum);
        parts = kept;
    }
    // The smallest first, so that what is rounded is all of it at once. From zero: Rust's own sum of nothing is the other
    // one.
    parts.iter().fold(0.0, |sum, part| sum + part)
}
