//! One stratum to its fixpoint, semi-naively, as its plan says.
//!
//! A relation that grows has *old* rows, the *delta* that the last round found, and *fresh* rows that this round finds. A
//! round joins the delta with everything; what is fresh becomes the next delta.

use std::sync::Arc;
use std::time::Instant;

use foldhash::HashSet;

use super::auxiliaries::{derive_auxiliaries, drop_auxiliaries};
use super::error::ExecError;
use super::growing::{Fresh, Growing, NewRows, gather, runs_of};
use super::growing_index::GrowingIndex;
use super::heads::derive::{derive, derive_round};
use super::heads::partitioned::derive_in_parts;
use super::known::{BestRows, Known, KnownRows, take_in};
use super::profile::{Meter, Notes, Planned, Products, planned};
use super::rounds::Rounds;
use super::search::search;
use super::strategy::matrices::{Mixture, is_worth_mixing};
use super::strategy::switch::{go_on, is_worth, rows_read};
use super::tables::Tables;
use crate::analysis::program::{Rule, Stratum};
use crate::budget::{Budget, BudgetError};
use crate::data::{self, RelationId, Rows, Run, parallel, sorted_run};
use crate::plan::{
    Access, Alias, HandedOn, LANE_ROWS, Mixed, Once, OncePlan, Own, Prospect, Recursion, RulesPlan,
    SearchPlan, Statistics, Strategy, StrategyNote, StratumPlan, Union, Variant, Variation, Version, Way,
    note_handed_on, note_search, plan_again, plan_stratum,
};

/// Evaluates a stratum; its relations are complete afterwards. What happens is noted if somebody wants to know.
pub(super) fn evaluate(
    tables: &mut Tables<'_>,
    stratum: &Stratum,
    notes: Option<&mut Notes>,
) -> Result<(), ExecError> {
    match plan_stratum(stratum, tables.program, tables, &tables.thresholds, tables.budget)? {
        StratumPlan::Alias(alias) => share(tables, &alias, notes)?,
        StratumPlan::Union(union) => unite(tables, &union, notes)?,
        StratumPlan::Rules(plan) => evaluate_rules(tables, stratum, plan, notes)?,
    }
    tables.may_ask(stratum)
}

/// Completes a relation with the runs of another one.
fn share(tables: &mut Tables<'_>, alias: &Alias<'_>, notes: Option<&mut Notes>) -> Result<(), ExecError> {
    let runs = tables.runs(Access::of(alias.whole.source, Version::All))?;
    if let Some(notes) = notes {
        let meter = Meter::new(note_handed_on("share", &alias.whole, tables.program, tables, |_| false));
        meter.rows(0, runs.iter().map(Run::len).sum());
        notes.rules.push(meter.finish());
    }
    tables.complete.insert(alias.head, runs);
    Ok(())
}

/// Completes a relation with the rows of several others.
fn unite(tables: &mut Tables<'_>, union: &Union<'_>, mut notes: Option<&mut Notes>) -> Result<(), ExecError> {
    let mut runs = tables.complete.remove(&union.head).unwrap_or_default();
    let mut rows: usize = runs.iter().map(Run::len).sum();
    for part in &union.parts {
        let of_part = tables.runs(Access::of(part.source, Version::All))?;
        let rows_of_part = of_part.iter().map(Run::len).sum();
        if let Some(notes) = &mut notes {
            let meter = Meter::new(note_handed_on("unite", part, tables.program, tables, |_| false));
            meter.rows(0, rows_of_part);
            notes.rules.push(meter.finish());
        }
        rows += rows_of_part;
        tables.budget.expect_rows(|| rows)?;
        for run in of_part {
            runs.push(in_order(run, part, tables.budget)?);
        }
    }
    let arity = tables.arity(union.head);
    tables.budget.charge(Rows::bytes_to_store(arity, rows))?;
    let pieces = tables.budget.watch(|go_on| data::union(&runs, arity, go_on))?;
    let united = Run::of_sorted(gather(pieces, arity));
    tables.complete.insert(union.head, if united.is_empty() { Vec::new() } else { vec![united] });
    Ok(())
}

/// The rows of a run as a relation has them that others are put together in, in the order of its columns.
fn in_order(run: Run, part: &HandedOn<'_>, budget: &Budget) -> Result<Run, BudgetError> {
    if part.is_straight() && run.is_sorted() {
        return Ok(run);
    }
    budget.check()?;
    budget.charge(Rows::bytes_to_store(part.columns.len(), run.len()))?;
    let mut rows = run.live_rows();
    rows.columns = part.columns.iter().map(|column| std::mem::take(&mut rows.columns[*column])).collect();
    Ok(sorted_run(rows).0)
}

fn evaluate_rules<'p>(
    tables: &mut Tables<'_>,
    stratum: &'p Stratum,
    plan: RulesPlan<'p>,
    mut notes: Option<&mut Notes>,
) -> Result<(), ExecError> {
    let (mut known, mut fresh) = begin(tables, stratum, plan.once, &plan.distinct, notes.as_deref_mut())?;
    if let Some(recursion) = plan.recursion {
        return recur(tables, stratum, recursion, &plan.distinct, &mut known, fresh, notes);
    }
    for &relation in &stratum.relations {
        let rows = fresh.remove(&relation).unwrap_or_default().gather(tables.arity(relation));
        tables.budget.note_rows(rows.len);
        tables.complete.insert(relation, complete_rows(&mut known, relation, rows, tables.budget)?);
    }
    Ok(())
}

/// What is there before anything recurs: stored rows, and those of rules that read only what is complete.
pub(super) fn begin(
    tables: &mut Tables<'_>,
    stratum: &Stratum,
    once: Vec<OncePlan<'_>>,
    distinct: &Own,
    mut notes: Option<&mut Notes>,
) -> Result<(KnownRows, NewRows), ExecError> {
    let known = distinct.iter().map(|(relation, distinct)| {
        let known = Known::new(*distinct, tables.arity(*relation));
        (*relation, known)
    });
    let mut known: KnownRows = known.collect();
    let mut fresh = NewRows::default();
    // Stored rows count beside what rules derive.
    for &relation in &stratum.relations {
        for run in tables.complete.remove(&relation).unwrap_or_default() {
            let rows = take_in(tables, &mut known, relation, &run.live_rows())?;
            fresh.entry(relation).or_default().add(rows, false);
        }
    }
    for once in once {
        let head = once.rule.head;
        let rows = match once.how {
            Once::Search(search, way) => {
                vec![find(tables, &search, way, once.rule, &mut known, notes.as_deref_mut())?]
            }
            Once::Rule(rule_plan, parts) => {
                let planned = planned(tables.program, &*tables, *rule_plan, once.rule, notes.is_some());
                let in_parts = match &parts {
                    _ if has_no_solution(tables, once.rule) => Some(Vec::new()),
                    Some(parts) => derive_in_parts(tables, &planned, parts)?,
                    None => None,
                };
                let rows = match in_parts {
                    Some(rows) => rows,
                    None => derive(tables, &planned, &mut known)?,
                };
                if let Some(notes) = &mut notes {
                    notes.rules.extend(planned.meter.map(Meter::finish));
                }
                rows
            }
        };
        let fresh = fresh.entry(head).or_default();
        rows.into_iter().for_each(|rows| fresh.add(rows, false));
    }
    Ok((known, fresh))
}

/// The rows of a relation at its end: those that it has come to have, or the best of them.
fn complete_rows(
    known: &mut KnownRows,
    relation: RelationId,
    rows: Rows,
    budget: &Budget,
) -> Result<Vec<Run>, BudgetError> {
    match known.get_mut(&relation) {
        Some(Known::Best(best)) => runs_of(best.complete(budget)?),
        Some(Known::All(_) | Known::Nothing) | None => runs_of(rows),
    }
}

/// Whether a condition of a rule has no rows, so that nothing need be read of the others. Only a sum of nothing is something.
fn has_no_solution(tables: &Tables<'_>, rule: &Rule) -> bool {
    !rule.aggregates() && rule.atoms().any(|atom| tables.rows(atom.relation) == 0)
}

/// The rows that a search finds and that are new.
fn find(
    tables: &Tables<'_>,
    plan: &SearchPlan,
    way: Way,
    rule: &Rule,
    known: &mut KnownRows,
    notes: Option<&mut Notes>,
) -> Result<Rows, ExecError> {
    let meter = notes
        .is_some()
        .then(|| Meter::new(note_search(plan, rule, way, tables.program, tables, |_| false).ends()));
    let found = search(tables, plan, way, meter.as_ref())?;
    let rows = take_in(tables, known, rule.head, &found)?;
    if let (Some(notes), Some(meter)) = (notes, meter) {
        meter.rows(1, rows.len);
        notes.rules.push(meter.finish());
    }
    Ok(rows)
}

/// Evaluates a recursion in rounds, until nothing new comes or another strategy takes over.
fn recur<'p>(
    tables: &mut Tables<'_>,
    stratum: &'p Stratum,
    recursion: Recursion<'p>,
    own: &Own,
    known: &mut KnownRows,
    mut fresh: NewRows,
    mut notes: Option<&mut Notes>,
) -> Result<(), ExecError> {
    let mut note = StrategyNote::of_recursion(&recursion);
    let mut variants: Vec<Planned> = Vec::new();
    let mut variations: Vec<Variation<'p>> = Vec::new();
    {
        let prospect = Prospect::of(stratum, tables.program, tables);
        for Variant { variation, plan } in recursion.variants {
            let products = products_for(variation.rule, recursion.mixed.as_ref());
            let planned = planned(tables.program, &prospect, plan, variation.rule, notes.is_some());
            variants.push(Planned { products, ..planned });
            variations.push(variation);
        }
    }
    tables.growing = own.keys().map(|relation| (*relation, Growing::default())).collect();
    let looked_up = looked_up(variants.iter());
    let (mut strategy, mut mixed) = (Some(recursion.strategy), recursion.mixed);
    let (mut rounds, mut switched, mut mixture) = (0, None, None);
    // What is composed of generators, or from the parts of a chain, is found later than it could be, and so is what waits for products.
    let mut are_late = variations.iter().any(|variation| variation.generators.is_some());
    loop {
        if let Some(mixed) = mixed.take_if(|mixed| is_worth_mixing(tables, mixed)) {
            tables.budget.expect_rows(|| usize::MAX)?;
            (strategy, are_late) = (None, true);
            mixture = Some((begin_mixture(tables, &mixed, &mut variants)?, Instant::now()));
        }
        if let Some((mixture, _)) = &mut mixture {
            rounds += mixture.multiply(tables, &stratum.relations, known, &mut fresh)?;
        }
        if !advance(tables, &stratum.relations, known, &looked_up, &mut fresh)? {
            break;
        }
        tables.budget.note_round(tables.rows_of_round());
        tables.may_ask(stratum)?;
        let next = strategy.take_if(|strategy| is_worth(tables, strategy, known));
        // Parts go on with the plans that there are.
        if matches!(next, Some(Strategy::Partitions(_)))
            || next.is_none() && is_worth_planning(tables, rounds)
        {
            plan_round(tables, own, &variations, &mut variants, notes.as_deref_mut())?;
            let notes = notes.as_deref_mut();
            derive_auxiliaries(tables, stratum, own, &mut variations, &mut variants, notes)?;
        }
        if let Some(strategy) = next {
            tables.budget.expect_rows(|| rows_read(tables, &strategy))?;
            let started = Instant::now();
            if let Some(more) = go_on(tables, &strategy, &variants, known)? {
                note = StrategyNote::of(&strategy);
                are_late |= !strategy.finds_in_time();
                (rounds, switched) = (rounds + more, Some(started.elapsed()));
                break;
            }
        }
        extend_indexes(tables)?;
        rounds += 1;
        tables.rounds = rounds;
        for (plan, rows) in derive_round(tables, &variants, known)? {
            fresh.entry(plan.head).or_default().add(rows, plan.composes);
        }
    }
    // Matrices go before relations are put together.
    let mixing = mixture.map(|(_, started)| started.elapsed());
    complete(tables, known, switched.is_none())?;
    if are_late {
        tables.found_in.values_mut().for_each(Rounds::be_late);
    }
    drop_auxiliaries(tables, stratum);
    if let Some(notes) = notes {
        notes.rules.extend(variants.into_iter().filter_map(|planned| planned.meter).map(Meter::finish));
        (notes.rounds, notes.switched) = (rounds, switched.or(mixing));
        notes.strategy = Some(note);
    }
    Ok(())
}

/// Whether products of matrices can do the work of a rule.
fn products_for(rule: &Rule, mixed: Option<&Mixed>) -> Products {
    match mixed {
        Some(mixed) if mixed.rules.contains(rule) => Products::Could,
        Some(_) | None => Products::Cannot,
    }
}

/// Lets products do the work of those plans whose work they can do.
fn begin_mixture<'b>(
    tables: &mut Tables<'b>,
    mixed: &Mixed,
    variants: &mut [Planned],
) -> Result<Mixture<'b>, ExecError> {
    let given = variants.iter_mut().filter(|variant| variant.products == Products::Could);
    given.for_each(|variant| variant.products = Products::Do);
    let others = || variants.iter().filter(|variant| variant.products != Products::Do);
    let looked_up = looked_up(others());
    let read = others().flat_map(|variant| variant.plan.accesses()).map(|access| access.relation);
    let asked_for = read.chain(others().map(|variant| variant.plan.head)).collect();
    for (relation, growing) in &mut tables.growing {
        if !looked_up.contains(relation) {
            growing.drop_indexes(tables.budget);
        }
    }
    Mixture::begin(tables, mixed, &asked_for)
}

/// Plans the next round with what the rounds before have measured. What is read stays the same, whatever the order.
fn plan_round(
    tables: &Tables<'_>,
    own: &Own,
    variations: &[Variation<'_>],
    variants: &mut [Planned],
    mut notes: Option<&mut Notes>,
) -> Result<(), BudgetError> {
    for (variant, variation) in variants.iter_mut().zip(variations) {
        tables.budget.check()?;
        if variant.products == Products::Do {
            continue;
        }
        let Some(plan) = plan_again(*variation, own, &variant.plan, tables) else { continue };
        variant.replace(planned(tables.program, tables, plan, variation.rule, notes.is_some()), &mut notes);
    }
    Ok(())
}

/// Completes what still grows: what a strategy has completed does so no longer. `in_rounds` says whether none has.
fn complete(tables: &mut Tables<'_>, known: &mut KnownRows, in_rounds: bool) -> Result<(), BudgetError> {
    for (relation, mut growing) in std::mem::take(&mut tables.growing) {
        if in_rounds && !matches!(known.get(&relation), Some(Known::Best(_))) {
            tables.found_in.insert(relation, growing.take_rounds());
        }
        let rows = growing.take(tables.budget);
        tables.complete.insert(relation, complete_rows(known, relation, rows, tables.budget)?);
    }
    tables.rounds = 0;
    tables.measured = Arc::default();
    Ok(())
}

/// Extends the indexes that the last round has used by what it has found, a thread each.
fn extend_indexes(tables: &mut Tables<'_>) -> Result<(), BudgetError> {
    /// With fewer new rows it is done where an index is asked for.
    const FEW: usize = 1_024;
    if tables.rows_of_round() < FEW {
        return Ok(());
    }
    let indexes = tables.growing.values_mut().flat_map(Growing::used_indexes).collect();
    let extend = |(index, extent): (&mut GrowingIndex, _)| index.extend(extent, tables.budget);
    parallel::map(indexes, extend).into_iter().collect()
}

/// Whether to plan a round again takes little beside what it has to do: the last one had many bindings, or the first one
/// starts from many rows.
fn is_worth_planning(tables: &Tables<'_>, rounds: usize) -> bool {
    /// Bindings that a row is expected to become.
    const BINDINGS: usize = 32;
    let bindings = match rounds {
        0 => tables.growing.keys().filter_map(|relation| tables.delta(*relation)).sum::<usize>() * BINDINGS,
        _ => usize::try_from(tables.measured.take_bindings()).unwrap_or(usize::MAX),
    };
    bindings >= tables.thresholds.replan_bindings
}

/// The relations that plans read in another way than as last round's new rows.
fn looked_up<'v>(variants: impl Iterator<Item = &'v Planned>) -> HashSet<RelationId> {
    let accesses = variants.flat_map(|planned| planned.plan.accesses());
    accesses.filter(|access| access.version != Version::Delta).map(|access| access.relation).collect()
}

/// Starts the next round; answers whether there is anything to do in it.
fn advance(
    tables: &mut Tables<'_>,
    relations: &[RelationId],
    known: &mut KnownRows,
    looked_up: &HashSet<RelationId>,
    fresh: &mut NewRows,
) -> Result<bool, BudgetError> {
    let mut more = false;
    for relation in relations {
        let arity = tables.arity(*relation);
        let Some(growing) = tables.growing.get_mut(relation) else { continue };
        let rows = match known.get_mut(relation) {
            Some(Known::Best(best)) => {
                Fresh::of(vec![improved(growing, best, looked_up.contains(relation), tables.budget)?])
            }
            _ => fresh.remove(relation).unwrap_or_default(),
        };
        more |= growing.advance(rows, arity, tables.budget)?;
    }
    Ok(more)
}

/// What became better in the last round. Rows that it replaces may stay where they are looked up: nothing that follows from
/// them is better. Where they have become many, only the best ones are left.
fn improved(
    growing: &mut Growing,
    best: &mut BestRows,
    is_looked_up: bool,
    budget: &Budget,
) -> Result<Rows, BudgetError> {
    let changed = best.take_changed(budget)?;
    if !is_looked_up {
        growing.take(budget);
    } else if growing.rows() > 2 * best.len() + LANE_ROWS {
        growing.take(budget);
        *growing = Growing::complete(best.all());
    }
    Ok(changed)
}
