//! Sums of floats, exactly rounded: the float nearest to the true sum, in whatever order the values come and however they
//! are divided among threads.
//!
//! Two floats hold a sum without any error as long as its bits lie close enough together, which is nearly always (the
//! two-sum of Knuth, The Art of Computer Programming 2, 4.2.2). What does not fit goes to a sum of fixed point over the whole
//! range of floats (Kulisch, Computer Arithmetic and Validity, 2008), and so does what overflows on its way.

/// A sum that two floats hold exactly.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pair {
    high: f64,
    low: f64,
}

impl Pair {
    /// Holds no sum, and never will.
    pub(crate) const SPILLED: Pair = Pair { high: f64::NAN, low: 0.0 };

    /// Adds a value; nothing if two floats do not hold the sum.
    #[inline]
    pub(crate) fn with(self, x: f64) -> Option<Pair> {
        let (high, rest) = two_sum(self.high, x);
        let (low, lost) = two_sum(self.low, rest);
        // Infinity and what follows from it fail the comparison, too.
        (lost == 0.0 && high.is_finite()).then_some(Pair { high, low })
    }

    /// The nearest float.
    pub(crate) fn total(self) -> f64 {
        self.high + self.low
    }

    /// The two floats.
    pub(crate) fn parts(self) -> [f64; 2] {
        [self.high, self.low]
    }
}

/// The sum of two floats, and what rounding it has lost.
#[inline]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

/// Bits below and above the point: all floats, and sums of 2^63 of them.
const LOWEST: i32 = -1074;
const DIGITS: usize = 70;
const DIGIT_BITS: usize = 32;
/// So many additions fit into digits before they have to be carried over.
const MOST_PENDING: u32 = 1 << 29;

/// A sum of fixed point. A digit counts multiples of `2^(32 * position - 1074)`, with a sign.
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    digits: [i64; DIGITS],
    /// Additions since digits were carried over.
    pending: u32,
}

impl Exact {
    /// This sum, from then on exact whatever comes.
    pub(crate) fn of(pair: Pair) -> Exact {
        let mut exact = Exact { digits: [0; DIGITS], pending: 0 };
        pair.parts().into_iter().for_each(|part| exact.add(part));
        exact
    }

    /// Adds a finite float.
    pub(crate) fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, shift) = match exponent {
            0 => (fraction, 0),
            exponent => (fraction | 1 << 52, exponent - 1),
        };
        self.add_shifted(u128::from(mantissa), shift, x.is_sign_negative());
    }

    /// Adds an integer.
    pub(crate) fn add_int(&mut self, n: i128) {
        let magnitude = n.unsigned_abs();
        for half in 0..2 {
            let part = magnitude >> (64 * half) & u128::from(u64::MAX);
            self.add_shifted(part, LOWEST.unsigned_abs() as usize + 64 * half, n < 0);
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, mut other: Exact) {
        self.carry();
        other.carry();
        self.digits.iter_mut().zip(other.digits).for_each(|(digit, other)| *digit += other);
        self.pending = 1;
    }

    fn add_shifted(&mut self, part: u128, shift: usize, negative: bool) {
        if self.pending == MOST_PENDING {
            self.carry();
        }
        self.pending += 1;
        // At most 64 bits, moved by less than 32.
        let mut rest = part << (shift % DIGIT_BITS);
        for digit in &mut self.digits[shift / DIGIT_BITS..] {
            if rest == 0 {
                break;
            }
            let low = (rest & u128::from(u32::MAX)) as i64;
            *digit += if negative { -low } else { low };
            rest >>= DIGIT_BITS;
        }
    }

    /// Brings all digits but the last into `0..2^32`; the last has the sign.
    fn carry(&mut self) {
        let mut carried = 0;
        for digit in &mut self.digits[..DIGITS - 1] {
            let sum = *digit + carried;
            *digit = sum & i64::from(u32::MAX);
            carried = sum >> DIGIT_BITS;
        }
        self.digits[DIGITS - 1] += carried;
        self.pending = 0;
    }

    /// The nearest float; of two that are equally near, the even one. Infinite where the sum is beyond all floats.
    pub(crate) fn total(&self) -> f64 {
        self.scaled(0)
    }

    /// The mean of so many values, which is a float where the sum may be beyond all floats.
    pub(crate) fn mean(&self, count: i64) -> f64 {
        const SCALE: i32 = 64;
        match self.total() {
            total if total.is_finite() => total / count as f64,
            _ => self.scaled(SCALE) / count as f64 * 2.0_f64.powi(SCALE),
        }
    }

    /// The float nearest to the sum divided by `2^scale`; only large sums may be scaled.
    fn scaled(&self, scale: i32) -> f64 {
        let mut exact = self.clone();
        exact.carry();
        let is_negative = exact.digits[DIGITS - 1] < 0;
        if is_negative {
            exact.digits.iter_mut().for_each(|digit| *digit = -*digit);
            exact.carry();
        }
        let magnitude = exact.magnitude(scale);
        if is_negative { -magnitude } else { magnitude }
    }

    /// The same of a sum that is not negative, with its digits carried over.
    fn magnitude(&self, scale: i32) -> f64 {
        let Some(top) = self.digits.iter().rposition(|digit| *digit != 0) else { return 0.0 };
        let digit = |below: usize| top.checked_sub(below).map_or(0, |position| self.digits[position] as u128);
        let leading = digit(0) << 64 | digit(1) << 32 | digit(2);
        let highest_within = 127 - leading.leading_zeros() as usize;
        let highest = top * DIGIT_BITS + highest_within - 64;
        if highest < 53 {
            // So small a float has the bits of its multiple of the smallest one.
            return f64::from_bits((self.digits[1] as u64) << DIGIT_BITS | self.digits[0] as u64);
        }
        let dropped = highest_within - 52;
        let mantissa = (leading >> dropped) as u64;
        let rest = leading & ((1 << dropped) - 1);
        let half = 1 << (dropped - 1);
        let has_more = self.digits[..top.saturating_sub(2)].iter().any(|digit| *digit != 0);
        let up = rest > half || (rest == half && (has_more || mantissa & 1 == 1));
        let exponent = highest as i32 + LOWEST - scale;
        if exponent > 1023 {
            return f64::INFINITY;
        }
        // A mantissa that is rounded up to the next power of two carries over into the exponent.
        f64::from_bits((((exponent + 1023) as u64) << 52) + (mantissa - (1 << 52)) + u64::from(up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(values: &[f64]) -> Exact {
        let mut sum = Exact::of(Pair::default());
        values.iter().for_each(|x| sum.add(*x));
        sum
    }

    #[test]
    fn one_float_comes_back_as_it_is() {
        let mut bits: u64 = 0x9e37_79b9_7f4a_7c15;
        let edges = [0.0, f64::MIN_POSITIVE, f64::from_bits(1), f64::from_bits((1 << 52) - 1), f64::MAX, 1.0];
        let random = (0..20_000).map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(bits ^ bits >> 29)
        });
        for x in edges.into_iter().chain(random).filter(|x| x.is_finite()) {
            assert_eq!(exact(&[x]).total(), x, "{x:e}");
            assert_eq!(exact(&[-x]).total(), -x, "{x:e}");
        }
    }

    #[test]
    fn what_overflows_or_cancels_on_the_way_is_there_in_the_end() {
        assert_eq!(exact(&[1e308, 1e308, -1e308]).total(), 1e308);
        assert_eq!(exact(&[1e308, 1.0, -1e308]).total(), 1.0);
        assert_eq!(exact(&[1e16, 1.0, 1e-16, -1e16]).total(), 1.0 + 1e-16);
        assert_eq!(exact(&[f64::MAX, f64::MAX]).total(), f64::INFINITY);
        assert_eq!(exact(&[f64::MIN, f64::MIN]).total(), f64::NEG_INFINITY);
        assert_eq!(exact(&[f64::MAX, f64::MAX, -f64::MAX, -f64::MAX, 5e-324]).total(), 5e-324);
        assert_eq!(exact(&[1e308, 1e308, 1e308]).mean(3), 1e308);
        assert_eq!(exact(&[]).total(), 0.0);
    }

    #[test]
    fn ties_go_to_the_even_float() {
        let next = f64::from_bits(1.0_f64.to_bits() + 1);
        let half = (next - 1.0) / 2.0;
        assert_eq!(exact(&[1.0, half]).total(), 1.0);
        assert_eq!(exact(&[next, half]).total(), f64::from_bits(1.0_f64.to_bits() + 2));
        assert_eq!(exact(&[1.0, half, f64::from_bits(1)]).total(), next);
        assert_eq!(exact(&[1.0, half, -f64::from_bits(1)]).total(), 1.0);
        assert_eq!(exact(&[-1.0, -half, -f64::from_bits(1)]).total(), -next);
    }

    #[test]
    fn integers_are_added_exactly() {
        let mut sum = exact(&[0.5]);
        sum.add_int(i128::from(i64::MAX) * 4);
        sum.add_int(-i128::from(i64::MAX) * 4);
        assert_eq!(sum.total(), 0.5);
        sum.add_int(i128::MIN);
        assert_eq!(sum.total(), -(2.0_f64.powi(127)));
        sum.merge(exact(&[2.0_f64.powi(127), -0.25]));
        assert_eq!(sum.total(), 0.25);
    }

    #[test]
    fn a_pair_is_exact_or_gives_up() {
        let pair = |values: &[f64]| values.iter().try_fold(Pair::default(), |pair, x| pair.with(*x));
        assert_eq!(pair(&[0.1, 0.2, 0.3]).map(Pair::total), Some(exact(&[0.1, 0.2, 0.3]).total()));
        assert_eq!(pair(&[1e16, 1.0, -1e16]).map(Pair::total), Some(1.0));
        assert!(pair(&[1e16, 1.0, 1e-30]).is_none());
        assert!(pair(&[1e308, 1e308]).is_none());
    }
}
