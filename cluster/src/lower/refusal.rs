//! What no plan is made for, and why.

use stratalog_engine::analysis::program::{Expression, HeadTerm, Literal, Program, Rule, Stratum};
use stratalog_engine::data::{MAX_COLUMNS, RelationId};

/// Why a stratum is evaluated in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Refusal {
    /// The best row of each group is kept while rules go on.
    Best,
    /// A relation without columns.
    NoColumns,
    /// Rows are found by an index.
    Search,
    /// `each(List)`.
    Each,
    /// Solutions of more values than a relation has columns are aggregated.
    Wide,
    /// A value that an aggregate is not made for, found on the way: of several, the engine names the smallest.
    Value,
}

impl Refusal {
    /// As profiles say it.
    pub fn why(self) -> &'static str {
        match self {
            Refusal::Best => "a recursion that keeps the best row of each group",
            Refusal::NoColumns => "a relation without columns",
            Refusal::Search => "a search by an index",
            Refusal::Each => "`each` of a list",
            Refusal::Wide => "an aggregate over more values than a relation has columns",
            Refusal::Value => "a value that an aggregate is not made for",
        }
    }
}

/// Why a stratum cannot become plans, if it cannot.
pub(crate) fn refusal(stratum: &Stratum, program: &Program) -> Option<Refusal> {
    let relation = |id: RelationId| &program.relations[id.index()];
    let read = stratum.rules.iter().flat_map(Rule::reads);
    if stratum.relations.iter().any(|id| relation(*id).best.is_some()) {
        return Some(Refusal::Best);
    }
    if stratum.relations.iter().copied().chain(read).any(|id| relation(id).arity == 0) {
        return Some(Refusal::NoColumns);
    }
    stratum.rules.iter().find_map(|rule| {
        if rule.ranking.as_ref().is_some_and(|ranking| ranking.search.is_some()) {
            return Some(Refusal::Search);
        }
        if rule.aggregates() && rule.variables.len() + rule.head_terms.len() > MAX_COLUMNS {
            return Some(Refusal::Wide);
        }
        expressions(rule).into_iter().any(has_each).then_some(Refusal::Each)
    })
}

fn expressions(rule: &Rule) -> Vec<&Expression> {
    let in_head = rule.head_terms.iter().filter_map(|term| match term {
        HeadTerm::Expression(expression) => Some(expression),
        HeadTerm::Aggregate { .. } => None,
    });
    let in_body = rule.body.iter().flat_map(|literal| match literal {
        Literal::Atom(_) | Literal::Negated(_) => Vec::new(),
        Literal::Filter { left, right, .. } => vec![left, right],
        Literal::Assign { expression, .. } => vec![expression],
    });
    in_head.chain(in_body).collect()
}

fn has_each(expression: &Expression) -> bool {
    expression.is_each()
        || match expression {
            Expression::Variable(_) | Expression::Constant(_) => false,
            Expression::Arithmetic { left, right, .. } => has_each(left) || has_each(right),
            Expression::Call { arguments, .. } => arguments.iter().any(has_each),
        }
}
