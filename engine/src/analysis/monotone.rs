//! Recursion through `min` and `max`: relations that keep the best row of each group, and where that is sound.
//!
//! A better value may replace another one for good if nothing that was derived from the worse one is lost: what a rule
//! makes of a better value must be at least as good (Ross and Sagiv, Monotonic aggregation in deductive databases,
//! 1992). So inside the cycle a best value may only be handed on, added to, bounded by another one, or compared so that
//! better ones pass.

use foldhash::{HashMap, HashMapExt};

use super::dependencies::{Dependencies, Use};
use super::expressions::expression_type;
use super::program::{Argument, Atom, Best, Expression, HeadTerm, Literal, Relation, Rule, Test, Variable};
use crate::aggregates::Aggregate;
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::syntax::ast::{Arithmetic, Comparison};

/// Marks the relations that rules derive from themselves through `min` or `max`. All their clauses must aggregate
/// alike; whether the cycle is sound is for [`breach`] to say.
pub(super) fn mark(relations: &mut [Relation], rules: &[Rule]) {
    if rules.iter().all(|rule| form(rule).is_none()) {
        return;
    }
    let mut dependencies = Dependencies::new(relations.len());
    for rule in rules {
        for atom in rule.atoms() {
            dependencies.add(rule.head.index(), atom.relation.index(), Use::Positive);
        }
    }
    let mut component_of = vec![0; relations.len()];
    for (number, component) in dependencies.components().iter().enumerate() {
        component.iter().for_each(|node| component_of[*node] = number);
    }
    let component = |relation: RelationId| component_of[relation.index()];
    let mut forms: HashMap<RelationId, Option<Best>> = HashMap::new();
    for rule in rules {
        let form = form(rule);
        forms.entry(rule.head).and_modify(|known| *known = known.filter(|_| *known == form)).or_insert(form);
    }
    for rule in rules {
        if rule.aggregates() && rule.atoms().any(|atom| component(atom.relation) == component(rule.head)) {
            relations[rule.head.index()].best = forms[&rule.head];
        }
    }
}

/// A rule of these, all of one cycle, that makes something worse of a better value; as its head and what it reads.
pub(super) fn breach(
    relations: &[Relation],
    rules: &[Rule],
    inside: &dyn Fn(RelationId) -> bool,
) -> Option<(RelationId, RelationId)> {
    let best = |relation: RelationId| relations[relation.index()].best;
    rules.iter().find_map(|rule| {
        let of_cycle = |atom: &&Atom| inside(atom.relation) && best(atom.relation).is_some();
        let source = rule.atoms().find(of_cycle)?.relation;
        let sound = Flow::of(rule, |atom| best(atom.relation).filter(|_| inside(atom.relation)))
            .is_some_and(|flow| flow.filters_are_sound(rule) && flow.head_is_sound(rule, best(rule.head)));
        (!sound).then_some((rule.head, source))
    })
}

/// Whether a rule makes of each best value of its cycle a value that is the better the better that one is. Then whatever it makes of a
/// value that a better one has replaced is replaced as well.
pub(crate) fn keeps_order(relations: &[Relation], rule: &Rule, inside: &dyn Fn(RelationId) -> bool) -> bool {
    let mut of_cycle = rule.atoms().filter(|atom| inside(atom.relation)).peekable();
    if of_cycle.peek().is_none() {
        return true;
    }
    let mut sources = Vec::new();
    for atom in of_cycle {
        let value = relations[atom.relation.index()].best.map(|best| &atom.arguments[best.column]);
        let Some(Argument::Variable(variable)) = value else { return false };
        sources.push(*variable);
    }
    let made = rule.head_terms.iter().find_map(|term| match term {
        HeadTerm::Aggregate { argument, .. } => Some(*argument),
        HeadTerm::Expression(_) => None,
    });
    made.is_some_and(|made| sources.iter().all(|source| grows_with(rule, made, *source)))
}

/// Whether one variable is another one, or that with other numbers added or taken away. Sums of floats may be the same for different ones.
fn grows_with(rule: &Rule, made: VariableId, source: VariableId) -> bool {
    let follows = |expression: &Expression| match expression {
        Expression::Variable(variable) => *variable != made && grows_with(rule, *variable, source),
        _ => false,
    };
    let is_exact = rule.variables[made.index()].data_type == DataType::Int;
    made == source
        || rule.body.iter().any(|literal| match literal {
            Literal::Assign { variable, expression } if *variable == made => match expression {
                Expression::Arithmetic { operator: Arithmetic::Add, left, right } => {
                    is_exact && (follows(left) || follows(right))
                }
                Expression::Arithmetic { operator: Arithmetic::Subtract, left, .. } => {
                    is_exact && follows(left)
                }
                other => follows(other),
            },
            _ => false,
        })
}

/// How a rule keeps the best row, if it has one `min` or `max` and no other aggregate.
fn form(rule: &Rule) -> Option<Best> {
    let mut aggregates = rule.head_terms.iter().enumerate().filter_map(|(column, term)| match term {
        HeadTerm::Aggregate { function, .. } => Some((column, *function)),
        HeadTerm::Expression(_) => None,
    });
    let ((column, function), None) = (aggregates.next()?, aggregates.next()) else { return None };
    matches!(function, Aggregate::Min | Aggregate::Max).then_some(Best {
        column,
        largest: function == Aggregate::Max,
        keeps_replaced: false,
    })
}

/// What becomes of an expression when a best value improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Nothing.
    None,
    /// It becomes smaller at most, or larger.
    Improves { largest: bool },
    /// Nobody knows.
    Any,
}

impl Change {
    /// What becomes of something that grows with both of two values.
    fn and(self, other: Change) -> Change {
        match (self, other) {
            (Change::None, change) | (change, Change::None) => change,
            (left, right) if left == right => left,
            _ => Change::Any,
        }
    }
}

/// The variables that improve.
struct Flow<'r> {
    improving: HashMap<VariableId, bool>,
    variables: &'r [Variable],
}

impl<'r> Flow<'r> {
    /// Follows the best values of a rule's body. Nothing if one of them is joined with, or computed with in a way that
    /// can turn better into worse.
    fn of(rule: &'r Rule, best: impl Fn(&Atom) -> Option<Best>) -> Option<Flow<'r>> {
        let mut flow = Flow { improving: HashMap::new(), variables: &rule.variables };
        for atom in rule.atoms() {
            let Some(best) = best(atom) else { continue };
            match &atom.arguments[best.column] {
                Argument::Variable(variable) => {
                    flow.improving.insert(*variable, best.largest);
                }
                Argument::Any => {}
                Argument::Constant(_) => return None,
            }
        }
        // A chain of assignments may be written in any order.
        let mut known = usize::MAX;
        while known != flow.improving.len() {
            known = flow.improving.len();
            for literal in &rule.body {
                let Literal::Assign { variable, expression } = literal else { continue };
                match flow.change(expression) {
                    Change::None => {}
                    Change::Improves { largest } => {
                        flow.improving.insert(*variable, largest);
                    }
                    Change::Any => return None,
                }
            }
        }
        let mut uses: HashMap<VariableId, usize> = HashMap::new();
        for literal in &rule.body {
            let (Literal::Atom(atom) | Literal::Negated(atom)) = literal else { continue };
            for argument in &atom.arguments {
                if let Argument::Variable(variable) = argument {
                    let negated = usize::from(matches!(literal, Literal::Negated(_)));
                    *uses.entry(*variable).or_default() += 1 + negated;
                }
            }
        }
        let joined = |variable: &VariableId| uses.get(variable).is_some_and(|uses| *uses > 1);
        (!flow.improving.keys().any(joined)).then_some(flow)
    }

    fn filters_are_sound(&self, rule: &Rule) -> bool {
        use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
        rule.body.iter().all(|literal| {
            let Literal::Filter { operator, left, right } = literal else { return true };
            let (left, right) = (self.change(left), self.change(right));
            let Test::ByValue(operator) = operator else {
                return matches!((left, right), (Change::None, Change::None));
            };
            matches!(
                (left, operator, right),
                (Change::None, _, Change::None)
                    | (Change::Improves { largest: false }, Less | LessOrEqual, Change::None)
                    | (Change::None, Greater | GreaterOrEqual, Change::Improves { largest: false })
                    | (Change::Improves { largest: true }, Greater | GreaterOrEqual, Change::None)
                    | (Change::None, Less | LessOrEqual, Change::Improves { largest: true })
            )
        })
    }

    fn head_is_sound(&self, rule: &Rule, best: Option<Best>) -> bool {
        rule.head_terms.iter().enumerate().all(|(column, term)| {
            let change = match term {
                HeadTerm::Expression(expression) => self.change(expression),
                HeadTerm::Aggregate { argument, .. } => self.change(&Expression::Variable(*argument)),
            };
            match (change, best) {
                (Change::None, _) => true,
                (Change::Improves { largest }, Some(best)) => {
                    column == best.column && largest == best.largest
                }
                (Change::Improves { .. }, None) | (Change::Any, _) => false,
            }
        })
    }

    /// Whether the smaller and the larger of two values grow with each of them: values of several types in one column would give
    /// Null where they meet others, or 3 where a smaller one gave 3.0.
    fn compares(&self, left: &Expression, right: &Expression) -> bool {
        [left, right].into_iter().all(|side| expression_type(side, self.variables) != DataType::Any)
    }

    fn change(&self, expression: &Expression) -> Change {
        match expression {
            Expression::Variable(variable) => match self.improving.get(variable) {
                Some(largest) => Change::Improves { largest: *largest },
                None => Change::None,
            },
            Expression::Constant(_) => Change::None,
            Expression::Arithmetic { operator, left, right } => {
                match (self.change(left), operator, self.change(right)) {
                    (Change::None, _, Change::None) => Change::None,
                    (left, Arithmetic::Add, right) => left.and(right),
                    (change, Arithmetic::Subtract, Change::None) => change,
                    (change, Arithmetic::Multiply, Change::None) if is_positive(right) => change,
                    (Change::None, Arithmetic::Multiply, change) if is_positive(left) => change,
                    _ => Change::Any,
                }
            }
            Expression::Call { function, arguments } => {
                match (function.name, arguments.as_slice()) {
                    // The sum of a time and milliseconds, and their difference.
                    ("time_add", [left, right]) => self.change(left).and(self.change(right)),
                    ("time_sub", [left, right]) if self.change(right) == Change::None => self.change(left),
                    ("min_val" | "max_val", [left, right]) if self.compares(left, right) => {
                        self.change(left).and(self.change(right))
                    }
                    // Of other functions nothing is known.
                    _ if arguments.iter().all(|argument| self.change(argument) == Change::None) => {
                        Change::None
                    }
                    _ => Change::Any,
                }
            }
        }
    }
}

/// Whether this is a number, not below 0.
fn is_positive(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(Value::Int(n)) => *n >= 0,
        Expression::Constant(Value::Float(x)) => *x >= 0.0,
        _ => false,
    }
}
