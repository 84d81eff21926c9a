//! `Findings`: what an evaluation finds out beside rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use stratalog_engine::exec::{Outcome, Remark, Unlike};

/// What the engine remarked where it computed or aggregated.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    saturated: AtomicBool,
    remarks: Mutex<Vec<Remark>>,
}

impl Findings {
    /// Takes over what an evaluation by the engine says.
    pub(crate) fn add(&self, outcome: &Outcome) {
        if outcome.saturated {
            self.saturate();
        }
        if !outcome.remarks.is_empty() {
            self.remarks.lock().extend(outcome.remarks.iter().cloned());
        }
    }

    /// Some integer operation was cut off.
    pub(crate) fn saturate(&self) {
        self.saturated.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_saturated(&self) -> bool {
        self.saturated.load(Ordering::Relaxed)
    }

    /// All remarks, one a rule and aggregate; of values that were passed over, the smallest.
    pub(crate) fn remarks(&self) -> Vec<Remark> {
        let mut said: BTreeMap<(String, &'static str), Remark> = BTreeMap::new();
        for remark in self.remarks.lock().iter() {
            let known = said.entry((remark.rule.clone(), remark.aggregate)).or_insert_with(|| remark.clone());
            if let (Unlike::PassedOver(value), Unlike::PassedOver(smallest)) = (&remark.unlike, &known.unlike)
                && value < smallest
            {
                *known = remark.clone();
            }
        }
        said.into_values().collect()
    }
}
