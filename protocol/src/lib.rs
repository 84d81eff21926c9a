//! The messages between Stratalog's server and its clients, and nothing else.
//!
//! A frame is one JSON object with a `type`. [`Message`] is what a client sends, [`Reply`] what the server sends;
//! both are read with `parse`, which looks at `type` and `id` first and so can say what is wrong with the rest.

mod envelope;
mod failure;
mod notification;
mod proof;
mod request;
mod response;
mod rows;
mod secrets;
mod value;

pub use envelope::{InvalidMessage, RequestId};
pub use failure::{
    Annotation, Code, Failure, Gap, Label, LimitReached, Place, Replacement, Severity, ValidationError,
};
pub use notification::{Change, GraphOperation, Notification, RowOperation, RuleOperation, SchemaOperation};
pub use proof::{
    AggregateProof, BlockerProof, Conclusion, FactSource, NegationProof, ProofKind, ProofNode, ProofTree,
    SearchProof, Truncation, WhyNot,
};
pub use request::{
    AddRule, Authenticate, Cancel, Check, Complete, EvaluationPlace, Execute, Facts, Format, Insert, Layout,
    Login, Message, Query, Request, Resume, Scope, Secret, Subscribe, Unsubscribe,
};
pub use response::{
    Ack, AuthError, Authenticated, Checked, Completions, Delta, Formatted, Metadata, Offer, OfferKind,
    Progress, Provenance, Reply, Response, ResultChunk, ResultEnd, ResultStart, ResultTable, Subscribed,
    Unsubscribed, WorkState, Working,
};
pub use secrets::{masked, tells_a_secret};
pub use value::Value;

/// The version of server, clients and protocol.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
