//! What is allowed and yet most likely a mistake: a variable used once, a cross product, a body that cannot be true.
//!
//! Read off the text, and of the data no more than of which types the values of a column are; never a reason to refuse.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::never_true::{constants, never_fires, of_other_types};
use super::variables::variables;
use crate::catalog::Clauses;
use crate::data::DataType;
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::syntax::ast::{Atom, Comparison, Literal, LiteralKind, Rule, Term, TermKind, plain_literals};

/// What deserves a second look in a rule. `types` are those of a relation's columns, `beside` is what stands in all heads of
/// its statement.
pub(super) fn of_rule<'t>(
    rule: &Rule,
    beside: &[Term],
    types: impl Fn(&str) -> Option<&'t [DataType]>,
) -> Vec<Diagnostic> {
    let mut warnings = single_uses(rule, beside);
    let aggregates = rule.head.terms.iter().any(|term| matches!(term.kind, TermKind::Aggregate { .. }));
    let mut returned = HashSet::new();
    rule.head.terms.iter().for_each(|term| visit(term, &mut |name, _| _ = returned.insert(name)));
    let body: Vec<&Literal> = rule.body.iter().collect();
    let counts = |variable: &str| aggregates || returned.contains(variable);
    let atoms = positive_atoms(&body);
    let first = never_fires(&body).or_else(|| of_other_types(&atoms, &body, types));
    warnings.extend(first.or_else(|| cross_product(&atoms, &body, counts)));
    warnings
}

/// The same for the conditions of a query: all its variables are used, as columns. `goal` is its first atom.
pub(super) fn of_query<'t>(
    goal: Option<&Atom>,
    body: &[Literal],
    types: impl Fn(&str) -> Option<&'t [DataType]>,
) -> Vec<Diagnostic> {
    let body: Vec<&Literal> = body.iter().collect();
    let atoms: Vec<&Atom> = goal.into_iter().chain(positive_atoms(&body)).collect();
    let first = never_fires(&body).or_else(|| of_other_types(&atoms, &body, types));
    first.or_else(|| cross_product(&atoms, &body, |_| true)).into_iter().collect()
}

/// A head with more clauses is not edited by hand.
const FEW_CLAUSES: usize = 64;

/// A clause with the head and the atoms of an earlier one, where one of the two makes the other useless, or nearly so:
/// most likely the earlier one was changed. What asks for different things, such as `X = 1` and `X = 2`, is alternatives.
pub(super) fn differs_only_in(rule: &Rule, known: &Clauses) -> Option<Diagnostic> {
    if known.len() > FEW_CLAUSES {
        return None;
    }
    let head = rule.head.to_string();
    let (atoms, comparisons) = parts(rule);
    let of_old = known.iter().filter(|old| old.head.to_string() == head).map(|old| parts(old));
    let mut differences = of_old.filter(|(old, _)| *old == atoms).filter_map(|(_, old)| {
        let without = |these: &[Condition], those: &[Condition]| -> Vec<Condition> {
            these.iter().filter(|each| !those.contains(each)).cloned().collect()
        };
        let (old, new) = (without(&old, &comparisons), without(&comparisons, &old));
        let is_changed = match (old.as_slice(), new.as_slice()) {
            ([], []) => false,
            ([], _) | (_, []) => true,
            ([old], [new]) => {
                old.0 == new.0 && old.0 != Comparison::Equal && (old.1 == new.1 || old.2 == new.2)
            }
            _ => false,
        };
        is_changed.then_some(old)
    });
    let old = differences.next()?;
    let name = &rule.head.relation.text;
    let asked: Vec<String> =
        old.iter().map(|(operator, left, right)| format!("`{left} {operator} {right}`")).collect();
    let difference = match asked.is_empty() {
        true => "lacks a condition of this one".to_owned(),
        false => format!("has {} instead", asked.join(", ")),
    };
    let message = format!("another rule for {name} {difference}, and is else the same: both count");
    Some(Diagnostic::warning(Code::RuleDiffersOnlyIn, message).at(rule.span).help(format!(
        "to put this one in its place, drop the old ones first (-{name}), or write `.rule replace` above"
    )))
}

/// Operator, left and right side.
type Condition = (Comparison, String, String);

/// The atoms of a rule as they are printed, in no order, and its comparisons.
fn parts(rule: &Rule) -> (Vec<String>, Vec<Condition>) {
    let (mut atoms, mut comparisons) = (Vec::new(), Vec::new());
    for literal in &rule.body {
        match &literal.kind {
            LiteralKind::Positive(_)
            | LiteralKind::Negative(_)
            | LiteralKind::Disjunction(_)
            | LiteralKind::NegatedConjunction(_) => atoms.push(literal.to_string()),
            LiteralKind::Comparison { operator, left, right } => {
                comparisons.push((*operator, left.to_string(), right.to_string()));
            }
        }
    }
    atoms.sort_unstable();
    (atoms, comparisons)
}

fn positive_atoms<'l>(body: &[&'l Literal]) -> Vec<&'l Atom> {
    let atoms = body.iter().filter_map(|literal| match &literal.kind {
        LiteralKind::Positive(atom) => Some(atom),
        _ => None,
    });
    atoms.collect()
}

/// Variables that stand in one place only, and whose names do not say that this is meant.
fn single_uses(rule: &Rule, beside: &[Term]) -> Vec<Diagnostic> {
    let mut uses: HashMap<&str, (usize, Span, bool)> = HashMap::new();
    let mut order = Vec::new();
    let mut count = |name, span, in_atom| {
        let entry = uses.entry(name).or_insert_with(|| {
            order.push(name);
            (0, span, in_atom)
        });
        entry.0 += 1;
    };
    rule.head.terms.iter().for_each(|term| visit(term, &mut |name, span| count(name, span, false)));
    for (literal, _) in plain_literals(&rule.body) {
        match &literal.kind {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => {
                atom.terms.iter().for_each(|term| visit(term, &mut |name, span| count(name, span, true)));
            }
            LiteralKind::Comparison { left, right, .. } => {
                [left, right].iter().for_each(|term| visit(term, &mut |name, span| count(name, span, false)));
            }
            LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_) => {}
        }
    }
    let mut read_beside = HashSet::new();
    beside.iter().for_each(|term| visit(term, &mut |name, _| _ = read_beside.insert(name)));
    order
        .into_iter()
        .filter(|name| !name.starts_with('_') && !read_beside.contains(name))
        .filter_map(|name| match uses[name] {
            (1, span, in_atom) => {
                let message = format!("`{name}` is used only once in this rule");
                let help = if in_atom {
                    format!("write `_` if any value will do, or `_{name}` to keep the name")
                } else {
                    "use it, or leave this condition out".to_owned()
                };
                let warning = Diagnostic::warning(Code::UnusedVariable, message).at(span).help(help);
                Some(if in_atom { warning.fix(span, "_").fix(span, format!("_{name}")) } else { warning })
            }
            _ => None,
        })
        .collect()
}

/// The first two atoms between which no chain of conditions leads, if the variables of both `count`.
fn cross_product(atoms: &[&Atom], body: &[&Literal], counts: impl Fn(&str) -> bool) -> Option<Diagnostic> {
    let fixed: HashSet<&str> = constants(body).into_iter().map(|(name, _, _)| name).collect();
    let mut groups = Groups::default();
    for atom in atoms {
        groups.join(&free(&atom.terms, &fixed));
    }
    for literal in body {
        match &literal.kind {
            LiteralKind::Positive(_) => {}
            LiteralKind::Negative(atom) => groups.join(&free(&atom.terms, &fixed)),
            LiteralKind::Comparison { left, right, .. } => groups.join(&free([left, right], &fixed)),
            LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_) => {
                groups.join(&variables(literal));
            }
        }
    }
    let counted: Vec<&str> = groups.numbers.keys().copied().filter(|name| counts(name)).collect();
    let counted: HashSet<usize> = counted.into_iter().map(|name| groups.of(name)).collect();
    let mut first: Option<(&Atom, usize)> = None;
    for atom in atoms {
        let names = free(&atom.terms, &fixed);
        let Some(group) = names.first().map(|name| groups.of(name)) else { continue };
        if !counted.contains(&group) {
            continue;
        }
        match first {
            None => first = Some((atom, group)),
            Some((other, known)) if known != group => {
                let message = format!(
                    "`{}` and `{}` share no variable: each row of one is combined with each of the other",
                    other.relation, atom.relation
                );
                return Some(
                    Diagnostic::warning(Code::CrossProduct, message)
                        .at(atom.span)
                        .label(other.span, "not connected with this")
                        .help("use one variable in both, or compare theirs, unless every pair is wanted"),
                );
            }
            Some(_) => {}
        }
    }
    None
}

/// The variables in these terms that no constant fixes.
fn free<'t>(terms: impl IntoIterator<Item = &'t Term>, fixed: &HashSet<&str>) -> Vec<&'t str> {
    let mut names = Vec::new();
    terms.into_iter().for_each(|term| visit(term, &mut |name, _| names.push(name)));
    names.retain(|name| !fixed.contains(name));
    names
}

/// Variables that belong together.
#[derive(Default)]
struct Groups<'t> {
    numbers: HashMap<&'t str, usize>,
    parents: Vec<usize>,
}

impl<'t> Groups<'t> {
    fn join(&mut self, names: &[&'t str]) {
        let Some(first) = names.first().map(|name| self.of(name)) else { return };
        for name in names {
            let other = self.of(name);
            let first = self.root(first);
            self.parents[other] = first;
        }
    }

    fn of(&mut self, name: &'t str) -> usize {
        let number = *self.numbers.entry(name).or_insert_with(|| {
            self.parents.push(self.parents.len());
            self.parents.len() - 1
        });
        self.root(number)
    }

    fn root(&mut self, mut number: usize) -> usize {
        while self.parents[number] != number {
            self.parents[number] = self.parents[self.parents[number]];
            number = self.parents[number];
        }
        number
    }
}

/// Calls `found` for every variable in a term.
fn visit<'t>(term: &'t Term, found: &mut impl FnMut(&'t str, Span)) {
    match &term.kind {
        TermKind::Variable(name) => found(name, term.span),
        TermKind::Placeholder | TermKind::Constant(_) | TermKind::Parameter(_) => {}
        TermKind::Arithmetic { left, right, .. } => {
            visit(left, found);
            visit(right, found);
        }
        TermKind::Call { arguments, .. } => arguments.iter().for_each(|argument| visit(argument, found)),
        TermKind::Aggregate { arguments, .. } => {
            arguments.iter().for_each(|argument| visit(&argument.term, found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::catalog;
    use crate::analysis::{analyse_query, check_rule};
    use crate::limits::Limits;
    use crate::syntax::ast::StatementKind;
    use crate::syntax::parse;

    /// The codes and texts that warnings point at.
    fn warned(text: &str) -> Vec<String> {
        let catalog = catalog("+e[(1, 2)]\n+a[1]\n+b[1]\n+s[(\"x\", 1), (\"y\", 2)]\n+mixed[1, \"x\"]");
        let (statements, errors) = parse(text, &Limits::default());
        assert_eq!(errors, []);
        let warnings = match &statements[0].kind {
            StatementKind::Rule(rule) => check_rule(&rule.rule, &[], &catalog, true).unwrap(),
            StatementKind::Query(query) => analyse_query(query, &catalog).unwrap().program.warnings,
            other => panic!("{other}"),
        };
        let shown = warnings.iter().map(|warning| {
            assert!(warning.help.is_some());
            let span = warning.span.unwrap();
            format!("{}: {}", warning.code.as_str(), &text[span.start as usize..span.end as usize])
        });
        shown.collect()
    }

    #[test]
    fn a_variable_used_once_is_told_unless_its_name_says_so() {
        assert_eq!(warned("+p(X) <- e(X, Y)"), ["unused_variable: Y"]);
        assert_eq!(warned("+p(X) <- a(X), Z = X + 1"), ["unused_variable: Z"]);
        for text in
            ["+p(X) <- e(X, _)", "+p(X) <- e(X, _Y)", "+p(X) <- e(X, X)", "+p(count<X>) <- a(X)", "?e(X, Y)"]
        {
            assert_eq!(warned(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn a_cross_product_is_told_unless_something_connects_it() {
        assert_eq!(warned("+p(X, Y) <- a(X), b(Y)"), ["cross_product: b(Y)"]);
        assert_eq!(warned("?a(X), b(Y)"), ["cross_product: b(Y)"]);
        assert_eq!(warned("+p(count<X>) <- a(X), b(_Y)"), ["cross_product: b(_Y)"]);
        for text in [
            "+p(X, Y) <- a(X), b(Y), X < Y",
            "+p(X, Y) <- a(X), e(X, Z), Y = Z + 1, b(Y)",
            "+p(X, Y) <- a(X), b(Y), !e(X, Y)",
            "+p(X) <- a(X), b(_)",
            "+p(X) <- a(X), b(_Y)",
            "?a(X), b(Y), Y = 1",
            "?a(X), b(1)",
        ] {
            assert_eq!(warned(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn values_that_are_of_another_type_than_a_column_are_told() {
        for (text, part) in [
            ("?s(X, N), X = 5", "X = 5"),
            ("?s(X, N), 5 > X", "5 > X"),
            ("+p(X) <- s(X, N), N > \"5\", N < 9", "N > \"5\""),
            ("?s(X, N), X = N", "X = N"),
            ("?s(7, N)", "7"),
            ("?s(X, _), a(X)", "a(X)"),
        ] {
            assert_eq!(warned(text), [format!("never_true: {part}")], "{text}");
        }
        for text in [
            "?s(X, N), X != 5",
            "?s(X, N), N > 0.5",
            "?s(X, N), X = \"x\"",
            "?s(X, N), Y = to_int(X), Y > 5",
            "?mixed(X), X = 5",
            "?mixed(X), X = \"x\"",
            "?s(X, null)",
            "?s(X, N), a(N)",
        ] {
            assert_eq!(warned(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_is_never_true_is_told() {
        for (text, part) in [
            ("+p(X) <- a(X), 1 > 2", "1 > 2"),
            ("+p(X) <- a(X), X != X", "X != X"),
            ("+p(X) <- a(X), X = 1, X = 2", "X = 2"),
            ("+p(X) <- a(X), X > 5, 3 >= X", "3 >= X"),
            ("?a(X), X < 1, X = 1", "X = 1"),
            ("?a(X), X < 1, X > 1.5", "X > 1.5"),
            ("+p(X) <- a(X), !a(X)", "!a(X)"),
        ] {
            assert_eq!(warned(text), [format!("never_true: {part}")], "{text}");
        }
        for text in [
            "?a(X), X >= 1, X <= 1",
            "?a(X), X > 1, X < 2",
            "?a(X), 1 = 1.0",
            "?e(X, Y), !e(Y, X)",
            "?a(X), X != 1, X != 2",
        ] {
            assert_eq!(warned(text), [""; 0], "{text}");
        }
    }
}
