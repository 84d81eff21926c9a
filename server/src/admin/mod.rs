//! Dot commands about people: users, their keys, and who may use which graph. The engine runs them like its own.

mod acl;
mod api_key;
mod user;

use std::any::Any;

use stratalog_engine::{CommandEntry, Context, Error};

use crate::auth::Identity;

/// What the server adds to the engine's commands.
pub(crate) const ADMIN_COMMANDS: &[&[CommandEntry]] = &[user::COMMANDS, api_key::COMMANDS, acl::COMMANDS];

/// Who runs the command.
fn caller<'c>(context: &'c Context<'_>) -> Result<&'c Identity, Error> {
    let caller: &dyn Any = context.caller();
    caller
        .downcast_ref()
        .ok_or_else(|| Error::internal("admin", "a session of the server belongs to somebody unknown"))
}
