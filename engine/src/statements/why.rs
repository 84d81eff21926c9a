//! `.why`: the rows of a query, and a proof of each.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::counted;
use super::evaluate::advance;
use super::query::{self, asked};
use crate::analysis::program::Program;
use crate::answer::Rows;
use crate::context::{Context, Environment};
use crate::data::RelationId;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::Outcome;
use crate::graph::SessionView;
use crate::provenance::{Detail, Question, why};
use crate::rewrite;
use crate::syntax::ast::Query;
use crate::views::Reading;

/// So many rows are explained at once.
const MOST_ROWS: usize = 1_000;

pub(super) fn run(query: &Query, detail: Detail, context: &mut Context<'_>) -> Result<Rows, Error> {
    let asked = asked(query, context, false)?.of_stored_rows()?;
    let (program, view) = (asked.analysed.program.clone(), asked.view.clone());
    let (reading, at_hand) = kept(&program, &view, context)?;
    let mut rows = query::answer(query, asked, context, None)?;
    if rows.row_count() > MOST_ROWS {
        let message = format!("{} are explained, of {}", counted(MOST_ROWS, "row"), rows.row_count());
        context.warnings.push(
            Diagnostic::warning(Code::LimitExceeded, message)
                .help(format!("ask for others with `limit({MOST_ROWS}, {MOST_ROWS})`, or for fewer")),
        );
        rows.truncate(MOST_ROWS);
    }
    let (run, codec) = rows.coded();
    let of_view = |relation: &RelationId| {
        let rows = reading.rows(&program.relations[relation.index()].name)?;
        Some((*relation, Arc::clone(rows)))
    };
    let kept: HashMap<RelationId, _> = at_hand.iter().filter_map(of_view).collect();
    let Environment { threads, thresholds, views, .. } = context.environment;
    let keep = |program: &Program, outcome: &Outcome| {
        views.keep(&reading, program, outcome, context.graph, &view, codec);
    };
    let question = Question {
        program: &program,
        rows: run,
        count: rows.row_count(),
        detail,
        view: &view,
        relations: &reading.with(&view),
        at_hand: &at_hand,
        kept: &kept,
        took: views.took(&reading, &program),
        keep: &keep,
        codec,
        thresholds: *thresholds,
    };
    let proofs = threads.run(|| why(&question, context.budget))?;
    Ok(rows.with_proofs(proofs))
}

/// What is kept of the relations of a program, brought to the state that is asked of as for a question.
fn kept(
    program: &Program,
    view: &SessionView,
    context: &Context<'_>,
) -> Result<(Reading, HashSet<RelationId>), Error> {
    let Environment { views, disabled_rewrites, .. } = context.environment;
    let mut reading = views.look(program, context.graph, view);
    if views.are_older(&reading, view) {
        let rewritten = rewrite::rewrite(program.clone(), disabled_rewrites);
        advance(program, &rewritten.derived(), &reading, view, context, false)?;
    }
    let at_hand = views.read_derived(&mut reading, program);
    Ok((reading, at_hand))
}
