//! Aggregates that need all values of a group at once: quantiles, the standard deviation, strings put together. Values are
//! put in order first, so that the result does not depend on the order in which threads find them.

use super::numbers::Numbers;
use crate::aggregates::Aggregate;
use crate::budget::Budget;
use crate::data::{Code, Codec, DictionaryFull, NULL, Number, Value, ValueRef, float_of};
use crate::functions::FunctionError;

/// The values of all groups, each with its group, in no order.
pub(super) struct Gathered {
    function: Aggregate,
    option: Option<Value>,
    numbers: Vec<(u32, f64)>,
    texts: Vec<(u32, Code)>,
}

impl Gathered {
    pub(super) fn new(function: Aggregate, option: Option<Value>) -> Gathered {
        Gathered { function, option, numbers: Vec::new(), texts: Vec::new() }
    }

    /// The bytes of the values.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<(u32, f64)>() + self.texts.capacity() * size_of::<(u32, Code)>()
    }

    /// Adds values; answers those that the aggregate is not made for.
    pub(super) fn add<'v>(
        &mut self,
        groups: &[u32],
        values: &'v [Code],
        codec: &'v Codec,
    ) -> impl Iterator<Item = Code> + use<'v> {
        let is_text = self.function == Aggregate::StringAgg;
        for (group, code) in groups.iter().zip(values) {
            if is_text {
                if matches!(codec.value(*code), ValueRef::Text(_)) {
                    self.texts.push((*group, *code));
                }
            } else if let Some(number) = codec.number(*code) {
                self.numbers.push((*group, float_of(number)));
            }
        }
        values.iter().copied().filter(move |code| {
            *code != NULL
                && if is_text {
                    !matches!(codec.value(*code), ValueRef::Text(_))
                } else {
                    codec.number(*code).is_none()
                }
        })
    }

    /// Adds values that have no codes yet. Numbers are no strings.
    pub(super) fn add_numbers(
        &mut self,
        groups: &[u32],
        values: &Numbers,
        codec: &Codec,
    ) -> Result<(), DictionaryFull> {
        match values {
            _ if self.function == Aggregate::StringAgg => {
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
    pub(super) fn merge(&mut self, groups: &[u32], later: Gathered) {
        self.numbers.extend(later.numbers.into_iter().map(|(group, x)| (groups[group as usize], x)));
        self.texts.extend(later.texts.into_iter().map(|(group, code)| (groups[group as usize], code)));
    }

    /// One value for each of so many groups.
    pub(super) fn finish(
        mut self,
        groups: usize,
        codec: &Codec,
        budget: &Budget,
    ) -> Result<Vec<Value>, FunctionError> {
        let mut results = vec![Value::Null; groups];
        if self.function == Aggregate::StringAgg {
            let separator = match &self.option {
                Some(Value::Text(separator)) => separator.to_string(),
                _ => DEFAULT_SEPARATOR.to_owned(),
            };
            self.texts.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| codec.value(a.1).cmp(&codec.value(b.1))));
            for texts in self.texts.chunk_by(|a, b| a.0 == b.0) {
                results[texts[0].0 as usize] = joined(texts, &separator, codec, budget)?;
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
pub(super) const DEFAULT_SEPARATOR: &str = ", ";

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
