//! Proofs as they travel: why a row is an answer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::value::Value;

/// Why one row of an answer is one: facts and rules, each fact once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProofTree {
    /// The version of this format.
    pub version: u32,
    /// What is explained.
    pub query: String,
    /// Where to begin: one node, or several where several proofs were asked for.
    pub roots: Vec<String>,
    /// The nodes by their ids, `n0`, `n1` and so on.
    pub nodes: BTreeMap<String, ProofNode>,
    /// The stored facts that all of it rests on, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base_facts: Vec<String>,
    /// Of something that does not hold: the fewest stored facts that were found with which it would.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub would_hold_with: Vec<Conclusion>,
}

/// A fact in a proof, or what stands in the place of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProofNode {
    /// What kind of reason there is, and which of the fields say more.
    pub kind: ProofKind,
    /// What holds.
    pub conclusion: Conclusion,
    /// Of `fact`: where it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<FactSource>,
    /// The rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    /// The variables of the rule and their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bindings: BTreeMap<String, Value>,
    /// Of `aggregate`: the first of what is aggregated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<AggregateProof>,
    /// Of `aggregate`: all that is aggregated, where it is more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aggregates: Vec<AggregateProof>,
    /// Of `negation`: what is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negation: Option<NegationProof>,
    /// Of `vector_search`: the search that has found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector_search: Option<SearchProof>,
    /// Of `why_not`: what stands in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNot>,
    /// Of `truncated`: why it goes no further. Ask `.why` of the conclusion for the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// How many rules the smallest proof applies one after the other.
    pub height: u32,
    /// In how many other ways rules derive the same from facts that hold; absent if in none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub alternatives: u64,
    /// Of a row that was the best of its group for a while only, before a recursion found a better one: the value that took the place
    /// of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<Value>,
    /// What it follows from, in the order of the rule's conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A kind of reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProofKind {
    /// It is stored.
    #[default]
    Fact,
    /// A rule derives it.
    Rule,
    /// A rule that aggregates derives it.
    Aggregate,
    /// Nothing matches.
    Negation,
    /// A search finds it.
    VectorSearch,
    /// The proof is cut off here.
    Truncated,
    /// It does not hold.
    WhyNot,
}

/// `pred(args)`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    /// The relation; `?` for the query itself.
    pub pred: String,
    /// One value a column; of `negation` null also for any.
    pub args: Vec<Value>,
}

/// Where a fact is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactSource {
    /// In the graph.
    Edb,
    /// In the session, for itself only.
    Session,
}

/// An aggregate at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AggregateProof {
    /// The aggregate.
    #[serde(rename = "fn")]
    pub function: String,
    /// The variable that it is taken over.
    pub value_var: String,
    /// What it gives.
    pub result: Value,
    /// How many solutions the group has.
    pub contributing_count: u64,
    /// The variables that an input has values of.
    pub input_columns: Vec<String>,
    /// The first inputs; of what is chosen by size, the best come first, so what was just not chosen is seen.
    pub sample_inputs: Vec<Vec<Value>>,
    /// All inputs, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full_inputs: Vec<Vec<Value>>,
}

/// What is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NegationProof {
    /// The condition, with the values that it has here.
    pub pattern: String,
}

/// A search at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchProof {
    /// The index.
    pub index_name: String,
    /// How vectors are compared; absent for a search of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// How far the row is from what was searched for, or how well it fits.
    pub distance: Value,
    /// How many rows were searched for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
}

/// Why something does not hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WhyNot {
    /// The relation of the rule that does not derive it; absent for all that there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_name: Option<String>,
    /// The number of the rule among those of its relation, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause_index: Option<u64>,
    /// The rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause_text: Option<String>,
    /// What stands in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<BlockerProof>,
    /// Facts that hold and are nearly the one that is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Conclusion>,
    /// What may be meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What stands in the way of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockerProof {
    /// The fact is not stored, and the relation has no rules.
    NotStored,
    /// The head of the rule is another one.
    HeadUnificationFailed {
        /// What does not fit.
        reason: String,
    },
    /// Nothing fulfils a condition, beside those before it.
    BodyAtomFailed {
        /// Its place in the body, from 0.
        predicate_index: u64,
        /// As written.
        predicate_text: String,
        /// What was tried.
        reason: String,
        /// The condition with values that fulfil those before it; the first few.
        tried: Vec<String>,
    },
    /// A fact stands against a negated condition.
    NegationSucceeded {
        /// Its place in the body, from 0.
        predicate_index: u64,
        /// As written.
        predicate_text: String,
        /// The relation of the fact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        relation: Option<String>,
        /// Its values.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        matching_tuple: Vec<Value>,
    },
    /// The group has another result.
    AggregateDiffers {
        /// What the rule derives for it.
        found: Vec<Conclusion>,
    },
}

/// Why a proof goes no further.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Truncation {
    /// So deep proofs are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_limit: Option<u64>,
    /// So many nodes are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_limit: Option<u64>,
}
