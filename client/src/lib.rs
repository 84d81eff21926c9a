//! The Rust client of Stratalog: log in, run programs, get rows.
//!
//! A [`Client`] is one connection and one session. It may be shared between tasks; the server runs the requests of a
//! connection in the order in which they were sent, and every reply finds its request by id.
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

mod address;
mod answers;
mod client;
mod connection;
mod credentials;
mod errors;
mod events;
mod options;
mod tls;

pub use address::{Address, AddressError, DEFAULT_ADDRESS};
pub use answers::{Answer, Inserted};
pub use client::{Client, Running};
pub use credentials::Credentials;
pub use errors::{ClientError, code_name};
pub use events::{Events, Told};
pub use options::{ExecuteOptions, Parameter};
pub use stratalog_protocol::{
    Annotation, Authenticated, Change, Code, Failure, Gap, GraphOperation, Label, LimitReached, Notification,
    Place, RequestId, RowOperation, RuleOperation, SchemaOperation, Scope, Severity, ValidationError, Value,
};
