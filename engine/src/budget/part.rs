//! `Part`: what a part of a request's work uses.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::{Budget, Shared};

/// What a part of the work has accounted for.
#[derive(Debug)]
pub(super) struct Part {
    shared: Arc<Shared>,
    pub(super) used: AtomicU64,
}

impl Budget {
    /// The same means for a part of the work, whose memory is given back when the last clone is dropped. Parts may be worked
    /// on at the same time.
    pub fn part(&self) -> Budget {
        let part = Part { shared: Arc::clone(&self.shared), used: AtomicU64::new(0) };
        Budget { part: Some(Arc::new(part)), ..self.clone() }
    }

    /// What this, or the part that it is for, has accounted for.
    pub(super) fn counter(&self) -> &AtomicU64 {
        self.part.as_ref().map_or(&self.shared.memory_used, |part| &part.used)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.shared.release(*self.used.get_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn what_a_part_used_is_given_back_with_it() {
        let whole = Budget::new(None, 100);
        whole.charge(30).expect("30 of 100 bytes");
        let (one, other) = (whole.part(), whole.part());
        one.charge(20).expect("50 of 100 bytes");
        other.charge(40).expect("90 of 100 bytes");
        assert!(one.charge(20).is_err(), "110 of 100 bytes");
        assert_eq!(whole.used(), 110);
        drop(one);
        assert_eq!(whole.used(), 70);
        other.release(10);
        drop(other);
        assert_eq!(whole.used(), 30);
    }

    #[test]
    fn what_fails_in_a_part_gives_back_what_is_its_own() {
        let whole = Budget::new(None, 100);
        let (one, other) = (whole.part(), whole.part());
        let failed: Result<(), ()> = one.returning(|| {
            one.charge(10).expect("10 of 100 bytes");
            other.charge(20).expect("30 of 100 bytes");
            Err(())
        });
        assert!(failed.is_err());
        assert_eq!(whole.used(), 20);
    }
}
