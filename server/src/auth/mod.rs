//! Who is asking, and what they may do.

mod access;
mod password;
mod users;

pub(crate) use access::{Denied, InsertGrant, grant, grant_insert};
pub use users::StartError;
pub(crate) use users::Users;

/// Somebody who has said who they are. What they may do is looked up at each request, never kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The user's name.
    pub(crate) username: String,
}

/// What a user may do in general.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(not(test), expect(dead_code, reason = "only `admin` exists until users can be created"))]
pub(crate) enum Role {
    /// Looks.
    Viewer,
    /// Looks and changes.
    Editor,
    /// Does everything.
    Admin,
}

impl Role {
    /// The role as it travels.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Editor => "editor",
            Role::Admin => "admin",
        }
    }
}
