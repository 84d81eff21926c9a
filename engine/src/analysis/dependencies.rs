//! Which relation depends on which: the graph, and the groups that depend on each other.
//!
//! Nothing here calls itself: a chain of a hundred thousand relations is as good as one of three.

pub(super) use crate::catalog::Use;

/// Edges from a derived relation to what its rules read. Nodes are numbers from 0.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    edges: Vec<Vec<(usize, Use)>>,
}

impl Dependencies {
    /// A graph of so many nodes, without edges.
    pub(super) fn new(nodes: usize) -> Dependencies {
        Dependencies { edges: vec![Vec::new(); nodes] }
    }

    /// One more node.
    pub(super) fn add_node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    pub(super) fn add(&mut self, from: usize, to: usize, how: Use) {
        self.edges[from].push((to, how));
    }

    pub(super) fn of(&self, node: usize) -> &[(usize, Use)] {
        &self.edges[node]
    }

    /// The strongly connected components, each after those it depends on (Tarjan's algorithm).
    pub(super) fn components(&self) -> Vec<Vec<usize>> {
        const UNSEEN: usize = usize::MAX;
        let count = self.edges.len();
        let mut order = vec![UNSEEN; count];
        let mut lowest = vec![0; count];
        let mut on_stack = vec![false; count];
        let mut stack = Vec::new();
        let mut components = Vec::new();
        let mut next = 0;
        for root in 0..count {
            if order[root] != UNSEEN {
                continue;
            }
            // Each entry is a node and how many of its edges were followed.
            let mut path = vec![(root, 0)];
            while let Some((node, followed)) = path.last_mut() {
                let node = *node;
                if *followed == 0 {
                    order[node] = next;
                    lowest[node] = next;
                    next += 1;
                    stack.push(node);
                    on_stack[node] = true;
                }
                if let Some(&(to, _)) = self.edges[node].get(*followed) {
                    *followed += 1;
                    if order[to] == UNSEEN {
                        path.push((to, 0));
                    } else if on_stack[to] {
                        lowest[node] = lowest[node].min(order[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some((parent, _)) = path.last() {
                    lowest[*parent] = lowest[*parent].min(lowest[node]);
                }
                if lowest[node] == order[node] {
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        on_stack[member] = false;
                        component.push(member);
                        if member == node {
                            break;
                        }
                    }
                    component.reverse();
                    components.push(component);
                }
            }
        }
        components
    }

    /// A shortest way from one node to another, both included, through nodes that `allowed` admits.
    pub(super) fn path(&self, from: usize, to: usize, allowed: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut reached_from = vec![usize::MAX; self.edges.len()];
        reached_from[from] = from;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                break;
            }
            for (next, _) in &self.edges[node] {
                if reached_from[*next] == usize::MAX && allowed(*next) {
                    reached_from[*next] = node;
                    queue.push_back(*next);
                }
            }
        }
        let mut path = vec![to];
        let mut node = to;
        while node != from && reached_from[node] != usize::MAX {
            node = reached_from[node];
            path.push(node);
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Dependencies {
        let mut graph = Dependencies::new(nodes);
        for (from, to) in edges {
            graph.add(*from, *to, Use::Positive);
        }
        graph
    }

    #[test]
    fn components_come_after_what_they_depend_on() {
        let graph = graph(6, &[(0, 1), (1, 2), (2, 1), (1, 3), (3, 3), (0, 4)]);
        assert_eq!(graph.components(), [vec![3], vec![1, 2], vec![4], vec![0], vec![5]]);
    }

    #[test]
    fn a_long_chain_and_a_long_cycle_need_no_stack() {
        let count = 200_000;
        let chain: Vec<_> = (1..count).map(|n| (n - 1, n)).collect();
        assert_eq!(graph(count, &chain).components().len(), count);
        let cycle: Vec<_> = (0..count).map(|n| (n, (n + 1) % count)).collect();
        assert_eq!(graph(count, &cycle).components().len(), 1);
    }

    #[test]
    fn the_path_is_the_shortest() {
        let graph = graph(5, &[(0, 1), (1, 2), (2, 3), (0, 4), (4, 3)]);
        assert_eq!(graph.path(0, 3, |_| true), [0, 4, 3]);
        assert_eq!(graph.path(0, 3, |node| node != 4), [0, 1, 2, 3]);
    }
}
