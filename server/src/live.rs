//! `Live`: a value that is replaced while others read it, such as a setting when the configuration is read again.

use std::fmt;
use std::ops::Deref;

use arc_swap::ArcSwap;

/// A value that can be replaced. Reading takes no lock and counts nothing: what was replaced stays where it is, for whoever
/// reads it still, and for good. So it is for small values that people change by hand.
pub(crate) struct Live<T: 'static>(ArcSwap<&'static T>);

impl<T: PartialEq> Live<T> {
    /// Replaces it, if that makes a difference.
    pub(crate) fn set(&self, value: T) {
        if **self != value {
            self.0.store((&*Box::leak(Box::new(value))).into());
        }
    }
}

impl<T> From<T> for Live<T> {
    fn from(value: T) -> Live<T> {
        Live(ArcSwap::from_pointee(&*Box::leak(Box::new(value))))
    }
}

impl<T> Deref for Live<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let current: &'static T = **self.0.load();
        current
    }
}

impl<T: fmt::Debug> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Live;

    #[test]
    fn who_reads_keeps_what_was_there() {
        let live = Live::from("one".to_owned());
        let before: &String = &live;
        live.set("two".to_owned());
        assert_eq!((before.as_str(), live.as_str()), ("one", "two"));
        let now: *const String = &*live;
        live.set("two".to_owned());
        assert!(std::ptr::eq(now, &*live), "the same value takes no room");
    }
}
