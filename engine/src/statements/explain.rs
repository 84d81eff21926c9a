//! What a query would do: `.explain`. What it did: `.profile`.

use std::sync::Arc;

use super::destination::destination;
use super::files::Files;
use super::query;
use super::refusal::refused;
use super::watch::{Watch, kept_notes, rewrite_noting};
use crate::analysis::program::Relation;
use crate::analysis::{self, Analysed};
use crate::answer::Rows;
use crate::context::{Context, PlanForm};
use crate::data::{Code, Codec, RelationId, Run, Sample, Value};
use crate::error::Error;
use crate::exec::{Profile, Relations};
use crate::plan::{self, AnswerNote, Explanation, Layout, Statistics, distinct_of, rows_of, sample_of};
use crate::rewrite;
use crate::syntax::ast::Query;
use crate::views::Reading;

/// Plans a query over the rows that are stored now, without running it.
pub(super) fn run(query: &Query, form: PlanForm, context: &mut Context<'_>) -> Result<Rows, Error> {
    let view = context.view();
    let Analysed { mut program, .. } =
        analysis::analyse_question(query, view.catalog()).map_err(|errors| refused(&errors))?;
    context.warnings.append(&mut program.warnings);
    let views = &context.environment.views;
    let files = Files::of(&program, &view, context)?;
    let mut reading = match files.is_empty() {
        true => views.look(&program, context.graph, &view),
        false => Reading::default(),
    };
    let mut older = Vec::new();
    if views.are_older(&reading, &view) {
        let rewritten = rewrite::rewrite(program.clone(), &context.environment.disabled_rewrites);
        older = views.would_advance(&reading, &rewritten.derived(), &program, &view);
    }
    views.read(&mut reading, &mut program);
    let (program, rewrites) = rewrite_noting(program, &context.environment.disabled_rewrites);
    let files = files.wanting(&program);
    let relations = files.beside(reading.with(&view));
    let place = destination(&program, &relations, context)?.line();
    let runs =
        |relation: &Relation| if relation.stored { relations.runs(&relation.name) } else { Vec::new() };
    let codec = Codec::over(view.snapshot().dictionary().clone());
    let stored = Stored { runs: program.relations.iter().map(runs).collect(), codec };
    let (thresholds, budget) = (&context.environment.thresholds, context.budget);
    let strata = context.environment.threads.run(|| plan::explain(&program, &stored, thresholds, budget));
    let strata = strata.map_err(Error::Stopped)?;
    let (kept, files) = (kept_notes(&reading), files.lines());
    shown(&Explanation { kept, older, rewrites, place, files, strata, answer: None }, form)
}

/// Answers a query, and shows what that took in place of the answer.
pub(super) fn profile(query: &Query, form: PlanForm, context: &mut Context<'_>) -> Result<Rows, Error> {
    let mut watch = Watch {
        kept: Vec::new(),
        older: Vec::new(),
        rewrites: Vec::new(),
        place: None,
        files: Vec::new(),
        profile: Profile::start(),
    };
    let answer = query::run(query, context, Some(&mut watch))?;
    let (strata, time) = watch.profile.finish();
    let answer = AnswerNote { rows: answer.row_count(), total: answer.total_count(), time };
    let Watch { kept, older, rewrites, place, files, .. } = watch;
    shown(&Explanation { kept, older, rewrites, place, files, strata, answer: Some(answer) }, form)
}

fn shown(plan: &Explanation, form: PlanForm) -> Result<Rows, Error> {
    let (column, lines) = match form {
        PlanForm::Text => ("message", plan.lines()),
        PlanForm::Json => ("plan", vec![plan.to_json()]),
    };
    Ok(Rows::listing(&[column], lines.into_iter().map(|line| vec![Value::text(line)]).collect())?)
}

/// What is known of stored rows.
struct Stored {
    runs: Vec<Vec<Run>>,
    codec: Codec,
}

impl Stored {
    /// None of what only a plan knows.
    fn runs(&self, relation: RelationId) -> &[Run] {
        self.runs.get(relation.index()).map_or(&[], Vec::as_slice)
    }
}

impl Statistics for Stored {
    fn rows(&self, relation: RelationId) -> usize {
        rows_of(self.runs(relation))
    }

    fn distinct(&self, relation: RelationId, column: usize) -> usize {
        distinct_of(self.runs(relation), column)
    }

    fn layout(&self, relation: RelationId) -> Option<Layout<'_>> {
        Some(Layout::of(self.runs(relation)))
    }

    fn sample(&self, relation: RelationId, columns: &[usize]) -> Option<Arc<Sample>> {
        sample_of(self.runs(relation), columns)
    }

    fn code(&self, value: &Value) -> Option<Code> {
        self.codec.encode(value.as_ref()).ok()
    }
}
