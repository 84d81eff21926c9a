//! Variables as they are written: those that stand in terms and literals, and those that literals bind.

use foldhash::{HashSet, HashSetExt};

use crate::syntax::ast::{Atom, Comparison, Literal, LiteralKind, Term, TermKind, plain_literals};

/// Calls `visit` for every variable in a term, in the order written.
pub(super) fn for_each_variable<'t>(term: &'t Term, visit: &mut impl FnMut(&'t str)) {
    match &term.kind {
        TermKind::Variable(name) => visit(name),
        TermKind::Placeholder | TermKind::Constant(_) | TermKind::Parameter(_) => {}
        TermKind::Arithmetic { left, right, .. } => {
            for_each_variable(left, visit);
            for_each_variable(right, visit);
        }
        TermKind::Call { arguments, .. } => {
            arguments.iter().for_each(|argument| for_each_variable(argument, visit));
        }
        TermKind::Aggregate { arguments, .. } => {
            arguments.iter().for_each(|argument| for_each_variable(&argument.term, visit));
        }
    }
}

/// The name of a term that is a variable.
pub(super) fn variable_name(term: &Term) -> Option<&str> {
    match &term.kind {
        TermKind::Variable(name) => Some(name),
        _ => None,
    }
}

/// All variables of a literal, as often as they stand in it.
pub(super) fn variables(literal: &Literal) -> Vec<&str> {
    let mut names = Vec::new();
    let mut add = |name| names.push(name);
    for (literal, _) in plain_literals(std::slice::from_ref(literal)) {
        match &literal.kind {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => {
                atom.terms.iter().for_each(|term| for_each_variable(term, &mut add));
            }
            LiteralKind::Comparison { left, right, .. } => {
                for_each_variable(left, &mut add);
                for_each_variable(right, &mut add);
            }
            LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_) => {}
        }
    }
    names
}

/// The variables of a literal that are known outside of it, each once.
pub(super) fn names_of<'l>(literal: &'l Literal, known: &HashSet<&str>) -> Vec<&'l str> {
    let mut names: Vec<&str> = Vec::new();
    for name in variables(literal) {
        if known.contains(name) && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The variables of positive atoms and comparisons that are not arguments of the goal, in order of first occurrence.
pub(super) fn further_variables(goal: &Atom, body: &[Literal]) -> Vec<String> {
    let mut seen: HashSet<&str> = goal.terms.iter().filter_map(variable_name).collect();
    let mut further = Vec::new();
    let mut visit = |name| {
        if seen.insert(name) {
            further.push(name.to_owned());
        }
    };
    for literal in body {
        match &literal.kind {
            LiteralKind::Positive(atom) => {
                for term in &atom.terms {
                    for_each_variable(term, &mut visit);
                }
            }
            LiteralKind::Negative(_) | LiteralKind::NegatedConjunction(_) => {}
            LiteralKind::Disjunction(_) => in_all_alternatives(literal).into_iter().for_each(&mut visit),
            LiteralKind::Comparison { left, right, .. } => {
                for_each_variable(left, &mut visit);
                for_each_variable(right, &mut visit);
            }
        }
    }
    further
}

/// The variables that stand in each of the alternatives, in the order of the first.
pub(super) fn in_all_alternatives(literal: &Literal) -> Vec<&str> {
    let LiteralKind::Disjunction(alternatives) = &literal.kind else { return Vec::new() };
    let mut all = alternatives.iter().map(|alternative| positive_variables(alternative));
    let Some(mut names) = all.next() else { return Vec::new() };
    for other in all {
        names.retain(|name| other.contains(name));
    }
    names
}

/// The variables of a body, but for those under a negation.
fn positive_variables(body: &[Literal]) -> Vec<&str> {
    let mut names = Vec::new();
    for literal in body {
        let found = match &literal.kind {
            LiteralKind::Positive(_) | LiteralKind::Comparison { .. } => variables(literal),
            LiteralKind::Disjunction(_) => in_all_alternatives(literal),
            LiteralKind::Negative(_) | LiteralKind::NegatedConjunction(_) => Vec::new(),
        };
        for name in found {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The variables that stand as arguments of positive atoms.
pub(super) fn of_atoms(body: &[Literal]) -> HashSet<&str> {
    let mut bound = HashSet::new();
    for literal in body {
        if let LiteralKind::Positive(atom) = &literal.kind {
            bound.extend(atom.terms.iter().filter_map(|term| match &term.kind {
                TermKind::Variable(name) => Some(name.as_str()),
                _ => None,
            }));
        }
    }
    bound
}

/// The variables that these literals bind beside those that are `known`: by atoms, and by equations with what is bound.
pub(super) fn bindable<'b>(body: &[&'b Literal], known: HashSet<&'b str>) -> HashSet<&'b str> {
    let mut known = known;
    for literal in body.iter().copied() {
        known.extend(of_atoms(std::slice::from_ref(literal)));
        known.extend(in_all_alternatives(literal));
    }
    loop {
        let before = known.len();
        for literal in body.iter().copied() {
            for (variable, other) in equations(literal) {
                let mut is_known = true;
                for_each_variable(other, &mut |name| is_known &= known.contains(name));
                if is_known {
                    known.insert(variable);
                }
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

/// The variables that a literal equals with something, each with what.
pub(super) fn equations(literal: &Literal) -> Vec<(&str, &Term)> {
    let LiteralKind::Comparison { operator: Comparison::Equal, left, right } = &literal.kind else {
        return Vec::new();
    };
    let sides = [(left, right), (right, left)];
    let of_variables = sides.into_iter().filter_map(|(one, other)| match &one.kind {
        TermKind::Variable(name) => Some((name.as_str(), other)),
        _ => None,
    });
    of_variables.collect()
}

/// These variables, and those without which they cannot be bound: those of equations, and of what is computed in atoms
/// that hold them.
pub(super) fn with_needed<'b>(mut wanted: HashSet<&'b str>, body: &[&'b Literal]) -> HashSet<&'b str> {
    loop {
        let before = wanted.len();
        for literal in body.iter().copied() {
            let mut needed: Vec<&Term> = equations(literal)
                .into_iter()
                .filter(|(name, _)| wanted.contains(name))
                .map(|(_, other)| other)
                .collect();
            if let LiteralKind::Positive(atom) = &literal.kind
                && of_atoms(std::slice::from_ref(literal)).iter().any(|name| wanted.contains(name))
            {
                needed.extend(atom.terms.iter().filter(|term| !matches!(term.kind, TermKind::Variable(_))));
            }
            needed.into_iter().for_each(|term| for_each_variable(term, &mut |name| _ = wanted.insert(name)));
        }
        if wanted.len() == before {
            return wanted;
        }
    }
}
