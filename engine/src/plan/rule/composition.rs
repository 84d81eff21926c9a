//! Rules that compose a relation with itself, as `path(X, Z) <- path(X, Y), path(Y, Z)` does.
//!
//! What such a rule finds is composed of rows that other rules find, or that are stored: its *generators*. As composing is
//! associative, it is enough to compose a generator with any row, or any row with a generator: of a row with thirty others
//! between its ends that is one composition instead of thirty. (Nonlinear recursion of this kind is made linear by algebra:
//! Ioannidis and Wong, Towards an algebraic theory of recursion, 1991.) A row counts as composed if such a rule was the first to
//! find it, whoever finds it again later.

use foldhash::{HashSet, HashSetExt};

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Test};
use crate::data::{RelationId, VariableId};

/// What is handed through, and what is composed: rows with the same values elsewhere, where one ends as the other begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    relation: RelationId,
    from: usize,
    to: usize,
}

/// Of each rule that composes its relation with itself, the literal of which it need only read generators. All rules of a
/// relation that are taken for such ones compose it in the same columns: what one of them has composed is of generators for
/// the others, too.
pub(crate) fn generators(rules: &[Rule], program: &Program) -> Vec<Option<usize>> {
    let mut shapes: Vec<Shape> = Vec::new();
    let generators = rules.iter().map(|rule| {
        if program.relations[rule.head.index()].best.is_some() {
            return None;
        }
        let (shape, literal) = composition(rule)?;
        match shapes.iter().find(|other| other.relation == shape.relation) {
            Some(other) => (*other == shape).then_some(literal),
            None => {
                shapes.push(shape);
                Some(literal)
            }
        }
    });
    generators.collect()
}

/// How a rule composes its relation with itself, and which of the two literals need only be generators.
fn composition(rule: &Rule) -> Option<(Shape, usize)> {
    if rule.aggregates() {
        return None;
    }
    let own = |literal: usize| rule.body[literal].atom().filter(|atom| atom.relation == rule.head);
    let own: Vec<(usize, &Atom)> =
        (0..rule.body.len()).filter_map(|literal| Some((literal, own(literal)?))).collect();
    let pairs = own.iter().flat_map(|first| own.iter().map(move |second| (first, second)));
    pairs.filter(|(first, second)| first.0 != second.0).find_map(|(first, second)| {
        let (ends, shape) = Ends::of(rule, first.1, second.1)?;
        let others = rule.body.iter().enumerate();
        let others = others.filter(|(literal, _)| *literal != first.0 && *literal != second.0);
        let others = others.map(|(_, literal)| literal).filter(|literal| !ends.are_told_apart_by(literal));
        let read: HashSet<VariableId> = others.flat_map(Literal::variables).collect();
        match ends {
            Ends { middle, .. } if read.contains(&middle) => None,
            // What a condition says of one end holds for all rows that end there: they are made longer at the other one.
            Ends { last, .. } if !read.contains(&last) => Some((shape, second.0)),
            Ends { first: begin, .. } if !read.contains(&begin) => Some((shape, first.0)),
            Ends { .. } => None,
        }
    })
}

/// The variables that are composed: where the first row begins, where the rows meet, and where the second one ends.
struct Ends {
    first: VariableId,
    middle: VariableId,
    last: VariableId,
}

impl Ends {
    /// The ends of two atoms whose other columns agree with each other and with the head.
    fn of(rule: &Rule, first: &Atom, second: &Atom) -> Option<(Ends, Shape)> {
        let mut handed_on = HashSet::new();
        let (mut from, mut to) = (None, None);
        for (column, term) in rule.head_terms.iter().enumerate() {
            let (one, other) = (&first.arguments[column], &second.arguments[column]);
            match term {
                HeadTerm::Expression(Expression::Constant(value)) => {
                    let is_value = |argument: &Argument| matches!(argument, Argument::Constant(constant) if constant == value);
                    if !is_value(one) || !is_value(other) {
                        return None;
                    }
                }
                HeadTerm::Expression(Expression::Variable(head)) => match (one, other) {
                    (Argument::Variable(one), Argument::Variable(other)) => {
                        if one == head && other == head {
                            handed_on.insert(*head);
                        } else if one == head && from.is_none() {
                            from = Some((column, *head, *other));
                        } else if other == head && to.is_none() {
                            to = Some((column, *one, *head));
                        } else {
                            return None;
                        }
                    }
                    _ => return None,
                },
                HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => return None,
            }
        }
        let ((from, first, meets), (to, middle, last)) = (from?, to?);
        let distinct = HashSet::from_iter([first, middle, last]);
        let is_composed = meets == middle && distinct.len() == 3 && distinct.is_disjoint(&handed_on);
        is_composed.then_some((Ends { first, middle, last }, Shape { relation: rule.head, from, to }))
    }

    /// Whether a literal says no more than that the ends differ. A row between two ends that differ is composed of generators
    /// that never come to its last end, or its first one, before.
    fn are_told_apart_by(&self, literal: &Literal) -> bool {
        let Literal::Filter {
            operator: Test::Different,
            left: Expression::Variable(left),
            right: Expression::Variable(right),
        } = literal
        else {
            return false;
        };
        [(self.first, self.last), (self.last, self.first)].contains(&(*left, *right))
    }
}
