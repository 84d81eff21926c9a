//! Values as keys that are compared and added without codes.

use arrow::datatypes::ArrowNativeType;
use foldhash::HashMap;

use super::adjacency::{Adjacency, Weights};
use super::sweeps::Sweeps;
use crate::data::{Code, Codec, INLINE_END, NULL, Value, ValueRef};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::plan::Made;

/// What values are as keys, of which the smallest is best.
pub(super) trait Walker {
    type Key: ArrowNativeType;

    /// No key: larger than any.
    const NONE: Self::Key;

    /// Begins with a source. False if a value is not of the kind that this works for.
    fn start(&mut self, starts: impl Iterator<Item = (usize, Code)>, sweeps: &mut Sweeps<Self::Key>) -> bool;

    /// The sum of a key and a weight, if it is one.
    fn add(&self, key: Self::Key, weight: Self::Key) -> Option<Self::Key>;

    /// The value of a key that a node has.
    fn value(&self, node: usize, key: Self::Key) -> Result<Code, ExecError>;
}

/// Values as numbers below [`INLINE_END`], of which the smallest is best.
pub(super) struct Keys {
    largest: bool,
    /// If they are no small integers.
    ranked: Option<Ranked>,
}

/// Values of any kind.
struct Ranked {
    /// In their order.
    values: Vec<Code>,
    /// The place of each, by its code.
    places: Vec<(Code, u32)>,
}

impl Keys {
    fn key(&self, value: Code) -> u32 {
        let key = match &self.ranked {
            None => value,
            Some(Ranked { places, .. }) => {
                let found = places.binary_search_by_key(&value, |(code, _)| *code);
                found.map_or(0, |position| places[position].1)
            }
        };
        if self.largest { INLINE_END - 1 - key } else { key }
    }

    fn value(&self, key: u32) -> Code {
        let key = if self.largest { INLINE_END - 1 - key } else { key };
        self.ranked.as_ref().map_or(key, |ranked| ranked.values[key as usize])
    }
}

impl Walker for &Keys {
    type Key = u32;

    const NONE: u32 = u32::MAX;

    fn start(&mut self, starts: impl Iterator<Item = (usize, Code)>, sweeps: &mut Sweeps<u32>) -> bool {
        starts.for_each(|(node, value)| sweeps.improve(node, self.key(value)));
        true
    }

    #[inline]
    fn add(&self, key: u32, weight: u32) -> Option<u32> {
        if self.largest {
            return key.checked_sub(weight);
        }
        key.checked_add(weight).filter(|sum| *sum < INLINE_END)
    }

    fn value(&self, _node: usize, key: u32) -> Result<Code, ExecError> {
        Ok(Keys::value(self, key))
    }
}

/// How these values are compared, if that is possible.
pub(super) fn keys(
    tables: &Tables<'_>,
    values: &[Code],
    largest: bool,
    is_weighted: bool,
) -> Result<Option<Keys>, ExecError> {
    if values.iter().all(|value| *value < INLINE_END) {
        return Ok(Some(Keys { largest, ranked: None }));
    }
    // Sums of other values are made where all other arithmetic is, and any value is better than Null.
    if is_weighted || values.contains(&NULL) {
        return Ok(None);
    }
    let _sorted = tables.budget.hold(2 * values.len() * size_of::<Code>())?;
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    values.sort_by(|a, b| tables.codec.value(*a).cmp(&tables.codec.value(*b)));
    let mut places: Vec<(Code, u32)> = values.iter().copied().zip(0..).collect();
    places.sort_unstable();
    Ok(Some(Keys { largest, ranked: Some(Ranked { values, places }) }))
}

/// Values as floats, with the sign turned round where the largest is best.
pub(super) struct Floats<'c> {
    codec: &'c Codec,
    largest: bool,
    /// Whether some edges hand on a value as it is.
    hands_on: bool,
    /// The nodes that begin with an integer.
    integers: HashMap<usize, Code>,
}

impl<'c> Floats<'c> {
    pub(super) fn new(codec: &'c Codec, largest: bool, hands_on: bool) -> Floats<'c> {
        Floats { codec, largest, hands_on, integers: HashMap::default() }
    }

    fn key(&self, number: f64) -> f64 {
        if self.largest { -number } else { number }
    }
}

impl Walker for Floats<'_> {
    type Key = f64;

    const NONE: f64 = f64::INFINITY;

    /// All that is made is a float; what is handed on as it is stays an integer. Of an integer and the float of the same number the
    /// integer is smaller.
    fn start(&mut self, starts: impl Iterator<Item = (usize, Code)>, sweeps: &mut Sweeps<f64>) -> bool {
        self.integers.clear();
        for (node, value) in starts {
            let Some(number) = float_of(self.codec, value) else { return false };
            if !is_float(self.codec, value) {
                if self.hands_on || self.largest {
                    return false;
                }
                self.integers.insert(node, value);
            }
            sweeps.improve(node, self.key(number));
        }
        true
    }

    #[inline]
    fn add(&self, key: f64, weight: f64) -> Option<f64> {
        Some(key + weight).filter(|sum| sum.is_finite())
    }

    fn value(&self, node: usize, key: f64) -> Result<Code, ExecError> {
        let number = self.key(key);
        let integer = self.integers.get(&node).copied();
        match integer.filter(|integer| float_of(self.codec, *integer) == Some(number)) {
            Some(integer) => Ok(integer),
            None => Ok(self.codec.encode(ValueRef::Float(number))?),
        }
    }
}

impl Adjacency<Code> {
    /// The same with keys as weights, which are small integers.
    pub(super) fn with_keys(self, keys: &Keys) -> Adjacency<u32> {
        // What is added is no value.
        if self.made == Made::Sum {
            return self;
        }
        let weights = match self.weights {
            Weights::None => Weights::None,
            Weights::Same(weight) => Weights::Same(keys.key(weight)),
            Weights::Each(weights) => Weights::Each(weights.map(|weight| keys.key(weight))),
        };
        Adjacency { weights, ..self }
    }

    /// The same with the keys of floats as weights, if all weights are floats.
    pub(super) fn with_floats(self, floats: &Floats<'_>) -> Option<Adjacency<f64>> {
        let Adjacency { ends, offset, weights, made, guards, allowed } = self;
        let key = |number| if made == Made::Sum { number } else { floats.key(number) };
        let float = |code: Code| {
            is_float(floats.codec, code).then_some(())?;
            float_of(floats.codec, code).map(key)
        };
        let weights = match weights {
            Weights::None => Weights::None,
            Weights::Same(weight) => Weights::Same(float(weight)?),
            Weights::Each(weights) => Weights::Each(weights.try_map(float)?),
        };
        Some(Adjacency { ends, offset, weights, made, guards, allowed })
    }
}

pub(super) fn is_float(codec: &Codec, code: Code) -> bool {
    matches!(codec.entry(code), Some(Value::Float(_)))
}

/// The float of a number that is no less than zero, if it has one of the same value.
fn float_of(codec: &Codec, code: Code) -> Option<f64> {
    codec.int_or_float(code)?.exact().filter(|number| number.is_sign_positive())
}
