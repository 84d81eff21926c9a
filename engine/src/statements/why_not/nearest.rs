//! Facts that are nearly the one that is missing.

use super::explore::Explorer;
use super::terms::{constant, literal, with_columns};
use crate::analysis::near_names;
use crate::data::{DataType, Value};
use crate::error::Error;
use crate::provenance::Fact;
use crate::syntax::ast::{Atom, LiteralKind, Term, TermKind};

/// So many are told.
const MOST: usize = 3;
/// Names are looked for among so many values of a column.
const NAMES: u64 = 20_000;

impl Explorer<'_, '_> {
    /// Facts that differ from an atom in one argument, and what may be meant by it.
    pub(super) fn nearest(&mut self, atom: &Atom) -> Result<(Vec<Fact>, Option<String>), Error> {
        let mut found: Vec<Fact> = Vec::new();
        let mut hint = self.wrong_type(atom);
        for column in 0..atom.terms.len() {
            let TermKind::Constant(value) = &atom.terms[column].kind else { continue };
            let other = |term: Term| {
                let mut other = atom.clone();
                other.terms[column] = term;
                other
            };
            if hint.is_none()
                && let Value::Text(name) = value
                && let Some(near) = self.near_name(atom, column, name)?
            {
                for near in &near {
                    let facts = self.matching(&other(constant(Value::text(near.as_str()))), 1)?;
                    found.splice(0..0, facts);
                }
                let meant = near.iter().map(|near| Value::text(near.as_str()).to_string());
                let meant = meant.collect::<Vec<_>>().join(" or ");
                hint = found.is_empty().then(|| {
                    let (relation, column) = (&atom.relation.text, column + 1);
                    let absent = format!("no row of {relation} has {value} in column {column}");
                    if meant.is_empty() { absent } else { format!("{absent}: did you mean {meant}?") }
                });
            }
            let any = Term { kind: TermKind::Placeholder, span: atom.span };
            // Where all else is anything, everything is near.
            let is_about = |term: &Term| matches!(term.kind, TermKind::Constant(_));
            if found.len() < MOST && other(any.clone()).terms.iter().any(is_about) {
                found.extend(self.matching(&other(any), MOST as u64)?);
            }
        }
        let mut seen: Vec<Fact> = Vec::new();
        for fact in found {
            if !seen.contains(&fact) {
                seen.push(fact);
            }
        }
        seen.truncate(MOST);
        Ok((seen, hint))
    }

    /// Values of a column that look like a name which it does not have; none if it has it, or nobody knows.
    fn near_name(&mut self, atom: &Atom, column: usize, name: &str) -> Result<Option<Vec<String>>, Error> {
        let mut with_name = atom.clone();
        for (_, other) in with_name.terms.iter_mut().enumerate().filter(|(place, _)| *place != column) {
            other.kind = TermKind::Placeholder;
        }
        if !self.matching(&with_name, 1)?.is_empty() {
            return Ok(None);
        }
        let all = with_columns(atom);
        let wanted = vec![all.terms[column].clone()];
        let values = self.rows(wanted, vec![literal(LiteralKind::Positive(all))], NAMES)?;
        let Some(values) = values else { return Ok(None) };
        let texts: Vec<&str> = values
            .iter()
            .filter_map(|row| match row.first() {
                Some(Value::Text(text)) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        Ok(Some(near_names(name, texts.into_iter())))
    }

    /// Says where a column holds nothing of the kind of an argument.
    fn wrong_type(&self, atom: &Atom) -> Option<String> {
        let view = self.context.view();
        let types = view.catalog().relation(&atom.relation.text)?.column_types.clone();
        atom.terms.iter().zip(types).enumerate().find_map(|(column, (term, data_type))| {
            let TermKind::Constant(value) = &term.kind else { return None };
            let is_text = matches!(value, Value::Text(_));
            let differs = match data_type {
                DataType::Int | DataType::Float | DataType::Bool => is_text,
                DataType::Text => !is_text && *value != Value::Null,
                _ => false,
            };
            differs.then(|| {
                format!(
                    "column {} of {} has values of type {data_type}, and {value} is none",
                    column + 1,
                    atom.relation.text
                )
            })
        })
    }
}
