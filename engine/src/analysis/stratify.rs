//! Strata: in which order relations are derived, and that none depends on its own negation or aggregation.

use std::collections::HashMap;

use super::dependencies::{Dependencies, Use};
use super::error::AnalysisError;
use super::monotone;
use super::program::{Literal, Relation, Rule, Stratum};
use crate::catalog::Catalog;
use crate::data::RelationId;
use crate::diagnostic::Span;
use crate::syntax::ast;

/// A relation depends on its own negation or aggregation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    /// The way round; the first relation is also the last.
    pub relations: Vec<RelationId>,
    /// Negation, or else aggregation.
    pub negation: bool,
}

/// Groups rules into strata, one for each set of relations that depend on each other, in the order of evaluation.
pub fn stratify(relations: &[Relation], rules: Vec<Rule>) -> Result<Vec<Stratum>, Cycle> {
    let mut dependencies = Dependencies::new(relations.len());
    let mut by_head: Vec<Vec<Rule>> = vec![Vec::new(); relations.len()];
    for rule in rules {
        let aggregates = rule.aggregates() && relations[rule.head.index()].best.is_none();
        for literal in &rule.body {
            let (atom, how) = match literal {
                Literal::Atom(atom) if aggregates => (atom, Use::Aggregated),
                Literal::Atom(atom) => (atom, Use::Positive),
                Literal::Negated(atom) => (atom, Use::Negative),
                Literal::Filter { .. } | Literal::Assign { .. } => continue,
            };
            dependencies.add(rule.head.index(), atom.relation.index(), how);
        }
        by_head[rule.head.index()].push(rule);
    }
    let components = dependencies.components();
    if let Some(Violation { cycle, negation }) = violation(&dependencies, &components) {
        return Err(Cycle { relations: cycle.into_iter().map(RelationId::new).collect(), negation });
    }
    let mut strata = Vec::new();
    for component in components {
        let rules: Vec<Rule> =
            component.iter().flat_map(|node| std::mem::take(&mut by_head[*node])).collect();
        if rules.is_empty() {
            continue;
        }
        let recursive = component.len() > 1
            || component.iter().any(|node| dependencies.of(*node).iter().any(|(to, _)| to == node));
        if recursive {
            let inside = |relation: RelationId| component.contains(&relation.index());
            if let Some((head, source)) = monotone::breach(relations, &rules, inside) {
                let mut cycle = vec![head.index()];
                cycle.extend(
                    dependencies.path(source.index(), head.index(), |node| inside(RelationId::new(node))),
                );
                return Err(Cycle {
                    relations: cycle.into_iter().map(RelationId::new).collect(),
                    negation: false,
                });
            }
        }
        let relations = component.into_iter().map(RelationId::new).collect();
        strata.push(Stratum { relations, rules, recursive });
    }
    Ok(strata)
}

/// Refuses a rule that would make some relation depend on its own negation or aggregation.
pub(super) fn check_new_rule(rule: &ast::Rule, catalog: &Catalog) -> Result<(), AnalysisError> {
    let mut names = Names::default();
    let head = names.node(&rule.head.relation.text);
    // Every cycle that the rule closes goes through its head, so only what can be reached from there counts.
    let mut visited = 0;
    while let Some(name) = names.list.get(visited).copied() {
        let registered = catalog.rules(name).iter().map(AsRef::as_ref);
        for clause in registered.chain((visited == head).then_some(rule)) {
            for (relation, how, _) in uses(clause) {
                let to = names.node(relation);
                names.dependencies.add(visited, to, how);
            }
        }
        visited += 1;
    }
    let components = names.dependencies.components();
    let with_head: Vec<_> = components.into_iter().filter(|component| component.contains(&head)).collect();
    let Some(violation) = violation(&names.dependencies, &with_head) else { return Ok(()) };
    let cycle: Vec<String> = violation.cycle.iter().map(|node| names.list[*node].to_owned()).collect();
    let closing = uses(rule).find(|(relation, how, _)| {
        cycle.windows(2).any(|pair| pair[0] == rule.head.relation.text && pair[1] == *relation)
            && (*how != Use::Positive || cycle.len() > 2)
    });
    let span = closing.map_or(rule.span, |(_, _, span)| span);
    Err(AnalysisError::Unstratifiable { cycle, negation: violation.negation, span: Some(span) })
}

/// The names met so far, numbered.
#[derive(Default)]
struct Names<'a> {
    list: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
    dependencies: Dependencies,
}

impl<'a> Names<'a> {
    fn node(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.list.push(name);
            self.dependencies.add_node()
        })
    }
}

/// The relations that a rule reads.
fn uses(rule: &ast::Rule) -> impl Iterator<Item = (&str, Use, Span)> {
    let aggregates = rule.head.terms.iter().any(|term| matches!(term.kind, ast::TermKind::Aggregate { .. }));
    rule.body.iter().filter_map(move |literal| match &literal.kind {
        ast::LiteralKind::Positive(atom) => {
            let how = if aggregates { Use::Aggregated } else { Use::Positive };
            Some((atom.relation.text.as_str(), how, literal.span))
        }
        ast::LiteralKind::Negative(atom) => Some((atom.relation.text.as_str(), Use::Negative, literal.span)),
        ast::LiteralKind::Comparison { .. } => None,
    })
}

/// A cycle that may not be.
struct Violation {
    /// The first node is also the last.
    cycle: Vec<usize>,
    negation: bool,
}

fn violation(dependencies: &Dependencies, components: &[Vec<usize>]) -> Option<Violation> {
    let mut component_of = HashMap::new();
    for (number, component) in components.iter().enumerate() {
        component_of.extend(component.iter().map(|node| (*node, number)));
    }
    for (number, component) in components.iter().enumerate() {
        let inside = |node: usize| component_of.get(&node) == Some(&number);
        for from in component {
            for (to, how) in dependencies.of(*from) {
                if *how == Use::Positive || !inside(*to) {
                    continue;
                }
                let mut cycle = vec![*from];
                cycle.extend(dependencies.path(*to, *from, inside));
                return Some(Violation { cycle, negation: *how == Use::Negative });
            }
        }
    }
    None
}
