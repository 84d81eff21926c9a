//! Rows of rules that are kept: never in the way of a change, read as long as there is none, and brought forward after one.

mod changes;
mod keep;
mod kept;
mod own;
mod sessions;
mod values;
mod walks;
mod ways;
