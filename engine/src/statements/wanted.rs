//! Which rows of an attached relation a program has a use for: those that some atom may match, as far as constants tell.
//!
//! Constants are followed through what rules derive without recursion, so that they come from a question to where a rule reads
//! files: magic sets hand them on as rows of relations of their own.

use foldhash::{HashMap, HashMapExt};

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Stratum, Test};
use crate::attached::{Bounds, Wanted};
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::syntax::ast::Comparison;

/// Integers up to here are floats, too.
const EXACT: u64 = 1 << 53;

/// Between which values the columns of the derived relations of a program lie.
pub(super) struct Ranges<'p> {
    program: &'p Program,
    columns: HashMap<RelationId, Vec<Range>>,
}

impl<'p> Ranges<'p> {
    /// Those of a program. Of what recurs nothing is known.
    pub(super) fn of(program: &'p Program) -> Ranges<'p> {
        let mut ranges = Ranges { program, columns: HashMap::new() };
        for stratum in program.strata.iter().filter(|stratum| !stratum.recursive) {
            for relation in &stratum.relations {
                if !program.relations[relation.index()].stored {
                    let columns = ranges.derived(*relation, stratum);
                    ranges.columns.insert(*relation, columns);
                }
            }
        }
        ranges
    }

    /// The rows of a relation of files that the program may find.
    pub(super) fn wanted(&self, relation: RelationId) -> Wanted {
        let program = self.program;
        let is_handed_on = program.goal == relation || program.derived().contains(&relation);
        if is_handed_on {
            return Wanted::default();
        }
        let rules = program.strata.iter().flat_map(|stratum| {
            let auxiliaries = stratum.auxiliaries.iter();
            let with =
                auxiliaries.clone().flat_map(|auxiliary| auxiliary.readers.iter().map(|reader| &reader.with));
            stratum.rules.iter().chain(auxiliaries.map(|auxiliary| &auxiliary.rule)).chain(with)
        });
        let conditions = rules.flat_map(|rule| {
            let atoms = rule.body.iter().filter_map(|literal| match literal {
                Literal::Atom(atom) | Literal::Negated(atom) => Some(atom),
                Literal::Filter { .. } | Literal::Assign { .. } => None,
            });
            atoms.filter(|atom| atom.relation == relation).map(|atom| self.bounds(atom, rule))
        });
        Wanted::any_of(conditions.collect())
    }

    /// What each row meets that an atom of a rule can match.
    fn bounds(&self, atom: &Atom, rule: &Rule) -> Vec<Bounds> {
        let types = &self.program.relations[atom.relation.index()].column_types;
        let columns = atom.arguments.iter().zip(types).enumerate();
        let bounds = columns.filter_map(|(column, (argument, data_type))| {
            let range = match argument {
                Argument::Constant(value) => Range::only(value),
                Argument::Variable(variable) => self.of_variable(*variable, rule),
                Argument::Any => Range::default(),
            };
            let least = range.least.and_then(|least| Some(around(&least, *data_type)?.0));
            let greatest = range.greatest.and_then(|greatest| Some(around(&greatest, *data_type)?.1));
            (least.is_some() || greatest.is_some()).then_some(Bounds { column, least, greatest })
        });
        bounds.collect()
    }

    /// The columns of a relation whose rules are in this stratum.
    fn derived(&self, relation: RelationId, stratum: &Stratum) -> Vec<Range> {
        let rules = stratum.rules.iter().filter(|rule| rule.head == relation);
        let columns = rules.map(|rule| {
            let column = |term: &HeadTerm| match term {
                HeadTerm::Expression(Expression::Constant(value)) => Range::only(value),
                HeadTerm::Expression(Expression::Variable(variable)) => self.of_variable(*variable, rule),
                HeadTerm::Expression(Expression::Arithmetic { .. } | Expression::Call { .. })
                | HeadTerm::Aggregate { .. } => Range::default(),
            };
            rule.head_terms.iter().map(column).collect::<Vec<Range>>()
        });
        let all = columns.reduce(|one, other| one.into_iter().zip(other).map(|(a, b)| a.or(b)).collect());
        all.unwrap_or_default()
    }

    /// Between which values a variable lies where the conditions of a rule hold.
    fn of_variable(&self, variable: VariableId, rule: &Rule) -> Range {
        let is_it = |side: &Expression| *side == Expression::Variable(variable);
        let mut all = Range::default();
        for literal in &rule.body {
            match literal {
                Literal::Filter { operator, left, right: Expression::Constant(value) } if is_it(left) => {
                    all = all
                        .and(holds(*operator).map_or_else(Range::default, |held| Range::held(held, value)));
                }
                Literal::Filter { operator, left: Expression::Constant(value), right } if is_it(right) => {
                    let held = holds(*operator).map(Comparison::turned);
                    all = all.and(held.map_or_else(Range::default, |held| Range::held(held, value)));
                }
                Literal::Atom(atom) => {
                    let columns = self.columns.get(&atom.relation).into_iter().flatten();
                    for (range, argument) in columns.zip(&atom.arguments) {
                        if *argument == Argument::Variable(variable) {
                            all = all.and(range.clone());
                        }
                    }
                }
                Literal::Negated(_) | Literal::Filter { .. } | Literal::Assign { .. } => {}
            }
        }
        all
    }
}

/// The least and the greatest value that something may have; without both it may be anything, and with one of them no null.
#[derive(Debug, Clone, Default, PartialEq)]
struct Range {
    least: Option<Value>,
    greatest: Option<Value>,
}

impl Range {
    /// This value alone. A null is like nothing that has an order.
    fn only(value: &Value) -> Range {
        Range::held(Comparison::Equal, value)
    }

    /// Where a comparison with a constant holds.
    fn held(comparison: Comparison, value: &Value) -> Range {
        let bound = (*value != Value::Null).then(|| value.clone());
        let (least, greatest) = match comparison {
            Comparison::Equal => (bound.clone(), bound),
            Comparison::Less | Comparison::LessOrEqual => (None, bound),
            Comparison::Greater | Comparison::GreaterOrEqual => (bound, None),
            Comparison::NotEqual => (None, None),
        };
        Range { least, greatest }
    }

    /// Where both hold.
    fn and(self, other: Range) -> Range {
        let narrower = |one: Option<Value>, other: Option<Value>, wants_greater: bool| match (one, other) {
            (Some(one), Some(other)) if one.kind() == other.kind() => {
                Some(if (other > one) == wants_greater { other } else { one })
            }
            (one, other) => one.or(other),
        };
        Range {
            least: narrower(self.least, other.least, true),
            greatest: narrower(self.greatest, other.greatest, false),
        }
    }

    /// Where one of them holds.
    fn or(self, other: Range) -> Range {
        let wider = |one: Option<Value>, other: Option<Value>, wants_greater: bool| {
            let (one, other) = one.zip(other).filter(|(one, other)| one.kind() == other.kind())?;
            Some(if (other > one) == wants_greater { other } else { one })
        };
        Range {
            least: wider(self.least, other.least, false),
            greatest: wider(self.greatest, other.greatest, true),
        }
    }
}

/// The comparison that holds, where it is not the opposite of one.
fn holds(test: Test) -> Option<Comparison> {
    match test {
        Test::Same => Some(Comparison::Equal),
        Test::ByValue(comparison) => Some(comparison),
        Test::Different | Test::Not(_) => None,
    }
}

/// The nearest values of a type that are not above a constant, and not below it. Numbers are compared by value.
fn around(constant: &Value, data_type: DataType) -> Option<(Value, Value)> {
    match (constant, data_type) {
        (Value::Int(_), DataType::Int)
        | (Value::Float(_), DataType::Float)
        | (Value::Timestamp(_), DataType::Timestamp)
        | (Value::Text(_), DataType::Text)
        | (Value::Bool(_), DataType::Bool) => Some((constant.clone(), constant.clone())),
        (Value::Int(whole), DataType::Float) if whole.unsigned_abs() <= EXACT => {
            let float = Value::Float(*whole as f64);
            Some((float.clone(), float))
        }
        (Value::Float(float), DataType::Int) if float.abs() <= EXACT as f64 => {
            Some((Value::Int(float.floor() as i64), Value::Int(float.ceil() as i64)))
        }
        _ => None,
    }
}
