//! Functions of regular expressions. The time that a match takes is linear in the text, whatever the pattern is.

use regex::{Regex, RegexBuilder};

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use crate::data::{Value, ValueRef};

type Results = Result<Column, FunctionError>;

/// A pattern takes no more memory than this.
const MOST_BYTES: usize = 1 << 20;

/// A pattern that can be matched; the error says what is wrong with it.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    let compiled = RegexBuilder::new(pattern).size_limit(MOST_BYTES).dfa_size_limit(MOST_BYTES).build();
    compiled.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
        // The last line says what, those before show where.
        other => {
            other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    })
}

/// The pattern of the row before, which is that of most rows.
#[derive(Default)]
struct Last(Option<(String, Option<Regex>)>);

impl Last {
    fn get(
        &mut self,
        pattern: &str,
        circumstances: &Circumstances<'_>,
    ) -> Result<Option<&Regex>, FunctionError> {
        if self.0.as_ref().is_none_or(|(known, _)| known != pattern) {
            // To make one takes as long as to match many texts.
            circumstances.work(pattern.len().saturating_mul(1 << 10))?;
            self.0 = Some((pattern.to_owned(), compile(pattern).ok()));
        }
        Ok(self.0.as_ref().and_then(|(_, compiled)| compiled.as_ref()))
    }
}

pub(super) fn matches(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    let mut last = Last::default();
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row)) {
        (ValueRef::Text(text), ValueRef::Text(pattern)) => {
            circumstances.work(text.len())?;
            Ok(last
                .get(pattern, circumstances)?
                .map_or(Value::Null, |regex| Value::Bool(regex.is_match(text))))
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn replace(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    let mut last = Last::default();
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row), arguments.at(2, row)) {
        (ValueRef::Text(text), ValueRef::Text(pattern), ValueRef::Text(by)) => {
            circumstances.work(text.len())?;
            let Some(regex) = last.get(pattern, circumstances)? else { return Ok(Value::Null) };
            let mut replaced = String::new();
            let mut end = 0;
            for captures in regex.captures_iter(text) {
                let Some(whole) = captures.get(0) else { continue };
                replaced.push_str(&text[end..whole.start()]);
                captures.expand(by, &mut replaced);
                end = whole.end();
                circumstances.check_length(replaced.len())?;
            }
            replaced.push_str(&text[end..]);
            circumstances.check_length(replaced.len())?;
            circumstances.text(replaced)
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn extract(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    let mut last = Last::default();
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row), arguments.at(2, row)) {
        (ValueRef::Text(text), ValueRef::Text(pattern), ValueRef::Int(group)) => {
            circumstances.work(text.len())?;
            let Some(regex) = last.get(pattern, circumstances)? else { return Ok(Value::Null) };
            let found = usize::try_from(group).ok().and_then(|group| regex.captures(text)?.get(group));
            found.map_or(Ok(Value::Null), |part| circumstances.text(part.as_str().to_owned()))
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn split_part(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row), arguments.at(2, row)) {
        (ValueRef::Text(text), ValueRef::Text(separator), ValueRef::Int(number)) if !separator.is_empty() => {
            let before = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            let part = before.and_then(|before| text.split(separator).nth(before));
            part.map_or(Ok(Value::Null), |part| circumstances.text(part.to_owned()))
        }
        _ => Ok(Value::Null),
    })
}
