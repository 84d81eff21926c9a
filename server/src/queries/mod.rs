//! Where queries run, how they are stopped, and which there are.

mod paused;
mod pool;
mod running;
mod ticket;
mod turns;
mod user_memory;
mod writers;

pub(crate) use pool::{NotRun, QueryPool, RETRY_AFTER_MS, off_thread};
pub(crate) use running::{Running, beginning, shown};
pub(crate) use ticket::Ticket;
pub(crate) use turns::Share;
pub(crate) use user_memory::UserMemory;
pub(crate) use writers::Writers;
