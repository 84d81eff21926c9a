//! What the literals of a body are to a search in it: what it starts from, what it has to fulfil, and the rest. None of
//! this depends on where a literal stands.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use crate::analysis::nested::negated_comparison;
use crate::analysis::variables::{bindable, for_each_variable, variables, with_needed};
use crate::syntax::ast::{Atom, Comparison, Literal, LiteralKind, Term, TermKind};

/// A search, as far as it matters to the literals around it.
pub(super) struct Seeker<'a> {
    /// What is searched for, and the variables for each of whose values there is a search.
    pub query: &'a Term,
    pub each: &'a [Term],
    /// The variable of the rows that are found, and those of what is told of them: how good they are, and which rank
    /// they have.
    pub id: &'a str,
    pub told: &'a [&'a str],
    /// The indexed relation, whose first column is the id.
    pub relation: &'a str,
}

impl Seeker<'_> {
    fn finds(&self, name: &str) -> bool {
        name == self.id || self.told.contains(&name)
    }
}

/// How a body is divided for a search.
pub(super) struct Division {
    /// What binds the variables that it starts from.
    pub start: Vec<Literal>,
    /// All variables of `start`.
    pub bound: HashSet<String>,
    /// The literals that count before the best are taken: places in the body.
    pub conditions: Vec<usize>,
    /// Them, as the search reads them: what nothing else reads is a placeholder.
    pub read: Vec<Literal>,
    /// Those of them that say nothing which is not true of all that is found.
    pub fulfilled: Vec<usize>,
}

impl Division {
    /// `plain` are the literals that are no searches, or searches that are done; `outputs` the variables of searches
    /// that this one knows nothing of, and `done` the places of those of which it does.
    pub(super) fn new(
        seeker: &Seeker<'_>,
        body: &[Literal],
        plain: &[usize],
        outputs: &HashSet<String>,
        done: &HashMap<usize, Vec<String>>,
    ) -> Division {
        let is_free = |place: &&usize| {
            let names = variables(&body[**place]);
            !names.iter().any(|name| seeker.finds(name) || outputs.contains(*name))
        };
        let open: Vec<usize> = plain.iter().filter(is_free).copied().collect();
        let mut start = Start::find(seeker, body, open, done);
        start.bind_each(seeker, body, plain, outputs);
        let found: HashSet<&str> = done
            .values()
            .flatten()
            .map(String::as_str)
            .chain(outputs.iter().map(String::as_str))
            .filter(|name| *name != seeker.id && !start.bound.contains(*name))
            .chain(seeker.told.iter().copied())
            .collect();
        let may_count = |place: &usize| {
            !start.places.contains(place)
                && !done.contains_key(place)
                && variables(&body[*place]).iter().all(|name| !found.contains(name))
        };
        let open = plain.iter().copied().filter(may_count).collect();
        let conditions = conditions(seeker, body, open, &start.bound);
        let read = conditions.iter().map(|place| read(*place, &conditions, seeker, body, &start.bound));
        let is_fulfilled = |place: &usize| {
            let is_known = |name: &&str| *name == seeker.id || start.bound.contains(*name);
            // Each value of a placeholder is a solution of its own, which an aggregate counts.
            variables(&body[*place]).iter().all(is_known) && !has_placeholder(&body[*place])
        };
        Division {
            read: read.collect(),
            fulfilled: conditions.iter().copied().filter(is_fulfilled).collect(),
            conditions,
            start: start.literals(body),
            bound: start.bound,
        }
    }
}

/// What can be known before a search.
struct Start {
    places: Vec<usize>,
    bound: HashSet<String>,
    /// What hangs together with that: it says what a search is not needed for.
    beside: Vec<usize>,
    /// Atoms of what is found, without what is found: they bind variables of `each` which nothing else binds.
    further: Vec<Literal>,
}

impl Start {
    /// The atoms that hold a variable from which the query is made, or one of `each`, with all that follows from these.
    fn find(
        seeker: &Seeker<'_>,
        body: &[Literal],
        mut open: Vec<usize>,
        done: &HashMap<usize, Vec<String>>,
    ) -> Start {
        let wanted = wanted(seeker, body, &open);
        let mut start =
            Start { places: Vec::new(), bound: HashSet::new(), beside: Vec::new(), further: Vec::new() };
        loop {
            let admits = |place: &usize| start.admits(&body[*place], &wanted, done.get(place));
            let Some(at) = open.iter().position(admits) else { break };
            let place = open.remove(at);
            start.bound.extend(variables(&body[place]).into_iter().map(str::to_owned));
            start.places.push(place);
        }
        start.beside = start.hanging_together(body, open);
        start
    }

    /// Literals that share variables with what is bound, by themselves or by way of each other.
    fn hanging_together(&self, body: &[Literal], mut open: Vec<usize>) -> Vec<usize> {
        let mut reached: HashSet<&str> = self.bound.iter().map(String::as_str).collect();
        let mut beside = Vec::new();
        let hangs = |literal: &Literal, reached: &HashSet<&str>| match &literal.kind {
            LiteralKind::Positive(atom) => {
                let mut is_computable = true;
                for term in atom.terms.iter().filter(|term| !matches!(term.kind, TermKind::Variable(_))) {
                    for_each_variable(term, &mut |name| is_computable &= reached.contains(name));
                }
                is_computable && variables(literal).iter().any(|name| reached.contains(name))
            }
            _ => variables(literal).iter().all(|name| reached.contains(name)),
        };
        while let Some(at) = open.iter().position(|place| hangs(&body[*place], &reached)) {
            let place = open.remove(at);
            reached.extend(variables(&body[place]));
            beside.push(place);
        }
        beside
    }

    fn admits(&self, literal: &Literal, wanted: &HashSet<String>, found: Option<&Vec<String>>) -> bool {
        let is_bound = |term: &Term| {
            let mut all = true;
            for_each_variable(term, &mut |name| all &= self.bound.contains(name));
            all
        };
        let is_needed = |id: &String| wanted.contains(id) || self.bound.contains(id);
        match &literal.kind {
            LiteralKind::Positive(atom) => {
                // Of another search everything is known as soon as what it finds is of use.
                found.and_then(|outputs| outputs.first()).is_some_and(is_needed)
                    || atom.terms.iter().all(is_bound)
                    || found.is_none() && variables(literal).iter().any(|name| wanted.contains(*name))
            }
            LiteralKind::Negative(atom) => atom.terms.iter().all(is_bound),
            LiteralKind::Comparison { operator: Comparison::Equal, left, right } => {
                let is_variable = |term: &Term| matches!(term.kind, TermKind::Variable(_));
                (is_bound(left) && (is_bound(right) || is_variable(right)))
                    || (is_bound(right) && is_variable(left))
            }
            LiteralKind::Comparison { left, right, .. } => is_bound(left) && is_bound(right),
            // All others are taken out of a body before its searches.
            LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_) => {
                negated_comparison(literal).is_some_and(|(_, left, right)| is_bound(left) && is_bound(right))
            }
        }
    }

    /// Where only rows that are found say for what there is a search, all of them do.
    fn bind_each(
        &mut self,
        seeker: &Seeker<'_>,
        body: &[Literal],
        plain: &[usize],
        outputs: &HashSet<String>,
    ) {
        let is_found = |name: &str| seeker.finds(name) || outputs.contains(name);
        for term in seeker.each {
            let TermKind::Variable(name) = &term.kind else { continue };
            if self.bound.contains(name) {
                continue;
            }
            let atoms = plain.iter().filter_map(|place| match &body[*place].kind {
                LiteralKind::Positive(atom) if binds(atom, name) => Some((atom, body[*place].span)),
                _ => None,
            });
            let blanked: Vec<Literal> = atoms
                .map(|(atom, span)| {
                    let mut atom = atom.clone();
                    for term in &mut atom.terms {
                        let mut is_blank = false;
                        for_each_variable(term, &mut |other| is_blank |= other != name || is_found(other));
                        if is_blank {
                            term.kind = TermKind::Placeholder;
                        }
                    }
                    Literal { kind: LiteralKind::Positive(atom), span }
                })
                .collect();
            if !blanked.is_empty() {
                self.bound.insert(name.clone());
                self.further.extend(blanked);
            }
        }
    }

    fn literals(&self, body: &[Literal]) -> Vec<Literal> {
        let mut places = [self.places.as_slice(), &self.beside].concat();
        places.sort_unstable();
        places.into_iter().map(|place| body[place].clone()).chain(self.further.iter().cloned()).collect()
    }
}

/// Whether an atom holds a variable as it stands.
fn binds(atom: &Atom, name: &str) -> bool {
    atom.terms.iter().any(|term| matches!(&term.kind, TermKind::Variable(other) if other == name))
}

/// The variables of the query and of `each`, and those that they are made from.
fn wanted<'b>(seeker: &'b Seeker<'_>, body: &'b [Literal], open: &[usize]) -> HashSet<String> {
    let mut wanted = HashSet::new();
    for term in std::iter::once(seeker.query).chain(seeker.each) {
        for_each_variable(term, &mut |name| _ = wanted.insert(name));
    }
    let open: Vec<&Literal> = open.iter().map(|place| &body[*place]).collect();
    with_needed(wanted, &open).into_iter().map(str::to_owned).collect()
}

/// The literals that say something of the id, by themselves or by way of variables that the search does not start from.
fn conditions(
    seeker: &Seeker<'_>,
    body: &[Literal],
    mut open: Vec<usize>,
    bound: &HashSet<String>,
) -> Vec<usize> {
    let mut reached = HashSet::from_iter([seeker.id]);
    let mut conditions = Vec::new();
    let is_reached = |place: usize, reached: &HashSet<&str>| {
        variables(&body[place]).iter().any(|name| reached.contains(name))
    };
    while let Some(at) = open.iter().position(|place| is_reached(*place, &reached)) {
        let place = open.remove(at);
        reached.extend(variables(&body[place]).into_iter().filter(|name| !bound.contains(*name)));
        conditions.push(place);
    }
    conditions.sort_unstable();
    // What nothing binds is reported where it stands in the body.
    loop {
        let known = bound.iter().map(String::as_str).chain([seeker.id]).collect();
        let literals: Vec<&Literal> = conditions.iter().map(|place| &body[*place]).collect();
        let known = bindable(&literals, known);
        let is_safe = |place: &usize| variables(&body[*place]).iter().all(|name| known.contains(*name));
        let before = conditions.len();
        conditions.retain(is_safe);
        if conditions.len() == before {
            break;
        }
    }
    let uses = uses(body, &conditions);
    conditions.retain(|place| !is_of_every_row(seeker, &body[*place], &uses, bound));
    conditions
}

/// How often each variable stands in these literals.
fn uses<'b>(body: &'b [Literal], places: &[usize]) -> HashMap<&'b str, usize> {
    let mut uses = HashMap::new();
    for name in places.iter().flat_map(|place| variables(&body[*place])) {
        *uses.entry(name).or_insert(0) += 1;
    }
    uses
}

/// Whether a literal only reads further columns of the rows that are found.
fn is_of_every_row(
    seeker: &Seeker<'_>,
    literal: &Literal,
    uses: &HashMap<&str, usize>,
    bound: &HashSet<String>,
) -> bool {
    let LiteralKind::Positive(atom) = &literal.kind else { return false };
    let [first, rest @ ..] = atom.terms.as_slice() else { return false };
    let is_unread = |term: &Term| match &term.kind {
        TermKind::Placeholder => true,
        TermKind::Variable(name) => uses.get(name.as_str()) == Some(&1) && !bound.contains(name),
        _ => false,
    };
    atom.relation.text == seeker.relation
        && matches!(&first.kind, TermKind::Variable(name) if name == seeker.id)
        && rest.iter().all(is_unread)
}

/// A condition, in which a placeholder stands for each variable that nothing else reads.
fn read(
    place: usize,
    conditions: &[usize],
    seeker: &Seeker<'_>,
    body: &[Literal],
    bound: &HashSet<String>,
) -> Literal {
    let mut literal = body[place].clone();
    let uses = uses(body, conditions);
    if let LiteralKind::Positive(atom) = &mut literal.kind {
        for term in &mut atom.terms {
            let TermKind::Variable(name) = &term.kind else { continue };
            if name != seeker.id && !bound.contains(name) && uses.get(name.as_str()) == Some(&1) {
                term.kind = TermKind::Placeholder;
            }
        }
    }
    literal
}

/// Whether it is an atom of which more than one row may match.
fn has_placeholder(literal: &Literal) -> bool {
    match &literal.kind {
        LiteralKind::Positive(atom) => {
            atom.terms.iter().any(|term| matches!(term.kind, TermKind::Placeholder))
        }
        _ => false,
    }
}
