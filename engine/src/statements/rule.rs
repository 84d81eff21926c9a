//! `+rule`, `-rule`, and rules of the session.

use std::sync::Arc;

use super::query::refused;
use super::{counted, place};
use crate::analysis;
use crate::context::Context;
use crate::error::Error;
use crate::graph::Change;
use crate::syntax::ast::{Name, RuleStatement, Scope};

pub(super) fn run(statement: &RuleStatement, context: &mut Context<'_>) -> Result<String, Error> {
    let name = &statement.rule.head.relation.text;
    let change = || vec![Change::AddRule(Arc::new(statement.rule.clone()))];
    match statement.scope {
        Scope::Persistent => {
            context.write(|snapshot, warnings| {
                warnings.extend(
                    analysis::check_rule(&statement.rule, snapshot.catalog())
                        .map_err(|errors| refused(&errors))?,
                );
                Ok((change(), ()))
            })?;
        }
        Scope::Session => {
            let view = context.view();
            context.warnings.extend(
                analysis::check_rule(&statement.rule, view.catalog()).map_err(|errors| refused(&errors))?,
            );
            context.lay(context.overlay.apply(&change()).0)?;
        }
    }
    Ok(format!("registered a rule for {name}{}", place(statement.scope)))
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
