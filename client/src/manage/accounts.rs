//! Users and API keys, for administrators.

use super::listing::{listed, only};
use super::word::command_word;
use crate::client::Client;
use crate::errors::ClientError;
use serde::Deserialize;
use std::fmt;

/// Users, for administrators: [`Client::users`].
pub struct Users<'a>(&'a Client);

/// Somebody with a password.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct User {
    /// The name.
    pub username: String,
    /// What they may do.
    pub role: Role,
}

/// What a user may do on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Everything.
    Admin,
    /// Create graphs.
    Editor,
    /// What the levels on graphs allow.
    Viewer,
}

/// API keys, for administrators: [`Client::keys`].
pub struct Keys<'a>(&'a Client);

/// An API key, without what is secret of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Key {
    /// What it is called.
    pub label: String,
    /// Whose rights it has.
    pub owner: String,
    /// When it was created, in milliseconds since 1970.
    pub created: i64,
    /// When it opens nothing any more, in milliseconds since 1970.
    #[serde(default)]
    pub expires: Option<i64>,
    /// What it opens: `all`, `write`, `read` or `metrics`.
    #[serde(default)]
    pub scope: String,
}

/// What a new key is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyTerms {
    /// Whose rights it has; yours if nobody is named.
    pub user: Option<String>,
    /// When it opens nothing any more: `2027-01-31T12:00:00Z`, or a length such as `30d`; never if nothing is said.
    pub expires: Option<String>,
    /// What it opens: `metrics`, `read` or `write`; all that its owner may do if nothing is said.
    pub scope: Option<String>,
}

impl KeyTerms {
    fn words(&self) -> Result<String, ClientError> {
        let mut words = String::new();
        for (before, given, what) in [
            (" for ", &self.user, "name of a user"),
            (" expires ", &self.expires, "time"),
            (" ", &self.scope, "scope of a key"),
        ] {
            if let Some(given) = given {
                words.push_str(before);
                words.push_str(command_word(given, what)?);
            }
        }
        Ok(words)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Admin => "admin",
            Role::Editor => "editor",
            Role::Viewer => "viewer",
        })
    }
}

impl Client {
    /// Users, for administrators.
    pub fn users(&self) -> Users<'_> {
        Users(self)
    }

    /// API keys, for administrators.
    ///
    /// ```no_run
    /// # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
    /// let secret = client.keys().create("nightly").await?;
    /// client.keys().revoke("nightly").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn keys(&self) -> Keys<'_> {
        Keys(self)
    }
}

impl Users<'_> {
    /// All users.
    pub async fn all(&self) -> Result<Vec<User>, ClientError> {
        listed(&self.0.command(".user list", true).await?)
    }

    /// Creates a user.
    pub async fn create(&self, name: &str, password: &str, role: Role) -> Result<(), ClientError> {
        let password = command_word(password, "password")?;
        self.change("create", name, &format!(" {password} {role}")).await
    }

    /// Drops a user with keys and access entries, and ends the user's sessions.
    pub async fn drop(&self, name: &str) -> Result<(), ClientError> {
        self.change("drop", name, "").await
    }

    /// Changes a password, and ends the user's other sessions.
    pub async fn set_password(&self, name: &str, password: &str) -> Result<(), ClientError> {
        let password = command_word(password, "password")?;
        self.change("password", name, &format!(" {password}")).await
    }

    /// Changes one's own password, and ends one's other sessions. Everybody may.
    pub async fn set_own_password(&self, password: &str) -> Result<(), ClientError> {
        let password = command_word(password, "password")?;
        self.0.command(&format!(".user password {password}"), false).await.map(drop)
    }

    /// Changes the role of a user.
    pub async fn set_role(&self, name: &str, role: Role) -> Result<(), ClientError> {
        self.change("role", name, &format!(" {role}")).await
    }

    async fn change(&self, what: &str, name: &str, rest: &str) -> Result<(), ClientError> {
        let name = command_word(name, "name of a user")?;
        self.0.command(&format!(".user {what} {name}{rest}"), false).await.map(drop)
    }
}

impl Keys<'_> {
    /// All keys, without what is secret of them.
    pub async fn all(&self) -> Result<Vec<Key>, ClientError> {
        listed(&self.0.command(".apikey list", true).await?)
    }

    /// Creates a key with your rights. It is told this once, and kept nowhere.
    pub async fn create(&self, label: &str) -> Result<String, ClientError> {
        self.create_for(label, &KeyTerms::default()).await
    }

    /// Creates a key on terms. It is told this once, and kept nowhere.
    pub async fn create_for(&self, label: &str, terms: &KeyTerms) -> Result<String, ClientError> {
        #[derive(Deserialize)]
        struct New {
            api_key: String,
        }
        let label = command_word(label, "label of a key")?;
        let terms = terms.words()?;
        let new: New = only(&self.0.command(&format!(".apikey create {label}{terms}"), false).await?)?;
        Ok(new.api_key)
    }

    /// Revokes a key, and ends the sessions that it opened.
    pub async fn revoke(&self, label: &str) -> Result<(), ClientError> {
        let label = command_word(label, "label of a key")?;
        self.0.command(&format!(".apikey revoke {label}"), false).await.map(drop)
    }
}
