//! `insert`: facts without program text, as JSON rows or as an Arrow stream in the binary frames that follow.
//!
//! A stream is taken in while earlier requests still run; its insert waits for its turn like any other request.

use std::sync::Arc;
use std::time::Instant;

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use stratalog_engine::{Budget, Error, Inserted, Session};
use stratalog_protocol::{Code, Failure, Insert, RequestId, Scope};
use tokio::sync::oneshot;

use super::Caller;
use crate::auth::{self, InsertGrant};
use crate::deposits::Deposits;
use crate::queries::{NotRun, Ticket, off_thread};
use crate::wire::{self, ArrowIn, Fed, Reply};

/// An insert whose rows come as an Arrow stream.
pub(crate) struct Announced {
    relation: String,
    scope: Scope,
    stream: oneshot::Receiver<Result<Received, Failure>>,
}

/// What a stream held, and the memory that it takes until it is inserted.
type Received = (Vec<RecordBatch>, Budget);

/// The receiving end of that stream.
pub(crate) struct Upload {
    stream: Box<ArrowIn>,
    memory: Budget,
    deposits: Option<Arc<Deposits>>,
    done: oneshot::Sender<Result<Received, Failure>>,
    ticket: Arc<Ticket>,
}

/// What becomes of an upload after a frame.
pub(crate) enum Next {
    /// More frames belong to it.
    More(Upload),
    /// It is complete: the next binary frame needs an announcement.
    Complete,
    /// It failed: what is left of it is to be thrown away.
    Failed,
}

impl Announced {
    /// Where the rows go.
    pub(super) fn relation(&self) -> &str {
        &self.relation
    }
}

impl Upload {
    /// Announces a stream of at most so many bytes, which count in `memory`, or what its sender has left in `deposits`.
    pub(crate) fn announce(
        insert: Insert,
        limit: u64,
        memory: Budget,
        deposits: Option<Arc<Deposits>>,
        ticket: Arc<Ticket>,
    ) -> (Announced, Upload) {
        let (done, stream) = oneshot::channel();
        let announced = Announced { relation: insert.relation, scope: insert.scope, stream };
        (announced, Upload { stream: Box::new(ArrowIn::new(limit)), memory, deposits, done, ticket })
    }

    /// Takes one binary frame in.
    pub(crate) async fn feed(self, frame: Bytes) -> Next {
        if self.ticket.stopped().is_some() {
            return Next::Failed;
        }
        let Upload { stream, memory, deposits, done, ticket } = self;
        if let Some(batches) = deposits.as_ref().and_then(|deposits| deposits.take(&frame)) {
            // Their memory is their owner's.
            let _ = done.send(Ok((batches, memory)));
            return Next::Complete;
        }
        if let Err(stopped) = memory.charge(frame.len()) {
            let _ = done.send(Err(wire::failure(&Error::Stopped(stopped), "")));
            return Next::Failed;
        }
        let fed = match off_thread(move || stream.feed(&frame)).await {
            Ok(fed) => fed,
            // Arrow's decoder panics on some malformed streams.
            Err(NotRun::Panicked { .. }) => Err(wire::malformed(&"it cannot be decoded")),
            Err(not_run) => Err(not_run.into()),
        };
        // Where the other end is gone the request was cancelled, and nobody waits for the outcome.
        match fed {
            Ok(Fed::More(stream)) => {
                Next::More(Upload { stream: Box::new(stream), memory, deposits, done, ticket })
            }
            Ok(Fed::Complete(batches)) => {
                let _ = done.send(Ok((batches, memory)));
                Next::Complete
            }
            Err(failure) => {
                let _ = done.send(Err(failure));
                Next::Failed
            }
        }
    }

    /// Ends the upload because something else came before its end.
    pub(crate) fn break_off(self) {
        let failure =
            Failure::new(Code::InvalidMessage, "the Arrow stream broke off before its end-of-stream marker")
                .help("nothing was inserted; send the whole stream before the next message");
        let _ = self.done.send(Err(failure));
    }
}

/// Inserts JSON rows.
pub(super) async fn insert_rows(
    caller: &Caller,
    insert: Insert,
    id: Option<RequestId>,
    ticket: &Ticket,
) -> Result<Reply, Failure> {
    let Insert { relation, scope, columns, rows, format: _ } = insert;
    run(caller, relation, id, ticket, move |grant, session, relation, budget| {
        let rows = wire::rows(rows.unwrap_or_default())?;
        let bytes = rows.iter().map(|row| size_of_val(row) + size_of_val(row.as_slice())).sum();
        budget.charge(bytes).map_err(|stopped| wire::failure(&Error::Stopped(stopped), ""))?;
        Ok(grant.insert_rows(session, relation, wire::scope(scope), columns.as_deref(), rows, budget))
    })
    .await
}

/// Inserts an Arrow stream once it is complete.
pub(super) async fn insert_stream(
    caller: &Caller,
    announced: Announced,
    id: Option<RequestId>,
    ticket: &Ticket,
) -> Result<Reply, Failure> {
    let Announced { relation, scope, stream } = announced;
    let (batches, memory) = tokio::select! {
        biased;
        who = ticket.until_stopped() => return Err(NotRun::from(who).into()),
        outcome = stream => outcome.unwrap_or_else(|_| Err(NotRun::Cancelled.into()))?,
    };
    run(caller, relation, id, ticket, move |grant, session, relation, budget| {
        let _held = memory;
        Ok(grant.insert_batches(session, relation, wire::scope(scope), batches, budget))
    })
    .await
}

async fn run(
    caller: &Caller,
    relation: String,
    id: Option<RequestId>,
    ticket: &Ticket,
    insert: impl FnOnce(InsertGrant, &mut Session, &str, &Budget) -> Result<Result<Inserted, Error>, Failure>
    + Send
    + 'static,
) -> Result<Reply, Failure> {
    let (who, mut session) = (caller.identity.clone(), caller.turn(ticket).await?);
    let run = move |budget: &Budget| {
        let start = Instant::now();
        let grant = auth::grant_insert(&who, &session).map_err(|error| wire::failure(&error, ""))?;
        let inserted =
            insert(grant, &mut session, &relation, budget)?.map_err(|error| wire::failure(&error, ""))?;
        wire::inserted(&relation, inserted, start.elapsed(), id)
    };
    caller.app.queries.run(&caller.share(), ticket, None, run).await?
}
