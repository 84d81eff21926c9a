//! Heights: how high the smallest proof of each row is.
//!
//! A stored row has height 0, a row of a rule is one higher than the highest row of its solution, and the smallest of its
//! solutions counts: the least fixpoint of a `min` in recursion. What stands by all solutions of a group is one higher than
//! the highest of all of them; what is the best of its group is one higher than the rows of the solution that has that value.
//! Negated conditions have no height: they stand by what is not there. What was made for alternatives is as high as what it
//! stands for.

use std::collections::{BTreeMap, HashSet};

use super::levels::Levels;
use super::paths::height_of;
use super::{Derived, Height, InRounds, Kind, Origins, STORED, Way};
use crate::aggregates::Aggregate;
use crate::analysis::Measured;
use crate::analysis::program::{
    Argument, Atom, Best, Expression, HeadTerm, Literal, Program, Relation, Rule,
};
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::functions::ScalarFunction;
use crate::rewrite::guarded::{add_variable, guard, guarded};
use crate::rewrite::magic_sets::ASKED;
use crate::syntax::ast::Arithmetic;

/// A program with heights on its way.
pub(super) struct Heights {
    pub(super) relations: Vec<Relation>,
    pub(super) rules: Vec<Rule>,
    pub(super) derived: BTreeMap<RelationId, Derived>,
}

/// A program, and beside it the rows of its goal, and those that they may rest on, with heights.
pub(super) fn of(program: &Program, origins: &Origins, levels: &Levels) -> Heights {
    let mut rules_of: BTreeMap<RelationId, Vec<&Rule>> = BTreeMap::new();
    let rules = program.strata.iter().flat_map(|stratum| &stratum.rules);
    for rule in rules.clone() {
        rules_of.entry(rule.head).or_default().push(rule);
    }
    let mut heights = Heights {
        relations: program.relations.clone(),
        rules: rules.cloned().collect(),
        derived: BTreeMap::new(),
    };
    let mut open = vec![program.goal];
    while let Some(relation) = open.pop() {
        let Some(rules) = rules_of.get(&relation) else { continue };
        if heights.derived.contains_key(&relation) {
            continue;
        }
        let level = levels.of(relation).filter(|_| relation != program.goal);
        heights.add(relation, program.goal, origins, level);
        let positive = rules.iter().flat_map(|rule| rule.atoms()).map(|atom| atom.relation);
        open.extend(positive.filter(|read| rules_of.contains_key(read)));
    }
    let wanted: Vec<RelationId> = heights.derived.keys().copied().collect();
    // What rests on rows of some height is higher: each time more is known, and the first times say most.
    for _ in 0..4 {
        let least = |relation: &RelationId| (*relation, heights.least(*relation, &rules_of[relation]));
        let is_open = |relation: &&RelationId| heights.derived[relation].height.relation().is_some();
        let least: Vec<(RelationId, u32)> = wanted.iter().filter(is_open).map(least).collect();
        for (relation, least) in least {
            heights.derived.entry(relation).and_modify(|derived| derived.least = least);
        }
    }
    for relation in wanted {
        for rule in &rules_of[&relation] {
            heights.add_rule(relation, rule, rules_of[&relation].len() == 1);
        }
    }
    heights
}

impl Heights {
    /// Reads relations as stored, instead of deriving them: those that no proof goes through, and those whose rows all stand at
    /// one height, or `with_heights`, if everything that their proofs need is at hand as well. Answers those of the last kind.
    pub(super) fn read_as_stored(
        &mut self,
        program: &Program,
        mut at_hand: HashSet<RelationId>,
        mut with_heights: Vec<InRounds>,
    ) -> Vec<InRounds> {
        let is_derived = |relation: &RelationId| self.rules.iter().any(|rule| rule.head == *relation);
        let is_at_hand = |relation: &RelationId, at_hand: &HashSet<RelationId>| {
            let Some(Derived { height, ways, .. }) = self.derived.get(relation) else { return true };
            let has_height = match height {
                Height::Level(_) => true,
                Height::In(_) => with_heights.iter().any(|known| known.relation == *relation),
            };
            let mut below = ways.iter().flat_map(|way| way.rule.reads());
            has_height && below.all(|read| at_hand.contains(&read) || !is_derived(&read))
        };
        // What a proof goes through stands above what it needs, and the relations of a recursion need each other.
        for stratum in &program.strata {
            let found = stratum.relations.iter().filter(|relation| is_at_hand(relation, &at_hand));
            let mut found: HashSet<RelationId> = found.copied().collect();
            if stratum.recursive && found.len() < stratum.relations.len() {
                found.clear();
            }
            at_hand.retain(|relation| found.contains(relation) || !stratum.relations.contains(relation));
        }
        let is_needed = |known: &InRounds| self.derived.contains_key(&known.relation);
        with_heights.retain(|known| at_hand.contains(&known.relation) && is_needed(known));
        let known =
            with_heights.iter().filter_map(|known| self.derived.get(&known.relation)?.height.relation());
        at_hand.extend(known);
        self.rules.retain(|rule| !at_hand.contains(&rule.head));
        for relation in at_hand {
            let relation = &mut self.relations[relation.index()];
            (relation.stored, relation.best) = (true, None);
        }
        with_heights
    }

    fn add(&mut self, relation: RelationId, goal: RelationId, origins: &Origins, level: Option<u32>) {
        let is_made = relation != goal && self.relations[origins.of(relation).index()].name.starts_with('?');
        let step = u32::from(!is_made);
        let least = level.unwrap_or(0);
        let derived = |height, with_lengths| Derived { height, with_lengths, least, step, ways: Vec::new() };
        if let Some(level) = level {
            self.derived.insert(relation, derived(Height::Level(level), None));
            return;
        }
        let known = &self.relations[relation.index()];
        let mut types = known.column_types.clone();
        types.push(DataType::Int);
        let best = Best { column: known.arity, largest: false, keeps_replaced: false };
        let name = known.name.clone();
        let with_heights = self.add_relation(format!("?{name}_with_heights"), types.clone(), Some(best));
        let with_lengths = origins.step_height(relation).map(|step_height| {
            let with_lengths = self.add_relation(format!("?{name}_with_lengths"), types.clone(), Some(best));
            self.rules.extend(heights_of_lengths(with_heights, with_lengths, &types, step_height));
            with_lengths
        });
        self.derived.insert(relation, derived(Height::In(with_heights), with_lengths));
    }

    fn add_relation(&mut self, name: String, column_types: Vec<DataType>, best: Option<Best>) -> RelationId {
        let arity = column_types.len();
        self.relations.push(Relation { name, arity, column_types, stored: false, best });
        RelationId::new(self.relations.len() - 1)
    }

    /// A rule of a relation, with heights if there are any.
    fn add_rule(&mut self, relation: RelationId, rule: &Rule, is_only: bool) {
        let kind = self.kind(relation, rule, is_only);
        if let Height::In(head) = self.derived[&relation].height {
            let with_heights = match kind {
                Kind::Stored | Kind::Solution => vec![self.solution(rule, relation, head)],
                Kind::Path => vec![self.longer(rule, relation)],
                Kind::Chosen(rows) => vec![self.chosen(rule, relation, head, rows)],
                Kind::Group(rows) => self.group(rule, relation, head, rows),
            };
            self.rules.extend(with_heights);
        }
        let mut rule = rule.clone();
        let is_asked = |atom: &Atom| self.relations[atom.relation.index()].name == ASKED;
        rule.body.retain(|literal| !literal.atom().is_some_and(is_asked));
        if let Some(derived) = self.derived.get_mut(&relation) {
            derived.ways.push(Way { rule, kind });
        }
    }

    fn kind(&mut self, relation: RelationId, rule: &Rule, is_only: bool) -> Kind {
        if rule.text == STORED {
            return Kind::Stored;
        }
        if self.derived[&relation].with_lengths.is_some() {
            return Kind::Path;
        }
        if !rule.aggregates() {
            return Kind::Solution;
        }
        let aggregates = rule.head_terms.iter().filter_map(|term| match term {
            HeadTerm::Aggregate { function, .. } => Some(*function),
            HeadTerm::Expression(_) => None,
        });
        let aggregates: Vec<Aggregate> = aggregates.collect();
        let is_chosen =
            rule.ranking.is_some() || matches!(aggregates.as_slice(), [Aggregate::Min | Aggregate::Max]);
        if self.relations[relation.index()].best.is_some() || is_only {
            // What is best of all that its rules give, and each of them is of that kind; or what this one rule gives.
            return if is_chosen { Kind::Chosen(relation) } else { Kind::Group(relation) };
        }
        // What this one of its rules makes is a relation of its own.
        let known = &self.relations[relation.index()];
        let (name, types) = (format!("?{}_alone", known.name), known.column_types.clone());
        let rows = self.add_relation(name, types, None);
        self.rules.push(Rule { head: rows, ..rule.clone() });
        if is_chosen { Kind::Chosen(rows) } else { Kind::Group(rows) }
    }

    /// How high rows of a relation stand at least, by what is known of that of others.
    fn least(&self, relation: RelationId, rules: &[&Rule]) -> u32 {
        let derived = &self.derived[&relation];
        let of_rule = |rule: &&Rule| match rule.text == STORED || derived.with_lengths.is_some() {
            true => 0,
            false => derived.step + least_below(rule, &self.derived),
        };
        rules.iter().map(of_rule).min().unwrap_or(0)
    }

    /// A rule that reads the heights of rows, and how high its solutions stand.
    fn reading_heights(&self, rule: &Rule) -> (Rule, Highest) {
        let mut rule = rule.clone();
        let mut highest = Highest::default();
        for place in 0..rule.body.len() {
            let Some(atom) = rule.body[place].atom() else { continue };
            let Some(derived) = self.derived.get(&atom.relation) else { continue };
            let with_heights = match derived.height {
                Height::Level(level) => {
                    highest.level = highest.level.max(level);
                    continue;
                }
                Height::In(with_heights) => with_heights,
            };
            let least = derived.least;
            let height = add_variable(&mut rule, "?height", DataType::Int);
            if let Literal::Atom(atom) = &mut rule.body[place] {
                atom.relation = with_heights;
                atom.arguments.push(Argument::Variable(height));
            }
            highest.variables.push(height);
            highest.least = highest.least.max(least);
        }
        (rule, highest)
    }

    fn solution(&self, rule: &Rule, relation: RelationId, head: RelationId) -> Rule {
        let (mut rule, highest) = self.reading_heights(rule);
        let step = if rule.text == STORED { 0 } else { self.derived[&relation].step };
        rule.head = head;
        rule.head_terms.push(HeadTerm::Expression(highest.above(step)));
        rule
    }

    /// A path is as long as its steps are many. Its last step is read first: so only those paths are followed that may be the
    /// front of one that is asked for by both of its ends, and not all that begin there.
    fn longer(&self, rule: &Rule, relation: RelationId) -> Rule {
        let mut rule = rule.clone();
        rule.body.sort_by_key(|literal| literal.atom().is_none_or(|atom| atom.relation == relation));
        let mut shorter = Highest::default();
        for place in 0..rule.body.len() {
            let known = rule.body[place].atom().and_then(|atom| self.derived.get(&atom.relation));
            let Some(with_lengths) = known.and_then(|derived| derived.with_lengths) else { continue };
            let length = add_variable(&mut rule, "?length", DataType::Int);
            if let Literal::Atom(atom) = &mut rule.body[place] {
                atom.relation = with_lengths;
                atom.arguments.push(Argument::Variable(length));
            }
            shorter.variables.push(length);
        }
        rule.head = self.derived[&relation].with_lengths.unwrap_or(relation);
        rule.head_terms.push(HeadTerm::Expression(shorter.above(1)));
        rule
    }

    fn chosen(&self, rule: &Rule, relation: RelationId, head: RelationId, rows: RelationId) -> Rule {
        let chosen = chosen_as_solution(rule.clone(), &self.relations);
        let (rule, highest) = self.reading_heights(&chosen);
        let types = &self.relations[relation.index()].column_types;
        let columns: Vec<usize> = (0..types.len()).collect();
        let mut rule = guarded(rule, rows, &columns, types);
        rule.head = head;
        rule.head_terms.push(HeadTerm::Expression(highest.above(self.derived[&relation].step)));
        rule
    }

    fn group(&mut self, rule: &Rule, relation: RelationId, head: RelationId, rows: RelationId) -> Vec<Rule> {
        let step = self.derived[&relation].step;
        let types = self.relations[relation.index()].column_types.clone();
        let (mut of_groups, highest) = self.reading_heights(rule);
        let groups: Vec<usize> = (0..types.len()).filter(|column| rule.is_group(*column)).collect();
        let mut copied = Rule {
            head,
            head_terms: Vec::new(),
            ranking: None,
            body: Vec::new(),
            variables: Vec::new(),
            text: rule.text.clone(),
        };
        let columns: Vec<VariableId> =
            types.iter().map(|data_type| add_variable(&mut copied, "?column", *data_type)).collect();
        let all = columns.iter().map(|column| Argument::Variable(*column));
        copied.body.push(Literal::Atom(guard(rows, all)));
        copied.head_terms = columns.iter().map(|v| HeadTerm::Expression(Expression::Variable(*v))).collect();
        if highest.variables.is_empty() {
            copied.head_terms.push(HeadTerm::Expression(highest.above(step)));
            return vec![copied];
        }
        let mut group_types: Vec<DataType> = groups.iter().map(|column| types[*column]).collect();
        group_types.push(DataType::Int);
        let name = format!("?{}_highest", self.relations[rows.index()].name);
        let relation = self.add_relation(name, group_types, None);
        let height = add_variable(&mut of_groups, "?highest", DataType::Int);
        of_groups.body.push(Literal::Assign { variable: height, expression: highest.above(step) });
        of_groups.head = relation;
        of_groups.head_terms = groups.iter().map(|column| of_groups.head_terms[*column].clone()).collect();
        of_groups.head_terms.push(HeadTerm::Aggregate {
            function: Aggregate::Max,
            argument: height,
            option: None,
        });
        let found = add_variable(&mut copied, "?height", DataType::Int);
        let of_group = groups.iter().map(|column| columns[*column]).chain([found]);
        copied.body.push(Literal::Atom(guard(relation, of_group.map(Argument::Variable))));
        copied.head_terms.push(HeadTerm::Expression(Expression::Variable(found)));
        vec![of_groups, copied]
    }
}

/// How high the highest row that a solution of a rule reads stands at least.
pub(crate) fn least_below(rule: &Rule, derived: &BTreeMap<RelationId, Derived>) -> u32 {
    let least = rule.atoms().filter_map(|atom| derived.get(&atom.relation)).map(|derived| derived.least);
    least.max().unwrap_or(0)
}

/// How high the rows of a solution stand.
#[derive(Default)]
struct Highest {
    /// So high at least.
    level: u32,
    /// And so high.
    variables: Vec<VariableId>,
    /// Which is so much at least.
    least: u32,
}

impl Highest {
    /// So much more than the highest.
    fn above(&self, step: u32) -> Expression {
        let larger = |left: Expression, right: Expression| match ScalarFunction::named("max_val") {
            Some(function) => Expression::Call { function, arguments: vec![left, right] },
            None => left,
        };
        let level = (self.level > self.least).then(|| constant(self.level));
        let variables = self.variables.iter().map(|height| Expression::Variable(*height));
        if self.variables.is_empty() {
            return constant(self.level + step);
        }
        Expression::Arithmetic {
            operator: Arithmetic::Add,
            left: Box::new(variables.chain(level).reduce(larger).unwrap_or_else(|| constant(0))),
            right: Box::new(constant(step)),
        }
    }
}

/// The rule by which the lengths of paths are heights of proofs.
fn heights_of_lengths(
    heights: RelationId,
    lengths: RelationId,
    types: &[DataType],
    step_height: u32,
) -> Option<Rule> {
    let mut rule = Rule {
        head: heights,
        head_terms: Vec::new(),
        ranking: None,
        body: Vec::new(),
        variables: Vec::new(),
        text: "heights of paths".to_owned(),
    };
    let mut columns: Vec<VariableId> =
        types.iter().map(|data_type| add_variable(&mut rule, "?column", *data_type)).collect();
    rule.body.push(Literal::Atom(guard(lengths, columns.iter().map(|column| Argument::Variable(*column)))));
    let length = columns.pop()?;
    rule.head_terms = columns.iter().map(|v| HeadTerm::Expression(Expression::Variable(*v))).collect();
    rule.head_terms.push(HeadTerm::Expression(height_of(length, step_height)?));
    Some(rule)
}

fn constant(height: u32) -> Expression {
    Expression::Constant(Value::Int(i64::from(height)))
}

/// A rule that chooses among its solutions, as one that makes a row of each.
pub(super) fn chosen_as_solution(mut rule: Rule, relations: &[Relation]) -> Rule {
    // How near something is, or how well it fits, is known to the index only.
    let measured = Measured::of(&rule, relations).map(|found| found.literal.clone());
    if let Some(measured) = measured {
        rule.body.retain(|literal| *literal != measured);
    }
    let is_numbered = rule.ranking.take().filter(|ranking| ranking.is_numbered);
    for (column, term) in rule.head_terms.iter_mut().enumerate() {
        if let HeadTerm::Aggregate { argument, .. } = term {
            *term = HeadTerm::Expression(Expression::Variable(*argument));
        }
        if is_numbered.as_ref().is_some_and(|ranking| ranking.columns.end == column + 1) {
            let number = VariableId::new(rule.variables.len());
            *term = HeadTerm::Expression(Expression::Variable(number));
        }
    }
    if is_numbered.is_some() {
        add_variable(&mut rule, "?number", DataType::Int);
    }
    rule
}
