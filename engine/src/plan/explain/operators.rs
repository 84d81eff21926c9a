//! The steps of a plan in words.

use std::fmt::Write;

use crate::analysis::program::{HeadTerm, Program, Rule};
use crate::data::VariableId;
use crate::plan::access::{Access, Version};
use crate::plan::rule::operators::{KeyPart, Lookup, LookupBy, RulePlan, Side, Source, Step};

/// The steps of a plan: its source, its operators, and the head. Each comes with the relation that it reads.
pub(super) fn steps(
    plan: &RulePlan,
    rule: &Rule,
    program: &Program,
) -> Vec<(&'static str, String, Option<Access>)> {
    let name = |variable: VariableId| rule.variables[variable.index()].name.as_str();
    let mut steps = vec![match &plan.source {
        Source::One => ("one", "a single empty binding".to_owned(), None),
        Source::Scan(scan) => {
            let constants = scan.constants.iter().map(|(column, value)| (*column, value.to_string()));
            let atom = atom(program, scan.access, constants, &scan.equal, &scan.outputs, &name);
            match &scan.range {
                None => ("scan", atom, Some(scan.access)),
                Some(range) => ("range", format!("{atom} of column {}", range.column + 1), Some(scan.access)),
            }
        }
    }];
    for step in &plan.steps {
        steps.push(match step {
            Step::Probe { lookup, between, best, outputs, .. } => {
                let mut text = looked_up(program, lookup, outputs, &name);
                if let Some(between) = between {
                    let _ = write!(text, " of column {}", between.column + 1);
                }
                if let Some(best) = best {
                    text.push_str(if best.largest { ", the largest" } else { ", the least" });
                    // Else it is the same column.
                    if between.as_ref().is_none_or(|between| between.column != best.value) {
                        let _ = write!(text, " column {}", best.value + 1);
                    }
                }
                (if lookup.key.is_empty() { "product" } else { "probe" }, text, Some(lookup.access))
            }
            Step::Exists { lookup, negated, .. } => {
                let text = looked_up(program, lookup, &[], &name);
                (if *negated { "antijoin" } else { "semijoin" }, text, Some(lookup.access))
            }
            Step::Intersect { variable, sides, .. } => {
                let side = |side: &Side| {
                    let outputs = [(side.to, *variable)];
                    let key = std::iter::once((side.from, format!("={}", name(side.bound))));
                    atom(program, side.access, key, &[], &outputs, &name)
                };
                let [first, second] = sides;
                ("intersect", format!("{}, {}", side(first), side(second)), Some(first.access))
            }
            Step::Filter { operator, left, right, .. } => {
                ("filter", operator.text(&left.text(&name), &right.text(&name)), None)
            }
            Step::Compute { variable, expression, .. } => {
                ("compute", format!("{} = {}", name(*variable), expression.text(&name)), None)
            }
            Step::Unnest { variable, list, .. } => {
                ("unnest", format!("{} in {}", name(*variable), list.text(&name)), None)
            }
        });
    }
    let mut aggregates = false;
    let head: Vec<String> = plan
        .head_terms
        .iter()
        .map(|term| match term {
            HeadTerm::Expression(value) => value.text(&name),
            HeadTerm::Aggregate { function, argument, option } => {
                aggregates = true;
                let option = option.as_ref().map_or(String::new(), |option| format!(", {option}"));
                format!("{}<{}{option}>", function.name(), name(*argument))
            }
        })
        .collect();
    let relation = &program.relations[plan.head.index()].name;
    let operator = match (&plan.ranking, program.relations[plan.head.index()].best) {
        (Some(_), _) => "rank",
        (None, Some(_)) => "keep best",
        (None, None) if aggregates => "aggregate",
        (None, None) => "emit",
    };
    steps.push((operator, format!("{relation}({})", head.join(", ")), None));
    steps
}

/// What is looked up, and how.
fn looked_up<'n>(
    program: &Program,
    lookup: &'n Lookup,
    outputs: &[(usize, VariableId)],
    name: &'n impl Fn(VariableId) -> &'n str,
) -> String {
    let mut text = atom(program, lookup.access, key_cells(&lookup.key, name), &lookup.equal, outputs, name);
    if !lookup.key.is_empty() {
        text.push_str(match lookup.by {
            LookupBy::Order => " by order",
            LookupBy::Merge => " by merge",
            LookupBy::Mapping => " by mapping",
            LookupBy::Adjacency => " by adjacency",
            LookupBy::Index => " by index",
            LookupBy::Set => " by set",
            LookupBy::Range => " by range",
            LookupBy::Best => " by best",
        });
    }
    text
}

fn key_cells<'k>(
    key: &'k [(usize, KeyPart)],
    name: &'k impl Fn(VariableId) -> &'k str,
) -> impl Iterator<Item = (usize, String)> + 'k {
    key.iter().map(|(column, part)| match part {
        KeyPart::Variable(variable) => (*column, format!("={}", name(*variable))),
        KeyPart::Constant(value) => (*column, value.to_string()),
    })
}

/// `edge(=X, Y)`: `=` before what is looked up, `_` where nothing is read.
fn atom<'n>(
    program: &Program,
    access: Access,
    keys: impl Iterator<Item = (usize, String)>,
    equal: &[(usize, usize)],
    outputs: &[(usize, VariableId)],
    name: &impl Fn(VariableId) -> &'n str,
) -> String {
    let relation = &program.relations[access.relation.index()];
    let mut cells = vec!["_".to_owned(); relation.arity];
    let found = outputs.iter().map(|(column, variable)| (*column, name(*variable).to_owned()));
    for (column, text) in keys.chain(found) {
        if let Some(cell) = cells.get_mut(column) {
            *cell = text;
        }
    }
    let mut text = format!("{}({})", relation.name, cells.join(", "));
    for (a, b) in equal {
        // Writing to a `String` cannot fail.
        let _ = write!(text, " where columns {} and {} agree", a + 1, b + 1);
    }
    text.push_str(match (access.version, access.generators) {
        (Version::All, false) => "",
        (Version::Old, false) => ", older rows",
        (Version::Delta, false) => ", new rows",
        (Version::All, true) => ", generators",
        (Version::Old, true) => ", older generators",
        (Version::Delta, true) => ", new generators",
    });
    text
}
