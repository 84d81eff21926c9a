//! The fewest stored facts with which something would hold.
//!
//! Conditions of a rule are taken for fulfilled, one of them, then two, then three, and the others say which facts those would
//! be. What was found is tried out: it must make the fact true, and nothing of it may be left out.

use super::explore::{Explorer, as_fact, is_aggregate, unify};
use super::terms::{Values, atom_with, bound_by};
use crate::error::Error;
use crate::provenance::Fact;
use crate::statements::{query, run_one};
use crate::syntax::ast::{
    Atom, Insert, Literal, LiteralKind, Query, QueryHead, Scope, StatementKind, TermKind, Tuple,
};

/// So many facts are looked for at most.
const MOST_FACTS: usize = 3;
/// Rules below rules are followed so far.
const DEPTH: usize = 4;
/// So many solutions of the other conditions are looked at.
const SOLUTIONS: u64 = 10;
/// So many sets are tried out.
const CANDIDATES: usize = 40;

impl Explorer<'_, '_> {
    /// The facts; none if none were found.
    pub(super) fn missing_facts(&mut self, atom: &Atom) -> Result<Vec<Fact>, Error> {
        for count in 1..=MOST_FACTS {
            for facts in self.candidates(atom, count, DEPTH)? {
                if facts.len() == count && self.is_needed(atom, &facts)? {
                    return Ok(facts.iter().map(as_fact).collect());
                }
            }
        }
        Ok(Vec::new())
    }

    /// Whether an atom holds with these facts, and not with fewer of them.
    fn is_needed(&mut self, atom: &Atom, facts: &[Atom]) -> Result<bool, Error> {
        if !self.holds_with(atom, facts)? {
            return Ok(false);
        }
        for left_out in 0..facts.len() {
            let fewer: Vec<Atom> = facts
                .iter()
                .enumerate()
                .filter(|(place, _)| *place != left_out)
                .map(|(_, fact)| fact.clone())
                .collect();
            if self.holds_with(atom, &fewer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds_with(&mut self, atom: &Atom, facts: &[Atom]) -> Result<bool, Error> {
        let mut supposing = self.context.supposing(self.context.snapshot());
        for fact in facts {
            let tuple = Tuple::new(fact.terms.clone(), fact.span);
            let insert =
                Insert { scope: Scope::Persistent, relation: fact.relation.clone(), tuples: vec![tuple] };
            match run_one(&StatementKind::Insert(insert), &mut supposing) {
                Ok(_) => {}
                Err(Error::Refused(_)) => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let order = vec![None; atom.terms.len()];
        let asked =
            Query { head: QueryHead::Goal { atom: atom.clone(), order }, body: Vec::new(), limit: None };
        Ok(query::run(&asked, &mut supposing, None)?.row_count() > 0)
    }

    /// Sets of at most so many facts with which an atom may hold.
    fn candidates(&mut self, atom: &Atom, count: usize, depth: usize) -> Result<Vec<Vec<Atom>>, Error> {
        let rules = self.rules(&atom.relation.text);
        if rules.is_empty() {
            let is_ground = atom.terms.iter().all(|term| matches!(term.kind, TermKind::Constant(_)));
            return Ok(if is_ground { vec![vec![atom.clone()]] } else { Vec::new() });
        }
        let mut found: Vec<Vec<Atom>> = Vec::new();
        if depth == 0 {
            return Ok(found);
        }
        for rule in rules.iter().filter(|rule| !is_aggregate(rule)) {
            let Ok(head) = unify(atom, rule) else { continue };
            let conditions = [&head.fixed[..], &head.computed].concat();
            let positive: Vec<usize> = (0..rule.body.len())
                .filter(|place| matches!(rule.body[*place].kind, LiteralKind::Positive(_)))
                .collect();
            for assumed in subsets(&positive, count) {
                if found.len() >= CANDIDATES {
                    return Ok(found);
                }
                let values = self.values_beside(&rule.body, &assumed, &conditions)?;
                for mut values in values {
                    values.extend(head.values.clone());
                    let atoms = assumed.iter().filter_map(|place| match &rule.body[*place].kind {
                        LiteralKind::Positive(read) => Some(atom_with(read, &values)),
                        _ => None,
                    });
                    let atoms: Vec<Atom> = atoms.collect();
                    let spare = count - atoms.len();
                    let mut sets: Vec<Vec<Atom>> = vec![Vec::new()];
                    for assumed in &atoms {
                        let ways = self.candidates(assumed, spare + 1, depth - 1)?;
                        let together = sets.iter().flat_map(|set| {
                            ways.iter().take(SOLUTIONS as usize).map(move |way| {
                                let mut together = set.clone();
                                let new = way
                                    .iter()
                                    .filter(|fact| !set.iter().any(|known| as_fact(known) == as_fact(fact)));
                                together.extend(new.cloned());
                                together
                            })
                        });
                        sets = together.filter(|set| set.len() <= count).collect();
                    }
                    found.extend(sets.into_iter().filter(|set| !set.is_empty()));
                }
            }
        }
        found.truncate(CANDIDATES);
        Ok(found)
    }

    /// The values that variables of assumed conditions have by all others.
    fn values_beside(
        &mut self,
        body: &[Literal],
        assumed: &[usize],
        conditions: &[Literal],
    ) -> Result<Vec<Values>, Error> {
        let rest: Vec<Literal> = (0..body.len())
            .filter(|place| !assumed.contains(place))
            .map(|place| body[place].clone())
            .collect();
        let binding = |literal: &&Literal| {
            matches!(literal.kind, LiteralKind::Positive(_) | LiteralKind::Disjunction(_))
        };
        let bound: Vec<String> = rest.iter().filter(binding).flat_map(bound_by).map(str::to_owned).collect();
        let wanted = assumed.iter().flat_map(|place| bound_by(&body[*place]));
        let mut names: Vec<String> = wanted.map(str::to_owned).filter(|name| bound.contains(name)).collect();
        names.sort();
        names.dedup();
        let asked = [conditions, &rest].concat();
        if let Some(found) = self.solutions(&names, &asked, SOLUTIONS)? {
            return Ok(found);
        }
        // Some conditions are about what is assumed: they are tried out with it.
        let plain: Vec<Literal> = conditions.iter().chain(rest.iter().filter(binding)).cloned().collect();
        if plain.iter().all(|condition| bound_by(condition).is_empty()) {
            return Ok(vec![Values::new()]);
        }
        Ok(self.solutions(&names, &plain, SOLUTIONS)?.unwrap_or_default())
    }
}

/// All choices of one to so many of these.
fn subsets(places: &[usize], most: usize) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for place in places {
        let with: Vec<Vec<usize>> =
            found.iter().filter(|set| set.len() < most).map(|set| [&set[..], &[*place]].concat()).collect();
        found.extend(with);
    }
    found.retain(|set| !set.is_empty());
    found.sort_by_key(Vec::len);
    found
}

#[cfg(test)]
mod tests {
    use super::subsets;

    #[test]
    fn small_choices_come_first() {
        assert_eq!(subsets(&[4, 7, 9], 2), [vec![4], vec![7], vec![9], vec![4, 7], vec![4, 9], vec![7, 9]]);
        assert_eq!(subsets(&[], 2), [[0; 0]; 0]);
    }
}
