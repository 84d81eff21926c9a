//! `+rule`, `-rule`, and rules of the session.

use std::sync::Arc;

use super::query::refused;
use super::{counted, place};
use crate::analysis;
use crate::catalog::Catalog;
use crate::context::{Context, MAX_WARNINGS};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::graph::Change;
use crate::syntax::ast::{Name, Rule, RuleStatement, Scope};

pub(super) fn run(statement: &RuleStatement, context: &mut Context<'_>) -> Result<String, Error> {
    let name = &statement.rule.head.relation.text;
    let change = || vec![Change::AddRule(Arc::new(statement.rule.clone()))];
    match statement.scope {
        Scope::Persistent => {
            context.write(|snapshot, warnings| {
                warnings.extend(check(&statement.rule, snapshot.catalog(), warnings.len())?);
                Ok((change(), ()))
            })?;
        }
        Scope::Session => {
            let view = context.view();
            let warned = context.warnings.len();
            context.warnings.extend(check(&statement.rule, view.catalog(), warned)?);
            context.lay(context.overlay.apply(&change()).0)?;
        }
    }
    Ok(format!("registered a rule for {name}{}", place(statement.scope)))
}

/// When so many warnings were given the next ones are not shown, so nothing is looked up for them.
fn check(rule: &Rule, catalog: &Catalog, warned: usize) -> Result<Vec<Diagnostic>, Error> {
    analysis::check_rule(rule, catalog, warned < MAX_WARNINGS).map_err(|errors| refused(&errors))
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
