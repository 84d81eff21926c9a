//! Live queries in the engine: what is told, when, and to whom.

mod copies;
mod followed;
mod lives;
mod reader;
mod resting;
