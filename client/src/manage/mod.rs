//! What the server's commands do, as methods that belong together: `client.graphs()`, `client.rules()`,
//! `client.users()` and so on, in the shape that the Python client gives them.
//!
//! What lists something is repeated after a lost connection, as every read is; what changes something never is.

mod access;
mod accounts;
mod graphs;
mod indexes;
mod listing;
mod relations;
mod rules;
mod running;
mod word;

pub use access::{Access, Grant, Level};
pub use accounts::{Key, KeyTerms, Keys, Role, User, Users};
pub use graphs::{Graph, Graphs};
pub use indexes::{Index, IndexState, Indexes};
pub use relations::{RelationInfo, Relations};
pub use rules::{Own, OwnItem, RuleInfo, Rules};
pub use running::{Requests, RunningRequest, ServerCommands, Status};
pub use word::command_word;
