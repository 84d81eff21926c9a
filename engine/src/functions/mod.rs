//! The built-in scalar functions: one list, from which checker, evaluator and manual read.
//!
//! ```
//! use stratalog_engine::functions::ScalarFunction;
//!
//! assert_eq!(ScalarFunction::named("UPPER").map(|function| function.name), Some("upper"));
//! ```
//!
//! A function never fails on a value: what it cannot be applied to gives Null, and so does a result that is no finite
//! number. Integers that leave the 64-bit range stay at its end, which the answer reports.

pub(crate) mod calendar;
mod kernel;
pub(crate) mod lists;
mod lsh;
pub(crate) mod matching;
mod math;
pub(crate) mod pattern;
mod quantise;
pub(crate) mod score;
mod table;
mod text;
mod time_span;
mod vector;

pub(crate) use kernel::new_list;
pub use kernel::{Argument, Arguments, Circumstances, Column, FunctionError};
pub use table::functions;

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::data::DataType;
use crate::data::time::{self, NoTime};

/// A built-in function of scalars.
#[derive(Debug)]
pub struct ScalarFunction {
    /// Its name, in lower case; programs may write it in any case.
    pub name: &'static str,
    /// The chapter of the manual.
    pub family: Family,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// Whether more arguments like the last may follow.
    pub variadic: bool,
    /// The type of its result.
    pub gives: Gives,
    /// What it does, for the manual.
    pub doc: &'static str,
    /// An expression and the value it has.
    pub example: (&'static str, &'static str),
    /// The function itself, a column of arguments at a time.
    pub evaluate: fn(&Arguments<'_>, &Circumstances<'_>) -> Result<Column, FunctionError>,
}

/// A parameter of a function.
#[derive(Debug)]
pub struct Parameter {
    /// Its name in the manual and in messages.
    pub name: &'static str,
    /// What belongs there.
    pub takes: Takes,
}

/// What a parameter takes. Any other value makes the result Null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Any value.
    Any,
    /// Integers and floats.
    Number,
    /// Integers.
    Int,
    /// Integers, floats and strings.
    NumberOrText,
    /// Strings.
    Text,
    /// Strings that are regular expressions.
    Pattern,
    /// Timestamps, and integers that are read as such.
    Time,
    /// Strings that are formats of times.
    Format,
    /// Strings that name a unit of the calendar.
    Unit,
    /// Strings that name a time zone.
    Zone,
    /// Lists, and vectors as lists of floats.
    List,
    /// Strings and lists.
    TextOrList,
    /// Vectors of floats.
    Vector,
    /// Quantised vectors.
    VectorInt8,
    /// Vectors of either kind.
    AnyVector,
}

/// The type of a result, but for Null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// Always the same.
    Always(DataType),
    /// That of the arguments; a float where integers and floats meet.
    AsArguments,
    /// The value of one of the arguments, of whatever type.
    OneOfArguments,
}

/// The chapters of the manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Numbers.
    Math,
    /// Strings.
    Text,
    /// Lists of values.
    List,
    /// Vectors of floats.
    Vector,
    /// Quantised vectors.
    Quantised,
    /// Locality-sensitive hashing.
    Lsh,
    /// Points in time.
    Time,
}

/// All chapters, in the order of the manual.
pub const FAMILIES: &[Family] =
    &[Family::Math, Family::Text, Family::List, Family::Vector, Family::Quantised, Family::Lsh, Family::Time];

impl ScalarFunction {
    /// Finds a function by its name, in any case.
    pub fn named(name: &str) -> Option<&'static ScalarFunction> {
        let known = functions().find(|function| function.name.eq_ignore_ascii_case(name));
        known.or_else(|| (name == score::SCORE).then_some(&score::FUNCTION))
    }

    /// Whether its value depends on the request rather than on arguments.
    pub fn tells_circumstances(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Whether so many arguments may be given.
    pub fn accepts_count(&self, count: usize) -> bool {
        count == self.parameters.len() || (self.variadic && count > self.parameters.len())
    }

    /// The parameter that an argument fills; the last one again for further arguments.
    pub fn parameter(&self, position: usize) -> Option<&'static Parameter> {
        self.parameters.get(position).or(self.parameters.last())
    }

    /// Whether it can stand as a condition.
    pub fn is_condition(&self) -> bool {
        self.gives == Gives::Always(DataType::Bool)
    }

    /// The type of the result, given those of the arguments. Unknown where there can only be Null.
    pub fn result_type(&self, arguments: &[DataType]) -> DataType {
        match self.gives {
            Gives::Always(data_type) => data_type,
            Gives::AsArguments => arguments.iter().copied().reduce(common).map_or(DataType::Unknown, own),
            Gives::OneOfArguments => match arguments {
                [first, more @ ..] if more.iter().all(|other| other == first) => *first,
                _ => DataType::Any,
            },
        }
    }

    /// `name(parameter, ..)`
    pub fn signature(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        format!("{}({}{})", self.name, names.join(", "), if self.variadic { ", .." } else { "" })
    }
}

/// There is one of each name.
impl PartialEq for ScalarFunction {
    fn eq(&self, other: &ScalarFunction) -> bool {
        self.name == other.name
    }
}

impl Hash for ScalarFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

fn common(a: DataType, b: DataType) -> DataType {
    use DataType::{Any, Float, Int, Text, Unknown};
    match (a, b) {
        (Unknown, _) | (_, Unknown) => Unknown,
        (Any, _) | (_, Any) => Any,
        (Int, Int) => Int,
        (Int | Float, Int | Float) => Float,
        (Text, Text) => Text,
        _ => Unknown,
    }
}

/// Only numbers and texts come out of functions that keep the type of what goes in.
fn own(data_type: DataType) -> DataType {
    match data_type {
        DataType::Int | DataType::Float | DataType::Text | DataType::Any => data_type,
        _ => DataType::Unknown,
    }
}

impl Takes {
    /// Strings, whatever they are to say.
    fn is_text(self) -> bool {
        matches!(self, Takes::Text | Takes::Pattern | Takes::Format | Takes::Unit | Takes::Zone)
    }

    /// What text is to be here, and how it is written.
    pub(crate) fn meaning(self) -> (&'static str, &'static str) {
        match self {
            Takes::Pattern => (
                "a regular expression",
                "a character that means something stands for itself after `[` and before `]`, as in `[.]`",
            ),
            Takes::Time => ("a time", time::HOW_TO_WRITE),
            Takes::Format => (
                "a format of times",
                "write `%Y-%m-%d %H:%M:%S` or other letters of `strftime`; `%%` is a percent sign",
            ),
            Takes::Unit => ("a unit of time", calendar::UNITS),
            Takes::Zone => ("a time zone", "zones are those of the IANA database: `UTC`, `Europe/Berlin`"),
            other => (other.name(), "write another argument"),
        }
    }

    /// What is wrong with a text that is written down here; nothing if it says what it should.
    pub(crate) fn fault_of(self, text: &str) -> Option<String> {
        let unknown = |known: bool| (!known).then(|| "there is none of this name".to_owned());
        match self {
            Takes::Pattern => pattern::compile(text).err(),
            Takes::Time => time::read(text).err().map(|problem| match problem {
                NoTime::Other => "it does not read as one".to_owned(),
                NoTime::Finer => problem.to_string(),
            }),
            Takes::Format => calendar::read_format(text).err(),
            Takes::Unit => unknown(calendar::is_unit(text)),
            Takes::Zone => unknown(calendar::zone(text).is_some()),
            _ => None,
        }
    }

    /// Whether a column of this type may hold something that belongs here.
    pub fn accepts(self, data_type: DataType) -> bool {
        use DataType::{Any, Float, Int, List, Text, Timestamp, Unknown, Vector, VectorInt8};
        match data_type {
            Any | Unknown => true,
            Int => {
                matches!(self, Takes::Any | Takes::Number | Takes::Int | Takes::NumberOrText | Takes::Time)
            }
            Float => matches!(self, Takes::Any | Takes::Number | Takes::NumberOrText),
            Text => self.is_text() || matches!(self, Takes::Any | Takes::NumberOrText | Takes::TextOrList),
            List => matches!(self, Takes::Any | Takes::List | Takes::TextOrList),
            Timestamp => matches!(self, Takes::Any | Takes::Time),
            Vector(_) => {
                matches!(
                    self,
                    Takes::Any | Takes::Vector | Takes::AnyVector | Takes::List | Takes::TextOrList
                )
            }
            VectorInt8(_) => {
                matches!(
                    self,
                    Takes::Any | Takes::VectorInt8 | Takes::AnyVector | Takes::List | Takes::TextOrList
                )
            }
            DataType::Bool => self == Takes::Any,
        }
    }
}

/// As it stands in the manual and in messages.
impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Takes {
    fn name(self) -> &'static str {
        match self {
            Takes::Any => "any",
            Takes::Number => "int or float",
            Takes::Int => "int",
            Takes::NumberOrText => "int, float or string",
            text if text.is_text() => "string",
            Takes::Time => "timestamp or int",
            Takes::List => "list",
            Takes::TextOrList => "string or list",
            Takes::Vector => "vector",
            Takes::VectorInt8 => "vector_int8",
            _ => "vector or vector_int8",
        }
    }
}

/// As it stands in the manual.
impl fmt::Display for Gives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gives::Always(data_type) => data_type.fmt(f),
            Gives::AsArguments => f.write_str("as the arguments"),
            Gives::OneOfArguments => f.write_str("any"),
        }
    }
}

/// The title of the chapter.
impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Math => "Numbers",
            Family::Text => "Strings",
            Family::List => "Lists",
            Family::Vector => "Vectors",
            Family::Quantised => "Quantised vectors",
            Family::Lsh => "Locality-sensitive hashing",
            Family::Time => "Time",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use arrow::compute::cast;
    use arrow::datatypes::DataType as ArrowType;
    use arrow::util::display::array_value_to_string;

    use super::{FAMILIES, Gives, ScalarFunction, functions};
    use crate::aggregates::Aggregate;
    use crate::data::DataType;
    use crate::statements::Parameters;
    use crate::{Budget, Content, Engine, EngineOptions, RunOptions};

    /// The value of an expression and the type of its column.
    fn value_of(expression: &str) -> (String, DataType) {
        let options = EngineOptions { threads: Some(1), ..EngineOptions::default() };
        let mut session = Engine::in_memory(options).unwrap().open_session("default").unwrap();
        let program = format!("?X <- X = {expression}");
        let prepared = session.prepare(&program, &Parameters::new()).unwrap();
        let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited()).unwrap();
        let Content::Rows(rows) = answer.content else { panic!("a query has rows") };
        assert_eq!(rows.row_count(), 1, "{expression}");
        let data_type = rows.columns()[0].data_type;
        let column = rows.batch(0, 1).column(0).clone();
        // A zone has no name there.
        let column =
            if data_type == DataType::Timestamp { cast(&column, &ArrowType::Int64).unwrap() } else { column };
        (array_value_to_string(&column, 0).unwrap(), data_type)
    }

    #[test]
    fn every_example_has_the_value_that_the_list_says() {
        for function in functions() {
            let (expression, expected) = function.example;
            assert!(expression.contains(function.name), "{expression}");
            let (value, data_type) = value_of(expression);
            // Quantised vectors are not written as such.
            if value != expected {
                assert_eq!(value, value_of(expected).0, "{expression}");
            }
            if let Gives::Always(promised) = function.gives
                && expression.starts_with(function.name)
            {
                assert!(promised.overlaps(data_type), "{expression} is {data_type}, not {promised}");
            }
        }
    }

    #[test]
    fn names_are_distinct_and_in_lower_case() {
        let names: HashSet<&str> = functions().map(|function| function.name).collect();
        assert_eq!(names.len(), functions().count());
        for function in functions() {
            assert_eq!(function.name, function.name.to_ascii_lowercase());
            assert_eq!(Aggregate::named(function.name), None);
            assert!(FAMILIES.contains(&function.family));
            assert!(function.doc.ends_with('.'), "{}", function.name);
            assert!(!function.variadic || !function.parameters.is_empty());
        }
    }

    #[test]
    fn results_have_the_type_of_the_arguments_where_they_keep_it() {
        use DataType::{Any, Bool, Float, Int, Text, Unknown};
        let min = ScalarFunction::named("Min_Val").unwrap();
        assert_eq!(min.result_type(&[Int, Int]), Int);
        assert_eq!(min.result_type(&[Int, Float]), Float);
        assert_eq!(min.result_type(&[Text, Text]), Text);
        assert_eq!(min.result_type(&[Text, Int]), Unknown);
        assert_eq!(min.result_type(&[Any, Int]), Any);
        assert_eq!(ScalarFunction::named("abs").unwrap().result_type(&[Bool]), Unknown);
    }
}
