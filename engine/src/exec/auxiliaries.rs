//! Auxiliary relations: conditions of recursive rules that do not depend on the recursion, joined once.
//!
//! How much that would have spared is measured, and what it will spare in the next round is expected. Once this is much, a sample
//! tells what it takes; as soon as this is no more than it spares, it is done. Nobody can tell before how often rounds repeat the
//! same, but so they never do so for much longer than it would have taken to be spared that (as whoever may hire or buy skis: Karlin,
//! Manasse, Rudolph and Sleator, Competitive snoopy caching, 1988).

use foldhash::HashMap;

use super::error::ExecError;
use super::growing::{gather, runs_of};
use super::heads::derive::{bindings_of_sample, derive};
use super::known::Known;
use super::profile::{Meter, Notes, Planned, Products, planned};
use super::tables::Tables;
use crate::analysis::program::{Auxiliary, Stratum};
use crate::data::Run;
use crate::plan::{Distinct, Own, RulePlan, Variation, expected_spared, plan, plan_rule};

/// A sample may be wrong by so much.
const MORE: u64 = 2;

/// Derives what will have spared more than it takes, and lets variants read it.
pub(super) fn derive_auxiliaries<'p>(
    tables: &mut Tables<'_>,
    stratum: &'p Stratum,
    own: &Own,
    variations: &mut [Variation<'p>],
    variants: &mut [Planned],
    mut notes: Option<&mut Notes>,
) -> Result<(), ExecError> {
    for auxiliary in &stratum.auxiliaries {
        if tables.complete.contains_key(&auxiliary.relation) {
            continue;
        }
        let Some(runs) = attempt(tables, auxiliary, variants, notes.as_deref_mut())? else { continue };
        tables.complete.insert(auxiliary.relation, runs);
        for (variation, variant) in variations.iter_mut().zip(variants.iter_mut()) {
            if variation.reader.is_none_or(|reader| reader.relation != auxiliary.relation) {
                continue;
            }
            *variation = variation.reading(own);
            let plan = plan(*variation, own, tables);
            variant
                .replace(planned(tables.program, tables, plan, variation.rule, notes.is_some()), &mut notes);
        }
    }
    Ok(())
}

/// The rows of an auxiliary relation, if that takes no more bindings than are spared.
fn attempt(
    tables: &Tables<'_>,
    auxiliary: &Auxiliary,
    variants: &[Planned],
    notes: Option<&mut Notes>,
) -> Result<Option<Vec<Run>>, ExecError> {
    let least = tables.thresholds.joined_bindings;
    let at_work = variants.iter().filter(|variant| variant.products != Products::Do);
    let plans = at_work.map(|variant| &variant.plan);
    let reads =
        |plan: &&RulePlan| plan.spares.as_ref().is_some_and(|(relation, _)| *relation == auxiliary.relation);
    let coming: f64 = plans.filter(reads).map(|plan| expected_spared(plan, tables)).sum();
    let spared = tables.measured.spared(auxiliary.relation);
    let bindings = spared.bindings.saturating_add(coming as u64);
    if least == usize::MAX || bindings < least as u64 || spared.takes.is_some_and(|takes| bindings < takes) {
        return Ok(None);
    }
    let before = tables.budget.used();
    let tried = try_once(&tables.apart(), auxiliary, bindings, notes);
    // Only the rows stay.
    let held = match &tried {
        Ok(Tried::Done(runs)) => runs.iter().map(Run::memory_bytes).sum(),
        Ok(Tried::Takes(_)) | Err(_) => 0,
    };
    tables.budget.release(tables.budget.used().saturating_sub(before + held));
    let takes = match tried {
        Ok(Tried::Done(runs)) => return Ok(Some(runs)),
        Ok(Tried::Takes(takes)) => takes,
        Err(stopped) => {
            // What no round might have met is no reason to stop, unless the request has to.
            tables.budget.check()?;
            if matches!(stopped, ExecError::NotWorth) { bindings.saturating_mul(MORE) } else { u64::MAX }
        }
    };
    tables.measured.takes(auxiliary.relation, takes);
    Ok(None)
}

/// What came of it to derive an auxiliary relation.
enum Tried {
    /// Its rows.
    Done(Vec<Run>),
    /// It takes so many bindings.
    Takes(u64),
}

/// Derives an auxiliary relation if it has to be, or takes no more than so many bindings. `tables` are its own.
fn try_once(
    tables: &Tables<'_>,
    auxiliary: &Auxiliary,
    bindings: u64,
    notes: Option<&mut Notes>,
) -> Result<Tried, ExecError> {
    let plan = || {
        planned(tables.program, tables, plan_rule(&auxiliary.rule, tables), &auxiliary.rule, notes.is_some())
    };
    let is_forced = tables.thresholds.joined_bindings == 0;
    if !is_forced {
        let sample = Planned { most_bindings: Some(bindings), meter: None, ..plan() };
        let takes = bindings_of_sample(tables, &sample)?;
        if takes > bindings {
            return Ok(Tried::Takes(takes));
        }
    }
    let planned = Planned { most_bindings: (!is_forced).then_some(bindings.saturating_mul(MORE)), ..plan() };
    let arity = tables.arity(auxiliary.relation);
    let mut known = HashMap::from_iter([(auxiliary.relation, Known::new(Distinct::Rows, arity))]);
    let rows = derive(tables, &planned, &mut known)?;
    if tables.remarks.is_saturated() {
        // Numbers that are cut off where no round may come are no business of the answer's.
        return Ok(Tried::Takes(u64::MAX));
    }
    if let Some(notes) = notes {
        notes.rules.extend(planned.meter.map(Meter::finish));
    }
    Ok(Tried::Done(runs_of(gather(rows, arity))?))
}

/// Lets go what only this stratum reads.
pub(super) fn drop_auxiliaries(tables: &mut Tables<'_>, stratum: &Stratum) {
    for auxiliary in &stratum.auxiliaries {
        tables.complete.remove(&auxiliary.relation);
    }
}
