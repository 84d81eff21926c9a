//! From when on what pays, in rows. Answers never depend on it.

/// Source rows of one lane: what a thread takes at a time.
pub const LANE_ROWS: usize = 8_192;

// What the work of a rule costs, in rows that are read one after the other.

/// A relation of more rows does not fit the cache.
pub(super) const CACHED_ROWS: f64 = (1 << 18) as f64;
/// To look up a key, or to read a row that is found, in a relation that does not fit the cache.
pub(super) const LOOK_UP_FAR: f64 = 4.0;
/// The same in one that does.
pub(super) const LOOK_UP_NEAR: f64 = 0.5;
/// To compare or to compute, for a binding.
pub(super) const FILTER: f64 = 0.5;
/// The share of bindings that a comparison or a negation is expected to let through.
pub(super) const PASSING: f64 = 1.0 / 3.0;
/// To make an index, for a row,
pub(super) const INDEXING: f64 = 4.0;
/// and for one of rows that stand in the order of the column that is looked up.
pub(super) const INDEXING_IN_ORDER: f64 = 1.0;

/// Sizes from which on an algorithm for much work pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    /// A recursion that walks through a graph leaves tuples for sets of sources with so many known rows,
    pub walk_rows: usize,
    /// and where each of them is worth so many edges that have to be derived first.
    pub walk_edges_per_row: usize,
    /// From one source along stored edges it does so with this many.
    pub lone_walk_rows: usize,
    /// A recursion of chains leaves tuples for bit matrices with so many known rows,
    pub matrix_rows: usize,
    /// and where each of them is worth so many rows that have to be made matrices first.
    pub matrix_reads_per_row: usize,
    /// Rules that are products leave tuples for matrices while other rules do not, where they have found so many bindings for each
    /// row that has to be made part of one.
    pub product_bindings: usize,
    /// A recursion through `min` or `max` leaves rounds for sweeps over edges with so many known rows,
    pub relax_rows: usize,
    /// and where each of them is worth so many edges that have to be read first.
    pub relax_reads_per_row: usize,
    /// Of a recursion that is not evaluated in full it may be asked for so many rows,
    pub asked_rows: usize,
    /// and for so many for each row that is stored: to be asked takes about as long by then as to derive everything from them.
    pub asked_per_row: usize,
    /// A recursion goes on in parts with so many known rows,
    pub part_rows: usize,
    /// and so many new ones in a round: looking up known rows misses the cache by then.
    pub part_new_rows: usize,
    /// Rounds are planned again after one that had so many bindings.
    pub replan_bindings: usize,
    /// Conditions that do not depend on a recursion are joined once where that spares so many bindings.
    pub joined_bindings: usize,
    /// Where a key has so many rows, only those of a range are looked up, if a comparison says of which.
    pub range_rows: usize,
    /// So many rows of several relations are put together by merging them.
    pub union_rows: usize,
    /// In the time that an index takes for a candidate, a search without it looks at so many rows.
    pub candidate_rows: usize,
    /// An index that is made is used so often.
    pub index_uses: usize,
    /// So often it is asked in vain whether rows of a recursion that have lost a proof have another one: then all that follows from
    /// what has none is taken out at once, and comes back if it has a proof.
    pub falls_in_vain: usize,
    /// Whether it is looked through all rows that have ranks after each step, and one without a proof by rows of lower ranks is the
    /// end: for tests.
    pub audits_ranks: bool,
    /// Whether of two strata of which one is enough that one is tried first which would be tried second: for tests.
    pub swaps_turns: bool,
    /// Whether each row of a recursion is to be found in the first round in which all that it follows from is known: its round says
    /// how high its smallest proof is.
    pub finds_in_time: bool,
    /// Whether atoms are evaluated in the order in which they are written, new rows first: to find out what another order takes.
    pub as_written: bool,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            walk_rows: 1_024,
            walk_edges_per_row: 8,
            lone_walk_rows: 1,
            matrix_rows: 1_024,
            matrix_reads_per_row: 2,
            product_bindings: 2,
            relax_rows: 1_024,
            relax_reads_per_row: 64,
            asked_rows: 1_024,
            asked_per_row: 8,
            part_rows: 1 << 18,
            part_new_rows: 1 << 16,
            replan_bindings: 1 << 15,
            joined_bindings: 1 << 16,
            range_rows: 8,
            union_rows: 1 << 12,
            candidate_rows: 200,
            index_uses: 1,
            falls_in_vain: 8,
            audits_ranks: false,
            swaps_turns: false,
            finds_in_time: false,
            as_written: false,
        }
    }
}

impl Thresholds {
    /// Recursions go on in rounds, however large they grow; each round is planned again, conditions that do not depend on it are
    /// joined before the first one, and ranges are looked up wherever a comparison allows it.
    pub fn rounds_alone() -> Thresholds {
        Thresholds {
            walk_rows: usize::MAX,
            lone_walk_rows: usize::MAX,
            matrix_rows: usize::MAX,
            relax_rows: usize::MAX,
            asked_rows: usize::MAX,
            part_rows: usize::MAX,
            replan_bindings: 0,
            joined_bindings: 0,
            range_rows: 0,
            union_rows: 0,
            falls_in_vain: 1,
            ..Thresholds::default()
        }
    }

    /// Everything that can be done as if it were much is.
    pub fn lowest() -> Thresholds {
        Thresholds {
            walk_rows: 0,
            walk_edges_per_row: usize::MAX,
            lone_walk_rows: 0,
            matrix_rows: 0,
            matrix_reads_per_row: usize::MAX,
            product_bindings: 0,
            relax_rows: 0,
            relax_reads_per_row: usize::MAX,
            asked_rows: 8,
            asked_per_row: 0,
            part_rows: 0,
            part_new_rows: 0,
            replan_bindings: 0,
            joined_bindings: 0,
            range_rows: 0,
            union_rows: 0,
            candidate_rows: 0,
            index_uses: 1,
            falls_in_vain: 1,
            audits_ranks: false,
            swaps_turns: true,
            finds_in_time: false,
            as_written: false,
        }
    }
}
