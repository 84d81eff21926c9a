//! `Message`: what a client sends. One variant of [`Request`] a type.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::envelope::{Envelope, InvalidMessage, RequestId};
use crate::value::Value;

/// One frame from a client: a request, and perhaps an id that every reply to it repeats.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Message {
    /// What is asked.
    #[serde(flatten)]
    pub request: Request,
    /// Repeated in every reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<RequestId>,
}

/// What a client may ask.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// Says who is there, by password.
    Login(Login),
    /// Says who is there, by API key.
    Authenticate(Authenticate),
    /// Runs a program.
    Execute(Execute),
    /// Says what is wrong with a program, without running anything of it.
    Check(Check),
    /// Writes a program in the one layout that all programs have, without running anything of it.
    Format(Layout),
    /// Asks what may be written at a place of a program.
    Complete(Complete),
    /// Inserts rows without program text: `rows`, or with the format `arrow` the binary frames that follow.
    Insert(Insert),
    /// Runs a program: `execute` with nothing but the program.
    Query(Query),
    /// Adds facts to the session.
    InsertFacts(Facts),
    /// Takes facts away from the session.
    RetractFacts(Facts),
    /// Adds a rule to the session.
    AddRule(AddRule),
    /// Asks to be told the answer to a query, and from then on the rows that come and go.
    Subscribe(Subscribe),
    /// Ends a subscription.
    Unsubscribe(Unsubscribe),
    /// Stops a running or waiting request of the same connection; answered at once.
    Cancel(Cancel),
    /// Asks for a sign of life; answered at once.
    Ping,
}

/// The types in the order of [`Request`], for messages about an unknown one.
const TYPES: &[&str] = &[
    "login",
    "authenticate",
    "execute",
    "check",
    "format",
    "complete",
    "insert",
    "query",
    "insert_facts",
    "retract_facts",
    "add_rule",
    "subscribe",
    "unsubscribe",
    "cancel",
    "ping",
];

/// What the text of a program is, for those who show it.
const PROGRAM: &str = "text/x-stratalog";

/// `login`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Login {
    /// The user's name.
    pub username: String,
    /// The user's password.
    pub password: Secret,
}

/// `authenticate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Authenticate {
    /// The key.
    pub api_key: Secret,
}

/// `execute`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Execute {
    /// The statements.
    #[schemars(extend("contentMediaType" = PROGRAM))]
    pub program: String,
    /// A value for each `$name` in the program, by its name.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// How the rows of a query travel.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Format::is_json")]
    pub format: Format,
    /// The longest time to run, in milliseconds: shorter than the server's limit, never longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// At most so many rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The program's writes are one transaction: any failure undoes all of it.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// The program's rules take the place of those of the same heads that there were before.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub replace_rules: bool,
    /// Where the program's queries are evaluated.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "EvaluationPlace::is_auto")]
    pub place: EvaluationPlace,
    /// Tells with `working` how far it is, twice a second.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Arrow data stays where it is, and one frame names it: for a database in the client's own process.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub in_place: bool,
}

/// Where queries are evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EvaluationPlace {
    /// Where they fit, as far as their graph lets them.
    #[default]
    Auto,
    /// In the server's memory.
    Here,
    /// By the cluster.
    Cluster,
}

impl EvaluationPlace {
    fn is_auto(&self) -> bool {
        *self == EvaluationPlace::Auto
    }
}

/// `check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The statements. Parameters may have any value.
    #[schemars(extend("contentMediaType" = PROGRAM))]
    pub program: String,
}

/// `format`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layout {
    /// The statements, with their comments.
    #[schemars(extend("contentMediaType" = PROGRAM))]
    pub program: String,
}

/// `complete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Complete {
    /// The statements, however complete they are.
    #[schemars(extend("contentMediaType" = PROGRAM))]
    pub program: String,
    /// The place, in bytes of UTF-8 from the beginning; the end of the program if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// `insert`. With [`Format::Json`] the rows are in `rows`; with [`Format::Arrow`] binary frames follow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Insert {
    /// The relation to insert into.
    pub relation: String,
    /// Whose facts these are.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Scope::is_persistent")]
    pub scope: Scope,
    /// How the rows travel.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Format::is_json")]
    pub format: Format,
    /// The names of the columns of `rows`; without them they go by position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    /// The rows, where they travel as JSON.
    #[serde(default, deserialize_with = "crate::rows::rows", skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Vec<Value>>>,
}

/// `query`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Query {
    /// The statements, of which the last query is answered.
    #[schemars(extend("contentMediaType" = PROGRAM))]
    pub query: String,
}

/// `insert_facts` and `retract_facts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The relation.
    pub relation: String,
    /// The facts.
    #[serde(deserialize_with = "crate::rows::tuples")]
    pub tuples: Vec<Vec<Value>>,
}

/// `add_rule`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddRule {
    /// Exactly one rule.
    #[schemars(extend("contentMediaType" = PROGRAM))]
    pub rule: String,
}

/// `subscribe`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Subscribe {
    /// One query, and nothing else.
    #[schemars(extend("contentMediaType" = PROGRAM))]
    pub query: String,
    /// A value for each `$name` in the query, by its name.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// How rows travel.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Format::is_json")]
    pub format: Format,
    /// No two versions that change the answer are told as one; whoever falls too far behind for that begins anew.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub every_version: bool,
    /// Tells now and then up to which version everything is told.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// The answer that is there already: only what has changed since is told, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// Where a subscription goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resume {
    /// The `token` of the `subscribed` before.
    pub token: String,
    /// The version of the last complete `delta`.
    pub version: u64,
}

/// `unsubscribe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unsubscribe {
    /// The number of the subscription.
    pub subscription: u64,
}

/// `cancel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cancel {
    /// The id of the request to stop.
    pub target: RequestId,
}

/// How rows travel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// As JSON arrays in text frames.
    #[default]
    Json,
    /// As one Arrow IPC stream in binary frames.
    Arrow,
}

impl Format {
    fn is_json(&self) -> bool {
        *self == Format::Json
    }
}

/// Whose facts are inserted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The graph's: they stay.
    #[default]
    Persistent,
    /// The session's: they end with it.
    Session,
}

impl Scope {
    fn is_persistent(&self) -> bool {
        *self == Scope::Persistent
    }
}

/// A password or key: travels as a string, and never shows itself in a log.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "password"))]
pub struct Secret(String);

impl Secret {
    /// Wraps a password or key.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl From<Request> for Message {
    fn from(request: Request) -> Message {
        Message { request, id: None }
    }
}

impl Message {
    /// Reads a text frame. Fields that are not known are ignored.
    pub fn parse(text: &str) -> Result<Message, InvalidMessage> {
        let envelope = Envelope::open(text)?;
        let request = match envelope.kind.as_str() {
            "login" => Request::Login(envelope.body()?),
            "authenticate" => Request::Authenticate(envelope.body()?),
            "execute" => Request::Execute(envelope.body()?),
            "check" => Request::Check(envelope.body()?),
            "format" => Request::Format(envelope.body()?),
            "complete" => Request::Complete(envelope.body()?),
            "insert" => Request::Insert(complete(&envelope, envelope.body()?)?),
            "query" => Request::Query(envelope.body()?),
            "insert_facts" => Request::InsertFacts(envelope.body()?),
            "retract_facts" => Request::RetractFacts(envelope.body()?),
            "add_rule" => Request::AddRule(envelope.body()?),
            "subscribe" => Request::Subscribe(envelope.body()?),
            "unsubscribe" => Request::Unsubscribe(envelope.body()?),
            "cancel" => Request::Cancel(envelope.body()?),
            "ping" => Request::Ping,
            _ => return Err(envelope.unknown_type(TYPES)),
        };
        Ok(Message { request, id: envelope.id })
    }

    /// The id of a message that is not read any further.
    pub fn id_in(text: &str) -> Option<RequestId> {
        Envelope::open(text).map_or_else(|invalid| invalid.id, |envelope| envelope.id)
    }

    /// The text of the frame.
    pub fn to_json(&self) -> String {
        // Strings, numbers, and maps with string keys: nothing that JSON could refuse.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Rows stand in the message exactly when they travel as JSON.
fn complete(envelope: &Envelope<'_>, insert: Insert) -> Result<Insert, InvalidMessage> {
    match (insert.format, &insert.rows) {
        (Format::Json, Some(_)) | (Format::Arrow, None) => Ok(insert),
        (Format::Json, None) => {
            Err(envelope.refuse("missing field `rows`, or `format` with the value \"arrow\""))
        }
        (Format::Arrow, Some(_)) => Err(envelope
            .refuse("`rows` and `format` \"arrow\" exclude each other: Arrow rows follow as binary frames")),
    }
}

/// `null` means the same as leaving the field out.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{
        AddRule, Authenticate, Cancel, EvaluationPlace, Execute, Facts, Format, Insert, Login, Message,
        Query, Request, Resume, Scope, Secret, Subscribe, Unsubscribe,
    };
    use crate::envelope::RequestId;
    use crate::value::Value;

    fn check(text: &str, request: Request, id: Option<RequestId>) {
        let message = Message { request, id };
        assert_eq!(message.to_json(), text);
        assert_eq!(Message::parse(text).unwrap(), message);
    }

    fn problem(text: &str) -> String {
        Message::parse(text).unwrap_err().problem
    }

    #[test]
    fn every_type_has_this_text() {
        check(
            r#"{"type":"login","username":"ada","password":"lace"}"#,
            Request::Login(Login { username: "ada".to_owned(), password: Secret::new("lace") }),
            None,
        );
        check(
            r#"{"type":"authenticate","api_key":"00ff"}"#,
            Request::Authenticate(Authenticate { api_key: Secret::new("00ff") }),
            None,
        );
        check(
            r#"{"type":"execute","program":"?p(X)"}"#,
            Request::Execute(Execute { program: "?p(X)".to_owned(), ..Execute::default() }),
            None,
        );
        check(
            r#"{"type":"cancel","target":"q1","id":-7}"#,
            Request::Cancel(Cancel { target: RequestId::Text("q1".to_owned()) }),
            Some(RequestId::Number(-7)),
        );
        check(r#"{"type":"ping"}"#, Request::Ping, None);
        check(
            r#"{"type":"query","query":"?p(X)"}"#,
            Request::Query(Query { query: "?p(X)".to_owned() }),
            None,
        );
        let facts = || Facts { relation: "edge".to_owned(), tuples: vec![vec![Value::Int(1), Value::Null]] };
        check(
            r#"{"type":"insert_facts","relation":"edge","tuples":[[1,null]]}"#,
            Request::InsertFacts(facts()),
            None,
        );
        check(
            r#"{"type":"retract_facts","relation":"edge","tuples":[[1,null]]}"#,
            Request::RetractFacts(facts()),
            None,
        );
        check(
            r#"{"type":"add_rule","rule":"p(X) <- q(X)"}"#,
            Request::AddRule(AddRule { rule: "p(X) <- q(X)".to_owned() }),
            None,
        );
    }

    #[test]
    fn execute_carries_all_its_fields() {
        check(
            r#"{"type":"execute","program":"?p($a,X)","params":{"a":1,"v":[1.0,2.0]},"format":"arrow","timeout_ms":50,"limit":10,"atomic":true,"replace_rules":true,"place":"cluster","progress":true,"in_place":true,"id":"é"}"#,
            Request::Execute(Execute {
                program: "?p($a,X)".to_owned(),
                params: [("a".to_owned(), Value::Int(1)), ("v".to_owned(), Value::Vector(vec![1.0, 2.0]))]
                    .into(),
                format: Format::Arrow,
                timeout_ms: Some(50),
                limit: Some(10),
                atomic: true,
                replace_rules: true,
                place: EvaluationPlace::Cluster,
                progress: true,
                in_place: true,
            }),
            Some(RequestId::Text("é".to_owned())),
        );
    }

    #[test]
    fn a_subscription_begins_anew_or_goes_on() {
        check(
            r#"{"type":"subscribe","query":"?p(X)","id":1}"#,
            Request::Subscribe(Subscribe { query: "?p(X)".to_owned(), ..Subscribe::default() }),
            Some(RequestId::Number(1)),
        );
        check(
            r#"{"type":"subscribe","query":"?p($a,X)","params":{"a":1},"format":"arrow","every_version":true,"progress":true,"resume":{"token":"t","version":4}}"#,
            Request::Subscribe(Subscribe {
                query: "?p($a,X)".to_owned(),
                params: [("a".to_owned(), Value::Int(1))].into(),
                format: Format::Arrow,
                every_version: true,
                progress: true,
                resume: Some(Resume { token: "t".to_owned(), version: 4 }),
            }),
            None,
        );
        check(
            r#"{"type":"unsubscribe","subscription":3}"#,
            Request::Unsubscribe(Unsubscribe { subscription: 3 }),
            None,
        );
    }

    #[test]
    fn insert_carries_rows_or_announces_frames() {
        check(
            r#"{"type":"insert","relation":"edge","scope":"session","rows":[[1,"a",null],[2.5,true,[0.5]]]}"#,
            Request::Insert(Insert {
                relation: "edge".to_owned(),
                scope: Scope::Session,
                rows: Some(vec![
                    vec![Value::Int(1), Value::Text("a".to_owned()), Value::Null],
                    vec![Value::Float(2.5), Value::Bool(true), Value::Vector(vec![0.5])],
                ]),
                ..Insert::default()
            }),
            None,
        );
        check(
            r#"{"type":"insert","relation":"edge","format":"arrow","id":1}"#,
            Request::Insert(Insert {
                relation: "edge".to_owned(),
                format: Format::Arrow,
                ..Insert::default()
            }),
            Some(RequestId::Number(1)),
        );
        assert_eq!(
            problem(r#"{"type":"insert","relation":"edge"}"#),
            "message of type `insert`: missing field `rows`, or `format` with the value \"arrow\""
        );
        assert!(
            problem(r#"{"type":"insert","relation":"e","format":"arrow","rows":[]}"#)
                .contains("exclude each other")
        );
    }

    #[test]
    fn unknown_fields_and_nulls_are_ignored() {
        let text = r#"{"surplus":{"deep":[1]},"type":"execute","program":"p","params":null,"format":null,"atomic":null,"limit":null}"#;
        let expected = Request::Execute(Execute { program: "p".to_owned(), ..Execute::default() });
        assert_eq!(Message::parse(text).unwrap(), expected.into());
    }

    #[test]
    fn each_way_of_being_wrong_says_so() {
        assert!(problem("{\"type\":").starts_with("the message is not valid JSON: "));
        assert!(problem("").starts_with("the message is not valid JSON: "));
        assert!(problem("7").starts_with("a message is one JSON object: "));
        assert_eq!(problem("{}"), "the message has no field `type`");
        assert_eq!(problem(r#"{"type":3}"#), "the field `type` must be a string");
        assert_eq!(
            problem(r#"{"type":"question"}"#),
            "unknown message type \"question\"; known types are login, authenticate, execute, check, format, complete, insert, query, insert_facts, retract_facts, add_rule, subscribe, unsubscribe, cancel, ping"
        );
        assert!(problem(r#"{"type":"execute"}"#).contains("missing field `program`"));
        assert!(
            problem(r#"{"type":"execute","program":5}"#)
                .contains("invalid type: integer `5`, expected a string")
        );
    }

    #[test]
    fn a_refused_message_keeps_its_id() {
        let refused = Message::parse(r#"{"type":"execute","id":42}"#).unwrap_err();
        assert_eq!(refused.id, Some(RequestId::Number(42)));
        let refused = Message::parse(r#"{"id":"a","type":"nothing"}"#).unwrap_err();
        assert_eq!(refused.id, Some(RequestId::Text("a".to_owned())));
    }

    #[test]
    fn an_id_is_an_integer_or_a_short_string() {
        let long = "x".repeat(129);
        for id in ["1.5", "{}", "[]", "true", "9223372036854775808", &format!("\"{long}\"")] {
            let text = format!(r#"{{"type":"ping","id":{id}}}"#);
            assert!(problem(&text).starts_with("an id is a 64-bit integer"), "{id}");
        }
        assert_eq!(Message::parse(r#"{"type":"ping","id":null}"#).unwrap(), Request::Ping.into());
        let longest = format!(r#"{{"type":"ping","id":"{}"}}"#, "é".repeat(128));
        assert!(Message::parse(&longest).is_ok());
    }

    #[test]
    fn secrets_do_not_show() {
        let login = Message::parse(r#"{"type":"login","username":"ada","password":"lace"}"#).unwrap();
        assert!(!format!("{login:?}").contains("lace"));
    }
}
