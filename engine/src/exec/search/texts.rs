//! The texts that answer a query best.
//!
//! All that answer it are found with their scores at once. So conditions are asked of the best of them first, then of as many
//! more as it takes: what is found is the same as if they had been asked of all.

use super::{Candidate, fulfilling, put_in_order};
use crate::data::{Analyzer, Language};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::index::{Match, Measure, TextQuery, Texts};
use crate::plan::{Access, SearchPlan, Version};

/// Conditions are asked of so many at once, at least.
const LEAST: usize = 64;
/// And then of so many times as many.
const GROWTH: usize = 4;

/// The texts that a search is about, if it is about texts.
pub(super) fn texts(tables: &Tables<'_>, search: &SearchPlan) -> Result<Option<Texts>, ExecError> {
    let Measure::Score(language) = search.by else { return Ok(None) };
    let mut parts = Vec::new();
    for run in tables.runs(Access::of(search.relation, Version::All))? {
        let cost = run.texts_cost(search.column, language, tables.codec);
        if cost > 0 {
            tables.budget.expect_rows(|| run.stored_len())?;
        }
        let index =
            tables.budget.build(cost, |go_on| run.texts(search.column, language, tables.codec, go_on))?;
        parts.push((run, index));
    }
    Ok(Some(Texts::new(parts)))
}

/// The texts that answer a query best, of those that fulfil the conditions.
pub(super) fn answering(
    tables: &Tables<'_>,
    search: &SearchPlan,
    texts: &Texts,
    language: Language,
    query: &str,
) -> Result<Vec<Candidate>, ExecError> {
    let query = TextQuery::parse(query, &Analyzer::new(language));
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let (mut want, most) = match search.conditions {
        None => (search.count, search.count),
        Some(_) => (LEAST.max(GROWTH * search.count), usize::MAX),
    };
    let found = tables.budget.build(texts.find_cost(&query), |go_on| texts.find(&query, go_on))?;
    tables.budget.expect_rows(|| found.most())?;
    let _held = tables.budget.hold(found.most() * (size_of::<Match>() + size_of::<Candidate>()))?;
    let matches = tables.budget.watch(|go_on| found.matches(most, go_on))?;
    let mut rest: Vec<Candidate> =
        matches.into_iter().map(|found| Candidate { measure: found.score, id: found.id }).collect();
    let mut best = Vec::new();
    while !rest.is_empty() && best.len() < search.count {
        tables.budget.check()?;
        let mut next = take_best(&mut rest, want);
        put_in_order(tables, search, &mut next);
        best.extend(fulfilling(tables, search, next)?);
        want = want.saturating_mul(GROWTH);
    }
    best.truncate(search.count);
    Ok(best)
}

/// So many of the highest scores, and all that are as high as the last of them.
fn take_best(rest: &mut Vec<Candidate>, count: usize) -> Vec<Candidate> {
    if rest.len() <= count {
        return std::mem::take(rest);
    }
    let (_, last, _) = rest.select_nth_unstable_by(count - 1, |a, b| b.measure.total_cmp(&a.measure));
    let least = last.measure;
    let (best, lower) = rest.iter().partition(|candidate| candidate.measure >= least);
    *rest = lower;
    best
}
