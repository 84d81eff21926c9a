//! Indexes: their answers against searches of our own, and what they are for.

mod churn;
mod killed;
mod places;
mod random;
mod scoring;
mod session;
mod texts;
mod upkeep;
