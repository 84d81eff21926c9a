//! The smallest or largest values of groups.

use crate::data::{Code, Codec, DictionaryFull, EMPTY, NULL, ValueRef, equality};
use crate::exec::error::ExecError;
use crate::exec::values::numbers::Numbers;

/// An aggregate of each group.
pub(crate) struct Finished {
    pub(crate) codes: Vec<Code>,
    /// Whether some group had values of several kinds, one of which was to be the best.
    pub(crate) mixed: bool,
}

/// The best value of each group so far, of `min` or `max`.
pub(crate) struct Extremes {
    largest: bool,
    /// The best code; `EMPTY` where there was none but Null.
    codes: Vec<Code>,
    /// The best of the floats that have no code yet, of as many groups as were offered any; infinite where there was none.
    floats: Vec<f64>,
    /// Whether values of several kinds were compared.
    mixed: bool,
}

impl Extremes {
    pub(crate) fn new(largest: bool) -> Extremes {
        Extremes { largest, codes: Vec::new(), floats: Vec::new(), mixed: false }
    }

    pub(crate) fn resize(&mut self, groups: usize) {
        self.codes.resize(groups, EMPTY);
    }

    pub(crate) fn offer(&mut self, group: u32, code: Code, codec: &Codec) {
        let best = self.codes[group as usize];
        if code != NULL && code != best && self.is_better(codec.value(code), best, codec) {
            self.codes[group as usize] = code;
        }
    }

    /// Offers values that have no codes yet, a group each.
    pub(crate) fn offer_numbers(
        &mut self,
        groups: &[u32],
        values: &Numbers,
        codec: &Codec,
    ) -> Result<(), DictionaryFull> {
        if let Numbers::Floats(floats) = values {
            self.offer_floats(groups, floats);
            return Ok(());
        }
        for (row, group) in groups.iter().enumerate() {
            let best = self.codes[*group as usize];
            if let Some(number) = values.at(row)
                && self.is_better(number.value(), best, codec)
            {
                self.codes[*group as usize] = codec.encode(number.value())?;
            }
        }
        Ok(())
    }

    /// Offers the best of other groups, by the numbers that these have here.
    pub(crate) fn merge(&mut self, groups: &[u32], others: Extremes, codec: &Codec) {
        let codes = groups.iter().zip(others.codes).filter(|(_, code)| *code != EMPTY);
        codes.for_each(|(group, code)| self.offer(*group, code, codec));
        self.offer_floats(groups, &others.floats);
        self.mixed |= others.mixed;
    }

    /// Offers floats, a group each; infinite ones say nothing.
    fn offer_floats(&mut self, groups: &[u32], floats: &[f64]) {
        if floats.is_empty() {
            return;
        }
        let none = if self.largest { f64::NEG_INFINITY } else { f64::INFINITY };
        self.floats.resize(self.codes.len(), none);
        for (group, x) in groups.iter().zip(floats) {
            let best = &mut self.floats[*group as usize];
            let order = x.total_cmp(best);
            if if self.largest { order.is_gt() } else { order.is_lt() } {
                *best = *x;
            }
        }
    }

    /// The codes of the best, a group each; Null where there is none.
    pub(crate) fn finish(mut self, codec: &Codec) -> Result<Finished, ExecError> {
        let floats = std::mem::take(&mut self.floats);
        for (group, x) in floats.into_iter().enumerate().filter(|(_, x)| x.is_finite()) {
            if self.is_better(ValueRef::Float(x), self.codes[group], codec) {
                self.codes[group] = codec.encode(ValueRef::Float(x))?;
            }
        }
        let codes = self.codes.into_iter().map(|code| if code == EMPTY { NULL } else { code }).collect();
        Ok(Finished { codes, mixed: self.mixed })
    }

    /// Whether a value is better than the best so far.
    fn is_better(&mut self, value: ValueRef<'_>, best: Code, codec: &Codec) -> bool {
        if best == EMPTY {
            return true;
        }
        let best = codec.value(best);
        self.mixed |= !equality::are_of_one_kind(value, best);
        let order = value.cmp(&best);
        if self.largest { order.is_gt() } else { order.is_lt() }
    }
}
