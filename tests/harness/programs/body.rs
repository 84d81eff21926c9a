//! Random bodies.

use std::collections::BTreeSet;

use super::draft::{AtomDraft, BodyDraft, Draft};
use super::expression::{Choices, Expressions};
use super::values::{Domain, constant};
use super::{BASES, base, best, derived};
use crate::functions::lists::EACH;
use crate::functions::{Kind, function};
use crate::model::{Arithmetic, Atom, Comparison, Expression, Literal, Term};
use crate::value::Value;

/// Computed values that feed a recursion stay in `0..BOUND`.
const BOUND: i64 = 8;

/// What a body may read.
pub(super) struct Readable<'a> {
    pub(super) draft: &'a Draft,
    pub(super) positive: Vec<(String, usize)>,
    negative: Vec<(String, usize)>,
}

impl<'a> Readable<'a> {
    /// Facts, and derived relations by number: those before `own` in positive atoms, those before `below` in others.
    pub(super) fn new(draft: &'a Draft, used: &BTreeSet<usize>, below: usize, own: usize) -> Readable<'a> {
        let bases = (0..BASES).map(|i| (base(i), draft.base_arities[i]));
        let bases: Vec<_> = bases.chain(best::relation(draft)).collect();
        let up_to = |limit: usize| {
            let rules =
                used.iter().filter(move |i| **i < limit).map(|i| (derived(*i), draft.derived_arities[*i]));
            bases.iter().cloned().chain(rules).collect()
        };
        Readable { draft, positive: up_to(own), negative: up_to(below) }
    }

    /// An atom over one of these relations; `variable` names what stands in a column.
    pub(super) fn atom(
        &self,
        from: &[(String, usize)],
        atom: &AtomDraft,
        variable: impl FnMut(usize, bool, u8) -> Term,
    ) -> Atom {
        // Derived relations stand last, and are the interesting ones.
        let choice = usize::from(atom.relation) % (from.len() + BASES);
        let (relation, arity) =
            &from[if choice < from.len() { from.len() - 1 - choice } else { BASES.min(from.len() - 1) }];
        atom_of(relation, *arity, atom, self.draft, variable)
    }
}

/// An atom over this relation.
pub(super) fn atom_of(
    relation: &str,
    arity: usize,
    atom: &AtomDraft,
    draft: &Draft,
    mut variable: impl FnMut(usize, bool, u8) -> Term,
) -> Atom {
    let terms = atom.terms[..arity].iter().enumerate().map(|(column, (kind, n))| match kind {
        0..9 => variable(column, true, *n),
        9..15 => variable(column, false, *n),
        15..19 => Term::Placeholder,
        _ => Term::Constant(constant(*n, draft.domain)),
    });
    Atom { relation: relation.to_owned(), terms: terms.collect() }
}

/// The variables of a body, in the order of appearance.
#[derive(Default)]
pub(super) struct Names {
    pub(super) bound: Vec<String>,
}

impl Names {
    /// A new name, or one that is there.
    pub(super) fn draw(&mut self, fresh: bool, n: u8) -> Term {
        let known = self.bound.len();
        let i = if fresh { known } else { usize::from(n) % (known + 1) };
        if i == known {
            self.bound.push(format!("X{known}"));
        }
        Term::Variable(self.bound[i].clone())
    }

    /// The last name, so that atoms form a chain.
    fn last(&mut self) -> Term {
        match self.bound.last() {
            Some(name) => Term::Variable(name.clone()),
            None => self.draw(true, 0),
        }
    }
}

/// A body, and the variables that it binds.
pub(super) struct Body {
    pub(super) literals: Vec<Literal>,
    /// Those of atoms: they may have any value.
    pub(super) bound: Vec<String>,
    /// What is assigned to `Z`, if anything is.
    pub(super) computed: Option<Kind>,
}

impl Body {
    /// What expressions over this body may be made of.
    pub(super) fn expressions<'b>(&'b self, draft: &Draft) -> Expressions<'b> {
        let typed = self.computed.map(|kind| ("Z", kind));
        Expressions { domain: draft.domain, variables: &self.bound, typed }
    }

    /// Every variable.
    pub(super) fn variables(&self) -> Vec<String> {
        self.bound.iter().cloned().chain(self.computed.map(|_| "Z".to_owned())).collect()
    }
}

/// Variables are called `X0`, `X1`, ...; what an assignment binds is called `Z`.
pub(super) fn build_body(
    body: &BodyDraft,
    readable: &Readable<'_>,
    mut names: Names,
    recursive: bool,
) -> Body {
    let mut literals = Vec::new();
    for atom in &body.atoms {
        let atom = readable.atom(&readable.positive, atom, |column, fresh, n| match (column, fresh) {
            (0, true) => names.last(),
            (_, fresh) => names.draw(fresh, n),
        });
        literals.push(Literal::Atom(atom));
    }
    let mut built = Body { literals, bound: names.bound, computed: None };
    if let Some(negated) = &body.negated {
        let bound = &built.bound;
        let atom = readable.atom(&readable.negative, negated, |_, _, n| {
            bound.get(usize::from(n) % bound.len().max(1)).cloned().map_or(Term::Placeholder, Term::Variable)
        });
        built.literals.push(Literal::Negated(atom));
    }
    if let Some(numbers) = &body.computed {
        compute_arguments(&mut built, readable.draft, numbers);
    }
    if let Some(numbers) = &body.assignment {
        let choices = &mut Choices(numbers.iter());
        let z = || Expression::Variable("Z".to_owned());
        let expressions = built.expressions(readable.draft);
        let (kind, expression) = match choices.next() % 10 {
            _ if recursive => (Kind::Number, bounded(&expressions, choices)),
            0 => (Kind::Bool, expressions.of(Kind::Bool, choices, 2)),
            5..9 if readable.draft.domain == Domain::Texts => {
                (Kind::Text, expressions.of(Kind::Text, choices, 2))
            }
            1..3 => (Kind::Text, expressions.of(Kind::Text, choices, 2)),
            3 => (Kind::Vector, expressions.of(Kind::Vector, choices, 2)),
            9 => {
                let list = expressions.of(Kind::List, choices, 2);
                (Kind::Any, Expression::Call(&EACH, vec![list]))
            }
            // A copy may be of any kind, so nothing is computed with it.
            4 => (Kind::Any, expressions.operand(Kind::Any, choices)),
            _ => (Kind::Number, expressions.of(Kind::Number, choices, 2)),
        };
        built.literals.push(Literal::Comparison(z(), Comparison::Equal, expression));
        if recursive {
            let bound = |operator, n| Literal::Comparison(z(), operator, Expression::Constant(Value::Int(n)));
            built.literals.push(bound(Comparison::GreaterOrEqual, 0));
            built.literals.push(bound(Comparison::Less, BOUND));
        }
        built.computed = Some(kind);
    }
    if let Some(numbers) = body.equalities.as_ref().filter(|_| !recursive) {
        built.literals.extend(equalities(&built, readable.draft, &mut Choices(numbers.iter())));
    }
    if let Some(numbers) = &body.comparison {
        let comparison = comparison(&built.expressions(readable.draft), &mut Choices(numbers.iter()));
        built.literals.extend(comparison);
    }
    if let Some((first, second, numbers)) = &body.nested {
        let nested = nested(&built, readable, [first, second], &mut Choices(numbers.iter()), recursive);
        built.literals.push(nested);
    }
    if let Some(numbers) = &body.equalities {
        shuffle(&mut built.literals, numbers);
    }
    built
}

/// Puts expressions in the place of constants and of some other arguments: of variables that another atom has, too.
fn compute_arguments(built: &mut Body, draft: &Draft, numbers: &[u8]) {
    let mut choices = Choices(numbers.iter());
    for position in 0..built.literals.len() {
        let elsewhere: Vec<String> = built.literals[..position]
            .iter()
            .filter_map(|literal| match literal {
                Literal::Atom(atom) => Some(atom.variables().map(str::to_owned)),
                _ => None,
            })
            .flatten()
            .collect();
        let expressions = Expressions { domain: draft.domain, variables: &elsewhere, typed: None };
        let (Literal::Atom(atom) | Literal::Negated(atom)) = &mut built.literals[position] else { continue };
        for term in &mut atom.terms {
            let replaced = match term {
                Term::Constant(_) => true,
                Term::Placeholder => choices.below(2) == 0,
                Term::Variable(name) => elsewhere.contains(name) && choices.below(3) == 0,
                Term::Computed(_) => false,
            };
            if replaced && !elsewhere.is_empty() {
                let kind = if draft.domain == Domain::Texts { Kind::Text } else { Kind::Number };
                let expression = expressions.of(kind, &mut choices, 1);
                // A constant or a variable is an argument of another sort.
                if matches!(expression, Expression::Arithmetic(..) | Expression::Call(..)) {
                    *term = Term::Computed(expression);
                }
            }
        }
    }
}

/// Equalities of one more variable, of which any may be the one that gives it its value.
fn equalities(built: &Body, draft: &Draft, choices: &mut Choices<'_>) -> Vec<Literal> {
    let kind = if draft.domain == Domain::Texts { Kind::Text } else { Kind::Number };
    // What is written down as numbers and as text cannot be equal, and is refused.
    let typed = built.computed.filter(|computed| *computed == kind).map(|kind| ("Z", kind));
    let expressions = Expressions { domain: draft.domain, variables: &built.bound, typed };
    let w = || Expression::Variable("W".to_owned());
    let mut found = Vec::new();
    for _ in 0..1 + choices.below(3) {
        let other = match choices.below(3) {
            0 => expressions.of(kind, choices, 1),
            _ => expressions.operand(kind, choices),
        };
        found.push(match choices.below(2) {
            0 => Literal::Comparison(w(), Comparison::Equal, other),
            _ => Literal::Comparison(other, Comparison::Equal, w()),
        });
    }
    found
}

/// Alternatives or a negated conjunction, with variables of their own: `Q0` and `Q1`.
fn nested(
    built: &Body,
    readable: &Readable<'_>,
    atoms: [&AtomDraft; 2],
    choices: &mut Choices<'_>,
    recursive: bool,
) -> Literal {
    let [first, second] = atoms.map(|atom| {
        let atom = readable.atom(&readable.negative, atom, |_, _, n| {
            let names = built.bound.iter().map(String::as_str).chain(["Q0", "Q1"]);
            let names: Vec<&str> = names.collect();
            Term::Variable(names[usize::from(n) % names.len()].to_owned())
        });
        Literal::Atom(atom)
    });
    let comparison = comparison(&built.expressions(readable.draft), choices);
    // A variable in all alternatives would be one of the rest, too.
    let other = comparison.unwrap_or_else(|| Literal::NegatedConjunction(vec![second.clone()]));
    match choices.below(5) {
        0 => Literal::Disjunction(vec![vec![first], vec![other]]),
        1 => Literal::Disjunction(vec![vec![first, second], vec![other]]),
        2 => Literal::Disjunction(vec![vec![other], vec![Literal::NegatedConjunction(vec![first, second])]]),
        // What is compared has to be bound, and a recursion that binds it would depend on its negation.
        3 if !recursive => Literal::NegatedConjunction(vec![first, other]),
        _ => Literal::NegatedConjunction(vec![first, second]),
    }
}

/// Another order of the conditions. The first stays where it is: a goal has its columns from the atom before.
fn shuffle(literals: &mut [Literal], numbers: &[u8]) {
    for (i, n) in numbers.iter().enumerate().take(literals.len()).skip(1) {
        let other = usize::from(*n) % literals.len();
        literals.swap(i, other);
    }
}

/// What may feed a recursion: nothing that makes values without end once it is bounded.
fn bounded(expressions: &Expressions<'_>, choices: &mut Choices<'_>) -> Expression {
    let int = |n| Expression::Constant(Value::Int(n));
    let operand = expressions.operand(Kind::Number, choices);
    let (operator, right) = match choices.below(5) {
        0 => (Arithmetic::Add, int(1)),
        1 => (Arithmetic::Subtract, int(1 + choices.below(3) as i64)),
        2 => (Arithmetic::Add, expressions.operand(Kind::Number, choices)),
        3 => return Expression::Call(function("abs"), vec![operand]),
        _ => return Expression::Call(function("min_val"), vec![operand, int(2)]),
    };
    Expression::Arithmetic(Box::new(operand), operator, Box::new(right))
}

/// A comparison of variables, of numbers, of strings, or with a constant.
fn comparison(expressions: &Expressions<'_>, choices: &mut Choices<'_>) -> Option<Literal> {
    let kind = choices.next();
    let (left, operator, right) = match kind % 8 {
        0..4 => {
            let left = Expression::Variable(expressions.variables.first()?.clone());
            let left = match choices.below(3) {
                0 => left,
                n => Expression::Variable(expressions.variables[n % expressions.variables.len()].clone()),
            };
            let constant = constant(choices.next(), expressions.domain);
            // Booleans and vectors that are written in a program have no order.
            let operator = match constant {
                Value::Bool(_) | Value::Vector(_) => operator(1 + choices.next() % 2),
                _ => operator(choices.next()),
            };
            (left, operator, Expression::Constant(constant))
        }
        4 => {
            let mut variable = || expressions.variables.get(choices.below(expressions.variables.len()));
            let (left, right) = (variable()?.clone(), variable()?.clone());
            (Expression::Variable(left), operator(choices.next()), Expression::Variable(right))
        }
        n => {
            let kind = if n == 5 { Kind::Text } else { Kind::Number };
            let operator = operator(choices.next());
            (expressions.of(kind, choices, 1), operator, expressions.of(kind, choices, 1))
        }
    };
    // Between constants there is nothing to find out, and the checker may know better.
    if left.variables().is_empty() && right.variables().is_empty() {
        return None;
    }
    Some(match kind / 8 % 4 {
        0 => Literal::Comparison(right, turned(operator), left),
        _ => Literal::Comparison(left, operator, right),
    })
}

fn operator(n: u8) -> Comparison {
    match n % 6 {
        0 => Comparison::Less,
        1 => Comparison::NotEqual,
        2 => Comparison::Equal,
        3 => Comparison::GreaterOrEqual,
        4 => Comparison::LessOrEqual,
        _ => Comparison::Greater,
    }
}

/// The same comparison, read from the right.
fn turned(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Equal | Comparison::NotEqual => operator,
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
    }
}
