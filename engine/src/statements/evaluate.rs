//! A program at work: what is kept is brought forward and read, the rest is rewritten, planned and executed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::brief::{at_once_or_by_all, brief_time};
use super::destination::{Destination, destination};
use super::files::Files;
use super::following::{Follower, Following};
use super::refusal::refused;
use super::watch::{Watch, kept_notes, rewrite_noting};
use super::whole::all_of;
use crate::aggregates::Aggregate;
use crate::analysis;
use crate::analysis::program::Program;
use crate::budget::{Budget, BudgetError};
use crate::cluster::Cluster;
use crate::context::{Context, Environment};
use crate::data::{self, Codec, RelationId, Run, Value};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;
use crate::exec::{self, ExecError, Outcome, Profile, Remark, Unlike};
use crate::graph::SessionView;
use crate::plan::OlderNote;
use crate::rewrite::{self, MAGIC_SETS};
use crate::syntax::ast::Name;
use crate::views::{Advancing, Reading};

/// The rows of a program's goal.
pub(super) struct Evaluated {
    pub(super) runs: Vec<Run>,
    pub(super) types: Vec<data::DataType>,
}

/// What is wanted of an evaluation beside the rows.
#[derive(Default)]
pub(super) struct Beside<'b> {
    /// What it takes is noted here.
    pub(super) watch: Option<&'b mut Watch>,
    /// What is followed from state to state.
    pub(super) following: Option<&'b mut Following>,
    /// Whether whole relations are kept however many values they compute.
    pub(super) keeps_all: bool,
    /// Whether the rows will be compared with those of another state.
    pub(super) compares: bool,
    /// Whether whole relations are derived to be kept, as those that are there could not be brought forward.
    pub(super) keeps_anew: bool,
}

/// Rewrites, plans and executes. It may have been rewritten already, as if no view were read.
pub(super) fn evaluate(
    mut program: Program,
    mut rewritten: Option<Program>,
    view: &SessionView,
    codec: &Codec,
    context: &mut Context<'_>,
    beside: Beside<'_>,
) -> Result<Evaluated, Error> {
    let Beside { mut watch, mut following, keeps_all, compares, keeps_anew } = beside;
    context.warnings.append(&mut program.warnings);
    let Environment { threads, thresholds, views, disabled_rewrites: disabled, .. } = context.environment;
    let files = Files::of(&program, view, context)?;
    // What is kept follows from stored rows.
    let mut reading = match files.is_empty() {
        true => views.look(&program, context.graph, view),
        false => Reading::default(),
    };
    let mut reads_views = true;
    if let Some(following) = following.as_ref().filter(|following| following.is_there()) {
        let rewritten = rewritten.get_or_insert_with(|| rewrite::rewrite(program.clone(), disabled));
        // What is followed with all that it derives goes on so, unless others see to that.
        reads_views = !following.is_of(rewritten) || views.have_all(&reading, &rewritten.derived());
    }
    let is_behind = reads_views && !keeps_anew && views.are_older(&reading, view);
    let written = is_behind.then(|| program.clone());
    if let Some(written) = &written {
        let rewritten = rewritten.get_or_insert_with(|| rewrite::rewrite(written.clone(), disabled));
        let wanted = rewritten.derived();
        let older = advance(written, &wanted, &reading, view, context, compares)?;
        if let Some(watch) = &mut watch {
            watch.older = older;
        }
        if let Some(following) = &mut following {
            following.is_unprepared |= keep_behind(written, &wanted, &reading, view, context)?;
        }
    }
    if reads_views {
        views.read(&mut reading, &mut program);
    }
    reading.keeps_all = keeps_all;
    let rewritten = rewritten.filter(|_| reading.relations().next().is_none());
    let asked = program;
    let program = match &mut watch {
        None => rewritten.unwrap_or_else(|| rewrite::rewrite(asked.clone(), disabled)),
        Some(watch) => {
            let (program, notes) = rewrite_noting(asked.clone(), disabled);
            (watch.kept, watch.rewrites) = (kept_notes(&reading), notes);
            program
        }
    };
    let program = if following.is_some() { program.without_alternatives() } else { program };
    let files = files.wanting(&program);
    let types = program.relations[program.goal.index()].column_types.clone();
    let mut follower =
        following.map(|following| Follower { following, program: &program, reading: &reading, view });
    if let Some(follower) = &mut follower
        && let Some(runs) = follower.advance(context)?
    {
        return Ok(Evaluated { runs, types });
    }
    let graph = context.graph;
    let is_watched = watch.is_some();
    // What is kept or followed has to happen here.
    let destination = match follower.is_none() && !keeps_all && !keeps_anew {
        true => Some(destination(&program, &files.beside(reading.with(view)), context)?),
        false => None,
    };
    if let Some(watch) = &mut watch {
        watch.place = destination.as_ref().and_then(Destination::line);
        watch.files = files.lines();
    }
    let by_cluster = |cluster: &Cluster| {
        let mut profile = is_watched.then(Profile::start);
        let program = program.clone().without_alternatives().asking_for_any();
        let relations = files.beside(reading.with(view));
        let outcome =
            cluster.evaluator.execute(&program, &relations, codec, context.budget, profile.as_mut())?;
        Ok::<_, ExecError>(((outcome, profile), false))
    };
    let execute = |program: &Program, reading: &Reading, budget: &Budget| {
        let mut profile = is_watched.then(Profile::start);
        let relations = files.beside(reading.with(view));
        let outcome = exec::execute(program, &relations, codec, budget, *thresholds, profile.as_mut())?;
        views.keep(reading, program, &outcome, graph, view, codec);
        Ok::<_, ExecError>((outcome, profile))
    };
    // Where it turns out that too much is asked for, what was found on the way goes.
    let first = |budget: &Budget| budget.returning(|| execute(&program, &reading, budget));
    let brief = brief_time(&program).filter(|_| !is_watched);
    let mut older_in_full = Vec::new();
    let in_memory = || match at_once_or_by_all(brief, context, first) {
        Err(ExecError::AsksMuch { after }) => {
            let in_full = InFull::of(asked, written, view, context, compares)?;
            older_in_full = in_full.older;
            let (in_full, reading_in_full) = (in_full.program, in_full.reading.as_ref().unwrap_or(&reading));
            files.read_for(&in_full, codec, threads, context.budget)?;
            let in_part = program.clone().asking_for_any();
            let time = IN_FULL.max(IN_FULL_FOR * after);
            threads.run(|| {
                let mut in_full = |budget: &Budget| Ok((execute(&in_full, reading_in_full, budget)?, true));
                let mut in_part = |budget: &Budget| Ok((execute(&in_part, &reading, budget)?, false));
                context.budget.either::<_, ExecError>(time, [&mut in_full, &mut in_part])
            })
        }
        other => Ok((other?, false)),
    };
    let here = || {
        if !files.is_empty() {
            files.read(codec, threads, context.budget)?;
        }
        in_memory()
    };
    let ((outcome, profile), is_in_full) = match destination {
        Some(Destination::Cluster(cluster, _)) => by_cluster(cluster)?,
        Some(Destination::HereFirst(cluster)) => match context.budget.returning(here) {
            Err(ExecError::Budget(error)) if is_too_much(&error) => {
                files.forget();
                by_cluster(cluster)?
            }
            other => other?,
        },
        Some(Destination::Here(_)) | None => here()?,
    };
    if let (Some(watch), Some(profile)) = (watch, profile) {
        watch.older.extend(older_in_full);
        watch.profile.take(profile);
        let asking = watch.rewrites.iter_mut().filter(|note| note.name == MAGIC_SETS);
        asking.for_each(|note| note.given_up = is_in_full);
    }
    match follower {
        // It is kept, and the next state is followed from there.
        Some(follower) if is_in_full => follower.forget(),
        Some(follower) => follower.begin(&outcome, codec, context),
        None => {}
    }
    warn(&outcome, &mut context.warnings);
    context.warnings.extend(files.warnings(view));
    Ok(Evaluated { runs: outcome.runs, types })
}

/// Derives those of these views anew, each by itself, that could not be brought forward: so what is followed goes on reading them.
/// Answers whether there were any.
fn keep_behind(
    program: &Program,
    wanted: &HashSet<RelationId>,
    reading: &Reading,
    view: &SessionView,
    context: &mut Context<'_>,
) -> Result<bool, Error> {
    let (views, mut were_any) = (&context.environment.views, false);
    let behind = views.behind(reading, wanted, program, view);
    // With one the others that it needs are there, too.
    for relation in behind.into_iter().rev().filter(|relation| wanted.contains(relation)) {
        if views.holds(reading, relation) {
            continue;
        }
        were_any = true;
        keep_anew(&program.relations[relation.index()].name, view, context)?;
        if !views.holds(reading, relation) {
            // It cannot be kept any more: to try that again and again would cost an evaluation each time.
            views.forget_older(reading, relation, view);
        }
    }
    Ok(were_any)
}

/// Derives all rows of a relation, to be kept.
fn keep_anew(relation: &str, view: &SessionView, context: &mut Context<'_>) -> Result<(), Error> {
    let name = Name { text: relation.to_owned(), span: Span::default() };
    let analysed = analysis::analyse_query(&all_of(&name, view.catalog()), view.catalog());
    let program = analysed.map_err(|errors| refused(&errors))?.program;
    let (codec, warnings) = (Codec::over(Arc::clone(view.snapshot().dictionary())), context.warnings.len());
    evaluate(program, None, view, &codec, context, Beside { keeps_anew: true, ..Beside::default() })?;
    // They are said of the question.
    context.warnings.truncate(warnings);
    Ok(())
}

/// Whether an evaluation takes more memory than there is for it.
fn is_too_much(error: &BudgetError) -> bool {
    match error {
        BudgetError::Memory { .. }
        | BudgetError::UserMemory { .. }
        | BudgetError::TotalMemory { .. }
        | BudgetError::Rows { .. } => true,
        BudgetError::Timeout { .. }
        | BudgetError::Cancelled
        | BudgetError::Killed
        | BudgetError::Overloaded
        | BudgetError::Disk { .. }
        | BudgetError::Write { .. } => false,
    }
}

/// Where too much is asked for, to evaluate in full may first take so long,
const IN_FULL: Duration = Duration::from_millis(20);
/// and so many times as long as it took to find that out.
const IN_FULL_FOR: u32 = 2;

/// A question that asks for too much, evaluated in full.
struct InFull {
    program: Program,
    /// What it reads of views, if that is more than what a part of it reads.
    reading: Option<Reading>,
    /// What became of older ones.
    older: Vec<OlderNote>,
}

impl InFull {
    /// `asked` reads what there is of views. Where older ones were not of use for a part, so that nothing but the program as it was
    /// written knows of them, they are brought forward now.
    fn of(
        asked: Program,
        written: Option<Program>,
        view: &SessionView,
        context: &Context<'_>,
        compares: bool,
    ) -> Result<InFull, ExecError> {
        let Environment { views, disabled_rewrites: disabled, .. } = context.environment;
        let Some(mut program) = written else {
            let program = rewrite::rewrite_in_full(asked, disabled);
            return Ok(InFull { program, reading: None, older: Vec::new() });
        };
        let mut reading = views.look(&program, context.graph, view);
        let wanted = rewrite::rewrite_in_full(program.clone(), disabled).derived();
        let older = advance(&program, &wanted, &reading, view, context, compares)?;
        views.read(&mut reading, &mut program);
        Ok(InFull { program: rewrite::rewrite_in_full(program, disabled), reading: Some(reading), older })
    }
}

/// Brings the views of these relations to the state that is asked of, as far as that pays.
pub(super) fn advance(
    program: &Program,
    wanted: &HashSet<RelationId>,
    reading: &Reading,
    view: &SessionView,
    context: &Context<'_>,
    compares: bool,
) -> Result<Vec<OlderNote>, ExecError> {
    let Environment { threads, thresholds, views, .. } = context.environment;
    let advancing = Advancing {
        program,
        graph: context.graph,
        view,
        thresholds: *thresholds,
        threads,
        budget: context.budget,
        at_once: brief_time(program).is_some(),
        compares,
    };
    views.advance(reading, wanted, &advancing)
}

/// Says what deserves a second look.
fn warn(outcome: &Outcome, warnings: &mut Vec<Diagnostic>) {
    if outcome.saturated {
        warnings.push(
            Diagnostic::warning(
                Code::LimitExceeded,
                "an integer result was cut off at the end of the 64-bit range",
            )
            .help("compute with floats where numbers may grow this large"),
        );
    }
    warnings.extend(outcome.remarks.iter().map(remarked));
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
