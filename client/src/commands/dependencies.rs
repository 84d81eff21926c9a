//! What an answer depends on: the relations that a program asks, and those behind their rules.
//!
//! The server tells of each change which relation, rule or schema it is about, so a change elsewhere need not be looked at.

use std::collections::BTreeSet;
use stratalog_client::{Change, Client, ClientError, Code, Told};
use stratalog_engine::Limits;
use stratalog_engine::syntax::ast::{Atom, Literal, LiteralKind, QueryHead, StatementKind, plain_literals};
use stratalog_engine::syntax::parse;

/// These conditions name an index, not a relation.
const SEARCHES: [&str; 4] = ["hnsw_nearest", "hnsw_nearest_each", "text_search", "text_search_each"];

/// What an answer depends on, as long as no rule among that changes.
#[derive(Debug, PartialEq)]
pub(super) struct Dependencies {
    /// `None` is everything.
    names: Option<BTreeSet<String>>,
}

/// What a change means for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touch {
    /// It is the same as before.
    Nothing,
    /// Other facts: it may have other rows.
    Facts,
    /// Other rules, or nobody knows what: it may depend on something else.
    Rules,
}

impl Dependencies {
    /// Asks the server for the rules behind a program, and for those behind them. Events have to come already: a rule
    /// that changes meanwhile is told.
    pub(super) async fn find(client: &Client, program: &str) -> Result<Dependencies, ClientError> {
        let mut waiting = named(program);
        let mut names = BTreeSet::new();
        while let Some(name) = waiting.pop_first() {
            if SEARCHES.contains(&name.as_str()) {
                return Ok(Dependencies { names: None });
            }
            if !names.insert(name.clone()) {
                continue;
            }
            match client.rules().clauses(&name).await {
                Ok(clauses) => clauses.iter().for_each(|clause| waiting.append(&mut named(clause))),
                // Facts alone, or a function.
                Err(error) if matches!(error.code(), Some(Code::UnknownRelation | Code::NotFound)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Dependencies { names: Some(names) })
    }

    /// What the server told, about this answer.
    pub(super) fn touch(&self, told: &Told, graph: &str) -> Touch {
        let Told::Notification(notification) = told else { return Touch::Rules };
        let concerns = |name: &String| self.names.as_ref().is_none_or(|names| names.contains(name));
        match &notification.change {
            // One statement that changes several relations is told as one of this name.
            Change::PersistentUpdate { relation, .. } if relation == "multiple" || concerns(relation) => {
                Touch::Facts
            }
            Change::RuleChange { rule_name, .. } if concerns(rule_name) => Touch::Rules,
            // Of a type or an index it is not told which relations have it.
            Change::SchemaChange { .. } => Touch::Rules,
            Change::KgChange { knowledge_graph, .. } if knowledge_graph == graph => Touch::Rules,
            Change::PersistentUpdate { .. } | Change::RuleChange { .. } | Change::KgChange { .. } => {
                Touch::Nothing
            }
        }
    }
}

/// The relations that a program names.
fn named(program: &str) -> BTreeSet<String> {
    let (statements, _) = parse(program, &Limits::default());
    let mut names = BTreeSet::new();
    let mut atom = |atom: &Atom| {
        names.insert(atom.relation.text.clone());
    };
    for statement in &statements {
        let body: &[Literal] = match &statement.kind {
            StatementKind::Query(query) => {
                match &query.head {
                    QueryHead::Goal { atom: goal, .. } => atom(goal),
                    QueryHead::Projection(_) => {}
                }
                &query.body
            }
            StatementKind::Rule(statement) => {
                atom(&statement.rule.head);
                &statement.rule.body
            }
            // The rest changes something, which is not watched, or only adds to what is asked.
            _ => &[],
        };
        for (literal, _) in plain_literals(body) {
            if let LiteralKind::Positive(found) | LiteralKind::Negative(found) = &literal.kind {
                atom(found);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn told(mut change: Json) -> Told {
        for (key, value) in
            [("knowledge_graph", json!("default")), ("timestamp_ms", json!(0)), ("seq", json!(1))]
        {
            change.as_object_mut().unwrap().entry(key).or_insert(value);
        }
        Told::Notification(serde_json::from_value(change).unwrap())
    }

    #[test]
    fn a_program_names_what_it_asks() {
        let program = "far(X) <- path(1, X), !near(X)\n?far(X), person(X, Age), Age > 3";
        assert_eq!(named(program), ["far", "near", "path", "person"].map(str::to_owned).into());
        assert_eq!(named("?X, count<Y> <- edge(X, Y)"), ["edge".to_owned()].into());
    }

    #[test]
    fn only_what_is_depended_on_touches_an_answer() {
        let names = ["edge", "path"].map(str::to_owned).into();
        let dependencies = Dependencies { names: Some(names) };
        let facts = |relation| json!({"type": "persistent_update", "relation": relation, "operation": "insert", "count": 1});
        let rule = |name| json!({"type": "rule_change", "rule_name": name, "operation": "dropped"});
        let graph = |name| json!({"type": "kg_change", "knowledge_graph": name, "operation": "dropped"});
        for (change, touch) in [
            (facts("edge"), Touch::Facts),
            (facts("multiple"), Touch::Facts),
            (facts("log"), Touch::Nothing),
            (rule("path"), Touch::Rules),
            (rule("other"), Touch::Nothing),
            (json!({"type": "schema_change", "entity": "Id", "operation": "declared"}), Touch::Rules),
            (graph("default"), Touch::Rules),
            (graph("lab"), Touch::Nothing),
        ] {
            assert_eq!(dependencies.touch(&told(change.clone()), "default"), touch, "{change}");
        }
        assert_eq!(dependencies.touch(&Told::Gap(None), "default"), Touch::Rules);
        let everything = Dependencies { names: None };
        assert_eq!(everything.touch(&told(facts("log")), "default"), Touch::Facts);
    }
}
