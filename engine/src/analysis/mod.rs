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

mod arguments;
mod clause;
mod dependencies;
mod error;
mod head;
mod monotone;
mod near;
mod never_true;
mod resolve;
mod safety;
mod search;
mod stratify;
#[cfg(test)]
mod testing;
mod types;
mod warnings;

pub use error::{AnalysisError, Role};
pub(crate) use near::near_names;
pub use program::Program;
pub use search::{SearchFault, unknown_index};
pub use stratify::{Cycle, stratify};
pub use types::fit;

use self::resolve::{Origin, Resolver, Source, near_relations};
use crate::catalog::Catalog;
use crate::data::{DataType, MAX_COLUMNS, RelationId, Value};
use crate::diagnostic::{Code, Diagnose, Diagnostic, Span};
use crate::syntax::ast::{
    Atom, Direction, Limit, Literal, ProjectionItem, Query, QueryHead, Rule, Term, TermKind,
};

/// The name of the relation that holds an answer. No program can write it.
const GOAL: &str = "?";

/// A question that can be answered.
#[derive(Debug, Clone)]
pub struct Analysed {
    /// What to evaluate.
    pub program: Program,
    /// The names of the goal's columns.
    pub columns: Vec<String>,
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
        Analysed { program, columns, declared_any, order: Vec::new(), limit: None }
    }
}

/// What a query asks, with every rule that takes part in the answer.
pub fn analyse_query(query: &Query, catalog: &Catalog) -> Result<Analysed, Vec<AnalysisError>> {
    let mut resolver = Resolver::new(catalog, None);
    let search = search::as_projection(query, catalog);
    let query = search.as_ref().unwrap_or(query);
    let span = query_span(query);
    let source = |head| Source { head, origin: Origin::Query, text: query.to_string(), span };
    let goal;
    let (columns, order) = match &query.head {
        QueryHead::Goal { atom, order } => {
            goal = resolver.add_relation(GOAL.into(), 0);
            let further = clause::further_variables(atom, &query.body);
            resolver.goal_clause(source(goal), atom, &query.body, &further);
            let columns = goal_columns(&atom.relation.text, &atom.terms, further, catalog);
            let order = atom.terms.iter().zip(order).map(|(term, order)| match term.kind {
                // A constant orders nothing.
                TermKind::Constant(_) => None,
                _ => *order,
            });
            (columns, order.collect::<Vec<_>>())
        }
        QueryHead::Projection(items) => {
            let terms: Vec<Term> = items.iter().map(|item| item.term.clone()).collect();
            let width = terms.iter().map(Term::columns).sum();
            goal = resolver.add_relation(GOAL.into(), width);
            resolver.clause(source(goal), &terms, &query.body);
            let columns: Vec<String> = terms.iter().flat_map(term_columns).collect();
            (columns, items.iter().flat_map(item_orders).collect())
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
    program.warnings.extend(warnings::of_query(atom, &query.body));
    let declared_any = declared_any(&program, catalog);
    Ok(Analysed { program, columns, declared_any, order, limit: query.limit })
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
/// have been meant are looked for among all names, so only if `suggest`: not for each of a thousand rules.
pub fn check_rule(
    rule: &Rule,
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
    if !resolver.errors.is_empty() {
        return Err(resolver.errors);
    }
    let mut found = resolver.warnings;
    found.extend(warnings::of_rule(rule));
    Ok(found)
}

/// Whether a rule that aggregates in a cycle does so soundly, together with all that it depends on.
fn is_monotone(rule: &Rule, catalog: &Catalog) -> bool {
    let (name, arity) = (&rule.head.relation.text, rule.head.head_columns());
    let mut resolver = Resolver::new(catalog, Some((name, arity)));
    let head = resolver.relation(name, arity);
    let source = Source { head, origin: Origin::NewRule, text: String::new(), span: rule.span };
    resolver.clause(source, &rule.head.terms, &rule.body);
    program(resolver, head).is_ok()
}

/// The report for a relation of which nothing is known.
pub fn unknown_relation(name: &str, span: Option<Span>, catalog: &Catalog) -> Diagnostic {
    let near = near_relations(name, catalog);
    let error =
        AnalysisError::UnknownRelation { relation: name.into(), near, span: span.unwrap_or_default() };
    Diagnostic { span, ..error.diagnose() }
}

/// The report for a relation that has no rules.
pub fn unknown_rule(name: &str, span: Option<Span>, catalog: &Catalog) -> Diagnostic {
    let near = near::near_names(name, catalog.derived().map(|(name, _)| name));
    let diagnostic = Diagnostic::error(Code::NotFound, format!("there is no rule `{name}`"));
    let diagnostic = diagnostic.help(match near.as_slice() {
        [] => "`.rule list` shows the rules there are".to_owned(),
        near => format!("did you mean `{}`?", near.join("` or `")),
    });
    Diagnostic { span, ..diagnostic }
}

/// From resolved clauses to a program: everything that is reached, typed and stratified.
fn program(mut resolver: Resolver<'_>, goal: RelationId) -> Result<Program, Vec<AnalysisError>> {
    resolver.resolve_reachable();
    let Resolver { mut relations, mut clauses, warnings, errors, .. } = resolver;
    if !errors.is_empty() {
        return Err(errors);
    }
    types::infer(&mut relations, &mut clauses);
    arguments::settle(&mut relations, &mut clauses);
    let rules: Vec<_> = clauses.into_iter().map(|clause| clause.rule).collect();
    monotone::mark(&mut relations, &rules);
    let strata = stratify(&relations, rules).map_err(|Cycle { relations: cycle, negation }| {
        let cycle = cycle.into_iter().map(|id| relations[id.index()].name.clone()).collect();
        vec![AnalysisError::Unstratifiable { cycle, negation, span: None }]
    })?;
    Ok(Program { relations, strata, goal, warnings })
}

/// Which columns of the goal show what is stored in a column that is declared to hold anything.
fn declared_any(program: &Program, catalog: &Catalog) -> Vec<bool> {
    let mut rules = program.strata.iter().flat_map(|stratum| &stratum.rules);
    let Some(rule) = rules.find(|rule| rule.head == program.goal) else { return Vec::new() };
    let is_any = |atom: &program::Atom, column: usize| {
        let known = catalog.relation(&program.relations[atom.relation.index()].name);
        let schema =
            known.and_then(|known| known.schema.as_ref()).filter(|s| s.arity() == atom.arguments.len());
        schema.is_some_and(|schema| schema.columns[column].data_type == DataType::Any)
    };
    let shows_any = |term: &program::HeadTerm| match term {
        program::HeadTerm::Expression(program::Expression::Variable(variable)) => rule.atoms().any(|atom| {
            let mut columns = atom.arguments.iter().enumerate();
            columns.any(|(column, argument)| {
                *argument == program::Argument::Variable(*variable) && is_any(atom, column)
            })
        }),
        program::HeadTerm::Expression(_) | program::HeadTerm::Aggregate { .. } => false,
    };
    rule.head_terms.iter().map(shows_any).collect()
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

/// The names of a goal's columns: those of its schema if it has just as many, else what stands in them.
fn goal_columns(relation: &str, terms: &[Term], further: Vec<String>, catalog: &Catalog) -> Vec<String> {
    let schema = catalog.relation(relation).and_then(|definition| definition.schema.as_ref());
    match schema {
        Some(schema) if schema.arity() == terms.len() + further.len() => {
            schema.columns.iter().map(|column| column.name.clone()).collect()
        }
        _ => terms.iter().enumerate().map(|(i, term)| argument_column(i, term)).chain(further).collect(),
    }
}

fn argument_column(position: usize, term: &Term) -> String {
    match &term.kind {
        TermKind::Constant(Value::Text(text)) => text.to_string(),
        TermKind::Constant(Value::Float(x)) => x.to_string(),
        TermKind::Constant(Value::Vector(_)) => format!("_v{position}"),
        _ => term.to_string(),
    }
}

/// The names of the columns that a term of a projection makes.
fn term_columns(term: &Term) -> Vec<String> {
    match term.ranked_columns() {
        Some(columns) => columns.iter().map(|column| expression_column(&column.term)).collect(),
        None => vec![expression_column(term)],
    }
}

/// The order of each of those columns: a ranking is ordered by the column that decides.
fn item_orders(item: &ProjectionItem) -> Vec<Option<Direction>> {
    match item.term.ranked_columns() {
        None => vec![item.order],
        Some([_]) => vec![item.order],
        Some(columns) => columns.iter().map(|column| column.order.and(item.order)).collect(),
    }
}

/// `count_X` for an aggregate, else the expression itself.
fn expression_column(term: &Term) -> String {
    match &term.kind {
        TermKind::Aggregate { function, arguments } => match arguments.as_slice() {
            [argument] => format!("{}_{}", function.text, argument.term),
            _ => term.to_string(),
        },
        TermKind::Constant(Value::Text(text)) => text.to_string(),
        _ => term.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{analysed, catalog, checked, refusal, refused_rule, shown};
    use super::*;
    use crate::syntax::ast::{Arithmetic, Comparison};

    const EDGES: &str = "+edge[(1, 2), (2, 3)]";
    const PEOPLE: &str = "+person(name: string, age: int, score: float, born: timestamp)";

    #[test]
    fn a_query_is_a_rule_over_its_goal() {
        let analysed = analysed(EDGES, "?edge(X, Y), edge(Y, _), Z = X + 1, Z < 5");
        assert_eq!(analysed.columns, ["X", "Y", "Z"]);
        assert_eq!(shown(&analysed.program), "?(X, Y, Z) <- edge(X, Y), edge(Y, ?2), Z := X+1, Z < 5\n");
        assert_eq!(analysed.program.relations[0].column_types, [DataType::Int, DataType::Int, DataType::Int]);
        assert!(analysed.program.relations[1].stored);
    }

    #[test]
    fn constants_and_placeholders_of_the_goal_are_columns() {
        let analysed = analysed("+e[(1, \"a\", 2.0)]", "?e(1, \"a\", _)");
        assert_eq!(analysed.columns, ["1", "a", "_"]);
        assert_eq!(shown(&analysed.program), "?(1, \"a\", ?0) <- e(1, \"a\", ?0)\n");
    }

    #[test]
    fn columns_are_named_by_the_schema_where_it_fits() {
        assert_eq!(analysed(PEOPLE, "?person(\"ada\", X, _, _)").columns, ["name", "age", "score", "born"]);
        assert_eq!(analysed(PEOPLE, "?person(N, A, 1.0, B), C = A").columns, ["N", "A", "1", "B", "C"]);
        assert_eq!(analysed("+v[([1, 2], 2.5)]", "?v([1, 2], 2.5)").columns, ["_v0", "2.5"]);
        assert_eq!(analysed(EDGES, "?edge(X, X)").columns, ["X", "X"]);
    }

    #[test]
    fn a_projection_returns_what_it_lists() {
        let analysed = analysed(EDGES, "?Y, count<X>:desc, Y*2:asc <- edge(X, Y), limit(3, 1)");
        assert_eq!(analysed.columns, ["Y", "count_X", "Y*2"]);
        assert_eq!(analysed.order, [(1, Direction::Descending), (2, Direction::Ascending)]);
        assert_eq!(analysed.limit.map(|limit| (limit.count, limit.offset)), Some((3, 1)));
        assert_eq!(shown(&analysed.program), "?(Y, count<X>, Y*2) <- edge(X, Y)\n");
    }

    #[test]
    fn order_marks_on_constants_are_ignored() {
        assert_eq!(analysed(EDGES, "?edge(1:desc, Y:desc)").order, [(1, Direction::Descending)]);
    }

    #[test]
    fn variables_only_under_negation_are_no_columns() {
        let program = "+edge[(1, 2)]\n+bad[1]";
        assert_eq!(analysed(program, "?edge(X, Y), !bad(Y), !edge(Y, _)").columns, ["X", "Y"]);
        assert_eq!(
            shown(&analysed(program, "?edge(X, Y), !bad(X+1)").program),
            "?(X, Y) <- edge(X, Y), ?2 := X+1, !bad(?3), ?3 := ?by_value(?2)\n"
        );
    }

    #[test]
    fn a_program_holds_what_the_goal_needs_in_order_of_evaluation() {
        let program = "+edge[(1, 2)]\n+node[1]\n\
            +path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)\n\
            +far(X, Y) <- node(X), node(Y), !path(X, Y)\n+other(X) <- node(X)";
        let analysed = analysed(program, "?far(X, Y)");
        assert_eq!(
            shown(&analysed.program),
            "recursive path(X, Y) <- edge(X, Y)\n\
             recursive path(X, Z) <- path(X, Y), edge(Y, Z)\n\
             far(X, Y) <- node(X), node(Y), !path(X, Y)\n\
             ?(X, Y) <- far(X, Y)\n"
        );
        let names: Vec<_> = analysed.program.relations.iter().map(|r| (r.name.as_str(), r.stored)).collect();
        assert_eq!(names, [("?", false), ("far", false), ("node", true), ("path", false), ("edge", true)]);
    }

    #[test]
    fn mutual_recursion_is_one_stratum() {
        let program = "+next[(0, 1)]\n+even(X) <- X = 0\n\
            +even(Y) <- odd(X), next(X, Y)\n+odd(Y) <- even(X), next(X, Y)";
        let analysed = analysed(program, "?even(X)");
        let strata = &analysed.program.strata;
        assert_eq!((strata.len(), strata[0].rules.len(), strata[0].recursive), (2, 3, true));
        assert!(!strata[1].recursive);
    }

    #[test]
    fn a_relation_may_have_rows_and_rules() {
        let analysed =
            analysed("+fib[(0, 0), (1, 1)]\n+fib(N, F) <- fib(M, F), N = M + 1, N < 9", "?fib(N, F)");
        let fib = analysed.program.relations.iter().find(|relation| relation.name == "fib").unwrap();
        assert!(fib.stored);
    }

    #[test]
    fn equalities_bind_by_dependency_and_else_filter() {
        let body = |query: &str| {
            let text = shown(&analysed(EDGES, query).program);
            text.trim_end().split_once(" <- ").unwrap().1.to_owned()
        };
        assert_eq!(body("?edge(X, Y), D = C + 1, C = 3"), "edge(X, Y), D := C+1, C := 3");
        assert_eq!(body("?edge(X, Y), X = Y, X = 2"), "edge(X, Y), X = Y, X = 2");
        assert_eq!(body("?edge(X, Y), D = X, D = Y"), "edge(X, Y), D := X, D = Y");
        assert_eq!(body("?edge(X, Y), X + Y = D, 3 = D"), "edge(X, Y), D := X+Y, 3 = D");
        assert_eq!(body("?edge(X, Y), A = B, B = X, A = 1"), "edge(X, Y), A := B, B := X, A = 1");
        assert_eq!(body("?edge(X, Y+1), Y = 2"), "edge(X, ?1), ?1 = Y+1, Y := 2");
    }

    #[test]
    fn constants_take_the_type_of_their_column() {
        let goal = |data: &str, query: &str| shown(&analysed(data, query).program);
        assert_eq!(goal("+p[(1, 2.5)]", "?p(1, 3)"), "?(1, 3.0) <- p(1, 3.0)\n");
        assert_eq!(goal("+p[(1, 2.5)]", "?p(1.0, 2.5)"), "?(1, 2.5) <- p(1, 2.5)\n");
        assert_eq!(goal("+p[(1, 2.5)]", "?p(X, 0)"), "?(X, ?1) <- p(X, ?1), ?1 = 0\n");
        assert_eq!(goal("+p[(1), (1.5)]", "?p(3)"), "?(?0) <- p(?0), ?0 = 3\n");
        assert_eq!(goal("+p(t: timestamp)", "?p(5)"), "?(5) <- p(5)\n");
        assert_eq!(goal("+p[(1), (\"a\")]", "?p(\"a\")"), "?(\"a\") <- p(\"a\")\n");
        // The type of a derived column is known only after its clauses.
        assert_eq!(
            goal("+p[(1)]\n+q(Y) <- p(X), Y = X / 2", "?q(3)"),
            "q(Y) <- p(X), Y := X/2\n?(3.0) <- q(3.0)\n"
        );
    }

    #[test]
    fn a_constant_under_negation_is_compared_in_a_relation_of_its_own() {
        let data = "+p[(1, 1), (1, 2.5)]\n+n[1]";
        assert_eq!(
            shown(&analysed(data, "?n(X), !p(X, 3)").program),
            "?by_value_3(X) <- p(X, ?1), ?1 = 3\n?(X) <- n(X), !?by_value_3(X)\n"
        );
        assert_eq!(shown(&analysed(data, "?n(X), !p(3, _)").program), "?(X) <- n(X), !p(3, _)\n");
    }

    #[test]
    fn unknown_relations_are_refused_in_queries_and_empty_in_rules() {
        assert_eq!(
            refusal(EDGES, "?egde(X, Y)"),
            [AnalysisError::UnknownRelation {
                relation: "egde".into(),
                near: vec!["edge".into()],
                span: Span::new(1, 5)
            }]
        );
        assert!(matches!(
            refusal(EDGES, "?edge(X, Y), !bad(X)")[..],
            [AnalysisError::UnknownRelation { .. }]
        ));
        let analysed = analysed("+r(X) <- later(X)", "?r(X)");
        assert_eq!(analysed.program.warnings.len(), 1);
        assert_eq!(analysed.program.warnings[0].span, None);
        assert!(analysed.program.relations.iter().any(|r| r.name == "later" && r.stored && r.arity == 1));
        let warnings = checked(EDGES, "+r(X) <- edge(X, Y), later(Y), !later(X)").unwrap();
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].span, Some(Span::new(21, 26)));
    }

    #[test]
    fn the_number_of_arguments_must_agree() {
        assert_eq!(
            refusal(EDGES, "?edge(X)"),
            [AnalysisError::Arity { relation: "edge".into(), expected: 2, found: 1, span: Span::new(1, 8) }]
        );
        assert!(matches!(
            refused_rule(EDGES, "+r(X) <- !edge(X, _, _), edge(X, X)")[..],
            [AnalysisError::Arity { found: 3, .. }]
        ));
        assert!(matches!(refused_rule(EDGES, "+edge(X) <- edge(X, _)")[..], [AnalysisError::Arity { .. }]));
        assert!(matches!(
            refused_rule("", "+r(X) <- r(X, _)")[..],
            [AnalysisError::Arity { expected: 1, .. }]
        ));
        let earlier = "+r(X) <- edge(X, _)\n+edge[(1, 2)]";
        assert!(matches!(refused_rule(earlier, "+r(X, Y) <- edge(X, Y)")[..], [AnalysisError::Arity { .. }]));
    }

    #[test]
    fn a_registered_rule_that_no_longer_fits_says_which_it_is() {
        let errors = refusal("+r(X) <- edge(X)\n+edge[(1, 2)]", "?r(X)");
        assert!(matches!(&errors[..], [AnalysisError::InRule { rule, .. }] if rule == "r(X) <- edge(X)"));
        let report = errors[0].diagnose();
        assert_eq!((report.code, report.span), (Code::ArityMismatch, None));
    }

    #[test]
    fn functions_and_aggregates_must_exist() {
        assert!(matches!(&refusal(EDGES, "?edge(X, Y), Z = foo(X), Z > Q")[..], [
            AnalysisError::UnknownFunction { is_relation: false, .. },
            AnalysisError::Unbound { variable, .. }
        ] if variable == "Q"));
        assert!(matches!(
            refusal(EDGES, "?edge(X) <- edge(X, _)")[..],
            [AnalysisError::UnknownFunction { is_relation: true, .. }]
        ));
        assert!(matches!(&refused_rule(EDGES, "+r(cuont<X>) <- edge(X, _)")[..], [
            AnalysisError::UnknownAggregate { near, .. }
        ] if near == &["count"]));
        assert!(matches!(
            refused_rule(EDGES, "+r(sum<X, Y>) <- edge(X, Y)")[..],
            [AnalysisError::AggregateArguments { .. }]
        ));
        assert!(matches!(
            refused_rule(EDGES, "+r(sum<X+1>) <- edge(X, Y)")[..],
            [AnalysisError::AggregateOfExpression { .. }]
        ));
    }

    #[test]
    fn every_variable_needs_a_value() {
        let unbound = |rule: &str| match &refused_rule(EDGES, rule)[..] {
            [AnalysisError::Unbound { variable, role, .. }] => (variable.clone(), *role),
            other => panic!("{rule}: {other:?}"),
        };
        assert_eq!(unbound("+r(Z) <- edge(X, Y)"), ("Z".into(), Role::Head));
        assert_eq!(unbound("+r(X, Z+1) <- edge(X, Y)"), ("Z".into(), Role::Head));
        assert_eq!(unbound("+r(X, sum<Z>) <- edge(X, Y)"), ("Z".into(), Role::Aggregate));
        assert_eq!(unbound("+r(X) <- edge(X, Y), !edge(Z, X)"), ("Z".into(), Role::Negation));
        assert_eq!(unbound("+r(X) <- edge(X, Y), Z > 3"), ("Z".into(), Role::Comparison));
        assert_eq!(unbound("+r(X) <- edge(X, Y), Z = Z + 1"), ("Z".into(), Role::Comparison));
        assert_eq!(unbound("+r(X) <- edge(X, Y), Z + 1 = 5"), ("Z".into(), Role::Comparison));
        assert_eq!(refused_rule(EDGES, "+r(X) <- edge(X, Y), A = B, B = A").len(), 2);
        assert!(matches!(refusal(EDGES, "?edge(X, Y), Z > 3")[..], [AnalysisError::Unbound { .. }]));
        assert!(checked(EDGES, "+r(1, X*2, count<Y>) <- edge(X, Y)").is_ok());
    }

    #[test]
    fn placeholders_and_parameters_are_no_values() {
        assert!(matches!(
            refused_rule(EDGES, "+r(X, _) <- edge(X, Y)")[..],
            [AnalysisError::Placeholder { .. }]
        ));
        assert!(matches!(refusal(EDGES, "?edge(X, Y), X > _")[..], [AnalysisError::Placeholder { .. }]));
        assert!(matches!(refusal(EDGES, "?edge(X, $y)")[..], [AnalysisError::Parameter { .. }]));
    }

    #[test]
    fn declared_types_must_be_able_to_agree() {
        let data = &format!("{PEOPLE}\n+city(name: string, size: int)\n+flag(on: bool, v: vector(2))");
        assert!(matches!(
            refusal(data, "?person(N, A, _, _), city(A, _)")[..],
            [AnalysisError::Join { expected: DataType::Int, found: DataType::Text, .. }]
        ));
        for constant in
            ["?person(5, _, _, _)", "?person(_, \"x\", _, _)", "?person(_, 2.5, _, _)", "?flag(_, [1])"]
        {
            assert!(matches!(refusal(data, constant)[..], [AnalysisError::Constant { .. }]), "{constant}");
        }
        for accepted in ["?person(_, 2.0, 3, 5)", "?person(null, _, _, _)", "?flag(true, [1, 2])"] {
            assert_eq!(refusal(data, accepted), [], "{accepted}");
        }
        assert!(matches!(
            refusal(data, "?person(N, _, _, _), N > 5")[..],
            [AnalysisError::Comparison {
                operator: Comparison::Greater,
                left: DataType::Text,
                right: DataType::Int,
                ..
            }]
        ));
        assert!(matches!(refusal(data, "?flag(F, _), F < true")[..], [AnalysisError::Comparison { .. }]));
        assert!(matches!(
            refusal(data, "?person(N, _, _, _), X = N * 2")[..],
            [AnalysisError::Arithmetic { operator: Arithmetic::Multiply, found: DataType::Text, .. }]
        ));
        assert_eq!(refusal(data, "?person(N, A, S, B), N > \"a\", A < S, B > 5, N != 3, A + S > 0.5"), []);
        let warnings = analysed(data, "?person(_, A, A, _)").program.warnings;
        assert_eq!((warnings.len(), warnings[0].code), (1, Code::TypeMismatch));
    }

    #[test]
    fn a_rule_derives_what_its_head_declares() {
        let data = "+r(a: int)\n+s(x: string)";
        assert!(matches!(refused_rule(data, "+r(X) <- s(X)")[..], [AnalysisError::Head { .. }]));
        assert!(matches!(refused_rule(data, "+r(\"a\") <- s(_)")[..], [AnalysisError::Head { .. }]));
        assert!(checked(data, "+r(count<X>) <- s(X)").is_ok());
    }

    #[test]
    fn what_columns_happen_to_hold_is_no_ground_for_an_error() {
        assert_eq!(refusal("+p[(1, \"a\")]", "?p(X, X), X > \"b\""), []);
        assert_eq!(refusal("+p[(1, \"a\")]", "?p(\"a\", 5)"), []);
    }

    #[test]
    fn negation_and_aggregation_stay_out_of_cycles() {
        let unstratifiable = |catalog: &str, rule: &str| match &refused_rule(catalog, rule)[..] {
            [AnalysisError::Unstratifiable { cycle, negation, .. }] => (cycle.join(" -> "), *negation),
            other => panic!("{rule}: {other:?}"),
        };
        assert_eq!(unstratifiable("+n[1]", "+r(X) <- n(X), !r(X)"), ("r -> r".into(), true));
        assert_eq!(
            unstratifiable("+n[1]\n+a(X) <- n(X), !b(X)", "+b(X) <- a(X)"),
            ("a -> b -> a".into(), true)
        );
        assert_eq!(
            unstratifiable("+n[1]\n+c(X) <- b(X)\n+b(X) <- n(X), a(X)", "+a(count<X>) <- c(X)"),
            ("a -> c -> b -> a".into(), false)
        );
        assert!(checked("+n[1]\n+b(X) <- n(X), b(X)", "+a(X) <- n(X), !b(X)").unwrap().is_empty());
        let errors = refusal("+n[1]\n+a(X) <- n(X), !b(X)\n+b(X) <- a(X)", "?b(X)");
        assert!(matches!(errors[..], [AnalysisError::Unstratifiable { span: None, .. }]));
    }

    #[test]
    fn several_mistakes_are_reported_together() {
        let errors = refusal(EDGES, "?edge(X), egde(X, Y), Z = foo(X), Q > 3, W = X + 1");
        assert_eq!(errors.len(), 4, "{errors:?}");
    }

    #[test]
    fn the_solutions_of_a_body_are_the_terms_of_an_update() {
        use crate::syntax::ast::StatementKind;
        let catalog = catalog(EDGES);
        let text = "-edge(X, Y), +edge(X, Y*2) <- edge(X, Y), Y > 2";
        let (statements, _) = crate::syntax::parse(text, &crate::limits::Limits::default());
        let StatementKind::Update(update) = &statements[0].kind else { panic!() };
        let analysed = analyse_body(&update.inserts[0].terms, &update.body, &catalog).unwrap();
        assert_eq!(shown(&analysed.program), "?(X, Y*2) <- edge(X, Y), Y > 2\n");
    }

    #[test]
    fn thousands_of_rules_are_no_burden() {
        let mut text = String::from("+r0(1)\n");
        for n in 1..5000 {
            text.push_str(&format!("+r{n}(X) <- r{}(X)\n", n - 1));
        }
        let analysed = analysed(&text, "?r4999(3.0)");
        assert_eq!(analysed.program.strata.len(), 5000);
        assert_eq!(analysed.program.relations[0].column_types, [DataType::Int]);
        let long: String = (1..5000).map(|n| format!(", A{n} = A{}", n + 1)).collect();
        assert_eq!(refusal("+p[1]", &format!("?X <- p(X){long}, A5000 = X")), []);
    }

    #[test]
    fn commands_get_near_names_too() {
        let catalog = catalog("+edge[(1, 2)]\n+path(X, Y) <- edge(X, Y)");
        assert_eq!(unknown_relation("pathh", None, &catalog).help.as_deref(), Some("did you mean `path`?"));
        assert_eq!(unknown_rule("edge", None, &catalog).code, Code::NotFound);
    }
}
