//! Strata: in which order relations are derived, and that none depends on its own negation or aggregation.

use std::borrow::Cow;
use std::collections::BTreeSet;

use foldhash::{HashMap, HashMapExt, HashSet};

use super::dependencies::{Dependencies, Use};
use super::error::AnalysisError;
use super::monotone;
use super::program::{Literal, Relation, Rule, Stratum};
use crate::catalog::{Catalog, Uses, uses};
use crate::data::RelationId;
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
    grouped(relations, rules, monotone::breach)
}

/// The same, where the rules are known to make nothing worse of a better value of some relations.
pub(crate) fn stratify_made(
    relations: &[Relation],
    rules: Vec<Rule>,
    sound: &BTreeSet<RelationId>,
) -> Result<Vec<Stratum>, Cycle> {
    let mut checked = relations.to_vec();
    for relation in sound {
        checked[relation.index()].best = None;
    }
    grouped(relations, rules, |_, rules, inside| monotone::breach(&checked, rules, inside))
}

fn grouped(
    relations: &[Relation],
    rules: Vec<Rule>,
    breach: impl Fn(&[Relation], &[Rule], &dyn Fn(RelationId) -> bool) -> Option<(RelationId, RelationId)>,
) -> Result<Vec<Stratum>, Cycle> {
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
            if let Some((head, source)) = breach(relations, &rules, &inside) {
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
        strata.push(Stratum::of(relations, rules, recursive));
    }
    Ok(strata)
}

/// Refuses a rule that would make some relation depend on its own negation or aggregation.
pub(super) fn check_new_rule(rule: &ast::Rule, catalog: &Catalog) -> Result<(), AnalysisError> {
    if !may_violate(rule, catalog.uses()) {
        return Ok(());
    }
    let own: Vec<_> = uses(rule).collect();
    let mut names = Names::default();
    let head = names.node(&rule.head.relation.text);
    // Every cycle that the rule closes goes through its head, so only what can be reached from there counts.
    let mut visited = 0;
    while let Some(name) = names.list.get(visited).copied() {
        let of_rule =
            (visited == head).then(|| own.iter().map(|(relation, how, _)| (relation.as_ref(), *how)));
        for (relation, how) in catalog.uses().of(name).chain(of_rule.into_iter().flatten()) {
            let to = names.node(relation);
            names.dependencies.add(visited, to, how);
        }
        visited += 1;
    }
    let components = names.dependencies.components();
    let with_head: Vec<_> = components.into_iter().filter(|component| component.contains(&head)).collect();
    let Some(violation) = violation(&names.dependencies, &with_head) else { return Ok(()) };
    let cycle: Vec<String> = violation.cycle.iter().map(|node| names.list[*node].to_owned()).collect();
    let closing = own.iter().find(|(relation, how, _)| {
        cycle.windows(2).any(|pair| pair[0] == rule.head.relation.text && pair[1] == relation.as_ref())
            && (*how != Use::Positive || cycle.len() > 2)
    });
    let span = closing.map_or(rule.span, |(_, _, span)| *span);
    Err(AnalysisError::Unstratifiable { cycle, negation: violation.negation, span: Some(span) })
}

/// Whether the rule is not obviously harmless: it uses what its head did not use before, closes a cycle, and there is
/// something that may not stand in one.
fn may_violate(rule: &ast::Rule, known: &Uses) -> bool {
    let head = rule.head.relation.text.as_str();
    let new: Vec<(Cow<'_, str>, Use)> = uses(rule)
        .map(|(relation, how, _)| (relation, how))
        // Whether a best value may recur depends on more than on what is used.
        .filter(|(relation, how)| known.aggregate() || !known.has(head, relation, *how))
        .collect();
    let positive = !known.aggregate() && !known.negate() && new.iter().all(|(_, how)| *how == Use::Positive);
    !new.is_empty() && !positive && reaches(new.iter().map(|(relation, _)| relation.as_ref()), head, known)
}

/// Whether the head is among these relations or what they depend on.
///
/// It is looked for from both ends, a step here and a step there: to register a rule at either end of a long chain of
/// rules takes no longer than at a short one.
fn reaches<'a>(from: impl Iterator<Item = &'a str>, head: &'a str, known: &'a Uses) -> bool {
    let mut down = Search { seen: from.collect(), open: Vec::new() };
    let mut up = Search { seen: HashSet::from_iter([head]), open: Vec::new() };
    if down.seen.contains(head) {
        return true;
    }
    for relation in &down.seen {
        down.open.push(below(relation, known));
    }
    up.open.push(above(head, known));
    loop {
        match down.step(|name| below(name, known)) {
            None => return false,
            Some(found) if found.is_some_and(|name| up.seen.contains(name)) => return true,
            Some(_) => {}
        }
        match up.step(|name| above(name, known)) {
            None => return false,
            Some(found) if found.is_some_and(|name| down.seen.contains(name)) => return true,
            Some(_) => {}
        }
    }
}

/// Names, one after the other.
type NamesOf<'a> = Box<dyn Iterator<Item = &'a str> + 'a>;

fn below<'a>(name: &'a str, known: &'a Uses) -> NamesOf<'a> {
    Box::new(known.of(name).map(|(relation, _)| relation))
}

fn above<'a>(name: &'a str, known: &'a Uses) -> NamesOf<'a> {
    Box::new(known.readers(name))
}

/// A search in one direction.
struct Search<'a> {
    seen: HashSet<&'a str>,
    /// What was met, as far as it was not looked at.
    open: Vec<NamesOf<'a>>,
}

impl<'a> Search<'a> {
    /// Looks at one more name. Answers it if it was not seen before; nothing at all when there are no more names.
    fn step(&mut self, next: impl Fn(&'a str) -> NamesOf<'a>) -> Option<Option<&'a str>> {
        loop {
            let Some(name) = self.open.last_mut()?.next() else {
                self.open.pop();
                continue;
            };
            if !self.seen.insert(name) {
                return Some(None);
            }
            self.open.push(next(name));
            return Some(Some(name));
        }
    }
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
