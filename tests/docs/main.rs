//! What the documentation says is so, and so is the order of the modules.

mod commands;
mod examples;
mod floors;
