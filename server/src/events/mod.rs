//! Events: what commits change, as numbered notifications that every connection reads at its own pace.

mod log;
mod numbers;
mod rounds;

pub(crate) use log::{Audience, EventLog, Notice, Read};
pub(crate) use numbers::{keep, open, settle};
