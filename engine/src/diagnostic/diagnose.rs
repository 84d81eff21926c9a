//! One shape for everything that is reported: every stage has its own error enum, and each says itself as [`Diagnostic`]s.

use super::Span;

/// The stable code of a failure: what a program may match on. The wording of messages may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// The text does not follow the grammar.
    ParseError,
    /// A query names a relation that is not known.
    UnknownRelation,
    /// The number of arguments is not the relation's.
    ArityMismatch,
    /// A value or column has another type than its place asks for.
    TypeMismatch,
    /// No function or aggregate has this name, or not with so many arguments.
    UnknownFunction,
    /// Some variable is not bound by a positive literal.
    UnsafeRule,
    /// Negation or aggregation inside a recursive cycle.
    Unstratifiable,
    /// Facts cannot be inserted into a relation that rules derive.
    DerivedRelation,
    /// Only questions read a relation whose rows are in files, and nobody writes it.
    AttachedRelation,
    /// A parameter is missing, left over, or of no use.
    InvalidParameter,
    /// Something named does not exist.
    NotFound,
    /// Something named exists already.
    AlreadyExists,
    /// The caller may not do this, or nobody may.
    AccessDenied,
    /// A limit was reached.
    LimitExceeded,
    /// The time allowed ran out.
    Timeout,
    /// The caller asked to stop.
    Cancelled,
    /// There is too much to do at the moment.
    Overloaded,
    /// The disk cannot be read or written, or what is on it is damaged.
    StorageUnavailable,
    /// A write failed, and whether it took effect cannot be known now.
    OutcomeUnknown,
    /// The answer to this question cannot be told live.
    NotLive,
    /// A question is to be evaluated by a cluster that is not there or not used.
    ClusterUnavailable,
    /// Files that a relation's rows are in cannot be read, or have changed.
    FilesUnavailable,
    /// A promise of ours was broken: a bug.
    Internal,
    /// A warning: a variable of a rule stands in one place only.
    UnusedVariable,
    /// A warning: conditions that have nothing to do with each other.
    CrossProduct,
    /// A clause has the head and atoms of an earlier one.
    RuleDiffersOnlyIn,
    /// A warning: conditions that nothing satisfies.
    NeverTrue,
    /// A warning: a year where milliseconds are meant.
    YearBesideTimes,
    /// A warning: digits that no value holds were left away.
    PrecisionLost,
    /// A warning: a query of a program that is not its last.
    UnansweredQuery,
}

impl Code {
    /// The code as it travels.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::ParseError => "parse_error",
            Code::UnknownRelation => "unknown_relation",
            Code::ArityMismatch => "arity_mismatch",
            Code::TypeMismatch => "type_mismatch",
            Code::UnknownFunction => "unknown_function",
            Code::UnsafeRule => "unsafe_rule",
            Code::Unstratifiable => "unstratifiable",
            Code::DerivedRelation => "derived_relation",
            Code::AttachedRelation => "attached_relation",
            Code::InvalidParameter => "invalid_parameter",
            Code::NotFound => "not_found",
            Code::AlreadyExists => "already_exists",
            Code::AccessDenied => "access_denied",
            Code::LimitExceeded => "limit_exceeded",
            Code::Timeout => "timeout",
            Code::Cancelled => "cancelled",
            Code::Overloaded => "overloaded",
            Code::StorageUnavailable => "storage_unavailable",
            Code::OutcomeUnknown => "outcome_unknown",
            Code::NotLive => "not_live",
            Code::ClusterUnavailable => "cluster_unavailable",
            Code::FilesUnavailable => "files_unavailable",
            Code::Internal => "internal",
            Code::UnusedVariable => "unused_variable",
            Code::CrossProduct => "cross_product",
            Code::RuleDiffersOnlyIn => "rule_differs_only_in",
            Code::NeverTrue => "never_true",
            Code::YearBesideTimes => "year_beside_times",
            Code::PrecisionLost => "precision_lost",
            Code::UnansweredQuery => "unanswered_query",
        }
    }
}

/// Whether the program was refused, or only deserves a second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The statement was refused.
    Error,
    /// The statement ran.
    Warning,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitReached {
    /// Its name, as settings call it.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// One report: what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// One plain sentence: what was expected and what was found.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// The same where it is something to write: each of them would do.
    pub fixes: Vec<Fix>,
    /// The cause in the text.
    pub span: Option<Span>,
    /// Further places with what they contribute.
    pub labels: Vec<(Span, String)>,
    /// Which statement of the program, from 0.
    pub statement: Option<usize>,
    /// The limit that was reached, if that is what is wrong.
    pub limit: Option<LimitReached>,
}

/// A part of a text, and what would be better there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What goes.
    pub span: Span,
    /// What is written instead.
    pub text: String,
}

impl Diagnostic {
    /// An error without place or help.
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            help: None,
            fixes: Vec::new(),
            span: None,
            labels: Vec::new(),
            statement: None,
            limit: None,
        }
    }

    /// A warning without place or help.
    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Says where.
    pub fn at(mut self, span: Span) -> Diagnostic {
        self.span = Some(span);
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Says what could be written in the place of a part of the text.
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.fixes.push(Fix { span, text: text.into() });
        self
    }

    /// Names the limit that was reached.
    pub fn limit(mut self, name: &'static str, value: u64) -> Diagnostic {
        self.limit = Some(LimitReached { name, value });
        self
    }

    /// Points at a further place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push((span, text.into()));
        self
    }
}

/// An error of some stage that can say itself.
pub trait Diagnose {
    /// The report for the user.
    fn diagnose(&self) -> Diagnostic;
}
