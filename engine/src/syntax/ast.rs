//! What the user wrote, piece by piece, each with its place. Nothing here is resolved or checked.

use std::cmp::Ordering;
use std::fmt;

use crate::data::Value;
use crate::diagnostic::Span;

/// One statement of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it asks for.
    pub kind: StatementKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The kinds of statements, told apart by their prefix.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `+r(..)`, `+r[..]`, or without prefix for the session.
    Insert(Insert),
    /// `-r(..)`, `-r[..]`.
    Delete(Delete),
    /// `-r(..) <- body`.
    DeleteWhere(DeleteWhere),
    /// `-r(..), +s(..) <- body`.
    Update(Update),
    /// `-r`: drops the rule of that name.
    DropRule(Name),
    /// `+head <- body`, or without prefix for the session.
    Rule(RuleStatement),
    /// `+r(column: type, ..)`, or without prefix for the session.
    Declare(Declare),
    /// `type Name: type`.
    DeclareType(DeclareType),
    /// `?goal, literals`.
    Query(Query),
    /// `.word word ..`.
    Command(Command),
}

/// Whether a statement writes to the graph or to the session only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `+`: kept in the graph.
    Persistent,
    /// No prefix: kept in the session.
    Session,
}

/// An identifier and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// Facts to insert. Terms must turn out to be constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// Graph or session.
    pub scope: Scope,
    /// The relation.
    pub relation: Name,
    /// The tuples, as written.
    pub tuples: Vec<Tuple>,
}

/// Facts to delete. Terms must turn out to be constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// The relation.
    pub relation: Name,
    /// The tuples, as written.
    pub tuples: Vec<Tuple>,
}

/// One tuple of an insert or delete.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    /// Its terms.
    pub terms: Vec<Term>,
    /// With its parentheses.
    pub span: Span,
    /// Whether all terms are constants.
    pub is_constant: bool,
}

impl Tuple {
    /// These terms, at this place.
    pub fn new(terms: Vec<Term>, span: Span) -> Tuple {
        let is_constant = terms.iter().all(|term| matches!(term.kind, TermKind::Constant(_)));
        Tuple { terms, span, is_constant }
    }
}

/// A conditional delete: the target is implicitly part of the body.
#[derive(Debug, Clone, PartialEq)]
pub struct DeleteWhere {
    /// What to delete.
    pub target: Atom,
    /// Under which condition.
    pub body: Vec<Literal>,
}

/// An atomic update of several targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// `-` targets.
    pub deletes: Vec<Atom>,
    /// `+` targets.
    pub inserts: Vec<Atom>,
    /// What binds their variables.
    pub body: Vec<Literal>,
}

/// A rule with its scope.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleStatement {
    /// Graph or session.
    pub scope: Scope,
    /// The rule.
    pub rule: Rule,
    /// What stands in the heads of its statement, if there are several.
    pub beside: Vec<Term>,
}

/// `head <- body`.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What is derived; its terms may be aggregates.
    pub head: Atom,
    /// From what.
    pub body: Vec<Literal>,
    /// The whole rule, without its `+`.
    pub span: Span,
}

/// A schema declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Declare {
    /// Graph or session.
    pub scope: Scope,
    /// The relation.
    pub relation: Name,
    /// Its columns.
    pub columns: Vec<ColumnDeclaration>,
}

/// One column of a declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDeclaration {
    /// The column's name.
    pub name: Name,
    /// Its type, as written.
    pub column_type: TypeExpression,
}

/// A type as written.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeExpression {
    /// Which type.
    pub kind: TypeKind,
    /// Its place.
    pub span: Span,
}

/// The types that can be declared.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// `int`.
    Int,
    /// `float`.
    Float,
    /// `string`.
    Text,
    /// `bool`.
    Bool,
    /// `timestamp`.
    Timestamp,
    /// `vector`, `vector(N)`, `vector[N]`.
    Vector(Option<u32>),
    /// `vector_int8`, `vector_int8[N]`.
    VectorInt8(Option<u32>),
    /// `list`.
    List,
    /// `any`, `list[T]`, records: anything.
    Any,
    /// An upper-case name declared by `type`.
    Named(String),
}

/// `type Name: type`.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclareType {
    /// The new name.
    pub name: Name,
    /// What it stands for.
    pub definition: TypeExpression,
}

/// A query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// What to return.
    pub head: QueryHead,
    /// Further conditions (for a goal query without the goal itself).
    pub body: Vec<Literal>,
    /// `limit(n, offset)`, the last one written.
    pub limit: Option<Limit>,
}

/// What a query returns.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryHead {
    /// `?relation(terms), literals`: columns follow from the terms.
    Goal {
        /// The goal.
        atom: Atom,
        /// The order mark of each argument.
        order: Vec<Option<Direction>>,
    },
    /// `?H1, H2 <- literals`: exactly these columns.
    Projection(Vec<ProjectionItem>),
}

/// One item of a head-projection query.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectionItem {
    /// What to return; may be an aggregate.
    pub term: Term,
    /// Its order mark.
    pub order: Option<Direction>,
}

/// `:asc` or `:desc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

/// `limit(count, offset)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// At most so many rows.
    pub count: u64,
    /// After skipping so many.
    pub offset: u64,
    /// Its place.
    pub span: Span,
}

/// A dot command: its words, not interpreted. Any but the first two may be a secret.
#[derive(Clone, PartialEq)]
pub struct Command {
    /// The words; the first without its dot.
    pub words: Vec<Name>,
    /// Everything after the first word, as written.
    pub rest: Name,
    /// Everything after the dot, as written: between words, a quote decides what a blank means.
    pub text: String,
    /// The query that it takes, once it is known what the command means.
    pub query: Option<Query>,
    /// The statements that it takes as suppositions, once it is known what the command means.
    pub changes: Vec<Statement>,
}

impl Command {
    /// What may be shown of it.
    pub fn beginning(&self) -> String {
        let shown = self.words.iter().take(2).map(|word| word.text.as_str());
        shown.chain((self.words.len() > 2).then_some("..")).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Command(.{})", self.beginning())
    }
}

/// `relation(term, ..)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    /// The relation (or, where a literal allows it, a boolean function).
    pub relation: Name,
    /// The arguments.
    pub terms: Vec<Term>,
    /// With its parentheses.
    pub span: Span,
}

/// One condition of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Literal {
    /// Which.
    pub kind: LiteralKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of conditions.
#[derive(Debug, Clone, PartialEq)]
pub enum LiteralKind {
    /// `r(..)`.
    Positive(Atom),
    /// `!r(..)`.
    Negative(Atom),
    /// `left op right`; `=` may also bind a variable.
    Comparison {
        /// The operator.
        operator: Comparison,
        /// Left side.
        left: Term,
        /// Right side.
        right: Term,
    },
    /// `(p(..), .. or q(..), ..)`: one of several conjunctions.
    Disjunction(Vec<Vec<Literal>>),
    /// `!(p(..), q(..))`: not all of them, for any values of the variables that nothing else binds.
    NegatedConjunction(Vec<Literal>),
}

impl LiteralKind {
    /// The literals inside, from left to right; none if it is a plain one.
    pub fn nested(&self) -> impl Iterator<Item = &Literal> {
        let (alternatives, negated): (&[Vec<Literal>], &[Literal]) = match self {
            LiteralKind::Disjunction(alternatives) => (alternatives, &[]),
            LiteralKind::NegatedConjunction(literals) => (&[], literals),
            LiteralKind::Positive(_) | LiteralKind::Negative(_) | LiteralKind::Comparison { .. } => {
                (&[], &[])
            }
        };
        alternatives.iter().flatten().chain(negated)
    }

    /// The same, to be changed.
    pub fn nested_mut(&mut self) -> impl Iterator<Item = &mut Literal> {
        let (alternatives, negated): (&mut [Vec<Literal>], &mut [Literal]) = match self {
            LiteralKind::Disjunction(alternatives) => (alternatives, &mut []),
            LiteralKind::NegatedConjunction(literals) => (&mut [], literals),
            LiteralKind::Positive(_) | LiteralKind::Negative(_) | LiteralKind::Comparison { .. } => {
                (&mut [], &mut [])
            }
        };
        alternatives.iter_mut().flatten().chain(negated)
    }
}

/// The atoms and comparisons of a body, also those inside of others, and whether a negation stands around them.
pub fn plain_literals(body: &[Literal]) -> Vec<(&Literal, bool)> {
    let mut plain = Vec::with_capacity(body.len());
    let mut open: Vec<(&Literal, bool)> = body.iter().rev().map(|literal| (literal, false)).collect();
    while let Some((literal, negated)) = open.pop() {
        let inside = negated || matches!(literal.kind, LiteralKind::NegatedConjunction(_));
        match literal.kind {
            LiteralKind::Positive(_) | LiteralKind::Negative(_) | LiteralKind::Comparison { .. } => {
                plain.push((literal, negated));
            }
            LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_) => {
                let nested: Vec<&Literal> = literal.kind.nested().collect();
                open.extend(nested.into_iter().rev().map(|literal| (literal, inside)));
            }
        }
    }
    plain
}

/// The comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

impl Comparison {
    /// Whether it holds of two values in this order.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }

    /// The same comparison, read from right to left.
    pub fn turned(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            Comparison::Equal | Comparison::NotEqual => self,
        }
    }
}

/// A term: an expression, or in a head an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Which.
    pub kind: TermKind,
    /// Its place.
    pub span: Span,
}

/// The kinds of terms.
#[derive(Debug, Clone, PartialEq)]
pub enum TermKind {
    /// A variable.
    Variable(String),
    /// `_`.
    Placeholder,
    /// A constant.
    Constant(Value),
    /// `$name`.
    Parameter(String),
    /// `left op right`.
    Arithmetic {
        /// The operator.
        operator: Arithmetic,
        /// Left side.
        left: Box<Term>,
        /// Right side.
        right: Box<Term>,
    },
    /// `function(term, ..)`.
    Call {
        /// The function.
        function: Name,
        /// The arguments.
        arguments: Vec<Term>,
    },
    /// `aggregate<argument, ..>`, in heads only.
    Aggregate {
        /// The aggregate.
        function: Name,
        /// The arguments.
        arguments: Vec<AggregateArgument>,
    },
}

/// One argument of an aggregate: a number, a variable, or a variable with its order.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateArgument {
    /// The term.
    pub term: Term,
    /// `:asc` or `:desc`.
    pub order: Option<Direction>,
}

/// The arithmetic operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
