//! Forms of questions: what is asked again, with the same constants or others, has been analysed and rewritten before.
//!
//! `?reach(7, Y)` and `?reach(8, Y)` have one form. It has values that nobody else has where they have constants, and is
//! analysed and rewritten as any question is; wherever these *blanks* are found afterwards, constants are put in. That is
//! right only where nothing looked at a constant: where each blank still is an argument of a column of its own type, or a
//! column of an answer. Of other forms it is only kept that they are none to be filled.
//!
//! A form is that of one state of a graph's definitions; facts may come and go, as plans are made for each question.

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

/// So many forms are kept; then the half of them goes that was asked the longest ago.
const MOST_FORMS: usize = 1_024;
/// Longer questions, in bytes, and those of more rules are not kept.
const LONGEST: usize = 4_096;
const MOST_RULES: usize = 256;

/// The forms of the questions that were asked.
#[derive(Debug)]
pub(crate) struct Forms {
    known: RwLock<HashMap<(GraphId, String), Known>>,
    /// Counts what is asked, to tell what was asked last.
    clock: AtomicU64,
    /// What the blanks are made of. Nobody can guess it, so nobody can ask for one.
    secret: u32,
}

/// What is known of a form.
#[derive(Debug)]
struct Known {
    catalog: Catalog,
    state: State,
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
        Forms { known: RwLock::default(), clock: AtomicU64::new(0), secret }
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
        let key = (graph, text);
        let state = self.known.read().get(&key).filter(|known| known.catalog.is_same(catalog)).map(|known| {
            known.last_asked.store(self.now(), Ordering::Relaxed);
            known.state.clone()
        });
        match state {
            None => {
                self.keep(key, catalog, State::Asked);
                None
            }
            Some(State::Asked) => {
                let ready = Ready::of(&form, &blanks, catalog, disabled).map(Arc::new);
                let state = ready.clone().map_or(State::Unfit, State::Ready);
                self.keep(key, catalog, state);
                Some(ready?.filled(&blanks))
            }
            Some(State::Unfit) => None,
            Some(State::Ready(ready)) => Some(ready.filled(&blanks)),
        }
    }

    /// Forgets everything about a graph.
    pub(crate) fn forget(&self, graph: GraphId) {
        self.known.write().retain(|(of, _), _| *of != graph);
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn keep(&self, key: (GraphId, String), catalog: &Catalog, state: State) {
        let known = Known { catalog: catalog.clone(), state, last_asked: AtomicU64::new(self.now()) };
        let mut all = self.known.write();
        all.insert(key, known);
        if all.len() > MOST_FORMS {
            let mut times: Vec<u64> =
                all.values().map(|known| known.last_asked.load(Ordering::Relaxed)).collect();
            times.sort_unstable();
            let oldest = times[times.len() / 2];
            all.retain(|_, known| known.last_asked.load(Ordering::Relaxed) >= oldest);
        }
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

impl Ready {
    /// The form as a program, if constants can be put into it.
    fn of(form: &Query, blanks: &[Blank], catalog: &Catalog, disabled: &[String]) -> Option<Ready> {
        let analysed = analysis::analyse_query(form, catalog).ok()?;
        let rules = analysed.program.strata.iter().map(|stratum| stratum.rules.len()).sum::<usize>();
        if rules > MOST_RULES || !analysed.program.warnings.is_empty() {
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
        is_fit.then_some(Ready { analysed, rewritten, written })
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
        for rule in program.strata.iter().flat_map(|stratum| &stratum.rules) {
            self.rule(rule);
        }
        // What conditions of several rules are made of is made of their literals, so nothing more is found in it.
        let auxiliaries = program.strata.iter().flat_map(|stratum| &stratum.auxiliaries);
        for auxiliary in auxiliaries {
            self.rule(&auxiliary.rule);
            auxiliary.readers.iter().for_each(|reader| self.rule(&reader.with));
        }
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
