//! `.rule`: rules.

use std::sync::Arc;

use super::{CommandEntry, CommandFamily};
use crate::analysis::{derived_types, rule_graph, unknown_rule};
use crate::answer::Rows;
use crate::catalog::{Catalog, Clauses, Use, clause_names};
use crate::context::{Context, Outcome, Question};
use crate::data::{DataType, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Change, ChangeSet, SessionState};
use crate::need::Need;
use crate::statements::{self, counted};
use crate::syntax::ast::{Name, Rule};

pub(super) const COMMANDS: CommandFamily = CommandFamily {
    title: "Rules",
    entries: &[
        CommandEntry {
            words: &["rule"],
            usage: "",
            doc: "Lists the derived relations: name, clauses (how many).",
            example: ".rule",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["rule"],
            usage: "NAME",
            doc: "Answers the query for all columns of a derived relation.",
            example: ".rule path",
            need: Need::Read,
            arguments: 1,
            run: ask,
        },
        CommandEntry {
            words: &["rule", "list"],
            usage: "",
            doc: "The same as `.rule`.",
            example: ".rule list",
            need: Need::Read,
            arguments: 0,
            run: list,
        },
        CommandEntry {
            words: &["rule", "def|show"],
            usage: "NAME",
            doc: "Shows the clauses of a derived relation: clause, number (as `.rule remove` takes it).",
            example: ".rule def path",
            need: Need::Read,
            arguments: 1,
            run: show,
        },
        CommandEntry {
            words: &["rule", "columns"],
            usage: "",
            doc: "Lists the columns of all derived relations: relation, column, type (null where rules alone do not tell it).",
            example: ".rule columns",
            need: Need::Read,
            arguments: 0,
            run: columns,
        },
        CommandEntry {
            words: &["rule", "graph"],
            usage: "",
            doc: "Lists what the rules of each derived relation read: relation, reads (null: they read no relation), how \
                  (positive, negated or aggregated), stratum (0 reads stored relations and its own; any other one more than \
                  what it reads), recursive (whether the two follow from each other).",
            example: ".rule graph",
            need: Need::Read,
            arguments: 0,
            run: graph,
        },
        CommandEntry {
            words: &["rule", "replace"],
            usage: "",
            doc: "From here on, rules of this program take the place of those of the same head that there were before it.",
            example: ".rule replace",
            need: Need::Read,
            arguments: 0,
            run: replace,
        },
        CommandEntry {
            words: &["rule", "drop"],
            usage: "NAME",
            doc: "Drops all clauses of a derived relation.",
            example: ".rule drop path",
            need: Need::Write,
            arguments: 1,
            run: drop,
        },
        CommandEntry {
            words: &["rule", "drop", "prefix"],
            usage: "PREFIX",
            doc: "Drops all clauses of the derived relations whose names begin so.",
            example: ".rule drop prefix pa",
            need: Need::Write,
            arguments: 1,
            run: drop_prefix,
        },
        CommandEntry {
            words: &["rule", "remove"],
            usage: "NAME NUMBER",
            doc: "Drops one clause, counted from 1 as `.rule def` lists them.",
            example: ".rule remove path 2",
            need: Need::Write,
            arguments: 2,
            run: remove,
        },
        CommandEntry {
            words: &["rule", "clear"],
            usage: "NAME",
            doc: "Drops all clauses but keeps the name: an empty relation.",
            example: ".rule clear path",
            need: Need::Write,
            arguments: 1,
            run: clear,
        },
        CommandEntry {
            words: &["rule", "edit"],
            usage: "NAME NUMBER TEXT",
            doc: "Does nothing but say how a clause is replaced.",
            example: ".rule edit path 2 edge(X, Y)",
            need: Need::Nothing,
            arguments: 0,
            run: edit,
        },
    ],
};

fn list(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let derived = snapshot.catalog().derived();
    let rows =
        derived.map(|(name, clauses)| vec![Value::text(name), Value::Int(clauses.len() as i64)]).collect();
    Ok(Outcome::Listing(Rows::listing(&["name", "clauses"], rows)?))
}

fn ask(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    let view = context.view();
    let catalog = view.catalog();
    if !catalog.has_rule(&name.text) {
        return Err(Error::refused(unknown_rule(&name.text, Some(name.span), catalog)));
    }
    Ok(Outcome::Question(Question::Query(statements::all_of(name, catalog))))
}

fn replace(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    context.replaced_rules.get_or_insert_default();
    Ok(Outcome::Message(
        "from here on, rules of this program take the place of those of the same head".to_owned(),
    ))
}

fn show(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    known(&words[0], snapshot.catalog())?;
    let clauses = snapshot.catalog().rules(&words[0].text);
    let row = |(number, clause): (i64, &Arc<Rule>)| vec![Value::text(clause.to_string()), Value::Int(number)];
    let rows = (1..).zip(clauses.iter()).map(row).collect();
    Ok(Outcome::Listing(Rows::listing(&["clause", "number"], rows)?))
}

fn columns(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let catalog = snapshot.catalog();
    let mut rows = Vec::new();
    for (relation, types) in derived_types(catalog) {
        let declared = catalog.relation(relation).filter(|known| known.schema.is_some());
        let names = match (declared, catalog.rules(relation).first()) {
            (None, Some(clause)) => clause_names(&clause.head.terms, types.len()),
            (known, _) => known.map(|known| known.column_names()).unwrap_or_default(),
        };
        for (column, data_type) in names.into_iter().zip(types) {
            let known = Some(data_type).filter(|known| *known != DataType::Unknown);
            let known = known.map_or(Value::Null, |known| Value::text(known.to_string()));
            rows.push(vec![Value::text(relation), Value::text(column), known]);
        }
    }
    Ok(Outcome::Listing(Rows::listing(&["relation", "column", "type"], rows)?))
}

fn graph(_: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let snapshot = context.snapshot();
    let rows = rule_graph(snapshot.catalog()).into_iter().map(|edge| {
        let (reads, how) = edge.reads.unzip();
        let how = how.map(|how| match how {
            Use::Positive => "positive",
            Use::Negative => "negated",
            Use::Aggregated => "aggregated",
        });
        vec![
            Value::text(edge.relation),
            reads.map_or(Value::Null, Value::text),
            how.map_or(Value::Null, Value::text),
            Value::Int(edge.stratum as i64),
            Value::Bool(edge.is_recursive),
        ]
    });
    Ok(Outcome::Listing(Rows::listing(
        &["relation", "reads", "how", "stratum", "recursive"],
        rows.collect(),
    )?))
}

fn drop(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    context.write(|snapshot, _| {
        known(name, snapshot.catalog())?;
        Ok((vec![Change::RemoveRules(name.text.clone())], ()))
    })?;
    Ok(Outcome::Message(format!("dropped the rules of {}", name.text)))
}

fn drop_prefix(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let prefix = &words[0].text;
    let (counts, names) = context.write(|snapshot, _| {
        let derived = snapshot.catalog().derived().map(|(name, _)| name.to_owned());
        let names: Vec<String> = derived.filter(|name| name.starts_with(prefix)).collect();
        Ok((names.iter().cloned().map(Change::RemoveRules).collect(), names))
    })?;
    if names.is_empty() {
        return Ok(Outcome::Message(format!("no rule begins with {prefix}")));
    }
    let clauses = counted(counts.iter().sum(), "clause");
    let rules = counted(names.len(), "rule");
    let names = names.join(", ");
    Ok(Outcome::Message(format!("dropped {clauses} of {rules} that begin with {prefix}: {names}")))
}

fn remove(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let (name, number) = (&words[0], clause_number(&words[1])?);
    context.write(|snapshot, _| {
        known(name, snapshot.catalog())?;
        Ok((without_clause(&name.text, snapshot.catalog(), number, &words[1])?, ()))
    })?;
    Ok(Outcome::Message(format!("dropped clause {number} of {}", name.text)))
}

fn clear(words: &[Name], context: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = &words[0];
    let (counts, ()) = context.write(|snapshot, _| {
        known(name, snapshot.catalog())?;
        Ok((vec![Change::ClearRules(name.text.clone())], ()))
    })?;
    Ok(Outcome::Message(format!("cleared {}: dropped {}", name.text, counted(counts[0], "clause"))))
}

fn edit(words: &[Name], _: &mut Context<'_>, _: &mut SessionState) -> Result<Outcome, Error> {
    let name = words.first().map_or("NAME", |name| name.text.as_str());
    let mut diagnostic = Diagnostic::error(Code::ParseError, "a clause cannot be edited in place")
        .help(format!("drop it and add the new one: .rule remove {name} NUMBER, then +{name}(..) <- .."));
    diagnostic.span = words.first().map(|name| name.span);
    Err(Error::refused(diagnostic))
}

pub(super) fn known(name: &Name, catalog: &Catalog) -> Result<(), Error> {
    if catalog.has_rule(&name.text) {
        return Ok(());
    }
    Err(Error::refused(unknown_rule(&name.text, Some(name.span), catalog)))
}

/// The number of a clause, from 1.
pub(super) fn clause_number(word: &Name) -> Result<usize, Error> {
    let number = word.text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| {
        let message =
            format!("expected the number of a clause, from 1, found `{}`", word.text.escape_debug());
        let help = "`.rule def` and `.session` list clauses in their order";
        Error::refused(Diagnostic::error(Code::ParseError, message).at(word.span).help(help))
    })
}

/// The clause of this number.
pub(super) fn clause_of<'c>(
    head: &str,
    clauses: &'c Clauses,
    number: usize,
    word: &Name,
) -> Result<&'c Arc<Rule>, Error> {
    clauses.iter().nth(number - 1).ok_or_else(|| {
        let message = format!("{head} has {}, there is no clause {number}", counted(clauses.len(), "clause"));
        let diagnostic = Diagnostic::error(Code::NotFound, message).at(word.span);
        Error::refused(diagnostic.help("`.rule def` and `.session` list clauses in their order"))
    })
}

/// The changes that drop one clause of a head; with the last one goes the name.
fn without_clause(head: &str, catalog: &Catalog, number: usize, word: &Name) -> Result<ChangeSet, Error> {
    let clauses = catalog.rules(head);
    clause_of(head, clauses, number, word)?;
    let others = clauses.iter().enumerate().filter(|(index, _)| index + 1 != number);
    let others = others.map(|(_, clause)| Change::AddRule(Arc::clone(clause)));
    let is_kept = catalog.keeps(head) && clauses.len() > 1;
    let keep = is_kept.then(|| Change::KeepView(head.to_owned()));
    Ok(std::iter::once(Change::RemoveRules(head.to_owned())).chain(others).chain(keep).collect())
}
