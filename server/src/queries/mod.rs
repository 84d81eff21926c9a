//! Where queries run, how they are stopped, and which there are.

mod pool;
mod running;
mod ticket;

pub(crate) use pool::{NotRun, QueryPool, off_thread};
pub(crate) use running::{Running, beginning, shown};
pub(crate) use ticket::Ticket;
