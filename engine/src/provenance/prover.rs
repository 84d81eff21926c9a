//! `Prover`: facts, by which solutions they stand, and what these need.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use super::proof::{Bound, Detail, Fact, Reason};
use super::search::Search;
use super::solutions::{Evaluated, Solution};
use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Rule};
use crate::data::{Code, RelationId, Rows, Run, Value, VariableId};
use crate::error::Error;
use crate::graph::SessionView;
use crate::rewrite::proofs::{Ask, Explained, Height};

pub(super) struct Prover<'p> {
    pub(super) evaluated: &'p Evaluated<'p>,
    pub(super) explained: &'p Explained,
    pub(super) detail: Detail,
    view: &'p SessionView,
    pub(super) facts: Vec<Known>,
    /// Facts by the relation of the program that was asked.
    numbers: HashMap<(RelationId, Vec<Code>), usize>,
    /// The first relation of each name: what is stored under the name of a derived relation is a fact of that one.
    first_of_name: Vec<RelationId>,
    /// Of relations that keep what was replaced.
    pub(super) best_values: RefCell<HashMap<RelationId, BestValues>>,
    /// What has found the heights of rows, where nothing is evaluated.
    pub(super) search: Option<Search>,
}

/// The best value of each group of a relation, by the other columns.
pub(super) type BestValues = HashMap<Vec<Code>, Code>;

/// A fact.
pub(super) struct Known {
    pub(super) relation: RelationId,
    pub(super) row: Vec<Code>,
    pub(super) height: u32,
    /// How it stands; nothing as long as it is not explained.
    pub(super) ways: Vec<Way>,
    pub(super) alternatives: u64,
}

/// One way in which a fact stands.
pub(super) struct Way {
    pub(super) reason: Reason,
    pub(super) children: Vec<Child>,
    /// Whether it says no more than that another fact holds.
    pub(super) is_same: bool,
    /// How high the fact stands in this way.
    pub(super) height: u32,
}

pub(super) enum Child {
    Fact(usize),
    Absent { pattern: String, fact: Fact },
}

/// A solution that may explain a fact, and the number of its rule.
pub(super) struct Candidate {
    pub(super) way: usize,
    pub(super) solution: Solution,
}

impl<'p> Prover<'p> {
    pub(super) fn new(evaluated: &'p Evaluated<'p>, detail: Detail, view: &'p SessionView) -> Prover<'p> {
        let explained = evaluated.explained;
        let relations = &explained.program.relations;
        let mut first: HashMap<&str, RelationId> = HashMap::new();
        let first_of_name = relations.iter().enumerate().map(|(number, relation)| {
            *first.entry(relation.name.as_str()).or_insert(RelationId::new(number))
        });
        let first_of_name = first_of_name.collect();
        Prover {
            evaluated,
            explained,
            detail,
            view,
            facts: Vec::new(),
            numbers: HashMap::new(),
            first_of_name,
            best_values: RefCell::default(),
            search: None,
        }
    }

    /// Explains rows by the heights that a search has found.
    pub(super) fn with(self, search: Search) -> Prover<'p> {
        Prover { search: Some(search), ..self }
    }

    /// The number of a fact.
    pub(super) fn fact(&mut self, relation: RelationId, row: Vec<Code>, height: u32) -> usize {
        let of = self.explained.origin(relation);
        let next = self.facts.len();
        let number = *self.numbers.entry((self.first_of_name[of.index()], row.clone())).or_insert(next);
        if number == next {
            self.facts.push(Known { relation, row, height, ways: Vec::new(), alternatives: 0 });
        }
        number
    }

    pub(super) fn solutions(
        &self,
        ask: &Ask,
        step: u32,
        facts: &[usize],
    ) -> Result<Vec<Vec<Solution>>, Error> {
        let rows: Vec<&[Code]> = facts.iter().map(|fact| self.facts[*fact].row.as_slice()).collect();
        Ok(self.evaluated.solutions(ask, step, &rows)?)
    }

    /// Rows in the order of their values.
    pub(super) fn by_values(&self, a: &[Code], b: &[Code]) -> Ordering {
        let codec = self.evaluated.codec;
        let orders = a.iter().zip(b).map(|(a, b)| codec.value(*a).cmp(&codec.value(*b)));
        orders.fold(Ordering::Equal, Ordering::then)
    }

    /// A fact that is stored.
    pub(super) fn stored(&self, relation: RelationId, row: &[Code]) -> Way {
        let name = &self.explained.program.relations[relation.index()].name;
        let rows = Rows { columns: row.iter().map(|code| vec![*code]).collect(), len: 1 };
        let of_graph = self.view.snapshot().relation(self.name(relation).unwrap_or(name));
        let in_graph =
            of_graph.is_some_and(|stored| stored.arity() == row.len() && stored.absent(&rows).len == 0);
        Way {
            reason: Reason::Stored { is_session: !in_graph },
            children: Vec::new(),
            is_same: false,
            height: 0,
        }
    }

    /// The name by which a program calls a relation.
    fn name(&self, relation: RelationId) -> Option<&str> {
        let of = self.explained.origin(relation);
        self.explained.program.relations.get(of.index()).map(|relation| relation.name.as_str())
    }

    pub(super) fn by_solution(&mut self, rule: &Rule, ask: &Ask, solution: &Solution) -> Way {
        let children = self.children(ask, solution);
        let bindings = self.bindings(ask, solution);
        let is_handed_on = |term: &HeadTerm| {
            matches!(term, HeadTerm::Expression(Expression::Variable(_) | Expression::Constant(_)))
        };
        let (atoms, others): (Vec<&Literal>, Vec<&Literal>) =
            rule.body.iter().partition(|literal| literal.atom().is_some());
        let is_same = atoms.len() == 1
            && others.into_iter().all(Literal::is_constant)
            && rule.head_terms.iter().all(is_handed_on);
        Way { reason: Reason::Rule { text: rule.text.clone(), bindings }, children, is_same, height: 0 }
    }

    /// What a solution needs, condition by condition.
    pub(super) fn children(&mut self, ask: &Ask, solution: &Solution) -> Vec<Child> {
        let explained = self.explained;
        let value = |variable: VariableId| value_of(ask, solution, variable);
        let mut heights = solution.heights.iter().copied();
        let mut children = Vec::new();
        for literal in &ask.rule.body {
            match literal {
                Literal::Atom(atom) => {
                    let height = match explained.derived.get(&atom.relation).map(|derived| derived.height) {
                        Some(Height::In(_)) => heights.next().unwrap_or(0),
                        Some(Height::Level(level)) => level,
                        None => 0,
                    };
                    if let Some(row) = self.row_of(atom, ask, solution) {
                        let fact = self.fact(atom.relation, row, height);
                        children.push(Child::Fact(fact));
                    }
                }
                Literal::Negated(atom) => children.push(self.absent(atom, &value)),
                Literal::Filter { .. } | Literal::Assign { .. } => {}
            }
        }
        children
    }

    /// The row of an atom that a solution reads.
    pub(super) fn row_of(&self, atom: &Atom, ask: &Ask, solution: &Solution) -> Option<Vec<Code>> {
        let codes = atom.arguments.iter().map(|argument| match argument {
            Argument::Variable(variable) => value_of(ask, solution, *variable),
            Argument::Constant(constant) => self.evaluated.codec.encode(constant.as_ref()).ok(),
            Argument::Any => None,
        });
        codes.collect()
    }

    /// A negated condition: nothing has these values.
    fn absent(&self, atom: &Atom, value: &impl Fn(VariableId) -> Option<Code>) -> Child {
        let name = self.name(atom.relation).unwrap_or("?").to_owned();
        let arguments: Vec<Option<Value>> = atom
            .arguments
            .iter()
            .map(|argument| match argument {
                Argument::Variable(variable) => value(*variable).map(|code| self.value(code)),
                Argument::Constant(value) => Some(value.clone()),
                Argument::Any => None,
            })
            .collect();
        let written: Vec<String> = arguments
            .iter()
            .map(|argument| argument.as_ref().map_or_else(|| "_".to_owned(), ToString::to_string))
            .collect();
        // What was made for a negated conjunction has its conditions as its rules.
        let pattern = match name.starts_with('?') {
            true => self.conditions(&name, &arguments),
            false => format!("{name}({})", written.join(", ")),
        };
        Child::Absent { pattern: format!("!{pattern}"), fact: Fact { relation: name, arguments } }
    }

    /// The conditions of the rules of a relation that was made, and the values of their variables that others bind.
    fn conditions(&self, name: &str, arguments: &[Option<Value>]) -> String {
        let explained = self.explained;
        let rules = explained.program.strata.iter().flat_map(|stratum| &stratum.rules);
        let of_name = rules.filter(|rule| self.name(explained.whole(rule.head)) == Some(name));
        let (mut bodies, mut known): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
        for rule in of_name {
            bodies.extend(rule.text.split_once(" <- ").map(|(_, body)| body));
            for (term, value) in rule.head_terms.iter().zip(arguments) {
                if let (HeadTerm::Expression(Expression::Variable(variable)), Some(value)) = (term, value) {
                    let name = &rule.variables[variable.index()].name;
                    known.extend((!name.starts_with('?')).then(|| format!("{name} = {value}")));
                }
            }
        }
        // It may be adorned in several ways.
        bodies.sort_unstable();
        bodies.dedup();
        known.sort_unstable();
        known.dedup();
        let with = if known.is_empty() { String::new() } else { format!(" with {}", known.join(", ")) };
        format!("({}){with}", bodies.join(" or "))
    }

    pub(super) fn value(&self, code: Code) -> Value {
        self.evaluated.codec.value(code).to_value()
    }

    /// The variables that are written in a rule, and their values.
    pub(super) fn bindings(&self, ask: &Ask, solution: &Solution) -> Vec<Bound> {
        let mut bound: Vec<Bound> = Vec::new();
        for (variable, code) in ask.variables[..ask.written].iter().zip(&solution.codes) {
            let name = &ask.rule.variables[variable.index()].name;
            if bound.iter().all(|known| known.variable != *name) {
                bound.push(Bound { variable: name.clone(), value: self.value(*code) });
            }
        }
        bound
    }

    /// Whether a fact is of a relation that no program can write.
    pub(super) fn is_made(&self, number: usize) -> bool {
        self.name(self.facts[number].relation).is_none_or(|name| name.starts_with('?'))
    }

    /// A fact as it is told.
    pub(super) fn as_fact(&self, number: usize) -> Fact {
        let known = &self.facts[number];
        let relation = self.name(known.relation).unwrap_or("?").to_owned();
        Fact { relation, arguments: known.row.iter().map(|code| Some(self.value(*code))).collect() }
    }
}

/// The value of a variable in a solution.
pub(super) fn value_of(ask: &Ask, solution: &Solution, variable: VariableId) -> Option<Code> {
    let place = ask.variables.iter().position(|known| *known == variable);
    place.map(|place| solution.codes[place])
}

/// What rules and rows say of each other is not so.
pub(super) fn broken(what: &str) -> Error {
    Error::internal("provenance", what)
}

pub(super) fn rows_of(run: &Run) -> impl Iterator<Item = Vec<Code>> {
    let columns = run.columns();
    let live = (0..run.stored_len()).filter(|row| run.is_live(*row));
    live.map(move |row| columns.iter().map(|column| column[row]).collect())
}
