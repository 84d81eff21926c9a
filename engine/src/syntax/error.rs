//! `SyntaxError`: why a text is not a program.

use super::foreign::Foreign;
use super::ranking::RankingFault;
use crate::aggregates::Ranking;
use crate::data::time::{self, NoTime};
use crate::diagnostic::{Code, Diagnose, Diagnostic, Span};

/// One fault in a text, with its place.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct SyntaxError {
    /// What is wrong.
    pub fault: SyntaxFault,
    /// The cause in the text.
    pub span: Span,
    /// Which statement of the program, from 0.
    pub statement: Option<usize>,
}

/// The faults a text can have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SyntaxFault {
    /// Nothing but blanks and comments.
    #[error("the program holds no statement")]
    Empty,
    /// Something else should stand here.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What may stand here.
        expected: String,
        /// What does.
        found: String,
        /// What to do, if that can be guessed.
        help: Option<String>,
    },
    /// `(`, `[` or `{` without its partner.
    #[error("`{bracket}` is not closed before {found}")]
    UnclosedBracket {
        /// The bracket.
        bracket: char,
        /// Where it was opened.
        opened: Span,
        /// What stands where it should have been closed at the latest.
        found: String,
    },
    /// `)`, `]` or `}` without its partner.
    #[error("this `{bracket}` closes nothing")]
    Unopened {
        /// The bracket.
        bracket: String,
    },
    /// A string without closing quote.
    #[error("this string is not closed")]
    UnclosedText,
    /// `/*` without `*/`.
    #[error("this comment is not closed")]
    UnclosedComment,
    /// An operator of other languages.
    #[error("`{found}` is not an operator here")]
    ForeignOperator {
        /// As written.
        found: String,
        /// What to write.
        help: String,
    },
    /// A statement of another language.
    #[error("`{}` is of {}", .0.words, .0.language)]
    Foreign(Box<Foreign>),
    /// `'text'` or backticks.
    #[error("strings stand in double quotes")]
    WrongQuote {
        /// What stands between the quotes.
        text: String,
    },
    /// A lower-case word where a term should stand.
    #[error("`{word}` is neither a variable nor a constant")]
    UnquotedWord {
        /// The word.
        word: String,
    },
    /// A period after the statement.
    #[error("a statement ends with its line, not with a period")]
    TrailingPeriod,
    /// `-X`.
    #[error("`{sign}` stands only before a number")]
    SignBeforeTerm {
        /// The sign.
        sign: char,
    },
    /// Digits that run into letters.
    #[error("`{text}` is not a number")]
    BadNumber {
        /// As written.
        text: String,
    },
    /// `t"soon"`.
    #[error("`{text}` is {problem}")]
    BadTime {
        /// What stands between the quotes.
        text: String,
        /// What it is instead.
        problem: NoTime,
    },
    /// A number too large for a float.
    #[error("`{text}` is beyond the largest {kind} number")]
    NumberTooLarge {
        /// As written.
        text: String,
        /// `64-bit` or `32-bit`.
        kind: &'static str,
    },
    /// An aggregate in a body or inside an expression.
    #[error("the aggregate `{name}` stands only as a whole column of a head")]
    MisplacedAggregate {
        /// The aggregate.
        name: String,
    },
    /// A ranking aggregate whose arguments are none.
    #[error("in `{}`, {fault}", ranking.name())]
    Ranking {
        /// The aggregate.
        ranking: Ranking,
        /// What is wrong.
        fault: RankingFault,
    },
    /// `limit` with something else than one or two numbers.
    #[error("`limit` takes a number of rows and perhaps an offset, both written as digits")]
    BadLimit,
    /// An update without `-` or without `+` target.
    #[error("an update needs at least one `-` and one `+` before `<-`")]
    OneSidedUpdate,
    /// A type that does not exist.
    #[error("there is no type `{word}`")]
    UnknownType {
        /// As written.
        word: String,
        /// The type that may be meant.
        meant: Option<&'static str>,
    },
    /// A name that is kept for others.
    #[error("`{name}` begins with `{prefix}`, which {holder} may not be called")]
    ReservedName {
        /// As written.
        name: String,
        /// What names of this kind do not begin with.
        prefix: &'static str,
        /// What has the name.
        holder: &'static str,
    },
    /// A limit was reached.
    #[error("{what} may not exceed {limit}")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The name of the limit.
        name: &'static str,
        /// To how much.
        limit: usize,
    },
}

impl SyntaxError {
    pub(super) fn new(fault: SyntaxFault, span: Span) -> SyntaxError {
        SyntaxError { fault, span, statement: None }
    }
}

/// Signs of other languages, and what is written here.
const OPERATORS: &[(&str, &str)] = &[
    ("==", "="),
    ("<>", "!="),
    ("=<", "<="),
    ("=>", ">="),
    (":-", "<-"),
    (":=", "="),
    ("&&", ","),
    ("&", ","),
    ("||", "or"),
    ("|", "or"),
    (";", ","),
    ("--", "//"),
    ("not", "!"),
    ("NOT", "!"),
    ("and", ","),
    ("AND", ","),
];

impl SyntaxError {
    /// What could be written instead, where that is certain.
    fn fix(&self) -> Option<(Span, String)> {
        let Span { start, end } = self.span;
        match &self.fault {
            SyntaxFault::ForeignOperator { found, help } => {
                let (_, here) = OPERATORS.iter().find(|(sign, _)| sign == found)?;
                // The place may begin at the second character.
                let before = (found.len() as u32).checked_sub(end - start).filter(|before| *before < 2)?;
                help.contains(here)
                    .then(|| (Span { start: start - before.min(start), end }, (*here).to_owned()))
            }
            SyntaxFault::WrongQuote { text } if text != "text" && !text.ends_with("...") => {
                let end = start + text.len() as u32 + 2;
                Some((Span { start, end }, format!("\"{text}\"")))
            }
            SyntaxFault::UnquotedWord { word } if !word.ends_with("...") => {
                Some((self.span, format!("\"{word}\"")))
            }
            SyntaxFault::TrailingPeriod | SyntaxFault::Unopened { .. } => Some((self.span, String::new())),
            SyntaxFault::SignBeforeTerm { sign: '-' } => Some((self.span, "0 - ".to_owned())),
            SyntaxFault::UnknownType { meant: Some(meant), .. } => Some((self.span, (*meant).to_owned())),
            _ => None,
        }
    }
}

impl Diagnose for SyntaxError {
    fn diagnose(&self) -> Diagnostic {
        let code = match self.fault {
            SyntaxFault::Limit { .. } => Code::LimitExceeded,
            _ => Code::ParseError,
        };
        let mut diagnostic = Diagnostic::error(code, self.to_string()).at(self.span);
        diagnostic.statement = self.statement;
        if let SyntaxFault::Limit { name, limit, .. } = self.fault {
            diagnostic = diagnostic.limit(name, limit as u64);
        }
        diagnostic.help = self.fault.help();
        if let Some((span, text)) = self.fix() {
            diagnostic = diagnostic.fix(span, text);
        }
        if let SyntaxFault::UnclosedBracket { opened, .. } = self.fault {
            diagnostic = diagnostic.label(opened, "opened here");
        }
        diagnostic
    }
}

impl SyntaxFault {
    fn help(&self) -> Option<String> {
        match self {
            SyntaxFault::Empty => {
                Some("write a query such as `?edge(X, Y)`, or a fact such as `+edge(1, 2)`".into())
            }
            SyntaxFault::Unexpected { expected, help, .. } => {
                help.clone().or_else(|| usual_help(expected).map(Into::into))
            }
            SyntaxFault::UnclosedBracket { .. } => Some("a statement goes on while brackets are open".into()),
            SyntaxFault::Unopened { .. } => Some("leave it away, or open it before".into()),
            SyntaxFault::UnclosedText => {
                Some("add the closing `\"`; inside a string write it as `\\\"`".into())
            }
            SyntaxFault::UnclosedComment => Some("add `*/`; comments nest".into()),
            SyntaxFault::ForeignOperator { help, .. } => Some(help.clone()),
            SyntaxFault::Foreign(foreign) => Some(foreign.help(|_| None)),
            SyntaxFault::WrongQuote { text } => Some(format!("write \"{text}\"")),
            SyntaxFault::UnquotedWord { word } => {
                Some(format!("write \"{word}\" if it is text; variables start with an upper-case letter"))
            }
            SyntaxFault::TrailingPeriod => Some("leave the period away".into()),
            SyntaxFault::SignBeforeTerm { .. } => Some("write `0 - X`".into()),
            SyntaxFault::BadNumber { .. } => {
                Some("numbers are decimal: `12`, `1.5`, `1e9`; put text in double quotes".into())
            }
            SyntaxFault::BadTime { problem: NoTime::Other, .. } => Some(time::HOW_TO_WRITE.into()),
            SyntaxFault::BadTime { problem: NoTime::Finer, .. } => {
                Some("leave away what comes after three digits".into())
            }
            SyntaxFault::MisplacedAggregate { .. } => {
                Some("compute with its column in a second rule or in the query".into())
            }
            SyntaxFault::Ranking { ranking, .. } => Some(format!("write it as in `{}`", ranking.usage())),
            SyntaxFault::BadLimit => Some("write `limit(10)` or `limit(10, 20)`".into()),
            SyntaxFault::OneSidedUpdate => {
                Some("write `-old(X), +new(X) <- old(X)`; a single `-old(X) <- ..` deletes".into())
            }
            SyntaxFault::UnknownType { meant, .. } => Some(match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "types are int, float, string, bool, timestamp, vector, vector_int8, any, list[..], \
                         or a name declared by `type`"
                    .into(),
            }),
            SyntaxFault::ReservedName { .. } => Some("choose another name".into()),
            SyntaxFault::NumberTooLarge { .. } => {
                Some("write a smaller one: infinity is no value, and null stands for what is unknown".into())
            }
            SyntaxFault::Limit { name: "list_depth", .. } => {
                Some("put elements one after the other, as `extend` does".into())
            }
            SyntaxFault::Limit { name, .. } => {
                Some(format!("split it up, or raise `limits.{name}` in the configuration of the server"))
            }
        }
    }
}

/// What to do where something else was expected, unless what was found says more.
fn usual_help(expected: &str) -> Option<&'static str> {
    let (_, help) = USUAL_HELP.iter().find(|(start, _)| expected.starts_with(start))?;
    Some(help)
}

/// What may be expected, by its first words, and how it is written.
const USUAL_HELP: &[(&str, &str)] = &[
    ("a statement", "facts read `+edge(1, 2)`, queries `?edge(X, Y)`, rules `+p(X) <- edge(X, _)`"),
    ("a condition", "a rule reads `p(X) <- edge(X, Y), Y > 3`: conditions stand behind `<-`"),
    ("`=`, `!=`", "a condition is an atom such as `p(X)`, or a comparison such as `X > 3`"),
    ("the end of", "separate conditions by `,`, and begin each statement on a line of its own"),
    ("a variable or", "write a variable such as `X`, a number, or text in double quotes"),
    ("a number, since", "write a vector as in `[1, 2.5]`; several columns stand in parentheses"),
    ("a number", "write its digits behind the sign"),
    ("`,` or", "separate what stands in brackets by commas, and close them"),
    ("`(`", "an atom reads `edge(X, Y)`"),
    ("`asc`", "write `:asc` or `:desc` behind an argument of the goal"),
    ("`:` and", "columns read `name: type`, as in `+person(name: string, age: int)`"),
    ("a type name", "write it as in `type Age: int`"),
    ("a type", "types are int, float, string, bool, timestamp, vector, any, list[..], {field: type}"),
    ("a relation", "names begin with a letter, or with `_` and go on"),
];
