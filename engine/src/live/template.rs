//! `Template`: what questions have in common that differ in constants of their conditions only. Many of them are evaluated
//! as one.
//!
//! `?reach(7, Y)` and `?reach(8, Y)` are `?reach($1, Y), $asked($1)`, where `$asked` holds 7 and 8; each has the rows of
//! its constant. That is right only where a join with a constant finds what the constant does, which is so in columns of
//! integers or of texts; and where rows of one constant do not depend on those of another, as a limit or an aggregate
//! does. Whether it is faster is measured (`costs.rs`): where it is not, each question is evaluated by itself.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Jointly;
use super::asked::{Asked, Constants};
use super::costs::Costs;
use super::memory::Held;
use super::query::LiveQuery;
use super::together::{ByConstants, Changes, Found, Layout, Together};
use crate::analysis;
use crate::answer::Rows;
use crate::budget::Budget;
use crate::caller::Anyone;
use crate::catalog::{RelationDefinition, is_search};
use crate::context::{Context, Environment};
use crate::data::{self, Codec, DataType, Dictionary, Difference, Value};
use crate::diagnostic::Span;
use crate::error::Error;
use crate::functions::ScalarFunction;
use crate::graph::{Change, Graph, Overlay, Snapshot};
use crate::rewrite::ASKED;
use crate::statements::{self, Following, Told};
use crate::syntax::ast::{
    Atom, Comparison, Literal, LiteralKind, Name, ProjectionItem, Query, QueryHead, Term, TermKind,
};

/// Questions with blanks in the place of constants.
#[derive(Debug)]
pub(super) struct Template {
    query: Query,
    /// The query as it is written, with its blanks.
    text: String,
    blanks: Vec<Blank>,
    /// How long they take.
    pub(super) costs: Arc<Costs>,
    /// What they were answered from as one.
    last: Mutex<Last>,
}

/// What the questions of a template were answered from as one, the last time.
#[derive(Debug, Default)]
struct Last {
    following: Following,
    layout: Option<Layout>,
    asked: Option<Arc<Asked>>,
    /// The number of the answer that each question was given, by that of the question.
    given: Arc<HashMap<u64, u64>>,
    held: Option<Held>,
}

/// A variable in the place of a constant.
#[derive(Debug)]
struct Blank {
    name: String,
    data_type: DataType,
    /// The relation and its column; none in a comparison.
    place: Option<(String, usize)>,
    /// Whether the column of the constant is one of the answer.
    is_shown: bool,
}

impl Template {
    /// What a question has in common with others, and the constants in which they differ.
    pub(super) fn of(query: &Query) -> (Template, Vec<Value>) {
        let mut lifted = Lifted { blanks: Vec::new(), constants: Vec::new() };
        let mut with_blanks = query.clone();
        if is_row_by_row(query) {
            if let QueryHead::Goal { atom, .. } = &mut with_blanks.head {
                lifted.atom(atom, true);
            }
            for literal in &mut with_blanks.body {
                match &mut literal.kind {
                    LiteralKind::Positive(atom) => lifted.atom(atom, false),
                    LiteralKind::Comparison { operator, left, right } if *operator != Comparison::Equal => {
                        lifted.compared(left, right);
                        lifted.compared(right, left);
                    }
                    _ => {}
                }
            }
        }
        let Lifted { blanks, constants } = lifted;
        if let QueryHead::Projection(items) = &mut with_blanks.head {
            let item = |blank: &Blank| ProjectionItem { term: variable(&blank.name), order: None };
            items.extend(blanks.iter().map(item));
        }
        let text = with_blanks.to_string();
        if !blanks.is_empty() {
            let terms = blanks.iter().map(|blank| variable(&blank.name)).collect();
            let relation = Name { text: ASKED.to_owned(), span: Span::default() };
            let asked = Atom { relation, terms, span: Span::default() };
            with_blanks.body.push(Literal { kind: LiteralKind::Positive(asked), span: Span::default() });
        }
        let template =
            Template { query: with_blanks, text, blanks, costs: Arc::default(), last: Mutex::default() };
        (template, constants)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether so many questions should be evaluated as one.
    pub(super) fn is_for(&self, count: usize, jointly: Jointly) -> bool {
        self.costs.allow(count, jointly) && !self.blanks.is_empty()
    }

    /// All questions of a list, if the last answers to all of them were given together.
    pub(super) fn asked_of_all(
        &self,
        list: &Arc<[Arc<LiveQuery>]>,
        dictionary: &Dictionary,
    ) -> Option<Arc<Asked>> {
        let last = self.last.lock();
        let were_given = || {
            list.len() == last.given.len()
                && list.iter().all(|query| last.given.contains_key(&query.number()))
        };
        last.asked.as_ref()?.of_all(list, dictionary).filter(|_| were_given())
    }

    /// The answers to questions; nothing where they have to be asked one by one.
    pub(super) fn answer(
        &self,
        asked: Arc<Asked>,
        environment: &Environment,
        graph: &Arc<Graph>,
        snapshot: &Arc<Snapshot>,
        budget: &Budget,
    ) -> Result<Option<Together>, Error> {
        let mut context = Context::at(environment, &Anyone, graph, Arc::clone(snapshot), budget);
        context.overlay = self.overlay(asked.constants.values());
        let Ok(analysed) = analysis::analyse_query(&self.query, context.view().catalog()) else {
            return Ok(None);
        };
        let type_of = |(name, column): &(String, usize)| {
            let relation = analysed.program.relations.iter().find(|relation| relation.name == *name)?;
            relation.column_types.get(*column).copied()
        };
        let is_fit = |blank: &Blank| match &blank.place {
            Some(place) => type_of(place) == Some(blank.data_type),
            None => true,
        };
        if !self.blanks.iter().all(is_fit) {
            return Ok(None);
        }
        // What does not come to an end leaves nothing to go on from.
        let mut last = std::mem::take(&mut *self.last.lock());
        last.following.stands_for(asked.constants.len());
        let told = statements::follow(&self.query, &mut context, &mut last.following, |_, _, _| true)?;
        let given = std::mem::take(&mut last.given);
        let (layout, codec, found) = match told {
            Told::Whole(rows) => {
                let Some(layout) = self.layout(&rows) else { return Ok(None) };
                let (run, codec) = rows.coded();
                let found = Found::Whole(ByConstants::of(run.live_rows(), &layout));
                (layout, codec.clone(), found)
            }
            Told::Changed(Difference { added, removed }, rows) => {
                let Some(layout) = last.layout.take() else { return Ok(None) };
                let [added, removed] = [added, removed].map(|rows| ByConstants::of(rows, &layout));
                let codec = Codec::over(Arc::clone(snapshot.dictionary()));
                let changes = Changes { added, removed, rows, given, whole: OnceCell::new() };
                (layout, codec, Found::Changed(Box::new(changes)))
            }
        };
        last.layout = Some(layout.clone());
        last.asked = Some(Arc::clone(&asked));
        *self.last.lock() = last;
        Ok(Some(Together { layout, codec, asked, found }))
    }

    /// Takes note of which answers were given to questions that were answered as one; `hold` says whether there is room for
    /// what the next answers follow from.
    pub(super) fn gave(
        &self,
        given: Arc<HashMap<u64, u64>>,
        hold: impl FnOnce(usize) -> Result<Held, Error>,
    ) {
        let mut last = self.last.lock();
        last.held = None;
        match hold(last.following.memory_bytes() + last.following.answer_bytes()) {
            Ok(held) => (last.held, last.given) = (Some(held), given),
            // What does not fit beside the answers is not kept.
            Err(_) => *last = Last::default(),
        }
    }

    /// Whether the first step from there would have to make what the others find.
    pub(super) fn wants_rehearsal(&self) -> bool {
        self.last.lock().following.wants_rehearsal()
    }

    /// Makes that.
    pub(super) fn rehearse(
        &self,
        environment: &Environment,
        snapshot: &Snapshot,
        budget: &Budget,
    ) -> Result<(), Error> {
        Ok(self.last.lock().following.rehearse(environment, snapshot.dictionary(), budget)?)
    }

    /// Nothing is kept of what they were answered from as one.
    pub(super) fn forget(&self) {
        *self.last.lock() = Last::default();
    }

    /// Where the constants stand in rows, and what is shown of them.
    fn layout(&self, rows: &Rows) -> Option<Layout> {
        let names: Vec<&str> = rows.columns().iter().map(|column| column.name.as_str()).collect();
        let at = |blank: &Blank| names.iter().position(|name| *name == blank.name);
        let keys = self.blanks.iter().map(at).collect::<Option<Vec<usize>>>()?;
        let is_shown = |column: &usize| match keys.iter().position(|key| key == column) {
            Some(blank) => self.blanks[blank].is_shown,
            None => true,
        };
        let shown = (0..names.len()).filter(is_shown).collect();
        Some(Layout { keys, shown })
    }

    /// What is asked, as facts that nobody else sees.
    fn overlay<'c>(&self, asked: impl Iterator<Item = &'c Constants>) -> Overlay {
        let mut rows = data::Rows::empty(self.blanks.len());
        for constants in asked {
            rows.columns.iter_mut().zip(constants).for_each(|(column, code)| column.push(*code));
            rows.len += 1;
        }
        let column_types = self.blanks.iter().map(|blank| blank.data_type).collect();
        let definition = RelationDefinition::undeclared(ASKED, column_types);
        let changes = vec![Change::Define(definition), Change::Insert { relation: ASKED.to_owned(), rows }];
        Overlay::default().apply(&changes).0
    }
}

/// Whether each row of the answer is one whatever the others are.
fn is_row_by_row(query: &Query) -> bool {
    let is_aggregate = |item: &ProjectionItem| matches!(item.term.kind, TermKind::Aggregate { .. });
    let has_aggregate = match &query.head {
        QueryHead::Goal { .. } => false,
        QueryHead::Projection(items) => items.iter().any(is_aggregate),
    };
    query.limit.is_none() && !has_aggregate
}

/// Blanks, and the constants that stood in their places.
struct Lifted {
    blanks: Vec<Blank>,
    constants: Vec<Value>,
}

impl Lifted {
    fn atom(&mut self, atom: &mut Atom, is_shown: bool) {
        let relation = &atom.relation.text;
        if is_search(atom) || ScalarFunction::named(relation).is_some() {
            return;
        }
        for (column, term) in atom.terms.iter_mut().enumerate() {
            let TermKind::Constant(constant) = &term.kind else { continue };
            let data_type = match constant {
                Value::Int(_) => DataType::Int,
                Value::Text(_) => DataType::Text,
                _ => continue,
            };
            let place = Some((relation.clone(), column));
            self.constants.push(constant.clone());
            self.blank(term, data_type, place, is_shown);
        }
    }

    /// An integer that a variable is compared with: that is the same whether it is a constant or not.
    fn compared(&mut self, term: &mut Term, with: &Term) {
        if let (TermKind::Constant(constant @ Value::Int(_)), TermKind::Variable(_)) =
            (&term.kind, &with.kind)
        {
            self.constants.push(constant.clone());
            self.blank(term, DataType::Int, None, false);
        }
    }

    fn blank(
        &mut self,
        term: &mut Term,
        data_type: DataType,
        place: Option<(String, usize)>,
        is_shown: bool,
    ) {
        let name = format!("${}", self.blanks.len() + 1);
        term.kind = TermKind::Variable(name.clone());
        self.blanks.push(Blank { name, data_type, place, is_shown });
    }
}

fn variable(name: &str) -> Term {
    Term { kind: TermKind::Variable(name.to_owned()), span: Span::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::syntax::{self, ast::StatementKind};

    fn template(text: &str) -> (Template, Vec<Value>) {
        let (statements, _) = syntax::parse(text, &Limits::default());
        match statements.into_iter().next().map(|statement| statement.kind) {
            Some(StatementKind::Query(query)) => Template::of(&query),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn constants_of_atoms_are_lifted_out() {
        let (found, constants) = template("?reach(7, Y), owner(Y, \"ada\"), Y > 3, !hidden(Y, 4)");
        assert_eq!(found.text(), "?reach($1, Y), owner(Y, $2), Y > $3, !hidden(Y, 4)");
        assert_eq!(constants, [Value::Int(7), Value::text("ada"), Value::Int(3)]);
        assert_eq!(template("?Y <- reach(7, Y)").0.text(), "?Y, $1 <- reach($1, Y)");
    }

    #[test]
    fn rows_that_depend_on_others_are_of_one_question() {
        for text in ["?reach(7, Y), limit(3)", "?count<Y> <- reach(7, Y)", "?reach(X, 2.5)", "?reach(X, Y)"] {
            let (found, constants) = template(text);
            assert!(constants.is_empty() && !found.is_for(1_000, Jointly::Always), "{text}");
        }
    }
}
