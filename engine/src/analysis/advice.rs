//! What to do about the errors of the analysis.

use super::elsewhere::written_here;
use super::error::{AnalysisError, Role};
use super::types;
use crate::aggregates::{AGGREGATES, Aggregate};
use crate::data::{DataType, time};
use crate::functions::{Takes, calendar, functions};
use crate::syntax::ast::Arithmetic;

impl AnalysisError {
    /// Advice, where there is any.
    pub(super) fn help(&self) -> Option<String> {
        match self {
            AnalysisError::InFiles { relation } => Some(format!(
                "live queries, kept views, proofs and deletes read what is stored: import the files instead, `.rel drop {relation}` and `stratalog import {relation} FILE`"
            )),
            AnalysisError::RuleOfAttached { relation, .. } => {
                Some(format!("give the rule another head, which may read `{relation}`; `.session clear` drops rules of the session"))
            }
            AnalysisError::UnknownRelation { relation, .. } if relation == "limit" => Some(
                "`limit(10)` stands alone behind the conditions of a query, in no parentheses: `?p(X), limit(10)`".into(),
            ),
            AnalysisError::UnknownRelation { relation, near, .. } => Some(match near.as_slice() {
                [] => {
                    let function = written_here(relation)
                        .map(|here| format!("; if a function is meant, {here}"))
                        .unwrap_or_default();
                    format!(
                        "insert facts with `+{relation}(..)` or declare it first; `.rel` lists what there is{function}"
                    )
                }
                near => did_you_mean(near),
            }),
            AnalysisError::Arity { expected, found, .. } => Some(if expected > found {
                "write `_` for columns that may hold anything".into()
            } else {
                "`.rel describe` shows the columns".into()
            }),
            AnalysisError::UnknownFunction { function, is_relation: true, .. } => {
                Some(format!("`{function}` is a relation: write it as a condition, as in `?{function}(X)`"))
            }
            AnalysisError::UnknownFunction { function, argument, .. }
                if Aggregate::named(function).is_some() =>
            {
                let (aggregate, of) = (function.to_ascii_lowercase(), argument.as_deref().unwrap_or("X"));
                Some(format!("an aggregate stands in angle brackets, alone in its column: `{aggregate}<{of}>`"))
            }
            AnalysisError::UnknownFunction { function: name, .. }
            | AnalysisError::UnknownAggregate { aggregate: name, .. }
                if written_here(name).is_some() =>
            {
                written_here(name)
            }
            AnalysisError::UnknownFunction { near, .. } if near.is_empty() => {
                Some("the manual lists all functions: docs/functions.md".into())
            }
            AnalysisError::UnknownFunction { near, .. } => Some(did_you_mean(near)),
            AnalysisError::MisplacedEach { .. } => {
                Some("write `X in L`, or `X = each(L)`, and compute with `X`".into())
            }
            AnalysisError::ArgumentText { takes: Takes::Time, text, .. } if calendar::is_unit(text) => {
                Some(format!("the unit stands first: `date_trunc(\"{text}\", T)`"))
            }
            AnalysisError::ArgumentText { takes: Takes::Time, text, .. } if calendar::is_duration(text) => {
                Some("write durations as `days(2)` or `hours(2)`; `add_months` knows the calendar".into())
            }
            AnalysisError::ArgumentText { takes, .. } => Some(takes.meaning().1.into()),
            AnalysisError::FunctionArguments { function, found, .. } => {
                let also = functions()
                    .find(|other| other.name.starts_with(function.name) && other.accepts_count(*found))
                    .map(|other| format!(" or `{}`", other.signature()));
                Some(format!("write `{}`{}", function.signature(), also.unwrap_or_default()))
            }
            AnalysisError::NoList { found: DataType::Text, .. } => {
                Some("write lists as `[\"a\", \"b\"]`; `split(S, \" \")` makes one of text".into())
            }
            AnalysisError::NoList { .. } => Some("write lists as `[\"a\", \"b\"]` or `list(1, 2)`".into()),
            AnalysisError::FunctionArgument { expected: Takes::Time, found: DataType::Text, .. } => {
                Some(time::HOW_TO_WRITE.into())
            }
            AnalysisError::FunctionArgument { .. } => {
                Some("of such a column the result is always null: use another one, or convert it".into())
            }
            AnalysisError::UnknownAggregate { near, .. } if near.is_empty() => {
                let names =
                    AGGREGATES.iter().map(|aggregate| aggregate.name()).collect::<Vec<_>>().join(", ");
                let rankings = "top_k, top_k_threshold and within_radius";
                Some(format!("there are {names}, {rankings}"))
            }
            AnalysisError::UnknownAggregate { near, .. } => Some(did_you_mean(near)),
            AnalysisError::AggregateArguments { aggregate, .. } => {
                Some(format!("write `{}`", aggregate.usage()))
            }
            AnalysisError::AggregateOfExpression { aggregate, .. } => {
                Some(format!("compute it in the body, as in `{aggregate}<Y>` with `Y = X * 2`"))
            }
            AnalysisError::RankingArguments { ranking, .. } => {
                Some(format!("write it as in `{}`", ranking.usage()))
            }
            AnalysisError::RankingBeside { .. } => {
                Some("rank in one rule, and aggregate over it in another".into())
            }
            AnalysisError::MixedRankings { .. } => {
                Some("rank all clauses alike, or derive another relation".into())
            }
            AnalysisError::MisplacedAggregate { .. } => {
                Some("aggregate in a rule, and use its result here".into())
            }
            AnalysisError::TooManyColumns { .. } => {
                Some("list the columns you need before `<-`, as in `?X, Y <- edge(X, Y)`".into())
            }
            AnalysisError::EmptyBody { .. } => Some("write facts without `<-`, as in `+edge(1, 2)`".into()),
            AnalysisError::Unbound { variable, role, .. } => Some(match role {
                Role::Negation => {
                    format!("bind `{variable}` in a positive condition, or write `_` if any value will do")
                }
                Role::Alternative => format!(
                    "what is used outside of alternatives is bound by each of them: use `{variable}` in this one too"
                ),
                Role::Head | Role::Aggregate | Role::Comparison => format!(
                    "use `{variable}` in a positive condition such as `p({variable})`, or set it: `{variable} = ..`"
                ),
            }),
            AnalysisError::Placeholder { .. } => {
                Some("name it: a variable that a positive condition binds, such as `X`".into())
            }
            AnalysisError::Parameter { name, .. } => {
                Some(format!("send `{name}` in `params` with the program"))
            }
            AnalysisError::Join { .. } => Some("use two variables, and compare what can be compared".into()),
            AnalysisError::Constant { expected: DataType::Timestamp, .. }
            | AnalysisError::Comparison { left: DataType::Timestamp, right: DataType::Text, .. }
            | AnalysisError::Comparison { left: DataType::Text, right: DataType::Timestamp, .. } => {
                Some(time::HOW_TO_WRITE.into())
            }
            AnalysisError::Constant { expected: DataType::List, found: DataType::Vector(_), .. } => {
                Some("numbers alone in brackets are a vector: write `list(1, 2)`".into())
            }
            AnalysisError::Constant { expected, .. } => Some(format!("write a constant of type {expected}")),
            AnalysisError::Comparison { left, right, .. } => Some(types::of_one_type(*left, *right).into()),
            AnalysisError::Arithmetic { operator, found: DataType::Text, .. } if *operator != Arithmetic::Add => Some(
                "`to_float` reads a number of text, `to_time` a time".into(),
            ),
            AnalysisError::Arithmetic { found: DataType::Text, .. } => Some(
                "numbers are added; `concat(X, Y)` puts texts together, `to_float` reads a number".into(),
            ),
            AnalysisError::Arithmetic { found: DataType::List, .. } => {
                Some("numbers are added; `append(L, X)` and `extend(L, M)` put lists together".into())
            }
            AnalysisError::Arithmetic { .. } => {
                Some("of such an operand the result is always null: use numbers on both sides".into())
            }
            AnalysisError::Head { expected, .. } => {
                Some(format!("derive values of type {expected}, or declare the column differently"))
            }
            AnalysisError::Unstratifiable { negation: true, .. } => {
                Some("derive what is negated by rules that do not depend on its negation".into())
            }
            AnalysisError::Unstratifiable { negation: false, .. } => Some(
                "let the recursion finish in one relation, and aggregate over it in another; only `min` and `max` may recur, where \
                 values of one type are handed on, added to, or bounded by `min_val` and `max_val`"
                    .into(),
            ),
            AnalysisError::Search { fault, .. } => Some(fault.help()),
            AnalysisError::InRule { error, .. } => error.help(),
        }
    }
}

impl AnalysisError {
    /// What could be written in the place of the error.
    pub(super) fn fixes(&self) -> Vec<String> {
        match self {
            AnalysisError::UnknownRelation { near, .. } | AnalysisError::UnknownAggregate { near, .. } => {
                near.clone()
            }
            AnalysisError::UnknownFunction { function, is_relation: false, near, .. }
                if Aggregate::named(function).is_none() && written_here(function).is_none() =>
            {
                near.clone()
            }
            AnalysisError::Unbound { role: Role::Negation, .. } => vec!["_".to_owned()],
            AnalysisError::Constant {
                expected: DataType::List, found: DataType::Vector(_), value, ..
            } => {
                let elements = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                elements.map(|elements| format!("list({elements})")).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

fn did_you_mean(near: &[String]) -> String {
    let names: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("did you mean {}?", names.join(" or "))
}
