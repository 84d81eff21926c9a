//! Who is asking, and what they may do.
//!
//! One directory holds all accounts ([`Accounts`]): users, API keys, and who may use which graph. It changes in one
//! way only, by an [`AccountChange`]. What somebody may do is looked up at each request and never kept.

mod access;
mod accounts;
mod api_key;
mod book;
mod change;
mod error;
mod familiar;
mod grants;
mod identity;
mod journal;
mod key_terms;
mod names;
mod password;
mod roles;
mod seats;
mod throttle;

pub(crate) use accounts::admission::{KeyRefusal, Refusal};
pub(crate) use accounts::{Accounts, ListedKey, new_key};
pub(crate) use change::AccountChange;
pub(crate) use error::AccountError;
pub(crate) use grants::{InsertGrant, grant, grant_check, grant_insert, grant_retract};
pub(crate) use identity::Identity;
pub(crate) use journal::Journal;
pub(crate) use key_terms::{KeyScope, KeyTerms};
pub(crate) use names::{check_name, check_password};
#[cfg(test)]
pub(crate) use password::Hash;
pub(crate) use roles::{Level, Role};
pub(crate) use seats::Ended;
