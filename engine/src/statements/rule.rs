//! `+rule`, `-rule`, and rules of the session.

use std::sync::Arc;

use super::refusal::refused;
use super::{counted, place};
use crate::analysis;
use crate::catalog::Catalog;
use crate::context::{Context, MAX_WARNINGS};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::Change;
use crate::syntax::ast::{LiteralKind, Name, Rule, RuleStatement, Scope, plain_literals};

pub(super) fn run(statement: &RuleStatement, context: &mut Context<'_>) -> Result<String, Error> {
    let name = &statement.rule.head.relation.text;
    let add = Change::AddRule(Arc::new(statement.rule.clone()));
    let is_first = context.replaces_rules(statement.scope, name);
    let replaced = match statement.scope {
        Scope::Persistent => {
            let (counts, is_replacing) = context.write(|snapshot, warnings| {
                let known = snapshot.catalog();
                let is_replacing = is_first && !known.rules(name).is_empty();
                let mut catalog = known.clone();
                if is_replacing {
                    catalog.remove_rules(name);
                }
                warnings.extend(check(statement, &catalog, warnings.len())?);
                warnings.extend(is_replacing.then(|| left_behind(&statement.rule, &catalog)).flatten());
                let remove = is_replacing.then(|| Change::RemoveRules(name.clone()));
                // What is kept stays so under other rules.
                let keep = (is_replacing && known.keeps(name)).then(|| Change::KeepView(name.clone()));
                Ok((remove.into_iter().chain([add]).chain(keep).collect(), is_replacing))
            })?;
            if is_replacing { counts[0] } else { 0 }
        }
        Scope::Session => {
            let mut replaced = 0;
            if is_first {
                let (overlay, counts) = context.overlay.apply(&vec![Change::RemoveRules(name.clone())]);
                context.lay(overlay)?;
                replaced = counts[0];
            }
            let view = context.view();
            let warned = context.warnings.len();
            context.warnings.extend(check(statement, view.catalog(), warned)?);
            if replaced > 0 {
                context.warnings.extend(left_behind(&statement.rule, view.catalog()));
            }
            context.lay(context.overlay.apply(&vec![add]).0)?;
            replaced
        }
    };
    let instead = match replaced {
        0 => String::new(),
        count => format!(" in place of {}", counted(count, "clause")),
    };
    Ok(format!("registered a rule for {name}{}{instead}", place(statement.scope)))
}

/// When so many warnings were given the next ones are not shown, so nothing is looked up for them.
fn check(statement: &RuleStatement, catalog: &Catalog, warned: usize) -> Result<Vec<Diagnostic>, Error> {
    let RuleStatement { rule, beside, .. } = statement;
    analysis::check_rule(rule, beside, catalog, warned < MAX_WARNINGS).map_err(|errors| refused(&errors))
}

/// Other rules that read the head with another number of columns, and that nobody can ask until they follow.
fn left_behind(rule: &Rule, catalog: &Catalog) -> Option<Diagnostic> {
    let (name, arity) = (&rule.head.relation.text, rule.head.head_columns());
    let reads_otherwise = |clause: &Arc<Rule>| {
        plain_literals(&clause.body).into_iter().any(|(literal, _)| match &literal.kind {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => {
                atom.relation.text == *name && atom.terms.len() != arity
            }
            _ => false,
        })
    };
    let readers = catalog.uses().readers(name).filter(|reader| reader != name);
    let left: Vec<&str> = readers.filter(|head| catalog.rules(head).iter().any(reads_otherwise)).collect();
    let first = left.first()?;
    let (columns, more) = (
        counted(arity, "column"),
        match left.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        },
    );
    let message = format!("{name} has {columns} now, and rules of {first}{more} read it with another number");
    Some(
        Diagnostic::warning(Code::ArityMismatch, message)
            .at(rule.head.span)
            .help("queries that need them are refused until they are replaced, too"),
    )
}

pub(super) fn drop(name: &Name, context: &mut Context<'_>) -> Result<String, Error> {
    let (counts, ()) = context.write(|snapshot, _| {
        let catalog = snapshot.catalog();
        if !catalog.has_rule(&name.text) {
            return Err(Error::refused(analysis::unknown_rule(&name.text, Some(name.span), catalog)));
        }
        Ok((vec![Change::RemoveRules(name.text.clone())], ()))
    })?;
    Ok(format!("dropped {} of {}", counted(counts.iter().sum(), "clause"), name.text))
}
