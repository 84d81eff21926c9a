//! `?query`: the stages in a row.

use std::time::Duration;

use super::explain::{Watch, kept_notes, rewrite_noting};
use crate::aggregates::Aggregate;
use crate::analysis;
use crate::analysis::program::Program;
use crate::answer::{Provenance, Rows};
use crate::budget::Budget;
use crate::context::{Context, Environment};
use crate::data::{self, Codec, RowIndex, Run, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::{self, ExecError, Order, Profile, Relations, Remark, Unlike, sort_limit};
use crate::forms::Filled;
use crate::graph::SessionView;
use crate::rewrite;
use crate::syntax::ast::{Direction, Name, Query};
use crate::views::Advancing;

/// Answers a query, and notes what that takes if it is watched.
pub(super) fn run(
    query: &Query,
    context: &mut Context<'_>,
    watch: Option<&mut Watch>,
) -> Result<Rows, Error> {
    let (answer, source) = run_without_source(query, context, watch)?;
    let provenance = match source {
        Source::Graph => return Ok(answer),
        Source::Persistent => vec![Provenance::Persistent; answer.row_count()],
        Source::Mixed(view) => {
            let (rows, codec) = answer.coded();
            provenance(query, rows, &view, codec, context)?
        }
    };
    Ok(answer.with_provenance(provenance))
}

/// Where the rows of an answer come from.
pub(super) enum Source {
    /// The session has nothing of its own.
    Graph,
    /// Nothing of the session was read.
    Persistent,
    /// That has to be found out.
    Mixed(Box<SessionView>),
}

/// The same without saying of each row where it comes from.
pub(super) fn run_without_source(
    query: &Query,
    context: &mut Context<'_>,
    watch: Option<&mut Watch>,
) -> Result<(Rows, Source), Error> {
    let view = context.view();
    context.version = Some(view.snapshot().version());
    context.warnings.extend(view.left_out().map(left_out));
    let Environment { forms, disabled_rewrites, .. } = context.environment;
    let known = view.graph_catalog().filter(|_| watch.is_none());
    let filled = known.and_then(|catalog| forms.fill(query, context.graph.id(), catalog, disabled_rewrites));
    let (analysed, rewritten) = match filled {
        Some(Filled { analysed, rewritten }) => (analysed, Some(rewritten)),
        None => {
            let analysed = analysis::analyse_query(query, view.catalog());
            (analysed.map_err(|errors| refused(&errors))?, None)
        }
    };
    let reads_own = analysed.program.relations.iter().any(|relation| view.is_own(&relation.name));
    let limit = analysed.limit.map(|limit| (limit.count, limit.offset));
    let order: Vec<Order> = analysed
        .order
        .iter()
        .map(|(column, direction)| Order { column: *column, descending: *direction == Direction::Descending })
        .collect();
    let (columns, names) = (analysed.columns.clone(), analysed.names.clone());
    let declared_any = analysed.declared_any.clone();
    let codec = Codec::over(view.snapshot().dictionary().clone());
    let evaluated = evaluate(analysed.program, rewritten, &view, &codec, context, watch)?;
    let arity = columns.len();
    let total = evaluated.runs.iter().map(Run::len).sum();
    let sort = |budget: &Budget| {
        budget.expect_rows(|| total)?;
        sort_limit(evaluated.runs.clone(), arity, &order, limit, &codec, budget)
    };
    let rows = at_once_or_by_all(BRIEF, context, sort).map_err(Error::Stopped)?;
    let answer = Rows::new(columns, &evaluated.types, rows, total, codec)
        .with_names(names)
        .with_declared_any(&declared_any);
    let source = match (view.is_dirty(), reads_own) {
        (false, _) => Source::Graph,
        (true, false) => Source::Persistent,
        (true, true) => Source::Mixed(Box::new(view)),
    };
    Ok((answer, source))
}

/// What takes less time is sooner done than handed over.
const BRIEF: Duration = Duration::from_millis(2);
/// A recursion shows soon whether it goes on.
const BRIEF_RECURSION: Duration = Duration::from_micros(500);

/// Work on the thread that asks, if it is brief there, and else by all threads. To hand it to others and to wait for them
/// takes longer than what most questions ask for.
fn at_once_or_by_all<T: Send, E: Send>(
    brief: Duration,
    context: &Context<'_>,
    work: impl Fn(&Budget) -> Result<T, E> + Send + Sync,
) -> Result<T, E> {
    let at_once = context.budget.briefly(brief, &work);
    at_once.unwrap_or_else(|| context.environment.threads.run(|| work(context.budget)))
}

/// How long the thread that asks may try to evaluate a program: a pipeline of many steps needs a deep stack.
fn brief_time(program: &Program) -> Option<Duration> {
    const FEW_LITERALS: usize = 16;
    let mut rules = program.strata.iter().flat_map(|stratum| &stratum.rules);
    let recursive = program.strata.iter().any(|stratum| stratum.recursive);
    let time = if recursive { BRIEF_RECURSION } else { BRIEF };
    rules.all(|rule| rule.body.len() <= FEW_LITERALS).then_some(time)
}

/// Which rows are also in the answer that the graph gives by itself. If it gives none, because it does not know
/// something that the session knows, no row is.
fn provenance(
    query: &Query,
    rows: &Run,
    view: &SessionView,
    codec: &Codec,
    context: &mut Context<'_>,
) -> Result<Vec<Provenance>, Error> {
    let mut provenance = vec![Provenance::Ephemeral; rows.len()];
    let view = view.without_session();
    let Ok(analysed) = analysis::analyse_query(query, view.catalog()) else { return Ok(provenance) };
    let mut aside = context.aside();
    // Both evaluations write values with one codec, so equal rows are equal codes.
    let baseline = evaluate(analysed.program, None, &view, codec, &mut aside, None)?;
    let budget = context.budget;
    let build = || budget.watch(|go_on| RowIndex::build(&rows.columns(), rows.len(), go_on));
    let mark = || {
        let index = (!rows.columns().is_empty()).then(build).transpose()?;
        for run in baseline.runs.iter().filter(|run| !run.is_empty()) {
            match &index {
                None => provenance.fill(Provenance::Persistent),
                Some(index) => index.probe(&run.columns(), 0, run.stored_len(), |position, found| {
                    if run.is_live(position) {
                        found.iter().for_each(|row| provenance[*row as usize] = Provenance::Persistent);
                    }
                    true
                }),
            }
        }
        Ok(provenance)
    };
    context.environment.threads.run(mark).map_err(Error::Stopped)
}

/// The stored rows of a relation, without the session's.
pub(super) fn stored(name: &Name, context: &mut Context<'_>) -> Result<Rows, Error> {
    let snapshot = context.snapshot();
    context.version = Some(snapshot.version());
    let Some(known) = snapshot.catalog().relation(&name.text) else {
        let unknown = analysis::unknown_relation(&name.text, Some(name.span), snapshot.catalog());
        return Err(Error::refused(unknown));
    };
    let codec = Codec::over(snapshot.dictionary().clone());
    let runs = snapshot.runs(&name.text);
    let total = runs.iter().map(Run::len).sum();
    let rows = sort_limit(runs, known.arity, &[], None, &codec, context.budget).map_err(Error::Stopped)?;
    let schema = known.schema.iter().flat_map(|schema| &schema.columns);
    let declared_any: Vec<bool> = schema.map(|column| column.data_type == data::DataType::Any).collect();
    let rows = Rows::new(known.column_names(), &known.column_types, rows, total, codec);
    Ok(rows.with_declared_any(&declared_any))
}

fn left_out(relation: &str) -> Diagnostic {
    let message =
        format!("the graph's `{relation}` has another number of columns now: the session's is left out");
    Diagnostic::warning(Code::ArityMismatch, message)
        .help("drop the session's facts and rules: .session clear")
}

/// The rows of a program's goal.
pub(super) struct Evaluated {
    pub(super) runs: Vec<Run>,
    pub(super) types: Vec<data::DataType>,
}

/// Rewrites, plans and executes. It may have been rewritten already, as if no view were read.
pub(super) fn evaluate(
    mut program: Program,
    mut rewritten: Option<Program>,
    view: &SessionView,
    codec: &Codec,
    context: &mut Context<'_>,
    watch: Option<&mut Watch>,
) -> Result<Evaluated, Error> {
    context.warnings.append(&mut program.warnings);
    let Environment { threads, thresholds, views, disabled_rewrites: disabled, .. } = context.environment;
    let mut reading = views.look(&program, view);
    if views.are_older(&reading) {
        let rewritten = rewritten.get_or_insert_with(|| rewrite::rewrite(program.clone(), disabled));
        let wanted = rewritten.strata.iter().flat_map(|stratum| &stratum.relations).copied().collect();
        let advancing = Advancing {
            program: &program,
            graph: context.graph,
            view,
            thresholds: *thresholds,
            threads,
            budget: context.budget,
            at_once: brief_time(&program).is_some(),
        };
        views.advance(&reading, &wanted, &advancing)?;
    }
    views.read(&mut reading, &mut program, codec)?;
    let rewritten = rewritten.filter(|_| reading.relations().next().is_none());
    let (program, profile) = match watch {
        None => (rewritten.unwrap_or_else(|| rewrite::rewrite(program, disabled)), None),
        Some(watch) => {
            let (program, notes) = rewrite_noting(program, disabled);
            (watch.kept, watch.rewrites) = (kept_notes(&reading), notes);
            (program, Some(&mut watch.profile))
        }
    };
    let types = program.relations[program.goal.index()].column_types.clone();
    let (graph, relations) = (context.graph, reading.with(view));
    let execute = |budget: &Budget, profile: Option<&mut Profile>| {
        let outcome = exec::execute(&program, &relations, codec, budget, *thresholds, profile)?;
        views.keep(&reading, &program, &outcome, graph, view, codec);
        Ok::<_, ExecError>(outcome)
    };
    let outcome = match (profile, brief_time(&program)) {
        (None, Some(time)) => at_once_or_by_all(time, context, |budget| execute(budget, None))?,
        (profile, _) => threads.run(|| execute(context.budget, profile))?,
    };
    if outcome.saturated {
        context.warnings.push(
            Diagnostic::warning(
                Code::LimitExceeded,
                "an integer result was cut off at the end of the 64-bit range",
            )
            .help("compute with floats where numbers may grow this large"),
        );
    }
    context.warnings.extend(outcome.remarks.iter().map(remarked));
    Ok(Evaluated { runs: outcome.runs, types })
}

fn remarked(remark: &Remark) -> Diagnostic {
    let Remark { rule, aggregate, unlike } = remark;
    let kind = if *aggregate == Aggregate::StringAgg.name() { "string" } else { "number" };
    let (message, help) = match unlike {
        Unlike::PassedOver(value) => (
            format!("`{aggregate}` passes over what is no {kind}, such as {}, in `{rule}`", shortened(value)),
            format!("declare the column as a {kind}, or keep out what is none"),
        ),
        Unlike::Mixed => (
            format!("`{aggregate}` ranks values of several kinds in one group, in `{rule}`"),
            "booleans come before numbers, numbers before strings, strings before vectors".to_owned(),
        ),
    };
    Diagnostic::warning(Code::TypeMismatch, message).help(help)
}

/// A value in a message.
fn shortened(value: &Value) -> String {
    const LONG: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONG) {
        Some((end, _)) => format!("`{}...`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// So many errors of one statement are reported.
const MAX_ERRORS: usize = 100;

/// What analysis found, as one error.
pub(crate) fn refused(errors: &[analysis::AnalysisError]) -> Error {
    use crate::diagnostic::Diagnose;
    Error::Refused(errors.iter().take(MAX_ERRORS).map(Diagnose::diagnose).collect())
}
