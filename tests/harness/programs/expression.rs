//! Random expressions, typed so that the checker has no ground to refuse them.

use super::values::{Domain, constant};
use crate::functions::{Function, Kind, function, functions};
use crate::model::{Arithmetic, Expression};
use crate::value::Value;

/// Small numbers, one after the other; when there are no more, zeros.
pub(super) struct Choices<'a>(pub(super) std::slice::Iter<'a, u8>);

impl Choices<'_> {
    pub(super) fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.next()) % bound.max(1)
    }
}

/// What expressions may be made of.
pub(super) struct Expressions<'a> {
    pub(super) domain: Domain,
    /// Variables that may have any value.
    pub(super) variables: &'a [String],
    /// A variable whose values are of one kind.
    pub(super) typed: Option<(&'a str, Kind)>,
}

impl Expressions<'_> {
    /// A random expression of this kind.
    pub(super) fn of(&self, kind: Kind, choices: &mut Choices<'_>, depth: usize) -> Expression {
        let choice = choices.below(8);
        match kind {
            Kind::Small => Expression::Constant(Value::Int(choice as i64 % 6)),
            // Offsets, for the most part.
            Kind::Number if self.domain == Domain::Texts && choice < 3 => {
                Expression::Constant(Value::Int(choice as i64))
            }
            Kind::Number if depth > 0 && (3..5).contains(&choice) => self.arithmetic(choices, depth - 1),
            Kind::Bool | Kind::Bytes | Kind::List => self.call(kind, choices, depth),
            Kind::Number | Kind::Text | Kind::Vector | Kind::Time if depth > 0 && choice > 2 => {
                self.call(kind, choices, depth)
            }
            Kind::Any | Kind::Number | Kind::Text | Kind::Vector | Kind::Time => self.operand(kind, choices),
        }
    }

    /// A variable or a constant.
    pub(super) fn operand(&self, kind: Kind, choices: &mut Choices<'_>) -> Expression {
        let typed = self.typed.filter(|(_, known)| kind == *known || kind == Kind::Any);
        let count = self.variables.len() + usize::from(typed.is_some());
        // Few variables hold strings or vectors, or else no numbers.
        let constants = match kind {
            Kind::Text if self.domain == Domain::Texts => count / 2,
            Kind::Number if self.domain == Domain::Texts => 2 * count + 1,
            Kind::Text | Kind::Vector => count + 1,
            Kind::Any | Kind::Number | Kind::Small | Kind::Bool | Kind::Bytes | Kind::List | Kind::Time => {
                count / 2
            }
        };
        let choice = choices.below(count + 1 + constants);
        match (self.variables.get(choice), typed) {
            (Some(name), _) => Expression::Variable(name.clone()),
            (None, Some((name, _))) if choice == self.variables.len() => {
                Expression::Variable(name.to_owned())
            }
            (None, _) if choice > count => self.operand_constant(kind, choices),
            (None, _) => match self.variables.first() {
                Some(name) => Expression::Variable(name.clone()),
                None => self.operand_constant(kind, choices),
            },
        }
    }

    fn operand_constant(&self, kind: Kind, choices: &mut Choices<'_>) -> Expression {
        let n = choices.next();
        Expression::Constant(match kind {
            Kind::Any => constant(n, self.domain),
            Kind::Number if n % 4 == 3 => Value::Float(f64::from(n % 16) / 2.0),
            Kind::Number | Kind::Small | Kind::Time => Value::Int(i64::from(n % 5) - 1),
            Kind::Text => Value::text(["a", "-", "xa b", ""][usize::from(n) % 4]),
            Kind::Vector | Kind::Bytes | Kind::List => Value::Vector(vec![1.0, f32::from(n % 4)]),
            Kind::Bool => Value::Bool(n.is_multiple_of(2)),
        })
    }

    /// Division is by a power of two or by zero, so that sums of floats do not depend on their order.
    fn arithmetic(&self, choices: &mut Choices<'_>, depth: usize) -> Expression {
        let int = |n: i64| Expression::Constant(Value::Int(n));
        let left = self.of(Kind::Number, choices, depth);
        let (operator, right) = match choices.below(8) {
            0 => (Arithmetic::Add, int(1)),
            1 => (Arithmetic::Subtract, self.of(Kind::Number, choices, depth)),
            2 => (Arithmetic::Add, self.of(Kind::Number, choices, depth)),
            3 => (Arithmetic::Multiply, self.of(Kind::Number, choices, depth)),
            4 => (Arithmetic::Remainder, int(choices.below(4) as i64)),
            5 => (Arithmetic::Divide, int([2, 4, 0][choices.below(3)])),
            6 => (Arithmetic::Multiply, int(choices.below(4) as i64 - 1)),
            _ => (Arithmetic::Remainder, self.of(Kind::Number, choices, depth)),
        };
        Expression::Arithmetic(Box::new(left), operator, Box::new(right))
    }

    /// A function that gives this kind.
    fn call(&self, kind: Kind, choices: &mut Choices<'_>, depth: usize) -> Expression {
        let is_flat = |function: &&Function| depth > 0 || !function.takes.contains(&Kind::List);
        let among: Vec<&'static Function> =
            functions().filter(|function| function.gives == kind).filter(is_flat).collect();
        let chosen = among[choices.below(among.len())];
        let mut arguments: Vec<Expression> =
            chosen.takes.iter().map(|kind| self.of(*kind, choices, depth.saturating_sub(1))).collect();
        if chosen.name == "has" && arguments[0].variables().is_empty() {
            // Of a written list it is known of which type its elements are, and to look for others is refused.
            arguments = match self.variables.first() {
                Some(name) => {
                    let elements = vec![arguments[0].clone(), Expression::Variable(name.clone())];
                    vec![Expression::Call(function("append"), elements), arguments.swap_remove(1)]
                }
                None => vec![arguments.swap_remove(0), Expression::Constant(Value::Null)],
            };
        }
        let call = Expression::Call(chosen, arguments);
        if chosen.exact || kind != Kind::Number {
            return call;
        }
        // Only eighths of what was rounded, so that it can be summed up in any order.
        let eight = Box::new(Expression::Constant(Value::Int(8)));
        let eighths = Expression::Arithmetic(Box::new(call), Arithmetic::Multiply, eight);
        Expression::Call(function("floor"), vec![eighths])
    }
}
