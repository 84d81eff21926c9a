//! The graph that is walked through: what can be reached from where the walk starts, in the order of the walk.

use super::arcs::Arcs;
use crate::budget::Budget;
use crate::data::Code;
use crate::data::keys::KeyNumbers;
use crate::exec::error::ExecError;

/// Nodes that are explored between two looks at the budget.
const CHECK_NODES: usize = 1_024;

/// The part of the graph that a walk can come to. Nodes are numbers, small ones first on the way.
pub(super) struct Graph {
    pub(super) codes: Vec<Code>,
    numbers: Numbers,
    pub(super) groups: Vec<Adjacency>,
}

/// The edges of a group: those of node `n` end in `ends[starts[n]..starts[n + 1]]`.
pub(super) struct Adjacency {
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Which sources may walk here, by their position; all if `None`.
    pub(super) guard: Option<Vec<bool>>,
}

impl Adjacency {
    /// Where the edges of a node end.
    #[inline]
    pub(super) fn ends(&self, node: usize) -> &[u32] {
        &self.ends[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

impl Graph {
    /// Everything that a walk from `starts` comes to.
    pub(super) fn explore(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Graph, ExecError> {
        let mut found = Found::new(arcs, starts, budget)?;
        let mut groups: Vec<Adjacency> = arcs
            .groups
            .iter()
            .map(|group| Adjacency { starts: vec![0], ends: Vec::new(), guard: group.guard.clone() })
            .collect();
        let mut next = 0;
        let mut charged = 0;
        while next < found.codes.len() {
            if next % CHECK_NODES == 0 {
                let edges: usize = groups.iter().map(|group| group.ends.len()).sum();
                // Codes, starts, order, and everything once more while it is put in order.
                let bytes = (found.codes.len() * (groups.len() + 4) + 2 * edges) * size_of::<u32>();
                budget.charge(bytes - charged)?;
                charged = bytes;
                budget.check()?;
            }
            let node = found.codes[next];
            arcs.from(node, &mut |group, end| {
                let end = found.number(end);
                groups[group].ends.push(end);
            });
            for group in &mut groups {
                group.starts.push(group.ends.len() as u32);
            }
            next += 1;
        }
        let order = order(&groups, found.codes.len(), budget)?;
        Ok(Graph {
            codes: order.iter().map(|node| found.codes[*node as usize]).collect(),
            groups: renumber(&groups, &order, &mut found.numbers, budget)?,
            numbers: found.numbers,
        })
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.codes.len()
    }

    /// All nodes in the order of their codes, if these lie close together.
    pub(super) fn in_order(&self) -> Option<Vec<u32>> {
        match &self.numbers {
            Numbers::Dense { numbers, .. } => {
                Some(numbers.iter().filter_map(|number| number.checked_sub(1)).collect())
            }
            Numbers::Hashed { .. } => None,
        }
    }

    /// The number of a node that was reached.
    pub(super) fn number(&self, code: Code) -> Option<u32> {
        self.numbers.get(code)
    }
}

/// Reverse postorder: along an edge numbers grow, but where it closes a cycle. A sweep in this order takes a set as far
/// as it goes without one (Kam and Ullman, Global Data Flow Analysis and Iterative Algorithms, 1976).
fn order(groups: &[Adjacency], nodes: usize, budget: &Budget) -> Result<Vec<u32>, ExecError> {
    let mut is_seen = vec![false; nodes];
    let mut order = Vec::with_capacity(nodes);
    // A node, and how far its edges have been followed: the group and the position in it.
    let mut path: Vec<(u32, usize, u32)> = Vec::new();
    for root in 0..nodes as u32 {
        if std::mem::replace(&mut is_seen[root as usize], true) {
            continue;
        }
        path.push((root, 0, 0));
        while let Some((node, group, position)) = path.last_mut() {
            let Some(adjacency) = groups.get(*group) else {
                order.push(*node);
                path.pop();
                if order.len() % CHECK_NODES == 0 {
                    budget.check()?;
                }
                continue;
            };
            match adjacency.ends(*node as usize).get(*position as usize) {
                None => {
                    *group += 1;
                    *position = 0;
                }
                Some(&end) => {
                    *position += 1;
                    if !std::mem::replace(&mut is_seen[end as usize], true) {
                        path.push((end, 0, 0));
                    }
                }
            }
        }
    }
    order.reverse();
    Ok(order)
}

/// The same edges between nodes that are numbered by their place in `order`.
fn renumber(
    groups: &[Adjacency],
    order: &[u32],
    numbers: &mut Numbers,
    budget: &Budget,
) -> Result<Vec<Adjacency>, ExecError> {
    let mut place = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = new as u32;
    }
    numbers.map(&place);
    let renumbered = groups.iter().map(|group| {
        let mut starts = Vec::with_capacity(group.starts.len());
        let mut ends = Vec::with_capacity(group.ends.len());
        starts.push(0);
        for (new, old) in order.iter().enumerate() {
            if new % CHECK_NODES == 0 {
                budget.check()?;
            }
            ends.extend(group.ends(*old as usize).iter().map(|end| place[*end as usize]));
            starts.push(ends.len() as u32);
        }
        Ok(Adjacency { starts, ends, guard: group.guard.clone() })
    });
    renumbered.collect()
}

/// Nodes in the order in which they are found.
struct Found {
    codes: Vec<Code>,
    numbers: Numbers,
}

impl Found {
    fn new(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Found, ExecError> {
        let mut found = Found { codes: Vec::new(), numbers: Numbers::new(arcs, starts, budget)? };
        starts.iter().for_each(|start| {
            found.number(*start);
        });
        Ok(found)
    }

    #[inline]
    fn number(&mut self, code: Code) -> u32 {
        let next = self.codes.len() as u32;
        let number = self.numbers.get_or(code, next);
        if number == next {
            self.codes.push(code);
        }
        number
    }
}

/// From codes to numbers.
enum Numbers {
    /// By position, from the first code on; one more than the number, and 0 for none.
    Dense { first: Code, numbers: Vec<u32> },
    /// Codes that lie far apart have a first number, and that has another.
    Hashed { first: KeyNumbers<u64>, then: Vec<u32> },
}

impl Numbers {
    fn new(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Numbers, ExecError> {
        match arcs.dense_range(starts) {
            Some((first, range)) => {
                budget.charge(range * size_of::<u32>())?;
                Ok(Numbers::Dense { first, numbers: vec![0; range] })
            }
            None => Ok(Numbers::Hashed { first: KeyNumbers::default(), then: Vec::new() }),
        }
    }

    #[inline]
    fn get_or(&mut self, code: Code, next: u32) -> u32 {
        match self {
            Numbers::Dense { first, numbers } => {
                let number = &mut numbers[(code - *first) as usize];
                if *number == 0 {
                    *number = next + 1;
                }
                *number - 1
            }
            Numbers::Hashed { first, .. } => first.number(u64::from(code)),
        }
    }

    fn get(&self, code: Code) -> Option<u32> {
        match self {
            Numbers::Dense { first, numbers } => {
                numbers.get(code.checked_sub(*first)? as usize)?.checked_sub(1)
            }
            Numbers::Hashed { first, then } => then.get(*first.get(&u64::from(code))? as usize).copied(),
        }
    }

    /// Gives each number another.
    fn map(&mut self, place: &[u32]) {
        match self {
            Numbers::Dense { numbers, .. } => {
                for number in numbers.iter_mut().filter(|number| **number != 0) {
                    *number = place[*number as usize - 1] + 1;
                }
            }
            Numbers::Hashed { then, .. } => *then = place.to_vec(),
        }
    }
}
