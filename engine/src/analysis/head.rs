//! The head of a clause: expressions, aggregates, and rankings, which are several columns each.

use super::builder::{Builder, Head};
use super::error::{AnalysisError, Role};
use super::near::near_names;
use super::program::{Expression, HeadTerm, Ranking};
use super::safety::Use;
use crate::aggregates::{self, AGGREGATES, Aggregate, AggregateOption, RANKINGS};
use crate::catalog::Catalog;
use crate::data::{Value, VariableId, float_of};
use crate::diagnostic::Span;
use crate::syntax::ast::{self, TermKind};
use crate::syntax::{Ranked, read_ranking};

/// Refuses a ranking that differs from those of earlier clauses of the same head.
pub(super) fn check_same_ranking(rule: &ast::Rule, catalog: &Catalog) -> Result<(), AnalysisError> {
    let Some((form, span)) = ranking_form(rule) else { return Ok(()) };
    let relation = &rule.head.relation.text;
    match catalog.rules(relation).iter().find_map(|known| ranking_form(known)) {
        Some((expected, _)) if expected != form => {
            Err(AnalysisError::MixedRankings { relation: relation.clone(), expected, found: form, span })
        }
        _ => Ok(()),
    }
}

/// The ranking of a head without its columns, as in `top_k<3, :desc>`.
fn ranking_form(rule: &ast::Rule) -> Option<(String, Span)> {
    rule.head.terms.iter().find_map(|term| {
        let TermKind::Aggregate { function, arguments } = &term.kind else { return None };
        let ranking = aggregates::Ranking::named(&function.text)?;
        let direction = read_ranking(ranking, arguments, term.span).ok()?.direction;
        let mut parts: Vec<String> = arguments[..ranking.numbers()].iter().map(ToString::to_string).collect();
        parts.push(if direction == ast::Direction::Descending { ":desc" } else { ":asc" }.into());
        Some((format!("{}<{}>", ranking.name(), parts.join(", ")), term.span))
    })
}

impl Builder<'_, '_> {
    /// Resolves a head.
    pub(super) fn head(&mut self, terms: &[ast::Term]) -> Head {
        let mut head = Head { columns: Vec::with_capacity(terms.len()), ranking: None };
        let mut ranked: Option<&ast::Term> = None;
        for term in terms {
            if let TermKind::Aggregate { function, arguments } = &term.kind
                && let Some(ranking) = aggregates::Ranking::named(&function.text)
            {
                if ranked.replace(term).is_some() {
                    self.ranking_beside(term);
                }
                self.ranking(ranking, arguments, term.span, &mut head);
            } else {
                head.columns.push((self.head_term(term), term.span));
            }
        }
        let simple = terms
            .iter()
            .find(|term| matches!(term.kind, TermKind::Aggregate { .. }) && term.ranked_columns().is_none());
        if let (Some(_), Some(simple)) = (ranked, simple) {
            self.ranking_beside(simple);
        }
        head
    }

    fn ranking_beside(&mut self, term: &ast::Term) {
        self.errors().push(AnalysisError::RankingBeside { aggregate: term.to_string(), span: term.span });
    }

    /// The columns of a ranking.
    fn ranking(
        &mut self,
        ranking: aggregates::Ranking,
        arguments: &[ast::AggregateArgument],
        span: Span,
        head: &mut Head,
    ) {
        let first = head.columns.len();
        for argument in arguments {
            if let TermKind::Parameter(name) = &argument.term.kind {
                let (name, span) = (name.clone(), argument.term.span);
                self.errors().push(AnalysisError::Parameter { name, span });
            }
        }
        let Ranked { count, bound, columns, by, direction } = match read_ranking(ranking, arguments, span) {
            Ok(ranked) => ranked,
            Err((fault, span)) => {
                self.errors().push(AnalysisError::RankingArguments { ranking, fault, span });
                arguments.iter().for_each(|argument| self.excuse(&argument.term));
                return;
            }
        };
        for column in columns {
            let term = self.aggregated(ranking.name(), &column.term).map(Expression::Variable);
            head.columns.push((term.map(HeadTerm::Expression), column.term.span));
        }
        let columns = first..head.columns.len();
        head.ranking = Some(Ranking {
            columns,
            by: first + by,
            direction,
            count,
            bound,
            search: None,
            is_numbered: false,
        });
    }

    /// The variable that is aggregated.
    fn aggregated(&mut self, aggregate: &str, term: &ast::Term) -> Option<VariableId> {
        let TermKind::Variable(variable) = &term.kind else {
            self.errors().push(AnalysisError::AggregateOfExpression {
                aggregate: aggregate.to_owned(),
                found: term.to_string(),
                span: term.span,
            });
            self.excuse(term);
            return None;
        };
        let variable = self.variable(variable);
        self.uses.push(Use { variable, role: Role::Aggregate, span: term.span });
        Some(variable)
    }

    fn head_term(&mut self, term: &ast::Term) -> Option<HeadTerm> {
        match &term.kind {
            TermKind::Aggregate { function, arguments } => {
                let aggregate = self.aggregate(function, arguments, term.span);
                if aggregate.is_none() {
                    arguments.iter().for_each(|argument| self.excuse(&argument.term));
                }
                aggregate
            }
            TermKind::Variable(_)
            | TermKind::Placeholder
            | TermKind::Constant(_)
            | TermKind::Parameter(_)
            | TermKind::Arithmetic { .. }
            | TermKind::Call { .. } => self.used_expression(term, Role::Head).map(HeadTerm::Expression),
        }
    }

    fn aggregate(
        &mut self,
        function: &ast::Name,
        arguments: &[ast::AggregateArgument],
        span: Span,
    ) -> Option<HeadTerm> {
        let name = || function.text.clone();
        let Some(aggregate) = Aggregate::named(&function.text) else {
            let near = near_names(&function.text, names());
            self.errors().push(AnalysisError::UnknownAggregate {
                aggregate: name(),
                near,
                span: function.span,
            });
            return None;
        };
        let (term, option) = match arguments {
            [ast::AggregateArgument { term, order: None }, rest @ ..] => {
                (Some(term), option(aggregate, rest))
            }
            _ => (None, None),
        };
        let (Some(term), Some(option)) = (term, option) else {
            let found = ast::Term {
                kind: TermKind::Aggregate { function: function.clone(), arguments: arguments.to_vec() },
                span,
            };
            let found = found.to_string();
            self.errors().push(AnalysisError::AggregateArguments { aggregate, found, span });
            return None;
        };
        let argument = self.aggregated(&function.text, term)?;
        Some(HeadTerm::Aggregate { function: aggregate, argument, option })
    }
}

/// What stands after the variable of an aggregate, if that may stand there.
fn option(aggregate: Aggregate, rest: &[ast::AggregateArgument]) -> Option<Option<Value>> {
    let value = match rest {
        [] => None,
        [ast::AggregateArgument { term: ast::Term { kind: TermKind::Constant(value), .. }, order: None }] => {
            Some(value)
        }
        _ => return None,
    };
    let is_portion =
        |value: &Value| value.as_ref().as_number().is_some_and(|n| (0.0..=1.0).contains(&float_of(n)));
    let is_offset = |value: &Value| value.as_ref().as_number().is_some_and(|n| float_of(n) >= 0.0);
    match (aggregate.option(), value) {
        (None | Some(AggregateOption::Separator | AggregateOption::Offset), None) => Some(None),
        (Some(AggregateOption::Portion), Some(value)) if is_portion(value) => Some(Some(value.clone())),
        (Some(AggregateOption::Separator), Some(value @ Value::Text(_))) => Some(Some(value.clone())),
        (Some(AggregateOption::Offset), Some(value)) if is_offset(value) => Some(Some(value.clone())),
        _ => None,
    }
}

/// The names of all aggregates.
fn names() -> impl Iterator<Item = &'static str> {
    AGGREGATES.iter().map(|aggregate| aggregate.name()).chain(RANKINGS.iter().map(|ranking| ranking.name()))
}
