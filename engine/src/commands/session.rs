//! `.session`: the facts and rules that only this session sees.

use super::rule::{clause_number, clause_of};
use super::{CommandEntry, CommandFamily};
use crate::answer::Rows;
use crate::budget::Budget;
use crate::context::{Context, Outcome};
use crate::data::{self, Codec, Run, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::{Order, Relations, sort_limit};
use crate::graph::{Change, Overlay, SessionState};
use crate::need::Need;
use crate::statements::counted;
use crate::syntax::ast::Name;

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "The session",
    entries: &[
        CommandEntry {
            words: &["session|rules"],
            usage: "",
            doc: "Lists the session's clauses and facts: kind, number (one sequence, as `.session drop` takes it), relation, text.",
            example: ".session",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["session", "list"],
            usage: "",
            doc: "The same as `.session`.",
            example: ".session list",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["session", "clear"],
            usage: "",
            doc: "Drops all facts and rules of the session.",
            example: ".session clear",
            need: Need::Read,
            arguments: 0,
            run: clear,
        },
        CommandEntry {
            words: &["session", "drop"],
            usage: "WHICH",
            doc: "Drops the session's clause or fact of this number, or all its clauses of this name.",
            example: ".session drop 1",
            need: Need::Read,
            arguments: 1,
            run: drop,
        },
        CommandEntry {
            words: &["session", "remove"],
            usage: "NAME NUMBER",
            doc: "Drops one of the session's clauses of this name, counted from 1.",
            example: ".session remove far 1",
            need: Need::Read,
            arguments: 2,
            run: remove,
        },
        CommandEntry {
            words: &["session", "forget"],
            usage: "RELATION",
            doc: "Drops the session's facts of this relation, and how it is declared there; its clauses stay.",
            example: ".session forget far",
            need: Need::Read,
            arguments: 1,
            run: forget_facts,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let own = own(context)?;
    let rows = (1..).zip(own).map(|(number, own)| {
        let kind = if matches!(own.what, What::Clause) { "rule" } else { "fact" };
        vec![Value::text(kind), Value::Int(number), Value::text(own.relation), Value::text(own.text)]
    });
    Ok(Outcome::Listing(Rows::listing(&["kind", "number", "relation", "text"], rows.collect())?))
}

/// A clause or a fact of the session.
struct Own {
    relation: String,
    text: String,
    what: What,
}

enum What {
    Clause,
    Fact(Vec<data::Code>),
}

/// What the session has, in the order in which it is numbered: clauses, and then facts, so that no fact that comes moves a
/// clause.
fn own(context: &Context<'_>) -> Result<Vec<Own>, Error> {
    let own = context.overlay.own();
    let codec = Codec::over(context.snapshot().dictionary().clone());
    let clauses = clauses(&context.overlay).into_iter();
    let mut all: Vec<Own> =
        clauses.map(|(relation, text)| Own { relation, text, what: What::Clause }).collect();
    for (name, relation) in own.relations() {
        let facts = sorted(own.runs(name), relation.arity(), &codec, context.budget)?;
        let columns = facts.columns();
        for fact in 0..facts.len() {
            let codes: Vec<data::Code> = columns.iter().map(|column| column[fact]).collect();
            let values = codes.iter().map(|code| codec.value(*code).to_value().to_string());
            let text = format!("{name}({})", values.collect::<Vec<_>>().join(", "));
            all.push(Own { relation: name.to_owned(), text, what: What::Fact(codes) });
        }
    }
    Ok(all)
}

fn sorted(runs: Vec<Run>, arity: usize, codec: &Codec, budget: &Budget) -> Result<Run, Error> {
    let order: Vec<Order> = (0..arity).map(|column| Order { column, descending: false }).collect();
    sort_limit(runs, arity, &order, None, codec, budget).map_err(Error::Stopped)
}

/// The session's clauses with their heads, in the order in which they are numbered.
fn clauses(overlay: &Overlay) -> Vec<(String, String)> {
    let derived = overlay.own().catalog().derived();
    derived
        .flat_map(|(name, clauses)| clauses.iter().map(move |clause| (name.to_owned(), clause.to_string())))
        .collect()
}

fn clear(_: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let (facts, rules) = (context.overlay.fact_count(), context.overlay.rule_count());
    context.overlay = Overlay::default();
    session.overlay = Overlay::default();
    Ok(Outcome::Message(format!(
        "dropped {} and {} of this session",
        counted(facts, "fact"),
        counted(rules, "rule")
    )))
}

fn drop(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let word = &words[0];
    if !word.text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        let count = context.overlay.own().catalog().rules(&word.text).len();
        forget_clauses(&word.text, |_| true, context, session);
        let rules = counted(count, "rule");
        return Ok(Outcome::Message(format!("dropped {rules} of {} from this session", word.text)));
    }
    let number = clause_number(word)?;
    let all = own(context)?;
    let Some(Own { relation, text, what }) = all.get(number - 1) else {
        let message = format!("the session has {} facts and clauses, there is no number {number}", all.len());
        let diagnostic = Diagnostic::error(Code::NotFound, message).at(word.span);
        return Err(Error::refused(diagnostic.help("`.session` lists them with their numbers")));
    };
    match what {
        What::Clause => forget_clauses(relation, |clause| clause == text, context, session),
        What::Fact(codes) => {
            let rows = data::Rows { columns: codes.iter().map(|code| vec![*code]).collect(), len: 1 };
            let change = vec![Change::Delete { relation: relation.clone(), rows }];
            without(|overlay| overlay.apply(&change).0, context, session);
        }
    }
    Ok(Outcome::Message(format!("dropped from this session: {text}")))
}

fn remove(words: &[Name], context: &mut Context<'_>, session: &mut SessionState) -> Result<Outcome, Error> {
    let (name, number) = (&words[0].text, clause_number(&words[1])?);
    let own = context.overlay.own().catalog().rules(name);
    let dropped = clause_of(name, own, number, &words[1])?.to_string();
    forget_clauses(name, |clause| clause == dropped, context, session);
    Ok(Outcome::Message(format!("dropped clause {number} of {name} from this session")))
}

fn forget_facts(
    words: &[Name],
    context: &mut Context<'_>,
    session: &mut SessionState,
) -> Result<Outcome, Error> {
    let name = &words[0].text;
    let facts: usize = context.overlay.own().runs(name).iter().map(Run::len).sum();
    let change = vec![Change::DropRelation(name.clone())];
    without(|overlay| overlay.apply(&change).0, context, session);
    Ok(Outcome::Message(format!("dropped {} of {name} from this session", counted(facts, "fact"))))
}

/// Drops clauses of a name, given as text.
fn forget_clauses(
    name: &str,
    dropped: impl Fn(&str) -> bool,
    context: &mut Context<'_>,
    session: &mut SessionState,
) {
    let rest = |overlay: &Overlay| {
        let clauses = overlay.own().catalog().rules(name).iter();
        let kept = clauses.filter(|clause| !dropped(&clause.to_string())).cloned().map(Change::AddRule);
        let changes = std::iter::once(Change::RemoveRules(name.to_owned())).chain(kept).collect();
        overlay.apply(&changes).0
    };
    without(rest, context, session);
}

/// Takes something away from what this program sees and from what stays after it: the two differ by what the program has for
/// itself.
fn without(rest: impl Fn(&Overlay) -> Overlay, context: &mut Context<'_>, session: &mut SessionState) {
    session.keep_only(rest(&session.overlay));
    context.set_overlay(rest(&context.overlay));
}
