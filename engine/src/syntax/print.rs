//! AST back to text, in one canonical form: printing and parsing again gives the same tree.
//!
//! One blank after commas and around comparisons and `<-`, none in arithmetic, parentheses only where they change the
//! meaning.

use std::fmt::{Display, Formatter, Result};

use super::ast::{
    AggregateArgument, Arithmetic, Atom, ColumnDeclaration, Command, Comparison, Declare, DeclareType,
    Delete, DeleteWhere, Direction, Insert, Limit, Literal, LiteralKind, Name, ProjectionItem, Query,
    QueryHead, Rule, RuleStatement, Scope, Statement, StatementKind, Term, TermKind, Tuple, TypeExpression,
    TypeKind, Update,
};

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.kind.fmt(f)
    }
}

impl Display for StatementKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            StatementKind::Insert(insert) => insert.fmt(f),
            StatementKind::Delete(delete) => delete.fmt(f),
            StatementKind::DeleteWhere(delete) => delete.fmt(f),
            StatementKind::Update(update) => update.fmt(f),
            StatementKind::DropRule(name) => write!(f, "-{name}"),
            StatementKind::Rule(rule) => rule.fmt(f),
            StatementKind::Declare(declare) => declare.fmt(f),
            StatementKind::DeclareType(declare) => declare.fmt(f),
            StatementKind::Query(query) => query.fmt(f),
            StatementKind::Command(command) => command.fmt(f),
        }
    }
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", prefix(self.scope), self.relation)?;
        tuples(f, &self.tuples)
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "-{}", self.relation)?;
        tuples(f, &self.tuples)
    }
}

impl Display for Tuple {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("(")?;
        list(f, &self.terms)?;
        f.write_str(")")
    }
}

impl Display for DeleteWhere {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "-{} <- ", self.target)?;
        list(f, &self.body)
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let targets = self.deletes.iter().map(|d| ('-', d)).chain(self.inserts.iter().map(|i| ('+', i)));
        for (i, (sign, target)) in targets.enumerate() {
            write!(f, "{}{sign}{target}", if i > 0 { ", " } else { "" })?;
        }
        f.write_str(" <- ")?;
        list(f, &self.body)
    }
}

impl Display for RuleStatement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", prefix(self.scope), self.rule)
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} <- ", self.head)?;
        list(f, &self.body)
    }
}

impl Display for Declare {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}(", prefix(self.scope), self.relation)?;
        list(f, &self.columns)?;
        f.write_str(")")
    }
}

impl Display for ColumnDeclaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}: {}", self.name, self.column_type)
    }
}

impl Display for TypeExpression {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            TypeKind::Int => f.write_str("int"),
            TypeKind::Float => f.write_str("float"),
            TypeKind::Text => f.write_str("string"),
            TypeKind::Bool => f.write_str("bool"),
            TypeKind::Timestamp => f.write_str("timestamp"),
            TypeKind::Vector(None) => f.write_str("vector"),
            TypeKind::Vector(Some(n)) => write!(f, "vector({n})"),
            TypeKind::List => f.write_str("list"),
            TypeKind::VectorInt8(None) => f.write_str("vector_int8"),
            TypeKind::VectorInt8(Some(n)) => write!(f, "vector_int8[{n}]"),
            TypeKind::Any => f.write_str("any"),
            TypeKind::Named(name) => f.write_str(name),
        }
    }
}

impl Display for DeclareType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "type {}: {}", self.name, self.definition)
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("?")?;
        let mut separator = ", ";
        match &self.head {
            QueryHead::Goal { atom, order } => {
                write!(f, "{}(", atom.relation)?;
                for (i, term) in atom.terms.iter().enumerate() {
                    write!(f, "{}{term}", if i > 0 { ", " } else { "" })?;
                    order_mark(f, order.get(i).copied().flatten())?;
                }
                f.write_str(")")?;
            }
            QueryHead::Projection(items) => {
                list(f, items)?;
                separator = " <- ";
            }
        }
        for literal in &self.body {
            write!(f, "{separator}{literal}")?;
            separator = ", ";
        }
        if let Some(limit) = &self.limit {
            write!(f, "{separator}{limit}")?;
        }
        Ok(())
    }
}

impl Display for ProjectionItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.term.fmt(f)?;
        order_mark(f, self.order)
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.offset {
            0 => write!(f, "limit({})", self.count),
            offset => write!(f, "limit({}, {offset})", self.count),
        }
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, ".{}", self.text)
    }
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.text)
    }
}

impl Display for Atom {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}(", self.relation)?;
        list(f, &self.terms)?;
        f.write_str(")")
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            LiteralKind::Positive(atom) => atom.fmt(f),
            LiteralKind::Negative(atom) => write!(f, "!{atom}"),
            LiteralKind::Comparison { operator, left, right } => write!(f, "{left} {operator} {right}"),
            LiteralKind::Disjunction(alternatives) => {
                f.write_str("(")?;
                for (number, alternative) in alternatives.iter().enumerate() {
                    f.write_str(if number == 0 { "" } else { " or " })?;
                    list(f, alternative)?;
                }
                f.write_str(")")
            }
            LiteralKind::NegatedConjunction(literals) => {
                f.write_str("!(")?;
                list(f, literals)?;
                f.write_str(")")
            }
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        })
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            TermKind::Variable(name) => f.write_str(name),
            TermKind::Placeholder => f.write_str("_"),
            TermKind::Constant(value) => value.fmt(f),
            TermKind::Parameter(name) => write!(f, "${name}"),
            TermKind::Arithmetic { operator, left, right } => {
                operand(f, left, operator.strength())?;
                operator.fmt(f)?;
                // Operators of one strength group to the left.
                operand(f, right, operator.strength() + 1)
            }
            TermKind::Call { function, arguments } => {
                write!(f, "{function}(")?;
                list(f, arguments)?;
                f.write_str(")")
            }
            TermKind::Aggregate { function, arguments } => {
                write!(f, "{function}<")?;
                list(f, arguments)?;
                f.write_str(">")
            }
        }
    }
}

impl Display for AggregateArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.term.fmt(f)?;
        order_mark(f, self.order)
    }
}

impl Display for Arithmetic {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Remainder => "%",
        })
    }
}

impl Arithmetic {
    fn strength(self) -> u8 {
        match self {
            Arithmetic::Add | Arithmetic::Subtract => 1,
            Arithmetic::Multiply | Arithmetic::Divide | Arithmetic::Remainder => 2,
        }
    }
}

/// Writes an operand, in parentheses if its own operator is weaker than `needed`.
fn operand(f: &mut Formatter<'_>, term: &Term, needed: u8) -> Result {
    match &term.kind {
        TermKind::Arithmetic { operator, .. } if operator.strength() < needed => write!(f, "({term})"),
        _ => term.fmt(f),
    }
}

fn prefix(scope: Scope) -> &'static str {
    match scope {
        Scope::Persistent => "+",
        Scope::Session => "",
    }
}

fn order_mark(f: &mut Formatter<'_>, order: Option<Direction>) -> Result {
    match order {
        None => Ok(()),
        Some(Direction::Ascending) => f.write_str(":asc"),
        Some(Direction::Descending) => f.write_str(":desc"),
    }
}

fn tuples(f: &mut Formatter<'_>, tuples: &[Tuple]) -> Result {
    if let [tuple] = tuples {
        return tuple.fmt(f);
    }
    f.write_str("[")?;
    list(f, tuples)?;
    f.write_str("]")
}

fn list<T: Display>(f: &mut Formatter<'_>, items: &[T]) -> Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}
