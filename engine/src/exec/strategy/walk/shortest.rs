//! The shortest ways between two nodes, searched for from both of them, level by level, until the levels meet.

use super::arcs::{Arcs, EdgeRuns};
use super::end::End;
use super::meeting::{EACH_PAIR, FEW_PAIRS};
use crate::budget::Budget;
use crate::data::{Code, Codec};
use crate::exec::error::ExecError;

/// Shortest ways along edges of several kinds.
pub(crate) struct ShortestWays<'b> {
    forth: Arcs,
    back: Arcs,
    codec: &'b Codec,
    budget: &'b Budget,
}

/// A way of one edge or more.
#[derive(Debug)]
pub(crate) struct Way {
    /// Its nodes.
    pub(crate) nodes: Vec<Code>,
    /// The kinds of the edges between them.
    pub(crate) kinds: Vec<usize>,
}

/// Nodes to which ways lead.
pub(crate) enum Reached<'w> {
    /// All that a search has found,
    All(End<'w>),
    /// or these of those that were asked for, in ascending order.
    These(Vec<Code>),
}

impl Reached<'_> {
    /// Whether a way leads to a node in which an edge begins or ends, if it was asked for.
    pub(crate) fn has(&self, node: Code) -> bool {
        match self {
            Reached::All(end) => end.has(node),
            Reached::These(nodes) => nodes.binary_search(&node).is_ok(),
        }
    }
}

impl<'b> ShortestWays<'b> {
    /// Along edges of these kinds, or along the same in the opposite direction.
    pub(crate) fn along(
        kinds: &[Vec<EdgeRuns>],
        is_turned: bool,
        codec: &'b Codec,
        budget: &'b Budget,
    ) -> Result<ShortestWays<'b>, ExecError> {
        let arcs = |is_turned: bool| Arcs::of_kinds(kinds, is_turned, budget);
        Ok(ShortestWays { forth: arcs(is_turned)?, back: arcs(!is_turned)?, codec, budget })
    }

    /// A shortest way. Of several that are as short it is, from the end backwards, the one with an edge of the first kind, that
    /// comes from the smallest value.
    pub(crate) fn way(&self, start: Code, end: Code) -> Result<Option<Way>, ExecError> {
        let [mut here, mut there] = self.ends(start, end);
        let _held = self.budget.hold(here.memory_bytes() + there.memory_bytes())?;
        let Some(met) = meet(&mut here, &mut there, self.budget)? else { return Ok(None) };
        let _layers = self.budget.hold(here.memory_bytes() + there.memory_bytes())?;
        // Of what was found from the end, that to which shortest ways come, the nodes that lie farthest from the end first.
        let mut layers = vec![met];
        for level in (0..there.depth() - 1).rev() {
            let layer = layers.last().map(Vec::as_slice).unwrap_or_default();
            let mut next = Vec::new();
            layer.iter().for_each(|node| self.forth.from(*node, &mut |_, end| next.push(end)));
            let found = sorted(there.level(level).to_vec());
            next.retain(|node| found.binary_search(node).is_ok());
            layers.push(sorted(next));
            self.budget.check()?;
        }
        layers.reverse();
        let own = (0..here.depth() - 1).rev().map(|level| sorted(here.level(level).to_vec()));
        layers.extend(own.chain([vec![start]]));
        // The first layer is the end itself.
        let (mut nodes, mut kinds) = (vec![end], Vec::new());
        for layer in &layers[1..] {
            let step = nodes.last().and_then(|node| self.best_step(layer, *node));
            let Some((kind, before)) = step else { return Ok(None) };
            nodes.push(before);
            kinds.push(kind);
        }
        nodes.reverse();
        kinds.reverse();
        Ok(Some(Way { nodes, kinds }))
    }

    /// From which nodes edges lead to one, and of which kinds they are; some perhaps more than once.
    pub(crate) fn last_steps(&self, end: Code) -> Result<Vec<(usize, Code)>, ExecError> {
        let mut steps = Vec::new();
        self.back.from(end, &mut |kind, from| steps.push((kind, from)));
        self.budget.charge(size_of_val(steps.as_slice()))?;
        Ok(steps)
    }

    /// Whether an edge of a kind leads from a node to another.
    pub(crate) fn has_edge(&self, kind: usize, from: Code, to: Code) -> bool {
        let mut found = false;
        self.forth.from(from, &mut |of_kind, end| found |= (of_kind, end) == (kind, to));
        found
    }

    /// To which nodes ways lead: to those of these, or to any.
    pub(crate) fn reached(&self, start: Code, mut among: Vec<Code>) -> Result<Reached<'_>, ExecError> {
        if among.len() <= FEW_PAIRS {
            among = sorted(among);
            let leads = |budget: &Budget| {
                among.iter().map(|node| self.leads(start, *node, budget)).collect::<Result<Vec<bool>, _>>()
            };
            if let Some(leads) = self.budget.in_turn(EACH_PAIR * among.len() as u32, leads) {
                let mut leads = leads?.into_iter();
                among.retain(|_| leads.next() == Some(true));
                return Ok(Reached::These(among));
            }
        }
        let [mut here, _] = self.ends(start, start);
        self.budget.charge(here.memory_bytes())?;
        while !here.is_done() {
            here.next_level(self.budget)?;
        }
        Ok(Reached::All(here))
    }

    fn leads(&self, start: Code, end: Code, budget: &Budget) -> Result<bool, ExecError> {
        let [mut here, mut there] = self.ends(start, end);
        let _held = budget.hold(here.memory_bytes() + there.memory_bytes())?;
        Ok(meet(&mut here, &mut there, budget)?.is_some())
    }

    /// Searches from both ends. A way has an edge, so the first one begins behind its start, to which it may come back.
    fn ends(&self, start: Code, end: Code) -> [End<'_>; 2] {
        let dense_range = self.forth.dense_range(&[start, end]);
        let mut second = Vec::new();
        self.forth.from(start, &mut |_, node| second.push(node));
        [End::new(&self.forth, &second, dense_range), End::new(&self.back, &[end], dense_range)]
    }

    /// The edge of the first kind that leads from a layer to a node, from the smallest value.
    fn best_step(&self, layer: &[Code], node: Code) -> Option<(usize, Code)> {
        let mut steps: Vec<(usize, Code)> = Vec::new();
        self.back.from(node, &mut |kind, from| {
            if layer.binary_search(&from).is_ok() {
                steps.push((kind, from));
            }
        });
        let order = |(kind, from): &(usize, Code)| (*kind, self.codec.value(*from));
        steps.into_iter().min_by(|a, b| order(a).cmp(&order(b)))
    }
}

/// Goes on from that end from which fewer edges have been followed until the last levels meet; answers where.
fn meet(here: &mut End<'_>, there: &mut End<'_>, budget: &Budget) -> Result<Option<Vec<Code>>, ExecError> {
    let last = |end: &End<'_>| match end.depth() {
        0 => Vec::new(),
        depth => end.level(depth - 1).to_vec(),
    };
    let (mut of_here, mut of_there) = (last(here), last(there));
    loop {
        let met: Vec<Code> = of_here.iter().copied().filter(|node| there.has(*node)).collect();
        if !met.is_empty() {
            return Ok(Some(sorted(met)));
        }
        if here.is_done() || there.is_done() {
            return Ok(None);
        }
        let cost = |end: &End<'_>, last: &[Code]| end.followed + end.edges(last);
        if cost(here, &of_here) <= cost(there, &of_there) {
            of_here = here.next_level(budget)?.to_vec();
        } else {
            of_there = there.next_level(budget)?.to_vec();
        }
    }
}

fn sorted(mut codes: Vec<Code>) -> Vec<Code> {
    codes.sort_unstable();
    codes.dedup();
    codes
}
