//! Whether a search forward from some nodes and one backward from others meet: neither goes farther than it must.
//!
//! It goes on from that end from which fewer edges have been followed, those that come next included, so all of it takes about
//! twice what the end with less to see takes alone, and where both see much they have met long before (Pohl, *Bi-directional
//! Search*, Machine Intelligence 6, 1971).

use std::time::Duration;

use super::arcs::Arcs;
use super::end::End;
use crate::budget::Budget;
use crate::data::Code;
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::plan::Walk;

/// So many pairs are a few.
pub(crate) const FEW_PAIRS: usize = 64;
/// Where there is more than one, they may take so long each.
pub(crate) const EACH_PAIR: Duration = Duration::from_micros(200);

/// Of some pairs of ends, between which there is a way along the edges of two walks, which are the same ones in opposite directions. A
/// pair are nodes from which the first walk starts, and such of the second.
pub(crate) fn connected(
    tables: &Tables<'_>,
    walks: [&Walk; 2],
    pairs: &[[Vec<Code>; 2]],
) -> Result<Vec<bool>, ExecError> {
    let arcs = [Arcs::new(walks[0], None, tables)?, Arcs::new(walks[1], None, tables)?];
    pairs.iter().map(|starts| do_meet(&arcs, starts, tables.budget)).collect()
}

fn do_meet(arcs: &[Arcs; 2], starts: &[Vec<Code>; 2], budget: &Budget) -> Result<bool, ExecError> {
    let dense_range = arcs[0].dense_range(&starts.concat());
    let mut here = End::new(&arcs[0], &starts[0], dense_range);
    let mut there = End::new(&arcs[1], &starts[1], dense_range);
    let _held = budget.hold(here.memory_bytes() + there.memory_bytes())?;
    if starts[0].iter().any(|node| there.has(*node)) {
        return Ok(true);
    }
    while !here.is_done() && !there.is_done() {
        budget.check()?;
        if there.followed + there.ahead < here.followed + here.ahead {
            std::mem::swap(&mut here, &mut there);
        }
        if here.step(budget)?.iter().any(|node| there.has(*node)) {
            return Ok(true);
        }
    }
    Ok(false)
}
