//! Sets of codes as ascending lists.

use crate::data::{Code, intersect, merge};

/// The codes of both.
pub(super) fn common(a: &[Code], b: &[Code]) -> Vec<Code> {
    let mut common = Vec::new();
    intersect(a, b, |place, _| common.push(a[place]));
    common
}

/// The codes of one that the other has not.
pub(super) fn without(a: &[Code], b: &[Code]) -> Vec<Code> {
    let (mut rest, mut next) = (Vec::with_capacity(a.len()), 0);
    intersect(a, b, |place, _| {
        rest.extend_from_slice(&a[next..place]);
        next = place + 1;
    });
    rest.extend_from_slice(&a[next..]);
    rest
}

/// Adds the codes of one to the other.
pub(super) fn add(to: &mut Vec<Code>, more: &[Code]) {
    if to.last() < more.first() {
        to.extend_from_slice(more);
    } else if !more.is_empty() {
        *to = merge(to, more);
    }
}

/// Each of the codes once, in order.
pub(super) fn in_order(codes: &mut Vec<Code>) {
    // Made for lists that ascend in parts.
    codes.sort();
    codes.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sets() {
        let lists: [&[Code]; 5] = [&[], &[3], &[1, 3, 4], &[0, 2, 5, 9], &[1, 2, 3, 4, 5]];
        for a in lists {
            for b in lists {
                let has = |list: &[Code], code: &Code| list.contains(code);
                let expected =
                    |keep: &dyn Fn(&Code) -> bool| (0..10).filter(|code| keep(code)).collect::<Vec<_>>();
                assert_eq!(common(a, b), expected(&|code| has(a, code) && has(b, code)));
                assert_eq!(without(a, b), expected(&|code| has(a, code) && !has(b, code)));
                let mut both = a.to_vec();
                add(&mut both, b);
                assert_eq!(both, expected(&|code| has(a, code) || has(b, code)));
            }
        }
    }
}
