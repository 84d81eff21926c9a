//! Forms of questions: what is asked again, with the same constants or others, has been analysed and rewritten before.
//!
//! `?reach(7, Y)` and `?reach(8, Y)` have one form. It has values that nobody else has where they have constants, and is
//! analysed and rewritten as any question is; wherever these *blanks* are found afterwards, constants are put in. That is
//! right only where nothing looked at a constant: where each blank still is an argument of a column of its own type, or a
//! column of an answer. Of other forms it is only kept that they are none to be filled.
//!
//! Forms are those of one state of a graph's definitions, and all go when that changes; facts may come and go, as plans are made
//! for each question.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::analysis::program::{Argument, Expression, HeadTerm, Literal, Program, Rule};
use crate::analysis::{self, Analysed};
use crate::catalog::{Catalog, is_search};
use crate::data::{DataType, Value};
use crate::functions::ScalarFunction;
use crate::graph::GraphId;
use crate::rewrite;
use crate::syntax::ast::{Atom, LiteralKind, Query, QueryHead, TermKind};

/// So many forms are kept, of so many bytes; then the half of them goes that was asked the longest ago.
const MOST_FORMS: usize = 1_024;
const MOST_BYTES: usize = 32 << 20;
/// Longer questions and larger programs, in bytes, are not kept.
const LONGEST: usize = 4_096;
const LARGEST: usize = MOST_BYTES / 64;

/// The forms of the questions that were asked.
#[derive(Debug)]
pub(crate) struct Forms {
    kept: RwLock<Kept>,
    /// Counts what is asked, to tell what was asked last.
    clock: AtomicU64,
    /// What the blanks are made of. Nobody can guess it, so nobody can ask for one.
    secret: u32,
}

#[derive(Debug, Default)]
struct Kept {
    graphs: HashMap<GraphId, OfGraph>,
    forms: usize,
    bytes: usize,
}

/// What is known of a graph's forms, by their text.
#[derive(Debug)]
struct OfGraph {
    catalog: Catalog,
    forms: HashMap<String, Known>,
}

#[derive(Debug)]
struct Known {
    state: State,
    bytes: usize,
    last_asked: AtomicU64,
}

#[derive(Debug, Clone)]
enum State {
    /// Asked once. Most questions are not asked again.
    Asked,
    /// Whatever its constants are, it has to be looked at.
    Unfit,
    Ready(Arc<Ready>),
}

/// A question with blanks.
#[derive(Debug)]
struct Ready {
    analysed: Analysed,
    rewritten: Program,
    /// The blanks as they are written.
    written: Vec<String>,
}

/// A question that has been analysed, and rewritten as it would be if no view were read.
#[derive(Debug)]
pub(crate) struct Filled {
    pub(crate) analysed: Analysed,
    pub(crate) rewritten: Program,
}

/// A value that is a blank, and the constant that belongs there.
struct Blank {
    value: Value,
    constant: Value,
}

impl Forms {
    pub(crate) fn new() -> Forms {
        let secret = RandomState::new().hash_one(0) as u32;
        Forms { kept: RwLock::default(), clock: AtomicU64::new(0), secret }
    }

    /// A question, made of its form if that has been asked before.
    pub(crate) fn fill(
        &self,
        query: &Query,
        graph: GraphId,
        catalog: &Catalog,
        disabled: &[String],
    ) -> Option<Filled> {
        let (form, blanks) = self.form_of(query)?;
        let text = form.to_string();
        // What is no number prints as a variable may.
        if text.len() > LONGEST || text.contains("NaN") {
            return None;
        }
        let state = self.kept.read().state(graph, catalog, &text, self.now());
        match state {
            None => {
                self.kept.write().insert(graph, catalog, text, State::Asked, self.now());
                None
            }
            Some(State::Asked) => {
                let ready = Ready::of(&form, &blanks, catalog, disabled).map(Arc::new);
                let state = ready.clone().map_or(State::Unfit, State::Ready);
                self.kept.write().insert(graph, catalog, text, state, self.now());
                Some(ready?.filled(&blanks))
            }
            Some(State::Unfit) => None,
            Some(State::Ready(ready)) => Some(ready.filled(&blanks)),
        }
    }

    /// Forgets everything about a graph.
    pub(crate) fn forget(&self, graph: GraphId) {
        self.kept.write().forget(graph);
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// The same question with blanks for the constants of its atoms; none if a search or a function may look at them.
    fn form_of(&self, query: &Query) -> Option<(Query, Vec<Blank>)> {
        let mut form = query.clone();
        let mut blanks = Vec::new();
        if let QueryHead::Goal { atom, .. } = &mut form.head {
            self.blank_out(atom, &mut blanks)?;
        }
        for literal in &mut form.body {
            if let LiteralKind::Positive(atom) = &mut literal.kind {
                self.blank_out(atom, &mut blanks)?;
            }
        }
        Some((form, blanks))
    }

    fn blank_out(&self, atom: &mut Atom, blanks: &mut Vec<Blank>) -> Option<()> {
        if is_search(atom) || ScalarFunction::named(&atom.relation.text).is_some() {
            return None;
        }
        for term in &mut atom.terms {
            let TermKind::Constant(constant) = &mut term.kind else { continue };
            // Numbers beyond those that have codes of their own, as few constants are.
            let number = (1 << 62) + (i64::from(self.secret) << 16) + blanks.len() as i64;
            let value = match constant {
                Value::Int(_) => Value::Int(number),
                Value::Text(_) => Value::text(format!("blank {number}")),
                _ => continue,
            };
            blanks.push(Blank { constant: std::mem::replace(constant, value.clone()), value });
        }
        Some(())
    }
}

impl Kept {
    /// What is known of a form, which is asked now.
    fn state(&self, graph: GraphId, catalog: &Catalog, text: &str, now: u64) -> Option<State> {
        let known = self.graphs.get(&graph).filter(|of| of.catalog.is_same(catalog))?.forms.get(text)?;
        known.last_asked.store(now, Ordering::Relaxed);
        Some(known.state.clone())
    }

    fn insert(&mut self, graph: GraphId, catalog: &Catalog, text: String, state: State, now: u64) {
        if self.graphs.get(&graph).is_some_and(|of| !of.catalog.is_same(catalog)) {
            self.forget(graph);
        }
        let of_program = match &state {
            State::Asked | State::Unfit => 0,
            State::Ready(ready) => ready.bytes(),
        };
        let bytes = text.len() + size_of::<Known>() + of_program;
        let empty = || OfGraph { catalog: catalog.clone(), forms: HashMap::new() };
        let forms = &mut self.graphs.entry(graph).or_insert_with(empty).forms;
        let before = forms.insert(text, Known { state, bytes, last_asked: AtomicU64::new(now) });
        self.forms += usize::from(before.is_none());
        self.bytes = self.bytes + bytes - before.map_or(0, |before| before.bytes);
        if self.forms > MOST_FORMS || self.bytes > MOST_BYTES {
            self.forget_half();
        }
    }

    fn forget(&mut self, graph: GraphId) {
        if let Some(gone) = self.graphs.remove(&graph) {
            self.forms -= gone.forms.len();
            self.bytes -= gone.forms.values().map(|known| known.bytes).sum::<usize>();
        }
    }

    /// Forgets the half that was asked the longest ago.
    fn forget_half(&mut self) {
        let known = || self.graphs.values().flat_map(|of| of.forms.values());
        let mut times: Vec<u64> = known().map(|known| known.last_asked.load(Ordering::Relaxed)).collect();
        times.sort_unstable();
        let oldest = times[times.len() / 2];
        self.graphs.retain(|_, of| {
            of.forms.retain(|_, known| known.last_asked.load(Ordering::Relaxed) >= oldest);
            !of.forms.is_empty()
        });
        let left = || self.graphs.values().flat_map(|of| of.forms.values());
        (self.forms, self.bytes) = (left().count(), left().map(|known| known.bytes).sum());
    }
}

impl Ready {
    /// The form as a program, if constants can be put into it.
    fn of(form: &Query, blanks: &[Blank], catalog: &Catalog, disabled: &[String]) -> Option<Ready> {
        let analysed = analysis::analyse_query(form, catalog).ok()?;
        if !analysed.program.warnings.is_empty() {
            return None;
        }
        let rewritten = rewrite::rewrite(analysed.program.clone(), disabled);
        let is_fit = |program: &Program| {
            let mut places = Places { blanks, program, found: vec![false; blanks.len()], fit: true };
            places.look();
            places.fit && places.found.iter().all(|found| *found)
        };
        let written = blanks.iter().map(|blank| blank.value.to_string()).collect();
        let is_fit = is_fit(&analysed.program) && is_fit(&rewritten);
        let ready = Ready { analysed, rewritten, written };
        (is_fit && ready.bytes() <= LARGEST).then_some(ready)
    }

    /// The bytes that it takes, about.
    fn bytes(&self) -> usize {
        [&self.analysed.program, &self.rewritten].into_iter().flat_map(rules).map(bytes_of).sum()
    }

    /// With constants in the places of their blanks.
    fn filled(&self, blanks: &[Blank]) -> Filled {
        let (mut analysed, mut rewritten) = (self.analysed.clone(), self.rewritten.clone());
        if !blanks.is_empty() {
            self.fill(&mut analysed.program, blanks);
            self.fill(&mut rewritten, blanks);
            for name in &mut analysed.columns {
                self.fill_name(name, blanks);
            }
        }
        Filled { analysed, rewritten }
    }

    fn fill(&self, program: &mut Program, blanks: &[Blank]) {
        for stratum in &mut program.strata {
            stratum.rules.iter_mut().for_each(|rule| self.fill_rule(rule, blanks));
            for auxiliary in &mut stratum.auxiliaries {
                self.fill_rule(&mut auxiliary.rule, blanks);
                auxiliary.readers.iter_mut().for_each(|reader| self.fill_rule(&mut reader.with, blanks));
            }
        }
    }

    fn fill_rule(&self, rule: &mut Rule, blanks: &[Blank]) {
        let fill = |value: &mut Value| {
            if let Some(blank) = blanks.iter().find(|blank| blank.value == *value) {
                *value = blank.constant.clone();
            }
        };
        for term in &mut rule.head_terms {
            if let HeadTerm::Expression(Expression::Constant(value)) = term {
                fill(value);
            }
        }
        for literal in &mut rule.body {
            if let Literal::Atom(atom) | Literal::Negated(atom) = literal {
                for argument in &mut atom.arguments {
                    if let Argument::Constant(value) = argument {
                        fill(value);
                    }
                }
            }
        }
        self.fill_text(&mut rule.text, blanks);
    }

    fn fill_text(&self, text: &mut String, blanks: &[Blank]) {
        for (written, blank) in self.written.iter().zip(blanks) {
            if text.contains(written) {
                *text = text.replace(written, &blank.constant.to_string());
            }
        }
    }

    /// A column that is called by a text is so without quotes.
    fn fill_name(&self, name: &mut String, blanks: &[Blank]) {
        let texts = blanks.iter().filter_map(|blank| match (&blank.value, &blank.constant) {
            (Value::Text(value), Value::Text(constant)) => Some((value, constant)),
            _ => None,
        });
        match texts.into_iter().find(|(value, _)| ***value == *name) {
            Some((_, constant)) => *name = constant.to_string(),
            None => self.fill_text(name, blanks),
        }
    }
}

/// All rules of a program.
fn rules(program: &Program) -> impl Iterator<Item = &Rule> {
    program.strata.iter().flat_map(|stratum| {
        let auxiliaries = stratum.auxiliaries.iter().flat_map(|auxiliary| {
            std::iter::once(&auxiliary.rule).chain(auxiliary.readers.iter().map(|reader| &reader.with))
        });
        stratum.rules.iter().chain(auxiliaries)
    })
}

/// The bytes that a rule takes, about: whatever its expressions have stands in its text.
fn bytes_of(rule: &Rule) -> usize {
    /// For each byte of text.
    const OF_EXPRESSIONS: usize = 8;
    let names = rule.variables.iter().map(|variable| size_of_val(variable) + variable.name.len());
    let arguments = rule.atoms().map(|atom| size_of_val(atom.arguments.as_slice()));
    size_of::<Rule>()
        + size_of_val(rule.body.as_slice())
        + OF_EXPRESSIONS * rule.text.len()
        + names.sum::<usize>()
        + arguments.sum::<usize>()
}

/// Where the blanks of a program are.
struct Places<'p> {
    blanks: &'p [Blank],
    program: &'p Program,
    found: Vec<bool>,
    /// Whether none is where its value matters.
    fit: bool,
}

impl Places<'_> {
    fn look(&mut self) {
        let program = self.program;
        rules(program).for_each(|rule| self.rule(rule));
    }

    fn rule(&mut self, rule: &Rule) {
        let bound = rule.ranking.as_ref().and_then(|ranking| ranking.bound.as_ref());
        self.fit &= bound.is_none_or(|bound| self.place_of(bound).is_none());
        for term in &rule.head_terms {
            match term {
                HeadTerm::Expression(Expression::Constant(_)) | HeadTerm::Aggregate { .. } => {}
                HeadTerm::Expression(expression) => self.expression(expression),
            }
        }
        for literal in &rule.body {
            match literal {
                Literal::Atom(atom) | Literal::Negated(atom) => {
                    let types = &self.program.relations[atom.relation.index()].column_types;
                    for (argument, data_type) in atom.arguments.iter().zip(types) {
                        let Argument::Constant(value) = argument else { continue };
                        let Some(place) = self.place_of(value) else { continue };
                        self.found[place] = true;
                        self.fit &= matches!(
                            (value, data_type),
                            (Value::Int(_), DataType::Int) | (Value::Text(_), DataType::Text)
                        );
                    }
                }
                Literal::Filter { left, right, .. } => {
                    self.expression(left);
                    self.expression(right);
                }
                Literal::Assign { expression, .. } => self.expression(expression),
            }
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Variable(_) => {}
            Expression::Constant(value) => self.fit &= self.place_of(value).is_none(),
            Expression::Arithmetic { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            Expression::Call { arguments, .. } => {
                arguments.iter().for_each(|argument| self.expression(argument));
            }
        }
    }

    fn place_of(&self, value: &Value) -> Option<usize> {
        self.blanks.iter().position(|blank| blank.value == *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::RelationDefinition;
    use crate::limits::Limits;
    use crate::syntax::ast::StatementKind;
    use crate::syntax::parse;

    fn query(text: &str) -> Query {
        let (mut statements, errors) = parse(text, &Limits::default());
        assert_eq!(errors, []);
        match statements.remove(0).kind {
            StatementKind::Query(query) => query,
            other => panic!("{other:?} is no query"),
        }
    }

    fn catalog(relation: &str) -> Catalog {
        let mut catalog = Catalog::default();
        catalog.set_relation(RelationDefinition::undeclared(relation, vec![DataType::Int, DataType::Text]));
        catalog
    }

    /// The numbers of forms and bytes, counted anew.
    fn count(forms: &Forms) -> (usize, usize) {
        let kept = forms.kept.read();
        let all = || kept.graphs.values().flat_map(|of| of.forms.values());
        let counted = (all().count(), all().map(|known| known.bytes).sum());
        assert_eq!((kept.forms, kept.bytes), counted);
        counted
    }

    #[test]
    fn the_second_question_of_a_form_is_filled() {
        let (forms, graph, catalog) = (Forms::new(), GraphId::new(), catalog("p"));
        let ask = |text: &str| forms.fill(&query(text), graph, &catalog, &[]);
        assert!(ask("?p(1, X)").is_none());
        assert_eq!(ask("?p(2, X)").unwrap().analysed.columns, ["2", "X"]);
        assert_eq!(ask("?p(3, X)").unwrap().analysed.columns, ["3", "X"]);
        // Of another type, and in another column.
        assert!(ask("?p(1.0, X)").is_none());
        assert!(ask("?p(X, \"1\")").is_none());
        // What is compared belongs to the form.
        assert!(ask("?p(X, Y), X < 1").is_none());
        assert!(ask("?p(X, Y), X < 2").is_none());
        assert!(ask("?p(X, Y), X < 1").is_some());
    }

    #[test]
    fn few_are_kept_and_none_of_an_earlier_state() {
        let (forms, graphs, catalog) = (Forms::new(), [GraphId::new(), GraphId::new()], catalog("p"));
        for number in 0..4 * MOST_FORMS {
            let asked = query(&format!("?p({number}, X{})", number / 2));
            forms.fill(&asked, graphs[number / 2 % 2], &catalog, &[]);
            let (kept, bytes) = count(&forms);
            assert!(kept <= MOST_FORMS && bytes <= MOST_BYTES);
        }
        assert!(count(&forms).0 > MOST_FORMS / 4);
        forms.forget(graphs[0]);
        let left = count(&forms).0;
        assert!(left > MOST_FORMS / 8, "{left}");
        // The same definitions once more are another state.
        forms.fill(&query("?p(1, X)"), graphs[1], &self::catalog("p"), &[]);
        assert_eq!(count(&forms).0, 1);
    }
}
