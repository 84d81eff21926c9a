//! `Failure`: why a request was refused. A stable code for programs, a sentence and places for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of an `error` message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// What went wrong, for a program.
    pub code: Code,
    /// What went wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where in the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Place>,
    /// Which statement of the program, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement_index: Option<usize>,
    /// Everything that was found, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Annotation>,
    /// The same for parse errors, in the short form that older clients read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation_errors: Vec<ValidationError>,
    /// The limit that was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitReached>,
    /// When trying again makes sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The notifications that were missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
}

/// Notifications that a client has perhaps missed: the first and the last number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The first.
    pub from: u64,
    /// The last.
    pub to: u64,
}

impl Failure {
    /// A failure without place or help.
    pub fn new(code: Code, message: impl Into<String>) -> Failure {
        Failure {
            code,
            message: message.into(),
            help: None,
            span: None,
            statement_index: None,
            diagnostics: Vec::new(),
            validation_errors: Vec::new(),
            limit: None,
            retry_after_ms: None,
            gap: None,
        }
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Failure {
        self.help = Some(help.into());
        self
    }

    /// Lists everything that was found.
    pub fn diagnostics(mut self, diagnostics: Vec<Annotation>) -> Failure {
        self.diagnostics = diagnostics;
        self
    }

    /// Names the limit that was reached.
    pub fn limit(mut self, name: &str, value: u64) -> Failure {
        self.limit = Some(LimitReached { name: name.to_owned(), value });
        self
    }

    /// Says which notifications were missed.
    pub fn gap(mut self, gap: Gap) -> Failure {
        self.gap = Some(gap);
        self
    }

    /// Says when to try again.
    pub fn retry_after_ms(mut self, milliseconds: u64) -> Failure {
        self.retry_after_ms = Some(milliseconds);
        self
    }
}

/// The stable code of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The frame is no message.
    InvalidMessage,
    /// The program does not follow the grammar.
    ParseError,
    /// A query names a relation that is not known.
    UnknownRelation,
    /// The number of arguments is not the relation's.
    ArityMismatch,
    /// A value has another type than its place asks for.
    TypeMismatch,
    /// No function or aggregate has this name.
    UnknownFunction,
    /// Some variable is not bound by a positive literal.
    UnsafeRule,
    /// Negation or aggregation inside a recursive cycle.
    Unstratifiable,
    /// Facts cannot be inserted into a derived relation.
    DerivedRelation,
    /// Only questions read a relation whose rows are in files, and nobody writes it.
    AttachedRelation,
    /// A parameter is missing, left over, or of no use.
    InvalidParameter,
    /// Something named does not exist.
    NotFound,
    /// Something named exists already.
    AlreadyExists,
    /// The user may not do this.
    AccessDenied,
    /// A limit was reached.
    LimitExceeded,
    /// The time allowed ran out.
    Timeout,
    /// The client asked to stop.
    Cancelled,
    /// The server has too much to do.
    Overloaded,
    /// The storage cannot be written or read.
    StorageUnavailable,
    /// A write may or may not have taken effect.
    OutcomeUnknown,
    /// The answer to this question cannot be told live.
    NotLive,
    /// A question is to be evaluated by a cluster that is not there or not used.
    ClusterUnavailable,
    /// Files that a relation's rows are in cannot be read, or have changed.
    FilesUnavailable,
    /// A fault of the server.
    Internal,
    /// A warning: a variable of a rule stands in one place only.
    UnusedVariable,
    /// A warning: conditions that have nothing to do with each other.
    CrossProduct,
    /// A rule has the head and atoms of an earlier one.
    RuleDiffersOnlyIn,
    /// A warning: conditions that nothing satisfies.
    NeverTrue,
    /// A warning: a year where milliseconds are meant.
    YearBesideTimes,
    /// A warning: digits that no value holds were left away.
    PrecisionLost,
    /// A warning: a query of a program that is not its last.
    UnansweredQuery,
    /// A code that this version does not know.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A place in the program as it was sent: lines and columns from 1 in characters, offset and length in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Length in bytes.
    pub length: usize,
    /// Offset of the first byte.
    pub offset: usize,
}

/// One thing that was found in a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Annotation {
    /// Error or warning.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Place>,
    /// Further places, with what they contribute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Label>,
    /// What to write instead, where that is known; of several, each is a way of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Replacement>,
}

/// A text in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replacement {
    /// What goes; nothing, where its length is 0.
    pub span: Place,
    /// What comes.
    pub text: String,
}

/// Whether the program was refused, or only deserves a second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Refused.
    Error,
    /// Ran all the same.
    Warning,
}

/// A further place with what it contributes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Label {
    /// The place.
    pub span: Place,
    /// What it contributes.
    pub text: String,
}

/// A parse error in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationError {
    /// Line of the program, from 1.
    pub line: usize,
    /// Which statement, from 0.
    pub statement_index: usize,
    /// One sentence.
    pub error: String,
}

/// A limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LimitReached {
    /// Its name, as in the configuration.
    pub name: String,
    /// Its value.
    pub value: u64,
}

#[cfg(test)]
mod tests {
    use super::{Annotation, Code, Failure, Label, Place, Replacement, Severity, ValidationError};

    #[test]
    fn a_plain_failure_is_code_and_message() {
        let failure = Failure::new(Code::NotFound, "no such graph");
        let text = serde_json::to_string(&failure).unwrap();
        assert_eq!(text, r#"{"code":"not_found","message":"no such graph"}"#);
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), failure);
    }

    #[test]
    fn a_full_failure_has_this_text() {
        let place = Place { line: 2, column: 3, length: 4, offset: 9 };
        let failure = Failure {
            span: Some(place),
            statement_index: Some(1),
            diagnostics: vec![Annotation {
                severity: Severity::Warning,
                code: Code::ParseError,
                message: "m".to_owned(),
                help: Some("h".to_owned()),
                span: Some(place),
                labels: vec![Label { span: place, text: "here".to_owned() }],
                fixes: vec![Replacement { span: place, text: "q".to_owned() }],
            }],
            validation_errors: vec![ValidationError { line: 2, statement_index: 1, error: "m".to_owned() }],
            ..Failure::new(Code::ParseError, "m").help("h").limit("statements", 3).retry_after_ms(20)
        };
        let text = serde_json::to_string(&failure).unwrap();
        assert_eq!(
            text,
            concat!(
                r#"{"code":"parse_error","message":"m","help":"h","span":{"line":2,"column":3,"length":4,"offset":9},"#,
                r#""statement_index":1,"diagnostics":[{"severity":"warning","code":"parse_error","message":"m","help":"h","#,
                r#""span":{"line":2,"column":3,"length":4,"offset":9},"labels":[{"span":{"line":2,"column":3,"length":4,"#,
                r#""offset":9},"text":"here"}],"fixes":[{"span":{"line":2,"column":3,"length":4,"offset":9},"text":"q"}]}],"validation_errors":[{"line":2,"statement_index":1,"error":"m"}],"#,
                r#""limit":{"name":"statements","value":3},"retry_after_ms":20}"#
            )
        );
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), failure);
    }

    #[test]
    fn a_code_of_a_later_version_is_unknown_not_an_error() {
        let failure: Failure = serde_json::from_str(r#"{"code":"brand_new","message":"m"}"#).unwrap();
        assert_eq!(failure.code, Code::Unknown);
    }
}
