//! The Rust client and the command line, as people use them.

mod agreement;
mod check;
mod client;
mod command_line;
mod commented;
mod exports;
mod files;
mod fmt;
mod grammar;
mod imports;
mod interrupted;
mod killed;
mod kinds_of_files;
mod live_client;
mod manage;
mod migrate;
mod opened;
mod prompt;
mod prompt_files;
mod round_trips;
mod terminal;
mod watching;
