//! `AccountError`: why users, keys and access entries stay as they are.

use stratalog_engine::Error;
use stratalog_engine::diagnostic::{Code, Diagnose, Diagnostic};

use super::journal::JournalError;
use super::password::PasswordError;

/// Why a change of accounts was refused. No variant holds a password, a key, or a word that may be one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccountError {
    #[error("this is no name for {0}")]
    BadName(&'static str),
    #[error("this cannot be a password: {0}")]
    BadPassword(&'static str),
    #[error("`{0}` takes no further words")]
    SurplusWords(&'static str),
    #[error("this is no role")]
    BadRole,
    #[error("this is no level")]
    BadLevel,
    #[error("an API key is made with `LABEL [for USER] [expires TIME] [SCOPE]`")]
    BadKeyTerms,
    #[error("this is no moment in the future")]
    BadTime,
    #[error("`{0}` is the name of a user: the password is missing")]
    PasswordMissing(String),
    #[error("a password is changed by those who know it, not with an API key")]
    PasswordByKey,
    #[error("there is no user {0}")]
    NoSuchUser(String),
    #[error("there is a user {0} already")]
    UserExists(String),
    #[error("there is no API key {0}")]
    NoSuchKey(String),
    #[error("there is an API key {0} already")]
    KeyExists(String),
    #[error("{user} has no entry for knowledge graph {graph}")]
    NoSuchEntry { graph: String, user: String },
    #[error("the user admin cannot be dropped")]
    AdminStays,
    #[error("the user admin keeps the role `admin`")]
    AdminRules,
    #[error("you cannot drop yourself")]
    OwnUser,
    #[error("there are no users here: the database is open inside of a program, which may do everything")]
    NoUsers,
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Diagnose for AccountError {
    fn diagnose(&self) -> Diagnostic {
        if let AccountError::Journal(JournalError::Engine(Error::Refused(diagnostics))) = self
            && let Some(diagnostic) = diagnostics.first()
        {
            return diagnostic.clone();
        }
        let (code, help) = match self {
            AccountError::BadName(_) => (
                Code::ParseError,
                "a name has letters, digits and `_ - . @ +`, begins with a letter, digit or `_`, and has at most 128 bytes",
            ),
            AccountError::BadPassword(_) => (Code::ParseError, "use at most 1024 bytes of printable text"),
            AccountError::SurplusWords(_) => (Code::ParseError, "a password cannot contain blanks"),
            AccountError::BadRole => {
                (Code::ParseError, "write admin, editor or viewer; a password cannot contain blanks")
            }
            AccountError::BadLevel => (Code::ParseError, "write viewer, editor or owner"),
            AccountError::BadKeyTerms => (
                Code::ParseError,
                "SCOPE is metrics, read or write; each part stands once: .apikey create ci for ada expires 30d read",
            ),
            AccountError::BadTime => (
                Code::ParseError,
                "write a date and time such as 2027-01-31T12:00:00Z, or a length such as 90s, 15m, 12h, 30d or 8w",
            ),
            AccountError::PasswordMissing(_) => {
                (Code::ParseError, "write .user password NAME PASSWORD, or another password for yourself")
            }
            AccountError::PasswordByKey => {
                (Code::AccessDenied, "log in with the password, or let an administrator do it")
            }
            AccountError::NoSuchUser(_) => (Code::NotFound, "an administrator lists them: .user list"),
            AccountError::UserExists(_) => {
                (Code::AlreadyExists, "change it with .user password and .user role")
            }
            AccountError::NoSuchKey(_) => (Code::NotFound, "list those there are: .apikey list"),
            AccountError::KeyExists(_) => {
                (Code::AlreadyExists, "choose another name, or revoke the key first")
            }
            AccountError::NoSuchEntry { .. } => (Code::NotFound, "list those there are: .kg acl list"),
            AccountError::AdminStays => (Code::AccessDenied, "change its password instead: .user password"),
            AccountError::AdminRules => {
                (Code::AccessDenied, "so there is always somebody who can manage users")
            }
            AccountError::NoUsers => (
                Code::AccessDenied,
                "users, API keys and access rights are what a server has: stratalog-server --data-dir FOLDER",
            ),
            AccountError::OwnUser => (Code::AccessDenied, "let another administrator do it"),
            AccountError::Password(_) | AccountError::Journal(_) => {
                (Code::Internal, "nothing was changed; try again")
            }
        };
        Diagnostic::error(code, self.to_string()).help(help)
    }
}
