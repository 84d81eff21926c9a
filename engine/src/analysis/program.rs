//! `Program`: resolved rules grouped into strata, with one goal. Rewrites take and give it; planning starts from it.
//!
//! Guaranteed of every `Program`: names are ids, arities agree, every variable is bound when its turn can come (some
//! order of the body's literals evaluates it), a stratum uses negation and aggregation only on earlier strata.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::aggregates::Aggregate;
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::diagnostic::{Diagnostic, Span};
use crate::functions::ScalarFunction;
use crate::functions::lists::is_each;
use crate::index::Index;
use crate::syntax::ast::{Arithmetic, Comparison, Direction};

/// Everything that one question needs, and nothing else.
#[derive(Debug, Clone)]
pub struct Program {
    /// The relations; a [`RelationId`] is a position in this list.
    pub relations: Vec<Relation>,
    /// Rules in the order of evaluation.
    pub strata: Vec<Stratum>,
    /// The relation whose rows are the answer.
    pub goal: RelationId,
    /// What deserves a second look.
    pub warnings: Vec<Diagnostic>,
}

impl Program {
    /// Whether it derives the same from the same.
    pub fn is_same(&self, other: &Program) -> bool {
        self.goal == other.goal && self.relations == other.relations && self.strata == other.strata
    }

    /// The relations that it derives.
    pub fn derived(&self) -> HashSet<RelationId> {
        self.strata.iter().flat_map(|stratum| &stratum.relations).copied().collect()
    }

    /// The same with nothing left to choose, as what is brought from state to state has to be.
    pub fn without_alternatives(mut self) -> Program {
        let others: Vec<RelationId> = self
            .strata
            .extract_if(.., |stratum| stratum.alternative.is_some())
            .flat_map(|other| other.relations)
            .collect();
        for stratum in &mut self.strata {
            stratum.rules.retain(|rule| rule.reads().all(|read| !others.contains(&read)));
        }
        self
    }

    /// The same, where it may be asked for any number of rows.
    pub fn asking_for_any(mut self) -> Program {
        self.strata.iter_mut().for_each(|stratum| stratum.asking.clear());
        self
    }

    /// The name of a function in it whose value depends on the request.
    pub fn circumstance(&self) -> Option<&'static str> {
        self.strata.iter().flat_map(|stratum| &stratum.rules).find_map(Rule::circumstance)
    }
}

/// A relation that the program reads or derives.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// Its name. Relations made by us have names that no program can write, such as `?` or `?magic_path_bf`.
    pub name: String,
    /// Number of columns.
    pub arity: usize,
    /// The type of each column as far as it is known before evaluation.
    pub column_types: Vec<DataType>,
    /// Whether rows may be stored under this name: they count beside what rules derive.
    pub stored: bool,
    /// If only the best row of each group is kept, because rules derive it from itself: how.
    pub best: Option<Best>,
}

/// How a relation keeps one row a group: the columns but one are the group, that one is the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best {
    /// The value's column.
    pub column: usize,
    /// Whether large values are better than small ones.
    pub largest: bool,
    /// Whether values that better ones have replaced are rows in the end, too: to explain what was derived from them.
    pub keeps_replaced: bool,
}

/// Rules that are evaluated together. If `recursive`, until nothing new comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    /// The relations derived here.
    pub relations: Vec<RelationId>,
    /// Their rules.
    pub rules: Vec<Rule>,
    /// Whether some rule reads a relation of this stratum.
    pub recursive: bool,
    /// What rules may read in the place of conditions that do not depend on the recursion.
    pub auxiliaries: Vec<Auxiliary>,
    /// Whether it is enough to evaluate either this one or the one before it: the relations of the other have no rows then.
    pub alternative: Option<Alternative>,
    /// Those of its relations by whose rows others are asked for. Where these become many more than there are stored rows, to
    /// ask is given up.
    pub asking: Vec<RelationId>,
}

/// Which of two strata of which one is enough is tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alternative {
    /// This one, since its rows leave less to do.
    Sooner,
    /// The one before it.
    Later,
}

impl Stratum {
    /// These rules of these relations.
    pub fn of(relations: Vec<RelationId>, rules: Vec<Rule>, recursive: bool) -> Stratum {
        Stratum {
            relations,
            rules,
            recursive,
            auxiliaries: Vec::new(),
            alternative: None,
            asking: Vec::new(),
        }
    }
}

/// A relation of what some conditions of recursive rules say that do not depend on the recursion. It is derived where that
/// spares the rounds more than it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Auxiliary {
    /// The relation.
    pub relation: RelationId,
    /// Its rule.
    pub rule: Rule,
    /// The rules of the stratum that have these conditions.
    pub readers: Vec<Reader>,
}

/// A rule that may read an auxiliary relation.
#[derive(Debug, Clone, PartialEq)]
pub struct Reader {
    /// The relation.
    pub relation: RelationId,
    /// The rule's position in its stratum.
    pub rule: usize,
    /// The literals that the relation takes the place of, in ascending order.
    pub literals: Vec<usize>,
    /// The rule with it: the other literals in their order, and an atom of the relation.
    pub with: Rule,
}

/// A resolved rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The relation it derives.
    pub head: RelationId,
    /// One term a column.
    pub head_terms: Vec<HeadTerm>,
    /// If not every solution makes a row: which ones do.
    pub ranking: Option<Ranking>,
    /// The conditions, in the order written.
    pub body: Vec<Literal>,
    /// The variables; a [`VariableId`] is a position in this list.
    pub variables: Vec<Variable>,
    /// Canonical text, for plans and proofs.
    pub text: String,
}

impl Rule {
    /// The atoms of the body of which some row has to match.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.body.iter().filter_map(Literal::atom)
    }

    /// The relations of all atoms of the body, negated ones too.
    pub fn reads(&self) -> impl Iterator<Item = RelationId> + '_ {
        self.body.iter().filter_map(|literal| match literal {
            Literal::Atom(atom) | Literal::Negated(atom) => Some(atom.relation),
            Literal::Filter { .. } | Literal::Assign { .. } => None,
        })
    }

    /// Whether it may find other rows in another request: by the time, or by an index and how it happens to be built.
    pub fn reads_circumstances(&self) -> bool {
        let searches = self.ranking.as_ref().is_some_and(|ranking| ranking.search.is_some());
        searches || self.circumstance().is_some()
    }

    /// The name of a function in it whose value depends on the request.
    pub fn circumstance(&self) -> Option<&'static str> {
        let in_head = self.head_terms.iter().find_map(|term| match term {
            HeadTerm::Expression(expression) => expression.circumstance(),
            HeadTerm::Aggregate { .. } => None,
        });
        let in_literal = |literal: &Literal| match literal {
            Literal::Filter { left, right, .. } => left.circumstance().or_else(|| right.circumstance()),
            Literal::Assign { expression, .. } => expression.circumstance(),
            Literal::Atom(_) | Literal::Negated(_) => None,
        };
        in_head.or_else(|| self.body.iter().find_map(in_literal))
    }

    /// Whether it aggregates or ranks; the head's other columns are then its groups.
    pub fn aggregates(&self) -> bool {
        self.ranking.is_some()
            || self.head_terms.iter().any(|term| matches!(term, HeadTerm::Aggregate { .. }))
    }

    /// Calls `visit` with each variable of the head.
    pub fn for_each_head_variable(&self, mut visit: impl FnMut(VariableId)) {
        for term in &self.head_terms {
            match term {
                HeadTerm::Expression(expression) => expression.for_each_variable(&mut visit),
                HeadTerm::Aggregate { argument, .. } => visit(*argument),
            }
        }
    }

    /// Whether a head column is the same for all solutions of a group: any column where nothing is grouped.
    pub fn is_group(&self, column: usize) -> bool {
        let ranked = self.ranking.as_ref().is_some_and(|ranking| ranking.columns.contains(&column));
        !ranked && matches!(self.head_terms[column], HeadTerm::Expression(_))
    }
}

/// Which solutions of a group make a row. The ranked columns are ordinary expressions; all others are groups.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Ranking {
    /// Which columns of the head are ranked.
    pub columns: Range<usize>,
    /// Which of them decides.
    pub by: usize,
    /// Which end of it is best.
    pub direction: Direction,
    /// How many solutions at most.
    pub count: Option<u64>,
    /// The worst value that is still good enough.
    pub bound: Option<Value>,
    /// If an index may be asked for the solutions: which one. Equal rows then count once.
    pub search: Option<Search>,
    /// Whether the last of the ranked columns numbers the rows of a group from 1 on: whatever stands there is replaced.
    pub is_numbered: bool,
}

/// A search of an index, for solutions of the rule that ranks them by a distance or a score.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Search {
    /// The index.
    pub index: Arc<Index>,
    /// So many candidates, if the query says how many.
    pub ef: Option<usize>,
}

/// A variable of a rule.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct Variable {
    /// As written; made-up ones start with `?`.
    pub name: String,
    /// Its type as far as it is known.
    pub data_type: DataType,
}

/// One column of a head.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum HeadTerm {
    /// An expression over the body's variables.
    Expression(Expression),
    /// An aggregate over the body's solutions.
    Aggregate {
        /// Which.
        function: Aggregate,
        /// Over which variable.
        argument: VariableId,
        /// What stands beside it.
        option: Option<Value>,
    },
}

/// A condition of a body.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// Some row of the relation matches.
    Atom(Atom),
    /// No row of the relation matches.
    Negated(Atom),
    /// The comparison holds.
    Filter {
        /// The operator.
        operator: Test,
        /// Left side.
        left: Expression,
        /// Right side.
        right: Expression,
    },
    /// Binds a variable that no atom binds.
    Assign {
        /// The variable.
        variable: VariableId,
        /// Its value.
        expression: Expression,
    },
}

/// What a filter asks of two values: by identity, as joins do, where both are stored, and by value elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Test {
    /// They are the same value of the same type.
    Same,
    /// They are not.
    Different,
    /// They compare so, by value.
    ByValue(Comparison),
    /// They do not compare so, by value.
    Not(Comparison),
}

impl Test {
    /// What holds where a comparison does not. It never binds a variable.
    pub fn negation(comparison: Comparison) -> Test {
        match comparison {
            Comparison::Equal => Test::ByValue(Comparison::NotEqual),
            other => Test::Not(other),
        }
    }

    /// The comparison as it was written, under a negation or not.
    pub fn comparison(self) -> Comparison {
        match self {
            Test::Same => Comparison::Equal,
            Test::Different => Comparison::NotEqual,
            Test::ByValue(comparison) | Test::Not(comparison) => comparison,
        }
    }

    /// How a comparison of two sides is written.
    pub fn text(self, left: &str, right: &str) -> String {
        let comparison = format!("{left} {} {right}", self.comparison());
        if matches!(self, Test::Not(_)) { format!("!({comparison})") } else { comparison }
    }
}

impl Expression {
    /// The name of a function in it whose value depends on the request.
    fn circumstance(&self) -> Option<&'static str> {
        match self {
            Expression::Variable(_) | Expression::Constant(_) => None,
            Expression::Arithmetic { left, right, .. } => {
                left.circumstance().or_else(|| right.circumstance())
            }
            Expression::Call { function, arguments } => match function.tells_circumstances() {
                true => Some(function.name),
                false => arguments.iter().find_map(Expression::circumstance),
            },
        }
    }

    /// Whether it stands for every element of a list in turn.
    pub fn is_each(&self) -> bool {
        matches!(self, Expression::Call { function, .. } if is_each(function))
    }
}

impl Literal {
    /// `left = right`, by value.
    pub fn equal(left: Expression, right: Expression) -> Literal {
        Literal::Filter { operator: Test::ByValue(Comparison::Equal), left, right }
    }

    /// The atom of which some row has to match, if it is that.
    pub fn atom(&self) -> Option<&Atom> {
        match self {
            Literal::Atom(atom) => Some(atom),
            Literal::Negated(_) | Literal::Filter { .. } | Literal::Assign { .. } => None,
        }
    }

    /// Whether it says what value a variable has.
    pub fn is_constant(&self) -> bool {
        match self {
            Literal::Filter { operator, left, right } => {
                operator.comparison() == Comparison::Equal
                    && [left, right].iter().any(|side| matches!(side, Expression::Constant(_)))
            }
            Literal::Atom(_) | Literal::Negated(_) | Literal::Assign { .. } => false,
        }
    }

    /// Its variables, some perhaps more than once.
    pub fn variables(&self) -> Vec<VariableId> {
        let mut found = Vec::new();
        let mut add = |variable: VariableId| found.push(variable);
        match self {
            Literal::Atom(atom) | Literal::Negated(atom) => atom.variables().for_each(add),
            Literal::Filter { left, right, .. } => {
                left.for_each_variable(&mut add);
                right.for_each_variable(&mut add);
            }
            Literal::Assign { variable, expression } => {
                add(*variable);
                expression.for_each_variable(&mut add);
            }
        }
        found
    }
}

/// `relation(argument, ..)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    /// The relation.
    pub relation: RelationId,
    /// One argument a column.
    pub arguments: Vec<Argument>,
    /// Its place in the text it came from.
    pub span: Span,
}

impl Atom {
    /// Its variables, some perhaps more than once.
    pub fn variables(&self) -> impl Iterator<Item = VariableId> + '_ {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Variable(variable) => Some(*variable),
            Argument::Constant(_) | Argument::Any => None,
        })
    }
}

/// An argument of an atom.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Argument {
    /// A variable; the same variable twice means equality.
    Variable(VariableId),
    /// This value, compared as sets do: typed.
    Constant(Value),
    /// Anything.
    Any,
}

/// A scalar expression.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum Expression {
    /// A variable's value.
    Variable(VariableId),
    /// A constant.
    Constant(Value),
    /// An arithmetic operation.
    Arithmetic {
        /// The operator.
        operator: Arithmetic,
        /// Left side.
        left: Box<Expression>,
        /// Right side.
        right: Box<Expression>,
    },
    /// A function of as many arguments as it takes.
    Call {
        /// Which.
        function: &'static ScalarFunction,
        /// Its arguments.
        arguments: Vec<Expression>,
    },
}

impl Expression {
    /// As it would be written, with these names of variables.
    pub fn text<'n>(&self, name: &impl Fn(VariableId) -> &'n str) -> String {
        let part = |part: &Expression| match part {
            Expression::Arithmetic { .. } => format!("({})", part.text(name)),
            Expression::Variable(_) | Expression::Constant(_) | Expression::Call { .. } => part.text(name),
        };
        match self {
            Expression::Variable(variable) => name(*variable).to_owned(),
            Expression::Constant(value) => value.to_string(),
            Expression::Arithmetic { operator, left, right } => {
                format!("{}{operator}{}", part(left), part(right))
            }
            Expression::Call { function, arguments } => {
                let arguments: Vec<String> = arguments.iter().map(|argument| argument.text(name)).collect();
                format!("{}({})", function.name, arguments.join(", "))
            }
        }
    }

    /// Calls `visit` for every variable in the expression.
    pub fn for_each_variable(&self, visit: &mut impl FnMut(VariableId)) {
        match self {
            Expression::Variable(variable) => visit(*variable),
            Expression::Constant(_) => {}
            Expression::Arithmetic { left, right, .. } => {
                left.for_each_variable(visit);
                right.for_each_variable(visit);
            }
            Expression::Call { arguments, .. } => {
                arguments.iter().for_each(|argument| argument.for_each_variable(visit));
            }
        }
    }
}
