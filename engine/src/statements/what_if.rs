//! `.what_if` and `.impact`: answers in a state that nobody makes, beside those in the one that there is.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::evaluate::{Beside, evaluate};
use super::query::{Asked, Form};
use super::{all_of, query, run_one};
use crate::answer::Rows;
use crate::context::Context;
use crate::data::{self, Codec, DataType, Difference, Relation, Run, Value, sorted_run};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::error::Error;
use crate::exec::{Relations, sort_limit};
use crate::graph::{SessionView, Snapshot};
use crate::syntax::ast::{Name, Query, Statement};

/// So many rows of a relation are told of an impact.
const EXAMPLES: usize = 10;

/// The column that says what would happen to a row.
const CHANGE: &str = "change";

/// The rows of a query that would come and go.
pub(super) fn run(changes: &[Statement], asked: &Query, context: &mut Context<'_>) -> Result<Rows, Error> {
    let mut supposing = suppose(changes, context)?;
    let codec = Codec::over(Arc::clone(supposing.now.dictionary()));
    // A relation may come into being with the changes, or cease to be.
    let before = answered_or_none(asked, &codec, &mut at_present(&supposing, context))?;
    let after = answered_or_none(asked, &codec, &mut supposing.context)?;
    let (before, after) = match both(before, after) {
        Some(answers) => answers,
        // Known neither before nor after: that is refused as it is elsewhere.
        None => answered(asked, &codec, &mut supposing.context).map(|after| (after.empty(), after))?,
    };
    context.warnings.append(&mut supposing.context.warnings);
    context.version = Some(supposing.now.version());
    let Difference { added, removed } = difference(&before, &after, context)?;
    let word = |word: &str| codec.encode(Value::text(word).as_ref());
    let (came, gone) = (word("added")?, word("removed")?);
    let mut rows = removed;
    let mut what = vec![gone; rows.len];
    rows.append(added);
    what.resize(rows.len, came);
    rows.columns.insert(0, what);
    let total = rows.len;
    let (names, unique) = after.form.names();
    let first = || std::iter::once(CHANGE.to_owned());
    let names: Vec<String> = first().chain(names.iter().cloned()).collect();
    let unique: Vec<String> = first().chain(unique.iter().map(|name| apart(name))).collect();
    let types: Vec<DataType> = std::iter::once(DataType::Text).chain(after.types).collect();
    let rows = by_value(Run::new(rows.columns, rows.len), total, &codec, context)?;
    Ok(Rows::new(names, &types, rows, total, codec).with_names(unique))
}

/// No column has the name of the first one.
fn apart(name: &str) -> String {
    if name == CHANGE { format!("{name}_2") } else { name.to_owned() }
}

/// What would come and go of everything that rules derive.
pub(super) fn impact(changes: &[Statement], context: &mut Context<'_>) -> Result<Rows, Error> {
    let mut supposing = suppose(changes, context)?;
    let now = at_present(&supposing, context).view();
    let then = supposing.context.view();
    let affected = affected(&now, &then);
    let mut relations: BTreeMap<String, Query> = BTreeMap::new();
    for catalog in [now.catalog(), then.catalog()] {
        for (name, _) in catalog.derived().filter(|(name, _)| affected.contains(*name)) {
            let name = Name { text: name.to_owned(), span: Span::default() };
            relations.entry(name.text.clone()).or_insert_with(|| all_of(&name, catalog));
        }
    }
    let codec = Codec::over(Arc::clone(supposing.now.dictionary()));
    let mut table = Vec::new();
    for (name, asked) in relations {
        let before = answered_or_none(&asked, &codec, &mut at_present(&supposing, context))?;
        let after = answered_or_none(&asked, &codec, &mut supposing.context)?;
        let Some((before, after)) = both(before, after) else { continue };
        let Difference { added, removed } = difference(&before, &after, context)?;
        if added.len + removed.len == 0 {
            continue;
        }
        let count = |rows: &data::Rows| Value::Int(i64::try_from(rows.len).unwrap_or(i64::MAX));
        let counts = [count(&removed), count(&added)];
        let first = [removed, added].map(|rows| examples(&name, rows, &codec, context));
        let [first_removed, first_added] = first;
        table.push([&[Value::text(name.as_str())], &counts[..], &[first_removed?, first_added?]].concat());
    }
    context.version = Some(supposing.now.version());
    Ok(Rows::listing(&["relation", "removed", "added", "first_removed", "first_added"], table)?)
}

/// Relations that have other rules or other stored rows, and those that read them.
fn affected(now: &SessionView, then: &SessionView) -> HashSet<String> {
    let names = [now, then].into_iter().flat_map(|view| {
        let stored = view.catalog().relations().map(|known| known.name.clone());
        stored.chain(view.catalog().derived().map(|(name, _)| name.to_owned()))
    });
    let names: HashSet<String> = names.collect();
    let is_other = |name: &String| {
        !now.catalog().rules(name).is_same(then.catalog().rules(name))
            || Difference::at_most(&now.runs(name), &then.runs(name)) > 0
    };
    let mut found: HashSet<String> = names.into_iter().filter(is_other).collect();
    let mut open: Vec<String> = found.iter().cloned().collect();
    while let Some(name) = open.pop() {
        for reader in [now, then].into_iter().flat_map(|view| view.catalog().uses().readers(&name)) {
            if found.insert(reader.to_owned()) {
                open.push(reader.to_owned());
            }
        }
    }
    found
}

/// The first rows of a relation, as facts.
fn examples(name: &str, rows: data::Rows, codec: &Codec, context: &Context<'_>) -> Result<Value, Error> {
    let first = by_value(Run::new(rows.columns, rows.len), EXAMPLES, codec, context)?;
    let columns = first.columns();
    let fact = |row: usize| {
        let values = columns.iter().map(|column| codec.value(column[row]).to_value().to_string());
        Value::text(format!("{name}({})", values.collect::<Vec<_>>().join(", ")))
    };
    Ok(Value::List((0..first.len()).map(fact).collect()))
}

/// The first rows in the order of their values.
fn by_value(rows: Run, count: usize, codec: &Codec, context: &Context<'_>) -> Result<Run, Error> {
    let arity = rows.columns().len();
    let limit = Some((count as u64, 0));
    sort_limit(vec![rows], arity, &[], limit, codec, context.budget).map_err(Error::Stopped)
}

/// A state with changes, and the one that they are to.
struct Supposing<'s> {
    context: Context<'s>,
    now: Arc<Snapshot>,
}

fn suppose<'s>(changes: &[Statement], context: &mut Context<'s>) -> Result<Supposing<'s>, Error> {
    let now = context.snapshot();
    let mut supposing = Supposing { context: context.supposing(now.clone()), now };
    if changes.is_empty() {
        context.warnings.push(
            Diagnostic::warning(Code::NeverTrue, "nothing is supposed, so nothing comes or goes")
                .help("write changes before the query, as in `.what_if -edge(1, 2) ?path(1, X)`"),
        );
    }
    for change in changes {
        context.budget.check().map_err(Error::Stopped)?;
        run_one(&change.kind, &mut supposing.context).map_err(|error| error.at(change.span))?;
    }
    Ok(supposing)
}

/// The same state without the changes.
fn at_present<'s>(supposing: &Supposing<'_>, context: &Context<'s>) -> Context<'s> {
    context.supposing(supposing.now.clone())
}

/// The rows of an answer as they were found: what is kept of a relation shares most of them with its other states.
struct Answered {
    runs: Vec<Run>,
    types: Vec<DataType>,
    form: Form,
}

impl Answered {
    /// The same without rows.
    fn empty(&self) -> Answered {
        Answered { runs: Vec::new(), types: self.types.clone(), form: self.form.clone() }
    }
}

fn answered(asked: &Query, codec: &Codec, context: &mut Context<'_>) -> Result<Answered, Error> {
    let Asked { analysed, rewritten, view } = query::asked(asked, context, false)?;
    let (program, form) = query::form_of(analysed);
    let beside = Beside { compares: true, ..Beside::default() };
    let mut evaluated = evaluate(program, rewritten, &view, codec, context, beside)?;
    if form.limit.is_some() {
        let first = form.clone().put_together(&evaluated, codec.clone(), context)?;
        evaluated.runs = vec![first.coded().0.clone()];
    }
    Ok(Answered { runs: evaluated.runs, types: evaluated.types, form })
}

/// The answer, or none where a relation is not known.
fn answered_or_none(
    asked: &Query,
    codec: &Codec,
    context: &mut Context<'_>,
) -> Result<Option<Answered>, Error> {
    match answered(asked, codec, context) {
        Ok(answered) => Ok(Some(answered)),
        Err(error) if error.code() == Code::UnknownRelation => Ok(None),
        Err(error) => Err(error),
    }
}

/// Two answers of which one is missing, where its relation is not known: it has no rows there.
fn both(before: Option<Answered>, after: Option<Answered>) -> Option<(Answered, Answered)> {
    match (before, after) {
        (None, None) => None,
        (None, Some(after)) => Some((after.empty(), after)),
        (Some(before), None) => {
            let after = before.empty();
            Some((before, after))
        }
        (Some(before), Some(after)) => Some((before, after)),
    }
}

/// The rows that tell two answers apart.
fn difference(before: &Answered, after: &Answered, context: &Context<'_>) -> Result<Difference, Error> {
    let arity = after.types.len();
    let relation = |runs: &[Run]| match runs.iter().all(Run::is_sorted) {
        true => Relation::of_runs(arity, runs.to_vec()),
        false => Relation::of_runs(arity, vec![sorted_run(data::Rows::of_runs(arity, runs)).0]),
    };
    let most = Difference::at_most(&before.runs, &after.runs);
    context.budget.expect_rows(|| most).map_err(Error::Stopped)?;
    Ok(context
        .environment
        .threads
        .run_on(most, || Difference::between(&relation(&before.runs), &relation(&after.runs))))
}
