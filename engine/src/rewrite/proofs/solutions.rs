//! The solutions by which rows stand: one rule's, of any number of rows at once.

use std::collections::BTreeSet;

use super::heights::chosen_as_solution;
use super::{Explained, Height, Kind};
use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum};
use crate::data::{DataType, RelationId, VariableId};
use crate::rewrite::guarded::{add_variable, guard, guarded};

/// Asks for the solutions of a rule.
#[derive(Debug)]
pub(crate) struct Ask {
    /// It reads the rows in question as [`Ask::ROWS`], each with its number before it, and all other relations by
    /// [`Ask::name`]. An answer has the number of the row, the values of [`Ask::variables`], and the heights of the rows.
    pub(crate) program: Program,
    /// Variables of [`Ask::rule`] that solutions bind; those that a reader knows first.
    pub(crate) variables: Vec<VariableId>,
    /// So many of them are written in the rule: solutions that differ in others only are the same.
    pub(crate) written: usize,
    /// The rule as it is asked, in which each argument of a positive atom is a constant or a variable.
    pub(crate) rule: Rule,
    /// The height of the highest rows that a solution reads beside those whose heights it answers.
    pub(crate) level: u32,
}

impl Ask {
    /// The relation of rows in question.
    pub(crate) const ROWS: &'static str = "$rows";

    /// The name by which the rows of an evaluated relation are read.
    pub(crate) fn name(relation: RelationId) -> String {
        format!("?{}", relation.index())
    }
}

/// What is read of rows whose heights differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// Their heights as well, of those rows that have been asked for them,
    Heights,
    /// or all rows, without heights.
    Rows,
}

/// Asks by which solutions of one of its rules rows of a relation stand.
pub(crate) fn ask(explained: &Explained, relation: RelationId, rule: &Rule, kind: Kind, read: Read) -> Ask {
    let mut relations: Vec<Relation> = explained.program.relations.clone();
    let types = relations[relation.index()].column_types.clone();
    for (number, relation) in relations.iter_mut().enumerate() {
        if !relation.stored {
            *relation = Relation {
                name: Ask::name(RelationId::new(number)),
                stored: true,
                best: None,
                ..relation.clone()
            };
        }
    }
    let mut rows_types = vec![DataType::Int];
    rows_types.extend(&types);
    let rows = add(&mut relations, Ask::ROWS, rows_types, true);
    let is_group = |column: &usize| rule.is_group(*column);
    let groups: Vec<usize> = match kind {
        Kind::Group(_) => (0..types.len()).filter(is_group).collect(),
        Kind::Stored | Kind::Solution | Kind::Chosen(_) | Kind::Path => (0..types.len()).collect(),
    };
    let mut rule = match kind {
        Kind::Stored | Kind::Solution | Kind::Group(_) | Kind::Path => Rule { ranking: None, ..rule.clone() },
        Kind::Chosen(_) => chosen_as_solution(rule.clone(), &explained.program.relations),
    };
    name_anything(&mut rule, &relations);
    let own = rule.variables.len();
    let mut asked = guarded(rule, rows, &groups, &types);
    let number = add_variable(&mut asked, "?row", DataType::Int);
    let arguments = all_columns(&mut asked, &groups, &types);
    if let Kind::Chosen(made) | Kind::Group(made) = kind {
        asked.body.insert(1, Literal::Atom(guard(made, arguments.clone())));
    }
    if let Some(Literal::Atom(atom)) = asked.body.first_mut() {
        atom.arguments = std::iter::once(Argument::Variable(number)).chain(arguments).collect();
    }
    // What asks is read as it is.
    let added = match kind {
        Kind::Stored | Kind::Solution | Kind::Path => 1,
        Kind::Chosen(_) | Kind::Group(_) => 2,
    };
    let rule = Rule { body: asked.body[added..].to_vec(), ..asked.clone() };
    let (heights, level) = read_heights(&mut asked, added, kind, explained, read);
    let variables = bound(&rule, own);
    let is_written = |variable: &VariableId| !rule.variables[variable.index()].name.starts_with('?');
    let written = variables.iter().filter(|variable| is_written(variable)).count();
    let mut goal_types = vec![DataType::Int];
    goal_types.extend(variables.iter().map(|variable| rule.variables[variable.index()].data_type));
    goal_types.extend(heights.iter().map(|_| DataType::Int));
    let goal = add(&mut relations, "?", goal_types, false);
    asked.head = goal;
    let columns = std::iter::once(&number).chain(&variables).chain(&heights);
    asked.head_terms = columns.map(|v| HeadTerm::Expression(Expression::Variable(*v))).collect();
    let stratum = Stratum::of(vec![goal], vec![asked], false);
    // What is not read need not be at hand.
    let read: BTreeSet<RelationId> = stratum.rules.iter().flat_map(Rule::reads).collect();
    for (number, relation) in relations.iter_mut().enumerate() {
        relation.stored &= read.contains(&RelationId::new(number));
    }
    let program = Program { relations, strata: vec![stratum], goal, warnings: Vec::new() };
    Ask { program, variables, written, rule, level }
}

fn add(relations: &mut Vec<Relation>, name: &str, column_types: Vec<DataType>, stored: bool) -> RelationId {
    let arity = column_types.len();
    relations.push(Relation { name: name.to_owned(), arity, column_types, stored, best: None });
    RelationId::new(relations.len() - 1)
}

/// What may be anything has a name, so that it is known which rows were used.
fn name_anything(rule: &mut Rule, relations: &[Relation]) {
    for place in 0..rule.body.len() {
        let Literal::Atom(atom) = &rule.body[place] else { continue };
        let mut atom = atom.clone();
        for column in 0..atom.arguments.len() {
            if atom.arguments[column] == Argument::Any {
                let data_type = relations[atom.relation.index()].column_types[column];
                atom.arguments[column] = Argument::Variable(add_variable(rule, "?any", data_type));
            }
        }
        rule.body[place] = Literal::Atom(atom);
    }
}

/// The arguments of a whole row: what the guard says of the groups, and new variables for the others.
fn all_columns(rule: &mut Rule, groups: &[usize], types: &[DataType]) -> Vec<Argument> {
    let of_groups = rule.body.first().and_then(Literal::atom).map(|atom| atom.arguments.clone());
    let mut of_groups = of_groups.unwrap_or_default().into_iter();
    let column = |(column, data_type): (usize, &DataType)| match groups.contains(&column) {
        true => of_groups.next().unwrap_or(Argument::Any),
        false => Argument::Variable(add_variable(rule, "?made", *data_type)),
    };
    types.iter().enumerate().map(column).collect()
}

/// Lets positive atoms of derived relations read rows with heights, if these are read, and those of paths with their lengths if
/// paths are asked for; negated ones those without. Answers the variables of these heights, and the highest of those that need none.
fn read_heights(
    rule: &mut Rule,
    from: usize,
    kind: Kind,
    explained: &Explained,
    read: Read,
) -> (Vec<VariableId>, u32) {
    let (mut heights, mut highest) = (Vec::new(), 0);
    for place in from..rule.body.len() {
        let Some(derived) = rule.body[place].atom().and_then(|atom| explained.derived.get(&atom.relation))
        else {
            continue;
        };
        let with_heights = match derived.height {
            Height::Level(level) => {
                highest = highest.max(level);
                continue;
            }
            Height::In(_) if read == Read::Rows => continue,
            Height::In(with_heights) => with_heights,
        };
        let height = add_variable(rule, "?height", DataType::Int);
        if let Literal::Atom(atom) = &mut rule.body[place] {
            let with_lengths = derived.with_lengths.filter(|_| kind == Kind::Path);
            atom.relation = with_lengths.unwrap_or(with_heights);
            atom.arguments.push(Argument::Variable(height));
        }
        heights.push(height);
    }
    (heights, highest)
}

/// The variables that a solution binds: written ones first.
fn bound(rule: &Rule, own: usize) -> Vec<VariableId> {
    let mut found: Vec<VariableId> = Vec::new();
    for literal in &rule.body {
        let variables = match literal {
            Literal::Atom(atom) => atom.variables().collect(),
            Literal::Assign { variable, .. } => vec![*variable],
            Literal::Negated(_) | Literal::Filter { .. } => Vec::new(),
        };
        for variable in variables {
            if variable.index() < own && !found.contains(&variable) {
                found.push(variable);
            }
        }
    }
    for variable in 0..own {
        // What only the head and the row in question say.
        let variable = VariableId::new(variable);
        let in_head = rule.head_terms.iter().any(|term| {
            matches!(term, HeadTerm::Expression(Expression::Variable(of_head)) if *of_head == variable)
        });
        if in_head && !found.contains(&variable) {
            found.push(variable);
        }
    }
    found.sort_by_key(|variable| rule.variables[variable.index()].name.starts_with('?'));
    found
}
