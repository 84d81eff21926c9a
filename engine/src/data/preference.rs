//! Which of two values `min` and `max` keep.

use super::codes::{Code, INLINE_END, NULL};
use super::dictionary::Codec;

/// Which of two values is better.
#[derive(Clone, Copy)]
pub(crate) struct Preference<'a> {
    pub(crate) largest: bool,
    pub(crate) codec: &'a Codec,
}

impl Preference<'_> {
    /// Whether a value is better than another one. Any is better than Null.
    #[inline]
    pub(crate) fn is_better(&self, new: Code, old: Code) -> bool {
        if new < INLINE_END && old < INLINE_END {
            return if self.largest { new > old } else { new < old };
        }
        if new == old || new == NULL || old == NULL {
            return new != old && old == NULL;
        }
        let order = self.codec.value(new).cmp(&self.codec.value(old));
        if self.largest { order.is_gt() } else { order.is_lt() }
    }
}
