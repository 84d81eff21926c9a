//! `hnsw_nearest`: the nearest rows of an indexed relation, as a rule that ranks.
//!
//! ```text
//! near(U, Id, D) <- asks(U, Q), hnsw_nearest("docs", Q, 10, Id, D), visible(U, Id)
//! ```
//! becomes
//! ```text
//! near(U, Id, D)                       <- asks(U, Q), ?nearest(Q, U, Id, D)
//! ?search(Q, U)                        <- asks(U, Q)
//! ?nearest(Q, U, top_k<10, Id, D:asc>) <- ?search(Q, U), doc(Id, V), D = cosine(V, Q), visible(U, Id)
//! ```
//! So everything that is true of rules that rank is true of searches: types, safety, strata, rewrites. Only how the
//! last rule is evaluated is special: see `plan/search.rs`.

mod division;
mod fault;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use self::fault::SearchFault;

use self::division::{Division, Seeker};
use super::clause::for_each_variable;
use super::error::AnalysisError;
use super::near::near_names;
use super::nested::variables;
use super::program::Search;
use super::resolve::{Origin, Resolver, Source};
use super::types::{clash, fit, type_of};
use crate::aggregates::Ranking;
use crate::catalog::{Catalog, SEARCH_EACH};
use crate::data::{DataType, MAX_COLUMNS, Metric, Value};
use crate::diagnostic::{Diagnose, Diagnostic, Span};
use crate::index::{HnswOptions, Index, IndexKind, metric_name};
use crate::syntax::ast::{
    AggregateArgument, Arithmetic, Atom, Comparison, Direction, Literal, LiteralKind, Name, ProjectionItem,
    Query, QueryHead, Term, TermKind,
};

/// The report for an index that does not exist.
pub fn unknown_index(name: &str, span: Span, catalog: &Catalog) -> Diagnostic {
    AnalysisError::Search { fault: unknown(name, catalog), span }.diagnose()
}

fn unknown(name: &str, catalog: &Catalog) -> SearchFault {
    let names = catalog.indexes().map(|index| index.definition.name.as_str());
    SearchFault::UnknownIndex { index: name.to_owned(), near: near_names(name, names) }
}

/// A query whose goal is a search, as one that lists its columns: for what it is, the id, the distance, and all other
/// variables. Without another order the nearest come first.
pub(super) fn as_projection(query: &Query, catalog: &Catalog) -> Option<Query> {
    let QueryHead::Goal { atom, order } = &query.head else { return None };
    if !is_search(atom, |name| catalog.knows(name)) {
        return None;
    }
    let mut items: Vec<ProjectionItem> = Vec::new();
    let mut add = |term: &Term, order: Option<Direction>| {
        for_each_variable(term, &mut |name| {
            if items.iter().all(|item| !matches!(&item.term.kind, TermKind::Variable(known) if known == name))
            {
                items.push(ProjectionItem { term: variable(name, term.span), order });
            }
        });
    };
    let unordered = order.iter().all(Option::is_none);
    let each = each(atom).len();
    for position in (0..each).chain([each + 3, each + 4]) {
        if let Some(term) = atom.terms.get(position) {
            let nearest_first = (unordered && position == each + 4).then_some(Direction::Ascending);
            add(term, order.get(position).copied().flatten().or(nearest_first));
        }
    }
    atom.terms.iter().for_each(|term| add(term, None));
    for name in super::clause::further_variables(atom, &query.body) {
        add(&variable(&name, atom.span), None);
    }
    let search = Literal { kind: LiteralKind::Positive(atom.clone()), span: atom.span };
    let body = std::iter::once(search).chain(query.body.iter().cloned()).collect();
    Some(Query { head: QueryHead::Projection(items), body, limit: query.limit })
}

fn is_search(atom: &Atom, knows: impl Fn(&str) -> bool) -> bool {
    crate::catalog::is_search(atom) && !knows(&atom.relation.text)
}

/// The variables for each of whose values there is a search: those before the index.
fn each(atom: &Atom) -> &[Term] {
    if !atom.relation.text.eq_ignore_ascii_case(SEARCH_EACH) {
        return &[];
    }
    let is_variable = |term: &Term| matches!(term.kind, TermKind::Variable(_));
    let end = atom.terms.iter().position(|term| !is_variable(term)).unwrap_or(atom.terms.len());
    &atom.terms[..end]
}

/// What is found where it has no name: no variable is called so.
const NAMELESS_ID: &str = "?id";
const NAMELESS_DISTANCE: &str = "?distance";

/// A search that was taken out of a body: the rules of its relation.
pub(super) struct Taken {
    inputs: Option<Clause>,
    nearest: Clause,
    search: Search,
}

struct Clause {
    relation: String,
    head: Vec<Term>,
    body: Vec<Literal>,
    text: String,
    span: Span,
}

/// A search with its arguments taken apart.
struct Call {
    index: Arc<Index>,
    options: HnswOptions,
    data_type: DataType,
    arity: usize,
    /// The variables for each of whose values there is a search, beside those of the query.
    each: Vec<Term>,
    query: Term,
    count: Term,
    id: Term,
    distance: Term,
    ef: Option<usize>,
}

impl Resolver<'_> {
    /// Puts an atom in the place of each search of a body, and leaves out what these fulfil, but for so many literals
    /// at the beginning. Nothing if there is no search.
    pub(super) fn take_searches(
        &mut self,
        body: &[Literal],
        kept: usize,
    ) -> Option<(Vec<Literal>, Vec<Taken>)> {
        let is_one = |literal: &Literal| match &literal.kind {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => {
                is_search(atom, |name| self.knows(name))
            }
            _ => false,
        };
        let places: Vec<usize> = (0..body.len()).filter(|place| is_one(&body[*place])).collect();
        if places.is_empty() {
            return None;
        }
        let mut body = body.to_vec();
        let mut open = Vec::new();
        for place in places {
            let literal = body[place].clone();
            let called = match &literal.kind {
                LiteralKind::Positive(atom) => self.call(atom, &body),
                _ => Err((SearchFault::Negated, literal.span)),
            };
            match called {
                Ok(call) => open.push((place, call)),
                Err((fault, span)) => self.refuse(fault, span, &mut body[place]),
            }
        }
        let (mut taken, mut fulfilled, mut done) = (Vec::new(), HashSet::new(), HashMap::new());
        while !open.is_empty() {
            // Searches that do not start from what others find know nothing of each other.
            let before = body.clone();
            let ready: Vec<Option<Division>> = (0..open.len())
                .map(|at| divide(at, &open, &before, &done))
                .map(|(division, missing)| missing.is_none().then_some(division))
                .collect();
            let is_stuck = ready.iter().all(Option::is_none);
            if is_stuck {
                let (_, missing) = divide(0, &open, &before, &done);
                let (place, call) = open.remove(0);
                let fault = SearchFault::Unbound { variable: missing.unwrap_or_default() };
                self.refuse(fault, call.query.span, &mut body[place]);
                continue;
            }
            let mut waiting = Vec::new();
            for ((place, call), division) in std::mem::take(&mut open).into_iter().zip(ready) {
                let Some(division) = division else {
                    waiting.push((place, call));
                    continue;
                };
                let span = body[place].span;
                match self.rules(&call, &division, &before, place) {
                    Ok((atom, rules)) => {
                        taken.push(rules);
                        fulfilled.extend(division.fulfilled);
                        done.insert(place, call.outputs().map(str::to_owned));
                        body[place] = Literal { kind: LiteralKind::Positive(atom), span };
                    }
                    Err(fault) => self.refuse(fault, call.query.span, &mut body[place]),
                }
            }
            open = waiting;
        }
        let mut place = 0;
        body.retain(|_| {
            place += 1;
            place <= kept || !fulfilled.contains(&(place - 1))
        });
        Some((body, taken))
    }

    /// Reports a fault, and puts in the place of the search what stands in for it.
    fn refuse(&mut self, fault: SearchFault, span: Span, literal: &mut Literal) {
        self.errors.push(AnalysisError::Search { fault, span });
        literal.kind = LiteralKind::Positive(self.stand_in(literal));
    }

    /// Something that binds the variables of what was refused, so that the rest of the clause can be checked.
    fn stand_in(&mut self, literal: &Literal) -> Atom {
        let span = literal.span;
        let terms: Vec<Term> = variables(literal).into_iter().map(|name| variable(name, span)).collect();
        let relation = self.made_relation("?refused", terms.len());
        Atom { relation: Name { text: relation, span }, terms, span }
    }

    fn call(&self, atom: &Atom, body: &[Literal]) -> Result<Call, (SearchFault, Span)> {
        let argument =
            |term: &Term, expected| (SearchFault::Argument { expected, found: term.to_string() }, term.span);
        let each = each(atom);
        if each.is_empty() && atom.relation.text.eq_ignore_ascii_case(SEARCH_EACH) {
            return Err((SearchFault::Each, atom.span));
        }
        let [index, query, count, id, distance, ef @ ..] = &atom.terms[each.len()..] else {
            return Err((SearchFault::Arguments { found: atom.terms.len() }, atom.span));
        };
        if ef.len() > 1 {
            return Err((SearchFault::Arguments { found: atom.terms.len() }, atom.span));
        }
        if let Some(found) = each.iter().find(|term| term.kind == id.kind || term.kind == distance.kind) {
            return Err(argument(found, "a variable of other rows than those that are found"));
        }
        let TermKind::Constant(Value::Text(name)) = &index.kind else {
            return Err(argument(index, "the name of an index, as a string"));
        };
        let found = self.catalog.index(name).ok_or_else(|| (unknown(name, self.catalog), index.span))?;
        let IndexKind::Hnsw(options) = found.definition.kind else {
            let kind = found.definition.kind.name();
            return Err((SearchFault::OtherIndex { index: name.to_string(), kind }, index.span));
        };
        let relation = self.catalog.relation(&found.definition.relation);
        let column = relation.and_then(|known| known.schema.as_ref()?.columns.get(found.definition.column));
        let (Some(relation), Some(data_type @ (DataType::Vector(_) | DataType::VectorInt8(_)))) =
            (relation, column.map(|column| column.data_type))
        else {
            return Err((SearchFault::LostColumn { index: name.to_string() }, index.span));
        };
        let is_count = |term: &Term| match term.kind {
            TermKind::Constant(Value::Int(n)) => u32::try_from(n).is_ok_and(|n| n >= 1),
            _ => false,
        };
        for term in std::iter::once(count).chain(ef) {
            if !is_count(term) {
                return Err(argument(term, "a number of rows, from 1"));
            }
        }
        for term in [id, distance] {
            if !matches!(term.kind, TermKind::Variable(_) | TermKind::Placeholder) {
                return Err(argument(term, "a variable for what is found"));
            }
        }
        if let (TermKind::Variable(id), TermKind::Variable(other)) = (&id.kind, &distance.kind)
            && id == other
        {
            return Err(argument(distance, "another variable for the distance"));
        }
        let mistyped = |found| {
            let index = name.to_string();
            (SearchFault::Query { index, expected: data_type, found }, query.span)
        };
        let mut query = query.clone();
        match &mut query.kind {
            TermKind::Constant(value) => {
                let fitted = fit(value.clone(), data_type).filter(|value| *value != Value::Null);
                *value = fitted.ok_or_else(|| mistyped(type_of(value)))?;
            }
            TermKind::Variable(name) => {
                if let Some(found) = declared_type(name, body, self.catalog)
                    && (clash(found, data_type) || !found.overlaps(data_type))
                {
                    return Err(mistyped(found));
                }
            }
            TermKind::Placeholder => return Err(argument(&query, "a vector")),
            _ => {}
        }
        let ef = ef.first().and_then(|term| match term.kind {
            TermKind::Constant(Value::Int(n)) => usize::try_from(n).ok(),
            _ => None,
        });
        Ok(Call {
            index: Arc::clone(found),
            options,
            data_type,
            arity: relation.arity,
            each: each.to_vec(),
            query,
            count: count.clone(),
            id: id.clone(),
            distance: distance.clone(),
            ef,
        })
    }

    /// The rules of a search, and the atom that stands in its place.
    fn rules(
        &mut self,
        call: &Call,
        division: &Division,
        body: &[Literal],
        place: usize,
    ) -> Result<(Atom, Taken), SearchFault> {
        let [id, distance] = call.found();
        let mut needed: Vec<&str> = Vec::new();
        for_each_variable(&call.query, &mut |name| needed.push(name));
        needed.extend(call.each.iter().map(text));
        needed.extend(division.read.iter().flat_map(variables));
        let mut inputs: Vec<Term> = Vec::new();
        for name in needed.into_iter().filter(|name| division.bound.contains(*name)) {
            if inputs.iter().all(|term| text(term) != name) {
                inputs.push(variable(name, call.query.span));
            }
        }
        // Beside them stand an id and a distance.
        let most = MAX_COLUMNS - 2;
        if inputs.len() > most {
            return Err(SearchFault::Wide { found: inputs.len(), most });
        }
        let span = body[place].span;
        let atom = |relation: String, terms: Vec<Term>| Atom {
            relation: Name { text: relation, span },
            terms,
            span,
        };
        let literal = |atom: Atom| Literal { kind: LiteralKind::Positive(atom), span };
        // Texts say all that there is to a rule: what is kept of one answers for all of the same text.
        let of = &call.index.definition;
        let (metric, column) = (metric_name(call.options.metric), of.column + 1);
        let mut written = format!("{}, {metric} in column {column} of {}", body[place], of.relation);
        if !division.conditions.is_empty() {
            written += &format!(", with {}", listed(division.conditions.iter().map(|place| &body[*place])));
        }
        if !inputs.is_empty() {
            written += &format!(", for each {}", listed(inputs.iter()));
        }
        let mut nearest = Vec::new();
        let from = (!inputs.is_empty()).then(|| {
            let relation = self.made_relation("?search", inputs.len());
            nearest.push(literal(atom(relation.clone(), inputs.clone())));
            let text = format!("where {} starts: {}", body[place], listed(division.start.iter()));
            Clause { relation, head: inputs.clone(), body: division.start.clone(), text, span }
        });
        nearest.extend(call.rows(&id, &distance, span));
        nearest.extend(division.read.iter().cloned());
        let relation = self.made_relation("?nearest", inputs.len() + 2);
        let ranked = [(call.count.clone(), None), (id, None), (distance, Some(Direction::Ascending))];
        let ranking = TermKind::Aggregate {
            function: Name { text: Ranking::TopK.name().to_owned(), span },
            arguments: ranked.into_iter().map(|(term, order)| AggregateArgument { term, order }).collect(),
        };
        let head = inputs.iter().cloned().chain([Term { kind: ranking, span }]).collect();
        let rest = [call.id.clone(), call.distance.clone()];
        let replacement = atom(relation.clone(), inputs.into_iter().chain(rest).collect());
        let nearest = Clause { relation, head, body: nearest, text: written, span };
        let search = Search { index: Arc::clone(&call.index), ef: call.ef };
        Ok((replacement, Taken { inputs: from, nearest, search }))
    }

    /// Resolves the rules of a search that was taken out of a clause.
    pub(super) fn resolve_search(&mut self, taken: Taken, origin: Origin) {
        let Taken { inputs, nearest, search } = taken;
        for clause in inputs.into_iter().chain([nearest]) {
            let Clause { relation, head, body, text, span } = clause;
            let id = self.relation(&relation, head.iter().map(Term::columns).sum());
            self.plain_clause(Source { head: id, origin, text, span }, &head, &body);
        }
        if let Some(ranking) = self.clauses.last_mut().and_then(|clause| clause.rule.ranking.as_mut()) {
            ranking.search = Some(search);
        }
    }
}

impl Call {
    /// The variables for the id and the distance.
    fn found(&self) -> [Term; 2] {
        [named(&self.id, NAMELESS_ID), named(&self.distance, NAMELESS_DISTANCE)]
    }

    /// Their names.
    fn outputs(&self) -> [&str; 2] {
        let name = |term, nameless| match text(term) {
            "" => nameless,
            name => name,
        };
        [name(&self.id, NAMELESS_ID), name(&self.distance, NAMELESS_DISTANCE)]
    }

    /// The rows of the relation with their distances.
    fn rows(&self, id: &Term, distance: &Term, span: Span) -> Vec<Literal> {
        let term = |kind| Term { kind, span };
        let column = self.index.definition.column;
        let vector = if column == 0 { id.clone() } else { variable("?vector", span) };
        let mut terms = vec![term(TermKind::Placeholder); self.arity];
        terms[column] = vector.clone();
        terms[0] = id.clone();
        let relation = Name { text: self.index.definition.relation.clone(), span };
        let call = |function: &str, arguments| TermKind::Call {
            function: Name { text: function.to_owned(), span },
            arguments,
        };
        let (floats, bytes) = match self.options.metric {
            Metric::Cosine => ("cosine", "cosine_int8"),
            Metric::Euclidean => ("euclidean", "euclidean_int8"),
            Metric::Dot => ("dot", "dot_int8"),
            Metric::Manhattan => ("manhattan", "manhattan_int8"),
        };
        let is_quantised = matches!(self.data_type, DataType::VectorInt8(_));
        let function = if is_quantised { bytes } else { floats };
        let measured = term(call(function, vec![vector.clone(), self.query.clone()]));
        let is_dot = self.options.metric == Metric::Dot;
        let measured = if is_dot {
            // What is similar has a large product, and what is near a small distance.
            let zero = Box::new(term(TermKind::Constant(Value::Int(0))));
            term(TermKind::Arithmetic {
                operator: Arithmetic::Subtract,
                left: zero,
                right: Box::new(measured),
            })
        } else {
            measured
        };
        let equal = |left, right| Literal {
            kind: LiteralKind::Comparison { operator: Comparison::Equal, left, right },
            span,
        };
        let mut literals = vec![
            Literal { kind: LiteralKind::Positive(Atom { relation, terms, span }), span },
            equal(distance.clone(), measured),
        ];
        if is_dot && self.data_type == DataType::Vector(None) {
            // The product of vectors of different lengths is zero, which is no distance.
            let length = |vector: &Term| term(call("vec_dim", vec![vector.clone()]));
            literals.push(equal(length(&vector), length(&self.query)));
        }
        literals
    }
}

/// Divides a body for one of the searches that are open, and says which variable nothing binds from which it starts.
fn divide(
    at: usize,
    open: &[(usize, Call)],
    body: &[Literal],
    done: &HashMap<usize, [String; 2]>,
) -> (Division, Option<String>) {
    let (_, call) = &open[at];
    let others = open.iter().enumerate().filter(|(other, _)| *other != at);
    let outputs = others.flat_map(|(_, (_, other))| other.outputs()).map(str::to_owned).collect();
    let is_open = |place: &usize| open.iter().any(|(other, _)| other == place);
    let plain: Vec<usize> = (0..body.len()).filter(|place| !is_open(place)).collect();
    let [id, distance] = call.outputs();
    let seeker = Seeker {
        query: &call.query,
        each: &call.each,
        id,
        distance,
        relation: &call.index.definition.relation,
    };
    let division = Division::new(&seeker, body, &plain, &outputs, done);
    let mut missing = None;
    for term in std::iter::once(&call.query).chain(&call.each) {
        for_each_variable(term, &mut |name| {
            if missing.is_none() && !division.bound.contains(name) {
                missing = Some(name.to_owned());
            }
        });
    }
    (division, missing)
}

fn listed<T: ToString>(parts: impl Iterator<Item = T>) -> String {
    parts.map(|part| part.to_string()).collect::<Vec<_>>().join(", ")
}

/// The declared type of a variable of a body.
fn declared_type(name: &str, body: &[Literal], catalog: &Catalog) -> Option<DataType> {
    body.iter().find_map(|literal| {
        let LiteralKind::Positive(atom) = &literal.kind else { return None };
        let schema = catalog.relation(&atom.relation.text)?.schema.as_ref()?;
        let is_it = |term: &Term| matches!(&term.kind, TermKind::Variable(other) if other == name);
        let column = atom.terms.iter().position(is_it)?;
        schema.columns.get(column).map(|column| column.data_type)
    })
}

fn variable(name: &str, span: Span) -> Term {
    Term { kind: TermKind::Variable(name.to_owned()), span }
}

/// The variable itself, or one of this name for a placeholder.
fn named(term: &Term, name: &str) -> Term {
    match term.kind {
        TermKind::Placeholder => variable(name, term.span),
        _ => term.clone(),
    }
}

fn text(term: &Term) -> &str {
    match &term.kind {
        TermKind::Variable(name) => name,
        _ => "",
    }
}
