//! Roles and levels: what a user may do in general, and on one graph.

use serde::{Deserialize, Serialize};

/// What a user may do in general.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Uses graphs.
    Viewer,
    /// Also creates graphs.
    Editor,
    /// Does everything, on every graph.
    Admin,
}

/// What a user may do on one graph. Each level includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// Looks.
    Viewer,
    /// Looks and changes.
    Editor,
    /// Also drops the graph, and says who may use it.
    Owner,
}

impl Role {
    const ALL: [Role; 3] = [Role::Viewer, Role::Editor, Role::Admin];

    /// The role as it is written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Editor => "editor",
            Role::Admin => "admin",
        }
    }

    /// Reads a role, in any case.
    pub(crate) fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str().eq_ignore_ascii_case(text))
    }
}

impl Level {
    const ALL: [Level; 3] = [Level::Viewer, Level::Editor, Level::Owner];

    /// The level as it is written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Level::Viewer => "viewer",
            Level::Editor => "editor",
            Level::Owner => "owner",
        }
    }

    /// Reads a level, in any case.
    pub(crate) fn parse(text: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.as_str().eq_ignore_ascii_case(text))
    }
}

impl From<Role> for Level {
    /// The level that a role gives by itself.
    fn from(role: Role) -> Level {
        match role {
            Role::Viewer => Level::Viewer,
            Role::Editor => Level::Editor,
            Role::Admin => Level::Owner,
        }
    }
}
