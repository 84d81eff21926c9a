//! Rows of closures that are composed of themselves: a path is followed back to its front, and put together in halves.

use super::proof::{Bound, Reason};
use super::prover::{Child, Prover, Way, broken};
use super::solutions::Solution;
use crate::analysis::program::{Argument, Rule};
use crate::data::{Code, RelationId, VariableId};
use crate::error::Error;
use crate::rewrite::proofs::{Explained, path_and_step};

/// A path on its way, from its back.
struct Found {
    fact: usize,
    nodes: Vec<Code>,
    is_complete: bool,
}

/// What paths of a relation are made of.
pub(super) struct Closure<'r> {
    relation: RelationId,
    pub(super) step: RelationId,
    step_height: u32,
    longer: &'r Rule,
    /// The names of front, middle and back in the rule.
    names: [String; 3],
    /// Whether the rule names the front half first.
    front_first: bool,
}

impl Prover<'_> {
    /// Which rows of a closure are steps, and which are longer paths. Those that are steps are facts of that relation from here on.
    pub(super) fn steps_and_paths(
        &mut self,
        closure: &Closure<'_>,
        facts: &[usize],
    ) -> Result<(Vec<usize>, Vec<usize>), Error> {
        let one = self.evaluated.ask(closure.relation, 0);
        let are_steps = self.solutions(&one, 0, facts)?;
        let (steps, paths): (Vec<_>, Vec<_>) =
            facts.iter().zip(are_steps).partition(|(_, found)| !found.is_empty());
        let steps: Vec<usize> = steps.into_iter().map(|(fact, _)| *fact).collect();
        steps.iter().for_each(|fact| self.facts[*fact].relation = closure.step);
        Ok((steps, paths.into_iter().map(|(fact, _)| *fact).collect()))
    }

    /// Explains rows that are longer paths.
    pub(super) fn explain_paths(&mut self, closure: &Closure<'_>, paths: &[usize]) -> Result<(), Error> {
        let begun = paths.iter().map(|fact| Found {
            fact: *fact,
            nodes: vec![self.facts[*fact].row[1]],
            is_complete: false,
        });
        for mut found in self.followed(closure, begun.collect())? {
            found.nodes.reverse();
            self.put_together(closure, &found.nodes);
        }
        Ok(())
    }

    /// Follows paths to their fronts, a step of each at once: the shortest ones, by the smallest values.
    fn followed(&self, closure: &Closure<'_>, mut paths: Vec<Found>) -> Result<Vec<Found>, Error> {
        let lost = || broken("a path has no step");
        let codec = self.evaluated.codec;
        let ask = self.evaluated.ask(closure.relation, 1);
        let name = |variable: &VariableId| &ask.rule.variables[variable.index()].name;
        let middle = ask.variables.iter().position(|variable| *name(variable) == closure.names[1]);
        let middle = middle.ok_or_else(lost)?;
        // Of the step nobody asks: all of them stand at one height.
        let length = |solution: &Solution| solution.heights.first().copied();
        loop {
            let open: Vec<usize> = (0..paths.len()).filter(|path| !paths[*path].is_complete).collect();
            if open.is_empty() {
                return Ok(paths);
            }
            let rows: Vec<Vec<Code>> = open
                .iter()
                .filter_map(|path| {
                    Some(vec![self.facts[paths[*path].fact].row[0], *paths[*path].nodes.last()?])
                })
                .collect();
            let rows: Vec<&[Code]> = rows.iter().map(Vec::as_slice).collect();
            let found = self.evaluated.solutions(&ask, 0, &rows)?;
            for (path, solutions) in open.into_iter().zip(found) {
                let shortest = solutions.iter().min_by(|a, b| {
                    length(a)
                        .cmp(&length(b))
                        .then_with(|| codec.value(a.codes[middle]).cmp(&codec.value(b.codes[middle])))
                });
                let shortest = shortest.ok_or_else(lost)?;
                let path = &mut paths[path];
                path.nodes.push(shortest.codes[middle]);
                if length(shortest) == Some(1) {
                    path.nodes.push(self.facts[path.fact].row[0]);
                    path.is_complete = true;
                }
            }
        }
    }

    /// The fact of the path along these nodes: a step, or two halves, of which the front one has as many steps as go into a
    /// proof of its height.
    pub(super) fn put_together(&mut self, closure: &Closure<'_>, path: &[Code]) -> usize {
        let steps = path.len() - 1;
        let row = vec![path[0], path[steps]];
        if steps == 1 {
            return self.fact(closure.step, row, closure.step_height);
        }
        let halvings = steps.next_power_of_two().trailing_zeros();
        let height = halvings + closure.step_height;
        let fact = self.fact(closure.relation, row, height);
        if !self.facts[fact].ways.is_empty() {
            return fact;
        }
        let middle = 1 << (halvings - 1);
        let front = self.put_together(closure, &path[..=middle]);
        let back = self.put_together(closure, &path[middle..]);
        let nodes = [path[0], path[middle], path[steps]];
        let bindings = closure
            .names
            .iter()
            .zip(nodes)
            .map(|(name, node)| Bound { variable: name.clone(), value: self.value(node) });
        let reason = Reason::Rule { text: closure.longer.text.clone(), bindings: bindings.collect() };
        let halves = if closure.front_first { [front, back] } else { [back, front] };
        let children = halves.into_iter().map(Child::Fact).collect();
        self.facts[fact].ways = vec![Way { reason, children, is_same: false, height }];
        fact
    }
}

impl<'r> Closure<'r> {
    pub(super) fn of(
        relation: RelationId,
        step_height: u32,
        explained: &'r Explained,
    ) -> Result<Closure<'r>, Error> {
        let other = || broken("a closure has other rules than for steps and longer paths");
        let ways = explained.derived.get(&relation).map(|derived| derived.ways.as_slice());
        let Some([_, longer]) = ways else { return Err(other()) };
        let (path, step) = path_and_step(&longer.rule, |read| read == relation).ok_or_else(other)?;
        let name = |argument: &Argument| match argument {
            Argument::Variable(variable) => longer.rule.variables[variable.index()].name.clone(),
            Argument::Constant(_) | Argument::Any => String::new(),
        };
        let names = [&path.arguments[0], &path.arguments[1], &step.arguments[1]].map(name);
        let front_first = longer.rule.atoms().next().is_some_and(|atom| std::ptr::eq(atom, path));
        Ok(Closure { relation, step: step.relation, step_height, longer: &longer.rule, names, front_first })
    }
}
