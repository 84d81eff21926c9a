//! `execute`: prepare, grant, run; all of it on the query pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use stratalog_engine::{Need, Requirement, RunOptions};
use stratalog_protocol::{Code, Execute, Failure, RequestId};

use super::Caller;
use crate::auth;
use crate::queries::Ticket;
use crate::wire::{self, Reply};

/// Runs a program.
pub(super) async fn execute(
    caller: &Caller,
    execute: Execute,
    id: Option<RequestId>,
    ticket: &Arc<Ticket>,
) -> Result<Reply, Failure> {
    let parameters = wire::parameters(execute.params)?;
    let place = match (execute.in_place, &caller.answers) {
        (true, None) => return Err(not_here()),
        (true, Some(place)) => Some(Arc::clone(place)),
        (false, _) => None,
    };
    let most_rows = Some(caller.app.limits.result_rows).filter(|rows| *rows > 0);
    let options = RunOptions {
        limit: [execute.limit, most_rows].into_iter().flatten().min(),
        atomic: execute.atomic,
        replace_rules: execute.replace_rules,
        place: wire::evaluation_place(execute.place),
    };
    let (who, mut session) = (caller.identity.clone(), caller.turn(ticket).await?);
    let (metrics, asking) = (caller.app.metrics.clone(), Arc::clone(ticket));
    let run = move |budget: &_| {
        let program = execute.program;
        let start = Instant::now();
        let prepared =
            session.prepare(&program, &parameters).map_err(|error| wire::failure(&error, &program))?;
        metrics.parsing.observe(start.elapsed());
        let reads = |needed: &Requirement| matches!(needed.need, Need::Nothing | Need::Enter | Need::Read);
        if !prepared.needs().iter().all(reads) {
            asking.note_write();
        }
        let grant = auth::grant(&who, prepared).map_err(|error| wire::failure(&error, &program))?;
        metrics.count_query();
        let running = Instant::now();
        let answer = grant.run(&mut session, &options, budget);
        metrics.executing.observe(running.elapsed());
        let answer = answer.map_err(|error| wire::failure(&error, &program))?;
        wire::answer(answer, execute.format, place.as_deref(), start.elapsed(), id)
    };
    caller
        .app
        .queries
        .run(&caller.share(), ticket, execute.timeout_ms.map(Duration::from_millis), run)
        .await?
}

/// Where rows may stay that others are to see.
fn not_here() -> Failure {
    let message = "rows stay in place only in a database of the client's own process";
    Failure::new(Code::InvalidMessage, message).help("ask without `in_place`")
}
