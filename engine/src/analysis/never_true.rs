//! Bodies that nothing satisfies, as far as their text shows: comparisons of constants, two conditions on one variable,
//! an atom and its negation.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::data::Value;
use crate::data::equality::order;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::syntax::ast::{Comparison, Literal, LiteralKind, TermKind};

/// Why no row can satisfy the body, if that can be read off it.
pub(super) fn never_fires(body: &[&Literal]) -> Option<Diagnostic> {
    let never = |span, message: String| {
        Diagnostic::warning(Code::NeverTrue, message)
            .at(span)
            .help("nothing can be derived here: correct the condition, or drop it")
    };
    for literal in body {
        let LiteralKind::Comparison { operator, left, right } = &literal.kind else { continue };
        let impossible = match (&left.kind, &right.kind) {
            (TermKind::Constant(left), TermKind::Constant(right)) => {
                order(left.as_ref(), right.as_ref()).is_some_and(|order| !operator.holds(order))
            }
            (TermKind::Variable(left), TermKind::Variable(right)) => {
                left == right && !operator.holds(Ordering::Equal)
            }
            _ => false,
        };
        if impossible {
            return Some(never(literal.span, format!("`{literal}` is never true")));
        }
    }
    let mut known: HashMap<&str, Vec<(Comparison, &Value, Span)>> = HashMap::new();
    for literal in body {
        let Some((name, operator, value)) = bound(literal) else { continue };
        let others = known.entry(name).or_default();
        // What contradicts something contradicts one of the first few.
        for (other, limit, span) in others.iter().take(16) {
            if contradict((*other, limit), (operator, value)) {
                let message = format!("`{literal}` contradicts another condition on `{name}`");
                return Some(never(literal.span, message).label(*span, "this one"));
            }
        }
        others.push((operator, value, literal.span));
    }
    let mut positive: HashMap<String, Span> = HashMap::new();
    for literal in body {
        if let LiteralKind::Positive(atom) = &literal.kind {
            positive.insert(atom.to_string(), atom.span);
        }
    }
    for literal in body {
        if let LiteralKind::Negative(atom) = &literal.kind
            && !atom.terms.iter().any(|term| matches!(term.kind, TermKind::Placeholder))
            && let Some(span) = positive.get(&atom.to_string())
        {
            let message = format!("`{literal}` contradicts `{atom}`");
            return Some(never(literal.span, message).label(*span, "required here"));
        }
    }
    None
}

/// Variables that equal a constant.
pub(super) fn constants<'l>(body: &[&'l Literal]) -> Vec<(&'l str, Comparison, &'l Value)> {
    let bounds = body.iter().filter_map(|literal| bound(literal));
    bounds.filter(|(_, operator, _)| *operator == Comparison::Equal).collect()
}

/// A comparison of a variable with a constant, the variable on the left.
fn bound(literal: &Literal) -> Option<(&str, Comparison, &Value)> {
    let LiteralKind::Comparison { operator, left, right } = &literal.kind else { return None };
    match (&left.kind, &right.kind) {
        (TermKind::Variable(name), TermKind::Constant(value)) => Some((name, *operator, value)),
        (TermKind::Constant(value), TermKind::Variable(name)) => Some((name, operator.turned(), value)),
        _ => None,
    }
}

/// Whether no value satisfies both: one is tried on each side of the two constants and on them.
fn contradict(a: (Comparison, &Value), b: (Comparison, &Value)) -> bool {
    let Some(between) = order(a.1.as_ref(), b.1.as_ref()) else { return false };
    // How a value may stand to the first constant and to the second, given how these stand to each other.
    use Ordering::{Equal, Greater, Less};
    let places: &[(Ordering, Ordering)] = match between {
        Equal => &[(Less, Less), (Equal, Equal), (Greater, Greater)],
        Less => &[(Less, Less), (Equal, Less), (Greater, Less), (Greater, Equal), (Greater, Greater)],
        Greater => &[(Less, Less), (Less, Equal), (Less, Greater), (Equal, Greater), (Greater, Greater)],
    };
    !places.iter().any(|(first, second)| a.0.holds(*first) && b.0.holds(*second))
}
