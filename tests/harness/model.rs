//! A program as the tests see it: facts, rules, one goal. It prints as text in the language.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::value::{Row, Value};

/// Everything that one answer depends on.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// Stored rows by relation.
    pub facts: BTreeMap<String, BTreeSet<Row>>,
    /// Rules, in the order of registration.
    pub rules: Vec<Rule>,
    /// The question.
    pub goal: Goal,
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
        self.terms.iter().any(|term| matches!(term, HeadTerm::Aggregate(..)))
    }
}

/// One column of a head.
#[derive(Debug, Clone)]
pub enum HeadTerm {
    /// A value for each solution.
    Expression(Expression),
    /// A value for each group.
    Aggregate(Aggregate, String),
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
    /// Mean of the numbers.
    Avg,
}

/// A condition.
#[derive(Debug, Clone)]
pub enum Literal {
    /// Some row matches.
    Atom(Atom),
    /// No row matches.
    Negated(Atom),
    /// Both sides compare so. `V = e` gives V its value where no atom of the body has V.
    Comparison(Expression, Comparison, Expression),
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
    Call(Function, Vec<Expression>),
}

/// Some of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// The number without its sign.
    Abs,
    /// The smaller of two.
    MinVal,
    /// The larger of two.
    MaxVal,
    /// The length of a string.
    Len,
    /// The string in upper case.
    Upper,
    /// Values as one string.
    Concat,
    /// The number as a float.
    ToFloat,
    /// The number without its fraction.
    ToInt,
    /// -1, 0 or 1.
    Sign,
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

/// `?atom, body, limit(..)`.
#[derive(Debug, Clone, Default)]
pub struct Goal {
    /// The goal.
    pub atom: Atom,
    /// The order mark of each of its columns: ascending or descending.
    pub order: Vec<Option<Direction>>,
    /// Further conditions.
    pub body: Vec<Literal>,
    /// At most so many rows, after skipping so many.
    pub limit: Option<(usize, usize)>,
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

impl Atom {
    /// The variables, from left to right.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|term| match term {
            Term::Variable(name) => Some(name.as_str()),
            Term::Constant(_) | Term::Placeholder => None,
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (relation, rows) in &self.facts {
            writeln!(f, "{}", Facts('+', relation, rows))?;
        }
        for rule in &self.rules {
            writeln!(f, "+{rule}")?;
        }
        writeln!(f, "{}", self.goal)
    }
}

/// A bulk statement: `+` or `-`, the relation, its rows.
pub struct Facts<'a, R>(pub char, pub &'a str, pub R);

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
        let marks = self.order.iter().chain(std::iter::repeat(&None));
        let terms: Vec<String> =
            self.atom.terms.iter().zip(marks).map(|(term, mark)| marked(term, *mark)).collect();
        write!(f, "?{}({})", self.atom.relation, terms.join(", "))?;
        for literal in &self.body {
            write!(f, ", {literal}")?;
        }
        match self.limit {
            None => Ok(()),
            Some((count, 0)) => write!(f, ", limit({count})"),
            Some((count, offset)) => write!(f, ", limit({count}, {offset})"),
        }
    }
}

fn marked(term: &Term, mark: Option<Direction>) -> String {
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
            HeadTerm::Aggregate(aggregate, variable) => write!(f, "{}<{variable}>", aggregate.name()),
        }
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
            Aggregate::Avg => "avg",
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Atom(atom) => atom.fmt(f),
            Literal::Negated(atom) => write!(f, "!{atom}"),
            Literal::Comparison(left, operator, right) => write!(f, "{left} {} {right}", operator.symbol()),
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
            Expression::Call(function, arguments) => write!(f, "{}({})", function.name(), list(arguments)),
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

impl Function {
    fn name(self) -> &'static str {
        match self {
            Function::Abs => "abs",
            Function::MinVal => "min_val",
            Function::MaxVal => "max_val",
            Function::Len => "len",
            Function::Upper => "upper",
            Function::Concat => "concat",
            Function::ToFloat => "to_float",
            Function::ToInt => "to_int",
            Function::Sign => "sign",
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
