//! Where queries run, how they are stopped, and which there are.

mod pool;
mod running;
mod ticket;

pub(crate) use pool::{NotRun, QueryPool, RETRY_AFTER_MS, off_thread};
pub(crate) use running::{Running, beginning, shown};
pub(crate) use ticket::Ticket;
