//! What a program means, or why it is refused: names to ids, types, safety, strata.
//!
//! ```
//! use stratalog_engine::analysis::analyse_query;
//! use stratalog_engine::catalog::Catalog;
//! use stratalog_engine::Limits;
//! use stratalog_engine::syntax::{ast::StatementKind, parse};
//!
//! let (statements, _) = parse("?edge(X, Y)", &Limits::default());
//! if let StatementKind::Query(query) = &statements[0].kind {
//!     // Nothing is known yet, so nothing can be asked.
//!     assert!(analyse_query(query, &Catalog::default()).is_err());
//! }
//! ```

pub mod program;

mod advice;
mod arguments;
mod builder;
mod clause;
mod columns;
mod dependencies;
mod elsewhere;
mod error;
mod expressions;
mod head;
mod monotone;
mod near;
mod nested;
mod never_true;
mod resolve;
mod rule_graph;
mod safety;
mod search;
mod stratify;
#[cfg(test)]
mod testing;
mod times;
mod types;
mod variables;
mod warnings;

pub use error::{AnalysisError, Role};
pub(crate) use monotone::keeps_order;
pub(crate) use near::near_names;
pub use program::Program;
pub(crate) use rule_graph::rule_graph;
pub use search::{Measured, SearchFault, unknown_index};
pub(crate) use stratify::stratify_made;
pub use stratify::{Cycle, stratify};
pub use types::fit;

use self::columns::{
    declared_any, expression_column, goal_columns, goal_names, item_orders, projected_names, term_columns,
};
use self::resolve::{Origin, Resolver, Source, near_relations};
use crate::catalog::{Catalog, RelationDefinition};
use crate::data::{DataType, MAX_COLUMNS, RelationId};
use crate::diagnostic::{Code, Diagnose, Diagnostic, Span};
use crate::syntax::ast::{Atom, Direction, Limit, Literal, Query, QueryHead, Rule, Term, TermKind};

/// The name of the relation that holds an answer. No program can write it.
const GOAL: &str = "?";

/// A question that can be answered.
#[derive(Debug, Clone)]
pub struct Analysed {
    /// What to evaluate.
    pub program: Program,
    /// The names of the goal's columns, as the protocol has them: what stands in them.
    pub columns: Vec<String>,
    /// The same, each with a name of its own.
    pub names: Vec<String>,
    /// Whether each of them has its values from a column that is declared to hold anything.
    pub declared_any: Vec<bool>,
    /// The columns to sort by, the most important first.
    pub order: Vec<(usize, Direction)>,
    /// How many rows to return.
    pub limit: Option<Limit>,
}

impl Analysed {
    /// What changes need: rows, and nothing about them.
    fn unordered(program: Program, columns: Vec<String>) -> Analysed {
        let declared_any = vec![false; columns.len()];
        Analysed { program, names: columns.clone(), columns, declared_any, order: Vec::new(), limit: None }
    }
}

/// What a query asks, with every rule that takes part in the answer. All rows that it reads are stored.
pub fn analyse_query(query: &Query, catalog: &Catalog) -> Result<Analysed, Vec<AnalysisError>> {
    analysed_query(query, Resolver::new(catalog, None))
}

/// The same, of whoever reads attached files as well.
pub fn analyse_question(query: &Query, catalog: &Catalog) -> Result<Analysed, Vec<AnalysisError>> {
    analysed_query(query, Resolver::new(catalog, None).reading_files())
}

fn analysed_query(query: &Query, mut resolver: Resolver<'_>) -> Result<Analysed, Vec<AnalysisError>> {
    let catalog = resolver.catalog;
    let search = search::as_projection(query, catalog);
    let query = search.as_ref().unwrap_or(query);
    let span = query_span(query);
    let source = |head| Source { head, origin: Origin::Query, text: query.to_string(), span };
    let goal;
    let (columns, names, order) = match &query.head {
        QueryHead::Goal { atom, order } => {
            goal = resolver.add_relation(GOAL.into(), 0);
            let further = variables::further_variables(atom, &query.body);
            resolver.goal_clause(source(goal), atom, &query.body, &further);
            let columns = goal_columns(&atom.relation.text, &atom.terms, further, catalog);
            let names = goal_names(&atom.relation.text, &atom.terms, &columns, catalog);
            let order = atom.terms.iter().zip(order).map(|(term, order)| match term.kind {
                // A constant orders nothing.
                TermKind::Constant(_) => None,
                _ => *order,
            });
            (columns, names, order.collect::<Vec<_>>())
        }
        QueryHead::Projection(items) => {
            let terms: Vec<Term> = items.iter().map(|item| item.term.clone()).collect();
            let width = terms.iter().map(Term::columns).sum();
            goal = resolver.add_relation(GOAL.into(), width);
            resolver.clause(source(goal), &terms, &query.body);
            let columns: Vec<String> = terms.iter().flat_map(term_columns).collect();
            let names = projected_names(&columns);
            (columns, names, items.iter().flat_map(item_orders).collect())
        }
    };
    check_columns(columns.len(), span, &mut resolver);
    let relation = &mut resolver.relations[goal.index()];
    relation.arity = columns.len();
    relation.column_types.resize(columns.len(), DataType::Unknown);
    let mut order: Vec<_> =
        order.into_iter().enumerate().filter_map(|(column, order)| Some((column, order?))).collect();
    if search.is_some() {
        // Of rows that are equally far, those with the smaller ids come first.
        let rest = (0..columns.len()).filter(|column| order.iter().all(|(known, _)| known != column));
        order.extend(rest.map(|column| (column, Direction::Ascending)).collect::<Vec<_>>());
    }
    let mut program = program(resolver, goal)?;
    let atom = match &query.head {
        QueryHead::Goal { atom, .. } => Some(atom),
        QueryHead::Projection(_) => None,
    };
    let types = |name: &str| {
        let relation = program.relations.iter().find(|relation| relation.name == name)?;
        Some(relation.column_types.as_slice())
    };
    let mut found = warnings::of_query(atom, &query.body, types);
    // Of declared columns the join says so itself.
    let is_told = program.warnings.iter().any(|warning| warning.code == Code::TypeMismatch);
    found.retain(|warning| !is_told || warning.code != Code::NeverTrue);
    program.warnings.extend(found);
    let declared_any = declared_any(&program, catalog);
    Ok(Analysed { program, columns, names, declared_any, order, limit: query.limit })
}

/// The rows of a relation that match a target and a body: what a conditional delete removes.
pub fn analyse_target(
    target: &Atom,
    body: &[Literal],
    catalog: &Catalog,
) -> Result<Analysed, Vec<AnalysisError>> {
    let mut resolver = Resolver::new(catalog, None);
    let goal = resolver.add_relation(GOAL.into(), target.terms.len());
    let span = body.iter().map(|literal| literal.span).fold(target.span, Span::to);
    let printed: Vec<String> = body.iter().map(ToString::to_string).collect();
    let text = format!("-{target} <- {}", printed.join(", "));
    resolver.goal_clause(Source { head: goal, origin: Origin::Query, text, span }, target, body, &[]);
    let columns = target.terms.iter().map(expression_column).collect();
    Ok(Analysed::unordered(program(resolver, goal)?, columns))
}

/// The solutions of a body, as one column for each head term: what updates need.
pub fn analyse_body(
    head_terms: &[Term],
    body: &[Literal],
    catalog: &Catalog,
) -> Result<Analysed, Vec<AnalysisError>> {
    let mut resolver = Resolver::new(catalog, None);
    let goal = resolve_body(&mut resolver, head_terms, body);
    analysed_body(resolver, goal, head_terms)
}

/// A goal with one column for each head term.
fn resolve_body(resolver: &mut Resolver<'_>, head_terms: &[Term], body: &[Literal]) -> RelationId {
    for term in head_terms {
        if let TermKind::Aggregate { function, .. } = &term.kind {
            let error =
                AnalysisError::MisplacedAggregate { aggregate: function.text.clone(), span: function.span };
            resolver.errors.push(error);
        }
    }
    let goal = resolver.add_relation(GOAL.into(), head_terms.len());
    let spans = head_terms.iter().map(|term| term.span).chain(body.iter().map(|literal| literal.span));
    let span = spans.reduce(Span::to).unwrap_or_default();
    check_columns(head_terms.len(), span, resolver);
    let printed: Vec<String> = body.iter().map(ToString::to_string).collect();
    let text = format!("{GOAL} <- {}", printed.join(", "));
    resolver.clause(Source { head: goal, origin: Origin::Query, text, span }, head_terms, body);
    goal
}

fn analysed_body(
    resolver: Resolver<'_>,
    goal: RelationId,
    head_terms: &[Term],
) -> Result<Analysed, Vec<AnalysisError>> {
    let columns = head_terms.iter().map(expression_column).collect();
    Ok(Analysed::unordered(program(resolver, goal)?, columns))
}

/// The rows that an update deletes: those that equal, by value, what the body gives for the arguments of the target.
pub fn analyse_deleted(
    target: &Atom,
    body: &[Literal],
    catalog: &Catalog,
) -> Result<Analysed, Vec<AnalysisError>> {
    let mut resolver = Resolver::new(catalog, None);
    let goal = resolve_body(&mut resolver, &target.terms, body);
    let by_identity =
        resolver.clauses.iter().any(|clause| clause.rule.head == goal && clause.hands_on_stored());
    let given = analysed_body(resolver, goal, &target.terms)?;
    // The body has to bind what the target names; only then may the target find more.
    if by_identity { Ok(given) } else { analyse_target(target, body, catalog) }
}

/// Every variable of a query is a column, so there may be too many although no relation has so many.
fn check_columns(found: usize, span: Span, resolver: &mut Resolver<'_>) {
    let limit = MAX_COLUMNS;
    if found > limit {
        resolver.errors.push(AnalysisError::TooManyColumns { found, limit, span });
    }
}

/// Whether a rule can be registered beside what the catalog holds. Answers what deserves a second look. Names that may
/// have been meant are looked for among all names, so only if `suggest`: not for each of a thousand rules. `beside` is what
/// stands in all heads of its statement.
pub fn check_rule(
    rule: &Rule,
    beside: &[Term],
    catalog: &Catalog,
    suggest: bool,
) -> Result<Vec<Diagnostic>, Vec<AnalysisError>> {
    let name = &rule.head.relation.text;
    let arity = rule.head.head_columns();
    let mut resolver = Resolver::new(catalog, Some((name, arity)));
    if !suggest {
        resolver.suggestions = 0;
    }
    if let Some(expected) = catalog.arity(name)
        && expected != arity
    {
        let span = rule.head.span;
        resolver.errors.push(AnalysisError::Arity { relation: name.clone(), expected, found: arity, span });
    }
    if catalog.attached(name).is_some() {
        let span = Some(rule.head.span);
        resolver.errors.push(AnalysisError::RuleOfAttached { relation: name.clone(), span });
    }
    let head = resolver.relation(name, arity);
    let source = Source { head, origin: Origin::NewRule, text: String::new(), span: rule.span };
    resolver.clause(source, &rule.head.terms, &rule.body);
    if let Err(error) = head::check_same_ranking(rule, catalog) {
        resolver.errors.push(error);
    }
    if resolver.errors.is_empty()
        && let Err(error) = stratify::check_new_rule(rule, catalog)
    {
        let negation = matches!(error, AnalysisError::Unstratifiable { negation: true, .. });
        if negation || !is_monotone(rule, catalog) {
            resolver.errors.push(error);
        }
    }
    // What is made for them may read more than the text of the rule says.
    if resolver.errors.is_empty() && !rule.body.iter().all(nested::is_plain) {
        resolver.errors.extend(whole_program(rule, catalog).err().into_iter().flatten());
    }
    if !resolver.errors.is_empty() {
        return Err(resolver.errors);
    }
    let mut found = resolver.warnings;
    // What rules derive may be of other types than what is stored.
    let types = |name: &str| {
        let relation = catalog.relation(name).filter(|_| catalog.rules(name).is_empty())?;
        Some(relation.column_types.as_slice())
    };
    let (mut relations, mut clauses) = (resolver.relations, resolver.clauses);
    types::infer(&mut relations, &mut clauses);
    let underivable = types::underivable(&relations, &mut clauses, catalog);
    found.extend(underivable.into_iter().map(|warning| warning.at(rule.head.span)));
    let mut odd = warnings::of_rule(rule, beside, types);
    let is_told = found.iter().any(|warning| warning.code == Code::TypeMismatch);
    odd.retain(|warning| !is_told || warning.code != Code::NeverTrue);
    found.extend(odd);
    found.extend(warnings::differs_only_in(rule, catalog.rules(name)));
    Ok(found)
}

/// Whether a relation can be declared so beside the rules that derive it.
pub fn check_declaration(
    definition: &RelationDefinition,
    catalog: &Catalog,
) -> Result<(), Vec<AnalysisError>> {
    let name = &definition.name;
    let rules = catalog.rules(name);
    if rules.is_empty() {
        return Ok(());
    }
    let mut declared = catalog.clone();
    declared.set_relation(definition.clone());
    let mut errors = Vec::new();
    for rule in rules.iter() {
        let arity = rule.head.head_columns();
        let mut found = Vec::new();
        if arity == definition.arity {
            let mut resolver = Resolver::new(&declared, Some((name, arity)));
            resolver.suggestions = 0;
            let head = resolver.relation(name, arity);
            let source = Source { head, origin: Origin::NewRule, text: String::new(), span: rule.span };
            resolver.clause(source, &rule.head.terms, &rule.body);
            found = resolver.errors;
            found.retain(|error| matches!(error, AnalysisError::Head { .. }));
        } else {
            let (relation, expected, span) = (name.clone(), definition.arity, rule.head.span);
            found.push(AnalysisError::Arity { relation, expected, found: arity, span });
        }
        errors.extend(
            found
                .into_iter()
                .map(|error| AnalysisError::InRule { rule: rule.to_string(), error: Box::new(error) }),
        );
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Whether a rule that aggregates in a cycle does so soundly, together with all that it depends on.
fn is_monotone(rule: &Rule, catalog: &Catalog) -> bool {
    whole_program(rule, catalog).is_ok()
}

/// A rule with all that it depends on.
fn whole_program(rule: &Rule, catalog: &Catalog) -> Result<Program, Vec<AnalysisError>> {
    let (name, arity) = (&rule.head.relation.text, rule.head.head_columns());
    let mut resolver = Resolver::new(catalog, Some((name, arity))).reading_files();
    let head = resolver.relation(name, arity);
    let source = Source { head, origin: Origin::NewRule, text: String::new(), span: rule.span };
    resolver.clause(source, &rule.head.terms, &rule.body);
    program(resolver, head)
}

/// The report for a relation of which nothing is known.
pub fn unknown_relation(name: &str, span: Option<Span>, catalog: &Catalog) -> Diagnostic {
    let near = near_relations(name, catalog);
    let error =
        AnalysisError::UnknownRelation { relation: name.into(), near, span: span.unwrap_or_default() };
    Diagnostic { span, ..error.diagnose() }
}

/// Every derived relation with the types of its columns, as far as they follow from what it is derived of.
pub(crate) fn derived_types(catalog: &Catalog) -> Vec<(&str, Vec<DataType>)> {
    let mut resolver = Resolver::new(catalog, None);
    resolver.suggestions = 0;
    let heads = catalog.derived().filter_map(|(name, clauses)| Some((name, clauses.first()?)));
    let heads = heads.map(|(name, clause)| (name, resolver.relation(name, clause.head.head_columns())));
    let heads: Vec<(&str, RelationId)> = heads.collect();
    // What is wrong with a rule is said where it is asked for.
    resolver.resolve_reachable();
    let Resolver { mut relations, mut clauses, .. } = resolver;
    types::infer(&mut relations, &mut clauses);
    heads.into_iter().map(|(name, head)| (name, relations[head.index()].column_types.clone())).collect()
}

/// The report for a relation that has no rules.
pub fn unknown_rule(name: &str, span: Option<Span>, catalog: &Catalog) -> Diagnostic {
    let near = near::near_names(name, catalog.derived().map(|(name, _)| name));
    let diagnostic = Diagnostic::error(Code::NotFound, format!("there is no rule `{name}`"));
    let diagnostic = diagnostic.help(match near.as_slice() {
        [] if catalog.relation(name).is_some() => {
            format!("`{name}` is a relation: write `.rel drop {name}`, or `-{name}(..)` for one fact")
        }
        [] => "`.rule list` shows the rules there are".to_owned(),
        near => format!("did you mean `{}`?", near.join("` or `")),
    });
    Diagnostic { span, ..diagnostic }
}

/// From resolved clauses to a program: everything that is reached, typed and stratified.
fn program(mut resolver: Resolver<'_>, goal: RelationId) -> Result<Program, Vec<AnalysisError>> {
    resolver.resolve_reachable();
    resolver.check_attached();
    let Resolver { mut relations, mut clauses, mut warnings, errors, catalog, .. } = resolver;
    if !errors.is_empty() {
        return Err(errors);
    }
    types::infer(&mut relations, &mut clauses);
    warnings.extend(types::underivable(&relations, &mut clauses, catalog));
    warnings.extend(times::settle(&relations, &mut clauses));
    arguments::settle(&mut relations, &mut clauses);
    let rules: Vec<_> = clauses.into_iter().map(|clause| clause.rule).collect();
    monotone::mark(&mut relations, &rules);
    let strata = stratify(&relations, rules).map_err(|Cycle { relations: cycle, negation }| {
        let cycle = cycle.into_iter().map(|id| relations[id.index()].name.clone()).collect();
        vec![AnalysisError::Unstratifiable { cycle, negation, span: None }]
    })?;
    Ok(Program { relations, strata, goal, warnings })
}

fn query_span(query: &Query) -> Span {
    let head = match &query.head {
        QueryHead::Goal { atom, .. } => atom.span,
        QueryHead::Projection(items) => {
            items.iter().map(|item| item.term.span).reduce(Span::to).unwrap_or_default()
        }
    };
    query.body.iter().map(|literal| literal.span).fold(head, Span::to)
}

#[cfg(test)]
mod tests;
