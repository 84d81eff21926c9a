//! A question that is asked at one state of a graph after the other: what has changed of its answer, at the cost of what has
//! changed below it.

use std::sync::Arc;

use super::evaluate::{Beside, evaluate};
use super::following::Following;
use super::query::{Asked, asked, form_of};
use crate::answer::Rows;
use crate::context::{Context, Environment};
use crate::data::{Codec, Difference, Relation, Run};
use crate::error::Error;
use crate::maintain::Means;
use crate::rewrite;
use crate::syntax::ast::Query;

/// The answer to a question that is followed.
pub(crate) enum Told {
    /// All of it.
    Whole(Rows),
    /// What tells it from the one before it, and all rows in codes of the graph.
    Changed(Difference, Relation),
}

/// Makes what the next steps of a query would have to make that lasts. The state is that at which it was answered.
pub(crate) fn rehearse(
    query: &Query,
    context: &mut Context<'_>,
    following: &mut Following,
) -> Result<(), Error> {
    let Asked { analysed, rewritten, view } = asked(query, context, false)?;
    let Environment { threads, thresholds, views, disabled_rewrites, .. } = context.environment;
    let program = analysed.program;
    let means = Means { dictionary: view.snapshot().dictionary(), thresholds: *thresholds };
    let rewritten = rewritten.unwrap_or_else(|| rewrite::rewrite(program.clone(), disabled_rewrites));
    if !following.is_of(&rewritten) {
        // It reads views.
        let reading = views.look(&program, context.graph, &view);
        threads.run(|| views.rehearse(&reading, &program, means, context.budget))?;
    }
    following.rehearse(context.environment, means.dictionary, context.budget)?;
    Ok(())
}

/// Answers a query that was answered at an earlier state. `fits` says of what has changed, and of all rows as they are now, whether
/// it is enough to know what has changed.
pub(crate) fn follow(
    query: &Query,
    context: &mut Context<'_>,
    following: &mut Following,
    fits: impl FnOnce(&Difference, &Relation, &Codec) -> bool,
) -> Result<Told, Error> {
    let Asked { analysed, rewritten, view } = asked(query, context, false)?.of_stored_rows()?;
    let codec = Codec::over(view.snapshot().dictionary().clone());
    let (program, form) = form_of(analysed);
    let beside = Beside { following: Some(&mut *following), ..Beside::default() };
    let mut evaluated = evaluate(program, rewritten, &view, &codec, context, beside)?;
    let difference = following.difference.take().filter(|_| form.limit.is_none());
    if let Some(difference) = difference
        && let Some(followed) = &following.followed
        && let rows = followed.answer()
        && fits(&difference, &rows, &codec)
    {
        return Ok(Told::Changed(difference, rows));
    }
    // What is followed is in codes of the graph, so that the next answer tells what has changed of this one.
    let codec = match &following.followed {
        Some(followed) => {
            let rows = evaluated.runs.iter().map(Run::len).sum();
            let answer = context.environment.threads.run_on(rows, || followed.answer());
            evaluated.runs = answer.runs().to_vec();
            Codec::over(Arc::clone(codec.shared()))
        }
        None => codec,
    };
    Ok(Told::Whole(form.put_together(&evaluated, codec, context)?))
}
