//! Aggregates that need all values of a group at once: quantiles, the standard deviation, strings put together. Values are
//! put in order first, so that the result does not depend on the order in which threads find them.

use crate::aggregates::Aggregate;
use crate::budget::Budget;
use crate::data::{Code, Codec, DictionaryFull, NULL, Number, Value, ValueRef, float_of};
use crate::exec::values::numbers::Numbers;
use crate::functions::{FunctionError, new_list};

/// The values of all groups, each with its group, in no order.
pub(crate) struct Gathered {
    function: Aggregate,
    option: Option<Value>,
    numbers: Vec<(u32, f64)>,
    /// Strings, or values of any kind that are collected.
    values: Vec<(u32, Code)>,
}

impl Gathered {
    pub(crate) fn new(function: Aggregate, option: Option<Value>) -> Gathered {
        Gathered { function, option, numbers: Vec::new(), values: Vec::new() }
    }

    /// The bytes of the values.
    pub(crate) fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<(u32, f64)>() + self.values.capacity() * size_of::<(u32, Code)>()
    }

    /// Adds values; answers those that the aggregate is not made for.
    pub(crate) fn add<'v>(
        &mut self,
        groups: &[u32],
        values: &'v [Code],
        codec: &'v Codec,
    ) -> impl Iterator<Item = Code> + use<'v> {
        let function = self.function;
        let is_taken = move |code: Code| match function {
            Aggregate::Collect => code != NULL,
            Aggregate::StringAgg => matches!(codec.value(code), ValueRef::Text(_)),
            _ => codec.number(code).is_some(),
        };
        for (group, code) in groups.iter().zip(values).filter(|(_, code)| is_taken(**code)) {
            match (self.takes_values(), codec.number(*code)) {
                (false, Some(number)) => self.numbers.push((*group, float_of(number))),
                _ => self.values.push((*group, *code)),
            }
        }
        values.iter().copied().filter(move |code| *code != NULL && !is_taken(*code))
    }

    /// Whether it keeps values, and not what they are as numbers.
    fn takes_values(&self) -> bool {
        matches!(self.function, Aggregate::StringAgg | Aggregate::Collect)
    }

    /// Adds values that have no codes yet. Numbers are no strings.
    pub(crate) fn add_numbers(
        &mut self,
        groups: &[u32],
        values: &Numbers,
        codec: &Codec,
    ) -> Result<(), DictionaryFull> {
        match values {
            _ if self.takes_values() => {
                let codes = values.codes(codec)?;
                self.add(groups, &codes, codec).for_each(drop);
            }
            Numbers::Ints(ints) => {
                self.numbers
                    .extend(groups.iter().zip(ints).map(|(group, n)| (*group, float_of(Number::Int(*n)))));
            }
            Numbers::Floats(floats) => {
                self.numbers.extend(groups.iter().zip(floats).map(|(group, x)| (*group, *x)));
            }
            Numbers::Mixed(mixed) => {
                let known = groups.iter().zip(mixed).filter_map(|(group, n)| Some((*group, float_of((*n)?))));
                self.numbers.extend(known);
            }
        }
        Ok(())
    }

    /// Adds those of a later lane, whose groups have these numbers here.
    pub(crate) fn merge(&mut self, groups: &[u32], later: Gathered) {
        self.numbers.extend(later.numbers.into_iter().map(|(group, x)| (groups[group as usize], x)));
        self.values.extend(later.values.into_iter().map(|(group, code)| (groups[group as usize], code)));
    }

    /// One value for each of so many groups.
    pub(crate) fn finish(
        mut self,
        groups: usize,
        codec: &Codec,
        budget: &Budget,
    ) -> Result<Vec<Value>, FunctionError> {
        let mut results = vec![Value::Null; groups];
        if self.takes_values() {
            self.values.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| codec.value(a.1).cmp(&codec.value(b.1))));
            let separator = match &self.option {
                Some(Value::Text(separator)) => separator.to_string(),
                _ => DEFAULT_SEPARATOR.to_owned(),
            };
            for values in self.values.chunk_by(|a, b| a.0 == b.0) {
                results[values[0].0 as usize] = match self.function {
                    Aggregate::Collect => collected(values, codec, budget)?,
                    _ => joined(values, &separator, codec, budget)?,
                };
            }
            return Ok(results);
        }
        let portion =
            match (self.function, self.option.as_ref().map(Value::as_ref).and_then(ValueRef::as_number)) {
                (Aggregate::Quantile, Some(portion)) => float_of(portion),
                _ => 0.5,
            };
        self.numbers.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)));
        for numbers in self.numbers.chunk_by(|a, b| a.0 == b.0) {
            let result = match self.function {
                Aggregate::Stddev => deviation(numbers),
                _ => Some(quantile(numbers, portion)),
            };
            if let Some(x) = result.filter(|x| x.is_finite()) {
                results[numbers[0].0 as usize] = Value::Float(x);
            }
        }
        Ok(results)
    }
}

/// Between strings if no other is given.
pub(crate) const DEFAULT_SEPARATOR: &str = ", ";

fn collected(values: &[(u32, Code)], codec: &Codec, budget: &Budget) -> Result<Value, FunctionError> {
    let elements: Vec<Value> = values.iter().map(|(_, code)| codec.value(*code).to_value()).collect();
    new_list(elements, budget)
}

fn joined(
    texts: &[(u32, Code)],
    separator: &str,
    codec: &Codec,
    budget: &Budget,
) -> Result<Value, FunctionError> {
    let parts: Vec<&str> = texts
        .iter()
        .filter_map(|(_, code)| match codec.value(*code) {
            ValueRef::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    let bytes = parts.iter().map(|part| part.len() + separator.len()).sum::<usize>() - separator.len();
    let limit = budget.string_bytes();
    if bytes > limit {
        return Err(FunctionError::TextTooLong { limit });
    }
    budget.charge(bytes)?;
    Ok(Value::text(parts.join(separator)))
}

/// The value below which this portion of sorted values lies, on the line between the two that are nearest to it.
fn quantile(numbers: &[(u32, f64)], portion: f64) -> f64 {
    let place = portion * (numbers.len() - 1) as f64;
    let (below, rest) = (place.floor() as usize, place.fract());
    let low = numbers[below].1;
    match numbers.get(below + 1) {
        Some((_, high)) if rest > 0.0 => low * (1.0 - rest) + high * rest,
        _ => low,
    }
}

/// The standard deviation of a sample; of one value there is none.
fn deviation(numbers: &[(u32, f64)]) -> Option<f64> {
    if numbers.len() < 2 {
        return None;
    }
    let mean = numbers.iter().map(|(_, x)| x).sum::<f64>() / numbers.len() as f64;
    let squares: f64 = numbers.iter().map(|(_, x)| (x - mean) * (x - mean)).sum();
    Some((squares / (numbers.len() - 1) as f64).sqrt())
}
