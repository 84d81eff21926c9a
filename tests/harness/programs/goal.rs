//! Random goals.

use std::collections::BTreeSet;

use super::DERIVED;
use super::body::{Names, Readable, build_body};
use super::draft::{BodyDraft, Draft};
use super::rule::{HeadOf, head_terms};
use crate::model::{Asked, Direction, Expression, Goal, HeadTerm, Term};

/// A goal over all there is.
pub(super) fn build(draft: &Draft, used: &BTreeSet<usize>) -> Goal {
    let readable = Readable::new(draft, used, DERIVED + 1, DERIVED + 1);
    let (asked, body) = match &draft.goal.projection {
        Some((numbers, aggregation, ranking)) if draft.goal.body.is_some() => {
            let further = draft.goal.body.as_ref().into_iter().flat_map(|body| &body.atoms);
            let atoms = std::iter::once(&draft.goal.atom).chain(further.take(1)).cloned().collect();
            let body = draft.goal.body.clone().map(|body| BodyDraft { atoms, ..body });
            let body =
                build_body(&body.unwrap_or_else(|| unreachable!()), &readable, Names::default(), false);
            let head = HeadOf { body: &body, draft, recursive: true, exact: false };
            (Asked::Projection(head_terms(numbers, aggregation, ranking, head)), body.literals)
        }
        _ => {
            let mut names = Names::default();
            let atom =
                readable.atom(&readable.positive, &draft.goal.atom, |_, fresh, n| names.draw(fresh, n));
            let mut body = Vec::new();
            if let Some(further) = &draft.goal.body {
                // One further atom is enough to join with.
                let further = BodyDraft { atoms: further.atoms[..1].to_vec(), ..further.clone() };
                body = build_body(&further, &readable, names, false).literals;
            }
            (Asked::Atom(atom), body)
        }
    };
    let order = order(draft.goal.order.as_deref().unwrap_or_default(), &asked);
    Goal { asked, order, limit: draft.goal.limit, body }
}

/// Marks on constants are ignored, and change nothing here: such a column holds equal numbers of two types at most.
fn order(numbers: &[u8], asked: &Asked) -> Vec<Option<Direction>> {
    let ordered: Vec<bool> = match asked {
        Asked::Atom(atom) => atom.terms.iter().map(|term| matches!(term, Term::Variable(_))).collect(),
        Asked::Projection(terms) => {
            terms.iter().map(|term| !matches!(term, HeadTerm::Expression(Expression::Constant(_)))).collect()
        }
    };
    let marks = numbers.iter().map(|n| match n % 3 {
        0 => None,
        1 => Some(Direction::Ascending),
        _ => Some(Direction::Descending),
    });
    marks.zip(ordered).map(|(mark, ordered)| mark.filter(|_| ordered)).collect()
}
