//! Answers and errors as agents read them: text, and the same as JSON.

use crate::diagnostics::{Look, Source, render};
use crate::output::proof_text;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value as Json, json};
use stratalog_client::{Answer, ClientError};

/// JSON, or why there is none.
pub(super) fn told(result: Result<Json, ClientError>, program: &str) -> CallToolResult {
    match result {
        Ok(told) => CallToolResult::structured(told),
        Err(error) => refused(&error, program),
    }
}

/// Rows with how many there are in all, or proofs.
pub(super) fn table(answer: &Answer) -> CallToolResult {
    if !answer.proofs.is_empty() {
        let shown = answer.proofs.iter().map(|proof| proof_text(proof, &answer.columns));
        let mut text = shown.collect::<Vec<_>>().join("\n");
        text += &count(answer);
        return CallToolResult::success(vec![ContentBlock::text(text)]);
    }
    let mut told = json!({"columns": answer.columns, "rows": answer.rows, "total": answer.total_count});
    if answer.truncated {
        told["truncated"] = json!(count(answer).trim());
    }
    if !answer.warnings.is_empty() {
        told["warnings"] = json!(answer.warnings);
    }
    CallToolResult::structured(told)
}

/// That rows were left out, and how many.
fn count(answer: &Answer) -> String {
    match answer.truncated {
        true => format!(
            "\n{} of {} rows; ask for fewer by conditions or aggregates",
            answer.rows.len(),
            answer.total_count
        ),
        false => String::new(),
    }
}

/// An error with its place in the program and what to do.
pub(super) fn refused(error: &ClientError, program: &str) -> CallToolResult {
    let text = match error {
        ClientError::Refused(failure) => {
            render(failure, Source { program, origin: None }, Look { colour: false, width: None })
        }
        other => other.to_string(),
    };
    CallToolResult::error(vec![ContentBlock::text(text)])
}
