//! `Entries`: values by number. Entries are never changed, so reading one takes no lock.
//!
//! Most stand in a list that only grows. Below it, in a dictionary that was made of an earlier one, are pages: numbers
//! there keep their values or are free, and free ones are given out first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::SHARDS;
use crate::data::Value;

/// Entries of a page.
const PAGE: usize = 1_024;

/// Copies of a dictionary share the pages in which nothing is free.
type Page = Arc<[OnceLock<Value>]>;

/// Values by number.
#[derive(Debug, Default)]
pub(super) struct Entries {
    pages: Pages,
    /// The numbers of the pages that are free, but for those taken since.
    free: Box<[u32]>,
    taken: AtomicUsize,
    /// What comes after the pages.
    rest: boxcar::Vec<Value>,
}

/// Values by number, with gaps.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// None where a page would be empty.
    pages: Vec<Option<Page>>,
    /// The numbers that have a value.
    len: usize,
}

impl Entries {
    /// Number of values.
    pub(super) fn len(&self) -> usize {
        self.pages.len + self.taken.load(Ordering::Relaxed).min(self.free.len()) + self.rest.count()
    }

    /// The number after all that have ever been given out.
    pub(super) fn end(&self) -> usize {
        self.pages.end() + self.rest.count()
    }

    /// Whether the numbers that are free, and those below `capacity`, are about to run out.
    pub(super) fn is_full(&self, capacity: usize) -> bool {
        self.end() >= capacity && self.taken.load(Ordering::Relaxed) + SHARDS >= self.free.len()
    }

    /// The value of a number.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&Value> {
        match number.checked_sub(self.pages.end()) {
            Some(number) => self.rest.get(number),
            None => self.pages.get(number),
        }
    }

    /// Takes in a value; answers its number.
    pub(super) fn push(&self, value: Value) -> usize {
        // A dictionary that was made of none has no free numbers, and needs no count of them.
        let free = match self.free.is_empty() {
            true => None,
            false => self.free.get(self.taken.fetch_add(1, Ordering::Relaxed)),
        };
        match free {
            Some(number) => {
                let number = *number as usize;
                self.pages.set(number, value);
                number
            }
            None => self.pages.end() + self.rest.push(value),
        }
    }

    /// Those of the values that are to be kept, with their numbers.
    pub(super) fn keeping(&self, keeps: impl Fn(usize) -> bool) -> Pages {
        let mut kept = Pages::default();
        let end = self.end();
        for start in (0..end).step_by(PAGE) {
            let kept_in_page = (start..end.min(start + PAGE)).filter(|number| keeps(*number)).count();
            kept.len += kept_in_page;
            let page = match self.pages.pages.get(start / PAGE) {
                _ if kept_in_page == 0 => None,
                Some(Some(page)) if kept_in_page == PAGE => Some(Arc::clone(page)),
                _ => Some(page_of(|place| self.get(start + place).filter(|_| keeps(start + place)).cloned())),
            };
            kept.pages.push(page);
        }
        kept
    }
}

impl Pages {
    /// The number after all pages.
    #[inline]
    fn end(&self) -> usize {
        self.pages.len() * PAGE
    }

    #[inline]
    fn get(&self, number: usize) -> Option<&Value> {
        self.pages.get(number / PAGE)?.as_ref()?.get(number % PAGE)?.get()
    }

    /// Sets a value where there is none, in a page that is there.
    fn set(&self, number: usize, value: Value) {
        if let Some(Some(page)) = self.pages.get(number / PAGE) {
            page[number % PAGE].get_or_init(|| value);
        }
    }

    /// Takes in the value of a number, if it has none. Answers whether it is new.
    pub(super) fn add(&mut self, number: usize, value: &Value) -> bool {
        if self.get(number).is_some() {
            return false;
        }
        let at = number / PAGE;
        if self.pages.len() <= at {
            self.pages.resize(at + 1, None);
        }
        self.pages[at].get_or_insert_with(|| page_of(|_| None));
        self.set(number, value.clone());
        self.len += 1;
        true
    }

    /// The entries, of which all other numbers are free; those of empty pages only if `gives_all`, for they take memory.
    pub(super) fn into_entries(mut self, gives_all: bool) -> Entries {
        while self.pages.pop_if(|page| page.is_none()).is_some() {}
        if gives_all {
            for page in &mut self.pages {
                page.get_or_insert_with(|| page_of(|_| None));
            }
        }
        let pages = (0_u32..).zip(&self.pages).filter_map(|(at, page)| Some((at, page.as_ref()?)));
        let free = pages.flat_map(|(at, page)| {
            let places = (0_u32..).zip(page.iter()).filter(|(_, place)| place.get().is_none());
            places.map(move |(place, _)| at * PAGE as u32 + place)
        });
        Entries { free: free.collect(), pages: self, taken: AtomicUsize::new(0), rest: boxcar::Vec::new() }
    }
}

fn page_of(value: impl Fn(usize) -> Option<Value>) -> Page {
    (0..PAGE).map(|place| value(place).map_or_else(OnceLock::new, OnceLock::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: i64) -> Entries {
        let entries = Entries::default();
        for n in 0..count {
            entries.push(Value::Int(n));
        }
        entries
    }

    #[test]
    fn kept_values_have_their_numbers_and_others_are_given_out_again() {
        let old = entries(3_000);
        let new = old.keeping(|number| number % 2 == 0 && number < 2_000).into_entries(false);
        assert_eq!(new.len(), 1_000);
        assert_eq!(new.end(), 2 * PAGE);
        for number in 0..3_000 {
            let is_kept = number % 2 == 0 && number < 2_000;
            assert_eq!(new.get(number).cloned(), is_kept.then_some(Value::Int(number as i64)), "{number}");
        }
        let given: Vec<usize> = (0..2_000).map(|n| new.push(Value::Int(-n))).collect();
        let distinct: std::collections::BTreeSet<_> = given.iter().collect();
        assert_eq!(distinct.len(), given.len());
        assert_eq!(new.len(), 3_000);
        for (n, number) in (0..).zip(given) {
            assert!(number % 2 == 1 || number >= 2_000, "{number}");
            assert_eq!(new.get(number), Some(&Value::Int(-n)));
        }
        // The old ones are as they were.
        assert!((0..3_000).all(|number| old.get(number as usize) == Some(&Value::Int(number))));
    }

    #[test]
    fn what_is_learnt_meanwhile_is_added_wherever_it_is() {
        let old = entries(10);
        let mut pages = old.keeping(|number| number == 3);
        assert!(pages.add(5, &Value::Int(5)));
        assert!(pages.add(5_000, &Value::Int(5_000)));
        assert!(!pages.add(3, &Value::Int(3)));
        let new = pages.into_entries(false);
        assert_eq!(new.len(), 3);
        assert_eq!(new.get(5_000), Some(&Value::Int(5_000)));
        assert_eq!(new.get(4), None);
        assert_eq!(new.push(Value::Null), 0);
    }

    #[test]
    fn full_pages_are_shared_and_empty_ones_are_gone_unless_numbers_are_rare() {
        let old = entries(4 * PAGE as i64).keeping(|_| true).into_entries(false);
        let keeps = |number: usize| !(PAGE..2 * PAGE).contains(&number);
        let new = old.keeping(keeps).into_entries(false);
        let page = |entries: &Entries, at: usize| entries.pages.pages[at].clone();
        assert!(page(&new, 1).is_none());
        assert!(Arc::ptr_eq(&page(&new, 2).unwrap(), &page(&old, 2).unwrap()));
        assert_eq!(new.push(Value::Null), 4 * PAGE);
        assert_eq!(old.keeping(keeps).into_entries(true).push(Value::Null), PAGE);
    }
}
