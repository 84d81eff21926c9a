//! `AnalysisError`: why statements that follow the grammar are refused.

use super::search::SearchFault;
use crate::aggregates::{Aggregate, AggregateOption, Ranking};
use crate::data::DataType;
use crate::diagnostic::{Code, Diagnose, Diagnostic, Span};
use crate::functions::{ScalarFunction, Takes};
use crate::syntax::RankingFault;
use crate::syntax::ast::{Arithmetic, Comparison};

/// Why a query or a rule means nothing that could be evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// A query reads a relation of which nothing is known.
    #[error("there is no relation `{relation}`")]
    UnknownRelation {
        /// As written.
        relation: String,
        /// Relations with similar names.
        near: Vec<String>,
        /// Where it is read.
        span: Span,
    },
    /// An atom has too many or too few arguments.
    #[error("`{relation}` has {}, found {found}", columns(*.expected))]
    Arity {
        /// The relation.
        relation: String,
        /// Its number of columns.
        expected: usize,
        /// The number of arguments.
        found: usize,
        /// The atom.
        span: Span,
    },
    /// No function has this name.
    #[error("there is no function `{function}`")]
    UnknownFunction {
        /// As written.
        function: String,
        /// Its first argument, if that is a variable.
        argument: Option<String>,
        /// Whether a relation has this name.
        is_relation: bool,
        /// Functions with similar names.
        near: Vec<String>,
        /// Where it is called.
        span: Span,
    },
    /// A function with too many or too few arguments.
    #[error("`{}` takes {}, found {found}", function.name, arguments(function))]
    FunctionArguments {
        /// The function.
        function: &'static ScalarFunction,
        /// The number of arguments.
        found: usize,
        /// The call.
        span: Span,
    },
    /// `each(L)` elsewhere than beside `=`.
    #[error("`each` stands only alone beside `=`: it gives one value after the other")]
    MisplacedEach {
        /// The call.
        span: Span,
    },
    /// Text that is to say something to a function, and says nothing.
    #[error("`{text}` is not {}: {problem}", takes.meaning().0)]
    ArgumentText {
        /// What the function takes.
        takes: Takes,
        /// As written.
        text: String,
        /// What is wrong with it.
        problem: String,
        /// Where it stands.
        span: Span,
    },
    /// What stands in the place of a list, and cannot be one.
    #[error("`{function}` takes a list, and this is {found}")]
    NoList {
        /// The function; `in`, if it was written so.
        function: &'static str,
        /// What it is.
        found: DataType,
        /// Where it stands.
        span: Span,
    },
    /// A declared column that never holds what the function is for.
    #[error("`{function}` takes {expected} as `{parameter}`, but `{column}` is declared {found}")]
    FunctionArgument {
        /// The function.
        function: &'static str,
        /// Its parameter.
        parameter: &'static str,
        /// What the parameter takes.
        expected: Takes,
        /// `relation.column`.
        column: String,
        /// Its declared type.
        found: DataType,
        /// The literal or head column.
        span: Span,
    },
    /// No aggregate has this name.
    #[error("there is no aggregate `{aggregate}`")]
    UnknownAggregate {
        /// As written.
        aggregate: String,
        /// Aggregates with similar names.
        near: Vec<String>,
        /// Where it is used.
        span: Span,
    },
    /// An aggregate has too many arguments, or an order where none counts.
    #[error("`{}` takes {}, found `{found}`", aggregate.name(), match aggregate.option() {
        None => "one variable without order",
        Some(AggregateOption::Portion) => "one variable and a number from 0 to 1",
        Some(AggregateOption::Separator) => "one variable, and perhaps a string",
        Some(AggregateOption::Offset) => "one variable, and perhaps a number from 0",
    })]
    AggregateArguments {
        /// The aggregate.
        aggregate: Aggregate,
        /// As written.
        found: String,
        /// The aggregate with its arguments.
        span: Span,
    },
    /// An aggregate over something else than a variable.
    #[error("`{aggregate}` aggregates a variable, found `{found}`")]
    AggregateOfExpression {
        /// The aggregate.
        aggregate: String,
        /// As written.
        found: String,
        /// The argument.
        span: Span,
    },
    /// A parameter of a ranking aggregate has a value that cannot stand there.
    #[error("in `{}`, {fault}", ranking.name())]
    RankingArguments {
        /// The aggregate.
        ranking: Ranking,
        /// What is wrong.
        fault: RankingFault,
        /// The argument.
        span: Span,
    },
    /// Another aggregate beside one that ranks.
    #[error("`{aggregate}` cannot stand beside a ranking aggregate")]
    RankingBeside {
        /// As written.
        aggregate: String,
        /// Its place.
        span: Span,
    },
    /// Clauses of one head that rank differently.
    #[error("the clauses of `{relation}` rank by `{expected}`, found `{found}`")]
    MixedRankings {
        /// The head.
        relation: String,
        /// How earlier clauses rank.
        expected: String,
        /// How this one does.
        found: String,
        /// Its ranking.
        span: Span,
    },
    /// An aggregate where only expressions may stand.
    #[error("the aggregate `{aggregate}` stands only as a whole column of a rule's or query's head")]
    MisplacedAggregate {
        /// The aggregate.
        aggregate: String,
        /// Where it is used.
        span: Span,
    },
    /// An answer with more columns than a relation may have.
    #[error("an answer may not have more than {limit} columns, this one has {found}")]
    TooManyColumns {
        /// How many it has.
        found: usize,
        /// How many it may have.
        limit: usize,
        /// The query.
        span: Span,
    },
    /// A rule without conditions.
    #[error("a rule needs at least one condition after `<-`")]
    EmptyBody {
        /// The rule.
        span: Span,
    },
    /// Some answer would be infinite, or nobody can say what it is.
    #[error("{}", role.message(variable))]
    Unbound {
        /// The variable.
        variable: String,
        /// What it is used for.
        role: Role,
        /// Where.
        span: Span,
        /// The rule or query.
        rule: Span,
    },
    /// `_` where a value is needed.
    #[error("`_` has no value that could stand here")]
    Placeholder {
        /// Where.
        span: Span,
    },
    /// A parameter that nobody filled in.
    #[error("the parameter `${name}` has no value")]
    Parameter {
        /// Without its dollar sign.
        name: String,
        /// Where.
        span: Span,
    },
    /// A variable stands in columns that are declared with types without common values.
    #[error("`{variable}` stands for {expected} and for {found}, which are never equal")]
    Join {
        /// The variable.
        variable: String,
        /// The first type.
        expected: DataType,
        /// Where it comes from: `relation.column`.
        expected_column: String,
        /// Its place.
        expected_at: Span,
        /// The second type.
        found: DataType,
        /// Where it comes from.
        found_column: String,
        /// Its place.
        span: Span,
    },
    /// A constant that the declared column can never hold.
    #[error("`{column}` is declared {expected}, found {found} `{value}`")]
    Constant {
        /// `relation.column`.
        column: String,
        /// Its declared type.
        expected: DataType,
        /// The constant's type.
        found: DataType,
        /// The constant.
        value: String,
        /// Its place.
        span: Span,
    },
    /// A comparison between types that cannot be compared.
    #[error("`{operator}` cannot compare {left} with {right}")]
    Comparison {
        /// The operator.
        operator: Comparison,
        /// The type of its left side.
        left: DataType,
        /// The type of its right side.
        right: DataType,
        /// The comparison.
        span: Span,
    },
    /// Arithmetic over something that is no number.
    #[error("`{operator}` needs numbers, found {found}")]
    Arithmetic {
        /// The operator.
        operator: Arithmetic,
        /// The type found.
        found: DataType,
        /// The literal or head column.
        span: Span,
    },
    /// A rule derives what the declared column cannot hold.
    #[error("`{column}` is declared {expected}, but the rule derives {found}")]
    Head {
        /// `relation.column`.
        column: String,
        /// Its declared type.
        expected: DataType,
        /// The derived type.
        found: DataType,
        /// The head's column.
        span: Span,
    },
    /// A relation depends on its own negation or aggregation.
    #[error("recursion through {}: {}", if *.negation { "negation" } else { "aggregation" }, cycle.join(" -> "))]
    Unstratifiable {
        /// The relations on the way round; the first is also the last.
        cycle: Vec<String>,
        /// Negation, or else aggregation.
        negation: bool,
        /// The literal of the new rule that closes the cycle, or else the whole rule. Unknown for registered rules.
        span: Option<Span>,
    },
    /// A search that cannot be done.
    #[error("{fault}")]
    Search {
        /// Why not.
        fault: SearchFault,
        /// The literal, or its argument.
        span: Span,
    },
    /// The rows of a relation are in files, where only stored rows can be read.
    #[error("the rows of `{relation}` are in attached files, which only questions read")]
    InFiles {
        /// The relation.
        relation: String,
    },
    /// A rule for a relation whose rows are in files.
    #[error("the rows of `{relation}` are those of attached files: it can be read, and not be derived")]
    RuleOfAttached {
        /// The relation.
        relation: String,
        /// The head.
        span: Option<Span>,
    },
    /// A registered rule on which the query depends is refused.
    #[error("the rule `{rule}` cannot be evaluated: {error}")]
    InRule {
        /// The rule.
        rule: String,
        /// What is wrong with it. Its places belong to another text.
        error: Box<AnalysisError>,
    },
}

/// What an unbound variable is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What is used outside of alternatives.
    Alternative,
    /// A column of the head.
    Head,
    /// A column that is aggregated.
    Aggregate,
    /// An argument of a negated atom.
    Negation,
    /// A comparison or an expression.
    Comparison,
}

impl Role {
    fn message(self, variable: &str) -> String {
        match self {
            Role::Head => format!("`{variable}` of the head is not bound by the body"),
            Role::Aggregate => format!("the aggregated `{variable}` is not bound by the body"),
            Role::Alternative => format!("this alternative does not bind `{variable}`"),
            Role::Negation => format!("`{variable}` occurs only under negation"),
            Role::Comparison => format!("`{variable}` is compared, but nothing binds it"),
        }
    }
}

impl Diagnose for AnalysisError {
    fn diagnose(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code(), self.to_string());
        let diagnostic = match self {
            AnalysisError::UnknownRelation { span, .. }
            | AnalysisError::Arity { span, .. }
            | AnalysisError::UnknownFunction { span, .. }
            | AnalysisError::FunctionArguments { span, .. }
            | AnalysisError::ArgumentText { span, .. }
            | AnalysisError::MisplacedEach { span }
            | AnalysisError::NoList { span, .. }
            | AnalysisError::FunctionArgument { span, .. }
            | AnalysisError::UnknownAggregate { span, .. }
            | AnalysisError::AggregateArguments { span, .. }
            | AnalysisError::AggregateOfExpression { span, .. }
            | AnalysisError::MisplacedAggregate { span, .. }
            | AnalysisError::RankingArguments { span, .. }
            | AnalysisError::RankingBeside { span, .. }
            | AnalysisError::MixedRankings { span, .. }
            | AnalysisError::EmptyBody { span }
            | AnalysisError::Placeholder { span }
            | AnalysisError::Parameter { span, .. }
            | AnalysisError::Constant { span, .. }
            | AnalysisError::Comparison { span, .. }
            | AnalysisError::Arithmetic { span, .. }
            | AnalysisError::Search { span, .. }
            | AnalysisError::Head { span, .. } => diagnostic.at(*span),
            AnalysisError::TooManyColumns { span, limit, .. } => {
                diagnostic.at(*span).limit("max_columns", *limit as u64)
            }
            AnalysisError::Unbound { span, rule, .. } => {
                diagnostic.at(*span).label(*rule, "nothing here binds it")
            }
            AnalysisError::Join {
                expected, expected_column, expected_at, found, found_column, span, ..
            } => diagnostic
                .at(*span)
                .label(*expected_at, format!("`{expected_column}` is declared {expected}"))
                .label(*span, format!("`{found_column}` is declared {found}")),
            AnalysisError::Unstratifiable { span: Some(span), .. }
            | AnalysisError::RuleOfAttached { span: Some(span), .. } => diagnostic.at(*span),
            AnalysisError::Unstratifiable { span: None, .. }
            | AnalysisError::RuleOfAttached { span: None, .. }
            | AnalysisError::InFiles { .. }
            | AnalysisError::InRule { .. } => diagnostic,
        };
        let diagnostic = match diagnostic.span {
            Some(span) => self.fixes().into_iter().fold(diagnostic, |found, text| found.fix(span, text)),
            None => diagnostic,
        };
        match self.help() {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

impl AnalysisError {
    fn code(&self) -> Code {
        match self {
            AnalysisError::UnknownRelation { .. } => Code::UnknownRelation,
            AnalysisError::Arity { .. } => Code::ArityMismatch,
            AnalysisError::UnknownFunction { .. }
            | AnalysisError::FunctionArguments { .. }
            | AnalysisError::UnknownAggregate { .. }
            | AnalysisError::AggregateArguments { .. } => Code::UnknownFunction,
            AnalysisError::AggregateOfExpression { .. }
            | AnalysisError::MisplacedAggregate { .. }
            | AnalysisError::RankingBeside { .. }
            | AnalysisError::MixedRankings { .. }
            | AnalysisError::EmptyBody { .. }
            | AnalysisError::MisplacedEach { .. }
            | AnalysisError::Unbound { .. }
            | AnalysisError::Placeholder { .. } => Code::UnsafeRule,
            AnalysisError::Parameter { .. }
            | AnalysisError::RankingArguments { .. }
            | AnalysisError::ArgumentText { .. } => Code::InvalidParameter,
            AnalysisError::Join { .. }
            | AnalysisError::FunctionArgument { .. }
            | AnalysisError::NoList { .. }
            | AnalysisError::Constant { .. }
            | AnalysisError::Comparison { .. }
            | AnalysisError::Arithmetic { .. }
            | AnalysisError::Head { .. } => Code::TypeMismatch,
            AnalysisError::TooManyColumns { .. } => Code::LimitExceeded,
            AnalysisError::Unstratifiable { .. } => Code::Unstratifiable,
            AnalysisError::Search { fault, .. } => fault.code(),
            AnalysisError::InFiles { .. } | AnalysisError::RuleOfAttached { .. } => Code::AttachedRelation,
            AnalysisError::InRule { error, .. } => error.code(),
        }
    }
}

/// "2 arguments", "2 or more arguments".
fn arguments(function: &ScalarFunction) -> String {
    match (function.parameters.len(), function.variadic) {
        (0, false) => "no arguments".into(),
        (1, false) => "1 argument".into(),
        (count, false) => format!("{count} arguments"),
        (count, true) => format!("{count} or more arguments"),
    }
}

/// "1 column", "3 columns".
fn columns(count: usize) -> String {
    if count == 1 { "1 column".into() } else { format!("{count} columns") }
}
