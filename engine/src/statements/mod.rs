//! Statements at work, one file each.

mod brief;
mod column_names;
mod declare;
mod delete;
mod destination;
mod evaluate;
mod explain;
mod files;
mod fit_arrow;
mod follow;
mod following;
mod insert;
mod insert_arrow;
mod keep;
mod parameters;
mod query;
mod refusal;
mod rule;
mod target;
mod wanted;
mod watch;
mod what_if;
mod whole;
mod why;
mod why_not;

use crate::answer::Rows;
use crate::cluster::EvaluationPlace;
use crate::context::{Context, Question};
use crate::error::Error;
use crate::syntax::ast::{Query, Scope, StatementKind};

pub(crate) use column_names::callable;
pub(crate) use declare::resolve as declared_type;
pub(crate) use delete::retract_rows;
pub(crate) use destination::no_cluster;
pub(crate) use follow::{Told, follow, rehearse};
pub(crate) use following::Following;
pub use insert::Inserted;
pub(crate) use insert::{check_name, insert_rows};
pub(crate) use insert_arrow::{insert_batches, insert_exported};
pub(crate) use keep::keep_up;
pub use parameters::Parameters;
pub(crate) use parameters::{fill, fill_any};
pub(crate) use refusal::refused;
pub(crate) use whole::all_of;

/// Answers a query.
pub(crate) fn answer(query: &Query, context: &mut Context<'_>) -> Result<Rows, Error> {
    query::run(query, context, None)
}

/// Answers what a command asks.
pub(crate) fn answer_question(question: &Question, context: &mut Context<'_>) -> Result<Rows, Error> {
    match question {
        Question::Query(query) => query::run(query, context, None),
        Question::ByCluster(query) => {
            let before = std::mem::replace(&mut context.place, EvaluationPlace::Cluster);
            let answer = query::run(query, context, None);
            context.place = before;
            answer
        }
        Question::Plan(query, form) => explain::run(query, *form, context),
        Question::Profile(query, form) => explain::profile(query, *form, context),
        Question::Stored(name) => query::stored(name, context),
        Question::WhatIf(changes, query) => what_if::run(changes, query, context),
        Question::Impact(changes) => what_if::impact(changes, context),
        Question::WhyNot(query) => why_not::run(query, context),
        Question::Why(query, detail) => why::run(query, *detail, context),
    }
}

/// Runs a statement that is neither query nor command; answers one sentence.
pub(crate) fn run_one(kind: &StatementKind, context: &mut Context<'_>) -> Result<String, Error> {
    match kind {
        StatementKind::Insert(insert) => insert::run(insert, context),
        StatementKind::Delete(delete) => delete::run(delete, context),
        StatementKind::DeleteWhere(delete) => delete::run_where(delete, context),
        StatementKind::Update(update) => delete::run_update(update, context),
        StatementKind::DropRule(name) => rule::drop(name, context),
        StatementKind::Rule(rule) => rule::run(rule, context),
        StatementKind::Declare(declare) => declare::run(declare, context),
        StatementKind::DeclareType(declare) => declare::run_type(declare, context),
        StatementKind::Query(_) | StatementKind::Command(_) => {
            Err(Error::internal("statements", "queries and commands are run by `program`"))
        }
    }
}

/// Where a write goes, in words.
fn place(scope: Scope) -> &'static str {
    match scope {
        Scope::Persistent => "",
        Scope::Session => " for this session",
    }
}

/// `1 fact`, `2 facts`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
