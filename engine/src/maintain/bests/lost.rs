//! Which nodes have lost their values.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::{Edge, Graph, Key, Keys};
use crate::data::Code;
use crate::exec::ExecError;
use crate::maintain::pairs::End;

/// Nodes between two looks at the budget.
const CHECK_NODES: usize = 256;

impl Graph<'_> {
    /// The nodes that have nothing left to hold up their values where these edges and starts are gone, with the values.
    pub(super) fn lost(&self, edges: &[Edge], starts: &[(Code, Key)]) -> Result<Keys, ExecError> {
        let mut search = Search::new(self);
        for (tail, end, added) in edges {
            if let Some(key) = self.old(*tail)? {
                search.doubt_end(*end, self.values.sum(key, *added)?)?;
            }
        }
        for (node, key) in starts {
            search.doubt_end(*node, *key)?;
        }
        // Whoever has a better value than these is known to have it by now.
        while let Some((key, nodes)) = search.doubtful.pop_first() {
            for node in nodes {
                search.look(node, key)?;
            }
        }
        Ok(search.lost)
    }
}

/// A search for what holds up doubtful nodes.
struct Search<'s, 'g> {
    graph: &'s Graph<'g>,
    /// By their values.
    doubtful: BTreeMap<Key, Vec<Code>>,
    lost: Keys,
    /// Nodes that were doubtful, and are held up.
    held: HashSet<Code>,
    forth: Forth<'s>,
}

/// Nodes that hand on the value of the node that is looked at: backwards from it.
#[derive(Default)]
struct Back {
    /// Each with the place of the one that it holds up.
    nodes: Vec<(Code, usize)>,
    places: HashMap<Code, usize>,
}

impl Back {
    fn add(&mut self, node: Code, holds_up: usize) {
        if !self.places.contains_key(&node) {
            self.places.insert(node, self.nodes.len());
            self.nodes.push((node, holds_up));
        }
    }

    /// From a node on, those that it holds up, to the first.
    fn from(&self, place: usize) -> impl Iterator<Item = Code> {
        let next = |place: &usize| Some(self.nodes[*place].1).filter(|next| next != place);
        std::iter::successors(Some(place), next).map(|place| self.nodes[place].0)
    }
}

impl<'s, 'g> Search<'s, 'g> {
    fn new(graph: &'s Graph<'g>) -> Search<'s, 'g> {
        let (lost, held) = (Keys::new(), HashSet::new());
        Search { graph, doubtful: BTreeMap::new(), lost, held, forth: Forth::new() }
    }

    /// A node that may have had a value from somewhere does not get it from there any more.
    fn doubt_end(&mut self, node: Code, key: Key) -> Result<(), ExecError> {
        if self.graph.old(node)? == Some(key) && !self.held.contains(&node) && !self.lost.contains_key(&node)
        {
            self.doubtful.entry(key).or_default().push(node);
        }
        Ok(())
    }

    /// Looks for something that holds up a node, backwards among those of the same value, and where there is but one value also
    /// from the starts: two searches that meet look at much less than one.
    fn look(&mut self, node: Code, key: Key) -> Result<(), ExecError> {
        if self.held.contains(&node) || self.lost.contains_key(&node) {
            return Ok(());
        }
        let mut back = Back::default();
        back.add(node, 0);
        let mut next = 0;
        while next < back.nodes.len() {
            if next % CHECK_NODES == 0 {
                self.graph
                    .check(back.nodes.len() + self.lost.len() + self.held.len() + self.forth.met.len())?;
            }
            let mut holds = self.is_held(&mut back, next, key)?.then_some(next);
            if holds.is_none() && !self.graph.values.are_there {
                holds = self.forth.step(self.graph, &back)?;
            }
            if let Some(place) = holds {
                self.held.extend(back.from(place));
                return Ok(());
            }
            next += 1;
        }
        self.lost.extend(back.nodes.iter().map(|(node, _)| (*node, key)));
        for (node, _) in back.nodes {
            for (end, added) in self.graph.edges_of(End::From, node)? {
                self.doubt_end(end, self.graph.values.sum(key, added)?)?;
            }
        }
        Ok(())
    }

    /// Whether something holds up the node at a place. Those of the same value that may do so are to be looked at.
    fn is_held(&self, back: &mut Back, place: usize, key: Key) -> Result<bool, ExecError> {
        let (node, graph) = (back.nodes[place].0, self.graph);
        if self.forth.met.contains(&node) || graph.starts.key_of(node)?.is_some_and(|start| start <= key) {
            return Ok(true);
        }
        for (tail, added) in graph.edges_of(End::To, node)? {
            let Some(of_tail) = graph.old(tail)?.filter(|_| !self.lost.contains_key(&tail)) else { continue };
            // A value that is better yet is handed on later.
            if graph.values.sum(of_tail, added)? > key {
                continue;
            }
            if of_tail < key || self.held.contains(&tail) {
                return Ok(true);
            }
            back.add(tail, place);
        }
        Ok(false)
    }
}

/// What is reached from the starts as things are now, as far as somebody has looked.
struct Forth<'s> {
    starts: Option<Box<dyn Iterator<Item = Code> + 's>>,
    met: HashSet<Code>,
    nodes: Vec<Code>,
    next: usize,
}

impl<'s> Forth<'s> {
    fn new() -> Forth<'s> {
        Forth { starts: None, met: HashSet::new(), nodes: Vec::new(), next: 0 }
    }

    /// Follows the edges of one node more. Answers the place of one that was met and is among those that others have come back to.
    fn step(&mut self, graph: &'s Graph<'_>, back: &Back) -> Result<Option<usize>, ExecError> {
        if self.starts.is_none() {
            self.starts = Some(Box::new(graph.starts.nodes()));
        }
        let mut found = Vec::new();
        match self.nodes.get(self.next) {
            Some(node) => {
                self.next += 1;
                graph.edges.visit(End::From, *node, |end| found.push(end))?;
            }
            None => found.extend(self.starts.iter_mut().flatten().next()),
        }
        let mut place = None;
        for node in found {
            if self.met.insert(node) {
                self.nodes.push(node);
                place = place.or(back.places.get(&node).copied());
            }
        }
        Ok(place)
    }
}
