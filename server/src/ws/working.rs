//! Tells a client how far a request is whose answer it waits for.

use std::pin::pin;
use std::time::Duration;

use stratalog_protocol::{Reply, RequestId, Response, Working};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::stream::Outgoing;
use crate::queries::Ticket;

/// How often it is told.
const EVERY: Duration = Duration::from_millis(500);

/// Waits for an answer, and tells meanwhile how far its request is.
pub(super) async fn telling<T>(
    answer: impl Future<Output = T>,
    id: Option<RequestId>,
    ticket: &Ticket,
    outgoing: &Outgoing,
) -> T {
    let began = Instant::now();
    let mut moments = interval_at(began + EVERY, EVERY);
    moments.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut answer = pin!(answer);
    loop {
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            _ = moments.tick() => {
                let (state, progress) = ticket.standing();
                let working = Working {
                    state,
                    elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                    rounds: progress.rounds,
                    rows: progress.rows,
                    memory_bytes: progress.memory_bytes,
                };
                outgoing.in_passing(Reply { response: Response::Working(working), id: id.clone() }.to_json());
            }
        }
    }
}
