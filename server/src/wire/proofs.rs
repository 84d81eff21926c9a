//! Proofs on their way out.

use std::collections::BTreeMap;

use stratalog_engine::Value as EngineValue;
use stratalog_engine::provenance::{Aggregated, Blocker, Bound, Cut, Fact, Missing, Node, Proof, Reason};
use stratalog_protocol::{
    AggregateProof, BlockerProof, Conclusion, FactSource, NegationProof, ProofKind, ProofNode, ProofTree,
    SearchProof, Truncation, Value, WhyNot,
};

/// The version of the format.
const VERSION: u32 = 1;

/// So many inputs of an aggregate are a sample.
const SAMPLE: usize = 10;

/// What is said of each row.
pub(super) fn proof_trees(proofs: Vec<Proof>) -> Vec<ProofTree> {
    proofs.into_iter().map(proof_tree).collect()
}

fn proof_tree(proof: Proof) -> ProofTree {
    let base_facts = proof.base_facts().into_iter().map(id).collect();
    let query = proof.roots.first().map(|root| proof.nodes[*root].conclusion.to_string());
    ProofTree {
        version: VERSION,
        query: query.unwrap_or_default(),
        roots: proof.roots.iter().copied().map(id).collect(),
        nodes: proof
            .nodes
            .into_iter()
            .enumerate()
            .map(|(place, node)| (id(place), proof_node(node)))
            .collect(),
        base_facts,
        would_hold_with: proof.would_hold_with.into_iter().map(conclusion).collect(),
    }
}

fn id(place: usize) -> String {
    format!("n{place}")
}

fn proof_node(node: Node) -> ProofNode {
    let told = ProofNode {
        conclusion: conclusion(node.conclusion),
        height: node.height,
        alternatives: node.alternatives,
        replaced_by: node.replaced_by.map(value),
        children: node.children.into_iter().map(id).collect(),
        ..ProofNode::default()
    };
    match node.reason {
        Reason::Stored { is_session } => ProofNode {
            kind: ProofKind::Fact,
            source: Some(if is_session { FactSource::Session } else { FactSource::Edb }),
            ..told
        },
        Reason::Rule { text, bindings } => {
            ProofNode { kind: ProofKind::Rule, rule_id: Some(text), bindings: values(bindings), ..told }
        }
        Reason::Aggregate { text, bindings, aggregates } => {
            let aggregates: Vec<AggregateProof> = aggregates.into_iter().map(aggregate).collect();
            ProofNode {
                kind: ProofKind::Aggregate,
                rule_id: Some(text),
                bindings: values(bindings),
                aggregate: aggregates.first().cloned(),
                aggregates: if aggregates.len() > 1 { aggregates } else { Vec::new() },
                ..told
            }
        }
        Reason::Search { text, bindings, index, metric, measured, count } => ProofNode {
            kind: ProofKind::VectorSearch,
            rule_id: Some(text),
            bindings: values(bindings),
            vector_search: Some(SearchProof {
                index_name: index,
                metric: metric.map(str::to_owned),
                distance: value(measured),
                k: count,
            }),
            ..told
        },
        Reason::Missing(missing) => {
            let why_not = Some(why_not(&told.conclusion.pred, missing));
            ProofNode { kind: ProofKind::WhyNot, why_not, ..told }
        }
        Reason::Negation { pattern } => {
            ProofNode { kind: ProofKind::Negation, negation: Some(NegationProof { pattern }), ..told }
        }
        Reason::Truncated { limit, value } => {
            let truncated = match limit {
                Cut::Depth => Truncation { depth_limit: Some(value), node_limit: None },
                Cut::Nodes => Truncation { depth_limit: None, node_limit: Some(value) },
            };
            ProofNode { kind: ProofKind::Truncated, truncated: Some(truncated), ..told }
        }
    }
}

fn conclusion(fact: Fact) -> Conclusion {
    let args = fact.arguments.into_iter().map(|argument| argument.map_or(Value::Null, value));
    Conclusion { pred: fact.relation, args: args.collect() }
}

fn values(bindings: Vec<Bound>) -> BTreeMap<String, Value> {
    bindings.into_iter().map(|bound| (bound.variable, value(bound.value))).collect()
}

fn aggregate(aggregated: Aggregated) -> AggregateProof {
    let Aggregated { function, variable, result, contributing, inputs, columns } = aggregated;
    let inputs: Vec<Vec<Value>> =
        inputs.into_iter().map(|input| input.into_iter().map(value).collect()).collect();
    let (sample_inputs, full_inputs) = match inputs.len() > SAMPLE {
        true => (inputs[..SAMPLE].to_vec(), inputs),
        false => (inputs, Vec::new()),
    };
    AggregateProof {
        function: function.to_owned(),
        value_var: variable,
        result: value(result),
        contributing_count: contributing,
        input_columns: columns,
        sample_inputs,
        full_inputs,
    }
}

fn why_not(relation: &str, missing: Missing) -> WhyNot {
    let Missing { rule, blocker, nearest, hint } = missing;
    let (clause_text, clause_index) = rule.unzip();
    WhyNot {
        rule_name: clause_text.is_some().then(|| relation.to_owned()),
        clause_index: clause_index.map(|index| index as u64),
        clause_text,
        blocker: blocker.map(blocked),
        nearest: nearest.into_iter().map(conclusion).collect(),
        hint,
    }
}

fn blocked(blocker: Blocker) -> BlockerProof {
    match blocker {
        Blocker::NotStored => BlockerProof::NotStored,
        Blocker::Head { reason } => BlockerProof::HeadUnificationFailed { reason },
        Blocker::Condition { place, text, tried } => BlockerProof::BodyAtomFailed {
            predicate_index: place as u64,
            reason: format!("nothing fulfils {}", tried.first().unwrap_or(&text)),
            predicate_text: text,
            tried,
        },
        Blocker::Opposed { place, text, by } => {
            let by = by.map(conclusion);
            BlockerProof::NegationSucceeded {
                predicate_index: place as u64,
                predicate_text: text,
                relation: by.as_ref().map(|by| by.pred.clone()),
                matching_tuple: by.map(|by| by.args).unwrap_or_default(),
            }
        }
        Blocker::Aggregate { found } => {
            BlockerProof::AggregateDiffers { found: found.into_iter().map(conclusion).collect() }
        }
    }
}

/// A value as JSON has it.
fn value(value: EngineValue) -> Value {
    match value {
        EngineValue::Null => Value::Null,
        EngineValue::Bool(b) => Value::Bool(b),
        EngineValue::Int(n) | EngineValue::Timestamp(n) => Value::Int(n),
        EngineValue::Float(x) => Value::Float(x),
        EngineValue::Text(text) => Value::Text(text.to_string()),
        EngineValue::Vector(elements) => Value::Vector(elements.iter().map(|x| f64::from(*x)).collect()),
        EngineValue::VectorInt8(elements) => {
            Value::List(elements.iter().map(|n| Value::Int(i64::from(*n))).collect())
        }
        EngineValue::List(elements) => Value::List(elements.iter().cloned().map(self::value).collect()),
    }
}
