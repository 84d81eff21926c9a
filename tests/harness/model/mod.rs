//! A program as the tests see it: facts, rules, writes, a session's own facts and rules, one goal. It prints as text in
//! the language.

mod print;

use std::collections::{BTreeMap, BTreeSet};

pub use self::print::Facts;
use crate::functions::Function;
use crate::value::{Row, Value};

/// Rows by relation.
pub type Relations = BTreeMap<String, BTreeSet<Row>>;

/// Everything that one answer depends on.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Stored rows.
    pub facts: Relations,
    /// Rules, in the order of registration.
    pub rules: Vec<Rule>,
    /// What happens to the facts when the rules are there.
    pub writes: Vec<Write>,
    /// What only the session has.
    pub session: Overlay,
    /// The question.
    pub goal: Goal,
}

/// Facts and rules of a session.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// Its facts.
    pub facts: Relations,
    /// Its rules.
    pub rules: Vec<Rule>,
}

/// A change that depends on what there is.
#[derive(Debug, Clone)]
pub enum Write {
    /// `-target <- body`.
    Delete {
        /// What is deleted: a condition like those of the body, without which nothing can be deleted.
        target: Atom,
        /// The conditions.
        body: Vec<Literal>,
    },
    /// `-target, .., +target, .. <- body`.
    Update {
        /// What is deleted first.
        deletes: Vec<Target>,
        /// What is inserted then.
        inserts: Vec<Target>,
        /// The conditions.
        body: Vec<Literal>,
    },
}

/// A row for each solution.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where it is stored.
    pub relation: String,
    /// One term a column.
    pub terms: Vec<Expression>,
}

/// `head(terms) <- body`.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The relation it derives.
    pub head: String,
    /// One term a column.
    pub terms: Vec<HeadTerm>,
    /// The conditions.
    pub body: Vec<Literal>,
}

impl Rule {
    /// Whether some column is an aggregate; the others are then the group.
    pub fn aggregates(&self) -> bool {
        aggregates(&self.terms)
    }

    /// Whether the rule keeps the best row of each group, itself among what it reads.
    pub fn recurs_through_aggregate(&self) -> bool {
        let reads = |literal: &Literal| matches!(literal, Literal::Atom(atom) if atom.relation == self.head);
        self.aggregates() && self.body.iter().any(reads)
    }
}

/// Whether some column of a head is an aggregate.
pub fn aggregates(terms: &[HeadTerm]) -> bool {
    terms.iter().any(|term| matches!(term, HeadTerm::Aggregate(..) | HeadTerm::Ranking(_)))
}

/// One column of a head.
#[derive(Debug, Clone)]
pub enum HeadTerm {
    /// A value for each solution.
    Expression(Expression),
    /// A value for each group.
    Aggregate(Aggregate, String),
    /// Columns of the best solutions of each group.
    Ranking(Ranking),
}

/// A ranking aggregate.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// Which solutions are kept.
    pub keeps: Keeps,
    /// One column each.
    pub variables: Vec<String>,
    /// Which of them decides.
    pub by: usize,
    /// Which end of it is best.
    pub direction: Direction,
}

/// Which solutions a ranking keeps.
#[derive(Debug, Clone)]
pub enum Keeps {
    /// So many.
    Best(usize),
    /// So many of those that reach the number.
    BestFrom(usize, Value),
    /// All that are not above the number.
    Within(Value),
}

/// The aggregates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregate {
    /// Number of solutions.
    Count,
    /// Number of distinct values.
    CountDistinct,
    /// Sum of the numbers.
    Sum,
    /// Smallest value but Null.
    Min,
    /// Largest value but Null.
    Max,
    /// First value but Null in the order of all.
    First,
    /// Last value but Null in the order of all.
    Last,
    /// Mean of the numbers.
    Avg,
    /// The value below which so many quarters of the numbers lie.
    Quantile(u8),
    /// Standard deviation of a sample.
    Stddev,
    /// Strings in their order.
    StringAgg,
    /// All values in their order, in a list.
    Collect,
}

/// A condition.
#[derive(Debug, Clone)]
pub enum Literal {
    /// Some row matches.
    Atom(Atom),
    /// No row matches.
    Negated(Atom),
    /// Both sides compare so. `V = e` may give V its value where no atom of the body has V in a column.
    Comparison(Expression, Comparison, Expression),
    /// One of these holds.
    Disjunction(Vec<Vec<Literal>>),
    /// Not all of these hold, whatever values the variables have that stand in it alone.
    NegatedConjunction(Vec<Literal>),
}

impl Literal {
    /// The relations that it reads, each with whether that is under a negation.
    pub fn reads(&self) -> Vec<(&str, bool)> {
        match self {
            Literal::Atom(atom) => vec![(&atom.relation, false)],
            Literal::Negated(atom) => vec![(&atom.relation, true)],
            Literal::Comparison(..) => Vec::new(),
            Literal::Disjunction(alternatives) => {
                alternatives.iter().flatten().flat_map(Literal::reads).collect()
            }
            Literal::NegatedConjunction(inner) => {
                inner.iter().flat_map(Literal::reads).map(|(relation, _)| (relation, true)).collect()
            }
        }
    }
}

/// `relation(terms)`.
#[derive(Debug, Clone, Default)]
pub struct Atom {
    /// The relation.
    pub relation: String,
    /// One term a column.
    pub terms: Vec<Term>,
}

/// A term of an atom.
#[derive(Debug, Clone)]
pub enum Term {
    /// The same value wherever the name occurs.
    Variable(String),
    /// This value; numbers match numbers of the same value.
    Constant(Value),
    /// Anything.
    Placeholder,
    /// What equals this by value.
    Computed(Expression),
}

/// A scalar expression.
#[derive(Debug, Clone)]
pub enum Expression {
    /// A variable's value.
    Variable(String),
    /// This value.
    Constant(Value),
    /// An operation on two numbers.
    Arithmetic(Box<Expression>, Arithmetic, Box<Expression>),
    /// A function of its arguments.
    Call(&'static Function, Vec<Expression>),
}

/// The arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, always a float.
    Divide,
    /// `%`, with the sign of the dividend.
    Remainder,
}

/// The comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// `?atom, body, limit(..)` or `?terms <- body, limit(..)`.
#[derive(Debug, Clone, Default)]
pub struct Goal {
    /// What is asked for.
    pub asked: Asked,
    /// The order mark of each of its terms.
    pub order: Vec<Option<Direction>>,
    /// The conditions.
    pub body: Vec<Literal>,
    /// At most so many rows, after skipping so many.
    pub limit: Option<(usize, usize)>,
}

/// What a goal asks for.
#[derive(Debug, Clone)]
pub enum Asked {
    /// The rows of a relation, with every further variable of the body.
    Atom(Atom),
    /// These terms of the body's solutions.
    Projection(Vec<HeadTerm>),
}

impl Default for Asked {
    fn default() -> Asked {
        Asked::Atom(Atom::default())
    }
}

/// An order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl Expression {
    /// The variables, from left to right.
    pub fn variables(&self) -> Vec<&str> {
        match self {
            Expression::Variable(name) => vec![name],
            Expression::Constant(_) => Vec::new(),
            Expression::Arithmetic(left, _, right) => [left.variables(), right.variables()].concat(),
            Expression::Call(_, arguments) => arguments.iter().flat_map(Expression::variables).collect(),
        }
    }
}

impl Goal {
    /// The order mark of each column: a ranking is ordered by the column that decides.
    pub fn column_order(&self) -> Vec<Option<Direction>> {
        let Asked::Projection(terms) = &self.asked else { return self.order.clone() };
        let marks = self.order.iter().copied().chain(std::iter::repeat(None));
        let columns = terms.iter().zip(marks).flat_map(|(term, mark)| match term {
            HeadTerm::Ranking(ranking) => {
                (0..ranking.variables.len()).map(|column| mark.filter(|_| column == ranking.by)).collect()
            }
            HeadTerm::Expression(_) | HeadTerm::Aggregate(..) => vec![mark],
        });
        columns.collect()
    }

    /// The same question with other constants in its atoms: it asks something else in the same words.
    pub fn with_other_constants(&self) -> Goal {
        let mut other = self.clone();
        let asked = match &mut other.asked {
            Asked::Atom(atom) => Some(atom),
            Asked::Projection(_) => None,
        };
        let atoms = other.body.iter_mut().filter_map(|literal| match literal {
            Literal::Atom(atom) => Some(atom),
            _ => None,
        });
        for term in asked.into_iter().chain(atoms).flat_map(|atom| &mut atom.terms) {
            match term {
                Term::Constant(Value::Int(n)) => *n = n.wrapping_add(1),
                Term::Constant(Value::Text(text)) => text.push('!'),
                _ => {}
            }
        }
        other
    }

    /// The relations that it names.
    pub fn relations(&self) -> Vec<&str> {
        let of_body = self.body.iter().flat_map(Literal::reads).map(|(relation, _)| relation);
        match &self.asked {
            Asked::Atom(atom) => std::iter::once(atom.relation.as_str()).chain(of_body).collect(),
            Asked::Projection(_) => of_body.collect(),
        }
    }
}

impl Atom {
    /// The variables that stand for a column, from left to right.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|term| match term {
            Term::Variable(name) => Some(name.as_str()),
            Term::Constant(_) | Term::Placeholder | Term::Computed(_) => None,
        })
    }

    /// All variables, from left to right.
    pub fn all_variables(&self) -> Vec<&str> {
        self.terms
            .iter()
            .flat_map(|term| match term {
                Term::Variable(name) => vec![name.as_str()],
                Term::Computed(expression) => expression.variables(),
                Term::Constant(_) | Term::Placeholder => Vec::new(),
            })
            .collect()
    }
}
