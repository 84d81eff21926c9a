//! Programs as text.

use std::fmt;

use super::{
    Aggregate, Arithmetic, Asked, Atom, Comparison, Direction, Expression, Goal, HeadTerm, Keeps, Literal,
    Overlay, Program, Ranking, Rule, Target, Term, Write,
};
use crate::value::Row;

/// Each part of a program is a text of its own: see [`Program::statements`].
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let statements = self.statements().into_iter().chain(self.session.statements());
        statements.chain([self.goal.to_string()]).try_for_each(|statement| writeln!(f, "{statement}"))
    }
}

impl Program {
    /// What all sessions see.
    pub fn statements(&self) -> Vec<String> {
        let facts = self.facts.iter().map(|(relation, rows)| Facts("+", relation, rows).to_string());
        let rules = self.rules.iter().map(|rule| format!("+{rule}"));
        facts.chain(rules).chain(self.writes.iter().map(Write::to_string)).collect()
    }
}

impl Overlay {
    /// What only the session sees.
    pub fn statements(&self) -> Vec<String> {
        let facts = self.facts.iter().map(|(relation, rows)| Facts("", relation, rows).to_string());
        facts.chain(self.rules.iter().map(Rule::to_string)).collect()
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Write::Delete { target, body } => write!(f, "-{target} <- {}", list(body)),
            Write::Update { deletes, inserts, body } => {
                let deletes = deletes.iter().map(|target| format!("-{target}"));
                let targets: Vec<String> =
                    deletes.chain(inserts.iter().map(|target| format!("+{target}"))).collect();
                write!(f, "{} <- {}", targets.join(", "), list(body))
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.relation, list(&self.terms))
    }
}

/// A bulk statement: `+`, `-` or, for the session, nothing; the relation; its rows.
pub struct Facts<'a, R>(pub &'a str, pub &'a str, pub R);

impl<'a, R: IntoIterator<Item = &'a Row> + Copy> fmt::Display for Facts<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<String> = self.2.into_iter().map(|row| format!("({})", list(row))).collect();
        write!(f, "{}{}[{}]", self.0, self.1, rows.join(", "))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}) <- {}", self.head, list(&self.terms), list(&self.body))
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let marks = || self.order.iter().chain(std::iter::repeat(&None));
        let mut conditions: Vec<String> = self.body.iter().map(Literal::to_string).collect();
        conditions.extend(self.limit.map(|(count, offset)| match offset {
            0 => format!("limit({count})"),
            offset => format!("limit({count}, {offset})"),
        }));
        let conditions = conditions.join(", ");
        match &self.asked {
            Asked::Atom(atom) => {
                let terms: Vec<String> =
                    atom.terms.iter().zip(marks()).map(|(term, mark)| marked(term, *mark)).collect();
                let comma = if conditions.is_empty() { "" } else { ", " };
                write!(f, "?{}({}){comma}{conditions}", atom.relation, terms.join(", "))
            }
            Asked::Projection(terms) => {
                let terms: Vec<String> =
                    terms.iter().zip(marks()).map(|(term, mark)| marked(term, *mark)).collect();
                write!(f, "?{} <- {conditions}", terms.join(", "))
            }
        }
    }
}

fn marked(term: &impl fmt::Display, mark: Option<Direction>) -> String {
    match mark {
        None => term.to_string(),
        Some(Direction::Ascending) => format!("{term}:asc"),
        Some(Direction::Descending) => format!("{term}:desc"),
    }
}

fn list<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for HeadTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeadTerm::Expression(expression) => expression.fmt(f),
            HeadTerm::Aggregate(aggregate @ Aggregate::Quantile(quarters), variable) if *quarters != 2 => {
                write!(f, "{}<{variable}, {}>", aggregate.name(), f64::from(*quarters) / 4.0)
            }
            HeadTerm::Aggregate(Aggregate::StringAgg, variable) => write!(f, "string_agg<{variable}, \"+\">"),
            HeadTerm::Aggregate(aggregate, variable) => write!(f, "{}<{variable}>", aggregate.name()),
            HeadTerm::Ranking(ranking) => ranking.fmt(f),
        }
    }
}

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.keeps {
            Keeps::Best(count) => write!(f, "top_k<{count}")?,
            Keeps::BestFrom(count, bound) => write!(f, "top_k_threshold<{count}, {bound}")?,
            Keeps::Within(bound) => write!(f, "within_radius<{bound}")?,
        }
        for (i, variable) in self.variables.iter().enumerate() {
            write!(f, ", {}", marked(variable, (i == self.by).then_some(self.direction)))?;
        }
        f.write_str(">")
    }
}

impl Aggregate {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Aggregate::Count => "count",
            Aggregate::CountDistinct => "count_distinct",
            Aggregate::Sum => "sum",
            Aggregate::Min => "min",
            Aggregate::Max => "max",
            Aggregate::First => "first",
            Aggregate::Last => "last",
            Aggregate::Avg => "avg",
            Aggregate::Quantile(2) => "median",
            Aggregate::Quantile(_) => "quantile",
            Aggregate::Stddev => "stddev",
            Aggregate::StringAgg => "string_agg",
            Aggregate::Collect => "collect",
        }
    }
}

fn conjunction(body: &[Literal]) -> String {
    body.iter().map(Literal::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Atom(atom) => atom.fmt(f),
            Literal::Negated(atom) => write!(f, "!{atom}"),
            Literal::Comparison(left, operator, right) => write!(f, "{left} {} {right}", operator.symbol()),
            Literal::Disjunction(alternatives) => {
                let alternatives: Vec<String> = alternatives.iter().map(|body| conjunction(body)).collect();
                write!(f, "({})", alternatives.join(" or "))
            }
            Literal::NegatedConjunction(inner) => write!(f, "!({})", conjunction(inner)),
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.relation, list(&self.terms))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Variable(name) => f.write_str(name),
            Term::Constant(value) => value.fmt(f),
            Term::Placeholder => f.write_str("_"),
            Term::Computed(expression) => expression.fmt(f),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Variable(name) => f.write_str(name),
            Expression::Constant(value) => value.fmt(f),
            Expression::Arithmetic(left, operator, right) => {
                write!(f, "{} {} {}", Operand(left), operator.symbol(), Operand(right))
            }
            Expression::Call(function, arguments) => write!(f, "{}({})", function.name, list(arguments)),
        }
    }
}

/// An operand: in parentheses where it is itself an operation.
struct Operand<'a>(&'a Expression);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Expression::Arithmetic(..) => write!(f, "({})", self.0),
            Expression::Variable(_) | Expression::Constant(_) | Expression::Call(..) => self.0.fmt(f),
        }
    }
}

impl Arithmetic {
    fn symbol(self) -> char {
        match self {
            Arithmetic::Add => '+',
            Arithmetic::Subtract => '-',
            Arithmetic::Multiply => '*',
            Arithmetic::Divide => '/',
            Arithmetic::Remainder => '%',
        }
    }
}

impl Comparison {
    fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}
