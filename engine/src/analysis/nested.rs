//! Alternatives and negated conjunctions: clauses of plain literals, and relations that are made for them.
//!
//! ```text
//! p(X) <- a(X), (b(X) or c(X, Y), Y > 3), !(d(X, Z), e(Z))
//! ```
//! becomes
//! ```text
//! p(X)       <- a(X), b(X), !?none(X)
//! p(X)       <- a(X), c(X, Y), Y > 3, !?none(X)
//! ?none(X)   <- d(X, Z), e(Z)
//! ```
//! Where solutions of the body are counted, or rows are found by it, alternatives are a relation of their own, so that
//! each of its rows counts once, whichever alternatives it comes from.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::resolve::{Origin, Resolver, Source};
use super::variables::{
    bindable, equations, for_each_variable, in_all_alternatives, names_of, of_atoms, variables, with_needed,
};
use crate::catalog::is_search;
use crate::data::RelationId;
use crate::diagnostic::Span;
use crate::syntax::ast::{Atom, Comparison, Literal, LiteralKind, Name, Term, TermKind};

/// Rules for a relation that was made.
pub(super) struct Made {
    pub(super) head: RelationId,
    pub(super) terms: Vec<Term>,
    pub(super) bodies: Vec<Vec<Literal>>,
    pub(super) text: String,
    pub(super) span: Span,
}

impl Resolver<'_> {
    /// The bodies without alternatives that a body stands for, if it is more than one and the rule derives what any of
    /// them does.
    pub(super) fn combinations_of_rule(
        &self,
        source: &Source,
        head_terms: &[Term],
        body: &[Literal],
    ) -> Option<Vec<Vec<Literal>>> {
        let aggregates = head_terms.iter().any(|term| matches!(term.kind, TermKind::Aggregate { .. }));
        let is_search = |literal: &Literal| match &literal.kind {
            LiteralKind::Positive(atom) => is_search(atom),
            _ => false,
        };
        let has_alternatives = body.iter().any(is_disjunction);
        let is_plain = source.origin != Origin::Query && !aggregates && !body.iter().any(is_search);
        (has_alternatives && is_plain).then(|| combinations(body))
    }

    /// Puts an atom in the place of what is no plain literal. `goal` stands before the body; `heads` are terms that read
    /// its solutions. Nothing if all are plain.
    pub(super) fn take_nested(
        &mut self,
        reader: RelationId,
        goal: Option<&Atom>,
        heads: &[Term],
        body: &[Literal],
    ) -> Option<(Vec<Literal>, Vec<Made>)> {
        if body.iter().all(is_plain) {
            return None;
        }
        let goal = goal.map(|goal| Literal { kind: LiteralKind::Positive(goal.clone()), span: goal.span });
        let mut made = Vec::new();
        let mut body = self.simple_negations(body);
        if body.iter().any(is_disjunction) {
            body = self.take_alternatives(goal.as_ref(), heads, &body, &mut made);
        }
        for place in 0..body.len() {
            if !is_plain(&body[place]) {
                body[place] = self.take_negated(reader, goal.as_ref(), &body, place, &mut made);
            }
        }
        Some((body, made))
    }

    /// All alternatives of a body as one atom of the variables by which they hang together with the rest.
    fn take_alternatives(
        &mut self,
        goal: Option<&Literal>,
        heads: &[Term],
        body: &[Literal],
        made: &mut Vec<Made>,
    ) -> Vec<Literal> {
        let (groups, others): (Vec<&Literal>, Vec<&Literal>) =
            body.iter().partition(|literal| is_disjunction(literal));
        let mut read: HashSet<&str> = HashSet::new();
        heads.iter().for_each(|term| for_each_variable(term, &mut |name| _ = read.insert(name)));
        goal.into_iter().chain(others.iter().copied()).for_each(|literal| read.extend(variables(literal)));
        // What several groups have in common and nothing else reads is a matter among them.
        groups.iter().for_each(|group| read.extend(in_all_alternatives(group)));
        let mut names: Vec<&str> = Vec::new();
        for name in groups.iter().flat_map(|group| variables(group)) {
            if read.contains(name) && !names.contains(&name) {
                names.push(name);
            }
        }
        let (first, span) =
            groups.first().map_or((None, Span::default()), |group| (Some(*group), group.span));
        let alternatives = combinations(&groups.iter().map(|group| (*group).clone()).collect::<Vec<_>>());
        // By themselves they are a relation only if their atoms say all that they are about.
        let binds_all = |body: &Vec<Literal>| {
            let bound = of_atoms(body);
            body.iter().all(is_plain)
                && body
                    .iter()
                    .flat_map(variables)
                    .chain(names.iter().copied())
                    .all(|name| bound.contains(name))
        };
        let beside: Vec<Literal> = match alternatives.iter().all(binds_all) {
            true => Vec::new(),
            false => {
                let beside: Vec<&Literal> = goal.into_iter().chain(others.iter().copied()).collect();
                let own = groups.iter().copied().flat_map(variables).chain(names.iter().copied()).collect();
                without_unread(&beside, own)
            }
        };
        let bodies = alternatives.into_iter().map(|own| [beside.clone(), own].concat()).collect();
        let atom = self.made_of("?either", &names, bodies, span, made);
        let replacement = Literal { kind: LiteralKind::Positive(atom), span };
        let is_first = |literal: &Literal| first.is_some_and(|first| std::ptr::eq(first, literal));
        body.iter()
            .filter(|literal| !is_disjunction(literal) || is_first(literal))
            .map(|literal| if is_first(literal) { replacement.clone() } else { literal.clone() })
            .collect()
    }

    /// A body in which each alternative under a negation is negated by itself, and so are calls of functions.
    pub(super) fn simple_negations(&self, body: &[Literal]) -> Vec<Literal> {
        let mut simple = Vec::with_capacity(body.len());
        for literal in body {
            match &literal.kind {
                LiteralKind::NegatedConjunction(inner) => match inner.as_slice() {
                    [Literal { kind: LiteralKind::Disjunction(alternatives), .. }] => {
                        let negated = alternatives.iter().map(|alternative| Literal {
                            kind: LiteralKind::NegatedConjunction(alternative.clone()),
                            span: alternative
                                .iter()
                                .map(|literal| literal.span)
                                .reduce(Span::to)
                                .unwrap_or(literal.span),
                        });
                        simple.extend(self.simple_negations(&negated.collect::<Vec<_>>()));
                    }
                    _ => simple.push(match self.negated_call(literal) {
                        Some(atom) => Literal { kind: LiteralKind::Negative(atom), span: literal.span },
                        None => literal.clone(),
                    }),
                },
                LiteralKind::Positive(_)
                | LiteralKind::Negative(_)
                | LiteralKind::Comparison { .. }
                | LiteralKind::Disjunction(_) => simple.push(literal.clone()),
            }
        }
        simple
    }

    /// The call of a function that stands under a negation by itself.
    fn negated_call(&self, literal: &Literal) -> Option<Atom> {
        let LiteralKind::NegatedConjunction(inner) = &literal.kind else { return None };
        match inner.as_slice() {
            [Literal { kind: LiteralKind::Positive(atom), .. }] => {
                self.condition(&atom.relation.text).map(|_| atom.clone())
            }
            _ => None,
        }
    }

    /// A negated conjunction as the negation of one atom: of those of its variables that the rest of the body binds.
    fn take_negated(
        &mut self,
        reader: RelationId,
        goal: Option<&Literal>,
        body: &[Literal],
        place: usize,
        made: &mut Vec<Made>,
    ) -> Literal {
        let span = body[place].span;
        let LiteralKind::NegatedConjunction(inner) = &body[place].kind else { return body[place].clone() };
        let beside = |literal: &&Literal| {
            matches!(literal.kind, LiteralKind::Positive(_) | LiteralKind::Comparison { .. })
        };
        let others: Vec<Literal> = goal.into_iter().chain(body.iter().filter(beside)).cloned().collect();
        let known = bindable(&others.iter().collect::<Vec<_>>(), HashSet::new());
        let names = names_of(&body[place], &known);
        if let [Literal { kind: LiteralKind::Positive(atom), .. }] = inner.as_slice()
            && !is_search(atom)
            && inner.iter().flat_map(variables).all(|name| known.contains(name))
        {
            return Literal { kind: LiteralKind::Negative(atom.clone()), span };
        }
        let own = of_atoms(inner);
        let missing: HashSet<&str> = names.iter().copied().filter(|name| !own.contains(name)).collect();
        let reader = self.relations[reader.index()].name.clone();
        let mut bodies = vec![binders(&missing, &others, &reader)];
        bodies[0].extend(inner.iter().cloned());
        let atom = self.made_of("?none", &names, bodies, span, made);
        Literal { kind: LiteralKind::Negative(atom), span }
    }

    fn made_of(
        &mut self,
        name: &str,
        variables: &[&str],
        bodies: Vec<Vec<Literal>>,
        span: Span,
        made: &mut Vec<Made>,
    ) -> Atom {
        let terms: Vec<Term> = variables
            .iter()
            .map(|name| Term { kind: TermKind::Variable((*name).to_owned()), span })
            .collect();
        let relation = self.made_relation(name, terms.len());
        let text =
            Atom { relation: Name { text: name.to_owned(), span }, terms: terms.clone(), span }.to_string();
        let head = self.relation(&relation, terms.len());
        made.push(Made { head, terms: terms.clone(), bodies, text, span });
        Atom { relation: Name { text: relation, span }, terms, span }
    }
}

/// These literals without equations of variables that neither `others` nor another of them reads: nothing is computed in
/// vain.
fn without_unread(literals: &[&Literal], others: Vec<&str>) -> Vec<Literal> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in literals.iter().copied().flat_map(variables).chain(others) {
        *uses.entry(name).or_default() += 1;
    }
    let is_unread = |literal: &Literal| equations(literal).iter().any(|(name, _)| uses[name] == 1);
    literals.iter().copied().filter(|literal| !is_unread(literal)).cloned().collect()
}

fn is_disjunction(literal: &Literal) -> bool {
    matches!(literal.kind, LiteralKind::Disjunction(_))
}

pub(super) fn is_plain(literal: &Literal) -> bool {
    negated_comparison(literal).is_some()
        || !matches!(literal.kind, LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_))
}

/// The sides of a comparison that stands under a negation by itself: a condition like any other.
pub(super) fn negated_comparison(literal: &Literal) -> Option<(Comparison, &Term, &Term)> {
    let LiteralKind::NegatedConjunction(inner) = &literal.kind else { return None };
    match inner.as_slice() {
        [Literal { kind: LiteralKind::Comparison { operator, left, right }, .. }] => {
            Some((*operator, left, right))
        }
        _ => None,
    }
}

/// The bodies that take one of each alternatives.
fn combinations(body: &[Literal]) -> Vec<Vec<Literal>> {
    let mut combined = vec![Vec::new()];
    for literal in body {
        let choices: Vec<Vec<Literal>> = match &literal.kind {
            LiteralKind::Disjunction(alternatives) => {
                alternatives.iter().flat_map(|alternative| combinations(alternative)).collect()
            }
            _ => vec![vec![literal.clone()]],
        };
        combined = combined
            .iter()
            .flat_map(|before| choices.iter().map(|choice| [before.as_slice(), choice].concat()))
            .collect();
    }
    combined
}

/// Literals that bind these variables: atoms that do, of other relations than the reader's where there are such, and
/// equations.
fn binders(missing: &HashSet<&str>, others: &[Literal], reader: &str) -> Vec<Literal> {
    fn bind<'b>(missing: &HashSet<&'b str>, others: &[&'b Literal]) -> Vec<&'b Literal> {
        let wanted = with_needed(missing.clone(), others);
        let is_wanted = |literal: &&&Literal| match &literal.kind {
            LiteralKind::Positive(_) => {
                of_atoms(std::slice::from_ref(**literal)).iter().any(|name| wanted.contains(name))
            }
            _ => equations(literal).iter().any(|(variable, _)| wanted.contains(variable)),
        };
        others.iter().filter(is_wanted).copied().collect()
    }
    let all: Vec<&Literal> = others.iter().collect();
    let of_reader = |literal: &Literal| match &literal.kind {
        LiteralKind::Positive(atom) => atom.relation.text == reader,
        _ => false,
    };
    let foreign: Vec<&Literal> = all.iter().copied().filter(|literal| !of_reader(literal)).collect();
    let foreign = bind(missing, &foreign);
    let bound = bindable(&foreign, HashSet::new());
    let is_bound = with_needed(missing.clone(), &foreign).iter().all(|name| bound.contains(name));
    let chosen = if is_bound { foreign } else { bind(missing, &all) };
    chosen.into_iter().cloned().collect()
}
