//! What is told of one row: the facts below it, without those that were made for the evaluation.

use std::collections::{HashMap, VecDeque};

use super::proof::{Cut, Node, Proof, Reason};
use super::prover::{Child, Prover, Way};
use crate::error::Error;

/// So deep proofs are told.
pub(super) const MOST_DEPTH: usize = 250;

/// So many nodes has an answer at most, where rows share facts.
const MOST_NODES: usize = 20_000;

/// A proof on its way.
struct Telling {
    nodes: Vec<Node>,
    /// The node of a fact.
    places: HashMap<usize, usize>,
    /// Facts whose nodes have no reason yet, and how deep they stand.
    open: VecDeque<(usize, usize)>,
    /// So many nodes at most.
    most: usize,
}

impl Prover<'_> {
    /// The proofs of facts, in their order.
    pub(super) fn told_all(&self, roots: &[usize]) -> Result<Vec<Proof>, Error> {
        let mut left = MOST_NODES;
        let proofs = roots.iter().map(|root| {
            self.evaluated.budget.check().map_err(Error::Stopped)?;
            let proof = self.told(*root, left);
            left = left.saturating_sub(proof.nodes.len());
            Ok(proof)
        });
        proofs.collect()
    }

    /// The proof of a fact, of about so many nodes at most.
    fn told(&self, root: usize, most: usize) -> Proof {
        let mut telling = Telling { nodes: Vec::new(), places: HashMap::new(), open: VecDeque::new(), most };
        let mut roots = vec![self.place(root, 0, &mut telling)];
        self.tell_open(&mut telling);
        for way in self.facts[root].ways.iter().skip(1) {
            let node = Node { height: way.height, ..self.node(root) };
            roots.push(telling.nodes.len());
            telling.nodes.push(node);
            self.tell(telling.nodes.len() - 1, way, 0, &mut telling);
            self.tell_open(&mut telling);
        }
        Proof { roots, nodes: telling.nodes, would_hold_with: Vec::new() }
    }

    /// The fact that a row of a query is, where the query asks for the rows of one relation.
    pub(super) fn meant(&self, root: usize) -> usize {
        match self.facts[root].ways.as_slice() {
            [Way { is_same: true, children, .. }] => match children.as_slice() {
                [Child::Fact(fact)] => *fact,
                _ => root,
            },
            _ => root,
        }
    }

    fn node(&self, fact: usize) -> Node {
        let known = &self.facts[fact];
        Node {
            conclusion: self.as_fact(fact),
            reason: Reason::Truncated { limit: Cut::Nodes, value: 0 },
            children: Vec::new(),
            height: known.height,
            alternatives: known.alternatives,
            replaced_by: self.replaced_by(fact).map(|code| self.value(code)),
        }
    }

    /// The node of a fact.
    fn place(&self, fact: usize, depth: usize, telling: &mut Telling) -> usize {
        if let Some(place) = telling.places.get(&fact) {
            return *place;
        }
        let place = telling.nodes.len();
        telling.nodes.push(self.node(fact));
        telling.places.insert(fact, place);
        telling.open.push_back((fact, depth));
        place
    }

    fn tell_open(&self, telling: &mut Telling) {
        while let Some((fact, depth)) = telling.open.pop_front() {
            let place = telling.places[&fact];
            let (limit, value) = match self.facts[fact].ways.first() {
                Some(way) if depth < MOST_DEPTH && telling.nodes.len() <= telling.most => {
                    self.tell(place, way, depth, telling);
                    continue;
                }
                Some(_) if depth >= MOST_DEPTH => (Cut::Depth, MOST_DEPTH),
                Some(_) | None => (Cut::Nodes, telling.nodes.len()),
            };
            telling.nodes[place].reason = Reason::Truncated { limit, value: value as u64 };
        }
    }

    /// Says why a node holds.
    fn tell(&self, place: usize, way: &Way, depth: usize, telling: &mut Telling) {
        let mut children = Vec::new();
        self.tell_children(way, depth + 1, &mut children, telling);
        let node = &mut telling.nodes[place];
        (node.reason, node.children) = (way.reason.clone(), children);
        // What was made for a search has no name of its own.
        if let Reason::Search { index, .. } = &node.reason {
            node.conclusion.relation.clone_from(index);
        }
    }

    /// What a way needs. In the place of what was made stands what that needs.
    fn tell_children(&self, way: &Way, depth: usize, children: &mut Vec<usize>, telling: &mut Telling) {
        for child in &way.children {
            let place = match child {
                Child::Absent { pattern, fact } => {
                    telling.nodes.push(Node {
                        conclusion: fact.clone(),
                        reason: Reason::Negation { pattern: pattern.clone() },
                        children: Vec::new(),
                        height: 0,
                        alternatives: 0,
                        replaced_by: None,
                    });
                    telling.nodes.len() - 1
                }
                Child::Fact(fact) => match self.facts[*fact].ways.first() {
                    Some(made) if self.is_made(*fact) && matches!(made.reason, Reason::Rule { .. }) => {
                        self.tell_children(made, depth, children, telling);
                        continue;
                    }
                    Some(_) | None => self.place(*fact, depth, telling),
                },
            };
            if !children.contains(&place) {
                children.push(place);
            }
        }
    }
}
