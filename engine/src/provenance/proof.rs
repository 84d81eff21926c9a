//! `Proof`: facts and the rules by which they follow from others, each fact once.

use std::fmt;

use crate::data::Value;

/// Why a row is an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// The facts that are explained; several if there are several ways to derive one.
    pub roots: Vec<usize>,
    /// The facts and what else proofs are made of. A node stands by others of lower height only, so no proof goes in a circle.
    pub nodes: Vec<Node>,
    /// Of something that does not hold: the fewest stored facts that were found with which it would.
    pub would_hold_with: Vec<Fact>,
}

/// A fact in a proof, or what stands in the place of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What holds.
    pub conclusion: Fact,
    /// Why.
    pub reason: Reason,
    /// What that needs: positions of other nodes, in the order of the conditions.
    pub children: Vec<usize>,
    /// How many rules the smallest proof applies one after the other.
    pub height: u32,
    /// In how many other ways rules derive the same from facts that hold.
    pub alternatives: u64,
    /// Of a row that was the best of its group for a while only: the value that took the place of its own.
    pub replaced_by: Option<Value>,
}

/// `relation(argument, ..)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The relation; `?` for the query itself.
    pub relation: String,
    /// One value a column; None for any.
    pub arguments: Vec<Option<Value>>,
}

/// Why something holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// It is stored.
    Stored {
        /// By the session, for itself only.
        is_session: bool,
    },
    /// A rule derives it.
    Rule {
        /// The rule.
        text: String,
        /// Its variables.
        bindings: Vec<Bound>,
    },
    /// A rule derives it from all solutions of a group, or as one of the best of them.
    Aggregate {
        /// The rule.
        text: String,
        /// Its variables, as far as they are the same for all that counts.
        bindings: Vec<Bound>,
        /// What is aggregated.
        aggregates: Vec<Aggregated>,
    },
    /// A search finds it.
    Search {
        /// The rule that searches.
        text: String,
        /// Its variables.
        bindings: Vec<Bound>,
        /// The index.
        index: String,
        /// How vectors are compared; nothing for a search of texts.
        metric: Option<&'static str>,
        /// How far the row is from what was searched for, or how well it fits.
        measured: Value,
        /// How many rows were searched for, if that was said.
        count: Option<u64>,
    },
    /// It does not hold.
    Missing(Missing),
    /// Nothing matches a pattern.
    Negation {
        /// The pattern.
        pattern: String,
    },
    /// It holds, but the proof is cut off here.
    Truncated {
        /// What was reached.
        limit: Cut,
        /// How much it is.
        value: u64,
    },
}

/// Why something does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Missing {
    /// The rule that does not derive it, and its number among those of its relation, from 1; nothing for all that there is.
    pub rule: Option<(String, usize)>,
    /// What stands in the way.
    pub blocker: Option<Blocker>,
    /// Facts that hold and are nearly the one that is missing.
    pub nearest: Vec<Fact>,
    /// What may be meant.
    pub hint: Option<String>,
}

/// What stands in the way of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Blocker {
    /// The relation is stored, and the fact is not.
    NotStored,
    /// Its head is another one.
    Head {
        /// What does not fit.
        reason: String,
    },
    /// A condition that nothing fulfils beside those before it.
    Condition {
        /// Its place in the body, from 0.
        place: usize,
        /// As written.
        text: String,
        /// The same with values that fulfil the conditions before it; the first few.
        tried: Vec<String>,
    },
    /// A fact stands against a negated condition.
    Opposed {
        /// Its place in the body, from 0.
        place: usize,
        /// As written.
        text: String,
        /// What stands against it.
        by: Option<Fact>,
    },
    /// The group has another result.
    Aggregate {
        /// What the rule derives for it.
        found: Vec<Fact>,
    },
}

/// Why a proof is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It is as deep as proofs are told.
    Depth,
    /// So many nodes are told.
    Nodes,
}

/// A variable and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The variable.
    pub variable: String,
    /// Its value.
    pub value: Value,
}

/// An aggregate at work.
#[derive(Debug, Clone, PartialEq)]
pub struct Aggregated {
    /// The aggregate.
    pub function: &'static str,
    /// The variable that it is taken over.
    pub variable: String,
    /// What it gives.
    pub result: Value,
    /// How many solutions the group has.
    pub contributing: u64,
    /// Values of [`Aggregated::columns`] in the first solutions, or in all of them.
    pub inputs: Vec<Vec<Value>>,
    /// The variables of a solution.
    pub columns: Vec<String>,
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One proof of a row, and the first inputs of an aggregate.
    Short,
    /// All inputs of aggregates.
    Full,
    /// Several proofs of a row, if there are.
    Alternatives,
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.relation)?;
        for (column, argument) in self.arguments.iter().enumerate() {
            let comma = if column == 0 { "" } else { ", " };
            match argument {
                Some(value) => write!(f, "{comma}{value}")?,
                None => write!(f, "{comma}_")?,
            }
        }
        f.write_str(")")
    }
}

impl Proof {
    /// The stored facts that the conclusion rests on: positions of nodes, each once.
    pub fn base_facts(&self) -> Vec<usize> {
        let is_stored = |node: &usize| matches!(self.nodes[*node].reason, Reason::Stored { .. });
        (0..self.nodes.len()).filter(is_stored).collect()
    }
}
