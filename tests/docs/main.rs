//! What the documentation says is so, and so is the order of modules and files.

mod circles;
mod commands;
mod examples;
mod floors;
