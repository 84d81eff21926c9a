//! The oracle: answers a [`Program`] in the plainest way there is.
//!
//! Every rule is applied to everything, again and again, until nothing new comes; a body is solved by trying every row
//! for every atom. It is slow, and that is its worth: there is nothing in it to get wrong.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    Aggregate, Arithmetic, Atom, Comparison, Direction, Expression, Function, Goal, HeadTerm, Literal,
    Program, Rule, Term,
};
use crate::value::{Row, Value};

/// What a program answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows: in the order asked for, otherwise ascending.
    pub rows: Vec<Row>,
    /// How many rows there are without the limit.
    pub total: usize,
}

/// Why the oracle does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// A relation depends on its own negation or aggregation.
    Unstratifiable,
    /// Some variable gets no value.
    Unsafe,
    /// More than [`MOST_STEPS`] steps.
    TooMuchWork,
}

/// How many rows the oracle looks at before it gives up.
pub const MOST_STEPS: usize = 400_000;

/// Floats this close to a number written in the program count as equal to it.
const TOLERANCE: f64 = 1e-10;

type Relations = BTreeMap<String, BTreeSet<Row>>;

/// Answers the program's goal.
pub fn answer(program: &Program) -> Result<Answer, Refusal> {
    let mut steps = 0;
    let mut relations = program.facts.clone();
    let strata = strata(&program.rules)?;
    for stratum in 0..=strata.values().copied().max().unwrap_or(0) {
        let rules: Vec<&Rule> = program.rules.iter().filter(|rule| strata[&rule.head] == stratum).collect();
        loop {
            let mut grown = false;
            for rule in &rules {
                let derived = apply(rule, &relations, &mut steps)?;
                let known = relations.entry(rule.head.clone()).or_default();
                for row in derived {
                    grown |= known.insert(row);
                }
            }
            if !grown {
                break;
            }
        }
    }
    ask(&program.goal, &relations, &mut steps)
}

/// A stratum for each derived relation: not below what it reads, and above what it negates or aggregates.
fn strata(rules: &[Rule]) -> Result<BTreeMap<String, usize>, Refusal> {
    let mut strata: BTreeMap<String, usize> = rules.iter().map(|rule| (rule.head.clone(), 0)).collect();
    loop {
        let mut changed = false;
        for rule in rules {
            for literal in &rule.body {
                let (relation, apart) = match literal {
                    Literal::Atom(atom) => (&atom.relation, rule.aggregates()),
                    Literal::Negated(atom) => (&atom.relation, true),
                    Literal::Comparison(..) => continue,
                };
                let Some(below) = strata.get(relation) else { continue };
                let least = below + usize::from(apart);
                if strata[&rule.head] < least {
                    if least > strata.len() {
                        return Err(Refusal::Unstratifiable);
                    }
                    strata.insert(rule.head.clone(), least);
                    changed = true;
                }
            }
        }
        if !changed {
            return Ok(strata);
        }
    }
}

/// The rows that a rule derives from these relations.
fn apply(rule: &Rule, relations: &Relations, steps: &mut usize) -> Result<BTreeSet<Row>, Refusal> {
    let solutions = solve(&rule.body, relations, steps)?;
    if rule.aggregates() {
        return group(rule, &solutions);
    }
    solutions
        .iter()
        .map(|solution| {
            rule.terms
                .iter()
                .map(|term| match term {
                    HeadTerm::Expression(expression) => evaluate(expression, &solution.values),
                    HeadTerm::Aggregate(..) => Err(Refusal::Unsafe),
                })
                .collect()
        })
        .collect()
}

/// One way to satisfy a body: a row for each atom, and the values that follow.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Solution {
    rows: Vec<Row>,
    values: BTreeMap<String, Value>,
}

/// All distinct solutions. Conditions are checked as soon as their variables have values.
fn solve(body: &[Literal], relations: &Relations, steps: &mut usize) -> Result<BTreeSet<Solution>, Refusal> {
    let in_atoms: BTreeSet<&str> = body
        .iter()
        .flat_map(|literal| match literal {
            Literal::Atom(atom) => atom.variables().collect(),
            Literal::Negated(_) | Literal::Comparison(..) => Vec::new(),
        })
        .collect();
    let mut open: Vec<&Literal> = body.iter().collect();
    let mut bound: BTreeSet<&str> = BTreeSet::new();
    let mut solutions = BTreeSet::from([Solution::default()]);
    while !open.is_empty() {
        let ready = open.iter().position(|literal| match literal {
            Literal::Atom(_) => false,
            Literal::Negated(atom) => atom.variables().all(|variable| bound.contains(variable)),
            Literal::Comparison(left, operator, right) => {
                right.variables().iter().all(|variable| bound.contains(variable))
                    && (left.variables().iter().all(|variable| bound.contains(variable))
                        || assigned(left, *operator, &in_atoms).is_some())
            }
        });
        let atom = open.iter().position(|literal| matches!(literal, Literal::Atom(_)));
        let literal = open.remove(ready.or(atom).ok_or(Refusal::Unsafe)?);
        match literal {
            Literal::Atom(atom) => {
                solutions = join(&solutions, atom, relations, steps)?;
                bound.extend(atom.variables());
            }
            Literal::Negated(atom) => {
                let rows = relations.get(&atom.relation).into_iter().flatten().collect::<Vec<_>>();
                *steps += solutions.len() * rows.len();
                solutions.retain(|solution| {
                    !rows.iter().any(|row| matches(atom, row, &solution.values).is_some())
                });
            }
            Literal::Comparison(left, operator, right) => match assigned(left, *operator, &in_atoms) {
                Some(variable) if !bound.contains(variable) => {
                    solutions = solutions
                        .into_iter()
                        .map(|mut solution| {
                            let value = evaluate(right, &solution.values)?;
                            solution.values.insert(variable.to_owned(), value);
                            Ok(solution)
                        })
                        .collect::<Result<_, _>>()?;
                    bound.insert(variable);
                }
                _ => {
                    let mut kept = BTreeSet::new();
                    for solution in solutions {
                        if holds(left, *operator, right, &solution.values)? {
                            kept.insert(solution);
                        }
                    }
                    solutions = kept;
                }
            },
        }
        if *steps > MOST_STEPS {
            return Err(Refusal::TooMuchWork);
        }
    }
    Ok(solutions)
}

/// The variable that a comparison may give a value.
fn assigned<'a>(left: &'a Expression, operator: Comparison, in_atoms: &BTreeSet<&str>) -> Option<&'a str> {
    match (left, operator) {
        (Expression::Variable(variable), Comparison::Equal) if !in_atoms.contains(variable.as_str()) => {
            Some(variable)
        }
        _ => None,
    }
}

/// Each solution with each row that matches.
fn join(
    solutions: &BTreeSet<Solution>,
    atom: &Atom,
    relations: &Relations,
    steps: &mut usize,
) -> Result<BTreeSet<Solution>, Refusal> {
    let mut joined = BTreeSet::new();
    for solution in solutions {
        for row in relations.get(&atom.relation).into_iter().flatten() {
            *steps += 1;
            if let Some(values) = matches(atom, row, &solution.values) {
                let mut rows = solution.rows.clone();
                rows.push(row.clone());
                joined.insert(Solution { rows, values });
            }
        }
        if *steps > MOST_STEPS {
            return Err(Refusal::TooMuchWork);
        }
    }
    Ok(joined)
}

/// The values after matching a row, if it matches. Variables join by the same value, constants by comparison.
fn matches(atom: &Atom, row: &Row, values: &BTreeMap<String, Value>) -> Option<BTreeMap<String, Value>> {
    let mut values = values.clone();
    for (term, value) in atom.terms.iter().zip(row) {
        match term {
            Term::Placeholder => {}
            Term::Constant(constant) => {
                if !equal_to_literal(value, constant) {
                    return None;
                }
            }
            Term::Variable(name) => match values.get(name) {
                Some(known) if known != value => return None,
                Some(_) => {}
                None => {
                    values.insert(name.clone(), value.clone());
                }
            },
        }
    }
    Some(values)
}

fn evaluate(expression: &Expression, values: &BTreeMap<String, Value>) -> Result<Value, Refusal> {
    match expression {
        Expression::Constant(value) => Ok(value.clone()),
        Expression::Variable(name) => values.get(name).cloned().ok_or(Refusal::Unsafe),
        Expression::Arithmetic(left, operator, right) => {
            Ok(calculate(&evaluate(left, values)?, *operator, &evaluate(right, values)?))
        }
        Expression::Call(function, arguments) => {
            let arguments: Result<Vec<Value>, Refusal> =
                arguments.iter().map(|argument| evaluate(argument, values)).collect();
            Ok(call(*function, &arguments?))
        }
    }
}

/// What a function is not made for gives Null.
fn call(function: Function, arguments: &[Value]) -> Value {
    match (function, arguments) {
        (Function::Abs, [Value::Int(n)]) => Value::Int(n.saturating_abs()),
        (Function::Abs, [Value::Float(x)]) => Value::Float(x.abs()),
        (Function::MinVal | Function::MaxVal, [a, b]) => {
            let (a, b) = match (a, b) {
                (Value::Int(_), Value::Int(_)) | (Value::Text(_), Value::Text(_)) => (a.clone(), b.clone()),
                _ => match (a.number(), b.number()) {
                    (Some(a), Some(b)) => (Value::Float(a), Value::Float(b)),
                    _ => return Value::Null,
                },
            };
            if function == Function::MinVal { a.min(b) } else { a.max(b) }
        }
        (Function::Len, [Value::Text(text)]) => Value::Int(text.len() as i64),
        (Function::Upper, [Value::Text(text)]) => Value::Text(text.to_uppercase()),
        (Function::Concat, values) => Value::Text(values.iter().map(as_text).collect()),
        (Function::ToFloat, [Value::Int(n)]) => Value::Float(*n as f64),
        (Function::ToInt, [Value::Float(x)]) => Value::Int(x.trunc() as i64),
        (Function::ToFloat, [x @ Value::Float(_)]) | (Function::ToInt, [x @ Value::Int(_)]) => x.clone(),
        (Function::Sign, [Value::Int(n)]) => Value::Int(n.signum()),
        (Function::Sign, [Value::Float(x)]) if *x == 0.0 => Value::Int(0),
        (Function::Sign, [Value::Float(x)]) => Value::Int(x.signum() as i64),
        _ => Value::Null,
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Text(text) => text.clone(),
        Value::Float(x) => x.to_string(),
        value => value.to_string(),
    }
}

/// Integers stay integers, but for `/`. What is no finite number is Null.
fn calculate(left: &Value, operator: Arithmetic, right: &Value) -> Value {
    if let (Value::Int(a), Value::Int(b)) = (left, right) {
        match operator {
            Arithmetic::Add => return Value::Int(a.saturating_add(*b)),
            Arithmetic::Subtract => return Value::Int(a.saturating_sub(*b)),
            Arithmetic::Multiply => return Value::Int(a.saturating_mul(*b)),
            Arithmetic::Remainder if *b == 0 => return Value::Null,
            Arithmetic::Remainder => return Value::Int(a.wrapping_rem(*b)),
            Arithmetic::Divide => {}
        }
    }
    let (Some(a), Some(b)) = (left.number(), right.number()) else { return Value::Null };
    finite(match operator {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => a % b,
    })
}

fn finite(x: f64) -> Value {
    if x.is_finite() { Value::Float(x) } else { Value::Null }
}

fn holds(
    left: &Expression,
    operator: Comparison,
    right: &Expression,
    values: &BTreeMap<String, Value>,
) -> Result<bool, Refusal> {
    let (a, b) = (evaluate(left, values)?, evaluate(right, values)?);
    let equal = || match (left, right) {
        (Expression::Variable(_), Expression::Variable(_)) => a == b,
        (Expression::Constant(literal), _) => equal_to_literal(&b, literal),
        (_, Expression::Constant(literal)) => equal_to_literal(&a, literal),
        _ => same(&a, &b, 0.0),
    };
    let order = || order(&a, &b);
    Ok(match operator {
        Comparison::Equal => equal(),
        Comparison::NotEqual => !equal(),
        Comparison::Less => order() == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order(), Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order() == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order(), Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// Equality with a value written in the program: numbers by value, Null with nothing.
fn equal_to_literal(value: &Value, literal: &Value) -> bool {
    same(value, literal, TOLERANCE)
}

fn same(a: &Value, b: &Value, tolerance: f64) -> bool {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Int(a), Value::Int(b)) => a == b,
        _ => match (a.number(), b.number()) {
            (Some(a), Some(b)) => (a - b).abs() <= tolerance,
            _ => a == b,
        },
    }
}

/// What `<` sees: numbers by value, strings, booleans; nothing else can be ordered.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        _ => a.number()?.partial_cmp(&b.number()?),
    }
}

/// The rows of an aggregating rule: one for each group that has a solution.
fn group(rule: &Rule, solutions: &BTreeSet<Solution>) -> Result<BTreeSet<Row>, Refusal> {
    let mut groups: BTreeMap<Row, Vec<&Solution>> = BTreeMap::new();
    for solution in solutions {
        let plain = rule.terms.iter().filter_map(|term| match term {
            HeadTerm::Expression(expression) => Some(evaluate(expression, &solution.values)),
            HeadTerm::Aggregate(..) => None,
        });
        groups.entry(plain.collect::<Result<_, _>>()?).or_default().push(solution);
    }
    let mut rows = BTreeSet::new();
    for (key, members) in groups {
        let mut key = key.into_iter();
        let mut row = Row::new();
        for term in &rule.terms {
            row.push(match term {
                HeadTerm::Expression(_) => key.next().ok_or(Refusal::Unsafe)?,
                HeadTerm::Aggregate(aggregate, variable) => {
                    let values: Option<Vec<&Value>> =
                        members.iter().map(|solution| solution.values.get(variable)).collect();
                    fold(*aggregate, &values.ok_or(Refusal::Unsafe)?)
                }
            });
        }
        rows.insert(row);
    }
    Ok(rows)
}

fn fold(aggregate: Aggregate, values: &[&Value]) -> Value {
    let some = || values.iter().filter(|value| ***value != Value::Null);
    let numbers: Vec<f64> = values.iter().filter_map(|value| value.number()).collect();
    let integers: Vec<i128> = values
        .iter()
        .filter_map(|value| match value {
            Value::Int(n) => Some(i128::from(*n)),
            _ => None,
        })
        .collect();
    match aggregate {
        Aggregate::Count => Value::Int(values.len() as i64),
        Aggregate::CountDistinct => Value::Int(values.iter().collect::<BTreeSet<_>>().len() as i64),
        Aggregate::Min => some().min().map_or(Value::Null, |value| (*value).clone()),
        Aggregate::Max => some().max().map_or(Value::Null, |value| (*value).clone()),
        Aggregate::Sum if numbers.is_empty() => Value::Null,
        Aggregate::Sum if integers.len() == numbers.len() => {
            let sum: i128 = integers.iter().sum();
            Value::Int(sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        }
        Aggregate::Sum => finite(numbers.iter().sum()),
        Aggregate::Avg if numbers.is_empty() => Value::Null,
        Aggregate::Avg => finite(numbers.iter().sum::<f64>() / numbers.len() as f64),
    }
}

/// The answer to a goal: a column for each of its terms, then one for each further variable.
fn ask(goal: &Goal, relations: &Relations, steps: &mut usize) -> Result<Answer, Refusal> {
    // The names contain a character that no variable has.
    let own: Vec<String> = (0..goal.atom.terms.len()).map(|i| format!("#{i}")).collect();
    let mut body = Vec::new();
    let mut columns = Vec::new();
    let mut names = Vec::new();
    for (term, own) in goal.atom.terms.iter().zip(&own) {
        names.push(match term {
            Term::Variable(name) => name.clone(),
            Term::Constant(Value::Text(text)) => text.clone(),
            Term::Constant(Value::Float(x)) => x.to_string(),
            Term::Constant(value) => value.to_string(),
            Term::Placeholder => "_".to_owned(),
        });
        columns.push(match term {
            Term::Variable(name) => name.clone(),
            Term::Constant(_) | Term::Placeholder => own.clone(),
        });
        if let Term::Constant(value) = term {
            body.push(Literal::Comparison(
                Expression::Variable(own.clone()),
                Comparison::Equal,
                Expression::Constant(value.clone()),
            ));
        }
    }
    let terms = columns.iter().cloned().map(Term::Variable).collect();
    body.insert(0, Literal::Atom(Atom { relation: goal.atom.relation.clone(), terms }));
    for literal in &goal.body {
        let variables = match literal {
            Literal::Atom(atom) => atom.variables().collect(),
            Literal::Negated(_) => Vec::new(),
            Literal::Comparison(left, _, right) => [left.variables(), right.variables()].concat(),
        };
        for variable in variables {
            if !columns.iter().any(|column| column == variable) {
                columns.push(variable.to_owned());
                names.push(variable.to_owned());
            }
        }
        body.push(literal.clone());
    }
    let mut rows = BTreeSet::new();
    for solution in solve(&body, relations, steps)? {
        let row: Option<Row> = columns.iter().map(|column| solution.values.get(column).cloned()).collect();
        rows.insert(row.ok_or(Refusal::Unsafe)?);
    }
    let total = rows.len();
    let mut rows: Vec<Row> = rows.into_iter().collect();
    rows.sort_by(|a, b| in_order(&goal.order, a, b));
    if let Some((count, offset)) = goal.limit {
        rows = rows.into_iter().skip(offset).take(count).collect();
    }
    Ok(Answer { columns: names, rows, total })
}

/// The order that a goal asks for; rows that it does not tell apart are equal.
pub fn in_order(order: &[Option<Direction>], a: &Row, b: &Row) -> Ordering {
    for (i, mark) in order.iter().enumerate() {
        let ascending = a[i].cmp(&b[i]);
        let found = match mark {
            None => Ordering::Equal,
            Some(Direction::Ascending) => ascending,
            Some(Direction::Descending) => ascending.reverse(),
        };
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::{Answer, Refusal, answer};
    use crate::model::{
        Aggregate, Arithmetic, Atom, Comparison, Expression, Goal, HeadTerm, Literal, Program, Rule, Term,
    };
    use crate::value::{Row, Value};

    fn variable(name: &str) -> Expression {
        Expression::Variable(name.to_owned())
    }

    fn atom(relation: &str, variables: &[&str]) -> Atom {
        let terms = variables
            .iter()
            .map(|name| if *name == "_" { Term::Placeholder } else { Term::Variable((*name).to_owned()) });
        Atom { relation: relation.to_owned(), terms: terms.collect() }
    }

    fn rule(head: &str, variables: &[&str], body: Vec<Literal>) -> Rule {
        let terms = variables.iter().map(|name| HeadTerm::Expression(variable(name))).collect();
        Rule { head: head.to_owned(), terms, body }
    }

    fn goal(relation: &str, variables: &[&str]) -> Goal {
        Goal { atom: atom(relation, variables), ..Goal::default() }
    }

    fn ints(rows: &[&[i64]]) -> Vec<Row> {
        rows.iter().map(|row| row.iter().map(|n| Value::Int(*n)).collect()).collect()
    }

    fn facts(relation: &str, rows: &[&[i64]]) -> Program {
        Program {
            facts: [(relation.to_owned(), ints(rows).into_iter().collect())].into(),
            ..Program::default()
        }
    }

    fn rows(program: &Program) -> Vec<Row> {
        answer(program).unwrap().rows
    }

    #[test]
    fn paths_through_a_cycle_are_found_once() {
        let mut program = facts("edge", &[&[1, 2], &[2, 1]]);
        program.rules = vec![
            rule("path", &["X", "Y"], vec![Literal::Atom(atom("edge", &["X", "Y"]))]),
            rule(
                "path",
                &["X", "Z"],
                vec![Literal::Atom(atom("path", &["X", "Y"])), Literal::Atom(atom("path", &["Y", "Z"]))],
            ),
        ];
        program.goal = goal("path", &["A", "B"]);
        assert_eq!(
            answer(&program).unwrap(),
            Answer {
                columns: vec!["A".to_owned(), "B".to_owned()],
                rows: ints(&[&[1, 1], &[1, 2], &[2, 1], &[2, 2]]),
                total: 4
            }
        );
    }

    #[test]
    fn negation_waits_for_what_it_negates() {
        let mut program = facts("node", &[&[1], &[2]]);
        program.rules = vec![
            rule(
                "sink",
                &["X"],
                vec![Literal::Atom(atom("node", &["X"])), Literal::Negated(atom("source", &["X"]))],
            ),
            rule(
                "source",
                &["X"],
                vec![
                    Literal::Atom(atom("node", &["X"])),
                    Literal::Comparison(variable("X"), Comparison::Less, Expression::Constant(Value::Int(2))),
                ],
            ),
        ];
        program.goal = goal("sink", &["X"]);
        assert_eq!(rows(&program), ints(&[&[2]]));
        program.rules.push(rule("source", &["X"], vec![Literal::Atom(atom("sink", &["X"]))]));
        assert_eq!(answer(&program), Err(Refusal::Unstratifiable));
    }

    #[test]
    fn a_sum_counts_every_solution_and_not_every_value() {
        let mut program = facts("d", &[&[1, 5], &[2, 5], &[3, 5]]);
        let terms = vec![
            HeadTerm::Aggregate(Aggregate::Sum, "V".to_owned()),
            HeadTerm::Aggregate(Aggregate::CountDistinct, "V".to_owned()),
        ];
        program.rules =
            vec![Rule { head: "s".to_owned(), terms, body: vec![Literal::Atom(atom("d", &["_", "V"]))] }];
        program.goal = goal("s", &["S", "N"]);
        assert_eq!(rows(&program), ints(&[&[15, 1]]));
    }

    #[test]
    fn an_aggregate_over_nothing_has_no_row() {
        let mut program = Program::default();
        let terms = vec![HeadTerm::Aggregate(Aggregate::Count, "V".to_owned())];
        program.rules =
            vec![Rule { head: "c".to_owned(), terms, body: vec![Literal::Atom(atom("d", &["V"]))] }];
        program.goal = goal("c", &["N"]);
        assert!(rows(&program).is_empty());
    }

    #[test]
    fn division_is_of_floats_and_by_zero_null() {
        let mut program = facts("n", &[&[7, 2], &[7, 0]]);
        let quotient =
            Expression::Arithmetic(Box::new(variable("A")), Arithmetic::Divide, Box::new(variable("B")));
        program.goal = goal("n", &["A", "B"]);
        program.goal.body = vec![Literal::Comparison(variable("C"), Comparison::Equal, quotient)];
        let expected = vec![
            vec![Value::Int(7), Value::Int(0), Value::Null],
            vec![Value::Int(7), Value::Int(2), Value::Float(3.5)],
        ];
        assert_eq!(rows(&program), expected);
    }

    #[test]
    fn a_constant_matches_by_value_and_a_variable_by_type() {
        let mut program = Program::default();
        let both = [vec![Value::Int(2)], vec![Value::Float(2.0)]];
        program.facts.insert("a".to_owned(), both.iter().cloned().collect());
        program.goal = goal("a", &["X"]);
        program.goal.body =
            vec![Literal::Comparison(variable("X"), Comparison::Equal, Expression::Constant(Value::Int(2)))];
        assert_eq!(rows(&program), both);
        program.goal.body = vec![
            Literal::Atom(atom("a", &["Y"])),
            Literal::Comparison(variable("X"), Comparison::Equal, variable("Y")),
        ];
        assert_eq!(rows(&program).len(), 2);
    }
}
