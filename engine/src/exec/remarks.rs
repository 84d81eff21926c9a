//! What an evaluation has to say beside its rows: the same, whichever thread comes first.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::aggregates::Aggregate;
use crate::data::Value;

/// What has been remarked so far.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// Whether some integer operation was cut off at the end of the 64-bit range.
    pub(super) saturated: AtomicBool,
    unlike: Mutex<BTreeMap<(String, &'static str), Unlike>>,
}

/// Values that an aggregate met and is not made for.
#[derive(Debug, Clone, PartialEq)]
pub enum Unlike {
    /// It passed over what is no number, such as this, the smallest of them.
    PassedOver(Value),
    /// It ranked values of several kinds in one group.
    Mixed,
}

/// Values that an aggregate of a rule met and is not made for.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// The rule's text.
    pub rule: String,
    /// The aggregate's name.
    pub aggregate: &'static str,
    /// Which values.
    pub unlike: Unlike,
}

impl Remarks {
    pub(super) fn saturate(&self) {
        self.saturated.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_saturated(&self) -> bool {
        self.saturated.load(Ordering::Relaxed)
    }

    /// Remarks values of an aggregate of this rule; of several passed over, the smallest counts.
    pub(super) fn unlike(&self, rule: &str, aggregate: Aggregate, unlike: Unlike) {
        let mut known = self.unlike.lock();
        match (known.entry((rule.to_owned(), aggregate.name())), unlike) {
            (Entry::Vacant(entry), unlike) => _ = entry.insert(unlike),
            (Entry::Occupied(mut entry), Unlike::PassedOver(value)) => {
                if matches!(entry.get(), Unlike::PassedOver(known) if value < *known) {
                    entry.insert(Unlike::PassedOver(value));
                }
            }
            (Entry::Occupied(_), Unlike::Mixed) => {}
        }
    }

    /// All that was remarked of aggregates.
    pub(super) fn of_aggregates(&self) -> Vec<Remark> {
        let remark = |((rule, aggregate), unlike): (&(String, &'static str), &Unlike)| Remark {
            rule: rule.clone(),
            aggregate,
            unlike: unlike.clone(),
        };
        self.unlike.lock().iter().map(remark).collect()
    }
}
