//! Who may do what, and how people prove who they are.

mod accounts;
mod audit;
mod keys;
mod logins;
mod reload;
mod rights;
mod tls;
