//! How facts are explained: in layers, from the rows downwards. All facts of a layer that one rule may derive are asked for their
//! solutions at once, and each fact is explained once, whoever needs it.

use std::collections::HashMap;

use super::paths::Closure;
use super::proof::{Detail, Proof};
use super::prover::{Candidate, Prover, Way, broken, rows_of};
use super::solutions::Solution;
use crate::data::{Code, RelationId, Run};
use crate::error::Error;
use crate::rewrite::proofs::{self, Derived, Kind};

/// So many facts are explained in one answer.
const MOST_FACTS: usize = 10_000;
/// So many proofs of one row are told.
const MOST_ALTERNATIVES: usize = 5;

impl Prover<'_> {
    /// A proof of each row of the goal. Nothing if one of them has none.
    pub(super) fn proofs_of(mut self, rows: &Run, count: usize) -> Result<Option<Vec<Proof>>, Error> {
        let Some(roots) = self.begin(rows, count) else { return Ok(None) };
        self.explain_all()?;
        let roots: Vec<usize> = roots.into_iter().map(|root| self.meant(root)).collect();
        self.told_all(&roots).map(Some)
    }

    /// The facts that rows of the goal are. Nothing if one of them has no proof.
    fn begin(&mut self, rows: &Run, count: usize) -> Option<Vec<usize>> {
        let goal = self.explained.goal;
        let mut heights: HashMap<Vec<Code>, u32> = HashMap::new();
        for run in self.evaluated.heights(goal) {
            for mut row in rows_of(&run) {
                let height = row.pop().unwrap_or(0);
                heights.insert(row, height);
            }
        }
        let numbers = rows_of(rows).take(count).map(|row| {
            let height = match &self.search {
                Some(search) => search.height(goal, &row)?,
                None => heights.get(&row).copied()?,
            };
            Some(self.fact(goal, row, height))
        });
        numbers.collect()
    }

    /// Explains facts, and those that they need, until there are too many.
    pub(super) fn explain_all(&mut self) -> Result<(), Error> {
        let mut done = 0;
        while done < self.facts.len() && done < MOST_FACTS {
            let layer = done..self.facts.len().min(MOST_FACTS);
            done = layer.end;
            let mut by_relation: HashMap<RelationId, Vec<usize>> = HashMap::new();
            // Halves of paths are explained with the path.
            for fact in layer.filter(|fact| self.facts[*fact].ways.is_empty()) {
                by_relation.entry(self.facts[fact].relation).or_default().push(fact);
            }
            let mut relations: Vec<RelationId> = by_relation.keys().copied().collect();
            relations.sort_unstable();
            for relation in relations {
                self.explain(relation, &by_relation[&relation])?;
            }
        }
        Ok(())
    }

    /// Explains facts of one relation.
    fn explain(&mut self, relation: RelationId, facts: &[usize]) -> Result<(), Error> {
        let explained = self.explained;
        let Some(derived) = explained.derived.get(&relation) else {
            for fact in facts {
                let way = self.stored(relation, &self.facts[*fact].row);
                self.facts[*fact].ways = vec![way];
            }
            return Ok(());
        };
        if let Some(step_height) = explained.step_height(relation) {
            let closure = Closure::of(relation, step_height, explained)?;
            let (steps, paths) = self.steps_and_paths(&closure, facts)?;
            self.explain(closure.step, &steps)?;
            return self.explain_paths(&closure, &paths);
        }
        let candidates = self.candidates(relation, derived, facts)?;
        for (fact, candidates) in facts.iter().zip(candidates) {
            self.decide(relation, *fact, candidates)?;
        }
        Ok(())
    }

    /// Asks for all solutions by which facts of one relation stand.
    fn candidates(
        &self,
        relation: RelationId,
        derived: &Derived,
        facts: &[usize],
    ) -> Result<Vec<Vec<Candidate>>, Error> {
        let mut candidates: Vec<Vec<Candidate>> = facts.iter().map(|_| Vec::new()).collect();
        for way in 0..derived.ways.len() {
            let ask = self.evaluated.ask(relation, way);
            let mut found = self.solutions(&ask, derived.step, facts)?;
            if let Some(search) = &self.search {
                search.give_heights(self.evaluated, &ask, derived.step, found.iter_mut().flatten());
            }
            for (candidates, found) in candidates.iter_mut().zip(found) {
                candidates.extend(found.into_iter().map(|solution| Candidate { way, solution }));
            }
        }
        Ok(candidates)
    }

    /// Takes the smallest of the ways in which a fact may stand; of those the first rule, with the smallest values.
    fn decide(
        &mut self,
        relation: RelationId,
        fact: usize,
        mut candidates: Vec<Candidate>,
    ) -> Result<(), Error> {
        let explained = self.explained;
        let ways = &explained.derived[&relation].ways;
        settle_heights(ways, &mut candidates);
        let (different, count) = self.different(relation, &candidates);
        let best = different.first().ok_or_else(|| broken("a fact follows from no rule"))?;
        if best.solution.height != self.facts[fact].height {
            return Err(broken("a fact has no proof of its height"));
        }
        let mut made = Vec::with_capacity(different.len());
        for candidate in different {
            let way = &ways[candidate.way];
            let ask = self.evaluated.ask(relation, candidate.way);
            let made_way = match way.kind {
                Kind::Stored => self.stored(relation, &self.facts[fact].row.clone()),
                Kind::Solution | Kind::Path => self.by_solution(&way.rule, &ask, &candidate.solution),
                Kind::Chosen(_) => self.chosen(fact, relation, candidate, &ask)?,
                Kind::Group(_) => {
                    let of_group = candidates.iter().filter(|other| other.way == candidate.way);
                    let mut solutions: Vec<&Solution> = of_group.map(|other| &other.solution).collect();
                    solutions.sort_by(|a, b| self.by_values(&a.codes, &b.codes));
                    self.by_group(fact, &way.rule, &ask, &solutions)
                }
            };
            made.push(Way { height: candidate.solution.height, ..made_way });
        }
        let known = &mut self.facts[fact];
        (known.ways, known.alternatives) = (made, count - 1);
        Ok(())
    }

    /// The smallest ways in which a fact may stand, as many as are told, and how many there are. Those of the first rule come
    /// first, of those the ones with the smallest values.
    fn different<'c>(&self, relation: RelationId, candidates: &'c [Candidate]) -> (Vec<&'c Candidate>, u64) {
        let ways = &self.explained.derived[&relation].ways;
        // Solutions that differ in nothing that is written are the same way, and so are all of a group.
        let written: Vec<usize> = ways
            .iter()
            .enumerate()
            .map(|(way, of)| match of.kind {
                Kind::Group(_) => 0,
                _ => self.evaluated.ask(relation, way).written,
            })
            .collect();
        let rank = |candidate: &Candidate| (candidate.solution.height, candidate.way);
        let text = |candidate: &'c Candidate| &candidate.solution.codes[..written[candidate.way]];
        let by_values = |a: &Candidate, b: &Candidate| self.by_values(&a.solution.codes, &b.solution.codes);
        let mut different: Vec<&'c Candidate> = candidates.iter().collect();
        let as_written = |of: &&'c Candidate| (of.way, text(of), of.solution.height);
        different.sort_unstable_by(|a, b| as_written(a).cmp(&as_written(b)));
        different.dedup_by(|a, b| {
            let is_same = a.way == b.way && text(a) == text(b);
            if is_same && rank(a) == rank(b) && by_values(a, b).is_lt() {
                std::mem::swap(a, b);
            }
            is_same
        });
        different.sort_unstable_by_key(|candidate| rank(candidate));
        let count = different.len();
        // To compare values takes longer than to compare codes.
        let told = if self.detail == Detail::Alternatives { MOST_ALTERNATIVES } else { 1 };
        if let Some(last) = different.get(told - 1).map(|last| rank(last)) {
            different.truncate(different.partition_point(|candidate| rank(candidate) <= last));
        }
        different.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| by_values(a, b)));
        different.truncate(told);
        (different, count as u64)
    }
}

/// Gives each candidate the height of what it would make.
fn settle_heights(ways: &[proofs::Way], candidates: &mut [Candidate]) {
    // All solutions of a group are needed, so it stands on the highest of them.
    let mut highest = vec![0; ways.len()];
    for candidate in candidates.iter() {
        highest[candidate.way] = highest[candidate.way].max(candidate.solution.height);
    }
    for candidate in candidates {
        match ways[candidate.way].kind {
            Kind::Stored => candidate.solution.height = 0,
            Kind::Group(_) => candidate.solution.height = highest[candidate.way],
            Kind::Solution | Kind::Chosen(_) | Kind::Path => {}
        }
    }
}
