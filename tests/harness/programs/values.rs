//! Which values there are.

use std::collections::BTreeSet;

use crate::value::{Row, Value};

/// A choice of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Domain {
    /// Small integers, so that much joins.
    Ints,
    /// Integers and floats.
    Numbers,
    /// Floats alone, both zeros among them: a column has one type, and its constants are converted.
    Floats,
    /// Strings alone, so that functions of strings have something to work on.
    Texts,
    /// A few of every kind that Arrow batches carry in the tests.
    Mixed,
    /// Of every kind, with those that are easily got wrong.
    Wide,
}

/// Distinct rows of this arity.
pub(super) fn rows_of(rows: &[Vec<u8>], arity: usize, domain: Domain) -> BTreeSet<Row> {
    rows.iter().map(|row| row_of(row, arity, domain)).collect()
}

/// A row of this arity.
pub(super) fn row_of(row: &[u8], arity: usize, domain: Domain) -> Row {
    (0..arity).map(|i| value(row.get(i).copied().unwrap_or(0), domain)).collect()
}

fn value(n: u8, domain: Domain) -> Value {
    let n = usize::from(n);
    let int = |n: usize| Value::Int(n as i64);
    match domain {
        Domain::Ints => int(n % 6),
        Domain::Numbers => match n % 8 {
            n @ 0..=3 => int(n),
            4 => Value::Float(1.0),
            5 => Value::Float(2.5),
            6 => Value::Float(0.5),
            _ => Value::Float(3.0),
        },
        Domain::Floats => Value::Float([0.0, -0.0, 1.0, 2.5, -1.5, 3.0][n % 6]),
        Domain::Texts => Value::text(["a", "xa b", "", "Gr\u{f6}\u{df}e", "b-a", "abcde"][n % 6]),
        Domain::Mixed => match n % 11 {
            n @ 0..=2 => int(n),
            3 => Value::text("a"),
            4 => Value::text("b"),
            5 => Value::Null,
            6 => Value::Bool(true),
            7 => Value::Float(1.0),
            8 => Value::Float(2.5),
            9 => Value::Bool(false),
            _ => Value::text("x \"y\", z"),
        },
        Domain::Wide => match n % 16 {
            n @ 0..=2 => int(n),
            3 => Value::Int(-2),
            4 => Value::text("a"),
            5 => Value::text(" B\u{e9}"),
            6 => Value::text(""),
            7 => Value::Null,
            8 => Value::Bool(true),
            9 => Value::Float(1.0),
            10 => Value::Float(-0.5),
            11 => Value::Float(-0.0),
            12 => Value::Vector(vec![1.0, 2.5]),
            13 => Value::Vector(vec![0.0, 0.0]),
            14 => Value::Vector(vec![-3.0, 4.0]),
            _ => Value::Vector(vec![]),
        },
    }
}

/// A constant that is written in a rule: Null cannot be asked for by writing it.
pub(super) fn constant(n: u8, domain: Domain) -> Value {
    match value(n, domain) {
        Value::Null => Value::Int(1),
        // A whole float may be written as an integer.
        Value::Float(x) if domain == Domain::Floats && n >= 128 && x.fract() == 0.0 => Value::Int(x as i64),
        value => value,
    }
}
