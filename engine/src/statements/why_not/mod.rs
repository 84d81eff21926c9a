//! `.why_not`: how far each rule comes that could derive a fact, and what is missing.
//!
//! Everything here is asked as people ask it: the conditions of a rule with the values of the fact, first one of them, then
//! two, until there are no solutions any more. That takes a few questions a rule; what was found is told when there would be
//! too many.

mod explore;
mod missing;
mod nearest;
mod terms;

use self::explore::Explorer;
use super::query;
use crate::answer::Rows;
use crate::context::Context;
use crate::data::Value;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::provenance::{Blocker, Detail, Fact, Missing, Node, Proof, Reason};
use crate::syntax::ast::{Atom, Limit, Query, QueryHead, TermKind};

/// The column of the answer.
const EXPLANATION: &str = "explanation";

pub(super) fn run(asked: &Query, context: &mut Context<'_>) -> Result<Rows, Error> {
    let atom = one_fact(asked)?;
    // All that is asked is asked of one state.
    let snapshot = context.snapshot();
    context.version = Some(snapshot.version());
    let mut here = context.supposing(snapshot);
    query::asked(asked, &mut here, false)?.of_stored_rows()?;
    here.warnings.clear();
    let found = query::run(asked, &mut here, None)?;
    context.warnings.append(&mut here.warnings);
    if found.row_count() > 0 {
        let limit = Limit { count: 1, offset: 0, span: atom.span };
        let first = Query { limit: Some(limit), ..asked.clone() };
        let mut rows = super::why::run(&first, Detail::Short, &mut here)?;
        let line = format!("{atom} holds: `.why ?{atom}` shows why");
        return told(vec![line], rows.take_proofs().unwrap_or_default());
    }
    let mut explorer = Explorer::new(&mut here);
    let root = explorer.explore(atom)?;
    let would_hold_with = explorer.missing_facts(atom)?;
    let was_cut = explorer.was_cut();
    let proof = Proof { roots: vec![root], nodes: explorer.into_nodes(), would_hold_with };
    let mut lines = Vec::new();
    tell(&proof, root, 0, &mut lines);
    if !proof.would_hold_with.is_empty() {
        let facts: Vec<String> = proof.would_hold_with.iter().map(|fact| format!("+{fact}")).collect();
        lines.push(format!("it would hold with {}", facts.join(" ")));
    } else {
        lines.push("no few stored facts were found with which it would hold".to_owned());
    }
    if was_cut {
        lines.push("not all was looked at: ask of a fact further down".to_owned());
    }
    told(lines, vec![proof])
}

/// The fact that is asked about.
fn one_fact(asked: &Query) -> Result<&Atom, Error> {
    let refuse = |message: &str| {
        Err(Error::refused(
            Diagnostic::error(Code::ParseError, message)
                .help("name one fact, `_` for any value: `.why_not path(2, 1)`"),
        ))
    };
    let QueryHead::Goal { atom, .. } = &asked.head else {
        return refuse("`.why_not` explains a fact, not a projection");
    };
    if !asked.body.is_empty() || asked.limit.is_some() {
        return refuse("`.why_not` explains one fact, without further conditions");
    }
    let is_plain = |kind: &TermKind| {
        matches!(kind, TermKind::Constant(_) | TermKind::Placeholder | TermKind::Variable(_))
    };
    if !atom.terms.iter().all(|term| is_plain(&term.kind)) {
        return refuse("a fact has constants as its arguments");
    }
    Ok(atom)
}

fn told(lines: Vec<String>, proofs: Vec<Proof>) -> Result<Rows, Error> {
    let rows = lines.into_iter().map(|line| vec![Value::text(line)]).collect();
    Ok(Rows::listing(&[EXPLANATION], rows)?.with_proofs(proofs))
}

/// What a node says, a line each, and what is below it.
fn tell(proof: &Proof, node: usize, depth: usize, lines: &mut Vec<String>) {
    let Node { conclusion, reason, children, .. } = &proof.nodes[node];
    let Reason::Missing(Missing { rule, blocker, nearest, hint }) = reason else { return };
    let indent = "  ".repeat(depth);
    match rule {
        None => lines.push(format!("{indent}{conclusion} does not hold")),
        Some((text, number)) => lines.push(format!("{indent}rule {number}: {text}")),
    }
    let inner = format!("{indent}  ");
    match blocker {
        None => {}
        Some(Blocker::NotStored) => lines.push(format!("{inner}it is not stored, and no rule derives it")),
        Some(Blocker::Head { reason }) => lines.push(format!("{inner}its head is another: {reason}")),
        Some(Blocker::Condition { text, tried, .. }) => {
            lines.push(format!("{inner}nothing fulfils {text}"));
            lines.extend(
                tried.iter().filter(|tried| *tried != text).map(|tried| format!("{inner}  tried {tried}")),
            );
        }
        Some(Blocker::Opposed { text, by, .. }) => match by {
            Some(fact) => lines.push(format!("{inner}{text} fails: {fact} holds")),
            None => lines.push(format!("{inner}{text} fails: what it negates holds")),
        },
        Some(Blocker::Aggregate { found }) => match found.as_slice() {
            [] => lines.push(format!("{inner}its group is empty")),
            found => lines.push(format!("{inner}it derives {}", listed(found))),
        },
    }
    if !nearest.is_empty() {
        lines.push(format!("{inner}near to it: {}", listed(nearest)));
    }
    lines.extend(hint.iter().map(|hint| format!("{inner}{hint}")));
    for child in children {
        tell(proof, *child, depth + 1, lines);
    }
}

fn listed(facts: &[Fact]) -> String {
    facts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
