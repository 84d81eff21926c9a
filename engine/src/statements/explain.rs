//! What a query would do: `.explain`.

use super::query::refused;
use crate::analysis::program::Relation;
use crate::analysis::{self, Analysed};
use crate::answer::Rows;
use crate::context::{Context, PlanForm};
use crate::data::{RelationId, Run, Value};
use crate::error::Error;
use crate::exec::Relations;
use crate::plan::{self, RewriteNote, Statistics};
use crate::rewrite;
use crate::syntax::ast::Query;

/// Plans a query over the rows that are stored now, without running it.
pub(super) fn run(query: &Query, form: PlanForm, context: &mut Context<'_>) -> Result<Rows, Error> {
    let view = context.view();
    let Analysed { mut program, .. } =
        analysis::analyse_query(query, view.catalog()).map_err(|errors| refused(&errors))?;
    context.warnings.append(&mut program.warnings);
    let mut notes = Vec::new();
    for (name, run) in rewrite::passes(&context.environment.disabled_rewrites) {
        let before = program.clone();
        program = run(program);
        let known = |name: &str| before.relations.iter().any(|relation| relation.name == name);
        let made = program.relations.iter().map(|relation| relation.name.clone());
        let made = made.filter(|name| !known(name)).collect();
        notes.push(RewriteNote { name, changed: before.strata != program.strata, made });
    }
    let runs = |relation: &Relation| if relation.stored { view.runs(&relation.name) } else { Vec::new() };
    let stored = Stored { runs: program.relations.iter().map(runs).collect() };
    let plan = context.environment.threads.run(|| plan::explain(&program, notes, &stored));
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
