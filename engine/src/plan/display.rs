//! Plans as text and as JSON: what `.explain` shows, and what `.profile` measures.
//!
//! One line a step, in the order of execution: what it does, what it reads, and how many bindings are expected after
//! it. Relations that rules derive have no size before they are evaluated; theirs is marked as estimated.

use std::fmt::Write;

use serde_json::{Value, json};

use super::physical::{Access, KeyPart, RulePlan, Source, Step, Version};
use crate::analysis::program::{Expression, HeadTerm, Program, Rule};
use crate::data::VariableId;

/// How a program would be evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What each rewrite did, in their order.
    pub rewrites: Vec<RewriteNote>,
    /// The strata in the order of evaluation.
    pub strata: Vec<StratumNote>,
}

/// What one rewrite did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteNote {
    /// Its name.
    pub name: &'static str,
    /// Whether the program is another one after it.
    pub changed: bool,
    /// The relations that it made; magic ones end with their adornment, `b` for a bound column and `f` for a free one.
    pub made: Vec<String>,
}

/// One stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct StratumNote {
    /// The relations derived here, with the number of rows expected.
    pub relations: Vec<(String, f64)>,
    /// Whether it runs in rounds until nothing new comes.
    pub recursive: bool,
    /// The column, from 1, along which the recursion is cut into parts that run apart, should it
    /// grow large.
    pub pivot: Option<usize>,
    /// Its rules; a recursive one once for each atom that reads the last round's rows.
    pub rules: Vec<RuleNote>,
}

/// One rule's plan.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleNote {
    /// The rule.
    pub text: String,
    /// The relation whose new rows drive this variant of a recursive rule.
    pub delta: Option<String>,
    /// Source, steps and head.
    pub steps: Vec<StepNote>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct StepNote {
    /// Its algorithm, in a word.
    pub operator: &'static str,
    /// What it reads or computes.
    pub detail: String,
    /// Bindings expected after it.
    pub rows: f64,
    /// Whether it reads a relation that is derived, whose size is estimated.
    pub estimated: bool,
}

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
            ("scan", atom, Some(scan.access))
        }
    }];
    for step in &plan.steps {
        steps.push(match step {
            Step::Probe { access, key, equal, outputs, .. } => {
                let text = atom(program, *access, key_cells(key, &name), equal, outputs, &name);
                (if key.is_empty() { "product" } else { "probe" }, text, Some(*access))
            }
            Step::Exists { access, key, equal, negated, .. } => {
                let text = atom(program, *access, key_cells(key, &name), equal, &[], &name);
                (if *negated { "antijoin" } else { "semijoin" }, text, Some(*access))
            }
            Step::Filter { operator, left, right, .. } => {
                let text = format!("{} {operator} {}", expression(left, &name), expression(right, &name));
                ("filter", text, None)
            }
            Step::Compute { variable, expression: value, .. } => {
                ("compute", format!("{} = {}", name(*variable), expression(value, &name)), None)
            }
        });
    }
    let mut aggregates = false;
    let head: Vec<String> = plan
        .head_terms
        .iter()
        .map(|term| match term {
            HeadTerm::Expression(value) => expression(value, &name),
            HeadTerm::Aggregate { function, argument } => {
                aggregates = true;
                format!("{}<{}>", function.name(), name(*argument))
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
    text.push_str(match access.version {
        Version::All => "",
        Version::Old => ", older rows",
        Version::Delta => ", new rows",
    });
    text
}

fn expression<'n>(value: &Expression, name: &impl Fn(VariableId) -> &'n str) -> String {
    let part = |value: &Expression| match value {
        Expression::Arithmetic { .. } => format!("({})", expression(value, name)),
        Expression::Variable(_) | Expression::Constant(_) | Expression::Call { .. } => {
            expression(value, name)
        }
    };
    match value {
        Expression::Variable(variable) => name(*variable).to_owned(),
        Expression::Constant(value) => value.to_string(),
        Expression::Arithmetic { operator, left, right } => {
            format!("{}{operator}{}", part(left), part(right))
        }
        Expression::Call { function, arguments } => {
            let arguments: Vec<String> =
                arguments.iter().map(|argument| expression(argument, name)).collect();
            format!("{}({})", function.name, arguments.join(", "))
        }
    }
}

impl Explanation {
    /// The plan as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for rewrite in &self.rewrites {
            lines.push(match (rewrite.changed, rewrite.made.as_slice()) {
                (false, _) => format!("rewrite {}: changes nothing", rewrite.name),
                (true, []) => format!("rewrite {}: changes rules", rewrite.name),
                (true, made) => format!("rewrite {}: makes {}", rewrite.name, made.join(", ")),
            });
        }
        for (number, stratum) in self.strata.iter().enumerate() {
            let recursive = if stratum.recursive { ", recursive" } else { "" };
            let derives: Vec<String> = stratum
                .relations
                .iter()
                .map(|(name, rows)| format!("{name} ({} rows, estimated)", count(*rows)))
                .collect();
            let pivot =
                stratum.pivot.map(|column| format!(", can pivot on column {column}")).unwrap_or_default();
            lines.push(format!("stratum {}{recursive}{pivot}: {}", number + 1, derives.join(", ")));
            for rule in &stratum.rules {
                let delta = rule.delta.as_ref().map(|name| format!(", new rows of {name}"));
                lines.push(format!("  rule {}{}", rule.text, delta.unwrap_or_default()));
                for step in &rule.steps {
                    let estimated = if step.estimated { ", estimated" } else { "" };
                    let rows = count(step.rows);
                    lines.push(format!("    {} {} -> {rows} rows{estimated}", step.operator, step.detail));
                }
            }
        }
        lines
    }

    /// The plan as one JSON object.
    pub fn to_json(&self) -> String {
        json!({
            "rewrites": self.rewrites.iter().map(RewriteNote::to_json).collect::<Vec<_>>(),
            "strata": self.strata.iter().map(StratumNote::to_json).collect::<Vec<_>>(),
        })
        .to_string()
    }
}

impl RewriteNote {
    fn to_json(&self) -> Value {
        json!({ "name": self.name, "changed": self.changed, "made": self.made })
    }
}

impl StratumNote {
    fn to_json(&self) -> Value {
        let relation = |(name, rows): &(String, f64)| json!({ "name": name, "rows": count(*rows) });
        json!({
            "relations": self.relations.iter().map(relation).collect::<Vec<_>>(),
            "recursive": self.recursive,
            "pivot": self.pivot,
            "rules": self.rules.iter().map(RuleNote::to_json).collect::<Vec<_>>(),
        })
    }
}

impl RuleNote {
    fn to_json(&self) -> Value {
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| {
                json!({
                    "operator": step.operator,
                    "detail": step.detail,
                    "rows": count(step.rows),
                    "estimated": step.estimated,
                })
            })
            .collect();
        json!({ "rule": self.text, "delta": self.delta, "steps": steps })
    }
}

/// An estimate as a whole number; what is more than nothing is at least one.
fn count(rows: f64) -> u64 {
    rows.ceil().min(1e18) as u64
}
