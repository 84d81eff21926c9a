//! `?query`: the stages in a row.

use std::sync::Arc;

use super::brief::{BRIEF, at_once_or_by_all};
use super::evaluate::{Beside, Evaluated, evaluate};
use super::refusal::refused;
use super::watch::Watch;
use crate::analysis::program::{Program, Relation};
use crate::analysis::{self, Analysed, AnalysisError};
use crate::answer::{Provenance, Rows};
use crate::budget::Budget;
use crate::context::{Context, Environment};
use crate::data::{self, Codec, RowIndex, Run};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::{Order, Relations, sort_limit};
use crate::forms::Filled;
use crate::graph::SessionView;
use crate::syntax::ast::{Direction, Name, Query};

/// Answers a query, and notes what that takes if it is watched.
pub(super) fn run(
    query: &Query,
    context: &mut Context<'_>,
    watch: Option<&mut Watch>,
) -> Result<Rows, Error> {
    let asked = asked(query, context, watch.is_some())?;
    answer(query, asked, context, watch)
}

/// Answers a query that was understood.
pub(super) fn answer(
    query: &Query,
    asked: Asked,
    context: &mut Context<'_>,
    watch: Option<&mut Watch>,
) -> Result<Rows, Error> {
    let Asked { analysed, rewritten, view } = asked;
    let reads_own = analysed.program.relations.iter().any(|relation| view.is_own(&relation.name));
    let codec = Codec::over(view.snapshot().dictionary().clone());
    let (program, form) = form_of(analysed);
    let beside = Beside { watch, ..Beside::default() };
    let evaluated = evaluate(program, rewritten, &view, &codec, context, beside)?;
    let answer = form.put_together(&evaluated, codec, context)?;
    if !view.is_dirty() {
        return Ok(answer);
    }
    let provenance = match reads_own {
        false => vec![Provenance::Persistent; answer.row_count()],
        true => provenance(query, &answer, &view, context)?,
    };
    Ok(answer.with_provenance(provenance))
}

/// A query that was understood.
pub(super) struct Asked {
    pub(super) analysed: Analysed,
    pub(super) rewritten: Option<Program>,
    pub(super) view: SessionView,
}

impl Asked {
    /// The same, if all rows that it reads are stored.
    pub(super) fn of_stored_rows(self) -> Result<Asked, Error> {
        let catalog = self.view.catalog();
        let relations = &self.analysed.program.relations;
        match relations.iter().find(|relation| catalog.attached(&relation.name).is_some()) {
            Some(Relation { name, .. }) => Err(refused(&[AnalysisError::InFiles { relation: name.clone() }])),
            None => Ok(self),
        }
    }
}

pub(super) fn asked(query: &Query, context: &mut Context<'_>, is_watched: bool) -> Result<Asked, Error> {
    let view = context.view();
    context.version = Some(view.snapshot().version());
    context.warnings.extend(view.left_out().map(left_out));
    let Environment { forms, disabled_rewrites, .. } = context.environment;
    let known = view.graph_catalog().filter(|_| !is_watched);
    let filled = known.and_then(|catalog| forms.fill(query, context.graph.id(), catalog, disabled_rewrites));
    let (analysed, rewritten) = match filled {
        Some(Filled { analysed, rewritten }) => (analysed, Some(rewritten)),
        None => {
            let analysed = analysis::analyse_question(query, view.catalog());
            (analysed.map_err(|errors| refused(&errors))?, None)
        }
    };
    Ok(Asked { analysed, rewritten, view })
}

/// How the rows of a goal become an answer.
#[derive(Clone)]
pub(super) struct Form {
    columns: Vec<String>,
    names: Vec<String>,
    declared_any: Vec<bool>,
    order: Vec<Order>,
    pub(super) limit: Option<(u64, u64)>,
}

pub(super) fn form_of(analysed: Analysed) -> (Program, Form) {
    let Analysed { program, columns, names, declared_any, order, limit, .. } = analysed;
    let order = order
        .into_iter()
        .map(|(column, direction)| Order { column, descending: direction == Direction::Descending });
    let limit = limit.map(|limit| (limit.count, limit.offset));
    (program, Form { columns, names, declared_any, order: order.collect(), limit })
}

impl Form {
    /// The names of the columns, as the protocol has them, and each with a name of its own.
    pub(super) fn names(&self) -> (&[String], &[String]) {
        (&self.columns, &self.names)
    }

    pub(super) fn put_together(
        self,
        evaluated: &Evaluated,
        codec: Codec,
        context: &Context<'_>,
    ) -> Result<Rows, Error> {
        let (arity, total) = (self.columns.len(), evaluated.runs.iter().map(Run::len).sum());
        let sort = |budget: &Budget| {
            budget.expect_rows(|| total)?;
            sort_limit(evaluated.runs.clone(), arity, &self.order, self.limit, &codec, budget)
        };
        let rows = at_once_or_by_all(Some(BRIEF), context, sort).map_err(Error::Stopped)?;
        let answer = Rows::new(self.columns, &evaluated.types, rows, total, codec);
        Ok(answer.with_names(self.names).with_declared_any(&self.declared_any))
    }
}

/// Which rows are also in the answer that the graph gives by itself. If it gives none, because it does not know
/// something that the session knows, no row is.
fn provenance(
    query: &Query,
    answer: &Rows,
    view: &SessionView,
    context: &mut Context<'_>,
) -> Result<Vec<Provenance>, Error> {
    let mut provenance = vec![Provenance::Ephemeral; answer.row_count()];
    let view = view.without_session();
    let Ok(analysed) = analysis::analyse_question(query, view.catalog()) else { return Ok(provenance) };
    let mut aside = context.aside();
    let codec = Codec::over(Arc::clone(view.snapshot().dictionary()));
    let baseline = evaluate(analysed.program, None, &view, &codec, &mut aside, Beside::default())?;
    // In the same codes, equal rows are equal codes.
    let rows = answer.in_codes_of(&codec)?;
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
