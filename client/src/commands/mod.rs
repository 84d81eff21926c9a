//! What the command line does besides running programs, one file each.

pub(crate) mod accounts;
mod asking;
pub(crate) mod check;
mod dependencies;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod fmt;
pub(crate) mod import;
pub(crate) mod manual;
pub(crate) mod programs;
pub(crate) mod reading;
pub(crate) mod watch;
mod watched;
