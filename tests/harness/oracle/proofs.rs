//! Proofs, checked in the plainest way: each node follows from its children alone by some rule, leaves are stored, what is
//! negated is not there, and no proof is higher than the smallest one that trying everything finds.

use std::collections::{BTreeMap, BTreeSet};

use stratalog_engine::provenance::{Aggregated, Bound, Node, Proof, Reason};

use super::aggregate::rows_of_head;
use super::expression::evaluate;
use super::solve::{Solution, solve};
use super::{Refusal, Steps, fixpoint, goal, write};
use crate::model::{Aggregate, Asked, Expression, Goal, HeadTerm, Literal, Program, Relations, Rule};
use crate::value::{Row, Value};

/// What holds in a program, and how high the smallest proof of each row is.
#[derive(Debug)]
pub struct Holding {
    graph: Relations,
    session: Relations,
    rules: Vec<Rule>,
    relations: Relations,
    heights: BTreeMap<(String, Row), u32>,
}

impl Holding {
    /// Derives everything, and then once more, height by height.
    pub fn of(program: &Program) -> Result<Holding, Refusal> {
        let mut steps = Steps::default();
        let mut graph = program.facts.clone();
        for change in &program.writes {
            let relations = fixpoint::derive(&graph, &program.rules, &mut steps)?;
            write::apply(change, &relations, &mut graph, &mut steps)?;
        }
        let mut facts = graph.clone();
        for (relation, rows) in &program.session.facts {
            facts.entry(relation.clone()).or_default().extend(rows.iter().cloned());
        }
        let rules = [&program.rules[..], &program.session.rules].concat();
        let relations = fixpoint::derive(&facts, &rules, &mut steps)?;
        let session = program.session.facts.clone();
        let mut holding = Holding { graph, session, rules, relations, heights: BTreeMap::new() };
        holding.measure(&facts, &mut steps)?;
        Ok(holding)
    }

    fn measure(&mut self, facts: &Relations, steps: &mut Steps) -> Result<(), Refusal> {
        let mut below = Relations::new();
        let mut next: Vec<(String, Row)> = Vec::new();
        for (relation, rows) in facts {
            // Of a relation that keeps best rows, not all that is stored is there.
            let there = rows.iter().filter(|row| self.holds(relation, row)).cloned();
            next.extend(there.map(|row| (relation.clone(), row)));
        }
        let mut height = 0;
        while !next.is_empty() {
            for (relation, row) in next.drain(..) {
                below.entry(relation.clone()).or_default().insert(row.clone());
                self.heights.insert((relation, row), height);
            }
            height += 1;
            let mut found = BTreeSet::new();
            for rule in &self.rules {
                let rows = self.rows_from(rule, &below, false, steps)?.into_keys();
                found.extend(rows.map(|row| (rule.head.clone(), row)));
            }
            next = found.into_iter().filter(|fact| !self.heights.contains_key(fact)).collect();
        }
        Ok(())
    }

    fn holds(&self, relation: &str, row: &Row) -> bool {
        self.relations.get(relation).is_some_and(|rows| rows.contains(row))
    }

    /// All rows, with the names of their relations.
    pub fn rows(&self) -> impl Iterator<Item = (&String, &Row)> {
        self.relations.iter().flat_map(|(name, rows)| rows.iter().map(move |row| (name, row)))
    }

    /// Whether each row has a height: else some rest on best values that were replaced, and nobody knows which these were.
    pub fn is_measured(&self) -> bool {
        self.rows().all(|(name, row)| self.heights.contains_key(&(name.clone(), row.clone())))
    }

    /// The rows that a rule derives where only these are known, and by which solutions. What is negated, and which row is the
    /// best, depends on everything; but what was replaced was the best for a while.
    fn rows_from(
        &self,
        rule: &Rule,
        known: &Relations,
        is_replaced: bool,
        steps: &mut Steps,
    ) -> Result<BTreeMap<Row, Vec<Solution>>, Refusal> {
        let body: Vec<Literal> = rule.body.iter().map(|literal| apart(literal, false)).collect();
        let solutions = solve(&body, &self.beside(known), steps)?;
        let all = || solve(&body, &self.beside(&self.relations), &mut Steps::default());
        let mut rows: BTreeMap<Row, Vec<Solution>> = BTreeMap::new();
        if !rule.aggregates() {
            for solution in solutions {
                for row in rows_of_head(&rule.terms, &BTreeSet::from([solution.clone()]))? {
                    rows.entry(row).or_default().push(solution.clone());
                }
            }
        } else if is_chosen(&rule.terms) {
            let best = match rule.recurs_through_aggregate() {
                true => self.relations.get(&rule.head).cloned().unwrap_or_default(),
                false => rows_of_head(&rule.terms, &all()?)?,
            };
            let terms = as_solutions(&rule.terms);
            for solution in solutions {
                for row in rows_of_head(&terms, &BTreeSet::from([solution.clone()]))? {
                    if is_replaced || best.contains(&row) {
                        rows.entry(row).or_default().push(solution.clone());
                    }
                }
            }
        } else {
            let (known, all) = (by_group(rule, solutions)?, by_group(rule, all()?)?);
            for (group, solutions) in known {
                if all.get(&group) == Some(&solutions) {
                    for row in rows_of_head(&rule.terms, &solutions)? {
                        rows.insert(row, solutions.iter().cloned().collect());
                    }
                }
            }
        }
        // A recursion through `min` or `max` keeps the best of what all its rules derive.
        rows.retain(|row, _| is_replaced || self.holds(&rule.head, row));
        Ok(rows)
    }

    /// These rows, and all others under names of their own.
    fn beside(&self, known: &Relations) -> Relations {
        let mut relations = known.clone();
        relations.extend(self.relations.iter().map(|(name, rows)| (format!("!{name}"), rows.clone())));
        relations
    }

    /// What is wrong with a proof of a row of a goal.
    pub fn fault(&self, goal: &Goal, row: &Row, proof: &Proof) -> Option<String> {
        if proof.roots.is_empty() {
            return Some("a proof of nothing".to_owned());
        }
        for root in &proof.roots {
            let arguments: Row = arguments(&proof.nodes[*root])?.into_iter().map(Value::answered).collect();
            if arguments != *row {
                return Some(format!("a proof of {} for {row:?}", proof.nodes[*root].conclusion));
            }
        }
        let mut seen = BTreeSet::new();
        for (place, node) in proof.nodes.iter().enumerate() {
            let name = node.conclusion.to_string();
            let is_root = proof.roots.contains(&place);
            if !is_root && !matches!(node.reason, Reason::Negation { .. }) && !seen.insert(name.clone()) {
                return Some(format!("{name} stands in it twice"));
            }
            let found = self.fault_of_node(goal, node, proof);
            if let Some(fault) = found.unwrap_or_else(|refusal| Some(format!("{refusal:?}"))) {
                return Some(format!("{name}: {fault}"));
            }
        }
        None
    }

    fn fault_of_node(&self, goal: &Goal, node: &Node, proof: &Proof) -> Result<Option<String>, Refusal> {
        let children: Vec<&Node> = node.children.iter().map(|child| &proof.nodes[*child]).collect();
        let relation = &node.conclusion.relation;
        let fault = |text: &str| Ok(Some(text.to_owned()));
        let Some(row) = arguments(node) else {
            let matches = |row: &&Row| {
                let wanted = node.conclusion.arguments.iter().map(|argument| argument.as_ref().map(value));
                wanted.zip(row.iter()).all(|(wanted, found)| wanted.is_none_or(|wanted| wanted == *found))
            };
            let stands = self.relations.get(relation).into_iter().flatten().find(matches);
            return Ok(stands.filter(|_| !relation.starts_with('?')).map(|row| format!("{row:?} matches")));
        };
        if let Reason::Negation { .. } = node.reason {
            return Ok(self.holds(relation, &row).then(|| "it is there".to_owned()));
        }
        let is_replaced = node.replaced_by.is_some();
        if let Some(better) = node.replaced_by.as_ref().map(value)
            && !self.takes_the_place(relation, &row, &better)
        {
            return fault("nothing has replaced it");
        }
        if children.iter().any(|child| child.height >= node.height) {
            return fault("it rests on something that is no lower");
        }
        if let Reason::Truncated { .. } = node.reason {
            return fault("it is cut off");
        }
        let mut known = Relations::new();
        for child in &children {
            if let (Some(row), false) = (arguments(child), matches!(child.reason, Reason::Negation { .. })) {
                known.entry(child.conclusion.relation.clone()).or_default().insert(row);
            }
        }
        let steps = &mut Steps::default();
        if is_sampled(node) {
            let holds = relation == "?" || is_replaced || self.holds(relation, &row);
            return Ok((!holds).then(|| "it does not hold".to_owned()));
        }
        if relation == "?" {
            return self.fault_of_goal(goal, &row, &known, steps);
        }
        let smallest = self.heights.get(&(relation.clone(), row.clone()));
        let is_first = proof.roots.iter().skip(1).all(|root| !std::ptr::eq(&proof.nodes[*root], node));
        if is_first && self.is_measured() && smallest != Some(&node.height) {
            return Ok(Some(format!("height {} instead of {smallest:?}", node.height)));
        }
        let highest = children.iter().map(|child| child.height).max().unwrap_or(0);
        if node.height > 0 && highest + 1 != node.height {
            return Ok(Some(format!("height {} over {highest}", node.height)));
        }
        match &node.reason {
            Reason::Stored { is_session } => {
                let is_in = |facts: &Relations| facts.get(relation).is_some_and(|rows| rows.contains(&row));
                let expected =
                    if is_in(&self.graph) { Some(false) } else { is_in(&self.session).then_some(true) };
                Ok((expected != Some(*is_session)).then(|| format!("stored by a session: {expected:?}")))
            }
            Reason::Rule { bindings, .. } | Reason::Aggregate { bindings, .. } => {
                let (mut explains, mut groups) = (false, Vec::new());
                for rule in self.rules.iter().filter(|rule| rule.head == *relation) {
                    let rows = self.rows_from(rule, &known, is_replaced, steps)?;
                    let of_row = rows.get(&row).into_iter().flatten();
                    if of_row.into_iter().any(|solution| has_values(solution, bindings)) {
                        explains = true;
                        groups.push(self.group_of(rule, &row, steps)?);
                    }
                }
                if !explains {
                    return fault("no rule derives it from its children");
                }
                let groups: Option<Vec<u64>> = groups.into_iter().collect();
                let Reason::Aggregate { aggregates, .. } = &node.reason else { return Ok(None) };
                let other = aggregates.first().zip(groups.filter(|_| !is_replaced));
                let other = other.filter(|(found, groups)| !groups.contains(&found.contributing));
                Ok(other.map(|(found, groups)| {
                    format!("{} contribute instead of {groups:?}", found.contributing)
                }))
            }
            Reason::Search { .. }
            | Reason::Missing(_)
            | Reason::Negation { .. }
            | Reason::Truncated { .. } => fault("it has another reason"),
        }
    }

    /// How many solutions the group of a row has of which it has the best value; nothing if it has none, or if rows of the group come and go.
    fn group_of(&self, rule: &Rule, row: &Row, steps: &mut Steps) -> Result<Option<u64>, Refusal> {
        // A ranking stands in the place of several columns.
        let is_ranked = rule.terms.iter().any(|term| matches!(term, HeadTerm::Ranking(_)));
        if is_ranked || !is_chosen(&rule.terms) || rule.recurs_through_aggregate() {
            return Ok(None);
        }
        let body: Vec<Literal> = rule.body.iter().map(|literal| apart(literal, false)).collect();
        let solutions = solve(&body, &self.beside(&self.relations), steps)?;
        let columns = rule.terms.iter().zip(row);
        let of_group = columns.filter(|(term, _)| matches!(term, HeadTerm::Expression(_)));
        let group: Row = of_group.map(|(_, value)| value.clone()).collect();
        Ok(by_group(rule, solutions)?.get(&group).map(|solutions| solutions.len() as u64))
    }

    /// Whether a relation that keeps the best of its rows has another one instead, with this value.
    fn takes_the_place(&self, relation: &str, row: &Row, better: &Value) -> bool {
        let keeps_best = |rule: &&Rule| rule.head == *relation && rule.recurs_through_aggregate();
        let Some(rule) = self.rules.iter().find(keeps_best) else { return false };
        let Some((column, largest)) = rule.terms.iter().enumerate().find_map(|(column, term)| match term {
            HeadTerm::Aggregate(function, _) => Some((column, *function == Aggregate::Max)),
            HeadTerm::Expression(_) | HeadTerm::Ranking(_) => None,
        }) else {
            return false;
        };
        let mut other = row.clone();
        other[column] = better.clone();
        let is_better = if largest { *better > row[column] } else { *better < row[column] };
        is_better && self.holds(relation, &other) && !self.holds(relation, row)
    }

    fn fault_of_goal(
        &self,
        goal: &Goal,
        row: &Row,
        known: &Relations,
        steps: &mut Steps,
    ) -> Result<Option<String>, Refusal> {
        let body = goal.body.iter().map(|literal| apart(literal, false)).collect();
        let goal = Goal { body, limit: None, order: Vec::new(), ..goal.clone() };
        let row: Row = row.iter().cloned().map(Value::answered).collect();
        let mut derived = goal::ask(&goal, &self.beside(known), steps)?.rows;
        if let Asked::Projection(terms) = &goal.asked
            && is_chosen(terms)
        {
            let terms = as_solutions(terms);
            derived = goal::ask(
                &Goal { asked: Asked::Projection(terms), ..goal.clone() },
                &self.beside(known),
                steps,
            )?
            .rows;
        }
        Ok((!derived.contains(&row)).then(|| "it does not follow from its children".to_owned()))
    }
}

/// A condition in which all that is negated reads everything.
fn apart(literal: &Literal, is_negated: bool) -> Literal {
    let named = |atom: &crate::model::Atom, is_negated: bool| {
        let mut atom = atom.clone();
        if is_negated {
            atom.relation = format!("!{}", atom.relation);
        }
        atom
    };
    match literal {
        Literal::Atom(atom) => Literal::Atom(named(atom, is_negated)),
        Literal::Negated(atom) => Literal::Negated(named(atom, true)),
        Literal::Comparison(..) => literal.clone(),
        Literal::Disjunction(alternatives) => Literal::Disjunction(
            alternatives
                .iter()
                .map(|body| body.iter().map(|literal| apart(literal, is_negated)).collect())
                .collect(),
        ),
        Literal::NegatedConjunction(inner) => {
            Literal::NegatedConjunction(inner.iter().map(|literal| apart(literal, true)).collect())
        }
    }
}

/// Whether a row stands by one solution, although others were looked at.
fn is_chosen(terms: &[HeadTerm]) -> bool {
    let ranks = terms.iter().any(|term| matches!(term, HeadTerm::Ranking(_)));
    let aggregates: Vec<Aggregate> = terms
        .iter()
        .filter_map(|term| match term {
            HeadTerm::Aggregate(aggregate, _) => Some(*aggregate),
            HeadTerm::Expression(_) | HeadTerm::Ranking(_) => None,
        })
        .collect();
    ranks || matches!(aggregates.as_slice(), [Aggregate::Min | Aggregate::Max])
}

/// A head that makes a row of each solution.
fn as_solutions(terms: &[HeadTerm]) -> Vec<HeadTerm> {
    let variable = |name: &String| HeadTerm::Expression(Expression::Variable(name.clone()));
    terms
        .iter()
        .flat_map(|term| match term {
            HeadTerm::Expression(_) => vec![term.clone()],
            HeadTerm::Aggregate(_, name) => vec![variable(name)],
            HeadTerm::Ranking(ranking) => ranking.variables.iter().map(variable).collect(),
        })
        .collect()
}

fn by_group(
    rule: &Rule,
    solutions: BTreeSet<Solution>,
) -> Result<BTreeMap<Row, BTreeSet<Solution>>, Refusal> {
    let mut groups: BTreeMap<Row, BTreeSet<Solution>> = BTreeMap::new();
    for solution in solutions {
        let plain = rule.terms.iter().filter_map(|term| match term {
            HeadTerm::Expression(expression) => Some(evaluate(expression, &solution.values)),
            HeadTerm::Aggregate(..) | HeadTerm::Ranking(_) => None,
        });
        let group = plain.collect::<Result<Row, Refusal>>()?;
        groups.entry(group).or_default().insert(solution);
    }
    Ok(groups)
}

fn has_values(solution: &Solution, bindings: &[Bound]) -> bool {
    bindings
        .iter()
        .all(|bound| solution.values.get(&bound.variable).is_none_or(|known| *known == value(&bound.value)))
}

fn is_sampled(node: &Node) -> bool {
    matches!(&node.reason, Reason::Aggregate { aggregates, .. } if aggregates.iter().any(is_sample))
}

/// Whether only some of the inputs are told: nothing follows from those.
fn is_sample(aggregated: &Aggregated) -> bool {
    aggregated.contributing > aggregated.inputs.len() as u64
}

/// The arguments of a conclusion; nothing if some are anything.
fn arguments(node: &Node) -> Option<Row> {
    node.conclusion.arguments.iter().map(|argument| argument.as_ref().map(value)).collect()
}

fn value(value: &stratalog_engine::Value) -> Value {
    use stratalog_engine::Value as Engine;
    match value {
        Engine::Null => Value::Null,
        Engine::Bool(b) => Value::Bool(*b),
        Engine::Int(n) => Value::Int(*n),
        Engine::Float(x) => Value::Float(*x),
        Engine::Timestamp(t) => Value::Timestamp(*t),
        Engine::Text(text) => Value::text(text),
        Engine::Vector(elements) => Value::Vector(elements.to_vec()),
        Engine::VectorInt8(elements) => Value::Bytes(elements.to_vec()),
        Engine::List(elements) => Value::List(elements.iter().map(self::value).collect()),
    }
}
