//! How far rules come.

use super::terms::{
    Values, atom_with, bound_by, constant, equal, in_order, literal, literal_with, variable, with_columns,
};
use crate::answer::Rows;
use crate::context::Context;
use crate::data::Value;
use crate::diagnostic::Span;
use crate::error::Error;
use crate::provenance::{Blocker, Fact, Missing, Node, Reason};
use crate::statements::query;
use crate::syntax::ast::{
    Atom, Limit, Literal, LiteralKind, ProjectionItem, Query, QueryHead, Rule, Term, TermKind,
};

/// So far recursions and rules below rules are followed.
const DEPTH: usize = 3;
/// So many questions are asked at most.
const QUESTIONS: usize = 400;
/// So many values are tried out in what is told.
const TRIED: u64 = 5;

/// Asks about one state.
pub(super) struct Explorer<'e, 's> {
    pub(super) context: &'e mut Context<'s>,
    nodes: Vec<Node>,
    questions: usize,
}

impl<'e, 's> Explorer<'e, 's> {
    pub(super) fn new(context: &'e mut Context<'s>) -> Explorer<'e, 's> {
        Explorer { context, nodes: Vec::new(), questions: 0 }
    }

    /// Whether there would have been more to ask.
    pub(super) fn was_cut(&self) -> bool {
        self.questions >= QUESTIONS
    }

    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// Explains why nothing matches an atom.
    pub(super) fn explore(&mut self, atom: &Atom) -> Result<usize, Error> {
        self.explore_to(atom, DEPTH)
    }

    pub(super) fn rules(&self, relation: &str) -> Vec<Rule> {
        self.context.view().catalog().rules(relation).iter().map(|rule| Rule::clone(rule)).collect()
    }

    fn explore_to(&mut self, atom: &Atom, depth: usize) -> Result<usize, Error> {
        let place = self.add(atom, Missing { rule: None, blocker: None, nearest: Vec::new(), hint: None });
        let rules = self.rules(&atom.relation.text);
        let (nearest, hint) = self.nearest(atom)?;
        let mut children = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            children.push(self.explore_rule(atom, rule, number + 1, depth)?);
        }
        let blocker = rules.is_empty().then_some(Blocker::NotStored);
        let node = &mut self.nodes[place];
        node.reason = Reason::Missing(Missing { rule: None, blocker, nearest, hint });
        node.children = children;
        Ok(place)
    }

    fn add(&mut self, atom: &Atom, missing: Missing) -> usize {
        self.nodes.push(Node {
            conclusion: as_fact(atom),
            reason: Reason::Missing(missing),
            children: Vec::new(),
            height: 0,
            alternatives: 0,
            replaced_by: None,
        });
        self.nodes.len() - 1
    }

    /// Says how far one rule comes.
    fn explore_rule(
        &mut self,
        atom: &Atom,
        rule: &Rule,
        number: usize,
        depth: usize,
    ) -> Result<usize, Error> {
        let named = Some((rule.to_string(), number));
        let missing = |blocker| Missing {
            rule: named.clone(),
            blocker: Some(blocker),
            nearest: Vec::new(),
            hint: None,
        };
        let head = match unify(atom, rule) {
            Ok(head) => head,
            Err(reason) => return Ok(self.add(atom, missing(Blocker::Head { reason }))),
        };
        let order = in_order(&rule.body, &head.values);
        let mut asked = head.fixed.clone();
        let mut tried = vec![head.values.clone()];
        for (place, condition) in &order {
            asked.push((*condition).clone());
            let names = names_of(&asked);
            let Some(solutions) = self.solutions(&names, &asked, TRIED)? else { continue };
            if solutions.is_empty() {
                return self.blocked(atom, condition, *place, &tried, missing, depth);
            }
            tried = solutions;
        }
        let found = self.derived(atom, rule, &head)?;
        let blocker = match is_aggregate(rule) {
            true => Blocker::Aggregate { found },
            false => Blocker::Head {
                reason: match found.as_slice() {
                    [] => "no value of its fits".to_owned(),
                    found => format!(
                        "it derives {}",
                        found.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    ),
                },
            },
        };
        Ok(self.add(atom, missing(blocker)))
    }

    /// What a rule derives where the columns that it hands on are as in an atom.
    fn derived(&mut self, atom: &Atom, rule: &Rule, head: &Head) -> Result<Vec<Fact>, Error> {
        let body = [&head.fixed[..], &rule.body].concat();
        let rows = self.rows(rule.head.terms.clone(), body, TRIED)?.unwrap_or_default();
        Ok(facts(atom, rows))
    }

    /// Says what of a condition is missing, where the ones before it have these values.
    fn blocked(
        &mut self,
        atom: &Atom,
        condition: &Literal,
        place: usize,
        tried: &[Values],
        missing: impl Fn(Blocker) -> Missing,
        depth: usize,
    ) -> Result<usize, Error> {
        let text = condition.to_string();
        let with = |values: &Values| literal_with(condition, values).to_string();
        let mut instances: Vec<String> = tried.iter().map(with).collect();
        instances.dedup();
        let first = tried.first().cloned().unwrap_or_default();
        match &condition.kind {
            LiteralKind::Positive(read) => {
                let node = self.add(atom, missing(Blocker::Condition { place, text, tried: instances }));
                let wanted = atom_with(read, &first);
                if wanted
                    .terms
                    .iter()
                    .all(|term| matches!(term.kind, TermKind::Constant(_) | TermKind::Placeholder))
                {
                    let is_same = as_fact(&wanted) == as_fact(atom);
                    if depth > 0 && !is_same && !self.was_cut() {
                        let below = self.explore_to(&wanted, depth - 1)?;
                        self.nodes[node].children.push(below);
                    }
                }
                Ok(node)
            }
            LiteralKind::Negative(read) => {
                let wanted = atom_with(read, &first);
                let by = self.matching(&wanted, 1)?.into_iter().next();
                Ok(self.add(atom, missing(Blocker::Opposed { place, text, by })))
            }
            LiteralKind::NegatedConjunction(_) => {
                Ok(self.add(atom, missing(Blocker::Opposed { place, text, by: None })))
            }
            LiteralKind::Comparison { .. } | LiteralKind::Disjunction(_) => {
                Ok(self.add(atom, missing(Blocker::Condition { place, text, tried: instances })))
            }
        }
    }

    /// Rows that match an atom.
    pub(super) fn matching(&mut self, atom: &Atom, most: u64) -> Result<Vec<Fact>, Error> {
        let all = with_columns(atom);
        let columns = all.terms.clone();
        let mut body = vec![literal(LiteralKind::Positive(all))];
        for (column, term) in columns.iter().zip(&atom.terms) {
            if matches!(term.kind, TermKind::Constant(_)) {
                body.push(equal(column.clone(), term.clone()));
            }
        }
        let rows = self.rows(columns, body, most)?.unwrap_or_default();
        Ok(facts(atom, rows))
    }

    /// Solutions of conditions; none if they cannot be asked so.
    pub(super) fn solutions(
        &mut self,
        names: &[String],
        body: &[Literal],
        most: u64,
    ) -> Result<Option<Vec<Values>>, Error> {
        let head = match names {
            [] => vec![constant(Value::Int(1))],
            names => names.iter().map(|name| variable(name)).collect(),
        };
        let rows = self.rows(head, body.to_vec(), most)?;
        let values = |row: Vec<Value>| names.iter().cloned().zip(row).collect();
        Ok(rows.map(|rows| rows.into_iter().map(values).collect()))
    }

    /// The first rows of a projection; none if it cannot be asked, or too much has been asked.
    pub(super) fn rows(
        &mut self,
        head: Vec<Term>,
        body: Vec<Literal>,
        most: u64,
    ) -> Result<Option<Vec<Vec<Value>>>, Error> {
        if self.was_cut() {
            return Ok(None);
        }
        self.questions += 1;
        let items = head.into_iter().map(|term| ProjectionItem { term, order: None }).collect();
        let limit = Some(Limit { count: most, offset: 0, span: Span::default() });
        let asked = Query { head: QueryHead::Projection(items), body, limit };
        let warnings = self.context.warnings.len();
        let rows = query::run(&asked, self.context, None);
        self.context.warnings.truncate(warnings);
        match rows {
            Ok(rows) => Ok(Some(values_of(&rows))),
            Err(Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The head of a rule with the values of a fact.
pub(super) struct Head {
    /// What its variables stand for.
    pub(super) values: Values,
    /// The same as conditions.
    pub(super) fixed: Vec<Literal>,
    /// What computed columns must be.
    pub(super) computed: Vec<Literal>,
}

/// A rule's head and a fact; or why they do not fit. What is aggregated fits anything.
pub(super) fn unify(atom: &Atom, rule: &Rule) -> Result<Head, String> {
    let mut head = Head { values: Values::new(), fixed: Vec::new(), computed: Vec::new() };
    let mut column = 0;
    for term in &rule.head.terms {
        let width = term.columns();
        let wanted = match atom.terms.get(column).map(|wanted| &wanted.kind) {
            Some(TermKind::Constant(value)) if width == 1 => Some(value.clone()),
            _ => None,
        };
        column += width;
        let Some(wanted) = wanted else { continue };
        match &term.kind {
            TermKind::Variable(name) => match head.values.get(name) {
                Some(known) if *known != wanted => {
                    return Err(format!("`{name}` stands there twice, and {known} is not {wanted}"));
                }
                Some(_) => {}
                None => {
                    head.fixed.push(equal(variable(name), constant(wanted.clone())));
                    head.values.insert(name.clone(), wanted);
                }
            },
            TermKind::Constant(value) if *value == wanted => {}
            TermKind::Constant(value) => {
                return Err(format!("column {column} is {value}, not {wanted}"));
            }
            TermKind::Arithmetic { .. } | TermKind::Call { .. } => {
                head.computed.push(equal(term.clone(), constant(wanted)));
            }
            TermKind::Aggregate { .. } | TermKind::Placeholder | TermKind::Parameter(_) => {}
        }
    }
    Ok(head)
}

pub(super) fn is_aggregate(rule: &Rule) -> bool {
    rule.head.terms.iter().any(|term| matches!(term.kind, TermKind::Aggregate { .. }))
}

/// The variables that conditions give values to.
pub(super) fn names_of(conditions: &[Literal]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in conditions.iter().flat_map(bound_by) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn facts(atom: &Atom, rows: Vec<Vec<Value>>) -> Vec<Fact> {
    let fact = |row: Vec<Value>| Fact {
        relation: atom.relation.text.clone(),
        arguments: row.into_iter().map(Some).collect(),
    };
    rows.into_iter().map(fact).collect()
}

pub(super) fn as_fact(atom: &Atom) -> Fact {
    let argument = |term: &Term| match &term.kind {
        TermKind::Constant(value) => Some(value.clone()),
        _ => None,
    };
    Fact { relation: atom.relation.text.clone(), arguments: atom.terms.iter().map(argument).collect() }
}

fn values_of(rows: &Rows) -> Vec<Vec<Value>> {
    let (run, codec) = rows.coded();
    let columns = run.columns();
    let row = |row: usize| columns.iter().map(|column| codec.value(column[row]).to_value()).collect();
    (0..rows.row_count()).map(row).collect()
}
