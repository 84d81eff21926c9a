//! What a query would do: `.explain`. What it did: `.profile`.

use super::query::{self, refused};
use crate::analysis::program::{Program, Relation};
use crate::analysis::{self, Analysed};
use crate::answer::Rows;
use crate::context::{Context, PlanForm};
use crate::data::{RelationId, Run, Value};
use crate::error::Error;
use crate::exec::{Profile, Relations};
use crate::plan::{self, AnswerNote, Explanation, RewriteNote, Statistics};
use crate::rewrite;
use crate::syntax::ast::Query;

/// Plans a query over the rows that are stored now, without running it.
pub(super) fn run(query: &Query, form: PlanForm, context: &mut Context<'_>) -> Result<Rows, Error> {
    let view = context.view();
    let Analysed { mut program, .. } =
        analysis::analyse_query(query, view.catalog()).map_err(|errors| refused(&errors))?;
    context.warnings.append(&mut program.warnings);
    let (program, notes) = rewrite_noting(program, &context.environment.disabled_rewrites);
    let runs = |relation: &Relation| if relation.stored { view.runs(&relation.name) } else { Vec::new() };
    let stored = Stored { runs: program.relations.iter().map(runs).collect() };
    let plan = context.environment.threads.run(|| plan::explain(&program, notes, &stored));
    shown(&plan, form)
}

/// Answers a query, and shows what that took in place of the answer.
pub(super) fn profile(query: &Query, form: PlanForm, context: &mut Context<'_>) -> Result<Rows, Error> {
    let mut watch = Watch { rewrites: Vec::new(), profile: Profile::start() };
    let answer = query::run(query, context, Some(&mut watch))?;
    let (strata, time) = watch.profile.finish();
    let answer = AnswerNote { rows: answer.row_count(), total: answer.total_count(), time };
    shown(&Explanation { rewrites: watch.rewrites, strata, answer: Some(answer) }, form)
}

/// What is noted of a query that is profiled.
pub(super) struct Watch {
    pub(super) rewrites: Vec<RewriteNote>,
    pub(super) profile: Profile,
}

/// Rewrites a program, and tells what each rewrite did.
pub(super) fn rewrite_noting(mut program: Program, disabled: &[String]) -> (Program, Vec<RewriteNote>) {
    let mut notes = Vec::new();
    for (name, run) in rewrite::passes(disabled) {
        let before = program.clone();
        program = run(program);
        let known = |name: &str| before.relations.iter().any(|relation| relation.name == name);
        let made = program.relations.iter().map(|relation| relation.name.clone());
        let made = made.filter(|name| !known(name)).collect();
        notes.push(RewriteNote { name, changed: before.strata != program.strata, made });
    }
    (program, notes)
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
}

impl Statistics for Stored {
    fn rows(&self, relation: RelationId) -> usize {
        self.runs[relation.index()].iter().map(Run::len).sum()
    }

    fn distinct(&self, relation: RelationId, column: usize) -> usize {
        let filled = self.runs[relation.index()].iter().filter(|run| !run.is_empty());
        filled.map(|run| run.distinct(column)).max().unwrap_or(1)
    }
}
