//! `KeyTerms`: what an API key opens, and for how long. A key never gives more than its owner has.

use std::fmt;

use serde::{Deserialize, Serialize};
use stratalog_engine::{Code, Diagnostic, Need};

use crate::clock;

/// What a key opens, and until when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyTerms {
    /// What it opens.
    #[serde(default, skip_serializing_if = "KeyScope::is_all")]
    pub(crate) scope: KeyScope,
    /// When it opens nothing any more, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<i64>,
}

/// What a key opens of what its owner may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyScope {
    /// Everything.
    #[default]
    All,
    /// Facts, rules, schemas and indexes of graphs that exist; no graphs, nobody's rights, no administration.
    Write,
    /// Questions.
    Read,
    /// Metrics and documents over HTTP, and no session.
    Metrics,
}

impl KeyTerms {
    /// Whether the key opens nothing any more.
    pub(super) fn are_over(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= clock::now_ms())
    }
}

impl KeyScope {
    const ALL: [KeyScope; 4] = [KeyScope::All, KeyScope::Write, KeyScope::Read, KeyScope::Metrics];

    /// The scope as it is written.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            KeyScope::All => "all",
            KeyScope::Write => "write",
            KeyScope::Read => "read",
            KeyScope::Metrics => "metrics",
        }
    }

    /// Reads a scope, in any case.
    pub(crate) fn parse(text: &str) -> Option<KeyScope> {
        KeyScope::ALL.into_iter().find(|scope| scope.as_str().eq_ignore_ascii_case(text))
    }

    /// Whether it takes nothing away.
    pub(crate) fn is_all(&self) -> bool {
        matches!(self, KeyScope::All)
    }

    /// Whether sessions can be opened with it.
    pub(super) fn opens_sessions(self) -> bool {
        match self {
            KeyScope::All | KeyScope::Write | KeyScope::Read => true,
            KeyScope::Metrics => false,
        }
    }

    /// Whether something may be done with it, by an owner who may.
    pub(super) fn allows(self, need: Need) -> Result<(), Diagnostic> {
        let allowed = match need {
            Need::Nothing | Need::Enter | Need::Read => self.opens_sessions(),
            Need::Write => matches!(self, KeyScope::All | KeyScope::Write),
            Need::Manage | Need::CreateGraph | Need::Administer => self.is_all(),
        };
        if allowed { Ok(()) } else { Err(self.refusal()) }
    }

    /// What is said where it does not suffice.
    pub(crate) fn refusal(self) -> Diagnostic {
        let message = format!("access denied: this API key has the scope `{}`", self.as_str());
        let help = "use a key with another scope, or log in with a password; .apikey list shows the scopes";
        Diagnostic::error(Code::AccessDenied, message).help(help)
    }
}

/// For the log: what differs from a key that opens everything for ever.
impl fmt::Display for KeyTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scope.is_all() {
            write!(f, ", scope {}", self.scope.as_str())?;
        }
        match self.expires {
            Some(expires) => write!(f, ", expires {}", clock::written(expires)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KeyScope;
    use stratalog_engine::Need;

    #[test]
    fn a_scope_includes_those_below_and_never_administration() {
        let needs = [
            Need::Nothing,
            Need::Enter,
            Need::Read,
            Need::Write,
            Need::Manage,
            Need::CreateGraph,
            Need::Administer,
        ];
        let allowed = |scope: KeyScope| needs.iter().filter(|need| scope.allows(**need).is_ok()).count();
        assert_eq!(KeyScope::ALL.map(allowed), [7, 4, 3, 0]);
    }
}
