//! What the rounds of a recursion have measured, so that the next ones can be planned with it.

use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::HashMap;
use parking_lot::Mutex;

use crate::data::RelationId;
use crate::plan::Access;

/// Fan-outs by what was looked up, and how much was done.
#[derive(Debug, Default)]
pub(super) struct Measured {
    fan_outs: Mutex<HashMap<LookedUp, FanOut>>,
    /// Bindings since this was last asked.
    bindings: AtomicU64,
    /// Bindings that rules have found which could be products of matrices.
    of_products: AtomicU64,
    /// What is known of auxiliary relations that are not there.
    spared: Mutex<HashMap<RelationId, Spared>>,
}

/// What an auxiliary relation would have spared.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spared {
    /// Bindings.
    pub(super) bindings: u64,
    /// Those that it takes itself, as far as that was found out.
    pub(super) takes: Option<u64>,
}

/// A relation, whether only generators of it are looked up, and by which columns.
type LookedUp = (RelationId, bool, Vec<usize>);

/// How many rows bindings have found.
#[derive(Debug, Clone, Copy, Default)]
struct FanOut {
    bindings: f64,
    rows: f64,
    /// Number of rows then.
    of: f64,
}

impl Measured {
    /// So many bindings found so many of `of` rows. What was measured before counts half.
    pub(super) fn add(&self, access: Access, columns: Vec<usize>, bindings: u64, rows: u64, of: usize) {
        /// Fewer bindings say little.
        const FEW: u64 = 64;
        if bindings < FEW {
            return;
        }
        let mut fan_outs = self.fan_outs.lock();
        let fan_out = fan_outs.entry((access.relation, access.generators, columns)).or_default();
        let scale = if fan_out.of > 0.0 { of as f64 / fan_out.of } else { 1.0 };
        *fan_out = FanOut {
            bindings: fan_out.bindings / 2.0 + bindings as f64,
            rows: fan_out.rows / 2.0 * scale + rows as f64,
            of: of as f64,
        };
    }

    /// So many bindings reached the operators of a plan.
    pub(super) fn add_bindings(&self, bindings: u64) {
        self.bindings.fetch_add(bindings, Ordering::Relaxed);
    }

    /// Rules that could be products of matrices have found so many bindings more.
    pub(super) fn add_of_products(&self, bindings: u64) {
        self.of_products.fetch_add(bindings, Ordering::Relaxed);
    }

    /// How many bindings such rules have found.
    pub(super) fn of_products(&self) -> u64 {
        self.of_products.load(Ordering::Relaxed)
    }

    /// An auxiliary relation would have spared so many bindings more.
    pub(super) fn spare(&self, auxiliary: RelationId, bindings: u64) {
        self.spared.lock().entry(auxiliary).or_default().bindings += bindings;
    }

    /// To derive an auxiliary relation takes so many bindings.
    pub(super) fn takes(&self, auxiliary: RelationId, bindings: u64) {
        self.spared.lock().entry(auxiliary).or_default().takes = Some(bindings);
    }

    /// What an auxiliary relation would have spared so far.
    pub(super) fn spared(&self, auxiliary: RelationId) -> Spared {
        self.spared.lock().get(&auxiliary).copied().unwrap_or_default()
    }

    /// How many bindings there were since this was last asked.
    pub(super) fn take_bindings(&self) -> u64 {
        self.bindings.swap(0, Ordering::Relaxed)
    }

    /// Rows that a binding would find among `of`.
    pub(super) fn fan_out(&self, access: Access, columns: &[usize], of: usize) -> Option<f64> {
        let fan_outs = self.fan_outs.lock();
        let fan_out = fan_outs.get(&(access.relation, access.generators, columns.to_vec()))?;
        Some(fan_out.rows / fan_out.bindings * of as f64 / fan_out.of.max(1.0))
    }
}
