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
                warnings.extend(check(&statement.rule, &catalog, warnings.len())?);
                let remove = is_replacing.then(|| Change::RemoveRules(name.clone()));
                Ok((remove.into_iter().chain([add]).collect(), is_replacing))
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
            context.warnings.extend(check(&statement.rule, view.catalog(), warned)?);
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
