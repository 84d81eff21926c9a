//! What analysis makes of whole queries and rules.

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
    let analysed = analysed("+fib[(0, 0), (1, 1)]\n+fib(N, F) <- fib(M, F), N = M + 1, N < 9", "?fib(N, F)");
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
    assert_eq!(
        goal("+p(t: timestamp)", "?p(5)"),
        "?(t\"1970-01-01T00:00:00.005Z\") <- p(t\"1970-01-01T00:00:00.005Z\")\n"
    );
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
    assert!(matches!(refusal(EDGES, "?edge(X, Y), !bad(X)")[..], [AnalysisError::UnknownRelation { .. }]));
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
    assert!(matches!(refused_rule("", "+r(X) <- r(X, _)")[..], [AnalysisError::Arity { expected: 1, .. }]));
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
    assert!(matches!(refused_rule(EDGES, "+r(X, _) <- edge(X, Y)")[..], [AnalysisError::Placeholder { .. }]));
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
    assert_eq!(unstratifiable("+n[1]\n+a(X) <- n(X), !b(X)", "+b(X) <- a(X)"), ("a -> b -> a".into(), true));
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
