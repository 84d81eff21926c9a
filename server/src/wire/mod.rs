//! The border between engine and protocol: the only module that knows the values, codes and answers of both.

mod arrow_in;
mod arrow_out;
mod cells;
mod deltas;
mod handed;
mod messages;
mod proofs;
mod table;

use std::time::Duration;

use stratalog_engine::data::MAX_LIST_DEPTH;
use stratalog_engine::diagnostic::Diagnose;
use stratalog_engine::{
    self as engine, Answer, Content, Diagnostic, Error, Inserted, Parameters, Rows, SourceMap, Span,
    Subscription,
};
use stratalog_protocol::{
    self as protocol, Annotation, Failure, Format, Label, Metadata, Replacement, RequestId, Subscribed,
    ValidationError,
};
use uuid::Uuid;

use crate::deposits::Answers;
use crate::queries::RETRY_AFTER_MS;

pub(crate) use arrow_in::{ArrowIn, Fed, malformed};
pub(crate) use deltas::{DeltaFrames, FEW_ROWS, Part, Rendered};
pub use handed::HandedRows;
pub(crate) use messages::{Frame, Reply, TableStream};

use messages::Heading;
use proofs::proof_trees;
use table::Table;

/// Where a program's queries are evaluated.
pub(crate) fn evaluation_place(place: protocol::EvaluationPlace) -> engine::EvaluationPlace {
    match place {
        protocol::EvaluationPlace::Auto => engine::EvaluationPlace::Auto,
        protocol::EvaluationPlace::Here => engine::EvaluationPlace::Here,
        protocol::EvaluationPlace::Cluster => engine::EvaluationPlace::Cluster,
    }
}

/// Turns JSON parameters into the engine's.
pub(crate) fn parameters(
    params: impl IntoIterator<Item = (String, protocol::Value)>,
) -> Result<Parameters, Failure> {
    params
        .into_iter()
        .map(|(name, value)| match to_engine(value, engine_cell) {
            Ok(value) => Ok((name, value)),
            Err(problem) => {
                Err(Failure::new(protocol::Code::InvalidParameter, format!("parameter `{name}`: {problem}")))
            }
        })
        .collect()
}

/// Turns JSON rows into the engine's.
pub(crate) fn rows(rows: Vec<Vec<protocol::Value>>) -> Result<Vec<Vec<engine::Value>>, Failure> {
    let row = |(number, row): (usize, Vec<protocol::Value>)| {
        row.into_iter().map(|value| to_engine(value, engine_cell)).collect::<Result<Vec<_>, _>>().map_err(
            |problem| Failure::new(protocol::Code::TypeMismatch, format!("row {}: {problem}", number + 1)),
        )
    };
    rows.into_iter().enumerate().map(row).collect()
}

fn to_engine(
    value: protocol::Value,
    convert: impl Fn(protocol::Value) -> Result<engine::Value, String>,
) -> Result<engine::Value, String> {
    let value = convert(value)?;
    match value.as_ref().depth() {
        depth if depth > MAX_LIST_DEPTH => {
            Err(format!("{depth} lists stand in each other: no more than {MAX_LIST_DEPTH} may"))
        }
        _ => Ok(value),
    }
}

/// The numbers of an array that holds nothing else.
fn numbers(elements: &[protocol::Value]) -> Option<Vec<f64>> {
    let number = |element: &protocol::Value| match element {
        protocol::Value::Int(n) => Some(*n as f64),
        protocol::Value::Float(x) => Some(*x),
        _ => None,
    };
    elements.iter().map(number).collect()
}

/// A parameter, or a cell: numbers in an array stay what they are, as the program, or the column, says whether they are a
/// vector.
fn engine_cell(value: protocol::Value) -> Result<engine::Value, String> {
    let as_list = |elements: Vec<engine::Value>| engine::Value::List(elements.into());
    match value {
        protocol::Value::Vector(floats) => {
            Ok(as_list(floats.into_iter().map(engine::Value::Float).collect()))
        }
        protocol::Value::List(elements) if numbers(&elements).is_some() => {
            elements.into_iter().map(engine_value).collect::<Result<_, _>>().map(as_list)
        }
        value => engine_value(value),
    }
}

fn engine_value(value: protocol::Value) -> Result<engine::Value, String> {
    Ok(match value {
        protocol::Value::List(elements) => match numbers(&elements) {
            Some(numbers) => return engine_value(protocol::Value::Vector(numbers)),
            None => engine::Value::List(elements.into_iter().map(engine_value).collect::<Result<_, _>>()?),
        },
        protocol::Value::Null => engine::Value::Null,
        protocol::Value::Bool(b) => engine::Value::Bool(b),
        protocol::Value::Int(n) => engine::Value::Int(n),
        protocol::Value::Float(x) => engine::Value::Float(x),
        protocol::Value::Text(text) => engine::Value::text(text),
        protocol::Value::Vector(elements) => engine::Value::Vector(
            elements
                .into_iter()
                .map(|x| match x as f32 {
                    narrow if narrow.is_finite() => Ok(narrow),
                    _ => Err(format!("{x:?} is beyond the 32-bit floats of a vector")),
                })
                .collect::<Result<_, _>>()?,
        ),
    })
}

/// The scope of an insert.
pub(crate) fn scope(scope: protocol::Scope) -> engine::Scope {
    match scope {
        protocol::Scope::Persistent => engine::Scope::Persistent,
        protocol::Scope::Session => engine::Scope::Session,
    }
}

/// Turns the answer to a program into what is sent: one message, or a stream of frames. Arrow data is left in `place`, if there
/// is one.
pub(crate) fn answer(
    answer: Answer,
    format: Format,
    place: Option<&Answers>,
    took: Duration,
    id: Option<RequestId>,
) -> Result<Reply, Failure> {
    let mut proofs = Vec::new();
    let (table, format) = match answer.content {
        Content::Rows(mut rows) => {
            proofs = proof_trees(rows.take_proofs().unwrap_or_default());
            (Table::Rows(rows), format)
        }
        Content::Messages(messages) => (Table::messages(&messages)?, Format::Json),
    };
    let warnings = messages_of(answer.warnings);
    let has_ephemeral = answer.ephemeral.is_some();
    let ephemeral_sources = answer.ephemeral.map(|ephemeral| ephemeral.sources).unwrap_or_default();
    let metadata = (has_ephemeral || !warnings.is_empty()).then_some(Metadata {
        has_ephemeral,
        ephemeral_sources,
        warnings,
    });
    let mut heading = Heading::new(&table, took, metadata, id);
    heading.at(answer.version, answer.switched_graph);
    heading.because(proofs);
    match (format, place) {
        (Format::Arrow, Some(place)) => Ok(messages::left_in(place, table, heading)),
        _ => messages::render(table, heading, format),
    }
}

/// Turns the outcome of an insert into what is sent.
pub(crate) fn inserted(
    relation: &str,
    inserted: Inserted,
    took: Duration,
    id: Option<RequestId>,
) -> Result<Reply, Failure> {
    let table = Table::inserted(relation, &inserted)?;
    let (warnings, version) = (messages_of(inserted.warnings), inserted.version);
    let metadata = (!warnings.is_empty()).then(|| Metadata { warnings, ..Metadata::default() });
    let mut heading = Heading::new(&table, took, metadata, id);
    heading.at(version, None);
    messages::render(table, heading, Format::Json)
}

/// What is known of a subscription that begins; `token` is what to come back with.
pub(crate) fn subscribed(
    subscription: u64,
    of: &Subscription,
    resumed_at: Option<u64>,
    token: String,
) -> Subscribed {
    let begun = of.begun();
    let table = Table::Rows(Rows::clone(&begun.rows));
    let warnings = messages_of(begun.warnings.iter().cloned());
    Subscribed {
        subscription,
        columns: table.columns(),
        names: table.unique_names(),
        knowledge_graph: of.graph().1.to_owned(),
        version: resumed_at.unwrap_or(begun.version),
        resumed: resumed_at.is_some(),
        token,
        metadata: (!warnings.is_empty()).then(|| Metadata { warnings, ..Metadata::default() }),
    }
}

fn messages_of(warnings: impl IntoIterator<Item = Diagnostic>) -> Vec<String> {
    warnings.into_iter().map(|warning| warning.message).collect()
}

/// Turns an engine's error into what is sent; `program` is the text that its places point into.
pub(crate) fn failure(error: &Error, program: &str) -> Failure {
    match error {
        Error::Refused(diagnostics) => refusal(diagnostics, program),
        Error::Stopped(stopped) => {
            let diagnostic = stopped.diagnose();
            Failure {
                help: diagnostic.help,
                limit: diagnostic.limit.map(limit_reached),
                retry_after_ms: (diagnostic.code == engine::Code::Overloaded).then_some(RETRY_AFTER_MS),
                ..Failure::new(code(diagnostic.code), diagnostic.message)
            }
        }
        Error::Internal { stage, detail } => {
            let reference = Uuid::new_v4();
            tracing::error!(%reference, stage, detail, "an internal error");
            internal(reference)
        }
    }
}

/// A fault of ours: the client gets the reference, the log the rest.
fn internal(reference: Uuid) -> Failure {
    let message = format!("an internal error; the server's log has more under the reference {reference}");
    Failure::new(protocol::Code::Internal, message)
}

/// Reports a fault of ours while an answer is written.
fn broken(detail: &str) -> Failure {
    let reference = Uuid::new_v4();
    tracing::error!(%reference, detail, "an answer could not be written");
    internal(reference)
}

fn refusal(diagnostics: &[Diagnostic], program: &str) -> Failure {
    let source = SourceMap::new(program);
    let annotations: Vec<Annotation> = diagnostics.iter().map(|one| annotation(one, &source)).collect();
    let Some((first, shown)) = diagnostics.first().zip(annotations.first()) else {
        return broken("a refusal without a diagnostic");
    };
    let validation_errors = diagnostics
        .iter()
        .zip(&annotations)
        .filter(|(diagnostic, _)| diagnostic.code == engine::Code::ParseError)
        .map(|(diagnostic, annotation)| ValidationError {
            line: annotation.span.map_or(1, |span| span.line),
            statement_index: diagnostic.statement.unwrap_or(0),
            error: diagnostic.message.clone(),
        })
        .collect();
    Failure {
        help: first.help.clone(),
        span: shown.span,
        statement_index: first.statement,
        validation_errors,
        limit: first.limit.map(limit_reached),
        ..Failure::new(shown.code, first.message.clone())
    }
    .diagnostics(annotations)
}

fn limit_reached(limit: engine::LimitReached) -> protocol::LimitReached {
    protocol::LimitReached { name: limit.name.to_owned(), value: limit.value }
}

/// What was found in a program, as it travels.
pub fn annotations(found: &[Diagnostic], program: &str) -> Vec<Annotation> {
    let source = SourceMap::new(program);
    found.iter().map(|one| annotation(one, &source)).collect()
}

fn annotation(diagnostic: &Diagnostic, source: &SourceMap<'_>) -> Annotation {
    Annotation {
        severity: match diagnostic.severity {
            engine::Severity::Error => protocol::Severity::Error,
            engine::Severity::Warning => protocol::Severity::Warning,
        },
        code: code(diagnostic.code),
        message: diagnostic.message.clone(),
        help: diagnostic.help.clone(),
        span: diagnostic.span.map(|span| place(span, source)),
        labels: diagnostic
            .labels
            .iter()
            .map(|(span, text)| Label { span: place(*span, source), text: text.clone() })
            .collect(),
        fixes: diagnostic
            .fixes
            .iter()
            .map(|fix| Replacement { span: place(fix.span, source), text: fix.text.clone() })
            .collect(),
    }
}

fn place(span: Span, source: &SourceMap<'_>) -> protocol::Place {
    let engine::Place { line, column, length, offset } = source.place(span);
    protocol::Place { line, column, length, offset }
}

fn code(code: engine::Code) -> protocol::Code {
    match code {
        engine::Code::ParseError => protocol::Code::ParseError,
        engine::Code::UnknownRelation => protocol::Code::UnknownRelation,
        engine::Code::ArityMismatch => protocol::Code::ArityMismatch,
        engine::Code::TypeMismatch => protocol::Code::TypeMismatch,
        engine::Code::UnknownFunction => protocol::Code::UnknownFunction,
        engine::Code::UnsafeRule => protocol::Code::UnsafeRule,
        engine::Code::Unstratifiable => protocol::Code::Unstratifiable,
        engine::Code::DerivedRelation => protocol::Code::DerivedRelation,
        engine::Code::AttachedRelation => protocol::Code::AttachedRelation,
        engine::Code::InvalidParameter => protocol::Code::InvalidParameter,
        engine::Code::NotFound => protocol::Code::NotFound,
        engine::Code::AlreadyExists => protocol::Code::AlreadyExists,
        engine::Code::AccessDenied => protocol::Code::AccessDenied,
        engine::Code::LimitExceeded => protocol::Code::LimitExceeded,
        engine::Code::Timeout => protocol::Code::Timeout,
        engine::Code::Cancelled => protocol::Code::Cancelled,
        engine::Code::Overloaded => protocol::Code::Overloaded,
        engine::Code::StorageUnavailable => protocol::Code::StorageUnavailable,
        engine::Code::OutcomeUnknown => protocol::Code::OutcomeUnknown,
        engine::Code::NotLive => protocol::Code::NotLive,
        engine::Code::ClusterUnavailable => protocol::Code::ClusterUnavailable,
        engine::Code::FilesUnavailable => protocol::Code::FilesUnavailable,
        engine::Code::Internal => protocol::Code::Internal,
        engine::Code::UnusedVariable => protocol::Code::UnusedVariable,
        engine::Code::CrossProduct => protocol::Code::CrossProduct,
        engine::Code::RuleDiffersOnlyIn => protocol::Code::RuleDiffersOnlyIn,
        engine::Code::NeverTrue => protocol::Code::NeverTrue,
        engine::Code::YearBesideTimes => protocol::Code::YearBesideTimes,
        engine::Code::PrecisionLost => protocol::Code::PrecisionLost,
        engine::Code::UnansweredQuery => protocol::Code::UnansweredQuery,
    }
}

#[cfg(test)]
mod tests {
    use stratalog_engine::{self as engine, Diagnostic, Error, Span};
    use stratalog_protocol::{Code, Place, ValidationError};

    use super::failure;

    #[test]
    fn parse_errors_carry_place_help_and_the_short_form() {
        let mut diagnostic = Diagnostic::error(engine::Code::ParseError, "expected `)`, found `,`")
            .at(Span::new(5, 6))
            .help("close it");
        diagnostic.statement = Some(1);
        let failure = failure(&Error::refused(diagnostic), "é\n+p(");
        assert_eq!(failure.code, Code::ParseError);
        assert_eq!(failure.message, "expected `)`, found `,`");
        assert_eq!(failure.help.as_deref(), Some("close it"));
        assert_eq!(failure.span, Some(Place { line: 2, column: 3, length: 1, offset: 5 }));
        assert_eq!(failure.statement_index, Some(1));
        assert_eq!(failure.diagnostics.len(), 1);
        assert_eq!(
            failure.validation_errors,
            [ValidationError { line: 2, statement_index: 1, error: "expected `)`, found `,`".to_owned() }]
        );
    }

    #[test]
    fn an_internal_error_shows_a_reference_and_nothing_of_the_inside() {
        let failure = failure(&Error::internal("join", "key 17 is gone"), "?p(X)");
        assert_eq!(failure.code, Code::Internal);
        assert!(failure.message.contains("reference"));
        assert!(!failure.message.contains("key 17"));
        assert!(failure.diagnostics.is_empty());
    }
}
