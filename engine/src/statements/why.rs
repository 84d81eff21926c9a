//! `.why`: the rows of a query, and a proof of each.

use super::counted;
use super::query::{self, asked};
use crate::answer::Rows;
use crate::context::Context;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::provenance::{Detail, Question, why};
use crate::syntax::ast::Query;

/// So many rows are explained at once.
const MOST_ROWS: usize = 1_000;

pub(super) fn run(query: &Query, detail: Detail, context: &mut Context<'_>) -> Result<Rows, Error> {
    let asked = asked(query, context, false)?;
    let (program, view) = (asked.analysed.program.clone(), asked.view.clone());
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
    let thresholds = context.environment.thresholds;
    let question = Question {
        program: &program,
        rows: run,
        count: rows.row_count(),
        detail,
        view: &view,
        codec,
        thresholds,
    };
    let proofs = context.environment.threads.run(|| why(&question, context.budget))?;
    Ok(rows.with_proofs(proofs))
}
