//! `hnsw_nearest` and `text_search`: the best rows of an indexed relation, as a rule that ranks.
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
//! last rule is evaluated is special: see `plan/search.rs`. A search of texts has `Score = ?score(Text, Q)` instead, and
//! ranks `:desc`.

mod call;
mod division;
mod fault;
mod measured;
mod projection;
mod stand_ins;

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

pub use self::fault::SearchFault;
pub use self::measured::Measured;
pub(super) use self::projection::as_projection;

use self::call::{Call, text, variable};
use self::division::{Division, Seeker};
use self::stand_ins::StandIns;
use super::error::AnalysisError;
use super::near::near_names;
use super::program::Search;
use super::resolve::Resolver;
use super::variables::{for_each_variable, variables};
use crate::aggregates::Ranking;
use crate::catalog::{Catalog, SearchKind};
use crate::data::MAX_COLUMNS;
use crate::diagnostic::{Diagnose, Diagnostic, Span};
use crate::index::{Measure, metric_name};
use crate::syntax::ast::{AggregateArgument, Atom, Direction, Literal, LiteralKind, Name, Term, TermKind};

/// The report for an index that does not exist.
pub fn unknown_index(name: &str, span: Span, catalog: &Catalog) -> Diagnostic {
    AnalysisError::Search { fault: unknown(name, catalog), span }.diagnose()
}

fn unknown(name: &str, catalog: &Catalog) -> SearchFault {
    let names = catalog.indexes().map(|index| index.definition.name.as_str());
    SearchFault::UnknownIndex { index: name.to_owned(), near: near_names(name, names) }
}

fn is_search(atom: &Atom, knows: impl Fn(&str) -> bool) -> bool {
    crate::catalog::is_search(atom) && !knows(&atom.relation.text)
}

/// A search that was taken out of a body: the rules of its relation.
pub(super) struct Taken {
    pub(super) inputs: Option<Clause>,
    pub(super) found: Clause,
    pub(super) search: Search,
    /// Whether what is found is numbered, in a column after its measure.
    pub(super) is_numbered: bool,
}

/// A rule of a search, as it is written.
pub(super) struct Clause {
    pub(super) relation: String,
    pub(super) head: Vec<Term>,
    pub(super) body: Vec<Literal>,
    pub(super) text: String,
    pub(super) span: Span,
}

impl Resolver<'_> {
    /// Puts an atom in the place of each search of a body, and leaves out what these fulfil, but for so many literals
    /// at the beginning. `heads` are terms that read the body's solutions. Nothing if there is no search.
    pub(super) fn take_searches(
        &mut self,
        heads: &[Term],
        body: &[Literal],
        kept: usize,
    ) -> Option<(Vec<Literal>, Vec<Taken>)> {
        let is_one = |literal: &Literal| match &literal.kind {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => {
                is_search(atom, |name| self.knows(name))
            }
            _ => false,
        };
        if !body.iter().any(is_one) {
            return None;
        }
        let (mut body, stand_ins) = StandIns::of(heads, &self.simple_negations(body));
        let places: Vec<usize> = (0..body.len()).filter(|place| is_one(&body[*place])).collect();
        let mut open = Vec::new();
        for place in places {
            let literal = body[place].clone();
            let called = match &literal.kind {
                LiteralKind::Positive(atom) => match SearchKind::of(atom) {
                    Some(kind) => Call::of(kind, atom, &body, self.catalog),
                    None => continue,
                },
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
                match self.rules(&call, &division, &before, &stand_ins, place) {
                    Ok((atom, rules)) => {
                        taken.push(rules);
                        fulfilled.extend(division.fulfilled);
                        done.insert(place, call.outputs().into_iter().map(str::to_owned).collect());
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
        Some((stand_ins.replaced(&body), taken))
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

    /// The rules of a search, and the atom that stands in its place.
    fn rules(
        &mut self,
        call: &Call,
        division: &Division,
        body: &[Literal],
        stand_ins: &StandIns,
        place: usize,
    ) -> Result<(Atom, Taken), SearchFault> {
        let [id, measure] = call.found();
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
        // Beside them stand an id, a measure and perhaps a rank.
        let most = MAX_COLUMNS - 3;
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
        let (by, direction) = match call.by {
            Measure::Distance(metric) => (metric_name(metric).to_owned(), Direction::Ascending),
            Measure::Score(language) => (format!("words ({language})"), Direction::Descending),
        };
        let column = of.column + 1;
        let mut written = format!("{}, {by} in column {column} of {}", body[place], of.relation);
        let conditions: Vec<Literal> =
            division.conditions.iter().map(|place| stand_ins.replaced_in(&body[*place])).collect();
        if !conditions.is_empty() {
            written += &format!(", with {}", listed(conditions.iter()));
        }
        if !inputs.is_empty() {
            written += &format!(", for each {}", listed(inputs.iter()));
        }
        let mut found = Vec::new();
        let from = (!inputs.is_empty()).then(|| {
            let relation = self.made_relation("?search", inputs.len());
            found.push(literal(atom(relation.clone(), inputs.clone())));
            let start = stand_ins.replaced(&division.start);
            let text = format!("where {} starts: {}", body[place], listed(start.iter()));
            Clause { relation, head: inputs.clone(), body: start, text, span }
        });
        found.extend(call.rows(&id, &measure, span));
        found.extend(stand_ins.replaced(&division.read));
        let name = match call.kind {
            SearchKind::Nearest => "?nearest",
            SearchKind::Text => "?found",
        };
        let rest: Vec<Term> = [&call.id, &call.measure].into_iter().chain(&call.rank).cloned().collect();
        let relation = self.made_relation(name, inputs.len() + rest.len());
        let ranked = [(call.count.clone(), None), (id, None), (measure, Some(direction))];
        let ranking = TermKind::Aggregate {
            function: Name { text: Ranking::TopK.name().to_owned(), span },
            arguments: ranked.into_iter().map(|(term, order)| AggregateArgument { term, order }).collect(),
        };
        let head = inputs.iter().cloned().chain([Term { kind: ranking, span }]).collect();
        let replacement = atom(relation.clone(), inputs.into_iter().chain(rest).collect());
        let found = Clause { relation, head, body: found, text: written, span };
        let search = Search { index: Arc::clone(&call.index), ef: call.ef };
        Ok((replacement, Taken { inputs: from, found, search, is_numbered: call.rank.is_some() }))
    }
}

/// Divides a body for one of the searches that are open, and says which variable nothing binds from which it starts.
fn divide(
    at: usize,
    open: &[(usize, Call)],
    body: &[Literal],
    done: &HashMap<usize, Vec<String>>,
) -> (Division, Option<String>) {
    let (_, call) = &open[at];
    let others = open.iter().enumerate().filter(|(other, _)| *other != at);
    let outputs = others.flat_map(|(_, (_, other))| other.outputs()).map(str::to_owned).collect();
    let is_open = |place: &usize| open.iter().any(|(other, _)| other == place);
    let plain: Vec<usize> = (0..body.len()).filter(|place| !is_open(place)).collect();
    let outputs_of_it = call.outputs();
    let seeker = Seeker {
        query: &call.query,
        each: &call.each,
        id: outputs_of_it[0],
        told: &outputs_of_it[1..],
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
