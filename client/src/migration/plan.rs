//! What is to be done so that there is what is wanted.

use super::present::{Column, Present};
use super::wanted::Wanted;
use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use stratalog_engine::Limits;
use stratalog_engine::syntax::ast::{LiteralKind, StatementKind, plain_literals};
use stratalog_engine::syntax::parse;

/// One change.
#[derive(Debug, PartialEq)]
enum Step {
    /// A relation that there is not.
    Declare { relation: String, columns: Vec<Column>, text: String },
    /// The same columns, other types.
    Retype { relation: String, columns: Vec<(Column, String)>, text: String },
    /// Another name for a column.
    Rename { relation: String, from: String, to: String },
    /// A further column.
    Add { relation: String, column: Column },
    /// Other clauses for a head, or the first ones, or none.
    Rules { head: String, dropped: Vec<String>, added: Vec<String> },
    /// An index that there is not.
    Index { text: String },
}

/// The changes.
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    /// Heads whose rules are dropped before anything else, and written anew afterwards.
    rewritten: BTreeSet<String>,
    /// All clauses of heads that change or are rewritten.
    clauses: Vec<String>,
    /// `type` statements.
    types: Vec<String>,
    /// Heads of which the folder knows nothing, and that stay.
    pub(super) unknown_rules: Vec<String>,
}

impl Plan {
    /// The error says what no migration can do.
    pub(super) fn new(wanted: &Wanted, present: &Present, prunes: bool) -> Result<Plan, String> {
        let mut plan = Plan::default();
        let mut widened = BTreeSet::new();
        for (relation, (columns, text)) in &wanted.relations {
            match present.relations.get(relation) {
                None => plan.steps.push(Step::Declare {
                    relation: relation.clone(),
                    columns: columns.clone(),
                    text: text.clone(),
                }),
                Some(there) => {
                    let steps = other_columns(relation, there, columns, text)?;
                    if steps.iter().any(|step| matches!(step, Step::Add { .. })) {
                        widened.insert(relation.as_str());
                    }
                    plan.steps.extend(steps);
                }
            }
        }
        plan.rules(wanted, present, prunes);
        plan.rewrite_readers(&widened, wanted, present)?;
        for (name, text) in &wanted.indexes {
            if !present.indexes.contains(name) {
                plan.steps.push(Step::Index { text: text.clone() });
            }
        }
        if plan.steps.iter().any(|step| matches!(step, Step::Declare { .. } | Step::Retype { .. })) {
            plan.types = wanted.types.iter().map(|(name, of)| format!("type {name}: {of}")).collect();
        }
        Ok(plan)
    }

    fn rules(&mut self, wanted: &Wanted, present: &Present, prunes: bool) {
        let none = Vec::new();
        let heads: BTreeSet<&String> = wanted.rules.keys().chain(present.rules.keys()).collect();
        for head in heads {
            let new = wanted.rules.get(head).unwrap_or(&none);
            let old = present.rules.get(head).unwrap_or(&none);
            if new.is_empty() && !prunes {
                self.unknown_rules.push(head.clone());
                continue;
            }
            let apart = |these: &[String], those: &[String]| -> Vec<String> {
                these.iter().filter(|clause| !those.contains(clause)).cloned().collect()
            };
            let (dropped, added) = (apart(old, new), apart(new, old));
            if dropped.is_empty() && added.is_empty() {
                continue;
            }
            if !dropped.is_empty() {
                self.rewritten.insert(head.clone());
                self.clauses.extend(new.iter().cloned());
            } else {
                self.clauses.extend(added.iter().cloned());
            }
            self.steps.push(Step::Rules { head: head.clone(), dropped, added });
        }
    }

    /// Rules know columns by their place: before a relation gets a further one, those that read it go. They come back as the
    /// folder has them.
    fn rewrite_readers(
        &mut self,
        widened: &BTreeSet<&str>,
        wanted: &Wanted,
        present: &Present,
    ) -> Result<(), String> {
        for (head, clauses) in &present.rules {
            let Some(relation) = clauses.iter().find_map(|clause| reads(clause, widened)) else { continue };
            if self.rewritten.contains(head) {
                continue;
            }
            let Some(new) = wanted.rules.get(head) else {
                return Err(format!(
                    "{relation} is to have another column, but the rules of {head} read it, of which the folder knows \
                     nothing: write them into it, or drop them (--prune)"
                ));
            };
            self.rewritten.insert(head.clone());
            self.clauses.retain(|clause| !new.contains(clause));
            self.clauses.extend(new.iter().cloned());
        }
        Ok(())
    }

    /// The columns that get another type by a line of the program, each with the old one.
    pub(super) fn retyped(&self, line: &str) -> Option<(&str, &[(Column, String)])> {
        self.steps.iter().find_map(|step| match step {
            Step::Retype { relation, columns, text } if text == line => {
                Some((relation.as_str(), columns.as_slice()))
            }
            _ => None,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// What makes all the changes, in an order in which each is possible.
    pub(super) fn program(&self) -> String {
        let mut lines: Vec<String> = self.rewritten.iter().map(|head| format!(".rule drop {head}")).collect();
        lines.extend(self.types.iter().cloned());
        for step in &self.steps {
            lines.extend(match step {
                Step::Rename { relation, from, to } => Some(format!(".rel rename {relation} {from} {to}")),
                Step::Add { relation, column: (name, column_type) } => {
                    Some(format!(".rel add {relation} {name} {}", column_type.replace(' ', "")))
                }
                Step::Declare { text, .. } | Step::Retype { text, .. } => Some(text.clone()),
                Step::Rules { .. } | Step::Index { .. } => None,
            });
        }
        lines.extend(self.clauses.iter().map(|clause| format!("+{clause}")));
        lines.extend(self.steps.iter().filter_map(|step| match step {
            Step::Index { text } => Some(text.clone()),
            _ => None,
        }));
        lines.join("\n")
    }
}

/// From the columns that a relation has to those that it should have.
fn other_columns(
    relation: &str,
    there: &[Column],
    wanted: &[Column],
    text: &str,
) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let has = |columns: &[Column], name: &String| columns.iter().any(|(known, _)| known == name);
    if wanted.len() < there.len() {
        let lost: Vec<&str> =
            there.iter().filter(|(name, _)| !has(wanted, name)).map(|(name, _)| name.as_str()).collect();
        return Err(format!(
            "{relation} has {} columns, and should have {}: no migration drops columns ({})",
            there.len(),
            wanted.len(),
            lost.join(", ")
        ));
    }
    let mut retyped = Vec::new();
    for ((old, old_type), (new, new_type)) in there.iter().zip(wanted) {
        if old != new {
            if has(there, new) || has(wanted, old) {
                return Err(format!(
                    "the columns of {relation} are in another order: no migration moves columns"
                ));
            }
            let (from, to) = (old.clone(), new.clone());
            steps.push(Step::Rename { relation: relation.to_owned(), from, to });
        }
        if old_type != new_type {
            retyped.push(((new.clone(), new_type.clone()), old_type.clone()));
        }
    }
    for column in &wanted[there.len()..] {
        if has(there, &column.0) {
            return Err(format!(
                "the columns of {relation} are in another order: no migration moves columns"
            ));
        }
        steps.push(Step::Add { relation: relation.to_owned(), column: column.clone() });
    }
    if !retyped.is_empty() {
        steps.push(Step::Retype { relation: relation.to_owned(), columns: retyped, text: text.to_owned() });
    }
    Ok(steps)
}

/// The first of these relations that a clause reads or derives.
fn reads<'r>(clause: &str, relations: &BTreeSet<&'r str>) -> Option<&'r str> {
    let (statements, _) = parse(&format!("+{clause}"), &Limits::none());
    let StatementKind::Rule(rule) = &statements.first()?.kind else { return None };
    let body = plain_literals(&rule.rule.body);
    let atoms = body.iter().filter_map(|(literal, _)| match &literal.kind {
        LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => Some(atom),
        _ => None,
    });
    let mut named = atoms.chain([&rule.rule.head]).map(|atom| atom.relation.text.as_str());
    named.find_map(|name| relations.get(name).copied())
}

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| step.fmt(f))
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Step::Declare { relation, columns, .. } => {
                let columns: Vec<String> = columns.iter().map(|(name, of)| format!("{name}: {of}")).collect();
                writeln!(f, "+ relation {relation}({})", columns.join(", "))
            }
            Step::Retype { relation, columns, .. } => columns.iter().try_for_each(|((name, new), old)| {
                writeln!(f, "~ relation {relation}: {name} is {new} in place of {old}")
            }),
            Step::Rename { relation, from, to } => {
                writeln!(f, "~ relation {relation}: {from} is called {to}")
            }
            Step::Add { relation, column: (name, of) } => {
                writeln!(
                    f,
                    "~ relation {relation}: a further column {name}: {of}, null in the rows there are"
                )
            }
            Step::Rules { head, dropped, added } => {
                let sign = match (dropped.is_empty(), added.is_empty()) {
                    (true, _) => "+",
                    (false, true) => "-",
                    (false, false) => "~",
                };
                writeln!(f, "{sign} rules of {head}")?;
                dropped.iter().try_for_each(|clause| writeln!(f, "    - {clause}"))?;
                added.iter().try_for_each(|clause| writeln!(f, "    + {clause}"))
            }
            Step::Index { text } => writeln!(f, "+ {}", text.trim_start_matches('.')),
        }
    }
}
