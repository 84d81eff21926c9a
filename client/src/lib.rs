//! The Rust client of Stratalog: log in, run programs, get rows.
//!
//! A [`Client`] is a session. It may be shared between tasks; the server runs the requests of a session in the order in
//! which they were sent, and every reply finds its request by id. A connection that was lost is opened again; what only
//! reads is repeated, and what writes never is.
//!
//! ```no_run
//! use stratalog_client::{Client, Credentials, ExecuteOptions, Value};
//!
//! # async fn example() -> Result<(), stratalog_client::ClientError> {
//! let client = Client::connect("localhost:8080", Credentials::password("admin", "secret")).await?;
//! client.insert_rows("edge", vec![vec![Value::Text("ada".into()), Value::Text("bob".into())]]).await?;
//! let answer = client.execute("?edge(X, $who)", ExecuteOptions::default().param("who", "bob")).await?;
//! for row in &answer.rows {
//!     eprintln!("{row:?}");
//! }
//! client.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! | | |
//! |---|---|
//! | [`Client::execute`] | a program and its whole answer, with [`ExecuteOptions`]: parameters, limit, time, atomic |
//! | [`Client::stream`] | an answer as Arrow batches, while they come |
//! | [`Client::insert_rows`], [`Client::insert_batches`], [`Client::upload`] | facts without program text |
//! | [`Client::insert_file`], [`Client::write_file`] | [`files`] in and out |
//! | [`Client::delete_rows`] | facts that go |
//! | [`Client::graphs`], [`Client::relations`], [`Client::rules`], [`Client::indexes`], [`Client::own`] | what is defined, in the graph and in the session |
//! | [`Client::users`], [`Client::keys`], [`Client::access`], [`Client::requests`], [`Client::server`] | [`manage`] a server |
//! | [`Client::start`], [`Client::cancel`] | a program that can be stopped; letting go of a future stops it too |
//! | [`Client::live`] | an answer that is told as it changes: the rows that come and go |
//! | [`Events`] | what changes on a graph |
//!
//! A [`ClientError`] has the server's [`Code`], and says whether a write may have taken effect:
//!
//! ```no_run
//! # async fn example(client: stratalog_client::Client) -> Result<(), stratalog_client::ClientError> {
//! use stratalog_client::{ClientError, Code, ExecuteOptions};
//!
//! match client.execute("+edge(1, 2)", ExecuteOptions::default()).await {
//!     Ok(answer) => eprintln!("{:?}", answer.rows),
//!     Err(error) if error.code() == Some(Code::AccessDenied) => eprintln!("may not write here"),
//!     Err(error) if error.is_uncertain() => eprintln!("look before sending it again: {error}"),
//!     Err(error) => return Err(error),
//! }
//! # Ok(())
//! # }
//! ```

/// Its examples are compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/rust.md")]
struct Manual;

mod address;
mod answers;
mod client;
mod connection;
mod credentials;
mod declaration;
mod effects;
mod errors;
mod events;
pub mod files;
mod goodbye;
mod imported;
mod inserted;
mod live;
pub mod manage;
mod numbers;
mod options;
mod retry;
mod running;
mod sending;
mod stream;
mod tls;
mod transfer;
mod upload;
mod waiting;

pub use address::{Address, AddressError, DEFAULT_ADDRESS};
pub use answers::Answer;
/// The Arrow that batches are made of.
pub use arrow;
pub use client::Client;
pub use credentials::Credentials;
pub use effects::only_reads;
pub use errors::{ClientError, code_name};
pub use events::{Events, Told};
pub use imported::{Imported, Progress};
pub use inserted::Inserted;
pub use live::{Live, LiveChange};
pub use options::{ExecuteOptions, LiveOptions, Parameter, Watcher};
pub use running::Running;
pub use stratalog_protocol::{
    AggregateProof, Annotation, Authenticated, BlockerProof, Change, Code, Conclusion, EvaluationPlace,
    FactSource, Failure, Gap, GraphOperation, Label, LimitReached, NegationProof, Notification, Place,
    ProofKind, ProofNode, ProofTree, Replacement, RequestId, RowOperation, RuleOperation, SchemaOperation,
    Scope, SearchProof, Severity, Truncation, ValidationError, Value, WhyNot, WorkState, Working,
};
pub use stream::Batches;
pub use upload::Upload;
